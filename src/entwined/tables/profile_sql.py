"""The SQL that a column is described with: how its values are read, and what is asked of them in one scan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from entwined.errors import BadTable
from entwined.schema.categories import TRUTHS
from entwined.tables.engine import Dialect, Kind
from entwined.tables.profile import Reading
from entwined.tables.reading import (
    DAY,
    Expression,
    Instant,
    Pieces,
    instant_of_micros,
    instant_of_parts,
    number_of_text,
    number_text,
    parts_of_text,
    time_text,
)
from entwined.tables.steps import Steps, compiled, typed, unbound

MOST_DECIMALS: Final = 4
LARGEST: Final = 1e15  # beyond it a double has no decimals
MOST_WHOLE: Final = 9e18  # what engines round to a whole number of 64 bits
STEPS: Final = {"day": DAY, "hour": 3600, "minute": 60}
COLUMN: Final = "column_of_many"  # stands for the name of every column that reads alike
ORDERED: Final[Mapping[Reading, str]] = {"number": f"{COLUMN}_plain", "time": f"{COLUMN}_seconds"}
READ: Final = ("clean_rows", "read_rows", "timed_rows", "plain_rows")


@dataclass(frozen=True)
class ProfileQuery:
    """How columns that read alike are read, step by step, and what is asked of them, for a column called COLUMN.

    `asked` are the aggregates of the first scan. `ordered` is the number that its values are ordered by, if they are,
    and `finer` says of each row whether its value has more decimals, or parts of a day, than each step allows.
    """

    read: tuple[Mapping[str, str], ...]
    asked: Mapping[str, str]
    ordered: str
    finer: Mapping[str, str]


@cache
def profile_query(reading: Reading, kind: Kind, dialect: Dialect) -> ProfileQuery:
    """Write the SQL of a column once; that of all columns that read alike differs in nothing but the name."""
    table = unbound({COLUMN: typed(kind)}, "rows")
    read = []
    for made_of in (_clean, _parts, _worked_out, _plain):
        made = {f"{COLUMN}_{part}": value for part, value in made_of(reading, kind, table, dialect).items()}
        read.append(
            {name: _expression(table.select(**{name: value}), name, dialect) for name, value in made.items()}
        )
        types = {column: str(type_) for column, type_ in table.schema().items()}
        table = unbound(types | {name: str(value.type()) for name, value in made.items()}, "rows")
    asked = {
        f"{COLUMN}_{what}": _expression(table.aggregate(**{what: value}), what, dialect)
        for what, value in _asked(reading, kind, table).items()
    }
    finer = {
        what: _expression(table.select(**{what: value}), what, dialect)
        for what, value in _finer(reading, table).items()
    }
    return ProfileQuery(tuple(read), asked, ORDERED.get(reading, ""), finer)


def _expression(selected: Expression, name: str, dialect: Dialect) -> str:
    """Take the one expression out of a statement that selects it from `rows AS t0`."""
    quote = "`" if dialect == "pyspark" else '"'
    before, after = "SELECT ", f" AS {quote}{name}{quote} FROM {quote}rows{quote} AS {quote}t0{quote}"
    text = compiled(selected, dialect)
    if not (text.startswith(before) and text.endswith(after)):
        raise BadTable(
            "No column can be described: this version of Ibis writes statements otherwise. Install another."
        )
    return text.removeprefix(before).removesuffix(after)


def own(text: str, at: int) -> str:
    """Put a column's own name in the place of COLUMN."""
    return text.replace(COLUMN, f"r{at}")


def widen(steps: Steps, name: str, made: Sequence[Mapping[str, str]], dialect: Dialect) -> None:
    """Add a step that makes further columns, if there are any."""
    parts = [
        f"{own(sql, at)} AS {own(part, at)}" for at, each in enumerate(made) for part, sql in each.items()
    ]
    if parts:
        fence = (
            " OFFSET 0" if dialect == "postgres" else ""
        )  # else it would write the step into each use of it
        steps.append((name, f"SELECT t0.*, {', '.join(parts)} FROM {steps[-1][0]} AS t0{fence}"))


def _clean(reading: Reading, kind: Kind, table: Expression, dialect: Dialect) -> Mapping[str, Expression]:
    match reading, kind:
        case "number", "text":
            return {"text": number_text(table[COLUMN], dialect)}
        case "time", "text":
            return {"text": time_text(table[COLUMN], dialect)}
    return {}


def _parts(reading: Reading, kind: Kind, table: Expression, dialect: Dialect) -> Mapping[str, Expression]:
    raw = table[COLUMN]
    match reading, kind:
        case "number", "text":
            return {"number": number_of_text(table[f"{COLUMN}_text"], dialect)}
        case "number", _:
            return {"number": raw.cast("float64")}
        case "time", "text":
            parts = parts_of_text(table[f"{COLUMN}_text"])._asdict()
            return {f"text_{part}": value for part, value in parts.items()}
        case "time", "day":
            return Instant(raw * DAY, raw * 0)._asdict()
        case "time", _:
            return instant_of_micros(raw)._asdict()
    return {}


def _worked_out(
    reading: Reading,
    kind: Kind,
    table: Expression,
    dialect: Dialect,  # noqa: ARG001  (every step is made alike)
) -> Mapping[str, Expression]:
    if (reading, kind) != ("time", "text"):
        return {}
    return instant_of_parts(Pieces(*(table[f"{COLUMN}_text_{part}"] for part in Pieces._fields)))._asdict()


def _plain(reading: Reading, kind: Kind, table: Expression, dialect: Dialect) -> Mapping[str, Expression]:  # noqa: ARG001
    """Give numbers that are some, and of those the ones that have decimals."""
    import ibis

    if reading != "number":
        return {}
    number = table[f"{COLUMN}_number"]
    there = ibis.cases((number.isnan(), ibis.null("float64")), else_=number)
    plain = ibis.cases((there.abs() < LARGEST, there), else_=ibis.null("float64"))
    return {"there_number": there, "plain": plain}


def _asked(reading: Reading, kind: Kind, table: Expression) -> Mapping[str, Expression]:
    raw = table[COLUMN]
    asked = {"there": raw.count(), "different": raw.approx_nunique()}
    match reading:
        case "number":
            return asked | _number_asked(table[f"{COLUMN}_there_number"], table[f"{COLUMN}_plain"])
        case "time":
            return asked | {"fitting": table[f"{COLUMN}_seconds"].count()}
        case "truth" if kind == "text":
            return asked | {"fitting": raw.lower().isin(list(TRUTHS)).sum()}
    return asked


def _number_asked(there: Expression, plain: Expression) -> dict[str, Expression]:
    return {
        "fitting": there.count(),
        "others_than_0_and_1": ((plain != 0) & (plain != 1)).sum(),
        "zeros": (plain == 0).sum(),
        "ones": (plain == 1).sum(),
        "infinite": (there.abs() >= LARGEST).sum(),
        "beyond_0": _beyond(plain, 0).sum(),
    }


def _finer(reading: Reading, table: Expression) -> dict[str, Expression]:
    """Say of a row whether its value has more decimals than each number of them, or is no whole day, hour or minute."""
    match reading:
        case "number":
            plain = table[f"{COLUMN}_plain"]
            return {f"beyond_{digits}": _beyond(plain, digits) for digits in range(MOST_DECIMALS + 1)}
        case "time":
            seconds, micros = table[f"{COLUMN}_seconds"], table[f"{COLUMN}_micros"]
            return {f"off_{step}": (seconds % size != 0) | (micros != 0) for step, size in STEPS.items()}
    return {}


def _beyond(plain: Expression, digits: int) -> Expression:
    """Say whether a number has more decimals than this."""
    import ibis

    scaled = plain * 10**digits
    if LARGEST * 10**digits > MOST_WHOLE:  # of a double so large that it is not scaled the decimals are fewer
        scaled = ibis.cases((scaled.abs() < MOST_WHOLE, scaled), else_=ibis.null("float64"))
    return (scaled - scaled.round()).abs() > 1e-6  # noqa: PLR2004  (doubles of decimals)
