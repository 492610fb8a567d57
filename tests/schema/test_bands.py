"""Declared bands: what is cut where, what is refused, and that files and approvals know them."""

import dataclasses
import math
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest

from entwined.errors import BadQuery, BadSchema
from entwined.schema import Bands, Categorical, Integer, Moment, Real, Schema, bands_of
from entwined.schema.calendar import PERIODS, begins, ends, named
from entwined.schema.files import schema_of, text_of

AGE = Integer(
    "age", 0, 99, bands={"stage": {"child": 0, "adult": 18, "old": 65}, "decade": 10, "cut": [18, 65]}
)
DAY = Moment("day", "2023-12-30", "2024-03-01", bands={"month": "month", "week": "week"})
SIZE = Real("size", 0, 2, "0.25", bands={"half": "0.5", "big": {"small": 0, "large": "1.1"}})


def ranges(bands):
    return [bands.codes(place, place) for place in range(bands.levels)]


def test_bands_are_ranges_of_codes_that_follow_each_other_and_cover_all():
    stage, decade, cut = AGE.bands
    assert ranges(stage) == ranges(cut) == [(0, 17), (18, 64), (65, 99)]
    assert stage.labels == ("child", "adult", "old")
    assert cut.labels == ("0 to 17", "18 to 64", "65 to 99")
    assert ranges(decade)[3] == (30, 39)
    assert decade.labels[3] == "30 to 39"
    half, big = SIZE.bands
    assert half.labels == ("0 to 0.25", "0.5 to 0.75", "1 to 1.25", "1.5 to 1.75", "2")
    assert ranges(big) == [(0, 4), (5, 8)]  # 1.1 lies between 1 and 1.25


def test_months_end_where_the_calendar_says():
    month, week = DAY.bands
    assert dict(zip(month.labels, ranges(month), strict=True)) == {
        "2023-12": (0, 1),
        "2024-01": (2, 32),
        "2024-02": (33, 61),
        "2024-03": (62, 62),
    }
    assert week.labels[:2] == ("2023-12-25", "2024-01-01")
    assert ranges(week)[1] == (2, 8)


@pytest.mark.parametrize("period", PERIODS)
def test_periods_follow_each_other_without_a_gap(period):
    moment = datetime(1899, 12, 31, 23, 59)
    for _ in range(60):
        begin = begins(moment, period)
        after = ends(begin, period)
        assert begin <= moment < after
        assert begins(after, period) == after
        assert begins(after - timedelta(microseconds=1), period) == begin
        assert named(begin, period) < named(after, period)
        moment = after + (after - begin) / 3
    assert ends(begins(datetime(9999, 12, 31, 23, 59, 59), period), period) is None


def test_files_and_digests_know_bands_whatever_their_names():
    odd = Integer("n", 0, 9, bands={"a b": {'"x"': 0, "ü = {": 3, "'": 5}, "none": 100})
    schema = Schema((AGE, DAY, SIZE, odd, Categorical("c", ("a",)))).approve()
    again = schema_of(text_of(schema))
    assert again == schema
    assert [one.bands for one in again.columns[:4]] == [one.bands for one in schema.columns[:4]]
    moved = dataclasses.replace(AGE, bands={"stage": {"child": 0, "adult": 19, "old": 65}})
    assert Schema((AGE,)).digest != Schema((moved,)).digest
    assert Schema((Integer("age", 0, 99),)).digest == Schema((Integer("age", 0, 99, bands={}),)).digest
    with pytest.raises(BadSchema, match="changed after it was approved"):
        schema_of(text_of(schema).replace("adult = 18", "adult = 19"))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"a": 5, "b": 18}, "lower values are in no band"),
        ({"a": 0, "b": 18, "c": 18}, "not above where the one before begins"),
        ({"a": 0, "b": 65, "c": 18}, "not above"),
        ({"a": 0, "b": "17.2", "c": 18}, "not above"),  # no whole number between them
        ({"a": 0, "b": 100}, "above every value"),
        ({"a": 0, "b": float("nan")}, "a number such as"),
        ({"a": 0, "b": Decimal("Infinity")}, "a number such as"),
        ({"a": 0, "b": "2026-01-01"}, "a number such as"),
        ({"": 0, "b": 18, "0 to 17": 50}, "several"),
        ({"two\nlines": 0}, "on one line"),
        ({}, "1 to 10,000"),
        ([], "1 to 10,000"),
        ([18, 18], "not above"),
        ([18, "old"], "a number such as"),
        (0, "above 0"),
        (-3, "above 0"),
        ("month", "above 0"),
        ("1e-9", "10,000 are the most"),
        ("0.5", "do not follow each other"),
        (list(range(1_000_000)), "1 to 10,000"),
        (None, "a width, a list of values or a table"),
        (True, "a width, a list of values or a table"),
    ],
)
def test_what_is_no_banding_is_refused(rule, said):
    with pytest.raises(BadSchema, match=said):
        Integer("age", 0, 99, bands={"b": rule})


def test_times_have_periods_of_the_calendar_only():
    for every in ("decade", 7, "second"):
        with pytest.raises(BadSchema, match="one of minute, hour"):
            Moment("day", "2020-01-01", "2020-12-31", bands={"b": every})
    with pytest.raises(BadSchema, match="do not follow"):
        Moment("day", "2020-01-01", "2020-12-31", bands={"b": "hour"})
    with pytest.raises(BadSchema, match="more than 10,000"):
        Moment("t", "2000-01-01", "2020-12-31", "minute", bands={"b": "minute"})
    assert bands_of(Moment("t", "9999-11-05", "9999-12-31"), "month").labels == ("9999-11", "9999-12")


def test_a_name_means_one_thing():
    other = Integer("n", 0, 9, bands={"stage": 5})
    for columns in ((AGE, other), (AGE, Categorical("stage", ("a",)))):
        with pytest.raises(BadSchema, match="'stage' like other bands or a column"):
            Schema(columns)
    with pytest.raises(BadSchema, match="bands called ''"):
        Integer("n", 0, 9, bands={"": 5})
    text = text_of(Schema((AGE,))).replace("bands = {", "bands = 3 #{")
    with pytest.raises(BadSchema, match="Give each a name"):
        schema_of(text)


def test_a_column_that_changes_its_bounds_keeps_no_bands_of_the_old_ones():
    assert dataclasses.replace(AGE, label="Age").bands == AGE.bands
    assert {one.column for one in dataclasses.replace(AGE, name="years").bands} == {"years"}
    tens = dataclasses.replace(Integer("age", 0, 99, bands={"decade": 10}), low=5, high=104)
    assert tens.bands[0].labels[:2] == ("5 to 9", "10 to 19")
    with pytest.raises(BadSchema, match="for other bounds"):
        dataclasses.replace(AGE, high=120)


def test_bands_are_read_back_as_they_were_written_or_not_at_all():
    stage = AGE.bands[0]
    assert Bands.from_document(stage.document) == stage
    for change in (
        {"starts": [0, 65, 18]},
        {"size": 60},
        {"labels": ["a", "a", "b"]},
        {"starts": [0, 1.5, 2]},
        {"x": 1},
    ):
        with pytest.raises(BadQuery):
            Bands.from_document(stage.document | change)


@pytest.mark.parametrize(("step", "months"), [("month", 1), ("quarter", 3), ("year", 12)])
def test_steps_of_the_calendar_have_the_codes_that_counting_gives(step, months):
    column = Moment("t", "1999-01-01", "2004-12-31", step, outside="missing")
    assert column.levels == 72 // months
    day = datetime(1998, 12, 30, 23)
    while day < datetime(2005, 1, 2):
        expected = ((day.year - 1999) * 12 + day.month - 1) // months
        assert column.encode(day) == (expected if 1999 <= day.year <= 2004 else column.missing_code)
        assert math.floor(column.position(day)) == expected
        assert (expected == column.position(day)) == (
            day.day == 1 and day.hour == 0 and (day.month - 1) % months == 0
        )
        day += timedelta(hours=7)
    for code in range(column.levels):
        assert column.encode(column.value(code)) == code == column.position(column.value(code))
        assert column.at(Fraction(code)) == column.value(code)


def test_times_inside_a_month_are_parts_of_it():
    column = Moment("t", "2024-02-01", "9999-12-31", "month")
    middle = datetime(2024, 2, 15, 12)
    assert column.position(middle) == Fraction(1, 2)
    assert column.at(Fraction(1, 2)) == middle
    assert column.apart(middle, datetime(2024, 3, 16, 12)) == pytest.approx(1)
    assert column.position(datetime(9999, 12, 16, 12)) == column.levels - Fraction(1, 2)
    assert [column.spoken(code) for code in (0, 10, 11)] == ["2024-02", "2024-12", "2025-01"]
    quarters = bands_of(Moment("t", "2024-02-01", "2024-12-31", "month"), "quarter")
    assert ranges(quarters) == [(0, 1), (2, 4), (5, 7), (8, 10)]
    with pytest.raises(BadQuery, match="do not follow"):
        bands_of(Moment("t", "2024-02-01", "2024-12-31", "month"), "week")
