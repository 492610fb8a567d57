"""Everything that the paper computes, computed again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.papers.attribute_privacy.free_noise import NormalNoise, normal_noise
from entwined.papers.attribute_privacy.hospital import (
    ConstantCheck,
    DrawnErrors,
    HospitalRelease,
    constant_checks,
    drawn_errors,
    hospital_releases,
    outside_the_class,
    unequal_variances,
)
from entwined.papers.attribute_privacy.quantiles import AccuracyClaim, accuracy_claims
from entwined.papers.attribute_privacy.school import SchoolNoise, school_noise
from entwined.papers.attribute_privacy.values_or_parameters import ValuesOrParameters, values_or_parameters

RUNS: Final = 100  # the paper's
MANY: Final = 100_000
SEED: Final = 2022
MOST: Final = 10_000_000


class FindingRow(Protocol):
    """One line of a table."""

    def _asdict(self) -> dict[str, Any]:
        """Its columns by name."""


@dataclass(frozen=True, slots=True)
class AttributeFindings:
    """What was found."""

    runs: int
    releases: list[HospitalRelease]
    unequal: HospitalRelease
    constant: list[ConstantCheck]
    outside: list[str]
    errors: list[DrawnErrors]
    claims: list[AccuracyClaim]
    school: list[SchoolNoise]
    students: list[ValuesOrParameters]
    normal: list[NormalNoise]

    def document(self) -> Document:
        """All of it as JSON."""
        parts: dict[str, Sequence[FindingRow]] = {
            "releases": self.releases,
            "unequal_variances": [self.unequal],
            "constant": self.constant,
            "errors": self.errors,
            "accuracy": self.claims,
            "school": self.school,
            "values_or_parameters": self.students,
            "normal_columns": self.normal,
        }
        told = {name: [one._asdict() for one in rows] for name, rows in parts.items()}
        return {"runs": self.runs, "outside_the_class": self.outside, **told}


def reproduce_all(runs: int) -> AttributeFindings:
    """Compute all parts; noise is drawn so often as in the paper, and a hundred thousand times."""
    if not 1 <= runs <= MOST:
        raise BadInput(f"{runs} runs. Give 1 to {MOST:,}.")
    generator = np.random.default_rng(SEED)
    releases = hospital_releases()
    return AttributeFindings(
        runs,
        releases,
        unequal_variances(),
        constant_checks(),
        outside_the_class(),
        drawn_errors(releases, (runs, MANY), generator),
        accuracy_claims(generator),
        school_noise(),
        values_or_parameters(),
        normal_noise(),
    )
