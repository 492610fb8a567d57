"""The schema: valid from birth, every raw value has a code, files round trip, approvals sign the content."""

import contextlib
import dataclasses
import math
import time
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entwined.errors import BadQuery, BadSchema, EntwinedError, Unapproved
from entwined.schema import (
    Boolean,
    Categorical,
    Cells,
    Column,
    Integer,
    Moment,
    Person,
    Real,
    Rows,
    Schema,
    Text,
    approve,
    column_from,
    read_schema,
    write_schema,
)
from entwined.schema.exact import exact_number, number_text
from entwined.schema.files import schema_of, text_of

HUGE = 10**400
TINY = 5e-324
NAT = np.datetime64("NaT")

INTEGER = Integer("n", -2, 3)
STRICT = Integer("n", -2, 3, outside="missing")
REAL = Real("x", Fraction(-1), Fraction(1), Fraction(1, 10))
MOMENT = Moment("t", datetime(2020, 1, 1), datetime(2020, 1, 10), "day")
HOURS = Moment("t", datetime(2020, 1, 1), datetime(2020, 1, 2), "hour", outside="missing")
SEX = Categorical("sex", ("m", "f", "1", "2.0", ""), missing_codes=("9", "none"))
FLAG = Boolean("flag", missing_codes=("1",))


class Odd:
    """A value that refuses to be a number."""

    def __float__(self):
        raise ValueError


FATES = [
    (INTEGER, None, 6),
    (INTEGER, math.nan, 6),
    (INTEGER, math.inf, 5),
    (INTEGER, -math.inf, 0),
    (INTEGER, -0.0, 2),
    (INTEGER, TINY, 2),
    (INTEGER, -TINY, 2),
    (INTEGER, 0.5, 3),
    (INTEGER, -0.5, 2),
    (INTEGER, 0.49999999999999994, 3),  # the sum with 0.5 rounds to 1 in doubles, in every engine
    (INTEGER, HUGE, 5),
    (INTEGER, -HUGE, 0),
    (INTEGER, 2**63, 5),
    (INTEGER, Decimal("1e400"), 5),
    (INTEGER, Decimal("-1e400"), 0),
    (INTEGER, Decimal("NaN"), 6),
    (INTEGER, Decimal("sNaN"), 6),
    (INTEGER, Decimal("-Infinity"), 0),
    (INTEGER, Decimal("1.4"), 3),
    (INTEGER, Fraction(HUGE), 5),
    (INTEGER, Fraction(-HUGE, 3), 0),
    (INTEGER, True, 3),
    (INTEGER, False, 2),
    (INTEGER, "2", 4),
    (INTEGER, "  2.0 ", 4),
    (INTEGER, "1e400", 5),
    (INTEGER, "-1e999999999", 0),
    (INTEGER, "nan", 6),
    (INTEGER, "inf", 6),
    (INTEGER, "1_0", 6),
    (INTEGER, "٣", 6),
    (INTEGER, "0x1", 6),
    (INTEGER, "", 6),
    (INTEGER, "\t1", 6),
    (INTEGER, "9" * 1001, 6),
    (INTEGER, b"1", 6),
    (INTEGER, 1j, 6),
    (INTEGER, [1], 6),
    (INTEGER, object(), 6),
    (INTEGER, Odd(), 6),
    (INTEGER, np.int64(1), 3),
    (INTEGER, np.float32("nan"), 6),
    (INTEGER, datetime(2020, 1, 1), 6),
    (STRICT, 3.4, 5),
    (STRICT, 3.5, 6),
    (STRICT, -2.6, 6),
    (STRICT, math.inf, 6),
    (STRICT, HUGE, 6),
    (STRICT, 4, 6),
    (REAL, -1, 0),
    (REAL, 1.0, 20),
    (REAL, 0.1, 11),
    (REAL, 0.05, 11),  # (0.05 + 1)/0.1 + 0.5 is 11 in doubles
    (REAL, 0.15, 11),  # (0.15 + 1)/0.1 is just below 11.5 in doubles
    (REAL, 1e308, 20),
    (REAL, -math.inf, 0),
    (REAL, "0.3", 13),
    (MOMENT, datetime(2020, 1, 1), 0),
    (MOMENT, datetime(2020, 1, 2, 23, 59, 59, 999999), 1),
    (MOMENT, datetime(2019, 12, 31, 23, 59), 0),
    (MOMENT, datetime(2021, 1, 1), 9),
    (MOMENT, date(2020, 1, 3), 2),
    (MOMENT, datetime(2020, 1, 3, 1, tzinfo=timezone(timedelta(hours=2))), 1),
    (MOMENT, "2020-01-03", 2),
    (MOMENT, "2020-01-03T05:06:07.5Z", 2),
    (MOMENT, "2020-01-03 00:30+01:00", 1),
    (MOMENT, "2020-02-30", 10),
    (MOMENT, "0000-01-01", 10),
    (MOMENT, "9999-12-31", 9),
    (MOMENT, "0001-01-01 00:00+10:00", 0),
    (MOMENT, "03.01.2020", 10),
    (MOMENT, 20200103, 10),
    (MOMENT, math.nan, 10),
    (MOMENT, None, 10),
    (HOURS, datetime(2020, 1, 2), 24),
    (HOURS, datetime(2020, 1, 2, 0, 59), 24),
    (HOURS, datetime(2020, 1, 2, 1), 25),
    (HOURS, datetime(2019, 12, 31, 23, 59, 59), 25),
    (SEX, "m", 0),
    (SEX, "M", 5),
    (SEX, "m ", 5),
    (SEX, "", 4),
    (SEX, 1, 2),
    (SEX, 1.0, 2),
    (SEX, Decimal(2), 3),
    (SEX, "2", 5),
    (SEX, 9, 5),
    (SEX, "none", 5),
    (SEX, math.nan, 5),
    (SEX, math.inf, 5),
    (SEX, True, 5),
    (Categorical("c", ("true", "2020-01-03")), True, 0),
    (Categorical("c", ("true", "2020-01-03")), date(2020, 1, 3), 1),
    (Categorical("c", ("1", "1.0")), 1, 0),
    (Boolean("b"), True, 1),
    (Boolean("b"), 0.0, 0),
    (Boolean("b"), -0.0, 0),
    (Boolean("b"), 2, 2),
    (Boolean("b"), "TRUE", 1),
    (Boolean("b"), "yes", 2),
    (Boolean("b"), HUGE, 2),
    (FLAG, 1, 2),
    (FLAG, 0, 0),
    (Integer("n", 0, 120, missing_codes=("99", "-1")), 99.0, 121),
    (Integer("n", 0, 120, missing_codes=("99", "-1")), "99.0", 121),
    (Integer("n", 0, 120, missing_codes=("99", "-1")), -1, 121),
    (Integer("n", 0, 120, missing_codes=("99", "-1")), 98, 98),
    (dataclasses.replace(MOMENT, missing_codes=("2020-01-05",)), date(2020, 1, 5), 10),
]


@pytest.mark.parametrize(("column", "raw", "code"), FATES, ids=[str(place) for place in range(len(FATES))])
def test_every_raw_value_has_the_stated_fate(column, raw, code):
    assert column.encode(raw) == code


RAW = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.decimals(),
    st.fractions(),
    st.text(),
    st.binary(),
    st.dates(),
    st.datetimes(timezones=st.sampled_from([None, UTC, timezone(timedelta(hours=-11))])),
    st.complex_numbers(),
    st.sampled_from([HUGE, -HUGE, NAT, np.float64("nan"), "1" * 5000, "1e5", " 7 ", "2020-01-02"]),
)


@settings(max_examples=400)
@given(RAW)
def test_encoding_never_fails_and_stays_in_the_domain(raw):
    for column in (INTEGER, STRICT, REAL, MOMENT, HOURS, SEX, FLAG):
        assert 0 <= column.encode(raw) < column.size


@settings(max_examples=300)
@given(
    st.fractions(-1000, 1000, max_denominator=1000),
    st.fractions(Fraction(1, 1000), 10, max_denominator=1000),
    st.integers(0, 5000),
    st.data(),
)
def test_grid_values_are_their_own_codes(low, step, last, data):
    column = Real("x", low, low + last * step, step)
    code = data.draw(st.integers(0, last))
    assert column.encode(float(column.value(code))) == code
    assert column.position(column.value(code)) == code


@settings(max_examples=300)
@given(st.floats(allow_nan=False))
def test_reals_use_the_stated_arithmetic_of_doubles(x):
    steps = (x - -1.0) / 0.1 + 0.5
    stated = 0 if steps < 0 else 20 if steps >= 21 else math.floor(steps)
    assert REAL.encode(x) == stated


def test_values_of_codes():
    assert [INTEGER.value(code) for code in range(INTEGER.size)] == [-2, -1, 0, 1, 2, 3, None]
    assert REAL.value(1) == Fraction(-9, 10)
    assert MOMENT.value(9) == datetime(2020, 1, 10)
    assert (SEX.value(4), SEX.value(5)) == ("", None)
    assert [FLAG.value(code) for code in range(3)] == [False, True, None]


WRONG_COLUMNS = [
    lambda: Integer("", 0, 1),
    lambda: Integer("n\0", 0, 1),
    lambda: Integer("\ud800", 0, 1),
    lambda: Integer("n", 1, 0),
    lambda: Integer("n", 0, 2**52),
    lambda: Integer("n", 0.0, 1),
    lambda: Integer("n", False, 1),
    lambda: Integer(5, 0, 1),
    lambda: Integer("n", 0, 1, missing="keep"),
    lambda: Integer("n", 0, 1, outside="drop"),
    lambda: Integer("n", 0, 1, missing_codes=(9,)),
    lambda: Integer("n", 0, 1, missing_codes="99"),
    lambda: Categorical("c", ()),
    lambda: Categorical("c", ("a", "a")),
    lambda: Categorical("c", ("a", 1)),
    lambda: Categorical("c", "ab"),
    lambda: Categorical("c", ("a", "b"), labels=("A",)),
    lambda: Real("x", Fraction(1), Fraction(0), Fraction(1)),
    lambda: Real("x", Fraction(0), Fraction(1), Fraction(0)),
    lambda: Real("x", Fraction(0), Fraction(1), Fraction(-1)),
    lambda: Real("x", Fraction(0), Fraction(1), Fraction(2, 3)),
    lambda: Real("x", Fraction(0), Fraction(1), Fraction(1, 2**60)),
    lambda: Real("x", Fraction(10**20), Fraction(10**20 + 1), Fraction(1)),
    lambda: Real("x", math.nan, Fraction(1), Fraction(1)),
    lambda: Real("x", Fraction(0), math.inf, Fraction(1)),
    lambda: Real("x", "0", "1/0", "1"),
    lambda: Moment("t", datetime(2021, 1, 1), datetime(2020, 1, 1)),
    lambda: Moment("t", "soon", datetime(2020, 1, 1)),
    lambda: Moment("t", datetime(2020, 1, 1), datetime(2020, 1, 1), "fortnight"),
    lambda: Moment("t", datetime(2020, 1, 2), datetime(2020, 5, 1), "month"),
    lambda: Moment("t", datetime(2020, 2, 1), datetime(2020, 5, 1), "quarter"),
    lambda: Moment("t", datetime(2020, 1, 1, 1), datetime(2020, 5, 1), "year"),
    lambda: Moment("t", datetime(2020, 1, 1), datetime(2020, 1, 1), ["day"]),
    lambda: Text("id", label=5),
    lambda: Person("id", 0),
    lambda: Person("id", True),
    lambda: Person(["id"], 1),
    lambda: Schema(()),
    lambda: Schema((INTEGER, STRICT)),
    lambda: Schema([INTEGER]),
    lambda: Schema(("n",)),
    lambda: Schema((INTEGER,), unit=Person("id", 2)),
    lambda: Schema((INTEGER,), unit=Cells(), neighbours="add_remove"),
    lambda: Schema((INTEGER,), neighbours="near"),
    lambda: Schema((INTEGER,), most_rows=0),
    lambda: Schema((INTEGER,), most_rows=2**53),
    lambda: Schema((INTEGER,), most_rows=10, rows=11),
    lambda: Schema((INTEGER,), neighbours="add_remove", rows=5),
    lambda: Schema((INTEGER, Text("id", compare="exact")), unit=Person("id", 2), rows=5),
    lambda: Schema((INTEGER,), approved_digest="0" * 64),
]


@pytest.mark.parametrize("make", WRONG_COLUMNS, ids=range(len(WRONG_COLUMNS)))
def test_what_cannot_be_is_refused_at_birth(make):
    with pytest.raises(BadSchema):
        make()


HOSTILE = ['a"; drop table t; --', "../../etc/passwd", "a\nb", "=1+1", "é'\\\x7f\x01", " ", "and", "🜁" * 5]
FULL = Schema(
    (
        *(Integer(name, 0, 9, label=name) for name in HOSTILE),
        dataclasses.replace(REAL, step=Fraction(1, 3), label="thirds"),
        Real("y", Fraction("-0.25"), Fraction("1e6"), Fraction("0.25"), outside="missing"),
        MOMENT,
        Categorical("sex", ("m", "f", *HOSTILE), labels=("male", "female", *HOSTILE), missing="drop"),
        Categorical("many", tuple(f"value {number}" for number in range(40)), missing_codes=("9", "x")),
        FLAG,
        Text("id", compare="exact"),
    ),
    unit=Person("id", 3),
    neighbours="add_remove",
    most_rows=12345,
)


@pytest.mark.parametrize(
    "schema", [FULL, FULL.approve(), Schema((INTEGER,), rows=5), Schema((FLAG,), unit=Cells())]
)
def test_files_round_trip(schema, tmp_path):
    path = tmp_path / "schema.toml"
    write_schema(schema, path)
    again = read_schema(path)
    assert again == schema
    assert again.digest == schema.digest
    assert text_of(again) == path.read_text(encoding="utf-8")
    assert path.read_text(encoding="utf-8").startswith("# ")


@settings(max_examples=200)
@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
    st.text(max_size=5),
)
def test_any_name_and_value_round_trips(name, value):
    value = value.replace("\0", "")
    schema = Schema((Categorical(name, (value, value + "x"), label=value, missing_codes=(value,)),)).approve()
    assert schema_of(text_of(schema)) == schema


@settings(max_examples=200)
@given(st.fractions())
def test_numbers_are_written_exactly(number):
    assert exact_number(number_text(number)) == number


def test_an_approval_signs_the_content(tmp_path):
    path = tmp_path / "schema.toml"
    write_schema(Schema((INTEGER,)), path)
    with pytest.raises(Unapproved):
        read_schema(path).require_approval()
    path.write_text("# mine\n" + path.read_text() + "# last\n")
    approve(path).require_approval()
    signed = path.read_text()
    assert signed.startswith("# mine\n")
    assert signed.endswith("# last\n")
    assert read_schema(path).approved
    path.write_text(signed.replace("high = 3", "high = 4"))
    with pytest.raises(BadSchema, match="changed after"):
        read_schema(path)
    assert approve(path).coded("n").levels == 7
    path.write_text(path.read_text().replace("approved = true", "approved = false"))
    with pytest.raises(BadSchema, match="do not belong together"):
        read_schema(path)


def test_an_approved_schema_cannot_be_changed_in_memory():
    with pytest.raises(BadSchema, match="changed after"):
        dataclasses.replace(FULL.approve(), most_rows=5)


def test_approval_replaces_lines_but_never_texts(tmp_path):
    path = tmp_path / "schema.toml"
    text = (
        'unit = {kind = "rows"}\nneighbours = "replace"\n[[column]]\nname = "x"\ntype = "text"\nlabel = """\n'
    )
    path.write_text(text + 'approved = true\n"""\n')
    assert approve(path).columns[0].label == "approved = true\n"
    assert read_schema(path).approved


@pytest.mark.parametrize("change", ["label", "missing", "unit", "neighbours", "order"])
def test_every_change_changes_the_digest(change):
    schema = Schema((INTEGER, FLAG, Text("id", compare="exact")))
    first, *rest = schema.columns
    other = {
        "label": dataclasses.replace(schema, columns=(dataclasses.replace(first, label="l"), *rest)),
        "missing": dataclasses.replace(schema, columns=(dataclasses.replace(first, missing="drop"), *rest)),
        "unit": dataclasses.replace(schema, unit=Person("id", 2)),
        "neighbours": dataclasses.replace(schema, neighbours="add_remove"),
        "order": dataclasses.replace(schema, columns=(*rest, first)),
    }[change]
    assert other.digest != schema.digest


TOP = 'unit = {kind = "rows"}\nneighbours = "replace"\n'
WRONG_FILES = [
    "",
    "unit",
    TOP,
    TOP + "column = 5",
    TOP + "column = [5]",
    TOP + "color = 1\n",
    TOP + '[[column]]\nname = "a"',
    TOP + '[[column]]\nname = "a"\ntype = "float"',
    TOP + '[[column]]\nname = "a"\ntype = ["text"]',
    TOP + '[[column]]\nname = "a"\ntype = "integer"\nlow = 0',
    TOP + '[[column]]\nname = "a"\ntype = "integer"\nlow = 0\nhigh = 5\nkind = "b"',
    TOP + '[[column]]\nname = "a"\ntype = "integer"\nlow = 0\nhigh = 1e400',
    TOP + '[[column]]\nname = "a"\ntype = "real"\nlow = 0\nhigh = inf\nstep = 1',
    TOP + '[[column]]\nname = "a"\ntype = "real"\nlow = 0\nhigh = 1e999999999\nstep = 1',
    TOP + '[[column]]\nname = "a"\ntype = "categorical"\nvalues = ["a", 5]',
    TOP + '[[column]]\nname = "a"\ntype = "moment"\nlow = 07:32:00\nhigh = 2020-01-01',
    TOP + '[[column]]\ntype = "text"',
    TOP + '[[column]]\nname = "a"\ntype = "text"\nlow = 0',
    'neighbours = "replace"\n[[column]]\nname = "a"\ntype = "text"',
    'unit = {kind = "rows"}\n[[column]]\nname = "a"\ntype = "text"',
    'unit = {kind = "person", column = "a"}\nneighbours = "replace"\n[[column]]\nname = "a"\ntype = "text"',
    'unit = "rows"\nneighbours = "replace"\n[[column]]\nname = "a"\ntype = "text"',
    'unit = {kind = "rows"}\nneighbours = ["replace"]\n[[column]]\nname = "a"\ntype = "text"',
    TOP + 'most_rows = "5"\n[[column]]\nname = "a"\ntype = "text"',
    TOP + 'approved = 1\n[[column]]\nname = "a"\ntype = "text"',
    TOP + 'approved = true\n[[column]]\nname = "a"\ntype = "text"',
    TOP + 'approved_digest = "5"\n[[column]]\nname = "a"\ntype = "text"',
    "a = " + "[" * 5000,
]


@pytest.mark.parametrize("text", WRONG_FILES, ids=range(len(WRONG_FILES)))
def test_bad_files_are_refused(text, tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(text)
    with pytest.raises(BadSchema):
        read_schema(path)


def test_bytes_folders_and_absent_files_are_refused(tmp_path):
    path = tmp_path / "schema.toml"
    path.write_bytes(b"\xff\xfe\x00")
    for given_path in (path, tmp_path, tmp_path / "absent"):
        with pytest.raises(BadSchema):
            read_schema(given_path)
        with pytest.raises(BadSchema):
            approve(given_path)
    with pytest.raises(BadSchema):
        write_schema(FULL, tmp_path / "no" / "folder.toml")


def test_decimals_in_a_file_are_exact():
    text = TOP + '[[column]]\nname = "x"\ntype = "real"\nlow = 0.1\nhigh = 0.3\nstep = 0.1\n'
    assert schema_of(text).coded("x").levels == 3


@settings(max_examples=300)
@given(st.text())
def test_any_text_is_a_schema_or_a_typed_refusal(text):
    with contextlib.suppress(EntwinedError):
        schema_of(TOP + text)


@settings(max_examples=300)
@given(
    st.dictionaries(
        st.sampled_from(
            ["name", "type", "low", "high", "step", "values", "labels", "missing", "outside", "q"]
        ),
        st.one_of(
            st.none(),
            st.integers(),
            st.sampled_from(
                ["integer", "real", "moment", "boolean", "categorical", "text", "a", "1", "2020-01-01"]
            ),
            st.lists(st.text(max_size=2), max_size=3),
            st.datetimes(),
        ),
    )
)
def test_any_fields_are_a_column_or_a_typed_refusal(fields):
    try:
        column = column_from(fields)
    except BadSchema:
        return
    assert isinstance(column, Column)
    assert column_from(column.document) == column


def test_columns_are_found_by_name():
    assert FULL.coded("sex").levels == 10
    assert FULL.text_columns == ("id",)
    with pytest.raises(BadQuery, match="no column"):
        FULL.coded("SEX")
    with pytest.raises(BadQuery, match="never queried"):
        FULL.coded("id")


def test_a_wide_schema_is_quick():
    start = time.process_time()
    schema = Schema(
        tuple(Integer(f"c{number}", 0, number) for number in range(10_000)), unit=Rows()
    ).approve()
    assert schema_of(text_of(schema)) == schema
    assert time.process_time() - start < 10
    with pytest.raises(BadSchema):
        Schema((*schema.columns, Text("one more")))
