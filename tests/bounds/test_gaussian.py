"""Gaussian units of known covariance: theorems against a textbook enumeration, in floats and fractions."""

import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from entwined.bounds.gaussian import (
    gaussian_exact_bound,
    gaussian_influence_bound,
    gaussian_regression_bound,
    gaussian_tree_bound,
    gaussian_variance_bound,
    gaussian_walk_bound,
    group_factor_at_diameter,
    lange_max_correlation_bound,
    max_correlation_bound,
    weak_correlation_bound,
)
from entwined.bounds.group import group_bound
from entwined.dependence.gaussian import Gaussian, MaxCorrelation
from entwined.errors import BadModel, DoesNotApply
from entwined.loss import Loss
from support.gaussian_laws import (
    KNOWN_COVARIANCE,
    autoregression,
    draw,
    draw_losses,
    drawn,
    equicorrelated,
    exact_factors,
    fraction_factor,
    nearly_singular,
    random_correlation,
    random_tree,
    said,
)
from support.oracle import gaussian_factor, worst_leakage


@pytest.mark.parametrize("count", [175, pytest.param(700, marks=pytest.mark.slow)])
def test_no_theorem_is_below_the_oracle_and_exact_is_exact(count):
    applied = dict.fromkeys((theorem.name for theorem in KNOWN_COVARIANCE), 0)
    for kind, covariance, losses in drawn(count, seed=1, sizes=[2, 3, 4, 5, 6]):
        truth = exact_factors(covariance, losses)
        close = 1e-6 if kind == "nearly one" else 1e-8
        for theorem in KNOWN_COVARIANCE:
            bound = said(theorem, losses, Gaussian(covariance))
            if bound is None:
                continue
            applied[theorem.name] += 1
            assert (bound >= truth * (1 - close)).all(), (theorem.name, kind)
            if theorem is gaussian_exact_bound:
                assert bound == pytest.approx(truth, rel=close, abs=1e-300)
    assert applied["gaussian exact"] == applied["gaussian variance"] == count
    assert min(applied.values()) >= count // 6, applied


def test_near_singular_bounds_are_not_below_exact_fractions_by_a_single_bit():
    rng, widths, refused = np.random.default_rng(2), [], 0
    for number in range(80):
        units = 2 + number % 3
        covariance, losses = nearly_singular(rng, units), draw_losses(rng, units)
        try:
            model = Gaussian(covariance)
        except BadModel:
            refused += 1
            continue
        truth = [fraction_factor(model.covariance, losses, unit) for unit in range(units)]
        for theorem in KNOWN_COVARIANCE:
            bound = said(theorem, losses, model)
            if bound is not None:
                assert all(Fraction(float(b)) >= t for b, t in zip(bound, truth, strict=True)), theorem.name
                if theorem is gaussian_exact_bound:
                    widths.append(max(b / float(t) for b, t in zip(bound, truth, strict=True) if t > 0))
    assert refused < 20
    assert max(widths) < 1.05
    assert np.median(widths) < 1 + 1e-6


def test_golden_numbers():
    one = Loss.uniform(1, 8)
    equal, chain = Gaussian(equicorrelated(8, 0.14)), Gaussian(autoregression(8, 0.5))
    assert gaussian_exact_bound(one, equal).worst == pytest.approx(1.980, abs=1e-9)
    assert gaussian_walk_bound(one, equal).worst == pytest.approx(1.980, abs=1e-9)
    assert weak_correlation_bound(one, equal).worst == pytest.approx(1.980, abs=1e-9)
    assert gaussian_influence_bound(one, equal).worst == pytest.approx(2.140, abs=5e-4)
    assert gaussian_exact_bound(one, chain).worst == pytest.approx(2.8125, abs=1e-9)
    assert gaussian_tree_bound(one, chain).worst == pytest.approx(2.8125, abs=1e-9)
    assert gaussian_walk_bound(one, chain).worst == pytest.approx(2.8125, abs=1e-9)
    assert gaussian_influence_bound(one, chain).worst == pytest.approx(4.6875, abs=1e-9)
    bounded = MaxCorrelation(8, 0.14)
    assert max_correlation_bound(one, bounded).worst == pytest.approx(1.980, abs=1e-9)
    assert lange_max_correlation_bound(one, bounded).worst == pytest.approx(15.0, abs=1e-9)
    assert group_factor_at_diameter(one) == pytest.approx(8)


@pytest.mark.parametrize("units", [2, 5, 12])
@pytest.mark.parametrize("rho", [0.05, 0.5, 0.95])
def test_equal_positive_correlations_have_the_closed_form(units, rho):
    leakage = gaussian_exact_bound(Loss.uniform(1, units), Gaussian(equicorrelated(units, rho)))
    assert leakage.worst == pytest.approx(1 + (units - 1) * rho, rel=1e-9)


def test_tree_and_walks_are_exact_on_trees_and_walks_on_attractive_laws():
    rng = np.random.default_rng(3)
    for number in range(60):
        kind = ("tree", "attractive")[number % 2]
        covariance, losses = draw(rng, kind, 2 + number % 6)
        model = Gaussian(covariance)
        exact = said(gaussian_exact_bound, losses, model)
        assert said(gaussian_walk_bound, losses, model) == pytest.approx(exact, rel=1e-8, abs=1e-200)
        if kind == "tree":
            assert said(gaussian_tree_bound, losses, model) == pytest.approx(exact, rel=1e-8, abs=1e-200)


def test_a_forest_is_a_tree_with_edges_of_no_strength():
    rng = np.random.default_rng(4)
    table = np.block([[random_tree(rng, 4), np.zeros((4, 3))], [np.zeros((3, 4)), random_tree(rng, 3)]])
    losses = draw_losses(rng, 7)
    expected = said(gaussian_exact_bound, losses, Gaussian(table))
    assert said(gaussian_tree_bound, losses, Gaussian(table)) == pytest.approx(expected, rel=1e-9, abs=1e-200)


def test_a_covariance_that_is_a_tree_but_for_little_is_bounded_and_for_much_is_refused():
    rng = np.random.default_rng(5)
    for size in (1e-12, 1e-9, 1e-7):
        for _ in range(20):
            table = random_tree(rng, 5, most=0.8)
            table = table + size * (random_correlation(rng, 5, 1.0) - np.eye(5))
            truth = exact_factors(table, np.ones(5))
            assert (gaussian_tree_bound(Loss.uniform(1, 5), Gaussian(table)).per_unit >= truth).all()
    table = autoregression(5, 0.5)
    table[0, 4] = table[4, 0] = 0.1
    with pytest.raises(DoesNotApply, match="no Gaussian tree"):
        gaussian_tree_bound(Loss.uniform(1, 5), Gaussian(table))


def test_weak_correlations_leak_by_themselves_alone_whatever_their_signs():
    rng = np.random.default_rng(6)
    for _ in range(40):
        table = random_correlation(rng, 6, 0.19)
        losses = rng.uniform(0.95, 1.05, 6)
        expected = np.abs(table) @ losses
        assert said(weak_correlation_bound, losses, Gaussian(table)) == pytest.approx(expected, rel=1e-9)
        assert exact_factors(table, losses) == pytest.approx(expected, rel=1e-9)


def test_the_variance_bound_is_reached():
    known, near = 0.9, np.sqrt(1 - 0.81) * (1 - 1e-4)
    table = np.array([[1, near, known], [near, 1, 0], [known, 0, 1]])
    losses = [1.0, 1.0, 0.0]
    bound = said(gaussian_variance_bound, losses, Gaussian(table))[0]
    assert bound == pytest.approx(1 + 1 / np.sqrt(0.19), rel=2e-4)
    assert gaussian_factor(table, losses, 0) == pytest.approx(bound, rel=2e-4)


def test_large_models():
    rng = np.random.default_rng(7)
    for units, theorems in ((1000, [gaussian_tree_bound]), (400, [gaussian_tree_bound, gaussian_walk_bound])):
        losses, table = rng.uniform(0.5, 2, units), random_tree(rng, units, most=0.9)
        model, expected = Gaussian(table), np.abs(table) @ losses
        for theorem in theorems:
            assert said(theorem, losses, model) == pytest.approx(expected, rel=1e-4)
    assert (said(gaussian_variance_bound, losses, model) >= expected).all()


def test_sixteen_units_are_enumerated_in_seconds():
    wide = np.random.default_rng(14).standard_normal((16, 20))
    model, start = Gaussian(wide @ wide.T), time.process_time()
    exact = said(gaussian_exact_bound, np.ones(16), model)
    assert time.process_time() - start < 10  # on two cores, so 5 seconds
    assert (said(gaussian_variance_bound, np.ones(16), model) >= exact).all()
    with pytest.raises(DoesNotApply, match="up to 16"):
        gaussian_exact_bound(Loss.uniform(1, 17), Gaussian(autoregression(17, 0.5)))


def test_groups_that_are_independent_are_taken_one_by_one():
    blocks = np.kron(np.eye(8), equicorrelated(5, 0.3))
    assert gaussian_exact_bound(Loss.uniform(1, 40), Gaussian(blocks)).worst == pytest.approx(2.2)


def test_an_adversary_who_knows_no_values_learns_the_regressions():
    for _, covariance, losses in drawn(60, seed=17, sizes=[2, 3, 5]):
        truth = [gaussian_factor(covariance, losses, unit, "model") for unit in range(len(losses))]
        assert said(gaussian_regression_bound, losses, Gaussian(covariance)) == pytest.approx(truth, rel=1e-9)


# The trap: per unit of distance the group bound is wrong


def test_the_group_bound_is_below_the_truth_per_unit_of_distance():
    table = np.array([[1, 0.5, 0.9], [0.5, 1, 0.1], [0.9, 0.1, 1]])
    losses = np.ones(3)
    truth = gaussian_factor(table, losses, 0)
    assert truth == pytest.approx(1 + 0.41 / 0.19)
    assert truth > group_factor_at_diameter(Loss.of(losses))
    assert (
        truth > gaussian_regression_bound(Loss.of(losses), Gaussian(table)).per_unit[0] + 0.5
    )  # it knows a value
    with pytest.raises(DoesNotApply, match="more than its own distance"):
        group_bound(Loss.of(losses), Gaussian(table))
    assert gaussian_exact_bound(Loss.of(losses), Gaussian(table)).worst == pytest.approx(truth)


def test_at_the_diameter_the_group_figure_holds_where_the_metric_one_is_larger():
    """With everything clipped to [0, 1] the two ends leak at most 3, though the metric figure allows 3.16."""
    table = np.array([[1, 0.5, 0.9], [0.5, 1, 0.1], [0.9, 0.1, 1]])
    reached = clipped_leakage(table, known={2: 0.5}, a=0.0, b=1.0, interval=(0.0, 1.0))
    assert reached <= group_factor_at_diameter(Loss.uniform(1, 3))
    assert reached > 1.5


def clipped_leakage(table, known, a, b, interval):
    """|log ratio| of the mean of exp(±Σ clipped values): loss 1 per unit of distance, one unknown unit."""
    (unknown,) = (j for j in range(1, len(table)) if j not in known)
    given = [0, *known]
    weights = np.linalg.solve(table[np.ix_(given, given)], table[given, unknown])
    spread = np.sqrt(table[unknown, unknown] - weights @ table[given, unknown])
    noise = np.linspace(-12, 12, 400_001)
    density = np.exp(-(noise**2) / 2)

    def mean(value):
        centre = weights @ np.array([value, *known.values()])
        values = np.clip(centre + spread * noise, *interval)
        return np.log(density @ np.exp(values) / density.sum()) + np.clip(value, *interval)

    return abs(mean(a) - mean(b))


# What is trusted matters


def test_the_exact_leakage_is_reached_by_a_mechanism():
    table = np.array([[1.0, 0.7], [0.7, 1.0]])
    reached = clipped_leakage(table, known={}, a=-0.01, b=0.01, interval=(-8.0, 8.0)) / 0.02
    assert reached == pytest.approx(gaussian_exact_bound(Loss.uniform(1, 2), Gaussian(table)).worst, rel=1e-6)


def test_pairs_outside_the_clipping_interval_leak_more():
    table = np.array([[1.0, 0.5], [0.5, 1.0]])
    bound = gaussian_exact_bound(Loss.uniform(1, 2), Gaussian(table)).worst
    inside = clipped_leakage(table, known={}, a=-0.5, b=0.5, interval=(-0.5, 0.5))
    outside = clipped_leakage(table, known={}, a=-20.0, b=20.0, interval=(-0.5, 0.5))
    assert inside <= bound < outside


def test_without_a_gaussian_law_the_covariance_says_too_little():
    joint = np.full((2, 2, 2), 0.05 / 4)
    for a, b in product(range(2), repeat=2):
        joint[a, b, a ^ b] = 0.95 / 4
    values = np.array(list(product(range(2), repeat=3)), dtype=float)
    centred = values - joint.ravel() @ values
    covariance = (centred * joint.ravel()[:, None]).T @ centred
    assert covariance == pytest.approx(np.eye(3) / 4)
    truth = worst_leakage(joint, [1.0, 1.0, 1.0], 0)
    for theorem in KNOWN_COVARIANCE[:-1]:
        if theorem is not gaussian_variance_bound:
            assert theorem(Loss.uniform(1, 3), Gaussian(np.eye(3) / 4)).worst < truth - 0.5
    assert weak_correlation_bound(Loss.uniform(1, 3), Gaussian(np.eye(3) / 4)).worst < truth - 0.5


def test_a_wrong_covariance_breaks_every_theorem():
    weak, strong = np.array([[1, 0.05], [0.05, 1]]), np.array([[1, 0.9], [0.9, 1]])
    truth = gaussian_factor(strong, [0.1, 1], 0)
    for theorem in KNOWN_COVARIANCE:
        if theorem is not gaussian_variance_bound:
            assert theorem(Loss.of([0.1, 1]), Gaussian(weak)).per_unit[0] < truth
    near = np.array([[1, 0.05, 0.02], [0.05, 1, 0.03], [0.02, 0.03, 1]])
    far = np.array([[1, 0.5, 0.9], [0.5, 1, 0.1], [0.9, 0.1, 1]])
    assert gaussian_variance_bound(Loss.uniform(1, 3), Gaussian(near)).worst < gaussian_factor(
        far, np.ones(3), 0
    )
