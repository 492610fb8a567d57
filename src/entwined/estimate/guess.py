"""How good released tables are beside a uniform guess, which gives every cell of a table the same: from what was drawn.

A guess is off by Σ(x − x̄)² in a table of true counts x with the mean x̄. The drawn counts, with noise of variance σ² in
each of k cells, are spread by (k − 1)σ² more on average: that is taken off again. It is post-processing of what is
published, so it costs nothing; it is an estimate, and where noise drowns all answers no more than that is known.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.estimate.answers import Release
from entwined.estimate.contradictions import rows_at_most
from entwined.estimate.quality import figure
from entwined.noise import additive
from entwined.queries.documents import question_of

FLATTEST: Final = 5.0  # the variance of a squared error is at most so many squares of its mean: Laplace noise
SURE: Final = 2.0  # deviations


@dataclass(frozen=True, slots=True)
class BesideGuess:
    """The L2 error of all tables of counts by noise, about that of a uniform guess, and the most it may well be."""

    tables: int
    noise: float
    guess: float
    at_most: float

    @property
    def is_hidden(self) -> bool:
        """Whether the noise leaves open that a guess is not off at all."""
        return self.at_most**2 > 2 * self.guess**2

    @property
    def is_worse(self) -> bool:
        """Whether guessing would have been as good."""
        return self.noise >= (self.at_most if self.is_hidden else self.guess)

    @property
    def words(self) -> str:
        """Say it."""
        said = f"at most about {figure(self.at_most)}" if self.is_hidden else f"about {figure(self.guess)}"
        judgement = "The numbers are no better than a guess." if self.is_worse else ""
        return (
            f"All {self.tables:,} tables together are off by about {figure(self.noise)} (L2) through noise; a uniform "
            f"guess would be off by {said}. {judgement}"
        ).rstrip()

    @property
    def document(self) -> Document:
        """The comparison as JSON."""
        guess = {"uniform_guess_l2": self.guess, "uniform_guess_l2_at_most": self.at_most}
        return {"tables": self.tables, "noise_l2": self.noise, **guess}


def beside_guess(release: Release) -> BesideGuess | None:
    """Hold all tables of counts in a release against a uniform guess; None where there are none."""
    found = list(_tables(release))
    if not found:
        return None
    noise, guess, unsure, possible = (math.fsum(one[at] for one in found) for at in range(4))
    most = min(max(guess, 0.0) + SURE * math.sqrt(unsure), possible)
    about = min(max(guess, 0.0), most)
    return BesideGuess(len(found), math.sqrt(noise), math.sqrt(about), math.sqrt(most))


def _tables(release: Release) -> Iterator[tuple[float, float, float, float]]:
    """Give the squared error by noise, that of a guess, how unsure it is, and its largest, table by table."""
    if release.schema is None:
        raise BadQuery("Nothing says under which schema this was released. Take release.under(schema).")
    for answer in release.answers:
        asked = question_of(answer.asked)
        if not isinstance(answer.value, tuple) or not asked.axes(release.schema):
            continue
        if asked.statistics(release.schema)[0].aggregate.adds is None:
            drawn = np.array(answer.numbers[0], dtype=np.float64)
            variance = additive(answer.noise[0]).variance
            guess = float(((drawn - drawn.mean()) ** 2).sum()) - (len(drawn) - 1) * variance
            unsure = len(drawn) * FLATTEST * variance**2 + 4 * variance * max(guess, 0.0)
            largest = rows_at_most(release.schema, release.warnings) ** 2 * (
                1 - 1 / len(drawn)
            )  # all rows in one cell
            yield len(drawn) * variance, guess, unsure, largest
