"""From a raw column to the codes of the schema, as one Ibis expression for every engine.

`Coded.encode` is the rule; the suite over all engines holds these expressions against it.
"""

import math
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Final

from entwined.schema import Boolean, Categorical, Coded, Integer, Moment, Numeric, Ordered
from entwined.schema.calendar import month_number
from entwined.schema.raw import moment_of, number_of
from entwined.tables.engine import Dialect, Key, Kind
from entwined.tables.reading import (
    DAY,
    Expression,
    Instant,
    Pieces,
    double_literal,
    instant_of_micros,
    instant_of_parts,
    number_of_text,
    number_text,
    parts_of_text,
    time_text,
)

NARROW: Final = 2**31
FEW: Final = 8  # so many comparisons cost no more than a look-up
SOME: Final = 64  # and so many can be written into a statement
MARCH: Final = 719_468  # days from the first of March of the year 0 to 1970
EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  (schema times have no zone)


def clean_of(column: Coded, raw: Expression, kind: Kind, dialect: Dialect) -> Mapping[str, Expression]:
    """Give the text of a number or a time, where text is to be read as one."""
    match column:
        case Numeric() if kind == "text":
            return {"number_text": number_text(raw, dialect)}
        case Moment() if kind == "text":
            return {"time_text": time_text(raw, dialect)}
    return {}


def read_of(
    column: Coded, raw: Expression, kind: Kind, clean: Mapping[str, Expression], dialect: Dialect
) -> Mapping[str, Expression]:
    """Give what must be known of a raw value before it is coded: a number, a time, or the parts of one."""
    match column:
        case Numeric() if "number_text" in clean:
            return {"number": number_of_text(clean["number_text"], dialect)}
        case Integer() if kind == "whole":
            return {}
        case Numeric():
            number = _double(raw, kind)
            return {} if number is None else {"number": number}
        case Moment() if "time_text" in clean:
            return parts_of_text(clean["time_text"])._asdict()
        case Moment() if kind == "day":
            return Instant(raw * DAY, ibis_literal(0))._asdict()
        case Moment() if kind == "moment":
            return instant_of_micros(raw)._asdict()
    return {}


def worked_out(parts: Mapping[str, Expression]) -> Mapping[str, Expression]:
    """Give the time that parts make."""
    return instant_of_parts(Pieces(**parts))._asdict()


def code_of(column: Coded, raw: Expression, kind: Kind, read: Mapping[str, Expression]) -> Expression:
    """Give the code of every raw value; it is never empty."""
    match column:
        case _ if kind == "nothing":
            code = ibis_literal(column.missing_code)
        case _ if kind == "code":
            code = raw
        case Categorical():
            code = _among(raw, keys_of(column, kind), column)
        case Boolean():
            code = _truth(column, raw, kind)
        case Integer() if kind == "whole":
            code = _integer(column, raw)
        case Numeric() if "number" in read:
            code = _number(column, read["number"])
        case Moment() if "seconds" in read:
            code = _moment(column, Instant(**read))
        case _:  # no value of this kind is a value of the column
            code = ibis_literal(column.missing_code)
    return code.cast("int32" if column.size < NARROW else "int64")


def long_list(column: Coded, kind: Kind) -> Mapping[Key, int]:
    """Give the raw values that have a code, if the engine should keep them as a table.

    That is where there are many, and where a text has a sign that engines quote each in its own way.
    """
    listed = keys_of(column, kind) if isinstance(column, Categorical) else {}
    return {} if fits_a_case(listed, FEW) else listed


def fits_a_case(listed: Mapping[Key, int], most: int = SOME) -> bool:
    """Say whether values may be compared one after the other instead."""
    odd = any(isinstance(key, str) and "\\" in key for key in listed)
    return not odd and len(listed) <= most


def found_code(column: Coded, found: Expression) -> Expression:
    """Give the code of a value that was looked up."""
    return found.fill_null(column.missing_code).cast("int32" if column.size < NARROW else "int64")


def is_dear(column: Coded, kind: Kind) -> bool:
    """Say whether coding a value costs more than counting it."""
    return kind == "text" or (isinstance(column, Categorical) and kind in ("number", "whole"))


def keys_of(column: Categorical, kind: Kind) -> Mapping[Key, int]:
    """List the raw values of a kind that have a code, by asking the column itself."""
    raws: dict[Key, object]
    match kind:
        case "text":
            raws = {text: text for text in column.values}
        case "truth":
            raws = {False: False, True: True}
        case "number" | "whole":
            numbers = (number_of(text) for text in column.values)
            raws = {number: number for number in numbers if number is not None}
        case "day":
            raws = {(day - EPOCH.date()).days: day for day in map(_date, column.values) if day is not None}
        case _:
            raws = {}
    codes = {key: column.encode(raw) for key, raw in raws.items()}
    return {key: code for key, code in codes.items() if code != column.missing_code}


def _date(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if day.isoformat() == text else None


def _among(raw: Expression, codes: Mapping[Key, int], column: Coded) -> Expression:
    if not codes:
        return ibis_literal(column.missing_code)
    pairs = [(_literal(key), ibis_literal(code)) for key, code in codes.items()]
    return raw.cases(*pairs, else_=ibis_literal(column.missing_code))


def _literal(key: Key) -> Expression:
    return double_literal(repr(key)) if isinstance(key, float) else ibis_literal(key)


@lru_cache(maxsize=1024, typed=True)
def ibis_literal(value: Key) -> Expression:
    """Write a constant."""
    import ibis

    return ibis.literal(value)


def _truth(column: Boolean, raw: Expression, kind: Kind) -> Expression:
    import ibis

    if kind not in ("truth", "text", "number", "whole"):
        return ibis_literal(column.missing_code)
    if kind == "text":
        low = raw.lower()
        return ibis.cases(
            (raw.isin(column.missing_codes or ("",)), column.missing_code),
            (low.isin(["true", "1"]), 1),
            (low.isin(["false", "0"]), 0),
            else_=column.missing_code,
        )
    keys: tuple[Key, ...] = (False, True) if kind == "truth" else (0.0, 1.0)
    return _among(raw, {key: column.encode(key) for key in keys}, column)


def _integer(column: Integer, raw: Expression) -> Expression:
    """Stay in integers: a double holds every integer that is not far outside."""
    import ibis

    below, above = _ends(column)
    code = ibis.cases(
        (raw.between(column.low, column.high), raw - column.low),
        (raw < column.low, below),
        (raw > column.high, above),
        else_=column.missing_code,
    )
    return _unless_missing(column, raw.cast("float64"), code)


def _number(column: Numeric, number: Expression) -> Expression:
    import ibis

    low, step = float(column.origin), float(column.spacing)
    least, most = _reach(column, low, step)
    near = ibis.least(ibis.greatest(number, double_literal(repr(least))), double_literal(repr(most)))
    above_low = near - double_literal(repr(low))
    steps = (above_low / double_literal(repr(step)) + double_literal("0.5")).floor().cast("int64")
    if step > 1:  # a quotient too small for a double is an error in some engines
        steps = ibis.cases((above_low.abs() < double_literal(repr(step / 4)), 0), else_=steps)
    code = ibis.cases((number.isnull(), column.missing_code), else_=_fate(column, steps))
    return _unless_missing(column, number, code)


def _double(raw: Expression, kind: Kind) -> Expression | None:
    import ibis

    match kind:
        case "truth":
            return ibis.cases(
                (raw, double_literal("1")), (~raw, double_literal("0")), else_=ibis.null("float64")
            )
        case "whole":
            return raw.cast("float64")
        case "number":
            return ibis.cases((raw.isnan(), ibis.null("float64")), else_=raw)
    return None


def _reach(column: Numeric, low: float, step: float) -> tuple[float, float]:
    """Give two numbers that are surely outside: what lies beyond them has their fate, and nothing overflows."""

    def steps(number: float) -> int:
        return math.floor((number - low) / step + 0.5)

    far = step
    while steps(low - far) >= 0 or steps(low + (column.levels - 1) * step + far) < column.levels:
        far *= 2
    return low - far, low + (column.levels - 1) * step + far


def _fate(column: Ordered, steps: Expression) -> Expression:
    import ibis

    below, above = _ends(column)
    return ibis.cases(
        (steps.between(0, column.levels - 1), steps),
        (steps < 0, below),
        (steps >= column.levels, above),
        else_=column.missing_code,
    )


def _ends(column: Ordered) -> tuple[int, int]:
    """Give the codes of what lies below and above the grid."""
    if column.outside == "missing":
        return column.missing_code, column.missing_code
    return 0, column.levels - 1


def _unless_missing(column: Coded, number: Expression, code: Expression) -> Expression:
    import ibis

    stand_ins = sorted({found for text in column.missing_codes if (found := number_of(text)) is not None})
    if not stand_ins:
        return code
    return ibis.cases(
        *((number == double_literal(repr(stand_in)), column.missing_code) for stand_in in stand_ins),
        else_=code,
    )


def _moment(column: Moment, instant: Instant) -> Expression:
    import ibis

    if column.months:
        steps = _month_number(instant) // column.months - month_number(column.low) // column.months
    else:
        low = _since_epoch(column.low)
        seconds = instant.seconds - low.seconds
        if low.micros:
            seconds = seconds - ibis.cases((instant.micros < low.micros, 1), else_=0)
        steps = seconds // column.seconds
    stand_ins = {moment for text in column.missing_codes if (moment := moment_of(text)) is not None}
    missing = [
        ((instant.seconds == at.seconds) & (instant.micros == at.micros), column.missing_code)
        for at in map(_since_epoch, sorted(stand_ins))
    ]
    code = _fate(column, steps)
    return ibis.cases(*missing, else_=code) if missing else code


def _month_number(instant: Instant) -> Expression:
    """Count the months since the year 0: whole centuries, years and months from the first of March, as leap days end.

    Four centuries have 146,097 days, four years 1,461, and five months from March on 153.
    """
    days = instant.seconds // DAY + MARCH
    century = (4 * days + 3) // 146_097
    rest = days - 146_097 * century // 4
    year = (4 * rest + 3) // 1_461
    month = (5 * (rest - 1_461 * year // 4) + 2) // 153
    return 12 * (100 * century + year) + month + 2


def _since_epoch(moment: datetime) -> Instant:
    seconds = int(moment.replace(microsecond=0, tzinfo=UTC).timestamp())
    return Instant(seconds, moment.microsecond)
