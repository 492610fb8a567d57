"""§4.2: the averages that a hospital releases, the laws it holds for possible, and the tables that it draws.

Given the gender of a row its weight is normal around k₁ · height − k₂, so that without the height it has the mean
k₁ μ − k₂ and the variance 15² + k₁² · (variance of heights). The paper counts 15² alone, which is less and so safe.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from entwined.bounds.attributes.far_apart import FarApart, far_apart
from entwined.bounds.attributes.least_noise import classical_variance, least_variance, slip
from entwined.bounds.attributes.linked import Linked
from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.numbers import FloatArray

ROWS: Final = 50
EPSILON: Final = Fraction(1)
DELTA: Final = Fraction(1, 1000)
LEVELS: Final = tuple(map(Fraction, (1, 2, 4, 6, 8, 10, 15, 20)))
CLASS: Final = (  # Θ as the paper computes with it: of weights the variance given the height alone
    Linked.of("weight", ["-24.5", "-9"], 15),
    Linked.of("blood pressure", [6, 10], 10),
    Linked.of("temperature", [0, "0.3"], 2),
)
WIDER: Final = (  # Θ as it is declared, with the spread of heights: other variances for women and for others
    Linked.of("weight", ["-24.5", "-9"], ["17.49", "18.31"], ["28.30", "31.77"]),
    *CLASS[1:],
)
TRUTH: Final = (  # the generator
    Linked.of("weight", -18, "15"),
    Linked.of("blood pressure", -6, 3),
    Linked.of("temperature", 0, "0.5"),
)
PAPER: Final = {"weight": (161.33, 18.90), "blood pressure": (102.18, 7.40), "temperature": (98.58, 0.0)}
READINGS: Final = {"as computed, |a − b| ≤ 0.25": "0.25", "as declared, |a − b| ≤ 0.5": "0.5"}


class HospitalRelease(NamedTuple):
    """The noise of one average under one reading of the secret."""

    column: str
    reading: str
    sensitivity: float
    variance: float
    classical: float
    analytic: float
    slips: float  # the δ that the paper's noise keeps for the pairs that it declares, at ε = 1
    paper_error: float


def secret_of(width: str) -> ColumnSecret:
    """Women are a share of a or of b, at most so far apart."""
    apart = [["0.25", "0.5"], ["0.5", "0.75"]] if width == "0.5" else [["0.5", "0.5"], ["0.5", "0.75"]]
    return ColumnSecret.of("gender", apart, rows=ROWS, epsilon=EPSILON, delta=DELTA, value="female")


def deviation(pair: FarApart, *, classical: bool) -> float:
    """The standard deviation of the noise."""
    variance = (classical_variance if classical else least_variance)(pair, EPSILON, DELTA)
    return float(variance**0.5)


def hospital_releases() -> list[HospitalRelease]:
    """All three averages under both readings."""
    found = []
    for reading, width in READINGS.items():
        for law in CLASS:
            pair, declared = far_apart(secret_of(width), law), far_apart(secret_of("0.5"), law)
            classical = deviation(pair, classical=True)
            found.append(
                HospitalRelease(
                    law.column,
                    reading,
                    float(pair.shift),
                    float(pair.least),
                    classical,
                    deviation(pair, classical=False),
                    slip(declared, EPSILON, classical**2),
                    PAPER[law.column][1],
                )
            )
    return found


def unequal_variances() -> HospitalRelease:
    """Weight with the spread of heights in it: women's and others' variances differ, which Theorem 1 leaves out."""
    pair = far_apart(secret_of("0.5"), WIDER[0])
    classical = deviation(FarApart(pair.shift, pair.least), classical=True)
    needed, reading = deviation(pair, classical=False), "as declared, with the spread of heights"
    shown = float(pair.shift), float(pair.least), classical, needed
    return HospitalRelease("weight", reading, *shown, slip(pair, EPSILON, classical**2), PAPER["weight"][1])


class ConstantCheck(NamedTuple):
    """The δ that noise of √(2 ln(1.25/δ))/ε deviations keeps at an ε, where δ = 0.001 is wanted."""

    epsilon: float
    slips: float
    holds: bool


def constant_checks() -> list[ConstantCheck]:
    """Hold the paper's constant against the exact divergence, for answers that do not vary by themselves."""
    pair = FarApart(Fraction(1), Fraction(0))
    found = []
    for epsilon in LEVELS:
        kept = slip(pair, epsilon, classical_variance(pair, epsilon, DELTA))
        found.append(ConstantCheck(float(epsilon), kept, kept <= DELTA))
    return found


def outside_the_class() -> list[str]:
    """Say how the paper's generator is not among the laws that it protects under."""
    told = [why for law, truth in zip(CLASS, TRUTH, strict=True) for why in law.outside(truth)]
    slope = "weight: its slope on height is 3.6, and the class has 3 to 3.5."
    heights = "height: the deviation of the others is 3, and the class has 8."
    return [slope, heights, *told]


class DrawnErrors(NamedTuple):
    """Mean absolute errors of a release, and what they tend to."""

    column: str
    reading: str
    runs: int
    mean_error: float
    expected: float
    average: float


def weight_of_patients() -> tuple[float, float]:
    """What the average weight of 50 drawn patients is expected to be, and its deviation."""
    height = 0.6 * 65 + 0.4 * 70
    heights = 9 + 0.6 * 0.4 * 25
    return 3.6 * height - 90, float(np.sqrt((225 + 3.6**2 * heights) / ROWS))


def patients(generator: np.random.Generator) -> dict[str, FloatArray]:
    """Draw the table of 50 patients of §4.2."""
    female = generator.random(ROWS) < 0.6  # noqa: PLR2004  (the paper's)
    height = generator.normal(np.where(female, 65.0, 70.0), 3.0)
    return {
        "weight": generator.normal(3.6 * height - 90, 15.0),
        "blood pressure": generator.normal(np.where(female, 100.0, 106.0), 3.0),
        "temperature": generator.normal(98.6, 0.5, ROWS),
    }


def drawn_errors(
    releases: Sequence[HospitalRelease], runs: Sequence[int], generator: np.random.Generator
) -> list[DrawnErrors]:
    """Draw the paper's noise again and again."""
    table = patients(generator)
    found = []
    for one in releases:
        for count in runs:
            error = float(np.abs(generator.normal(0.0, one.classical, count)).mean())
            expected = one.classical * float(np.sqrt(2 / np.pi))
            average = float(table[one.column].mean())
            found.append(DrawnErrors(one.column, one.reading, count, error, expected, average))
    return found
