"""Several answers at once: noise along a common direction keeps secrets, and costs less than independent noise."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import signal, stats

from entwined.bounds.attributes.guarded import Guarded
from entwined.bounds.attributes.joint_noise import JointNoise
from entwined.bounds.attributes.linked import Linked
from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.bounds.attributes.together import keeps, noise_of, observer
from entwined.errors import BadNoise, Refused
from entwined.queries.plain import PlainSum

ROWS = 100
ONE = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))


def guard(slopes: tuple[float, float], deviations: tuple[float, float], *, known: bool = True) -> Guarded:
    secret = ColumnSecret.of("sex", [0.25, 0.75], rows=ROWS, epsilon=1, delta="0.01", value="f")
    laws = tuple(Linked.of(name, slope, sd) for name, slope, sd in zip("xy", slopes, deviations, strict=True))
    return Guarded(secret, laws, correlation=ONE if known else None)


def exact_slip(
    shift: tuple[float, float], own: tuple[float, float], noise: JointNoise, grain: int = 1
) -> float:
    """E_γ of two normal numbers rounded to a grain, with the noise as it is drawn, summed over whole numbers."""
    reach = [
        grain * (int(6 * math.sqrt(total + spread)) // grain + 60)
        for total, spread in zip(noise.totals, own, strict=True)
    ]
    sides = [np.arange(-far, far + 1) for far in reach]
    drawn = np.zeros([len(side) for side in sides])
    most = int(6 * math.sqrt(noise.along)) if noise.along else 0
    weights = np.exp(-(np.arange(-most, most + 1) ** 2) / (2 * float(noise.along or 1)))
    for at, weight in zip(range(-most, most + 1), weights / weights.sum(), strict=True):
        steps = noise.direction or (0, 0)
        alone = [
            np.exp(-((side - at * step) ** 2) / (2 * float(one)))
            for side, step, one in zip(sides, steps, noise.variances, strict=True)
        ]
        lines = [
            one / math.sqrt(2 * math.pi * float(v)) for one, v in zip(alone, noise.variances, strict=True)
        ]
        drawn += weight * np.outer(*lines)
    laws = []
    for moved in ((0.0, 0.0), shift):
        cells = [np.zeros(len(side)) for side in sides]
        for line, side, mean, spread in zip(cells, sides, moved, own, strict=True):
            ends = np.append(side[::grain] - grain / 2, side[-1] + grain / 2)
            line[::grain] = np.diff(stats.norm.cdf(ends, mean + grain / 3, math.sqrt(spread)))
        laws.append(signal.fftconvolve(np.outer(*cells), drawn, mode="same"))
    one, other = laws
    return float(max(np.maximum(p - math.e * q, 0).sum() for p, q in ((one, other), (other, one))))


def test_common_noise_is_less_and_an_exact_check_of_all_whole_numbers_holds() -> None:
    kept = guard((0.3, 0.24), (0.9, 0.8))  # sums of 100 rows: 15 and 12 apart, variances of 81 and 64
    asked = (PlainSum("x"), PlainSum("y"))
    noise = noise_of((kept,), asked)
    assert any(noise.direction)
    mu = 0.5  # about: independent noise would take (15 + 12)²/μ², along the common direction it is near (15² + 12²)/μ²
    assert float(sum(noise.totals)) < 0.75 * (27 / mu) ** 2
    assert keeps((kept,), asked, noise)
    assert exact_slip((15, 12), (81, 64), noise) <= 0.01
    less = JointNoise(noise.variances, noise.direction, noise.along * Fraction(64, 100))
    assert not keeps((kept,), asked, less)
    assert exact_slip((15, 12), (81, 64), less) > 0.01


@pytest.mark.parametrize("known", [True, False])
def test_sums_that_lie_further_apart_are_checked_exactly(known: bool) -> None:
    kept = guard((0.3, 0.24), (0.9, 0.8), known=known)
    asked = PlainSum("x", grain=4), PlainSum("y", grain=4)
    noise = noise_of((kept,), asked)
    assert min(noise.variances) >= 6 * 16
    assert exact_slip((15, 12), (81, 64), noise, grain=4) <= 0.01


def test_without_a_correlation_the_spread_is_not_counted() -> None:
    asked = (PlainSum("x"), PlainSum("y"))
    known, unknown = (noise_of((guard((0.3, 0.24), (9, 8), known=one),), asked) for one in (True, False))
    assert sum(known.totals) < sum(unknown.totals)
    assert (
        exact_slip((15, 12), (1e-3, 1e-3), noise_of((guard((0.3, 0.24), (9, 8), known=False),), asked))
        <= 0.01
    )


def test_none_is_needed_where_the_data_vary_enough() -> None:
    assert noise_of((guard((0.3, 0.24), (90, 80)),), (PlainSum("x"), PlainSum("y"))).is_none


def test_a_direction_that_is_too_coarse_is_not_taken() -> None:
    kept, asked = guard((0.3, 0.24), (0.9, 0.8)), (PlainSum("x"), PlainSum("y"))
    noise = noise_of((kept,), asked)
    coarse = JointNoise((Fraction(6), Fraction(6)), tuple(10 * one for one in noise.direction), noise.along)
    assert not keeps((kept,), asked, coarse)
    with pytest.raises(BadNoise, match="a direction without a variance"):
        JointNoise((Fraction(6), Fraction(6)), (1, 2))
    assert JointNoise.from_document(noise.document) == noise


def test_rows_that_vary_otherwise_are_refused_for_several_answers() -> None:
    laws = tuple(Linked.of(name, 1, 2, 3) for name in "xy")
    secret = guard((1, 1), (1, 1)).secret
    with pytest.raises(Refused, match="proved for one answer alone"):
        noise_of((Guarded(secret, laws),), (PlainSum("x"), PlainSum("y")))


def test_the_best_observer_is_between_guessing_and_certain() -> None:
    found = observer([0.4, 0.1, 0.01], [0.0, 1.0, 2.0], [0.0, 0.2, 0.5, 1.0])
    assert found == sorted(found)
    assert found[0] == pytest.approx(0.01)
    assert found[-1] == 1.0
