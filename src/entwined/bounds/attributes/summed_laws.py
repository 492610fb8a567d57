"""The law of a sum of whole numbers over many rows, by repeated convolution, with a proved bound on what is lost.

A law carries `missed`: its L1 distance from the true one is at most that. Convolving adds the distances of both (each
has mass at most 1 + its own), cutting tails adds what is cut, and a convolution by fast Fourier transforms of size N
adds at most √N · 16 log₂N · u · ‖p‖₂ ‖q‖₂ in L1: each of three transforms is off by at most 5u log₂N of its norm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, Self

import numpy as np

from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadModel, QueryTooComplex
from entwined.numbers import ULP, FloatArray

CUT: Final = 1e-17  # what is cut off at either end of a law, before it is added to others
SHORT: Final = 64  # up to this length convolutions are summed as they are
LONGEST: Final = 1 << 21
MOST_ADDED: Final = 1000


@dataclass(frozen=True, eq=False, slots=True)
class WholeLaw:
    """The law of a whole number: chances from `first` on, at most `missed` from the truth in L1."""

    first: int
    chances: FloatArray
    missed: float = 0.0

    @property
    def size(self) -> int:
        """How many numbers it has chances for."""
        return len(self.chances)

    def plus(self, other: "WholeLaw") -> "WholeLaw":
        """The law of the sum of two independent numbers."""
        found, off = convolved(self.chances, other.chances)
        missed = (self.missed + other.missed + self.missed * other.missed + off) * (1 + 8 * ULP)
        return WholeLaw(self.first + other.first, found, missed).cut()

    def cut(self) -> "WholeLaw":
        """Leave out ends that have hardly any mass."""
        low, high = (np.cumsum(side) <= CUT for side in (self.chances, self.chances[::-1]))
        start, end = int(low.sum()), self.size - int(high.sum())
        if start >= end or (start == 0 and end == self.size):
            return self
        return WholeLaw(self.first + start, self.chances[start:end], self.missed + 2.1 * CUT)

    def times(self, number: int) -> "WholeLaw":
        """The law of a sum of so many independent ones, by squaring."""
        total, power = WholeLaw(0, np.ones(1)), self
        while number:
            if number & 1:
                total = total.plus(power)
            number >>= 1
            if number:
                power = power.plus(power)
        return total

    def on(self, first: int, size: int) -> FloatArray:
        """Its chances on a longer range."""
        placed = np.zeros(size)
        placed[self.first - first : self.first - first + self.size] = self.chances
        return placed


def convolved(one: FloatArray, other: FloatArray) -> tuple[FloatArray, float]:
    """Convolve, and bound what rounding does to the result in L1."""
    if min(len(one), len(other)) <= SHORT:
        found = np.convolve(one, other)
        return found, 2 * ULP * (min(len(one), len(other)) + 2) * float(one.sum() * other.sum())
    length = len(one) + len(other) - 1
    size = 1 << (length - 1).bit_length()
    if size > LONGEST:
        raise QueryTooComplex(
            f"A law of {length:,} numbers is too long to be worked out. Ask about fewer rows."
        )
    found = np.fft.irfft(np.fft.rfft(one, size) * np.fft.rfft(other, size), size)[:length]
    off = np.sqrt(size) * 16 * np.log2(size) * ULP * np.linalg.norm(one) * np.linalg.norm(other)
    return np.maximum(found, 0.0), float(off)


Pair = tuple[WholeLaw, WholeLaw]


@dataclass(frozen=True, slots=True)
class RowChances:
    """What a row adds to an answer: chances of 0, 1, 2, … for rows with the protected value, and for the others.

    `probability` is the chance that a row has the protected value, where the reading of a secret needs one.

    >>> RowChances.counting("0.3", "0.1").inside
    (Fraction(7, 10), Fraction(3, 10))
    """

    inside: tuple[Fraction, ...]
    others: tuple[Fraction, ...]
    probability: Fraction | None = None

    def __post_init__(self) -> None:
        for law in (self.inside, self.others):
            if not 2 <= len(law) <= MOST_ADDED or min(law) < 0 or sum(law) != 1:  # noqa: PLR2004
                raise BadModel(
                    f"Chances of what a row adds: {', '.join(map(str, law))[:60]}. Give 2 to {MOST_ADDED}, from 0 on, "
                    "that add up to exactly 1."
                )
        if len(self.inside) != len(self.others):
            raise BadModel(
                "Rows with the value and the others add different numbers. Give chances of 0 where needed."
            )
        if self.probability is not None and not 0 < self.probability < 1:
            raise BadModel(
                f"A chance of {float(self.probability):g} that a row has the value. Give one between 0 and 1."
            )

    @classmethod
    def counting(cls, inside: object, others: object, probability: object = None) -> Self:
        """Rows that are counted or not, with these chances."""
        one, other = (Fraction(str(chance)) for chance in (inside, others))
        told = None if probability is None else Fraction(str(probability))
        return cls((1 - one, one), (1 - other, other), told)

    @property
    def in_order(self) -> bool:
        """Whether one law is above the other in likelihood ratio, and both are log-concave: exactly."""
        apart = list(zip(self.inside, self.others, strict=True))
        pairs = list(pairwise(apart))
        rising = all(a * d <= c * b for (a, b), (c, d) in pairs)
        falling = all(a * d >= c * b for (a, b), (c, d) in pairs)
        return (rising or falling) and all(map(_log_concave, (self.inside, self.others)))

    @property
    def rises(self) -> bool:
        """Whether rows with the value add more."""
        return _mean(self.inside) >= _mean(self.others)

    def given(self, counts: int, rows: int) -> WholeLaw:
        """The law of the answer if so many of the rows have the value."""
        one, other = (
            WholeLaw(0, np.array([float(chance) for chance in law]), ULP * 2)
            for law in (self.inside, self.others)
        )
        return one.times(counts).plus(other.times(rows - counts))

    def apart(self, secret: ColumnSecret, one: int, other: int) -> list[Pair]:
        """The laws of the answer given two numbers of rows with the value."""
        return [(given_count(self, one, secret.rows), given_count(self, other, secret.rows))]

    @property
    def document(self) -> Document:
        """The laws as JSON."""
        return {
            "inside": list(map(fraction_text, self.inside)),
            "others": list(map(fraction_text, self.others)),
            "probability": None if self.probability is None else fraction_text(self.probability),
        }

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read laws as they were written."""
        told = given["probability"]
        inside, others = (tuple(map(fraction_from, given[name])) for name in ("inside", "others"))
        return cls(inside, others, None if told is None else fraction_from(told))


@lru_cache(maxsize=4096)
def given_count(law: RowChances, counts: int, rows: int) -> WholeLaw:
    """The law of the answer if so many of the rows have the value, once for many pairs."""
    return law.given(counts, rows)


def _mean(law: Sequence[Fraction]) -> Fraction:
    return sum((number * chance for number, chance in enumerate(law)), Fraction(0))


def _log_concave(law: Sequence[Fraction]) -> bool:
    """Whether p_k² ≥ p_{k−1} p_{k+1} and no gap lies between positive chances."""
    there = [chance > 0 for chance in law]
    first, last = there.index(True), len(there) - there[::-1].index(True)
    gapless = all(there[first:last])
    return gapless and all(law[at] ** 2 >= law[at - 1] * law[at + 1] for at in range(1, len(law) - 1))
