"""How far the answers of a stream are off: half-widths that hold with 95 % confidence, each worked out once."""

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeAlias

from entwined.errors import BadNoise
from entwined.estimate.error_law import ErrorLaw, Weighted
from entwined.mechanisms.streams.stream import Stream
from entwined.noise import Additive
from entwined.promise.promise import Promise

CONFIDENCE: Final = Fraction(95, 100)
EXACT_LEVELS: Final = 2
ROUNDED: Final = 5

Copies: TypeAlias = tuple[tuple[Additive, int], ...]


@dataclass(frozen=True)
class StepErrors:
    """The errors of a stream's answers, in released integers.

    Draws of one law are put together. Of more than two laws the narrower ones are counted in fives: further draws,
    symmetric and with one peak, make no interval narrower, and these hardly make it wider.
    """

    stream: Stream
    promise: Promise
    _laws: dict[int, Additive] = field(default_factory=dict, repr=False, compare=False)
    _widths: dict[Copies, float] = field(default_factory=dict, repr=False, compare=False)

    def within(self, step: int) -> float:
        """The half-width of a step's answer."""
        shares = self.stream.counter.shares(step)
        if len(shares) == 1 and shares[0].copies == 1:
            return shares[0].weight * self._width(((self._law(shares[0].level), 1),))
        copies: Counter[Additive] = Counter()
        for one in shares:
            copies[self._law(one.level)] += one.copies
        widest = sorted(copies.items(), key=lambda one: -one[0].scale)
        rest = ((law, -(-count // ROUNDED) * ROUNDED) for law, count in widest[EXACT_LEVELS:])
        return self._width((*widest[:EXACT_LEVELS], *rest))

    def _width(self, copies: Copies) -> float:
        if copies not in self._widths:
            self._widths[copies] = _half_width(copies)
        return self._widths[copies]

    def _law(self, level: int) -> Additive:
        if level not in self._laws:
            self._laws[level] = self.stream.law(self.promise, level)
        return self._laws[level]


def _half_width(copies: Copies) -> float:
    """Of the law of the sum; where that is too narrow to be worked out, each draw gets its part of the misses."""
    try:
        return ErrorLaw(tuple(Weighted(1.0, law, count) for law, count in copies)).half_width(CONFIDENCE)
    except BadNoise:
        missed = (1 - CONFIDENCE) / sum(count for _, count in copies)
        return float(sum(count * law.accuracy(missed) for law, count in copies))
