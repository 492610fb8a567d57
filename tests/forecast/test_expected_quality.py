"""The quality that a plan expects: certain where nothing has to be assumed, unknown where nothing is known."""

from fractions import Fraction

import pytest

from entwined.estimate.as_drawn import as_drawn
from entwined.estimate.quality import TableSize
from entwined.forecast.draft import Draft
from entwined.forecast.expected_quality import expected_quality
from entwined.forecast.forecast import Assumed, forecasts
from entwined.queries import Count, Histogram, Mean, Median, Quantile, Share, Total, Variance, parse
from entwined.request.verbs import plan
from entwined.schema import Boolean, Categorical, Integer, Schema

COLUMNS = (
    Categorical("id", tuple(f"i{at}" for at in range(500)), missing="drop"),
    Categorical("place", ("a", "b", "c"), missing="drop"),
    Integer("age", 18, 97, missing="drop"),
    Integer("gain", -1000, 1000, missing="drop"),
    Integer("year", 1900, 2020, missing="drop"),
    Integer("pay", 0, 9999, mean=Fraction(2000), missing="drop"),
    Boolean("ill", missing="drop"),
)
SCHEMA = Schema(COLUMNS, rows=500, most_rows=500).approve()
UNSAID = Schema(COLUMNS, neighbours="add_remove").approve()


def expected(query, loss, schema=SCHEMA, rows=None, within=None, delta=None):
    asked = query.bound(schema)
    planned = plan(schema, asked, loss=loss, delta=delta)
    (forecast,) = forecasts(Draft.of(planned), Assumed.of(schema, rows, consistent=False))
    return planned, expected_quality(asked, schema, TableSize.of(schema, rows), forecast, within)


@pytest.mark.parametrize(
    ("query", "delta"),
    [
        (Histogram("id"), None),
        (Histogram("place"), Fraction(1, 10**6)),
        (Count(where=parse("ill", SCHEMA)), None),
    ],
    ids=range(3),
)
def test_the_smallest_publishable_count_is_always_published(query, delta):
    """At and above it every number is in its class, whatever the other cells are; one below it is not when alone."""
    planned, found = expected(query, Fraction(1, 10), delta=delta)
    cells = planned.statistics[0].statistic.aggregate.cells
    for level, least in (("publish", found.publish_from), ("with care", found.with_care_from)):
        for number, fits in ((least, True), (least - 1, False)):
            (answer,) = as_drawn(planned, [(number, *[0] * (cells - 1))]).answers
            assert (answer.levels[0] in ("publish", level)) == fits
    assert f"from {found.publish_from:,} on can be published" in found.thresholds


@pytest.mark.parametrize(
    ("query", "loss", "level"),
    [
        (Histogram("id"), 1, "not"),  # a row each
        (Histogram("place"), 1, "publish"),
        (Histogram("place"), "0.02", "not"),
        (Mean("age"), 4, "publish"),  # any mean in range
        (Mean("gain"), 1, "unknown"),
        (Mean("gain"), "0.01", "not"),  # not even the largest
        (Mean("year"), 4, "unknown"),
        (Mean("pay"), 4, "publish"),  # by its declared mean
        (Total("pay"), 1, "publish"),
        (Total("gain"), 1, "unknown"),
        (Variance("age"), 1, "unknown"),
        (Median("age"), 2, "publish"),
        (Quantile("age", Fraction(1, 500)), 2, "not"),
        (Share(where=parse("ill", SCHEMA)), 1, "publish"),
    ],
    ids=str,
)
def test_a_plan_says_what_is_known_and_no_more(query, loss, level):
    assert expected(query, loss)[1].level == level


def test_without_a_number_of_rows_quality_is_unknown_and_thresholds_stand():
    _, found = expected(Histogram("place"), 1, UNSAID)
    assert (found.level, found.relative_error) == ("unknown", None)
    assert found.publish_from > found.with_care_from > 0
    assert expected(Histogram("place"), 1, UNSAID, rows=900)[1].level == "publish"
    assert expected(Median("age"), 1, UNSAID)[1].level == "unknown"


def test_an_accuracy_that_was_asked_for_decides_where_it_can_be():
    assert expected(Mean("gain"), 1, within=Fraction(500))[1].level == "publish"
    assert expected(Mean("gain"), 1, within=Fraction(1))[1].level == "not"
    assert expected(Mean("gain"), "0.01", within=Fraction(5000))[1].level == "not"
