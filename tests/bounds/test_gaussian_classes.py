"""Gaussian units whose correlations are bounded: no law of the class leaks more, some leaks as much."""

import numpy as np
import pytest

from entwined.bounds.gaussian import (
    correlation_intervals_bound,
    lange_max_correlation_bound,
    max_correlation_bound,
    weak_correlation_bound,
)
from entwined.dependence.box import Box
from entwined.dependence.gaussian import Correlations, MaxCorrelation, correlated
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support.gaussian_laws import (
    autoregression,
    box_of,
    draw_losses,
    equicorrelated,
    exact_factors,
    members,
    said,
    with_deviations,
)
from support.oracle import gaussian_factor


def test_no_member_of_a_class_leaks_more_than_its_bounds():
    rng, applied = np.random.default_rng(8), 0
    for number in range(36):
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
    assert applied > 36


def test_no_law_leaks_more_than_its_largest_correlation_allows():
    rng = np.random.default_rng(9)
    for number in range(25):
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
