"""Counts beside sums: kept whatever a row's values have to do with its being counted, checked on exact joint laws."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from entwined.bounds.attributes.beside_counts import moved_count
from entwined.bounds.attributes.guarded import Guarded
from entwined.bounds.attributes.joint_noise import JointNoise
from entwined.bounds.attributes.linked import Linked
from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.bounds.attributes.summed_laws import RowChances
from entwined.bounds.attributes.together import curve, keeps, noise_of
from entwined.errors import Refused
from entwined.queries.plain import PlainSum

ROWS, SD, DELTA = 24, 3.0, 0.01
SIZE = 2048
ASKED = PlainSum("x"), PlainSum("", "ill")


def guard(slope, chance, others):
    secret = ColumnSecret.of("sex", [0.25, 0.75], rows=ROWS, epsilon=1, delta=str(DELTA), value="f")
    return Guarded(secret, (Linked.of("x", slope, SD),), (("ill", RowChances.counting(chance, others)),))


def row_law(mean, chance, *, upper):
    """A row whose value is a rounded normal number, counted if that is among its highest, or its lowest, values."""
    values = np.arange(-20, 21)
    cells = np.diff(stats.norm.cdf(np.append(values - 0.5, 20.5), mean, SD))
    cells /= cells.sum()
    below = np.cumsum(cells) - cells
    over = (
        np.clip((below + cells - (1 - chance)) / cells, 0, 1)
        if upper
        else np.clip((chance - below) / cells, 0, 1)
    )
    table = np.zeros((SIZE, 64))
    table[values, 0], table[values, 1] = cells * (1 - over), cells * over
    return np.fft.rfft2(table)


def told(slope, chance, others, noise, *, alike):
    """E_e of sum and count with their noise, between 6 and 18 rows with the value; exact, by Fourier transforms."""
    one, other = row_law(slope, float(chance), upper=True), row_law(0, float(others), upper=alike)
    laws = []
    for women in (6, 18):
        exact = np.fft.irfft2(one**women * other ** (ROWS - women), (SIZE, 64))
        laws.append(noisy(np.roll(exact, SIZE // 2, axis=0), noise))
    p, q = laws
    return max(np.maximum(a - math.e * b, 0).sum() for a, b in ((p, q), (q, p)))


def noisy(law, noise):
    steps = noise.direction or (0, 0)
    wide = 512
    grid = np.zeros((SIZE, 2 * wide))
    grid[:, wide - 32 : wide + 32] = law
    sides = [2 * np.pi * np.fft.fftfreq(SIZE)[:, None], 2 * np.pi * np.fft.rfftfreq(2 * wide)[None, :]]
    damp = sum(float(own) * side**2 for own, side in zip(noise.variances, sides, strict=True))
    along = float(noise.along) * (steps[0] * sides[0] + steps[1] * sides[1]) ** 2
    return np.fft.irfft2(np.fft.rfft2(grid) * np.exp(-0.5 * (damp + along)), grid.shape)


@pytest.mark.parametrize(
    ("slope", "chance", "others"), [(1, "0.5", "0.5"), (-1, "0.3", "0.2"), (2, "0.2", "0.4")]
)
@pytest.mark.parametrize("alike", [True, False])
def test_a_sum_and_a_count_are_kept_whatever_they_have_to_do_with_each_other(slope, chance, others, alike):
    kept = guard(slope, chance, others)
    noise = noise_of((kept,), ASKED)
    assert keeps((kept,), ASKED, noise)
    found = told(slope, chance, others, noise, alike=alike)
    assert found <= DELTA
    assert found <= curve(kept, ASKED, noise, [1.0])[0] <= DELTA * (1 + 1e-6)


def test_noise_for_each_alone_is_not_enough():
    """Equal chances need no noise on a count alone; beside a sum it tells which way rows are counted."""
    kept = guard(1, "0.5", "0.5")
    alone = tuple(noise_of((kept,), (one,)).variances[0] for one in ASKED)
    assert alone[1] == 0
    assert told(1, "0.5", "0.5", JointNoise((alone[0], Fraction(1, 100))), alike=False) > 2 * DELTA
    assert not keeps((kept,), ASKED, JointNoise((alone[0], Fraction(6))))


def test_how_far_a_count_moves_is_seldom_exceeded():
    """Of 4,000 draws of the two tables at once fewer than twice the promised part is beyond (a false alarm: 10⁻⁶)."""
    rng, tail = np.random.default_rng(5), Fraction(1, 100)
    secret = guard(1, "0.6", "0.4").secret
    low, high = moved_count(secret, [RowChances.counting("0.6", "0.4")], tail)
    seen = rng.normal(size=(4000, 12))
    counts = (seen > stats.norm.ppf(0.4)).sum(axis=1) - (seen < stats.norm.ppf(0.4)).sum(axis=1)
    assert ((counts < low) | (counts > high)).mean() < 2 * float(tail)


def test_several_counts_and_nothing_said_of_one():
    secret = guard(1, "0.5", "0.5").secret
    law = RowChances.counting("0.3", "0.2")
    kept = Guarded(secret, (), (("ill", law), ("old", law)))
    asked = PlainSum("", "ill"), PlainSum("", "old")
    noise = noise_of((kept,), asked)
    assert keeps((kept,), asked, noise)
    assert min(noise.totals) > 100
    with pytest.raises(Refused, match="Nothing is said of how the rows with poor"):
        noise_of((kept,), (PlainSum("", "ill"), PlainSum("", "poor")))
