"""Everything that the paper shows, computed anew on the data at hand."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.papers.bayesian_dp import errors
from entwined.papers.bayesian_dp.accepted import Acceptance, acceptances
from entwined.papers.bayesian_dp.errors import ErrorPoint
from entwined.papers.bayesian_dp.gaussian import MeanNoise, mean_noises
from entwined.papers.bayesian_dp.kin import Kin, kin_at_hand
from entwined.papers.bayesian_dp.posterior import PosteriorShift, posterior_shifts
from entwined.papers.bayesian_dp.scales import TARGETS, ScaleRow, scale_rows
from entwined.papers.bayesian_dp.series import Series, series_at_hand
from entwined.papers.bayesian_dp.tight import ReachedGroup, reached_groups

RELEASES: Final = 10_000  # a cross
SEED: Final = 1  # figures are the same on every machine; noise for people never comes from here
FAMILIES: Final = ((2, 0.6), (5, 0.2), (8, 0.14))


@dataclass(frozen=True, slots=True)
class PaperSeries:
    """What the figures are drawn from."""

    series: list[Series]
    kin: list[Kin]


@dataclass(frozen=True, slots=True)
class BayesianFindings:
    """Everything that was found, and nothing that could be released."""

    releases: int
    data: PaperSeries
    tight: list[ReachedGroup]
    accepted: list[Acceptance]
    scales: list[ScaleRow]
    means: list[MeanNoise]
    shifts: list[PosteriorShift]
    errors: list[ErrorPoint]

    def document(self) -> Document:
        """The same as JSON."""
        return {
            "releases": self.releases,
            "series": [
                {"name": one.name, "source": one.source, "states": one.states, "steps": one.length}
                for one in self.data.series
            ],
            "kin": [
                {"name": one.name, "source": one.source, "people": one.people, "largest": one.most}
                for one in self.data.kin
            ],
            "group_bound_reached": documents(self.tight),
            "accepted": documents(self.accepted),
            "scales": [{**one._asdict(), "ratio": one.ratio, "least": one.is_least} for one in self.scales],
            "means": documents(self.means),
            "posterior_shifts": [{**one._asdict(), "exceeds": one.exceeds} for one in self.shifts],
            "errors": documents(self.errors),
        }


def documents(found: Iterable[Any]) -> list[Document]:
    """Named tuples as documents."""
    return [one._asdict() for one in found]


def data_at_hand() -> PaperSeries:
    """Give the series and the families."""
    return PaperSeries(series_at_hand(), kin_at_hand())


def run(data: PaperSeries, releases: int = RELEASES) -> BayesianFindings:
    """Run every experiment."""
    if releases < 1:
        raise BadInput(f"{releases} releases cannot be drawn. Give 1 or more.")
    generator = np.random.default_rng(SEED)
    return BayesianFindings(
        releases=releases,
        data=data,
        tight=reached_groups(),
        accepted=acceptances(),
        scales=list(scale_rows(data.series, TARGETS)),
        means=mean_noises(data.kin),
        shifts=[shift for law in FAMILIES for shift in posterior_shifts(*law, releases, generator)],
        errors=[
            *(point for one in data.kin for point in errors.against_together(one, releases, generator)),
            *(point for one in data.kin for point in errors.against_correlation(one, releases, generator)),
            *errors.against_length(data.series, releases, generator),
        ],
    )
