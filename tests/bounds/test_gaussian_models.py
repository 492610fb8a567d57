"""Gaussian models are valid from birth, and their bounds obey the laws of bounds."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from entwined.bounds import DistanceLoss, bound
from entwined.bounds.gaussian import (
    GAUSSIAN_THEOREMS,
    lange_max_correlation_bound,
)
from entwined.bounds.gaussian.series import checked_inverse, walk_sums
from entwined.dependence.box import Box
from entwined.dependence.families import autoregression, equal_correlation
from entwined.dependence.gaussian import Correlations, Gaussian, MaxCorrelation, correlated
from entwined.errors import BadModel
from entwined.loss import Loss
from support.gaussian_laws import (
    KNOWN_COVARIANCE,
    as_correlation,
    box_of,
    draw,
    draw_correlation,
    draw_losses,
    equicorrelated,
    fraction_inverse,
    nearly_singular,
    said,
    solved,
    with_deviations,
)
from support.oracle import gaussian_factor


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


def test_losses_by_distance_leak_by_distance_as_is_golden():
    for model, any_known, none_known in (
        (equal_correlation(8, 0.14), 1.98, 1.98),
        (autoregression(8, 0.5), 2.812, 2.812),
        (MaxCorrelation(8, 0.14), 1.98, 1.98),
    ):
        for knowledge, factor in (("any", any_known), ("model", none_known)):
            found = bound(model, DistanceLoss.uniform("0.5", 8), knowledge)
            assert found.leakage.worst == pytest.approx(factor / 2, abs=5e-4)
            assert "for each unit of distance" in found.guarantee
    rng = np.random.default_rng(14)
    for _ in range(20):
        table, losses = draw(rng, "weak", 4)[0], draw_losses(rng, 4)
        for knowledge, known in (("any", "values"), ("model", "model")):
            found = bound(Gaussian(table), DistanceLoss(Loss(losses)), knowledge).leakage.per_unit
            truth = [gaussian_factor(table, losses, unit, known) for unit in range(4)]
            assert (found >= np.array(truth) * (1 - 1e-9)).all()
            assert found == pytest.approx(np.array(truth), rel=1e-6)


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


def test_inverses_and_sums_over_walks_hold_their_exact_values():
    rng = np.random.default_rng(15)
    for number in range(60):
        units = 2 + number % 3
        matrix = as_correlation(nearly_singular(rng, units))
        near, error = checked_inverse((matrix + matrix.T) / 2)
        exact = fraction_inverse((matrix + matrix.T) / 2)
        for i, j in product(range(units), repeat=2):
            assert abs(Fraction(float(near[i, j])) - exact[j][i]) <= Fraction(float(error[i]))
        steps = rng.uniform(0, 1, (units, units))
        steps *= (1 - 10 ** rng.uniform(-9, 0)) / np.abs(np.linalg.eigvals(steps)).max()
        sums = walk_sums(steps)
        rest = [
            [Fraction(int(i == j)) - Fraction(float(steps[i, j])) for j in range(units)] for i in range(units)
        ]
        for j in range(units):
            column = solved(rest, [Fraction(int(i == j)) for i in range(units)])
            assert sums.converged
            assert all(
                Fraction(float(sums.low[i, j])) <= column[i] <= Fraction(float(sums.high[i, j]))
                for i in range(units)
            )


def test_sums_over_walks_of_a_radius_from_1_on_are_not_taken_for_convergent():
    rng = np.random.default_rng(16)
    stack = rng.uniform(0, 1, (200, 4, 4))
    radius = np.abs(np.linalg.eigvals(stack)).max(axis=1)
    grown = stack / radius[:, None, None] * rng.choice([0.9, 1.0 + 1e-9, 1.3, 7.0], 200)[:, None, None]
    below = np.abs(np.linalg.eigvals(grown)).max(axis=1) < 1 - 1e-12
    assert (walk_sums(grown).converged == below).all()
    assert not walk_sums(np.array([[0.0, 1.0], [1.0, 0.0]])).converged
    assert walk_sums(np.array([[[0.0, 1.0], [1.0, 0.0]], [[0.0, 0.5], [0.5, 0.0]]])).converged.tolist() == [
        False,
        True,
    ]


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
