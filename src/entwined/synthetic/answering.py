"""Which questions a synthetic table answers well and which not, each with its error and what chance would do."""

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from entwined.learning.codes import Codes
from entwined.synthetic.likeness import Apart
from entwined.synthetic.telling_apart import QUANTILE

Verdict: TypeAlias = Literal["well", "fairly", "badly"]
TWICE: Final = 2.0
FAIR_SHARE: Final = 0.05  # of people in a wrong cell
FAIR_STEP: Final = 0.05  # of a column's range


class TableQuestion(NamedTuple):
    """How people are spread over the cells of some columns: the share who are in a wrong one."""

    columns: tuple[str, ...]
    error: float
    by_chance: float

    @property
    def verdict(self) -> Verdict:
        """Well if chance does the same, fairly if at most one in twenty is wrong."""
        return _verdict(self.error <= TWICE * self.by_chance, self.error <= FAIR_SHARE)


class MeanQuestion(NamedTuple):
    """The mean of a column of numbers, as a share of its range; intervals are those of a sample as large."""

    column: str
    real: float
    synthetic: float
    half_width: float

    @property
    def error(self) -> float:
        """How far it is off."""
        return abs(self.real - self.synthetic)

    @property
    def verdict(self) -> Verdict:
        """Well if a sample as large could be as far off, fairly if a twentieth of the range."""
        return _verdict(self.error <= self.half_width, self.error <= FAIR_STEP)


def tables_asked(found: Iterable[Apart]) -> list[TableQuestion]:
    """Take each marginal as a question, the worst first."""
    asked = [TableQuestion(one.columns, one.distance, one.by_chance) for one in found]
    return sorted(asked, key=lambda one: one.by_chance - one.error)


def means_asked(real: Codes, synthetic: Codes, ordered: Iterable[int]) -> list[MeanQuestion]:
    """Take the mean of each column of numbers as a question, among rows that have one, the worst first."""
    asked = []
    for at in ordered:
        values = [codes.values[codes.values[:, at] < codes.sizes[at] - 1, at] for codes in (real, synthetic)]
        if min(map(len, values)) == 0:
            continue
        last = max(real.sizes[at] - 2, 1)
        one, other = (value / last for value in values)
        spread = np.sqrt(one.var() * (1 / len(one) + 1 / len(other)))
        asked.append(
            MeanQuestion(real.names[at], float(one.mean()), float(other.mean()), QUANTILE * float(spread))
        )
    return sorted(asked, key=lambda one: one.half_width - one.error)


def _verdict(by_chance: bool, small: bool) -> Verdict:  # noqa: FBT001  (two facts)
    return "well" if by_chance else "fairly" if small else "badly"
