"""How text is read as a number or a time inside an engine, by the rules of `schema.raw`, as Ibis expressions.

Times are worked out in integers, so that no engine's calendar is asked.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from entwined.schema.raw import LONGEST_NUMBER, NUMBER, TIME
from entwined.tables.engine import Dialect

Expression: TypeAlias = Any  # an Ibis value; its classes are made at run time

END: Final[Mapping[Dialect, str]] = {
    "duckdb": "$",
    "postgres": "$",
    "pyspark": "(?![^a]|a)",  # Java's $ also stands before a last line break
}
LARGEST: Final = "1.7976931348623158079e308"  # beyond it the nearest double is infinite
TINY: Final = "2.4703282292062328e-324"  # below it the nearest double is 0
LONGEST_EXPONENT: Final = 4
DAY: Final = 86_400
FIRST_SECOND: Final = -62_135_596_800  # of the year 1
LAST_SECOND: Final = 253_402_300_799  # of the year 9999


class Instant(NamedTuple):
    """A time as whole seconds since 1970 and microseconds after them; empty where there is none."""

    seconds: Expression
    micros: Expression


class Pieces(NamedTuple):
    """What ISO text says: a date, seconds and microseconds of the day, minutes east; empty where it is no time."""

    year: Expression
    month: Expression
    day: Expression
    clock: Expression
    micros: Expression
    east: Expression


def number_text(text: Expression, dialect: Dialect) -> Expression:
    """Give text that is a number, without spaces at its ends; empty where it is none."""
    fits = _is_all(text, NUMBER.pattern, dialect)
    short = (text.length() <= LONGEST_NUMBER) | (text.strip().length() <= LONGEST_NUMBER)
    return _stripped(text, fits & short)


def time_text(text: Expression, dialect: Dialect) -> Expression:
    """Give text that may be a time, without spaces at its ends; empty where it is none."""
    return _stripped(text, _is_all(text, TIME.pattern, dialect))


def _is_all(text: Expression, pattern: str, dialect: Dialect) -> Expression:
    """Match the whole text but for spaces at its ends, without a backslash, which engines quote differently."""
    return text.re_search(f"^ *({pattern}) *{END[dialect]}".replace("\\.", "[.]"))


def _stripped(text: Expression, fits: Expression) -> Expression:
    """Strip what has spaces; for most texts it is dearer than to look."""
    import ibis

    spaced = (text.left(1) == " ") | (text.right(1) == " ")
    return ibis.cases((fits & spaced, text.strip()), (fits, text), else_=ibis.null("string"))


def number_of_text(body: Expression, dialect: Dialect) -> Expression:
    """Read the text of a number as a double."""
    return _double_of_decimal(body) if dialect == "postgres" else body.cast("float64")


def _double_of_decimal(body: Expression) -> Expression:
    """Go by exact decimals where a double too large or too small would be an error."""
    import ibis

    exponent = body.re_extract("[eE][+-]?0*([0-9]*)", 1)
    cut = body.re_extract("^[^eE]*[eE][+-]?", 0) + "9999"
    exact = ibis.cases((exponent.length() > LONGEST_EXPONENT, cut), else_=body).cast("decimal")
    largest, tiny = (ibis.literal(text).cast("decimal") for text in (LARGEST, TINY))
    return ibis.cases(
        (exact > largest, double_literal("Infinity")),
        (exact < -largest, double_literal("-Infinity")),
        (exact.abs() < tiny, double_literal("0")),
        else_=exact.cast("float64"),
    )


@lru_cache(maxsize=1024)
def double_literal(text: str) -> Expression:
    """Write a double so that every engine reads the very same one."""
    import ibis

    return ibis.literal(text).cast("float64")


def parts_of_text(body: Expression) -> Pieces:
    """Cut the text of a time into integers."""
    import ibis

    timed = body.length() > len("2020-01-31")
    clock = ibis.cases((timed, _digits(body, 11, 2) * 3600 + _digits(body, 14, 2) * 60), else_=0)
    second = ibis.cases((body.substr(16, 1) == ":", _digits(body, 17, 2)), else_=0)
    after = (body.re_extract("[.]([0-9]+)", 1) + "000000").substr(0, 6).cast("int64")
    return Pieces(
        _digits(body, 0, 4),
        _digits(body, 5, 2),
        _digits(body, 8, 2),
        clock + second,
        ibis.cases((body.substr(19, 1) == ".", after), else_=0),
        _minutes_east(body, timed),
    )


def instant_of_parts(parts: Pieces) -> Instant:
    """Work a time out in UTC, empty where there is no such day; at the ends of the calendar the zone is left out."""
    import ibis

    here = _days(parts.year, parts.month, parts.day) * DAY + parts.clock
    moved = here - parts.east * 60
    seconds = ibis.cases((moved.between(FIRST_SECOND, LAST_SECOND), moved), else_=here)
    valid = _is_date(parts.year, parts.month, parts.day) & parts.east.between(-1439, 1439)
    return Instant(*(ibis.cases((valid, part), else_=ibis.null("int64")) for part in (seconds, parts.micros)))


def instant_of_micros(micros: Expression) -> Instant:
    """Split microseconds since 1970, also before it; doubles are exact enough for a quotient that is whole."""
    after = ((micros % 1_000_000) + 1_000_000) % 1_000_000
    return Instant(((micros - after) / 1_000_000).round().cast("int64"), after)


def _digits(body: Expression, start: int, size: int) -> Expression:
    return body.substr(start, size).cast("int64")


def _minutes_east(body: Expression, timed: Expression) -> Expression:
    import ibis

    zone = body.right(6)
    sign = ibis.cases((zone.substr(0, 1) == "-", -1), else_=1)
    zoned = timed & zone.substr(0, 1).isin(["+", "-"])
    minutes = _digits(zone, 1, 2) * 60 + _digits(zone, 4, 2)
    return ibis.cases((zoned, sign * minutes), else_=0)


def _is_date(year: Expression, month: Expression, day: Expression) -> Expression:
    import ibis

    leap = ((year % 4 == 0) & (year % 100 != 0)) | (year % 400 == 0)
    february = ibis.cases((leap, 29), else_=28)
    longest = ibis.cases((month == 2, february), (month.isin([4, 6, 9, 11]), 30), else_=31)  # noqa: PLR2004  (February)
    return (year >= 1) & month.between(1, 12) & day.between(1, longest)


def _days(year: Expression, month: Expression, day: Expression) -> Expression:
    """Count the days since 1970, with years that begin in March so that a leap day comes last."""
    import ibis

    years = ibis.cases((month <= 2, year - 1), else_=year)  # noqa: PLR2004  (February)
    months = ibis.cases((month <= 2, month + 9), else_=month - 3)  # noqa: PLR2004
    leaps = years // 4 - years // 100 + years // 400
    return years * 365 + leaps + (months * 153 + 2) // 5 + day - 1 - 719_468
