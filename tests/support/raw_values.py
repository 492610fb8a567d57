"""Values that engines like to read each in its own way, and columns of every type over them."""

import dataclasses
import random
from datetime import UTC, date, datetime
from decimal import Decimal

from entwined.queries import Axis, Term, TotalsOf, is_missing
from entwined.schema import Boolean, Categorical, Integer, Moment, Real, Schema

RAW = {
    "truth": [None, True, False],
    "whole": [
        None,
        0,
        1,
        -1,
        2,
        5,
        9,
        10,
        11,
        99,
        100,
        2**31,
        -(2**31),
        2**51,
        2**53 + 1,
        2**63 - 1,
        -(2**63),
    ],
    "small": [None, 0, 1, -1, 5, 127, -128, 99],
    "number": [
        *(None, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0.49999999999999994, 1.5, 2.5, 9.5, 10.4999, 99.0, 0.1, 0.3),
        *(0.15, 0.25, 0.35, 5e-324, -5e-324, 1e-300, 1e16, 1e300, -1e300, 1.7976931348623157e308),
        *(float("nan"), float("inf"), float("-inf"), 2.0**51, 2.0**53, 0.1 + 0.2),
    ],
    "single": [None, 0.0, 0.5, 1.5, 3.25, 99.0, float("nan"), float("inf"), float("-inf"), 1e30],
    "decimal": [
        *(None, Decimal(0), Decimal("0.5"), Decimal("0.1"), Decimal("0.15"), Decimal(99), Decimal("-1.5")),
        *(Decimal("12345678901234567890.0123456789"), Decimal("-99999999999999999999.9999999999")),
        *(Decimal("0.0000000001"), Decimal("9.4999999999"), Decimal("9.5"), Decimal("1.0")),
    ],
    "text": [
        *(
            None,
            "",
            " ",
            "a",
            "A",
            "b",
            "ä",
            "ß",
            "日本",
            "a ",
            " a",
            "a\n",
            "it's",
            'quo"te',
            "back\\slash",
            "%s",
        ),
        *(
            "0",
            "1",
            "1.0",
            " 1 ",
            "01",
            "+1",
            "-0",
            "1e0",
            "1.",
            ".5",
            "5.",
            ".",
            "+",
            "-",
            "e5",
            "1e",
            "1e+",
        ),
        *(
            "--1",
            "10",
            "9.5",
            "99",
            "1_000",
            "1,5",
            "0x10",
            "1d",
            "1f",
            "1L",
            "\t1",
            "1\t",
            "1\n",
            "\n1",
            "1\r",
        ),
        *("１", "٣", "1 2", "nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400", "1e-400", "{x}"),
        *("1e99999999999999999999", "0e99999", "1e-99999999999999999999", "9" * 400, "0." + "0" * 400 + "1"),
        *("1e0000000000001", "1" * 1001, "0" * 999 + "1", "1.7976931348623157e308", "1.7976931348623159e308"),
        *(
            "4.9e-324",
            "2e-324",
            "2251799813685248",
            "9007199254740993",
            "true",
            "TRUE",
            "True",
            "tRuE",
            "false",
        ),
        *("False", "t", "yes", " true", "true ", "ｔrue", "NULL", "null", "None"),
        *("2020-01-31", " 2020-01-31 ", "2020-02-30", "2019-02-29", "2000-02-29", "1900-02-29", "0000-01-01"),
        *(
            "2020-13-01",
            "2020-00-10",
            "2020-01-00",
            "2020-1-1",
            "20200131",
            "2020-01-31T",
            "2020-01-31 10:20",
        ),
        *("2020-01-31T10:20:30", "2020-01-31 24:00", "2020-01-31 10:60", "2020-01-31 10:20:60"),
        *("2020-01-31 10:20:30.5", "2020-01-31 10:20:30.", "2020-01-31 10:20:30.123456"),
        *("2020-01-31 10:20:30.1234567", "2020-01-31 10:20Z", "2020-01-31 10:20z", "2020-01-31 23:30-05:00"),
        *("2020-02-01 00:30+05:30", "2020-01-31+05:00", "2020-01-31 10:20+0500", "2020-01-31 10:20+99:99"),
        *("2020-01-31 10:20+24:00", "2020-01-31 10:20-23:59", "2020-01-31 10:20:30.5+05:30"),
        *("0001-01-01 00:30+05:00", "9999-12-31 23:30-05:00", "0001-01-01", "9999-12-31 23:59:59.999999"),
        *("1969-12-31", "1969-12-31 23:59:59.999999", "2020-01-31 10:20:30\n", "12020-01-01", "-2020-01-01"),
        "２０２０-01-31",
    ],
    "day": [
        *(None, date(2020, 1, 31), date(1969, 12, 31), date(1, 1, 1), date(9999, 12, 31), date(2020, 2, 29)),
        date(2021, 1, 1),
    ],
    "moment": [
        *(None, datetime(2020, 1, 31), datetime(2020, 1, 31, 10, 20, 30, 500000), datetime(1, 1, 1)),
        *(datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(9999, 12, 31, 23, 59, 59, 999999)),
        *(datetime(2019, 12, 31, 23, 59, 59, 999999), datetime(2020, 1, 1), datetime(2020, 1, 1, 0, 0, 0, 1)),
        *(datetime(2020, 11, 1, 1, 30), datetime(2020, 3, 8, 2, 30)),
    ],
}
RAW["zoned"] = [None if moment is None else moment.replace(tzinfo=UTC) for moment in RAW["moment"]]

WORDS = (
    *("a", "A", "b", "ä", "it's", 'quo"te', "back\\slash", "1", "0.5", "日本", "true", "2020-01-31", "99"),
    *("%s", "1.0", "a\n"),
)
COLUMNS = (
    Categorical("few", WORDS[:3]),
    Categorical("many", WORDS, missing_codes=("99", "A")),
    Categorical("numbers", tuple(str(n) for n in range(-1, 12))),
    Boolean("flag"),
    Boolean("flag_missing", missing_codes=("1", "false")),
    Integer("age", 0, 10),
    Integer(
        "age_missing",
        -3,
        9,
        outside="missing",
        missing_codes=("99", "a", "true", "2020-01-31", "0.5", "1e22"),
    ),
    Integer("wide", -(2**51), 2**51, outside="missing"),
    Real("tenths", 0, 10, "0.1"),
    Real("coarse", "-1e20", "1e20", "1e10", missing_codes=("0",)),
    Real("thirds", 0, 5, "1/3", outside="missing"),
    Real("fine", 0, "1e-20", "1e-25"),
    Moment("days", "2020-01-01", "2020-12-31", "day"),
    Moment("hours", "2020-01-01 00:30:00.5", "2020-12-31", "hour", outside="missing"),
    Moment(
        "seconds", "0001-01-01", "9999-12-31 23:59:59", "second", missing_codes=("2020-01-31", "1969-12-31")
    ),
    Moment("minutes", "1960-01-01", "1980-01-01", "minute"),
    Moment("months", "1960-03-01", "2020-02-29", "month", missing_codes=("1969-12-31",)),
    Moment("quarters", "0001-01-01", "9999-12-31", "quarter", outside="missing"),
    Moment("years", "1900-01-01", "2020-06-30", "year"),
)


def table_of(kinds, most=len(COLUMNS)):
    """A schema and stored columns that hold every raw value of some kinds, each row with its number."""
    rows = max(len(RAW[kind]) for kind in kinds)
    stored = {"row": ("whole", list(range(rows)))}
    declared = [Integer("row", 0, rows - 1)]
    for kind in kinds:
        values = [RAW[kind][at % len(RAW[kind])] for at in range(rows)]
        for column in random.Random(kind).sample(COLUMNS, most):
            name = f"{column.name} of {kind}"
            declared.append(dataclasses.replace(column, name=name))
            stored[name] = (kind, values)
    return Schema(tuple(declared), most_rows=1000), stored


def codes_by_row(schema):
    """Ask for the code of every row, plus 1, or 0 where it is missing."""
    row = Axis("row", schema.coded("row").levels)
    return [
        TotalsOf((row,), Term(column.name, 1, 1, 1), is_missing(column).false)
        for column in schema.columns[1:]
    ]


def differences(seen, asked, found, expected):
    """Name the raw values that an engine read otherwise."""
    return [
        (one.term.column, seen[one.term.column][1][at], number, wanted)
        for one, numbers, rule in zip(asked, found, expected, strict=True)
        for at, (number, wanted) in enumerate(zip(numbers.tolist(), rule, strict=True))
        if number != wanted
    ]
