"""Integer bounds on powers of e^(−rate): no float, lower bounds below the truth and upper ones above it."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Self


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A number in [low, high] · 2^(−bits), between 0 and 1."""

    low: int
    high: int
    bits: int

    def __mul__(self, other: "Enclosure") -> "Enclosure":
        """Multiply, the lower end rounded down and the upper one up."""
        return Enclosure(
            self.low * other.low >> self.bits, (self.high * other.high >> self.bits) + 1, self.bits
        )

    @classmethod
    def one(cls, bits: int) -> Self:
        """Return the number 1."""
        return cls(1 << bits, 1 << bits, bits)


@lru_cache(maxsize=256)
def exponential(rate: Fraction, bits: int) -> Enclosure:
    """Enclose e^(−rate): the series of e^(rate/2^s), a reciprocal, s squarings; rate/2^s is at most 1/2."""
    halvings = (2 * rate.numerator // rate.denominator).bit_length()
    guard = bits + halvings + 16  # each squaring doubles the error
    top, bottom = rate.numerator, rate.denominator << halvings
    low = high = low_term = high_term = 1 << guard
    order = 0
    while high_term > 1:
        order += 1
        low_term = low_term * top // (bottom * order)
        high_term = -(-high_term * top // (bottom * order))
        low, high = low + low_term, high + high_term
    high += high_term  # each term left out is at most half of the one before it
    result = Enclosure((1 << 2 * guard) // high, -(-(1 << 2 * guard) // low), guard)
    for _ in range(halvings):
        result = result * result
    shift = guard - bits
    return Enclosure(result.low >> shift, (result.high >> shift) + 1, bits)


@dataclass(frozen=True, slots=True)
class Powers:
    """e^(−rate·n) for whole n, from the squares of e^(−rate)."""

    rate: Fraction
    bits: int
    _squares: list[Enclosure] = field(default_factory=list)
    _known: dict[int, Enclosure] = field(default_factory=dict)

    def __call__(self, steps: int) -> Enclosure:
        """Return an enclosure of e^(−rate·steps)."""
        if steps not in self._known:
            self._known[steps] = self._product(steps)
        return self._known[steps]

    def _product(self, steps: int) -> Enclosure:
        result = Enclosure.one(self.bits)
        for place in range(steps.bit_length()):
            if len(self._squares) <= place:
                last = self._squares[-1] if self._squares else None
                self._squares.append(last * last if last else exponential(self.rate, self.bits))
            if steps >> place & 1:
                result = result * self._squares[place]
        return result
