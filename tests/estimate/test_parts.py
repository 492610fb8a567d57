"""Shares beside counts: divided by what is public or released, and their intervals hold the truth."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from entwined.estimate.error_law import ErrorLaw, Weighted
from entwined.estimate.parts import Wholes
from entwined.estimate.ratios import Noisy
from entwined.estimate.shares import FEW, part_interval, share_interval
from entwined.noise import DiscreteLaplace
from entwined.queries import Count, FilledHistogram, GroupBy, Histogram, Marginal, Mean, Share
from entwined.schema import Categorical, Integer, Schema
from support.answered import release_of

COLUMNS = (
    Categorical("place", ("a", "b", "c")),
    Categorical("sex", ("f", "m"), missing="drop"),
    Integer("weight", 1, 9, missing="drop"),
)
OPEN = Schema(COLUMNS, most_rows=10_000).approve()
PUBLIC = Schema(COLUMNS, most_rows=10_000, rows=1_000).approve()
ALL = slice(0, 10)
DRAWS = 4_000  # with a true coverage of 95 %, 93.5 % or less is seen with a chance below 1 in 10⁴


def shares_of(queries, numbers, schema=OPEN, **given):
    release = release_of(queries, schema, numbers, **given)
    wholes = Wholes.of(release, schema)
    found = [wholes.dividing(answer) for answer in release.answers]
    return [divide and divide(ALL) for divide in found]


def test_a_public_number_of_rows_divides_the_numbers_and_their_intervals():
    (table,) = shares_of([Histogram("place")], [[300, 500, 150, 50]], PUBLIC)
    np.testing.assert_allclose(table.value, [0.3, 0.5, 0.15, 0.05])
    np.testing.assert_allclose(table.low, [0.27, 0.47, 0.12, 0.02], atol=1e-6)
    np.testing.assert_allclose(table.high, [0.33, 0.53, 0.18, 0.08], atol=1e-6)
    (count,) = shares_of([Count(where="sex = 'f'")], [400], PUBLIC)
    assert count.value == 0.4
    assert (count.low, count.high) == (pytest.approx(0.37, abs=2e-6), pytest.approx(0.43, abs=2e-6))


def test_where_rows_are_left_out_their_number_is_not_public():
    """Of large groups some rows are cut, and missing answers are in no cell."""
    cut = shares_of([Count(where="sex = 'f'")], [400], PUBLIC, by="home")
    assert cut == [None]
    (table,) = shares_of([Histogram("sex")], [[300, 500]], PUBLIC)
    np.testing.assert_allclose(table.value, [0.375, 0.625])
    (inside,) = shares_of([Histogram("place", where="sex = 'f'")], [[60, 100, 30, 10]], PUBLIC)
    np.testing.assert_allclose(inside.value, [0.3, 0.5, 0.15, 0.05])
    (weighted,) = shares_of([Histogram("place", weight="weight")], [[60, 100, 30, 10]], PUBLIC)
    np.testing.assert_allclose(weighted.value, [0.3, 0.5, 0.15, 0.05])


def test_a_count_is_a_share_of_the_released_count_of_all_rows():
    some, others = Count(where="sex = 'f'"), Count()
    part, whole = shares_of([some, others], [400, 1_000])
    assert whole is None
    assert part.value == 0.4
    assert 0.3 < part.low < 0.4 < part.high < 0.5
    assert shares_of([some], [400]) == [None]
    (part, _) = shares_of([some, Histogram("place")], [400, [300, 500, 150, 50]])  # which adds up to all rows
    assert part.value == 0.4
    assert shares_of([Count(where="sex = 'f'", weight="weight"), others], [400, 1_000])[0] is None


def test_a_table_of_many_cells_is_divided_by_a_better_known_sum():
    many = Marginal(("place", "sex", "weight"))
    cells = 4 * 2 * 9
    (alone,) = shares_of([many], [[14] * cells], scale=60)
    (_, beside) = shares_of(
        [Count(where="sex is not null and weight is not null"), many],
        [cells * 14, [14] * cells],
        scale=60,
    )
    assert alone.high[0] == 1
    assert 0.15 < beside.high[0] < 0.25
    np.testing.assert_allclose(beside.value, 1 / cells, atol=1e-6)


def test_the_same_draws_are_no_second_opinion():
    """A table that is asked for in two ways is drawn once: neither is a whole with noise of its own."""
    keys, drawn = ("place", "sex", "weight"), [40] * 72
    (alone,) = shares_of([Marginal(keys)], [drawn], scale=60)
    for one in shares_of([Marginal(keys), GroupBy(keys)], [drawn, drawn], scale=60):
        assert one.high.tolist() == alone.high.tolist()


def test_only_counts_have_shares_and_a_share_is_one():
    asked = [Mean("weight"), GroupBy(("sex",), "weight")]
    release = release_of([Count()], OPEN, [9])
    for query in asked:
        found = replace(release.answers[0], asked=query.bound(OPEN).fingerprint)
        wholes = Wholes.of(release_of([Count()], OPEN, [9]), OPEN)
        assert Wholes(OPEN, None, {found.asked: query.bound(OPEN)}, wholes.best).dividing(found) is None
    assert not FilledHistogram("sex", (1, 1, 0)).counts_rows
    share = Share(where="sex = 'f'", count="public")
    (found,) = shares_of([share], [400], PUBLIC)
    assert found.value == 0.4


def test_no_share_of_nothing():
    (table,) = shares_of([Histogram("sex")], [[-3, -4]])
    assert np.isnan(table.value).all()
    assert table.low.tolist() == [0, 0]


@pytest.mark.parametrize("truth", [(0, 500), (40, 460), (250, 250), (30, 10), (480, 20)])
def test_the_truth_is_held_as_often_as_is_said(truth):
    """A cell of a table of six, and a part of a count; the widths of one noise alone would miss it too often."""
    inside, outside = truth
    noise, scale = DiscreteLaplace(Fraction(10)), 10
    random = np.random.default_rng(sum(truth) + inside)
    drawn = random.laplace(0, scale, (6, DRAWS)).round()
    one, others = ErrorLaw.of([1], [noise]), ErrorLaw((Weighted(1.0, noise, 5),))
    part = Noisy(inside + drawn[0], one)

    def coverage(ends):
        return np.mean((ends[0] <= inside / sum(truth)) & (inside / sum(truth) <= ends[1]))

    assert coverage(share_interval(part, Noisy(outside + drawn[1:].sum(axis=0), others), 0.95, FEW)) > 0.935
    assert coverage(part_interval(part, Noisy(sum(truth) + drawn[1], one), 0.95)) > 0.935
    if inside >= outside:  # forgetting the others' noise must be seen
        wrong = share_interval(part, Noisy(outside + drawn[1:].sum(axis=0), one * 1e-9), 0.95, FEW)
        assert coverage(wrong) < 0.9
