"""The paper's figures: the error that 95 of 100 releases stay below, in theory and drawn, for every bound."""

import math
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from scipy.stats import binom

from entwined.bounds.group import group_bound
from entwined.bounds.markov import markov_closed_form_bound
from entwined.bounds.quilt import markov_quilt_bound
from entwined.dependence import MarkovChain
from entwined.papers.bayesian_dp.gaussian import GAUSSIAN, GROUP, LANGE, NONE, factors, gaussian_deviation
from entwined.papers.bayesian_dp.kin import Kin
from entwined.papers.bayesian_dp.scales import our_scale, scale_of
from entwined.papers.bayesian_dp.series import Series
from entwined.papers.golden import symmetric_chain

BETA: Final = 0.05
WITHIN: Final = 1.959964  # deviations of a normal law
TOGETHER: Final = (2, 5, 8, 16)
CORRELATIONS: Final = (0.01, 0.02, 0.05, 0.1, 0.14, 0.2, 0.3, 0.5, 0.7, 0.9)
LENGTHS: Final = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
LEAKAGES: Final = (1.0, 5.0)
QUILT: Final = "Markov quilt"
MODEL: Final = "ours, the chain is known"
VALUES: Final = "ours, and any values"
WEAK_FLIP: Final = 0.4


class ErrorPoint(NamedTuple):
    """A point of a line, and the cross beside it: the upper end of a 95 % interval from drawn releases."""

    figure: str
    panel: str
    at: float
    method: str
    theory: float
    drawn: float


def upper_end(errors: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> float:
    """Give an upper limit, with 95 % confidence, of the error that 95 of 100 releases stay below."""
    ordered = np.sort(np.abs(errors))
    return float(ordered[min(int(binom.ppf(1 - BETA, errors.size, 1 - BETA)), errors.size - 1)])


def laplace_point(
    place: tuple[str, str, float, str], scale: float, releases: int, generator: np.random.Generator
) -> ErrorPoint:
    """Draw releases with Laplace noise; in theory 95 of 100 stay below scale · ln 20."""
    drawn = upper_end(generator.laplace(0.0, scale, releases))
    return ErrorPoint(*place, scale * math.log(1 / BETA), drawn)


def normal_point(
    place: tuple[str, str, float, str], deviation: float, releases: int, generator: np.random.Generator
) -> ErrorPoint:
    """Draw releases with Gaussian noise."""
    return ErrorPoint(*place, WITHIN * deviation, upper_end(generator.normal(0.0, deviation, releases)))


def against_together(kin: Kin, releases: int, generator: np.random.Generator) -> Iterator[ErrorPoint]:
    """The error of a mean against how many depend on each other, with the correlation of the data."""
    panel = f"{kin.name}, ρ = {kin.correlation:g}"
    for together in range(2, max(TOGETHER) + 1):
        yield from _mean(
            kin, ("error against m", panel, float(together)), (together, kin.correlation), releases, generator
        )


def against_correlation(kin: Kin, releases: int, generator: np.random.Generator) -> Iterator[ErrorPoint]:
    """The error of a mean against the correlation, for groups of 2, 5, 8 and 16."""
    for together in TOGETHER if kin.most > min(TOGETHER) else TOGETHER[:1]:
        for correlation in CORRELATIONS:
            place = "error against ρ", f"{kin.name}, m = {together}", correlation
            yield from _mean(kin, place, (together, correlation), releases, generator)


def _mean(
    kin: Kin,
    place: tuple[str, str, float],
    law: tuple[int, float],
    releases: int,
    generator: np.random.Generator,
) -> Iterator[ErrorPoint]:
    for method, factor in factors(*law).items():
        yield laplace_point((*place, method), kin.width * factor / kin.people, releases, generator)
    deviation = gaussian_deviation(*law, kin.width) / kin.people
    yield normal_point((*place, GAUSSIAN), deviation, releases, generator)


def against_length(
    series: Sequence[Series], releases: int, generator: np.random.Generator
) -> Iterator[ErrorPoint]:
    """The error of a count of steps against how many steps there are, smoothed counts."""
    weak = symmetric_chain(WEAK_FLIP)
    for leakage in LEAKAGES:
        for length in LENGTHS:
            for name, chain in (
                (
                    f"two states that flip with {WEAK_FLIP:g}",
                    MarkovChain(length, weak.transition, weak.initial),
                ),
                *((one.name, one.chain(smoothed=True, length=length)) for one in series),
            ):
                place = "error against n", f"{name}, leakage {leakage:g}", float(length)
                for method, scale in _methods(chain, leakage).items():
                    yield laplace_point((*place, method), scale, releases, generator)


def _methods(chain: MarkovChain, leakage: float) -> dict[str, float]:
    found = {
        NONE: 1 / leakage,
        GROUP: scale_of(group_bound, chain, leakage),
        LANGE: scale_of(markov_closed_form_bound, chain, leakage),
        QUILT: scale_of(markov_quilt_bound, chain, leakage),
        MODEL: our_scale(chain, leakage, "model")[0],
        VALUES: our_scale(chain, leakage, "values")[0],
    }
    return {name: scale for name, scale in found.items() if scale is not None}
