"""Time steps of one series: each state depends on the one before."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Final

import numpy as np

from entwined.canonical import Document
from entwined.dependence.box import Box
from entwined.dependence.chained import Chained, checked_initial, checked_transitions
from entwined.dependence.couplings import Couplings
from entwined.dependence.factors import Factors
from entwined.dependence.learned_from import LearnedFrom, origin_fields
from entwined.dependence.model import Source, checked_source, checked_units
from entwined.dependence.narrower import Narrower, Tie
from entwined.dependence.possible import possible_states
from entwined.dependence.product_law import ProductLaw, UnitTable
from entwined.loss import Loss
from entwined.numbers import BoolArray, FloatArray, round_up_float

LEFT_FOR_GOOD: Final = 1e-9  # a state that is hardly ever visited


@dataclass(frozen=True, eq=False, repr=False)
class MarkovChain(Chained):
    """A homogeneous chain; without `initial` it stands for every start.

    >>> chain = MarkovChain(100, Box.exact([[0.9, 0.1], [0.1, 0.9]]))
    >>> round(chain.log_odds, 4)   # 2 ln 9
    4.3944
    """

    length: int
    transition: Box
    initial: FloatArray | None = None
    source: Source = "declared"
    learned_from: LearnedFrom | None = None
    kind: ClassVar[str] = "markov_chain"
    alike: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checked_units(self.length)
        checked_source(self.source)
        transition = checked_transitions(self.transition, 2, "The transition matrix")
        object.__setattr__(self, "transition", transition)
        if self.initial is not None:
            object.__setattr__(self, "initial", checked_initial(self.initial, self.states))

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

    def possible(self) -> Sequence[BoolArray]:
        """The states of each step that some start can lead to."""
        if self.initial is None:
            return ()
        return list(possible_states(self.initial, [self.transition.high], self.length))

    def times_as_strong(self, factor: float) -> "MarkovChain":
        """Raise the transitions to a power; the start stays."""
        return replace(self, transition=self.transition.laws_raised(factor))

    def until(self, steps: int) -> "MarkovChain":
        """The chain of its first steps, or of more."""
        return replace(self, length=steps)

    def member(self, values: int = 2) -> ProductLaw:  # noqa: ARG002  (the states are its values)
        """The chain with transitions in the middle of their intervals; without a start it starts as it settles."""
        step = self.transition.middle
        settled = self.initial if self.initial is not None else stationary(step)
        start = np.full(self.states, 1 / self.states) if settled is None else settled
        moves = (UnitTable((at, at + 1), step) for at in range(self.length - 1))
        return ProductLaw((self.states,) * self.length, (UnitTable((0,), start), *moves))

    def narrower(self) -> Iterator[Narrower]:
        """Know the law of the first step, or the transitions exactly."""
        if self.initial is None:
            law = stationary(self.transition.middle)
            which = "the uniform one" if law is None else "the stationary one"
            start = np.full(self.states, 1 / self.states) if law is None else law
            knowing = f"the law of the first step (`initial`; here {which})"
            yield Narrower("start", knowing, replace(self, initial=start))
        if not self.transition.is_exact:
            exact = replace(self, transition=Box.exact(self.transition.middle))
            yield Narrower("class", "the transitions exactly (here in the middle of their intervals)", exact)

    def ties(self, place: int) -> Iterator[Tie["MarkovChain"]]:  # noqa: ARG002  (every step is tied alike)
        """Each step to the next, all at once: the chain is homogeneous."""
        if self.length > 1 and self.log_odds > 0:
            yield Tie("of a step and the next", self.log_odds, self.times_as_strong)

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        start = {} if self.initial is None else {"initial": self.initial.tolist()}
        table = self.transition.document
        about = {
            "kind": self.kind,
            "length": self.length,
            **start,
            "transition": table,
            "source": self.source,
        }
        return about | origin_fields(self.learned_from)


def stationary(transition: FloatArray) -> FloatArray | None:
    """Give the law that stays as it is from step to step, if there is one and no state is left for good.

    >>> stationary(np.array([[0.8, 0.2], [0.3, 0.7]])).round(6).tolist()
    [0.6, 0.4]
    """
    states = len(transition)
    balance = np.vstack([transition.T - np.eye(states), np.ones(states)])
    law, _, rank, _ = np.linalg.lstsq(balance, np.append(np.zeros(states), 1.0), rcond=None)
    return law / law.sum() if rank == states and law.min() > LEFT_FOR_GOOD else None
