"""Time steps of one series: each state depends on the one before."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from entwined.canonical import Document
from entwined.dependence.box import Box, normalised
from entwined.dependence.couplings import Couplings
from entwined.dependence.factors import Factors
from entwined.dependence.model import Coupled, Source, checked_source, checked_units
from entwined.errors import BadModel
from entwined.loss import Loss
from entwined.numbers import FloatArray, round_up_float


@dataclass(frozen=True, eq=False)
class MarkovChain(Coupled):
    """A homogeneous chain; without `initial` it stands for every start.

    >>> chain = MarkovChain(100, Box.exact([[0.9, 0.1], [0.1, 0.9]]))
    >>> round(chain.log_odds, 4)   # 2 ln 9
    4.3944
    """

    length: int
    transition: Box
    initial: FloatArray | None = None
    source: Source = "declared"
    kind: ClassVar[str] = "markov_chain"
    plural: ClassVar[str] = "Markov chains"

    def __post_init__(self) -> None:
        checked_units(self.length)
        checked_source(self.source)
        shape = self.transition.shape
        if 0 in shape:
            raise BadModel("The transition matrix is empty. Give one row and one column a state.")
        if len(shape) != 2 or shape[0] != shape[1]:  # noqa: PLR2004  (rows and columns)
            size = " × ".join(map(str, shape))
            raise BadModel(
                f"The transition matrix is {size}, not square. Give one row and one column a state."
            )
        object.__setattr__(self, "transition", self.transition.as_probabilities("The transition matrix"))
        if self.initial is not None:
            if self.initial.shape != (shape[0],):
                states = f"{self.initial.size} states, the transition matrix {shape[0]}"
                raise BadModel(f"The initial law has {states}. Give one probability a state.")
            if not np.isfinite(self.initial).all():
                raise BadModel(
                    "The initial law has an entry that is infinite or not a number. Give probabilities."
                )
            object.__setattr__(self, "initial", normalised(self.initial, "The initial law"))

    @property
    def units(self) -> int:
        """How many steps there are."""
        return self.length

    @property
    def states(self) -> int:
        """How many states there are."""
        return self.transition.shape[0]

    @cached_property
    def log_odds(self) -> float:
        """Δ of one step, for the worst member of the class."""
        step = Factors(
            np.array([[0, 1]]), self.transition.reshaped((1, *self.transition.shape)), conditional=True
        )
        return float(step.log_odds.max())

    @cached_property
    def couplings(self) -> Couplings:
        """Each step with the next."""
        steps = np.arange(self.length - 1)
        ends = np.stack([steps, steps + 1], axis=1)
        return Couplings.pairs(self.length, ends, np.full(steps.size, self.log_odds))

    def group_totals(self, loss: Loss) -> FloatArray:
        """All steps together, unless one says nothing about the next."""
        if self.log_odds == 0:
            return loss.per_unit
        total = loss.common * loss.units if loss.common is not None else float(loss.per_unit.sum())
        return np.broadcast_to(round_up_float(total, 64), (self.length,))

    def times_as_strong(self, factor: float) -> "MarkovChain":
        """Raise the transitions to a power; the start stays."""
        return replace(self, transition=self.transition.laws_raised(factor))

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        start = {} if self.initial is None else {"initial": self.initial.tolist()}
        table = self.transition.document
        return {"kind": self.kind, "length": self.length, **start, "transition": table, "source": self.source}
