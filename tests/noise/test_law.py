"""The law of the draws: exact ratios, goodness of fit, the lattice, error bars. False alarms: 1e-6 a test."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy import stats

from entwined.noise import DiscreteGaussian, DiscreteLaplace

FALSE_ALARM = 1e-6
SCALES = [Fraction(1, 2), Fraction(1), Fraction(10, 3), Fraction(7), Fraction(100), Fraction(12345, 7)]
ENOUGH = 20  # expected draws in a bin of the chi-square


@pytest.fixture(scope="module")
def laplace_draws():
    return DiscreteLaplace(Fraction(5)).add(np.zeros(250_000, dtype=np.int64))


@pytest.fixture(scope="module")
def gaussian_draws():
    return DiscreteGaussian(Fraction(3)).add(np.zeros(150_000, dtype=np.int64))


@cache
def law(noise, reach):
    """The probabilities of −reach..reach: to fifty digits where that is quick, else to a dozen."""
    if reach > 1000:
        log = np.array([float(noise.log_weight(k)) for k in range(reach + 1)])
        half = np.exp(log)
        return np.concatenate([half[:0:-1], half]) / (2 * math.fsum(half) - 1)
    with localcontext() as context:
        context.prec = 50
        logs = [noise.log_weight(k) for k in range(-reach, reach + 1)]
        weights = [(Decimal(log.numerator) / Decimal(log.denominator)).exp() for log in logs]
        total = sum(weights)
        return np.array([float(weight / total) for weight in weights])


def fits(draws, noise):
    """The p-value of the draws against the law: of a chi-square, ends pooled, and of their mean size, each for half."""
    reach = int(60 * noise.scale) + 60
    expected = law(noise, reach) * draws.size
    observed = np.bincount(np.clip(draws, -reach, reach) + reach, minlength=2 * reach + 1)
    inner = np.flatnonzero(expected >= ENOUGH)
    first, last = inner[0] + 1, inner[-1]
    pooled = [
        np.concatenate([[x[:first].sum()], x[first:last], [x[last:].sum()]]) for x in (observed, expected)
    ]
    shape = stats.chisquare(pooled[0], pooled[1] * draws.size / pooled[1].sum()).pvalue
    sizes = np.abs(np.arange(-reach, reach + 1.0))
    mean, chances = (sizes @ expected) / draws.size, expected / draws.size
    deviation = math.sqrt((sizes**2 @ chances - mean**2) / draws.size)
    size = 2 * stats.norm.sf(abs(np.abs(draws).mean() - mean) / deviation)
    return 2 * min(shape, size)


def test_laplace_draws_follow_the_law(laplace_draws):
    assert fits(laplace_draws, DiscreteLaplace(Fraction(5))) > FALSE_ALARM


def test_laplace_two_per_cent_too_small_is_caught(laplace_draws):
    claimed = DiscreteLaplace(Fraction(5) / Fraction("0.98"))  # these draws are the mutant of this claim
    assert fits(laplace_draws, claimed) < FALSE_ALARM
    assert fits(laplace_draws, DiscreteLaplace(Fraction(5) * Fraction("0.98"))) < FALSE_ALARM


def test_laplace_draws_follow_the_law_at_a_scale_that_is_no_round_number():
    noise = DiscreteLaplace(Fraction(10, 3))
    assert fits(noise.add(np.zeros(100_000, dtype=np.int64)), noise) > FALSE_ALARM


def test_gaussian_draws_follow_the_law(gaussian_draws):
    assert fits(gaussian_draws, DiscreteGaussian(Fraction(3))) > FALSE_ALARM


def test_gaussian_two_per_cent_too_small_is_caught(gaussian_draws):
    assert fits(gaussian_draws, DiscreteGaussian(Fraction(3) / Fraction("0.98"))) < FALSE_ALARM


def test_neighbours_in_a_batch_are_independent(laplace_draws):
    pairs = laplace_draws.reshape(-1, 2)
    sign = np.corrcoef(pairs.T)[0, 1] * math.sqrt(pairs.shape[0])
    size = np.corrcoef(np.abs(pairs).T)[0, 1] * math.sqrt(pairs.shape[0])
    limit = stats.norm.isf(FALSE_ALARM / 2)
    assert abs(sign) < limit
    assert abs(size) < limit
    copied = np.repeat(laplace_draws[:1000], 2).reshape(-1, 2)  # a mutant that draws once for two
    assert np.corrcoef(copied.T)[0, 1] * math.sqrt(1000) > limit


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("apart", [1, 2, 17])
def test_laplace_ratio_is_at_most_the_loss_exactly_and_reaches_it(scale, apart):
    noise = DiscreteLaplace(scale)
    weights = {k: noise.log_weight(k) for k in range(-5000 - apart, 5001 + apart)}
    ratios = [abs(weights[k] - weights[k - apart]) for k in range(-5000, 5001)]
    assert max(ratios) == noise.loss(Fraction(apart))
    mutant = [ratio / Fraction("0.98") for ratio in ratios]  # draws of scale × 0.98 under the same claim
    assert max(mutant) > noise.loss(Fraction(apart))


def test_the_scale_drawn_with_is_never_below_the_one_asked_for():
    for asked in SCALES:
        for noise in (DiscreteLaplace(asked), DiscreteGaussian(asked)):
            assert asked <= noise.scale <= asked * (1 + Fraction(1, 2**52))
            assert Fraction(float(noise.scale)) == noise.scale
    assert DiscreteLaplace.for_loss("0.3", Fraction(1)).loss(Fraction(1)) <= Fraction("0.3")
    assert DiscreteLaplace.for_loss("0.1", Fraction(1)).loss(Fraction(1)) == Fraction("0.1")
    for moved in (Fraction(1, 3), Fraction(7), Fraction(10**9)):
        assert Fraction("0.29") < DiscreteLaplace.for_loss("0.3", moved).loss(moved) <= Fraction("0.3")
        assert Fraction("0.29") < DiscreteGaussian.for_rho("0.3", moved).rho(moved) <= Fraction("0.3")


def test_opendp_claims_the_same_loss():
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_gaussian, make_laplace
    from opendp.metrics import l1_distance, l2_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    vectors = vector_domain(atom_domain(T="i64"))
    one_more = 1 + Fraction(1, 2**51)  # OpenDP rounds its claim up to a float
    for asked in SCALES:
        for apart in (1, 3, 1000):
            laplace, gaussian = DiscreteLaplace(asked), DiscreteGaussian(asked)
            pure = make_laplace(vectors, l1_distance(T="i64"), scale=float(laplace.scale)).map(apart)
            assert laplace.loss(Fraction(apart)) <= Fraction(pure) <= laplace.loss(Fraction(apart)) * one_more
            rho = make_gaussian(vectors, l2_distance(T="f64"), scale=float(gaussian.scale)).map(float(apart))
            assert (
                gaussian.rho(Fraction(apart**2))
                <= Fraction(rho)
                <= gaussian.rho(Fraction(apart**2)) * one_more
            )


@pytest.mark.parametrize("order", [1.01, 1.5, 2, 5, 30])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(10, 3)])
def test_gaussian_divergence_is_at_most_rho_times_the_order(scale, order):
    noise = DiscreteGaussian(scale)
    points = np.arange(-2000, 2001)
    log = -(points.astype(float) ** 2) / (2 * float(scale) ** 2)
    norm = np.logaddexp.reduce(log)
    for apart in (1, 3):
        other = -((points - apart).astype(float) ** 2) / (2 * float(scale) ** 2)
        divergence = (np.logaddexp.reduce(order * log + (1 - order) * other) - norm) / (order - 1)
        claim = order * float(noise.rho(Fraction(apart**2)))
        assert divergence <= claim * (1 + 1e-9)
        if order >= 2 and scale >= 1 and float(order).is_integer():
            assert divergence == pytest.approx(claim, rel=1e-9)  # reached: shifting by whole steps is tight
            assert divergence > order * float(
                DiscreteGaussian(scale / Fraction("0.98")).rho(Fraction(apart**2))
            )


def test_outputs_are_integers_on_a_lattice_fixed_beforehand(laplace_draws, gaussian_draws):
    for draws in (laplace_draws, gaussian_draws):
        assert draws.dtype == np.int64
    grid = 2.0**-20
    released = laplace_draws * grid  # how a fixed-point column is shown
    assert (np.mod(released / grid, 1) == 0).all()
    mutant = np.random.default_rng(1).laplace(0, 5, 1000) * grid
    assert not (np.mod(mutant / grid, 1) == 0).any()


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("confidence", ["0.05", "0.5", "0.9", "0.95", "0.999"])
def test_error_bars_cover_as_promised_and_no_wider_than_the_lattice_makes_them(kind, scale, confidence):
    noise = kind(scale)
    reach = int(20 * scale) + 200
    chances = law(noise, reach)
    half = noise.half_width(confidence)
    covered = chances[reach - half : reach + half + 1].sum()
    assert covered >= float(confidence) - 1e-12
    wide = half - (
        kind is DiscreteGaussian and scale > 1024
    )  # an integral bounds it there: at most a step wider
    assert wide <= 0 or chances[reach - wide + 1 : reach + wide].sum() < float(confidence)
    assert noise.accuracy(1 - Fraction(confidence)) == noise.half_width(confidence)


def test_error_bars_cover_in_fact(laplace_draws, gaussian_draws):
    for noise, draws in (
        (DiscreteLaplace(Fraction(5)), laplace_draws),
        (DiscreteGaussian(Fraction(3)), gaussian_draws),
    ):
        half = noise.half_width("0.95")
        covered = np.count_nonzero(np.abs(draws) <= half)
        exact = 1 - noise.tail(half + 1)
        assert stats.binomtest(covered, draws.size, exact).pvalue > FALSE_ALARM
        assert 0.95 <= exact < 0.95 + noise.tail(half) - noise.tail(half + 1)
        narrower = np.count_nonzero(np.abs(draws) <= half - 1)  # a mutant one step too narrow
        assert stats.binomtest(narrower, draws.size, 0.95, alternative="less").pvalue < FALSE_ALARM


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize("scale", [*SCALES, Fraction(3000)])
def test_tails_are_never_below_the_truth_and_close_to_it(kind, scale):
    noise = kind(scale)
    reach = int(30 * scale) + 50
    chances = law(noise, reach)
    for distance in (0, 1, 2, math.ceil(scale), math.ceil(2 * scale), math.ceil(9 * scale)):
        truth = chances[: reach - distance + 1].sum() + chances[reach + distance :].sum() if distance else 1.0
        assert truth * (1 - 1e-12) <= noise.tail(distance) <= truth * (1 + 2 / float(scale) + 1e-9) + 1e-300


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
def test_far_tails_and_large_scales_stay_finite_and_honest(kind):
    wide, narrow = kind(Fraction(2**52)), kind(Fraction(1, 2**10))
    assert 0 < narrow.tail(1) < 1e-200
    assert narrow.half_width("0.999999") == 0
    assert narrow.variance < 1e-200
    assert 0 < wide.tail(2**62) < 1e-200
    continuous = math.log(20) if kind is DiscreteLaplace else stats.norm.isf(0.025)
    assert wide.half_width("0.95") / 2**52 == pytest.approx(continuous, rel=1e-9)
    assert wide.variance == pytest.approx((2 if kind is DiscreteLaplace else 1) * 2.0**104)
    assert kind(Fraction(1)).accuracy("1e-280") < 1300


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
@pytest.mark.parametrize("scale", SCALES)
def test_variance_is_that_of_the_law(kind, scale):
    reach = int(60 * scale) + 60
    points = np.arange(-reach, reach + 1, dtype=float)
    assert kind(scale).variance == pytest.approx((points**2) @ law(kind(scale), reach), rel=1e-9)


def test_probabilities_are_those_of_the_law():
    noise = DiscreteLaplace(Fraction(10, 3))
    assert [noise.probability(k) for k in range(-50, 51)] == pytest.approx(
        law(noise, 400)[350:451], rel=1e-12
    )


def test_answers_and_draws_beyond_int64_are_put_to_its_ends():
    noise = DiscreteLaplace(Fraction(2**40))
    highest, lowest = 2**63 - 1, -(2**63)
    noisy = noise.add([highest, 2**200, lowest, -(2**200), -1, 2**63])
    assert noisy.dtype == np.int64
    near = 2**40 * 60
    assert (noisy[[0, 1, 5]] > highest - near).all()
    assert (noisy[[2, 3]] < lowest + near).all()
    assert abs(int(noisy[4])) < near
    many = noise.add(np.full(200, highest))
    assert np.count_nonzero(many == highest) > 50  # half the draws leave the range and none wraps around
    assert (many > 0).all()


def test_shapes_and_integer_types_go_through():
    noise = DiscreteLaplace(Fraction(1, 1000))  # at this scale a draw other than zero never happens
    assert noise.add(7).shape == ()
    assert noise.add([]).shape == (0,)
    for dtype in (np.uint8, np.int16, np.uint64, np.int64):
        assert noise.add(np.arange(6, dtype=dtype).reshape(2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert noise.add(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [2**63 - 1]
    strided = np.arange(10)[::3]
    assert noise.add(strided).tolist() == [0, 3, 6, 9]
