"""What the holder's rows look like, column by column: a first look, one scan, and a list of values where there are few.

Only `describe` calls this. What it finds is private.
"""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, TypeAlias

from entwined.errors import BadTable
from entwined.progress import report
from entwined.schema.categories import TRUTHS
from entwined.schema.raw import moment_of, number_of
from entwined.tables.engine import Dialect, Engine, Kind, Reader, Shown
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
from entwined.tables.steps import Steps, compiled, statement, typed, unbound

Reading: TypeAlias = Literal["number", "time", "truth", "text", "nothing"]

LOOKED_AT: Final = 10_000
MOSTLY: Final = 0.95
MOST_LISTED: Final = 1000
MOST_DECIMALS: Final = 4
LARGEST: Final = 1e15  # beyond it a double has no decimals
MOST_WHOLE: Final = 9e18  # what engines round to a whole number of 64 bits
STEPS: Final = {"day": DAY, "hour": 3600, "minute": 60}
BATCH: Final = 50  # columns a statement
COLUMN: Final = "column_of_many"  # stands for the name of every column that reads alike
READ: Final = ("clean_rows", "read_rows", "timed_rows", "plain_rows")


@dataclass(frozen=True)
class Profile:
    """One column: how its values read, how many do, and between which ends."""

    name: str
    reading: Reading
    rows: int
    there: int
    fitting: int
    different: int
    least: Any = None
    most: Any = None
    infinite: int = 0
    decimals: int | None = 0
    step: str = "second"
    values: Mapping[str, int] | None = None

    @property
    def unfit(self) -> int:
        """How many values are there but do not read."""
        return self.there - self.fitting


def profiles(engine: Engine, missing: Sequence[str] = (), *, codes: bool = False) -> list[Profile]:
    """Look at every column of a source, cells that stand for missing as empty; with `codes` list whole numbers too."""
    names = list(engine.columns)
    with engine.reading() as reader:
        found: list[Profile] = []
        for start in range(0, len(names), BATCH):
            report("describing columns", start, len(names))
            batch = _Batch(engine, reader, names[start : start + BATCH], missing)
            found += batch.profiles(codes=codes)
        report("describing columns", len(names), len(names))
    return found


class _Batch:
    """Some columns of a source, read together."""

    def __init__(self, engine: Engine, reader: Reader, names: Sequence[str], missing: Sequence[str]) -> None:
        self._engine = engine
        self._reader = reader
        self._names = names
        shown = [f"{_there(engine.columns[name], missing)} AS r{at}" for at, name in enumerate(names)]
        self._source = ("rows", f"SELECT {', '.join(shown)} FROM {engine.relation}")
        self._readings = self._first_look()

    def profiles(self, *, codes: bool) -> list[Profile]:
        found = self._scan()
        listed = self._values([at for at, one in enumerate(found) if _has_few(one, codes=codes)])
        return [one if at not in listed else _with_values(one, listed[at]) for at, one in enumerate(found)]

    def _first_look(self) -> list[Reading]:
        rows = self._reader.rows(statement([self._source], f"SELECT * FROM rows LIMIT {LOOKED_AT}"))
        return [
            _reading(self._engine.columns[name].kind, [row[at] for row in rows if row[at] is not None])
            for at, name in enumerate(self._names)
        ]

    def _scan(self) -> list[Profile]:
        ways = [_way_of(*one, self._engine.dialect) for one in self._seen]
        answers = self._answers(ways, {at: way.asked for at, way in enumerate(ways)})
        parted = {at: way.decimals for at, way in enumerate(ways) if answers.get(f"r{at}_beyond_0")}
        if parted:  # whole numbers are not asked how many decimals they have
            answers |= self._answers(ways, parted)
        return [self._profile(at, answers) for at in range(len(self._names))]

    def _answers(self, ways: Sequence["_Way"], asked: Mapping[int, Mapping[str, str]]) -> dict[str, Any]:
        """Ask something of some columns, all in one scan."""
        steps: Steps = [self._source]
        read = [way.read if at in asked else ({},) * len(READ) for at, way in enumerate(ways)]
        for name, made_of in zip(READ, zip(*read, strict=True), strict=True):
            _widen(steps, name, made_of, self._engine.dialect)
        wanted: dict[str, str] = {"rows": "COUNT(*)"}
        for at, each in asked.items():
            wanted |= {_own(what, at): _own(sql, at) for what, sql in each.items()}
        (row,) = self._reader.rows(
            statement(steps, f"SELECT {', '.join(wanted.values())} FROM {steps[-1][0]} AS t0")
        )
        return dict(zip(wanted, row, strict=True))

    @property
    def _seen(self) -> list[tuple[Reading, Kind]]:
        """How each column seems to read, and how it is stored."""
        return [
            (reading, self._engine.columns[name].kind)
            for reading, name in zip(self._readings, self._names, strict=True)
        ]

    def _profile(self, at: int, answers: Mapping[str, Any]) -> Profile:
        found = {
            what: answers.get(f"r{at}_{what}") for what in ("there", "different", "fitting", "least", "most")
        }
        there = int(found["there"] or 0)
        inexact = [int(answers.get(f"r{at}_beyond_{digits}") or 0) for digits in range(MOST_DECIMALS + 1)]
        off = {step: int(answers.get(f"r{at}_off_{step}") or 0) for step in STEPS}
        return Profile(
            self._names[at],
            self._readings[at],
            int(answers["rows"]),
            there,
            there
            if found["fitting"] is None and f"r{at}_fitting" not in answers
            else int(found["fitting"] or 0),
            int(found["different"] or 0),
            found["least"],
            found["most"],
            int(answers.get(f"r{at}_infinite") or 0),
            next((digits for digits, rows in enumerate(inexact) if rows == 0), None),
            next((step for step, rows in off.items() if rows == 0), "second"),
        )

    def _values(self, places: Sequence[int]) -> dict[int, dict[str, int]]:
        """List the values of some columns, all in one scan."""
        if not places:
            return {}
        keys = ", ".join(f"r{at}" for at in places)
        sets = ", ".join(f"(r{at})" for at in places)
        which = " ".join(f"WHEN GROUPING(r{at}) = 0 THEN {at}" for at in places)
        ask = f"SELECT CASE {which} END, COUNT(*), {keys} FROM rows GROUP BY GROUPING SETS ({sets})"
        listed: dict[int, dict[str, int]] = {at: {} for at in places}
        for at, rows, *values in self._reader.rows(statement([self._source], ask)):
            value = values[places.index(at)]
            if value is not None:
                listed[at][value] = int(rows)
        return listed


@dataclass(frozen=True)
class _Way:
    """How columns that read alike are read, step by step, and what is asked of them, for a column called COLUMN.

    `decimals` is asked further where numbers are not whole.
    """

    read: tuple[Mapping[str, str], ...]
    asked: Mapping[str, str]
    decimals: Mapping[str, str]


@cache
def _way_of(reading: Reading, kind: Kind, dialect: Dialect) -> _Way:
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
    asked, decimals = (
        {
            f"{COLUMN}_{what}": _expression(table.aggregate(**{what: value}), what, dialect)
            for what, value in some.items()
        }
        for some in (_asked(reading, kind, table), _decimals(reading, table))
    )
    return _Way(tuple(read), asked, decimals)


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


def _own(text: str, at: int) -> str:
    """Put a column's own name in the place of COLUMN."""
    return text.replace(COLUMN, f"r{at}")


def _widen(steps: Steps, name: str, made: Sequence[Mapping[str, str]], dialect: Dialect) -> None:
    """Add a step that makes further columns, if there are any."""
    parts = [
        f"{_own(sql, at)} AS {_own(part, at)}" for at, each in enumerate(made) for part, sql in each.items()
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
            return asked | _time_asked(table[f"{COLUMN}_seconds"], table[f"{COLUMN}_micros"])
        case "truth" if kind == "text":
            return asked | {"fitting": raw.lower().isin(list(TRUTHS)).sum()}
    return asked


def _reading(kind: str, values: Sequence[Any]) -> Reading:
    """Say how a column seems to read, by its first values."""
    if kind != "text":
        plain: dict[str, Reading] = {"truth": "truth", "whole": "number", "number": "number", "day": "time"}
        return plain.get(kind, "time" if kind == "moment" else "nothing" if kind == "nothing" else "text")
    there = Counter(value for value in values if value != "")
    if not there:
        return "text" if values else "nothing"
    enough = MOSTLY * there.total()
    if sum(rows for value, rows in there.items() if number_of(value) is not None) >= enough:
        return "number"
    if sum(rows for value, rows in there.items() if moment_of(value) is not None) >= enough:
        return "time"
    return (
        "truth" if sum(rows for value, rows in there.items() if value.lower() in TRUTHS) >= enough else "text"
    )


def _number_asked(there: Expression, plain: Expression) -> dict[str, Expression]:
    return {
        "fitting": there.count(),
        "least": plain.min(),
        "most": plain.max(),
        "infinite": (there.abs() >= LARGEST).sum(),
        "beyond_0": _beyond(plain, 0),
    }


def _decimals(reading: Reading, table: Expression) -> dict[str, Expression]:
    """Ask how many decimals numbers have that are not whole."""
    if reading != "number":
        return {}
    plain = table[f"{COLUMN}_plain"]
    return {f"beyond_{digits}": _beyond(plain, digits) for digits in range(1, MOST_DECIMALS + 1)}


def _beyond(plain: Expression, digits: int) -> Expression:
    """Count the numbers that have more decimals than this."""
    import ibis

    scaled = plain * 10**digits
    if LARGEST * 10**digits > MOST_WHOLE:  # of a double so large that it is not scaled the decimals are fewer
        scaled = ibis.cases((scaled.abs() < MOST_WHOLE, scaled), else_=ibis.null("float64"))
    return ((scaled - scaled.round()).abs() > 1e-6).sum()  # noqa: PLR2004  (doubles of decimals)


def _time_asked(seconds: Expression, micros: Expression) -> dict[str, Expression]:
    asked = {"fitting": seconds.count(), "least": seconds.min(), "most": seconds.max()}
    for step, size in STEPS.items():
        asked[f"off_{step}"] = ((seconds % size != 0) | (micros != 0)).sum()
    return asked


def _has_few(one: Profile, *, codes: bool) -> bool:
    counted = one.reading == "text" or (codes and one.reading == "number" and one.decimals == 0)
    return counted and 0 < one.different <= MOST_LISTED


def _there(column: Shown, missing: Sequence[str]) -> str:
    """Write a column without the cells that stand for missing."""
    match column.kind:
        case "text":
            codes = ["'" + text.replace("'", "''") + "'" for text in missing]
        case "whole" | "number":
            codes = [repr(number) for text in missing if (number := number_of(text)) is not None]
        case _:
            codes = []
    return (
        f"CASE WHEN {column.sql} IN ({', '.join(codes)}) THEN NULL ELSE {column.sql} END"
        if codes
        else column.sql
    )


def _with_values(one: Profile, values: Mapping[str, int]) -> Profile:
    return dataclasses.replace(one, values=values if len(values) <= MOST_LISTED else None)
