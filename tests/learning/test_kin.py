"""How alike members are, learned with a budget: the truth lies between the ends, and the model moves furthest."""

from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds.attributes.learned_covariance import Interval, LearnedCovariance
from entwined.bounds.gaussian.exact import gaussian_exact_bound
from entwined.dependence.families import equal_correlation
from entwined.errors import BadModel
from entwined.learning.covariance import learned_from
from entwined.learning.kin import AlikeEnds, alike, equal_members, members_at_most
from entwined.loss import Loss
from entwined.mechanisms.moments import NoisyMoments
from entwined.promise.promise import promise_of
from entwined.schema import Integer, Schema
from support.origins import CHARGED

ROWS = 400
SCHEMA = Schema((Integer("first", 130, 210), Integer("second", 130, 210)), rows=ROWS).approve()
MIDDLE = 170


def learned(rng, rho, loss):
    """Sums of heights of pairs with the noise of a loss, and the class that they leave open."""
    covariance = 49 * np.array([[1, rho], [rho, 1]])
    heights = np.rint(rng.multivariate_normal([168, 174], covariance, ROWS)).clip(130, 210) - MIDDLE
    mechanism = NoisyMoments.of(promise_of(SCHEMA), ("first", "second"), loss)
    pairs = mechanism.sums.pairs
    exact = [*heights.sum(axis=0), *((heights[:, at] * heights[:, other]).sum() for at, other in pairs)]
    noisy = [
        int(value + round(rng.laplace(0, float(noise.scale))))
        for value, noise in zip(exact, mechanism.noises, strict=True)
    ]
    return learned_from(mechanism, tuple(noisy), Fraction(19, 20), CHARGED)


@pytest.mark.parametrize(
    ("rho", "loss"), [(0.5, "20"), (0.5, "5000"), (-0.3, "50"), (0.0, "5000"), (0.9, "50")]
)
def test_the_truth_lies_between_the_ends_as_often_as_is_said(rho, loss):
    """At most 5 % of 200 may be missed; a false alarm at 24 has a chance below 10⁻⁴ even if 5 % were."""
    rng = np.random.default_rng(8)
    found = [alike(learned(rng, rho, loss)) for _ in range(200)]
    missed = sum(not one.low <= rho <= one.high for one in found)
    assert missed < 24
    if loss == "5000":  # the sample alone: as wide as it has to be
        assert missed > 0
        assert np.mean([one.high - one.low for one in found]) < 0.25


def test_a_box_gives_the_widest_ends():
    """Every table of sums inside the box is between the ends."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        own, theirs, both = rng.uniform(60, 140), rng.uniform(60, 140), rng.uniform(-40, 40)
        far = rng.uniform(0, 10, 3)

        def box(value, reach):
            return Interval(Fraction(value - reach), Fraction(value + reach))

        first, second, across = (box(*one) for one in zip((own, theirs, both), far, strict=True))
        means = (box(0, 1),) * 2
        around = LearnedCovariance(
            ("x", "y"), 50, ((first, across), (across, second)), means, Fraction(9, 10), CHARGED
        )
        ends = alike(around)
        for _ in range(20):
            x, y, xy = (rng.uniform(float(one.low), float(one.high)) for one in (first, second, across))
            point = [Interval(*(Fraction(value),) * 2) for value in (x, y, xy)]
            inner = LearnedCovariance(
                ("x", "y"), 50, ((point[0], point[2]), (point[2], point[1])), means, Fraction(9, 10), CHARGED
            )
            assert ends.low <= alike(inner).low + 1e-12
            assert ends.high >= alike(inner).high - 1e-12


@pytest.mark.parametrize("size", [2, 3, 5])
@pytest.mark.parametrize("ends", [(0.1, 0.4), (-0.15, 0.05), (-0.2, 0.6), (-0.6, -0.1), (0.0, 0.0)])
def test_no_law_between_the_ends_moves_further_than_the_model(size, ends):
    """Against the exact factor of every law, all known sets tried."""
    taken = gaussian_exact_bound(Loss.uniform(1, size), equal_members(AlikeEnds(*ends), size, CHARGED)).worst
    least = max(ends[0], -1 / (size - 1) + 1e-3)
    for rho in np.linspace(least, max(ends[1], least), 21):
        found = gaussian_exact_bound(Loss.uniform(1, size), equal_correlation(size, float(rho))).worst
        assert found <= taken * (1 + 1e-9)
    if ends[0] >= 0:
        assert taken == pytest.approx(1 + (size - 1) * ends[1])


def test_the_largest_correlation_counts_where_members_differ():
    model = members_at_most(AlikeEnds(-0.3, 0.2), 3, CHARGED)
    assert (model.max_correlation, model.source, model.units) == (0.3, "learned", 3)


def test_noise_that_leaves_everything_open_is_refused():
    with pytest.raises(BadModel, match="Spend more on learning"):
        alike(learned(np.random.default_rng(1), 0.5, "0.01"))
    with pytest.raises(BadModel, match="at least 2"):
        equal_members(AlikeEnds(0.1, 0.2), 1, CHARGED)
    with pytest.raises(BadModel, match="at least 2"):
        members_at_most(AlikeEnds(0.1, 0.2), 1, CHARGED)
