"""How many tables a loss affords, and what columns alone get: from noise, sizes and noisy distances, all public."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, NamedTuple, Self

import numpy as np

from entwined.mechanisms.marginals.explained import LEFT_BY_A_FIT
from entwined.mechanisms.marginals.relations import NOISE_OF_A_CELL
from entwined.numbers import FloatArray, IntArray

EIGHTHS: Final = tuple(Fraction(part, 8) for part in range(9))
FEW: Final = tuple(Fraction(part, 4) for part in range(1, 4))
"""Parts of what tables of several columns get that columns alone may get once more."""
HARDLY_FURTHER: Final = (
    0.03  # by this part: what is expected of pairs is known no better, and threes want tables
)
NEARLY: Final = 0.1  # tables that are heard tell of threes, too
SELDOM: Final = 2  # deviations
SQUARES_OF_NOISE: Final = (
    5  # the variance of squares of Laplace noise, in its variances squared; of Gaussian noise 2
)


class Split(NamedTuple):
    """So many tables of several columns, and a share for columns alone once more."""

    tables: int
    again: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Afforded:
    """What is known of pairs: by how many rows their columns seem to miss them, and how unsure that is.

    Noise alone puts none of them `sure` rows off, most likely.

    `deviation` is that of tables that get a share each, `sizes` the groups of columns under it, and `blurred` by how
    many rows columns alone are off if they get a share more.
    """

    pairs: IntArray
    far: FloatArray
    unsure: float
    sure: float
    rest: Fraction
    deviation: Callable[[Fraction], float]
    sizes: Callable[[float], Sequence[int]]
    blurred: Callable[[Fraction], FloatArray]

    def best(self, most: int) -> Split:
        """As many tables as are heard, and what columns alone should get beside them, if hardly anything is better.

        None at all must not be better. Else what should leave pairs off by the fewest rows, none among it: so that
        looking for relations where noise drowns them costs little beside columns alone. Of many pairs noise puts some
        far off by itself, so what is better is asked of all of them together (`sober`).
        """
        none = Split(0, self.rest)
        heard = next((many for many in range(most, 0, -1) if self._heard(many)), 0)
        shared = self._shared(heard) if heard else none
        sober = self.sober()
        least = min((none, *self._others(heard)), key=sober.off)
        allowed = min((1 + NEARLY) * sober.off(least), sober.off(none))
        return shared if sober.off(shared) <= allowed else least

    def sober(self) -> Self:
        """Draw distances towards none by the part of their squares that may be noise's (James and Stein 1961).

        What is left of the furthest is no longer too far on average, although they are picked out. The squares of so
        many draws of noise are held to be as large as they seldom are. What is further than all these draws are likely
        to be stays, less what is unsure.
        """
        squares = float(np.square(self.far).mean())
        noise = self.unsure**2 * (1 + SELDOM * math.sqrt(SQUARES_OF_NOISE / self.far.size))
        kept = max(1 - noise / squares, 0.0) if squares else 0.0
        far = np.where(self.far > self.sure, self.far - self.unsure, kept * self.far)
        return replace(self, far=far, unsure=0.0)

    def _shared(self, tables: int) -> Split:
        """Give columns alone the least share with which pairs are hardly further off than with the best."""
        splits = [Split(tables, self.rest * part) for part in EIGHTHS[:-1]]
        far = [self.off(one) for one in splits]
        return next(
            one for one, rows in zip(splits, far, strict=True) if rows <= (1 + HARDLY_FURTHER) * min(far)
        )

    def _others(self, heard: int) -> Iterator[Split]:
        """Fewer tables, and more for columns alone: each number about a fifth below the last."""
        many = heard
        while (many := many - max(many // 5, 1)) > 0:
            yield from (Split(many, self.rest * part) for part in FEW)

    def _heard(self, many: int) -> bool:
        """Whether so many pairs are further off than noise would then put them."""
        noise, cells = self._noise(self.rest / many)
        return int((self.far - self.unsure > LEFT_BY_A_FIT * noise * cells).sum()) >= many

    def _noise(self, share: Fraction) -> tuple[float, IntArray]:
        """The deviation of a table with a share, and how many cells each pair then has."""
        deviation = self.deviation(share)
        return deviation, np.array(self.sizes(deviation))[self.pairs].prod(axis=1)

    def off(self, split: Split) -> float:
        """By how many rows pairs should be off: those counted by their noise, the others by what columns miss."""
        columns = self.far.clip(0) + self.blurred(split.again)[self.pairs].sum(axis=1)
        if not split.tables:
            return float(columns.sum())
        noise, cells = self._noise((self.rest - split.again) / split.tables)
        gains = columns - self.unsure - NOISE_OF_A_CELL * noise * cells
        return float(columns.sum() - np.sort(gains)[-split.tables :].clip(0).sum())
