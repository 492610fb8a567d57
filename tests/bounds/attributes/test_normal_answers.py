"""The least noise of normal answers: the paper's numbers in both readings, and an exact check of every release."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from entwined.bounds.attributes.far_apart import FarApart, far_apart
from entwined.bounds.attributes.least_noise import classical_variance, least_variance, slip
from entwined.bounds.attributes.linked import Linked, LinkedColumns, from_covariance, require_sufficient
from entwined.bounds.attributes.on_grid import rounded, whole_noise
from entwined.bounds.attributes.secrets import ColumnSecret, Span
from entwined.bounds.attributes.two_normals import either_way, told_apart, worst_in_range
from entwined.errors import BadInput, Refused
from entwined.noise import DiscreteGaussian

EPSILON, DELTA = Fraction(1), Fraction(1, 1000)
LAWS = {
    "weight": Linked.of("weight", [-24.5, -9], 15),
    "pressure": Linked.of("pressure", [6, 10], 10),
    "temperature": Linked.of("temperature", [0, 0.3], 2),
}
PAPER = {"weight": (23.03, 15.63), "pressure": (9.33, 6.28), "temperature": (0.0149, 0.0)}
DEMANDED = {"weight": (46.21, 31.47), "pressure": (18.83, 12.80), "temperature": (0.491, 0.263)}


def women(apart: object, **more: object) -> ColumnSecret:
    given = {"rows": 50, "epsilon": 1, "delta": "0.001", "value": "female"} | more
    return ColumnSecret.of("sex", apart, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(
    ("apart", "golden"),
    [([0.5, 0.75], PAPER), ([[0.25, 0.5], [0.5, 0.75]], DEMANDED)],
    ids=["paper", "demanded"],
)
def test_the_papers_three_releases_in_both_readings(
    name: str, apart: object, golden: dict[str, tuple[float, float]]
) -> None:
    pair = far_apart(women(apart), LAWS[name])
    classical, analytic = golden[name]
    assert math.sqrt(classical_variance(pair, EPSILON, DELTA)) == pytest.approx(classical, rel=2e-3)
    assert math.sqrt(least_variance(pair, EPSILON, DELTA)) == pytest.approx(analytic, rel=1e-3)


def test_a_truth_outside_the_class_is_named() -> None:
    truth = Linked.of("pressure", -6, 3)  # the paper's own generator
    assert LAWS["pressure"].outside(truth) == (
        "pressure: the slope is -6, and the class has 6 to 10.",
        "pressure: the deviation is 3, and the class has 10.",
        "pressure: the deviation of the others is 3, and the class has 10.",
    )
    assert not LAWS["pressure"].outside(Linked.of("pressure", 7, 10))


def test_two_normal_laws_against_an_integral() -> None:
    luck, places = np.random.default_rng(15), np.linspace(-40, 40, 200_001)
    for _ in range(20):
        epsilon, shift, (first, second) = luck.uniform(0, 3), luck.uniform(0, 4), luck.uniform(0.3, 4, 2)
        one, other = stats.norm.pdf(places, shift, first**0.5), stats.norm.pdf(places, 0, second**0.5)
        integral = np.maximum(one - math.exp(epsilon) * other, 0).sum() * (places[1] - places[0])
        assert told_apart(epsilon, shift, np.array([first]), np.array([second]))[0] == pytest.approx(
            integral, abs=1e-7
        )


def test_a_range_of_variances_covers_every_pair_in_it() -> None:
    luck = np.random.default_rng(4)
    for _ in range(50):
        least, excess, shift = luck.uniform(0.5, 3), luck.uniform(0, 4), luck.uniform(0, 3)
        inside = luck.uniform(0, 1, 2)
        common = luck.uniform(0, 2)
        first, second = least + common + excess * inside * (luck.uniform() < 0.9)
        assert worst_in_range(1.0, shift, least, excess) >= either_way(
            1.0, shift * luck.uniform(), first, second
        )


def test_unequal_variances_need_more_noise_than_the_paper_says() -> None:
    heights = Linked.of("height", -5, 3, 8)
    pair = far_apart(women([[0.25, 0.5], [0.5, 0.75]]), heights)
    assert (pair.shift, pair.least, pair.excess) == (
        Fraction(5, 2),
        Fraction("22.75") / 50,
        Fraction("27.5") / 50,
    )
    found = least_variance(pair, EPSILON, DELTA)
    assert found > least_variance(FarApart(pair.shift, pair.least), EPSILON, DELTA)
    wide = float(pair.least + pair.excess)
    assert either_way(1.0, 2.5, wide + found, float(pair.least) + found) <= 1e-3 * (1 + 1e-6)
    assert either_way(1.0, 2.5, wide + 0.8 * found, float(pair.least) + 0.8 * found) > 1e-3


@pytest.mark.parametrize("epsilon", ["0.1", "1", "4", "10"])
@pytest.mark.parametrize("delta", ["0.01", "0.000001"])
def test_ours_keeps_delta_at_every_epsilon_and_hardly_more(epsilon: str, delta: str) -> None:
    pair, wanted = FarApart(Fraction(3), Fraction(1, 100)), (Fraction(epsilon), Fraction(delta))
    found = least_variance(pair, *wanted)
    assert slip(pair, wanted[0], found) <= float(wanted[1]) + 2e-13  # what `slip` adds for rounding
    assert slip(pair, wanted[0], found * 0.8**2) > float(wanted[1])


def test_the_classical_constant_fails_where_ours_does_not() -> None:
    pair, epsilon = FarApart(Fraction(1), Fraction(0)), Fraction(10)
    classical = classical_variance(pair, epsilon, DELTA)
    assert slip(pair, epsilon, classical) > 3 * float(DELTA)
    assert slip(pair, epsilon, least_variance(pair, epsilon, DELTA)) <= float(DELTA) * (1 + 1e-8)


def exact_slip(
    shift: float,
    variances: tuple[float, float],
    noise: float,
    epsilon: float,
    offset: float,
    grain: int = 1,
) -> float:
    """E_γ of normal numbers rounded to multiples of a grain, with discrete Gaussian noise, summed as it is."""
    reach = grain * int((12 * math.sqrt(max(variances) + noise) + shift + 3) / grain + 1)
    whole = np.arange(-reach, reach + 1)
    drawn = np.exp(-(whole**2) / (2 * noise)) if noise else (whole == 0) * 1.0
    laws = []
    for mean, variance in zip((offset + shift, offset), variances, strict=True):
        edges = np.append(whole[::grain] - grain / 2, reach + grain / 2)
        cells = np.zeros(len(whole))
        cells[::grain] = np.diff(stats.norm.cdf(edges, mean, math.sqrt(variance)))
        laws.append(np.convolve(cells, drawn / drawn.sum()))
    one, other = laws
    gamma = math.exp(epsilon)
    return float(max(np.maximum(one - gamma * other, 0).sum(), np.maximum(other - gamma * one, 0).sum()))


@pytest.mark.parametrize(
    ("shift", "least", "excess"),
    [(3, 1, 0), (20, 30, 0), (60, 400, 0), (30, 100, 120), (5, 40, 0), (9, 900, 500)],
)
def test_noise_in_whole_numbers_is_checked_exactly(shift: int, least: int, excess: int) -> None:
    pair = FarApart(Fraction(shift), Fraction(least), Fraction(excess))
    noise = float(whole_noise(pair, EPSILON, DELTA))
    for offset in (0.0, 0.3, 0.5):
        slips = [
            exact_slip(shift, pairing, noise, 1.0, offset)
            for pairing in ((least, least + excess), (least + excess, least), (least, least))
        ]
        assert max(slips) <= 1e-3
    smaller = exact_slip(shift, (least + excess, least), 0.64 * noise, 1.0, 0.0)
    assert not noise or smaller > 1e-3 or least < 6


@pytest.mark.parametrize(("shift", "least", "grain"), [(8, 380, 40), (20, 30, 10), (30, 2000, 7)])
def test_sums_that_lie_further_apart_are_checked_exactly(shift: int, least: int, grain: int) -> None:
    pair = FarApart(Fraction(shift), Fraction(least))

    def worst(noise: Fraction) -> float:
        offsets = np.linspace(0, grain, 9)
        return max(exact_slip(shift, (least, least), float(noise), 1.0, one, grain) for one in offsets)

    assert worst(whole_noise(pair, EPSILON, DELTA, grain)) <= 1e-3
    if grain == 40:  # taken for whole numbers they would have too little
        assert worst(whole_noise(pair, EPSILON, DELTA)) > 1.2e-3


def test_rounding_costs_little_on_a_fine_grid_and_is_refused_on_a_coarse_one() -> None:
    assert rounded(EPSILON, DELTA, Fraction(5)) is None
    left = rounded(EPSILON, DELTA, Fraction(10**6))
    assert left is not None
    assert 1 - 1e-5 < left.epsilon < 1
    assert float(DELTA) * (1 - 1e-4) < left.delta < DELTA


def test_nothing_to_hide_needs_no_noise() -> None:
    assert least_variance(FarApart(Fraction(0), Fraction(1)), EPSILON, DELTA) == 0
    assert whole_noise(FarApart(Fraction("0.075") * 500, Fraction("0.08") * 500**2), EPSILON, DELTA) == 0


def test_the_joint_normal_instance() -> None:
    found = from_covariance("income", ["income", "score", "age"], [[4, 2, 0], [2, 10, 1], [0, 1, 9]])
    score = found.of("score")
    assert (score.slope, score.sd) == (Span.of("0.5"), Span.of(3))
    assert found.covariance(["score", "age"]) == pytest.approx(np.array([[9, 1], [1, 9]]))
    secret = ColumnSecret.of("income", [10, 12], figure="mean", rows=100, epsilon=1, delta=0.001)
    pair = far_apart(secret, score)
    assert (pair.shift, pair.least) == (Fraction(1), Fraction(9, 100))
    assert far_apart(secret, found.of("age")).shift == 0
    with pytest.raises(Refused, match="Nothing is said of how 'height'"):
        found.of("height")
    assert LinkedColumns.from_document(found.document) == found


def test_an_unbiased_estimate_that_is_not_sufficient_is_no_bridge() -> None:
    """Of two rows let g be the first and the answer the second: g kept apart says nothing of their common mean."""
    mean = ColumnSecret.of("income", [0, 100], figure="mean", level="law", rows=2, epsilon=1, delta=0.001)
    loose = from_covariance("income", ["income", "score"], [[1, 0], [0, 1]]).columns
    with pytest.raises(Refused, match="not sufficient"):
        require_sufficient(mean, loose)
    given_g = 0.0  # the answer is independent of g, so noise-free it keeps any two values of g apart
    given_parameter = either_way(1.0, 100.0, 1.0, 1.0)
    assert far_apart(mean, loose[0]).shift == given_g
    assert given_parameter > 0.99


def test_the_bridge_holds_where_the_figure_is_sufficient() -> None:
    everything = women([[0, 1], [0, 1]], level="law")
    require_sufficient(everything, [LAWS["weight"]])
    with pytest.raises(Refused, match="every two have to be kept apart"):
        require_sufficient(women([0.4, 0.6], level="law"), [LAWS["weight"]])
    pair = far_apart(everything, LAWS["pressure"])
    noise = least_variance(pair, EPSILON, DELTA)
    places = np.linspace(-120, 120, 40_001)
    laws = []
    for chance in (0.2, 0.9):  # the answer given the parameter: a mixture over the number of women
        counts = np.arange(51)
        weights = stats.binom.pmf(counts, 50, chance)
        laws.append(
            sum(
                w * stats.norm.pdf(places, 10 * k / 50, (2 + noise) ** 0.5)
                for w, k in zip(weights, counts, strict=True)
            )
        )
    apart = np.maximum(laws[1] - math.e * laws[0], 0).sum() * (places[1] - places[0])
    assert apart <= 1e-3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"apart": [0.4, 1.2]}, "cannot be 1.2"),
        ({"apart": [0.4]}, "Give two sets"),
        ({"apart": [[0.5, 0.4], 0.6]}, "lower end first"),
        ({"epsilon": 0}, "above 0"),
        ({"delta": "1e-12"}, "above 0"),
        ({"epsilon": "much"}, "is no number"),
        ({"value": ""}, "the value that is counted"),
        ({"rows": 0}, "Give rows"),
        ({"figure": "median"}, "Use 'share', 'count', 'mean'"),
        ({"reading": "hopeful"}, "Use 'worst point', 'averaged'"),
        ({"figure": "mean", "reading": "averaged"}, "Use the worst point"),
    ],
)
def test_secrets_that_cannot_be_are_refused(given: dict[str, Any], said: str) -> None:
    apart = given.pop("apart", [0.4, 0.6])
    with pytest.raises(BadInput, match=said):
        women(apart, **given)


def test_a_secret_is_written_and_read_back() -> None:
    secret = women([[0.25, 0.5], [0.5, 0.75]])
    assert ColumnSecret.from_document(secret.document) == secret
    assert (
        secret.words
        == "whether the share of 'female' in sex is under or over 50 % (somewhere from 25 % to 75 %)"
    )
    assert Linked.from_document(LAWS["weight"].document) == LAWS["weight"]


@pytest.mark.slow
@pytest.mark.parametrize(("times", "is_kept"), [(1.0, True), (0.8, False)])
def test_an_adversary_who_sees_releases_of_real_rows_is_held(times: float, is_kept: bool) -> None:
    """10⁵ releases of 24 rows each, whose sums are rounded; a false alarm of 5 deviations, at δ = 5 %."""
    secret, law = women([0.25, 0.75], delta="0.05", rows=24), Linked.of("pressure", 8, 10)
    noise = whole_noise(far_apart(secret, law).times(Fraction(240)), secret.epsilon, secret.delta)
    luck, tries = np.random.default_rng(6), 100_000
    drawn = DiscreteGaussian.of_variance(noise * Fraction(times) ** 2)
    seen = {}
    for count in (6, 18):
        rows = (
            np.rint(luck.normal(0, 10, (tries, 24)) * 10).sum(axis=1) + 80 * count
        )  # in tenths, as a schema codes them
        seen[count] = drawn.add(rows.astype(np.int64))
    spread = 24 * 100**2 + float(drawn.variance)
    shift = 80 * 12
    odds = {
        count: (found - 80 * 12) * shift / spread for count, found in seen.items()
    }  # log odds of 18 against 6
    held = (odds[18] > 1).mean() - math.e * (odds[6] > 1).mean()
    sampled = 5 * math.sqrt((1 + math.e**2) * 0.25 / tries)
    assert bool(held <= 0.05 + sampled) is is_kept
