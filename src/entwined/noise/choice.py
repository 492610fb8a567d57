"""The exponential mechanism: choose one of many candidates, the better the likelier, exactly."""

import math
import secrets
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import ClassVar, Final, Self

import numpy as np

from entwined.errors import BadNoise
from entwined.noise.exponentials import Enclosure, Powers
from entwined.noise.lattice import Integers, exactly, integers, not_negative, probability, usable_scale
from entwined.noise.protocol import Figure
from entwined.numbers import FloatArray, IntArray, positive_fraction

FURTHEST: Final = 2**61  # utilities are put into ± this, so that no difference of two overflows
MOST_CANDIDATES: Final = 2**62
FIRST_BITS: Final = 192  # an undecided draw is about as likely as candidates² in 2^190
FLOAT_BITS: Final = 1200  # enough for every probability that a float can hold


@dataclass(frozen=True, slots=True)
class ExponentialChoice:
    """Choose position i with probability exactly proportional to exp(rate · utility_i).

    Let the utilities of neighbouring tables differ by t_i, all t_i within an interval of length r. Then the
    normaliser changes by a factor between exp(rate · min t) and exp(rate · max t), so log P(i)/P'(i) is at
    most rate · r. If each utility moves by at most Δ, r = 2Δ; if all move the same way, r = Δ.

    The draw is the inverse of the distribution function at a uniform real number, read bit by bit: the
    function is enclosed between integers, and more bits are read until only one level is left. So the law is
    exact.

    >>> pick = ExponentialChoice.for_loss(1, Fraction(1))
    >>> [round(p, 4) for p in pick.probabilities([0, 1, 2])]
    [0.1863, 0.3072, 0.5065]
    """

    rate: Fraction
    name: ClassVar[str] = "exponential choice"

    def __post_init__(self) -> None:
        rate = positive_fraction(self.rate, "Rate")
        usable_scale(1 / rate)
        object.__setattr__(self, "rate", rate)

    @classmethod
    def for_loss(
        cls, epsilon: str | float | Fraction, sensitivity: Fraction, *, monotone: bool = False
    ) -> Self:
        """Make the sharpest choice of loss `epsilon` for utilities that move by at most `sensitivity`."""
        moved = positive_fraction(sensitivity, "Sensitivity") * (1 if monotone else 2)
        return cls(positive_fraction(epsilon, "Loss") / moved)

    def loss(self, sensitivity: Fraction, *, monotone: bool = False) -> Fraction:
        """Return the loss ε of utilities that move by at most `sensitivity`, all one way if `monotone`."""
        return self.rate * not_negative(sensitivity, "Sensitivity") * (1 if monotone else 2)

    @property
    def document(self) -> dict[str, str]:
        """The law as JSON."""
        return {"law": self.name, "rate": exactly(self.rate)}

    def words(self, figure: Figure = exactly) -> str:
        """Say the law in words."""
        return f"{self.name} of rate {figure(self.rate)}"

    def __str__(self) -> str:
        """Say the law in words, exactly."""
        return self.words()

    def at(self, times: Fraction) -> Self:
        """Give the choice of so many times the loss."""
        return type(self)(self.rate * times)

    def shortfall(self, candidates: int, confidence: str | float | Fraction) -> Fraction:
        """Give how far below the best the utility chosen is at most, with at least this confidence.

        The chance of t or more below the best is at most candidates · exp(−rate·t).
        """
        missed = float(1 - probability(confidence, "Confidence"))
        return Fraction(math.log(candidates / missed)) / self.rate

    def expected(self, gaps: FloatArray) -> float:
        """Give the mean of how far below the best the utility chosen is, if these are the candidates' gaps."""
        chances = np.exp(-float(self.rate) * (gaps - gaps.min()))
        return float(chances @ gaps / chances.sum())

    def choose(self, utilities: Integers) -> int:
        """Choose a position."""
        return self._choose(_Runs.single(utilities))

    def choose_from_runs(self, utilities: Integers, lengths: Integers) -> int:
        """Choose a position among candidates of which `lengths[r]` neighbours share `utilities[r]`."""
        return self._choose(_Runs.of(utilities, lengths))

    def _choose(self, runs: "_Runs") -> int:
        gaps, level_of = np.unique(runs.gaps, return_inverse=True)
        sizes = _sums(runs.lengths, level_of, gaps.size)
        members = np.flatnonzero(level_of == self._level(gaps.tolist(), sizes))
        return runs.position(members, secrets.randbelow(int(runs.lengths[members].sum())))

    def probabilities(self, utilities: Integers, lengths: Integers | None = None) -> list[float]:
        """Return the exact probability of each position (or run), to the last bits of a float."""
        runs = _Runs.single(utilities) if lengths is None else _Runs.of(utilities, lengths)
        power = Powers(self.rate, FLOAT_BITS)
        weights = [
            size * power(gap).high
            for gap, size in zip(runs.gaps.tolist(), runs.lengths.tolist(), strict=True)
        ]
        total = sum(weights)
        return [weight / total for weight in weights]

    def _level(self, gaps: list[int], sizes: list[int]) -> int:
        """Choose a utility level: gaps[k] below the best, sizes[k] candidates on it."""
        bits, uniform = 0, 0
        step = FIRST_BITS
        while True:
            uniform = uniform << step | secrets.randbits(step)
            bits += step
            level = _place(uniform, self._enclose(gaps, sizes, bits))
            if level is not None:
                return level
            step = bits

    def _enclose(self, gaps: list[int], sizes: list[int], bits: int) -> "_Distribution":
        """Enclose the sums of the levels' weights, as far down as these bits can see."""
        power, weight, last = Powers(self.rate, bits), Enclosure.one(bits), 0
        lows: list[int] = []
        highs: list[int] = []
        for gap, size in zip(gaps, sizes, strict=True):
            weight = weight * power(gap - last)
            last = gap
            if weight.low == 0:
                break
            lows.append(size * weight.low)
            highs.append(size * weight.high)
        unseen = sum(sizes[len(lows) :]) * weight.high
        return _Distribution(list(accumulate(lows)), list(accumulate(highs)), unseen, bits)


@dataclass(frozen=True, slots=True)
class _Distribution:
    """Lower and upper bounds on the running sums of weights, and an upper bound on those left out."""

    lows: list[int]
    highs: list[int]
    unseen: int
    bits: int


def _place(uniform: int, sums: _Distribution) -> int | None:
    """Find the level that holds every point of [uniform, uniform + 1)·2^(−bits) of the total, if one does."""
    start = uniform * sums.lows[-1] >> sums.bits
    end = ((uniform + 1) * (sums.highs[-1] + sums.unseen) >> sums.bits) + 1
    level = bisect_right(sums.highs, start)
    is_last = level == len(sums.lows) - 1 and not sums.unseen  # nothing lies above it
    return level if is_last or end <= sums.lows[level] else None


@dataclass(frozen=True, slots=True)
class _Runs:
    """Neighbouring candidates of equal utility, as gaps below the best."""

    gaps: IntArray
    lengths: IntArray

    @classmethod
    def single(cls, utilities: Integers) -> Self:
        """Make every candidate a run of its own."""
        values = integers(utilities, -FURTHEST, FURTHEST)
        return cls.of(values, np.ones(values.shape, dtype=np.int64))

    @classmethod
    def of(cls, utilities: Integers, lengths: Integers) -> Self:
        """Measure each run against the best that holds a candidate."""
        values, sizes = integers(utilities, -FURTHEST, FURTHEST), integers(lengths)
        if values.ndim != 1 or values.shape != sizes.shape or not values.size:
            raise BadNoise(
                "A choice needs a flat list of utilities and as many lengths. Give at least one candidate."
            )
        if sizes.min() < 0 or not 0 < sum(sizes.tolist()) <= MOST_CANDIDATES:
            raise BadNoise("A choice needs between one and 2⁶² candidates, in runs of no negative length.")
        best = values[sizes > 0].max()
        return cls(np.maximum(best - values, 0), sizes)

    def position(self, members: IntArray, offset: int) -> int:
        """Find, among all candidates, the position of the one numbered `offset` in the runs `members`."""
        ends = np.cumsum(self.lengths[members])
        run = int(np.searchsorted(ends, offset, side="right"))
        before = offset - (int(ends[run - 1]) if run else 0)
        return int(self.lengths[: members[run]].sum()) + before


def _sums(values: IntArray, group_of: IntArray, groups: int) -> list[int]:
    """Add integers by group without a float."""
    totals = np.zeros(groups, dtype=np.int64)
    np.add.at(totals, group_of, values)
    return [int(total) for total in totals]
