"""How many rows of a pilot a rule about the questionnaire rests on, and when they are enough to propose it.

A column of which one answer is rare, or hardly filled, is decided by many others by coincidence. So each answer has to
be confirmed by itself, and the more rules are tried, the more often.
"""

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from entwined.numbers import IntArray

DOUBT: Final = 0.05  # the chance that any rule proposed by coincidence alone, of all that are tried
HALF: Final = 0.5  # of those with an answer so many contradict a rule that is one by coincidence


@dataclass(frozen=True, slots=True)
class Evidence:
    """How often a rule was confirmed: of those who gave the same answer the first sets it, and every other confirms it.

    `rows` confirm the rule, `least` of them the answer that the fewest do, `against` contradict it, and `tried` rules
    like it were tried.

    >>> Evidence(400, 40, 0, 90_000).is_enough, Evidence(400, 20, 0, 90_000).is_enough
    (True, False)
    """

    rows: int
    least: int
    against: int
    tried: int

    @property
    def is_enough(self) -> bool:
        """Whether so many agree that the rule holds for most who give each answer, whichever of all rules tried it is.

        If half of those with an answer were to contradict, n would agree with a chance of 2⁻ⁿ, the exact binomial.
        """
        return self.least >= needed(self.tried)

    @property
    def most_against(self) -> float:
        """The share of respondents who contradict the rule at most, with 95 % for all rules tried together."""
        from scipy.stats import beta

        if not self.rows:
            return 1.0
        share = float(beta.isf(DOUBT / max(1, self.tried), self.against + 1, self.rows))
        return min(1.0, share)

    @property
    def words(self) -> str:
        """Say it to the holder."""
        return (
            f"{self.rows:,} rows of the pilot confirm it, {self.least:,} the answer with the fewest, "
            f"{self.against:,} contradict it; with 95 % at most {self.most_against:.1%} of respondents do "
            f"({self.tried:,} rules tried)"
        )


def needed(tried: int) -> int:
    """How many rows have to confirm each answer where so many rules are tried.

    >>> needed(1), needed(90_000)
    (5, 21)
    """
    return math.ceil(math.log(DOUBT / max(1, tried)) / math.log(HALF))


def of_answers(counts: IntArray, tried: int, *, filled: bool = False) -> Evidence | None:
    """Weigh that the rows of a table decide its columns; None where the pilot cannot show it.

    The last row and the last column are missing. A declared answer that nobody gave is not known to be decided. Who is
    missing in both columns shows nothing, and neither does a column with one answer besides. With `filled` what is
    missing decides no answer: codes that nobody declared are read as missing, too.
    """
    given = counts.sum(axis=1)
    answers = np.where(given > 0, counts.argmax(axis=1), -1)
    last, confirmed = counts.shape[1] - 1, []
    if filled and answers[-1] not in (-1, last):
        return None
    for answer in range(counts.shape[1]):
        settled = np.flatnonzero(answers == answer)
        if answer < last and not len(settled):
            return None
        if len(settled) and not (answer == last and settled.tolist() == [len(counts) - 1]):
            confirmed.append(int(counts[settled, answer].sum()) - len(settled))
    if len(confirmed) < 2:  # noqa: PLR2004  (one answer is decided by anything)
        return None
    against = int(given.sum() - counts.max(axis=1).sum())
    return Evidence(sum(confirmed), min(confirmed), against, tried)


def of_blank(counts: IntArray, code: int, tried: int) -> Evidence:
    """Weigh that the rows of a table decide who has one code and who has another."""
    blank = counts[:, code]
    asked = counts.sum(axis=1) - blank
    confirmed = [int(rows.sum() - np.count_nonzero(rows)) for rows in (blank, asked)]
    return Evidence(sum(confirmed), min(confirmed), int(np.minimum(blank, asked).sum()), tried)
