"""A regression that keeps a secret mean: slopes show nothing of it, and the intercept no more than it may."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from entwined.bounds.attributes.guarded import Guarded
from entwined.bounds.attributes.linked import Linked, from_covariance
from entwined.bounds.attributes.on_grid import whole_noise
from entwined.bounds.attributes.regressed import told_by_grid
from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.bounds.attributes.two_normals import analytic_ratio
from entwined.errors import Refused

NAMES = ["income", "weight", "height", "age"]
COVARIANCE = np.array(
    [
        [100.0, -40.0, 20.0, 50.0],
        [-40.0, 225.0, 60.0, 10.0],
        [20.0, 60.0, 64.0, 5.0],
        [50.0, 10.0, 5.0, 144.0],
    ]
)
ROWS, EPSILON, DELTA = 40, 0.5, 0.05
RATIO = analytic_ratio(Fraction(EPSILON), Fraction(DELTA))
FIELDS = {"rows": ROWS, "epsilon": EPSILON, "delta": DELTA, "figure": "mean"}


def guard(apart=(28, 32), **more):
    found = from_covariance("income", NAMES, COVARIANCE.tolist())
    secret = ColumnSecret.of("income", apart, **FIELDS | more)
    return Guarded(secret, found.columns, (), found.correlation)


def by_schur(slopes):
    """How far the sum of what slopes leave over moves, and its variance, from the covariance as it is."""
    c = np.array([1.0, *(-one for one in slopes)])
    given = COVARIANCE[1:, 1:] - np.outer(COVARIANCE[1:, 0], COVARIANCE[1:, 0]) / COVARIANCE[0, 0]
    return ROWS * 4 * abs(c @ COVARIANCE[1:, 0]) / COVARIANCE[0, 0], ROWS * c @ given @ c


def slip(shift, variance):
    mu = shift / math.sqrt(variance)
    return stats.norm.cdf(mu / 2 - EPSILON / mu) - math.exp(EPSILON) * stats.norm.cdf(-mu / 2 - EPSILON / mu)


def noise_of(slopes, fine=1000):
    weights = dict(zip(NAMES[1:], [Fraction(fine), *(-round(fine * one) for one in slopes)], strict=True))
    exact = {name: Fraction(weight) for name, weight in weights.items()}
    kept = guard()
    return float(whole_noise(kept.combined(exact), kept.secret.epsilon, kept.secret.delta)) / fine**2


@pytest.mark.parametrize("slopes", [(0.0, 0.0), (0.9, 0.05), (-3.0, 2.0), (40.0, -7.0)])
def test_noise_of_the_intercept_is_enough_for_every_slope_and_hardly_more(slopes):
    shift, own = by_schur(slopes)
    noise = noise_of(slopes)
    assert slip(shift, own + noise) <= DELTA
    assert noise == pytest.approx(max((shift * RATIO) ** 2 - own, 0), rel=1e-3)
    if noise:
        assert slip(shift, own + noise) > 0.99 * DELTA
        assert slip(shift, own + 0.64 * noise) > DELTA


def test_the_protected_column_may_be_in_the_regression():
    """It moves by itself, and has no spread of its own given its mean."""
    moved = guard().combined({"weight": Fraction(1), "income": Fraction(3)})
    slope, rest = (
        COVARIANCE[0, 1] / COVARIANCE[0, 0],
        COVARIANCE[1, 1] - COVARIANCE[0, 1] ** 2 / COVARIANCE[0, 0],
    )
    assert float(moved.shift) == pytest.approx(ROWS * 4 * abs(slope + 3))
    assert float(moved.least) == pytest.approx(ROWS * rest)


def tables(rng, mean, turns):
    """Rows of jointly normal columns, moved so that their mean income is exactly this."""
    own = rng.multivariate_normal([30, 80, 170, 40], COVARIANCE, (turns, ROWS))
    off = own[:, :, 0].mean(axis=1) - mean
    return own - off[:, None, None] * COVARIANCE[:, 0] / COVARIANCE[0, 0]


def slopes_of(rows, target=1, features=(2, 3)):
    centred = rows - rows.mean(axis=1, keepdims=True)
    x, y = centred[:, :, list(features)], centred[:, :, target]
    return np.linalg.solve(np.einsum("tia,tib->tab", x, x), np.einsum("tia,ti->ta", x, y)[..., None])[..., 0]


@pytest.mark.parametrize(("times", "is_kept"), [(1.0, True), (0.5, False)])
def test_releases_of_whole_tables_are_told_apart_no_more_than_promised(times, is_kept):
    """A false alarm, or a miss, has a chance below 10⁻⁴: four deviations of the estimate."""
    rng, turns, told = np.random.default_rng(77), 8_000, []
    for mean in (28, 32):
        rows = tables(rng, mean, turns)
        slopes = np.round(slopes_of(rows), 3)
        left = (rows[:, :, 1] - np.einsum("tia,ta->ti", rows[:, :, 2:], slopes)).sum(axis=1)
        c = np.column_stack([np.ones(turns), -slopes])
        shift, own = np.array([by_schur(one) for one in slopes]).T
        spread = times**2 * np.maximum((shift * RATIO) ** 2 - own, 0)
        seen = left + rng.normal(size=turns) * np.sqrt(spread)
        rise = c @ COVARIANCE[1:, 0] / COVARIANCE[0, 0]
        low, high = (ROWS * (c @ [80, 170, 40] + rise * (one - 30)) for one in (28, 32))
        scale = np.sqrt(own + spread)
        ratios = stats.norm.logpdf(seen, high, scale) - stats.norm.logpdf(seen, low, scale)
        told.append((ratios > EPSILON).mean())
    found = told[1] - math.exp(EPSILON) * told[0]
    error = 4 * math.sqrt((told[1] + math.exp(2 * EPSILON) * told[0]) / turns)
    assert (found - error <= DELTA) if is_kept else (found > DELTA + 0.02)


def test_slopes_tell_nothing_of_a_mean_and_much_of_a_share():
    """The law of slopes is the same for both means (a false alarm: 10⁻³), and not for both shares."""
    rng = np.random.default_rng(78)
    low, high = (slopes_of(tables(rng, mean, 3000))[:, 0] for mean in (20, 40))
    assert stats.ks_2samp(low, high).pvalue > 1e-3
    shares = []
    for women in (2, 20):
        sex = np.zeros((3000, ROWS))
        sex[:, :women] = 1
        rows = np.stack(
            [sex, 4 * sex + rng.normal(size=sex.shape), 4 * sex + rng.normal(size=sex.shape)], axis=-1
        )
        shares.append(slopes_of(rows, 1, (2,))[:, 0])
    assert stats.ks_2samp(*shares).pvalue < 1e-12


def test_what_is_not_proved_is_refused():
    share = ColumnSecret.of("sex", [0.25, 0.75], rows=ROWS, epsilon=1, delta="0.01", value="f")
    with pytest.raises(Refused, match="otherwise slopes may tell it"):
        Guarded(share, (Linked.of("weight", -12, 15),)).combined({"weight": Fraction(1)})
    loose = ColumnSecret.of("income", [28, 32], **FIELDS)
    with pytest.raises(Refused, match="otherwise slopes may tell it"):
        Guarded(loose, (Linked.of("weight", -12, 15),)).combined({"weight": Fraction(1)})
    with pytest.raises(Refused, match="Nothing is said of how 'shoes'"):
        guard().combined({"shoes": Fraction(1)})


def slopes_on_a_grid(mean, rows, rng, deviation=1.0, tables=60_000):
    """Slopes of whole rows whose protected column, not among them, has exactly this mean."""
    z = deviation * rng.standard_normal((tables, rows))
    z += mean - z.mean(axis=1, keepdims=True)
    x, y = (np.rint(z + deviation * rng.standard_normal(z.shape)) for _ in range(2))
    over = rows * (x * x).sum(axis=1) - x.sum(axis=1) ** 2
    return (rows * (x * y).sum(axis=1) - x.sum(axis=1) * y.sum(axis=1)) / np.maximum(over, 1)


def test_slopes_of_whole_rows_tell_the_place_of_a_mean_between_steps_unless_it_varies_by_one():
    """Where all of ε is taken by the grid it really tells, and where hardly any is it does not."""
    rng = np.random.default_rng(7)

    def apart(rows, deviation):
        here, there, again = (
            np.round(slopes_on_a_grid(mean, rows, rng, deviation), 9) for mean in (0, 0.5, 0)
        )
        found = []
        for other in (there, again):
            values, place = np.unique(np.concatenate([here, other]), return_inverse=True)
            first, second = (
                np.bincount(half, minlength=len(values)) for half in np.split(place, [len(here)])
            )
            common = first + second >= 20  # what hardly ever occurs is noise
            found.append(np.abs(first - second)[common].sum() / 2 / len(here))
        return found

    assert told_by_grid(0.49, 8, 2) == 1
    told, chance = apart(8, 0.7)
    assert told > chance + 0.08
    assert told_by_grid(1.0, 2, 2) < 3e-4
    told, chance = apart(2, 1.0)
    assert told < chance + 0.01


def test_eigenvalues_of_the_grid_are_not_overstated():
    kept = guard()
    given = COVARIANCE[1:, 1:] - np.outer(COVARIANCE[1:, 0], COVARIANCE[1:, 0]) / COVARIANCE[0, 0]
    steps = dict(zip(NAMES[1:], map(Fraction, ("1", "0.5", "3")), strict=True))
    each = np.array([float(one) for one in steps.values()])
    exact = np.linalg.eigvalsh(given / np.outer(each, each)).min()
    assert exact * (1 - 1e-5) <= kept.spread(steps) <= exact
