"""What a planned survey is worth: its errors beside the table, a uniform guess and plain noise, and what would help.

A uniform guess gives every answer of a question the same number of respondents. How far it is off is not public, but
what it would be off in the pilot is: each count of the pilot, taken to as many rows as there are, less what chance
adds to a squared distance in so small a table.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np

from entwined.bounds.profiles.gaussian import gaussian_epsilon
from entwined.canonical import Document
from entwined.errors import EntwinedError
from entwined.estimate.quality import (
    Level,
    figure,
    level_of,
    relative_error,
    smallest,
    tallied,
    tally_words,
)
from entwined.forecast.remedies import DIGITS, HARDLY_A_PROMISE
from entwined.forecast.rivals import USUAL_DELTA
from entwined.numbers import FloatArray
from entwined.survey.survey import MOVED, SurveyPlan, plan_survey

LAPLACE_REACH: Final = math.log(20)  # scales, for 95 %
GAUSSIAN_REACH: Final = 1.96  # deviations, for 95 %
BELOW_A_GUESS: Final = 0.7  # what an error is to be of a guess's
FINE: Final = 0.05  # of the table: with so short intervals no guess is better but by chance
ENOUGH: Final = 0.15  # of the table, for a half-width
AMPLE: Final = 0.93  # of the noise that is enough, since options and noise are rounded


@dataclass(frozen=True, slots=True)
class Advice:
    """Options to plan with instead, what the error of all histograms would be, and the widest half-width of a count."""

    do: str
    error: float
    reach: float
    enough: bool
    leakage: float

    @property
    def words(self) -> str:
        """Say it with its figures."""
        hardly = ", which hardly promises anything" if self.leakage > HARDLY_A_PROMISE else ""
        short = "" if self.enough else ", which is not enough alone"
        figures = f"L2 about {figure(self.error)}, counts within ± {figure(self.reach)}"
        return f"{self.do} ({figures}{hardly}{short})."

    @property
    def document(self) -> Document:
        """The advice as JSON."""
        told = {"do": self.do, "l2": self.error, "reach": self.reach}
        return told | {"leakage": self.leakage, "enough": self.enough}


@dataclass(frozen=True, eq=False)
class Worth:
    """A planned survey, and what it is held against."""

    plan: SurveyPlan

    @cached_property
    def reaches(self) -> Mapping[str, float]:
        """The half-width of the 95 % interval of a count, by question."""
        if self.plan.delta is None:
            return {name: LAPLACE_REACH * MOVED / loss for name, loss in self.plan.losses.items()}
        return {name: GAUSSIAN_REACH / math.sqrt(rho) for name, rho in self.plan.losses.items()}

    @property
    def widest(self) -> float:
        """The widest of them."""
        return max(self.reaches.values())

    @property
    def error(self) -> float:
        """The expected L2 error of all histograms."""
        return math.sqrt(self.plan.squared_error)

    @cached_property
    def shares(self) -> Mapping[str, FloatArray]:
        """The shares of all answers in the pilot, by question."""
        pilot, shares = self.plan.survey.pilot, {}
        for name, cells in self.plan.survey.cells.items():
            codes = pilot.values[:, pilot.place(name)]
            shares[name] = np.bincount(codes[(codes >= 0) & (codes < cells)], minlength=cells) / pilot.rows
        return shares

    @cached_property
    def guess(self) -> float:
        """The L2 error of a uniform guess at all histograms, by the pilot."""
        pilot = self.plan.survey.pilot
        total = 0.0
        for shares in self.shares.values():
            chance = float((shares * (1 - shares)).sum()) / max(pilot.rows - 1, 1)
            total += max(float(((shares - shares.mean()) ** 2).sum()) - chance, 0.0)
        return self.plan.rows * math.sqrt(total)

    @cached_property
    def row_noise(self) -> float:
        """The L2 error with plain Gaussian noise for whole rows at the same leakage."""
        return math.sqrt(self.plan.row_noise_error(self.plan.delta or USUAL_DELTA))

    @property
    def _deviation(self) -> float:
        """The standard error of a count in half-widths of its interval."""
        return 1 / GAUSSIAN_REACH if self.plan.delta else math.sqrt(2) / LAPLACE_REACH

    @cached_property
    def unpublishable(self) -> tuple[str, ...]:
        """The questions whose counts could not be published, even with care, if all answers were equally frequent."""
        rows, cells = self.plan.rows, self.plan.survey.cells
        return tuple(
            name
            for name, reach in self.reaches.items()
            if rows / cells[name] < smallest(self._deviation * reach, reach, "with care")
        )

    @cached_property
    def levels(self) -> Mapping[Level, int]:
        """How many counts would be in each class with the shares of the pilot."""
        return tallied(
            level_of(relative_error(count, self._deviation * reach, count - reach))
            for name, reach in self.reaches.items()
            for count in (self.plan.rows * self.shares[name]).tolist()
        )

    @property
    def is_worse_than_a_guess(self) -> bool:
        """Whether all histograms together are, and not by chance alone where noise is small."""
        return self.error >= self.guess and self.widest > ENOUGH * self.plan.rows

    @property
    def warning(self) -> str:
        """Say that the noise drowns the answers; nothing where it does not."""
        said = []
        if self.unpublishable:
            said.append(
                f"{len(self.unpublishable):,} of {len(self.reaches):,} questions could not be published: counts are "
                f"within ± {figure(self.widest)} in a table of {self.plan.rows:,} rows."
            )
        if self.is_worse_than_a_guess:
            said.append(
                f"The L2 error of all histograms, {figure(self.error)}, is above that of a uniform guess, "
                f"{figure(self.guess)} by {self.plan.survey.table}."
            )
        return " ".join(said)

    @property
    def beside(self) -> str:
        """Say what the errors are held against."""
        delta = float(self.plan.delta or USUAL_DELTA)
        return (
            f"Counts are within ± {figure(self.widest)} of {self.plan.rows:,} rows: with the shares of "
            f"{self.plan.survey.table}, {tally_words(self.levels)}. A uniform guess would have an L2 "
            f"error of about {figure(self.guess)}, by {self.plan.survey.table}; plain Gaussian noise for whole rows at "
            f"δ = {delta:g} one of {figure(self.row_noise)}{', which is less' * (self.row_noise < self.error)}."
        )

    @cached_property
    def proposals(self) -> tuple[Advice, ...]:
        """What would help, the best first; nothing where the answers are not drowned."""
        if not self.warning:
            return ()
        found = [one for way in self._ways() for one in way]
        return tuple(sorted(found, key=lambda one: (not one.enough, one.leakage, one.error)))

    @property
    def document(self) -> Document:
        """All of it as JSON."""
        return {
            "table": self.plan.rows,
            "widest": self.widest,
            "uniform_guess_l2": self.guess,
            "row_level_gaussian_l2": self.row_noise,
            "levels": dict(self.levels),
            "of": len(self.reaches),
            "unpublishable": list(self.unpublishable),
            "warning": self.warning or None,
            "best": self.proposals[0].words if self.proposals else None,
            "helps": [one.document for one in self.proposals],
        }

    def _ways(self) -> Iterator[Iterator[Advice]]:
        yield self._more("")
        if self.plan.delta is None:
            try:
                noisy = self._replanned(delta=USUAL_DELTA)
            except EntwinedError:
                noisy = None
            if noisy is not None:
                yield noisy._more(f"--delta {float(USUAL_DELTA):g}")  # noqa: SLF001  (of its own class)
        yield self._rows()
        yield self._fewer()

    def _replanned(self, *, delta: Fraction | None) -> "Worth":
        plan = self.plan
        return Worth(
            plan_survey(plan.survey, plan.target, plan.knowledge, plan.rows, at_the_door=True, delta=delta)
        )

    @property
    def needed(self) -> float:
        """How many times the noise would be enough."""
        return self._enough(self.error, self.widest)

    def _enough(self, error: float, reach: float) -> float:
        """Give how many times an error would be enough: short intervals, and below a guess but where noise is fine."""
        rows, cells = self.plan.rows, max(self.plan.survey.cells.values())
        publishable = AMPLE * rows / cells / smallest(self._deviation * reach, reach, "with care")
        return min(
            publishable, ENOUGH * rows / reach, max(BELOW_A_GUESS * self.guess / error, FINE * rows / reach)
        )

    def _more(self, options: str) -> Iterator[Advice]:
        """Take these options, and as much more leakage as it takes."""
        plan, needed, widest = self.plan, self.needed, self.widest
        if options:
            do = f"{options} with the same leakage"
            yield Advice(do, self.error, widest, needed >= 1, plan.target)
        if needed < 1:
            try:
                leakage = _rounded_up(plan.leakage(1 / needed))
            except EntwinedError:  # no theorem bounds so large a loss
                return
            do = f"{options} --leakage {leakage:g}".lstrip()
            yield Advice(do, self.error * needed, widest * needed, enough=True, leakage=leakage)

    def _rows(self) -> Iterator[Advice]:
        """Protect whole rows with Gaussian noise instead, and allow as much leakage as it takes."""
        plan, delta = self.plan, self.plan.delta or USUAL_DELTA
        error = self.row_noise
        reach = GAUSSIAN_REACH * error / math.sqrt(sum(plan.survey.cells.values()))
        needed = min(self._enough(error, reach), 1.0)
        rho = Fraction(plan.row_shift(delta) / needed) ** 2 / 2
        leakage = plan.target if needed == 1 else _rounded_up(gaussian_epsilon(rho, delta))
        do = (
            'a schema with unit = {kind = "rows"}, and a release.toml without [[dependence]], with '
            f"delta = {float(delta):g} and leakage = {leakage:g}"
        )
        yield Advice(do, error * needed, reach * needed, enough=True, leakage=leakage)

    def _fewer(self) -> Iterator[Advice]:
        """Ask fewer questions, the first ones, where no form and no other column hangs on them."""
        plan, survey = self.plan, self.plan.survey
        kept = max(math.floor(len(survey.released) * self.needed ** (1 if plan.delta is None else 2)), 1)
        if (
            survey.form is not None
            or survey.decided
            or survey.checked is not None
            or len(survey.released) == 1
        ):
            return
        some = survey.released[:kept]
        chosen = [name for name in survey.missing_says_nothing if name in some]
        fewer = replace(survey, pilot=survey.pilot.only(some), missing_says_nothing=tuple(chosen))
        try:
            found = Worth(
                plan_survey(fewer, plan.target, plan.knowledge, plan.rows, at_the_door=True, delta=plan.delta)
            )
        except EntwinedError:
            return
        do = (
            f"the first {kept} of {len(survey.released)} questions alone"
            if kept > 1
            else "a single question alone"
        )
        yield Advice(do, found.error, found.widest, found.needed >= 1, HARDLY_A_PROMISE)


def _rounded_up(leakage: float) -> float:
    unit = 10.0 ** (math.floor(math.log10(leakage)) - DIGITS + 1)
    return math.ceil(leakage / unit) * unit
