"""Gaussian units: every theorem against a textbook enumeration, in floats and in exact fractions."""

import time
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from entwined.bounds.gaussian import (
    GAUSSIAN_THEOREMS,
    correlation_intervals_bound,
    gaussian_exact_bound,
    gaussian_influence_bound,
    gaussian_tree_bound,
    gaussian_variance_bound,
    gaussian_walk_bound,
    group_factor_at_diameter,
    lange_max_correlation_bound,
    max_correlation_bound,
    weak_correlation_bound,
)
from entwined.bounds.group import group_bound
from entwined.dependence.box import Box
from entwined.dependence.gaussian import Correlations, Gaussian, MaxCorrelation, correlated
from entwined.errors import BadModel, DoesNotApply
from entwined.loss import Loss
from oracle import gaussian_factor, worst_leakage

KNOWN_COVARIANCE = (
    gaussian_exact_bound,
    gaussian_tree_bound,
    gaussian_walk_bound,
    gaussian_influence_bound,
    gaussian_variance_bound,
    weak_correlation_bound,
)


# Laws to try


def equicorrelated(units, rho):
    return np.full((units, units), float(rho)) + (1.0 - rho) * np.eye(units)


def autoregression(units, phi):
    steps = np.arange(units)
    return float(phi) ** np.abs(steps[:, None] - steps)


def random_tree(rng, units, most=0.97):
    table = np.eye(units)
    for unit in range(1, units):
        parent, rho = rng.integers(unit), rng.uniform(-most, most)
        table[unit, :unit] = table[:unit, unit] = rho * table[parent, :unit]
    return table


def with_deviations(table, deviations):
    return table * deviations * deviations[:, None]


def as_correlation(table):
    deviations = np.sqrt(np.diagonal(table))
    return table / deviations / deviations[:, None]


def draw_correlation(rng, kind, units):
    if kind == "strong":
        wide = rng.standard_normal((units, units + 1))
        return as_correlation(wide @ wide.T)
    if kind == "weak":
        return random_correlation(rng, units, 0.9 / units)
    if kind == "tree":
        return random_tree(rng, units)
    if kind == "attractive":
        precision = np.abs(rng.standard_normal((units, units)))
        precision = -(precision + precision.T)
        np.fill_diagonal(precision, 0.0)
        np.fill_diagonal(precision, 1.1 * np.abs(precision).sum(axis=1))
        return as_correlation(np.linalg.inv(precision))
    direction = rng.standard_normal(units)  # nearly one number behind all units
    return as_correlation(np.outer(direction, direction) + 10 ** rng.uniform(-5, -1) * np.eye(units))


def random_correlation(rng, units, most):
    upper = np.triu(rng.uniform(-most, most, (units, units)), 1)
    return upper + upper.T + np.eye(units)


def draw_losses(rng, units):
    losses = 10 ** rng.uniform(-2, 0.5, units)
    losses[rng.random(units) < 0.15] = 0.0
    return np.ones(units) if rng.random() < 0.3 else losses


KINDS = ("strong", "weak", "tree", "attractive", "nearly one")


def draw(rng, kind, units):
    deviations = 10 ** rng.uniform(-2, 2, units)
    return with_deviations(draw_correlation(rng, kind, units), deviations), draw_losses(rng, units)


def drawn(count, seed, sizes):
    rng = np.random.default_rng(seed)
    for number in range(count):
        kind = KINDS[number % len(KINDS)]
        yield kind, *draw(rng, kind, int(rng.choice(sizes)))


def exact_factors(covariance, losses):
    return np.array([gaussian_factor(covariance, losses, unit) for unit in range(len(losses))])


def said(theorem, losses, model):
    try:
        return theorem(Loss.of(losses), model).per_unit
    except DoesNotApply:
        return None


# The theorems of a known covariance


def test_no_theorem_is_below_the_oracle_and_exact_is_exact():
    applied = dict.fromkeys((theorem.name for theorem in KNOWN_COVARIANCE), 0)
    for kind, covariance, losses in drawn(350, seed=1, sizes=[2, 3, 4, 5, 6]):
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
    assert applied["gaussian exact"] == applied["gaussian variance"] == 350
    assert min(applied.values()) >= 60, applied


def solved(matrix, right):
    """Gauss and Jordan in fractions."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for pivot in range(len(rows)):
        rows[pivot] = [entry / rows[pivot][pivot] for entry in rows[pivot]]
        for other in range(len(rows)):
            if other != pivot:
                factor = rows[other][pivot]
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[pivot], strict=True)]
    return [row[-1] for row in rows]


def fraction_factor(covariance, losses, unit):
    """The exact leakage of the very floats that were given: regress x_i and U on K, in fractions."""
    table = [[Fraction(float(entry)) for entry in row] for row in covariance]
    loss = [Fraction(float(entry)) for entry in losses]
    others, worst = [j for j in range(len(loss)) if j != unit], Fraction(0)
    for known in (k for count in range(len(others) + 1) for k in combinations(others, count)):
        given = [unit, *known]
        inner = [[table[a][b] for b in given] for a in given]
        column = solved(inner, [Fraction(int(place == 0)) for place in range(len(given))])
        slopes = (sum(table[j][s] * c for s, c in zip(given, column, strict=True)) for j in others)
        moved = (loss[j] * abs(s) for j, s in zip(others, slopes, strict=True) if j not in known)
        worst = max(worst, loss[unit] + sum(moved))
    return worst


def nearly_singular(rng, units):
    """A law whose last unit the others determine up to one part in 10³ to 10¹¹ of its variance."""
    table = draw_correlation(rng, "strong", units - 1)
    weights = rng.standard_normal(units - 1)
    link = table @ weights
    whole = np.block([[table, link[:, None]], [link, np.array(weights @ link)]])
    whole[-1, -1] *= 1 + 10 ** rng.uniform(-11, -3)
    return with_deviations(as_correlation(whole), 10 ** rng.uniform(-3, 3, units))


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


# The trap: per unit of distance the group bound is wrong


def test_the_group_bound_is_below_the_truth_per_unit_of_distance():
    table = np.array([[1, 0.5, 0.9], [0.5, 1, 0.1], [0.9, 0.1, 1]])
    losses = np.ones(3)
    truth = gaussian_factor(table, losses, 0)
    assert truth == pytest.approx(1 + 0.41 / 0.19)
    assert truth > group_factor_at_diameter(Loss.of(losses))
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


def test_unequal_variances_break_the_largest_correlation():
    table = with_deviations(equicorrelated(3, 0.2), np.array([1.0, 30.0, 30.0]))
    truth = gaussian_factor(table, np.ones(3), 0)
    for theorem in (max_correlation_bound, lange_max_correlation_bound):
        assert theorem(Loss.uniform(1, 3), MaxCorrelation(3, 0.2)).worst < truth


def test_a_correlation_outside_its_interval_breaks_the_class():
    laws = correlated([[1, [0.1, 0.2]], [[0.1, 0.2], 1]])
    truth = gaussian_factor([[1, 0.6], [0.6, 1]], np.ones(2), 0)
    for theorem in (correlation_intervals_bound, weak_correlation_bound):
        assert theorem(Loss.uniform(1, 2), laws).worst < truth


# Classes: the worst member


def members(rng, low, high, count):
    """Positive definite tables inside the box: corners, points on the way to them, and anything between."""
    units = len(low)
    for number in range(count):
        corner = rng.random((units, units)) < 0.5
        table = np.where(corner, low, high) if number % 3 else rng.uniform(low, high)
        table = np.triu(table, 1) + np.triu(table, 1).T + np.eye(units)
        middle = (low + high) / 2
        for share in (1.0, 0.9, 0.7, 0.5):
            inside = middle + share * (table - middle)
            np.fill_diagonal(inside, 1.0)
            if np.linalg.eigvalsh(inside)[0] > 1e-6:
                yield inside
                break


def box_of(rng, units, kind):
    if kind == "around a law":
        centre = draw_correlation(rng, "strong", units) * 0.9 + 0.1 * np.eye(units)
        width = rng.uniform(0, 0.05, (units, units))
        low, high = centre - width, centre + width
    else:
        high = rng.uniform(0, 1.3 / (units - 1), (units, units))
        low = -high if kind == "either sign" else high * rng.uniform(-1, 1, (units, units))
    low, high = (np.triu(table, 1) + np.triu(table, 1).T + np.eye(units) for table in (low, high))
    return tuple(np.where(np.eye(units) > 0, 1.0, np.clip(table, -0.95, 0.95)) for table in (low, high))


def test_no_member_of_a_class_leaks_more_than_its_bounds():
    rng, applied = np.random.default_rng(8), 0
    for number in range(120):
        units = 2 + number % 4
        low, high = box_of(rng, units, ("either sign", "one sign", "around a law")[number % 3])
        deviations, losses = 10 ** rng.uniform(-1, 1, units), draw_losses(rng, units)
        laws = Correlations(Box(low, high), deviations)
        tables = [with_deviations(table, deviations) for table in members(rng, low, high, 8)]
        truth = np.max([exact_factors(table, losses) for table in tables], axis=0, initial=0.0)
        for theorem in (correlation_intervals_bound, weak_correlation_bound):
            bound = said(theorem, losses, laws)
            if bound is not None:
                applied += 1
                assert (bound >= truth * (1 - 1e-9)).all(), theorem.name
    assert applied > 120


def test_no_law_leaks_more_than_its_largest_correlation_allows():
    rng = np.random.default_rng(9)
    for number in range(90):
        units = 2 + number % 5
        most = rng.uniform(0, 1) / max(units - 2, 1) * 0.99
        high = np.full((units, units), most)
        losses = draw_losses(rng, units)
        truth = np.max(
            [exact_factors(table, losses) for table in members(rng, -high, high, 6)], axis=0, initial=0.0
        )
        for theorem in (max_correlation_bound, lange_max_correlation_bound):
            assert (said(theorem, losses, MaxCorrelation(units, most)) >= truth * (1 - 1e-9)).all()
        ours, theirs = (
            said(t, losses, MaxCorrelation(units, most))
            for t in (max_correlation_bound, lange_max_correlation_bound)
        )
        assert (ours <= theirs * (1 + 1e-9)).all()


def test_closed_form_and_enumeration_of_a_largest_correlation_agree():
    rng = np.random.default_rng(10)
    for number in range(40):
        units = 2 + number % 6
        most = rng.uniform(0, 0.99) / max(units - 2, 1)
        high = np.where(np.eye(units) > 0, 1.0, most)
        laws = Correlations(Box(np.where(np.eye(units) > 0, 1.0, -most), high))
        losses = draw_losses(rng, units)
        closed = said(max_correlation_bound, losses, MaxCorrelation(units, most))
        assert closed == pytest.approx(said(correlation_intervals_bound, losses, laws), rel=1e-9, abs=1e-12)


def test_the_class_bound_is_reached_when_nothing_is_known():
    for units, most in ((3, 0.4), (8, 0.14)):
        bound = max_correlation_bound(Loss.uniform(1, units), MaxCorrelation(units, most)).worst
        assert gaussian_factor(equicorrelated(units, most), np.ones(units), 0) == pytest.approx(
            bound, rel=1e-9
        )


def test_the_class_bound_is_reached_with_a_known_unit():
    losses, r = [1.0, 1.0, 0.0], 0.4
    table = np.array([[1, r, -r], [r, 1, r], [-r, r, 1]])
    bound = said(max_correlation_bound, losses, MaxCorrelation(3, r))[0]
    assert bound == pytest.approx(1 + r / (1 - r))
    assert gaussian_factor(table, losses, 0) == pytest.approx(bound, rel=1e-9)
    assert gaussian_factor(table, losses, 0, knowledge="model") < bound - 0.2


def test_the_class_bound_from_variances_is_reached_with_a_known_unit():
    near = np.sqrt(0.19) * (1 - 1e-9)
    table = np.array([[1, near, 0.9], [near, 1, 0], [0.9, 0, 1]])
    bound = max_correlation_bound(Loss.uniform(1, 3), MaxCorrelation(3, 0.9)).worst
    assert bound == pytest.approx(1 + 1 / np.sqrt(0.19))
    assert gaussian_factor(table, np.ones(3), 0) == pytest.approx(bound, rel=1e-6)


def test_the_interval_bound_is_reached_around_a_law_that_no_series_around_independence_reaches():
    table = autoregression(6, 0.8)
    wide = exact_factors(table, np.ones(6)).max()
    found = []
    for width in (1e-3, 1e-5, 1e-7):
        low, high = (np.where(np.eye(6) > 0, 1.0, table + side * width) for side in (-1, 1))
        found.append(correlation_intervals_bound(Loss.uniform(1, 6), Correlations(Box(low, high))).worst)
    assert found[0] > found[1] > found[2] > wide
    assert found[2] == pytest.approx(wide, rel=1e-4)


def test_where_the_class_is_refused_no_bound_holds():
    laws = MaxCorrelation(4, 0.5)
    for theorem in (max_correlation_bound, lange_max_correlation_bound):
        with pytest.raises(DoesNotApply, match="no bound holds"):
            theorem(Loss.uniform(1, 4), laws)
    leaked = []
    for left in (1e-2, 1e-4, 1e-6):
        inner = equicorrelated(3, -(1 - left) / 2)
        link = np.full(3, np.sqrt(left / 6.1))
        table = np.block([[inner, link[:, None]], [link, np.ones((1, 1))]])
        assert np.abs(table - np.eye(4)).max() <= 0.5
        leaked.append(gaussian_factor(table, np.ones(4), 0))
    assert leaked[2] > 5 * leaked[1] > 20 * leaked[0]


def test_weights_are_raised_where_a_unit_is_outweighed():
    table = np.array([[0, 0.3, 0.3], [0.3, 0, 0.3], [0.3, 0.3, 0]])
    laws = Correlations(Box(np.where(np.eye(3) > 0, 1.0, -table), table + np.eye(3)))
    losses = [1.0, 1.0, 0.0]
    weak = said(weak_correlation_bound, losses, laws)
    raised = 0.3 * 2
    assert weak == pytest.approx([1 + 0.3 + 0.3 * raised, 1 + 0.3 + 0.3 * raised, 0.6], rel=1e-9)
    assert (weak >= said(correlation_intervals_bound, losses, laws) * (1 - 1e-9)).all()


def test_a_large_class_of_weak_correlations_is_bounded():
    losses = np.random.default_rng(11).uniform(0.9, 1.1, 400)
    leakage = said(max_correlation_bound, losses, MaxCorrelation(400, 0.002))
    assert leakage == pytest.approx(losses + 0.002 * (losses.sum() - losses), rel=1e-9)
    assert said(weak_correlation_bound, losses, MaxCorrelation(400, 0.002)) == pytest.approx(
        leakage, rel=1e-9
    )
    uneven = np.where(np.arange(400) < 200, 1.0, 1e-3)
    raised = said(max_correlation_bound, uneven, MaxCorrelation(400, 0.002))
    assert (raised <= said(weak_correlation_bound, uneven, MaxCorrelation(400, 0.002)) * (1 + 1e-9)).all()
    assert max_correlation_bound(Loss.uniform(1, 10**6), MaxCorrelation(10**6, 1e-7)).worst == pytest.approx(
        1.1
    )


# Laws that every theorem obeys


def every_case(rng):
    units = 4
    low, high = box_of(rng, units, "either sign")
    laws = Correlations(
        Box(low / 2 + np.eye(units) / 2, high / 2 + np.eye(units) / 2), 10 ** rng.uniform(-1, 1, units)
    )
    models = [Gaussian(draw(rng, kind, units)[0]) for kind in ("weak", "tree")] + [
        laws,
        MaxCorrelation(units, 0.2),
    ]
    for theorem, model in product(GAUSSIAN_THEOREMS, models):
        if said(theorem, np.ones(units), model) is not None:
            yield theorem, model


def test_bounds_grow_with_each_loss_scale_with_all_and_cover_the_own_loss():
    rng, names = np.random.default_rng(12), set()
    for _ in range(15):
        for theorem, model in every_case(rng):
            losses = draw_losses(rng, 4)
            bound = said(theorem, losses, model)
            more = said(theorem, losses + rng.choice([0.0, 0.3], 4), model)
            if bound is None or more is None:
                continue
            names.add(theorem.name)
            assert (more >= bound * (1 - 1e-10)).all(), theorem.name
            assert (bound >= losses).all()
            assert said(theorem, losses * 64, model) == pytest.approx(bound * 64, rel=1e-9)
    assert names == {theorem.name for theorem in GAUSSIAN_THEOREMS}


def test_bounds_follow_the_units_of_measurement():
    rng = np.random.default_rng(13)
    for _ in range(20):
        table, losses = draw_correlation(rng, "tree", 5), draw_losses(rng, 5)
        deviations = 10 ** rng.uniform(-3, 3, 5)
        for theorem in KNOWN_COVARIANCE:
            plain = said(theorem, losses * deviations, Gaussian(table))
            scaled = said(theorem, losses, Gaussian(with_deviations(table, deviations)))
            if plain is not None and scaled is not None:
                assert scaled == pytest.approx(plain / deviations, rel=1e-6, abs=1e-200)


def test_a_single_unit_and_losses_of_zero():
    for model in (
        Gaussian(np.array([[4.0]])),
        MaxCorrelation(1, 0.5),
        Correlations(Box.exact(np.ones((1, 1)))),
    ):
        for theorem in GAUSSIAN_THEOREMS:
            bound = said(theorem, [0.5], model)
            published = theorem is lange_max_correlation_bound  # its formula counts a lone unit as two
            assert bound is None or published or bound == pytest.approx([0.5])
    for theorem in GAUSSIAN_THEOREMS:
        for model in (Gaussian(equicorrelated(3, 0.1)), MaxCorrelation(3, 0.1)):
            bound = said(theorem, np.zeros(3), model)
            assert bound is None or bound.tolist() == [0, 0, 0]


# Models: valid from birth


@pytest.mark.parametrize(
    ("covariance", "words"),
    [
        ([[1, 0.5]], "not square"),
        ([], "square|empty"),
        ([[1, 0.5], [0.4, 1]], "not symmetric"),
        ([[1, float("nan")], [float("nan"), 1]], "not a number"),
        ([[1, 2], [2, 1]], "above 1 in size"),
        ([[1, 1], [1, 1]], "positive definite.*Leave out"),
        ([[1, 0.9, -0.9], [0.9, 1, 0.9], [-0.9, 0.9, 1]], "eigenvalue is -0.8.*shrink"),
        ([[0, 0], [0, 1]], "variance 0"),
        ([[-1, 0], [0, 1]], "variance -1"),
        ([[1e-250, 0], [0, 1]], "variance 1e-250"),
        ([[1e-150, 1e160], [1e160, 1e-150]], "above 1 in size"),
        ([[1, [0.1, 0.2]], [[0.1, 0.2], 1]], "interval"),
        ([[1, "x"], ["x", 1]], "number"),
    ],
)
def test_a_covariance_that_cannot_be_is_refused(covariance, words):
    with pytest.raises(BadModel, match=words):
        Gaussian.of(covariance)


@pytest.mark.parametrize(
    ("table", "deviations", "words"),
    [
        ([[1, [0.1, 0.3]]], None, "not square"),
        ([[1, [0.1, 0.3]], [[0.1, 0.2], 1]], None, "not symmetric"),
        ([[2, [0.1, 0.3]], [[0.1, 0.3], 1]], None, "diagonal|above 1"),
        ([[[0.9, 1], 0.1], [0.1, 1]], None, "diagonal"),
        ([[1, [0.1, 1.0]], [[0.1, 1.0], 1]], None, "not below 1"),
        ([[1, [0.3, 0.1]], [[0.3, 0.1], 1]], None, "lower end above"),
        ([[1, [0.1, 0.3]], [[0.1, 0.3], 1]], [1.0], "one a unit"),
        ([[1, [0.1, 0.3]], [[0.1, 0.3], 1]], [1.0, -2.0], "variance -4"),
        ([[1, [0.1, 0.3]], [[0.1, 0.3], 1]], [1.0, 0.0], "variance 0"),
        ([[1, [0.1, 0.3]], [[0.1, 0.3], 1]], [1.0, 1e250], "variance inf"),
        ([[1, [0.1, 0.3]], [[0.1, 0.3], 1]], [1.0, [1.0, 2.0]], "interval"),
    ],
)
def test_correlations_that_cannot_be_are_refused(table, deviations, words):
    with pytest.raises(BadModel, match=words):
        correlated(table, deviations)


@pytest.mark.parametrize("most", [-0.1, 1.0, 1.5, float("nan")])
def test_a_largest_correlation_is_from_0_to_below_1(most):
    with pytest.raises(BadModel, match="up to but not including 1"):
        MaxCorrelation(3, most)


def test_models_write_the_fields_they_were_read_from():
    table, deviations = [[1.0, [0.1, 0.3]], [[0.1, 0.3], 1.0]], [2.0, 3.0]
    fields = {"kind": "gaussian", "correlation": table, "deviations": deviations, "source": "proxy"}
    laws = correlated(table, deviations, "proxy")
    assert laws.document == fields
    assert correlated(laws.document["correlation"], laws.document["deviations"], "proxy").document == fields
    assert "deviations" not in correlated(table).document
    covariance = [[2.0, 0.3], [0.3, 1.0]]
    assert Gaussian.of(covariance).document == {
        "kind": "gaussian",
        "covariance": covariance,
        "source": "declared",
    }
    fields = {"kind": "gaussian", "size": 8, "max_correlation": 0.14, "source": "declared"}
    assert MaxCorrelation(8, 0.14).document == fields


def test_a_correlation_table_without_intervals_is_one_law():
    law = correlated([[1, 0.5], [0.5, 1]], [2, 3])
    assert isinstance(law, Gaussian)
    assert law.covariance.tolist() == [[4, 3], [3, 9]]


def test_a_covariance_is_kept_from_change_and_its_rounding_is_averaged():
    given = np.array([[1.0, 0.5], [0.5 + 1e-16, 1.0]])
    law = Gaussian(given)
    given[0, 1] = 0.9
    assert law.covariance[0, 1] == 0.5
    with pytest.raises(ValueError, match="read-only"):
        law.covariance[0, 1] = 0.9
