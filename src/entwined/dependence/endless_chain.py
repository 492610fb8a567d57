"""Steps of a series without an end: each state depends on the one before, and nobody says when it stops."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from entwined.canonical import Document
from entwined.dependence.box import Box
from entwined.dependence.learned_from import LearnedFrom, origin_fields
from entwined.dependence.markov_chain import MarkovChain
from entwined.dependence.model import Dependence, Source
from entwined.dependence.narrower import Tie
from entwined.dependence.product_law import ProductLaw
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from entwined.numbers import BoolArray, FloatArray

DRAWN_STEPS = 8  # as many as an adversary in a test looks through


@dataclass(frozen=True, eq=False, repr=False)
class EndlessChain(Dependence):
    """A homogeneous chain of any number of steps, all with the same loss: its one unit is any step of it.

    >>> round(EndlessChain(Box.exact([[0.9, 0.1], [0.1, 0.9]])).log_odds, 4)   # 2 ln 9
    4.3944
    """

    transition: Box
    initial: FloatArray | None = None
    source: Source = "declared"
    learned_from: LearnedFrom | None = None
    kind: ClassVar[str] = "endless_chain"
    plural: ClassVar[str] = "chains without an end"
    alike: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked = self.until(1)
        object.__setattr__(self, "transition", checked.transition)
        object.__setattr__(self, "initial", checked.initial)

    @property
    def units(self) -> int:
        """One figure holds for every step."""
        return 1

    @property
    def has_values(self) -> bool:
        """It says which values its units take."""
        return True

    @property
    def states(self) -> int:
        """How many states there are."""
        return self.transition.shape[0]

    @cached_property
    def log_odds(self) -> float:
        """Δ of one step, for the worst member of the class."""
        return self.until(1).log_odds

    def until(self, steps: int) -> MarkovChain:
        """Give the chain of its first steps."""
        return MarkovChain(steps, self.transition, self.initial, self.source, self.learned_from)

    def group_totals(self, loss: Loss) -> FloatArray:
        """A step alone, if it says nothing about the next; else there is no total of steps without an end."""
        if self.log_odds > 0:
            raise DoesNotApply("Steps without an end have no total. The messages cover them.")
        return loss.per_unit

    def times_as_strong(self, factor: float) -> "EndlessChain":
        """Raise the transitions to a power; the start stays."""
        return replace(self, transition=self.transition.laws_raised(factor))

    def possible(self) -> Sequence[BoolArray]:
        """The states that some step can have."""
        steps = self.until(self.states).possible()
        return (np.any(steps, axis=0),) if len(steps) else ()

    def called(self, place: int) -> str:  # noqa: ARG002  (all steps are one unit)
        """Name the unit."""
        return "every step"

    def member(self, values: int = 2) -> ProductLaw:
        """A few steps of the chain, to draw from and to attack."""
        return self.until(DRAWN_STEPS).member(values)

    def ties(self, place: int) -> Iterator[Tie["EndlessChain"]]:  # noqa: ARG002  (every step is tied alike)
        """Each step to the next, all at once."""
        if self.log_odds > 0:
            yield Tie("of a step and the next", self.log_odds, self.times_as_strong)

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        start = {} if self.initial is None else {"initial": self.initial.tolist()}
        origin = origin_fields(self.learned_from)
        table = self.transition.document
        return {"kind": self.kind, **start, "transition": table, "source": self.source, **origin}
