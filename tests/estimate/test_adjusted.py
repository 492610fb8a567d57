"""Unbiased values beside adjusted counts: bias, mean squared error and coverage by true size.

With 400 releases of four counts a mean squared error of Laplace noise is known to 4 % of itself: bounds are four of
these off, and the draws of the same releases are what errors are held against, which takes most of that away.
"""

import numpy as np
import pytest

from entwined.estimate.agreement import Released, agreed
from entwined.estimate.sparse_counts import Spread, fitted
from entwined.queries import Count, Histogram, Marginal, parse
from entwined.schema import Boolean, Integer, Schema
from support.noisy_tables import draws, laplace

RELEASES = 400
SIZES = (0, 6, 30, 60, 100, 300, 1000)
TOLERATED = 1.05


def asked(truth, beside):
    """A histogram and what is released beside it, each with its true counts."""
    schema = Schema(
        (Integer("place", 0, len(truth) - 2), Boolean("owns")), neighbours="add_remove", most_rows=10**6
    )
    queries, exact = [Histogram("place")], [truth]
    if beside in {"count", "rows"}:
        queries, exact = [*queries, Count()], [*exact, truth.sum(keepdims=True)]
    if beside == "marginal":
        parts = np.stack([truth // 2, truth - truth // 2, 0 * truth], axis=1)
        queries, exact = [*queries, Marginal(("place", "owns"))], [*exact, parts.reshape(-1)]
    if beside == "condition":
        half = len(truth) // 2
        queries = [*queries, Count(where=parse(f"place < {half}", schema))]
        exact = [*exact, truth[:half].sum(keepdims=True)]
    aggregates = [query.bound(schema).statistics(schema)[0].aggregate for query in queries]
    return list(zip(aggregates, exact, strict=True))


def measured(truth, beside, scale, releases=RELEASES, seed=1):
    """Give errors of draws, values and adjusted counts, coverage and caveats, of many releases of the histogram."""
    random, noise = np.random.default_rng(seed), laplace(scale)
    found = []
    for _ in range(releases):
        numbers = [
            Released(
                aggregate,
                None if beside == "rows" and place else noise,
                cells + (0 if beside == "rows" and place else draws(noise, cells.shape, random)),
            )
            for place, (aggregate, cells) in enumerate(asked(truth, beside))
        ]
        table = agreed(numbers).tables[0]
        low, high = table.intervals()
        values = np.array([float(value) for value in table.unbiased])
        found.append(
            (
                numbers[0].values - truth,
                values - truth,
                table.values - truth,
                (low <= truth) & (truth <= high),
                table,
            )
        )
    *errors, tables = zip(*found, strict=True)
    return (*map(np.array, errors), tables)


def said(tables, size):
    """The share of releases whose adjusted counts are marked at a size."""
    marked = [
        table.spread.is_too_fine or (table.bias is not None and table.bias.low <= size <= table.bias.high)
        for table in tables
    ]
    return float(np.mean(marked))


def check(truth, beside, scale, releases=RELEASES):
    """Hold every size against the promises; small counts may gain, and what is marked may lose."""
    drawn, values, adjusted, held, tables = measured(truth, beside, scale, releases)
    deviation = np.sqrt((drawn**2).mean())
    for size in np.unique(truth):
        cells = truth == size
        count = releases * cells.sum()
        error = (drawn[:, cells] ** 2).mean()
        slack = 4 * np.sqrt(5 / count)  # of a mean of squares of Laplace noise
        assert abs(values[:, cells].mean()) < 4 * deviation / np.sqrt(count), (size, "biased")
        assert (values[:, cells] ** 2).mean() < error * (1 + slack / 4), (size, "value")
        loss = (adjusted[:, cells] ** 2).mean() / error
        assert loss < TOLERATED + slack or said(tables, size) > 0.5, (size, loss, said(tables, size))
        step = 0.05 * -np.expm1(-1 / scale)  # what intervals of integers hold beyond 95 %, at most
        assert held[:, cells].mean() - 0.95 + 4 * np.sqrt(0.05 / count) > -0.01, (size, "coverage")
        assert held[:, cells].mean() - 0.95 < 0.01 + step + 4 * np.sqrt(0.05 / count), (size, "coverage")
    large = truth >= 12 * deviation
    if large.any():  # a count far above the noise keeps its size
        assert abs(adjusted[:, large].mean()) < 0.25 * deviation + 4 * deviation / np.sqrt(
            releases * large.sum()
        )


@pytest.mark.parametrize("beside", ["nothing", "rows", "count"])
def test_counts_of_six_hundred_among_many_empty_ones_keep_their_size(beside):
    """Before: 600 came out 533 on average with a deviation of 83, with public rows 556 with 27; the draw has 24."""
    truth = np.array([600] * 15 + [0] * 185)
    drawn, values, adjusted, _, _ = measured(truth, beside, 17, releases=60)
    large = truth == 600
    assert abs(values[:, large].mean()) < 4
    assert abs(adjusted[:, large].mean()) < 10
    assert (adjusted[:, large] ** 2).mean() < 1.15 * (drawn[:, large] ** 2).mean()
    assert adjusted.min() >= -600
    sums = adjusted.sum(axis=1)
    assert beside != "rows" or (sums == 0).all()


@pytest.mark.parametrize(("beside", "empty"), [("count", 0), ("rows", 40)])
def test_errors_by_size_are_as_promised(beside, empty):
    check(np.array([*(SIZES[1:] * 2), *([0] * empty)]), beside, 17, releases=150)


@pytest.mark.slow
@pytest.mark.parametrize("beside", ["nothing", "rows", "count", "marginal", "condition"])
@pytest.mark.parametrize("empty", [0, 26, 176])
@pytest.mark.parametrize("scale", [2, 17])
def test_errors_by_size_are_as_promised_over_the_grid(beside, empty, scale):
    check(np.array([*(SIZES[1:] * 4), *([0] * empty)]), beside, scale, releases=100)


def test_where_noise_is_below_a_row_the_adjusted_numbers_say_so():
    truth = np.array([6, 30, 60, 100])
    *_, tables = measured(truth, "count", "0.3", releases=2)
    assert all(table.spread.is_too_fine for table in tables)
    *_, tables = measured(truth, "nothing", "0.3", releases=2)
    assert not any(table.spread.is_too_fine for table in tables)  # the draws themselves


def test_a_bias_is_said_before_it_is_seen():
    """The stated bias comes from the law of the noise and the fitted shrinkage; a simulation of its own agrees."""
    random, scale = np.random.default_rng(3), 17.0
    spread = Spread(np.full(200, 2 * scale**2), np.full(200, 2 * scale**2))
    truth = np.array([600.0] * 10 + [60.0] * 5 + [0.0] * 185)
    fit = fitted(truth + random.laplace(0, scale, 200), spread, truth.sum())
    stated = fit.shrinkage.bias
    assert stated.low < 60 < stated.high < 400
    one = Spread(np.array(2 * scale**2), np.array(2 * scale**2))
    shrinkage = type(fit.shrinkage)(one, fit.shrinkage.shift, fit.shrinkage.odds)
    errors = {size: shrinkage(size + random.laplace(0, scale, 40_000)) - size for size in (60.0, 600.0)}
    assert (errors[60.0] ** 2).mean() > TOLERATED * 2 * scale**2 > (errors[600.0] ** 2).mean() / 1.02
    assert -errors[60.0].mean() < stated.most * 1.05


def test_no_count_is_shrunk_for_a_sum_that_nobody_is_told():
    truth = np.array([40] * 5 + [0] * 45)
    drawn, _, adjusted, _, tables = measured(truth, "nothing", 17, releases=5)
    assert (adjusted + truth == np.maximum(drawn + truth, 0)).all()
    assert all(table.bias is None for table in tables)
