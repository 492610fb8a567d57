"""Intervals end where what is public ends, and hold the truth as often as before."""

from dataclasses import replace
from datetime import datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entwined.estimate.answers import Answered, Release
from entwined.estimate.as_drawn import as_drawn
from entwined.estimate.comparisons import Comparing
from entwined.estimate.consistent_release import make_consistent
from entwined.estimate.cut import cut
from entwined.estimate.spans import Around
from entwined.mechanisms.draws import noisy
from entwined.queries import (
    Count,
    Custom,
    GroupBy,
    Histogram,
    Marginal,
    Mean,
    Median,
    Share,
    Total,
    Variance,
    parse,
)
from entwined.queries.extents import extent
from entwined.request.verbs import plan
from entwined.schema import Boolean, Categorical, Integer, Moment, Schema
from support.memory_table import MemoryTable

ROWS = 60
COLUMNS = (
    Categorical("place", ("a", "b", "c")),
    Boolean("well"),
    Integer("debt", -5, 9),
    Integer("weight", 1, 4),
    Moment("born", datetime(2000, 1, 1), datetime(2000, 12, 31)),
)
PUBLIC = Schema(COLUMNS, rows=ROWS, most_rows=ROWS).approve()
HIDDEN = Schema(COLUMNS, neighbours="add_remove", most_rows=ROWS).approve()


def halves(codes):
    return np.stack([codes[:, 0] % 2, -3 * (codes[:, 0] % 3)], axis=1)


def queries(schema):
    return {
        "count": Count(where=parse("well", schema)),
        "histogram": Histogram("place"),
        "marginal": Marginal(("place", "well")),
        "groups": GroupBy(("place",), "debt"),
        "total": Total("debt"),
        "weighted total": Total("debt", weight="weight"),
        "weighted histogram": Histogram("place", weight="weight"),
        "mean": Mean("debt"),
        "mean of times": Mean("born"),
        "variance": Variance("debt"),
        "share": Share(where=parse("well", schema), count="noisy"),
        "median": Median("debt"),
        "custom": Custom("halves", "1", ("debt",), (0, -6), (1, 0), function=halves),
    }


ENDS = {
    "count": (0, ROWS),
    "histogram": (0, ROWS),
    "marginal": (0, ROWS),
    "groups": (-5 * ROWS, 9 * ROWS),
    "total": (-5 * ROWS, 9 * ROWS),
    "weighted total": (-20 * ROWS, 36 * ROWS),
    "weighted histogram": (0, 4 * ROWS),
    "mean": (-5, 9),
    "mean of times": (datetime(2000, 1, 1), datetime(2000, 12, 31)),
    "variance": (0, 49),
    "share": (0, 1),
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    return [
        {
            "place": "abc"[rng.integers(3)],
            "well": bool(rng.random() < 0.97),
            "debt": int(rng.integers(-5, 10)),
            "weight": int(rng.integers(1, 5)),
            "born": f"2000-0{rng.integers(1, 10)}-11",
        }
        for _ in range(ROWS)
    ]


def drawn(schema, rows, loss, turns):
    """A plan for all queries, what is true, and releases as they are drawn."""
    planned = plan(schema, list(queries(schema).values()), loss=loss)
    table = MemoryTable(schema, rows)
    exact = [
        np.array(found) for found in table.answer([one.statistic.aggregate for one in planned.statistics])
    ]
    noise = [
        noisy(one, np.broadcast_to(found, (turns, len(found))))
        for one, found in zip(planned.statistics, exact, strict=True)
    ]
    draws = [as_drawn(planned, [tuple(one[turn].tolist()) for one in noise]) for turn in range(turns)]
    truth = {
        query.fingerprint: query.answer(schema, [exact[use].tolist() for use in uses])
        for query, uses in zip(planned.queries, planned.uses, strict=True)
    }
    return planned, truth, draws


def cells(value):
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("schema", [PUBLIC, HIDDEN], ids=["public", "hidden"])
@pytest.mark.parametrize("agreeing", [False, True])
def test_no_interval_goes_beyond_what_is_public(schema, agreeing, rows):
    """Whatever was drawn, with noise far wider than the table."""
    planned, _, draws = drawn(schema, rows, Fraction(1, 20), 6)
    for one in draws:
        release = make_consistent(planned, one) if agreeing else one
        for name, query in queries(schema).items():
            ends = release.of(query.bound(schema)).interval
            if name in ENDS:
                assert all(ENDS[name][0] <= end <= ENDS[name][1] for side in ends for end in cells(side)), (
                    name
                )
            elif name == "custom":
                assert all(0 <= end[0] <= ROWS and -6 * ROWS <= end[1] <= 0 for end in ends)
            else:
                assert ends is None
                assert release.of(query.bound(schema)).span.within <= ROWS
        comparing = Comparing.of(planned, release)
        low, high = comparing.simultaneous(queries(schema)["histogram"])
        assert 0 <= low.min() <= high.max() <= ROWS
        apart = comparing.difference((queries(schema)["histogram"], 0), queries(schema)["count"])
        assert -ROWS <= apart.low <= apart.high <= ROWS


def test_a_cut_loses_no_truth(rows):
    """Every truth that was held without the cut is held with it: answer by answer and cell by cell."""
    _, truth, draws = drawn(HIDDEN, rows, 1, 40)
    shorter = 0
    for one in draws:
        for answer in one.answers:
            if not isinstance(answer.span, Around):
                continue
            whole = replace(answer, span=Around(answer.span.half_width)).interval
            for true, *ends in zip(*map(cells, (truth[answer.asked], *whole, *answer.interval)), strict=True):
                held, still = (low <= true <= high for low, high in (ends[:2], ends[2:]))
                assert still or not held
                shorter += ends[:2] != ends[2:]
    assert shorter > 1000  # so that something was cut


@given(
    st.lists(st.integers(-90, 90), min_size=1, max_size=5),
    st.integers(0, 60),
    st.integers(0, 40),
    st.integers(0, 50),
)
def test_whatever_is_possible_stays_held(values, most, reach, true):
    ends = [cut(tuple(value + sign * reach for value in values), (0, most)) for sign in (-1, 1)]
    for value, low, high in zip(values, *ends, strict=True):
        assert 0 <= low <= high <= most
        assert (low <= min(true, most) <= high) or not value - reach <= min(true, most) <= value + reach


def test_counts_that_agree_are_no_more_than_there_are_rows(rows):
    planned, _, draws = drawn(HIDDEN, rows, Fraction(1, 20), 20)
    above = 0
    for one in draws:
        release = make_consistent(planned, one)
        for name in ("count", "histogram", "marginal"):
            asked = queries(HIDDEN)[name].bound(HIDDEN)
            assert sum(cells(release.of(asked).adjusted.value)) <= ROWS
            above += sum(cells(one.of(asked).value)) > ROWS
    assert above > 10


def test_the_extent_of_an_aggregate_is_reached_and_not_passed():
    """Against all small tables of a column."""
    for name in ("total", "groups", "weighted total", "count"):
        asked = queries(PUBLIC)[name].bound(PUBLIC)
        aggregate = asked.statistics(PUBLIC)[0].aggregate
        least, most = extent(aggregate, PUBLIC, 2)
        found = [
            MemoryTable(
                PUBLIC, [{"place": "a", "well": True, "debt": debt, "weight": weight, "born": None}] * 2
            ).answer([aggregate])[0]
            for debt in range(-5, 10)
            for weight in (1, 4)
        ]
        sums = [number for numbers in found for number in numbers]
        assert (min(*sums, 0), max(sums)) == (least, most), name


def test_a_cut_interval_is_written_and_read_back():
    span = Around(Fraction(1, 2), ((0, -6), (60, 0)))
    answer = Answered('{"query":"custom"}', (3, -1), span, ((3, -1),), ())
    release = Release((answer,), {})
    assert (
        Release.from_document(release.document()).answers[0].interval
        == answer.interval
        == (
            (Fraction(5, 2), Fraction(-3, 2)),
            (Fraction(7, 2), Fraction(-1, 2)),
        )
    )
