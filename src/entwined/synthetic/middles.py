"""Where the numbers of a column lie: means and medians by the values themselves, not by the cells they are counted in.

A cell may be wide, and what is made up inside one is even: counts then agree, and a median may be far off.
"""

from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Final, Literal, NamedTuple, Self

import numpy as np

from entwined.numbers import IntArray
from entwined.schema import Coded
from entwined.synthetic.answering import Verdict, verdict_of
from entwined.synthetic.telling_apart import QUANTILE

FAIR_PEOPLE: Final = 0.05  # of all, between two medians
FAIR_STEP: Final = 0.1  # deviations of the column, between two means
DAY: Final = 86_400


class Middle(NamedTuple):
    """The mean and the median of a column, in its steps from the lowest value on, among rows that have a value."""

    mean: float
    median: float
    deviation: float
    around: tuple[float, float]
    """Between which values the median of another sample as large would be, 95 times of 100."""
    fair: tuple[float, float]
    """Between which values so many people more or less are below the median as matter little."""
    people: int

    @classmethod
    def of(cls, codes: IntArray, levels: int) -> Self | None:
        """Take them of all codes but those of missing values; none if there are no others."""
        there = codes[codes < levels]
        if not len(there):
            return None
        chance = QUANTILE / 2 * float(np.sqrt(1 / len(there)))
        shares = [0.5, *(0.5 + side * off for off in (chance, FAIR_PEOPLE) for side in (-1, 1))]
        middle, *ends = np.quantile(there, np.clip(shares, 0, 1)).tolist()
        return cls(
            float(there.mean()), middle, float(there.std()), tuple(ends[:2]), tuple(ends[2:]), len(there)
        )


class MiddleQuestion(NamedTuple):
    """A mean or a median, in steps of the column; `chance` and `fair` are how far it may be off for either word."""

    what: Literal["mean", "median"]
    column: str
    real: float
    synthetic: float
    chance: float
    fair: float

    @property
    def error(self) -> float:
        """How far it is off."""
        return abs(self.real - self.synthetic)

    @property
    def verdict(self) -> Verdict:
        """Well if a sample as large could be as far off, fairly if it matters little beside how people differ."""
        return verdict_of(self.error <= self.chance, self.error <= self.fair)


def middles_asked(real: Mapping[str, Middle], synthetic: Mapping[str, Middle]) -> list[MiddleQuestion]:
    """Ask for the mean and the median of every column of numbers that both tables have, the worst first."""
    found = [(name, real[name], synthetic[name]) for name in real if name in synthetic]
    asked = [question for each in found for question in (_mean(*each), _median(*each))]
    return sorted(asked, key=lambda one: (one.chance - one.error) / max(one.fair, 1.0))


def _mean(name: str, one: Middle, other: Middle) -> MiddleQuestion:
    chance = QUANTILE * one.deviation * float(np.sqrt(1 / one.people + 1 / other.people))
    return MiddleQuestion("mean", name, one.mean, other.mean, chance, FAIR_STEP * one.deviation)


def _median(name: str, one: Middle, other: Middle) -> MiddleQuestion:
    """On the side on which the synthetic median lies, and the chance of two samples."""
    side = int(other.median > one.median)
    both = float(np.sqrt(1 + one.people / other.people))
    chance, fair = (abs(ends[side] - one.median) for ends in (one.around, one.fair))
    return MiddleQuestion("median", name, one.median, other.median, both * chance, fair)


def in_unit(column: Coded, steps: float) -> str:
    """Write so many steps from the lowest value on as a value of the column."""
    low = column.value(0)
    if isinstance(low, datetime):
        found = column.value(min(round(steps), column.levels - 1))
        day = isinstance(found, datetime) and found.time() == low.time() == datetime.min.time()
        return f"{found:%Y-%m-%d}" if day else str(found)
    if not isinstance(low, int | Fraction):
        return f"{steps:,.4g}"
    return f"{float(low) + steps * step_of(column):,.6g}"


def step_of(column: Coded) -> float:
    """How far two neighbouring values are apart; times are in days."""
    low, after = column.value(0), column.value(min(1, column.levels - 1))
    if isinstance(low, datetime) and isinstance(after, datetime):
        return (after - low).total_seconds() / DAY
    return float(after - low) if isinstance(low, int | Fraction) and isinstance(after, int | Fraction) else 1


def apart_in_unit(column: Coded, steps: float) -> str:
    """Write a difference of so many steps."""
    far = f"{steps * step_of(column):,.3g}"
    return f"{far} days" if isinstance(column.value(0), datetime) else far
