"""Time steps of one series whose transitions vary: day and night, the months of a year, or each step its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from entwined.canonical import Document
from entwined.dependence.box import Box
from entwined.dependence.chained import Chained, checked_initial, checked_transitions
from entwined.dependence.couplings import Couplings
from entwined.dependence.factors import Factors
from entwined.dependence.markov_chain import stationary
from entwined.dependence.model import Source, checked_source, checked_units
from entwined.dependence.narrower import Narrower, Tie
from entwined.dependence.possible import possible_states
from entwined.dependence.product_law import ProductLaw, UnitTable
from entwined.errors import BadModel
from entwined.numbers import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class VaryingChain(Chained):
    """A chain that takes its transitions in turn, over and over; without `initial` it stands for every start.

    >>> day, night = [[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.1], [0.1, 0.9]]
    >>> chain = VaryingChain(24, Box.exact([day] * 12 + [night] * 12))
    >>> chain.log_odds.round(2).tolist()[::12]   # the first step of the day, and of the night
    [0.81, 4.39]
    """

    length: int
    transitions: Box
    initial: FloatArray | None = None
    source: Source = "declared"
    kind: ClassVar[str] = "varying_chain"
    plural: ClassVar[str] = "chains whose transitions vary"

    def __post_init__(self) -> None:
        checked_units(self.length)
        checked_source(self.source)
        found = checked_transitions(self.transitions, 3, "A table of transitions")
        if len(found.low) > self.length:
            raise BadModel(
                f"There are {len(found.low)} tables of transitions, and {self.length} steps have {self.length - 1} "
                "from one to the next. Leave out what is never used."
            )
        object.__setattr__(self, "transitions", found)
        if self.initial is not None:
            object.__setattr__(self, "initial", checked_initial(self.initial, self.states))

    @property
    def states(self) -> int:
        """How many states there are."""
        return self.transitions.shape[1]

    @property
    def turns(self) -> IntArray:
        """Which table leads from each step to the next."""
        return np.arange(self.length - 1) % len(self.transitions.low)

    @cached_property
    def log_odds(self) -> FloatArray:
        """Δ of each step and the next, for the worst member of the class."""
        tables = Factors(
            np.zeros((len(self.transitions.low), 2), np.int64), self.transitions, conditional=True
        )
        return np.asarray(tables.log_odds.max(axis=1)[self.turns])

    @cached_property
    def couplings(self) -> Couplings:
        """Each step with the next."""
        steps = np.arange(self.length - 1)
        return Couplings.pairs(self.length, np.stack([steps, steps + 1], axis=1), self.log_odds)

    def possible(self) -> Sequence[BoolArray]:
        """The states of each step that some start can lead to."""
        if self.initial is None:
            return ()
        return list(possible_states(self.initial, list(self.transitions.high), self.length))

    def times_as_strong(self, factor: float) -> "VaryingChain":
        """Raise the transitions to a power; the start stays."""
        return replace(self, transitions=self.transitions.laws_raised(factor))

    def member(self, values: int = 2) -> ProductLaw:  # noqa: ARG002  (the states are its values)
        """The chain with transitions in the middle of their intervals; without a start it starts evenly."""
        start = self._even if self.initial is None else self.initial
        steps = self.transitions.middle[self.turns]
        moves = (UnitTable((at, at + 1), step) for at, step in enumerate(steps))
        return ProductLaw((self.states,) * self.length, (UnitTable((0,), start), *moves))

    def narrower(self) -> Iterator[Narrower]:
        """Know the law of the first step, or the transitions exactly."""
        if self.initial is None:
            law = stationary(self.transitions.middle[0])
            start = self._even if law is None else law
            yield Narrower("start", "the law of the first step (`initial`)", replace(self, initial=start))
        if not self.transitions.is_exact:
            exact = replace(self, transitions=Box.exact(self.transitions.middle))
            yield Narrower("class", "the transitions exactly (here in the middle of their intervals)", exact)

    def ties(self, place: int) -> Iterator[Tie["VaryingChain"]]:  # noqa: ARG002  (all are made weaker at once)
        """Each step to the next, all at once."""
        if self.length > 1 and self.log_odds.max() > 0:
            yield Tie("of a step and the next", float(self.log_odds.max()), self.times_as_strong)

    @property
    def _even(self) -> FloatArray:
        return np.full(self.states, 1 / self.states)

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        start = {} if self.initial is None else {"initial": self.initial.tolist()}
        tables = self.transitions.document
        return {
            "kind": self.kind,
            "length": self.length,
            **start,
            "transitions": tables,
            "source": self.source,
        }
