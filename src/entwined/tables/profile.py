"""What the holder's rows look like, column by column: a first look, one scan, and a list of values where there are few.

Only `describe` calls this. What it finds is private.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from entwined.progress import report
from entwined.schema.categories import TRUTHS
from entwined.schema.raw import moment_of, number_of
from entwined.tables.engine import Engine, Reader
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
from entwined.tables.steps import Steps, added, compiled, statement, typed, unbound

Reading: TypeAlias = Literal["number", "time", "truth", "text", "nothing"]

LOOKED_AT: Final = 10_000
MOSTLY: Final = 0.95
MOST_LISTED: Final = 1000
MOST_DECIMALS: Final = 4
LARGEST: Final = 1e15  # beyond it a double has no decimals
STEPS: Final = {"day": DAY, "hour": 3600, "minute": 60}
BATCH: Final = 50  # columns a statement


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


def profiles(engine: Engine) -> list[Profile]:
    """Look at every column of a source."""
    names = list(engine.columns)
    with engine.reading() as reader:
        found: list[Profile] = []
        for start in range(0, len(names), BATCH):
            report("describing columns", start, len(names))
            batch = _Batch(engine, reader, names[start : start + BATCH])
            found += batch.profiles()
        report("describing columns", len(names), len(names))
    return found


class _Batch:
    """Some columns of a source, read together."""

    def __init__(self, engine: Engine, reader: Reader, names: Sequence[str]) -> None:
        self._engine = engine
        self._reader = reader
        self._names = names
        shown = [f"{engine.columns[name].sql} AS r{at}" for at, name in enumerate(names)]
        self._source = ("rows", f"SELECT {', '.join(shown)} FROM {engine.relation}")
        self._readings = self._first_look()

    def profiles(self) -> list[Profile]:
        found = self._scan()
        listed = self._values([at for at, one in enumerate(found) if _has_few(one)])
        return [one if at not in listed else _with_values(one, listed[at]) for at, one in enumerate(found)]

    def _first_look(self) -> list[Reading]:
        rows = self._reader.rows(statement([self._source], f"SELECT * FROM rows LIMIT {LOOKED_AT}"))
        return [
            _reading(self._engine.columns[name].kind, [row[at] for row in rows if row[at] is not None])
            for at, name in enumerate(self._names)
        ]

    def _scan(self) -> list[Profile]:
        steps: Steps = [self._source]
        types = {f"r{at}": typed(self._engine.columns[name].kind) for at, name in enumerate(self._names)}
        table = self._read(steps, unbound(types, "rows"))
        asked: dict[str, Expression] = {"rows": table.count()}
        for at in range(len(self._names)):
            asked |= {f"r{at}_{what}": value for what, value in self._asked(table, at).items()}
        ask = compiled(table.aggregate(**asked), self._engine.dialect)
        (row,) = self._reader.rows(statement(steps, ask))
        answers = dict(zip(asked, row, strict=True))
        return [self._profile(at, answers) for at in range(len(self._names))]

    def _read(self, steps: Steps, table: Expression) -> Expression:
        """Add steps that read texts as what they seem to be."""
        for name, made_of in (("clean", self._clean), ("read", self._parts), ("timed", _worked_out)):
            found = [made_of(at, table) for at in range(len(self._names))]
            made = {f"r{at}_{part}": value for at, parts in enumerate(found) for part, value in parts.items()}
            table = added(steps, f"{name}_rows", table, made, self._engine.dialect)
        return table

    def _clean(self, at: int, table: Expression) -> Mapping[str, Expression]:
        match self._readings[at], self._engine.columns[self._names[at]].kind:
            case "number", "text":
                return {"text": number_text(table[f"r{at}"], self._engine.dialect)}
            case "time", "text":
                return {"text": time_text(table[f"r{at}"], self._engine.dialect)}
        return {}

    def _parts(self, at: int, table: Expression) -> Mapping[str, Expression]:
        raw = table[f"r{at}"]
        match self._readings[at], self._engine.columns[self._names[at]].kind:
            case "number", "text":
                return {"number": number_of_text(table[f"r{at}_text"], self._engine.dialect)}
            case "number", _:
                return {"number": raw.cast("float64")}
            case "time", "text":
                return {
                    f"text_{part}": value
                    for part, value in parts_of_text(table[f"r{at}_text"])._asdict().items()
                }
            case "time", "day":
                return Instant(raw * DAY, raw * 0)._asdict()
            case "time", _:
                return instant_of_micros(raw)._asdict()
        return {}

    def _asked(self, table: Expression, at: int) -> dict[str, Expression]:
        raw = table[f"r{at}"]
        asked = {"there": raw.count(), "different": raw.approx_nunique()}
        match self._readings[at]:
            case "number":
                return asked | _number_asked(table[f"r{at}_number"])
            case "time":
                return asked | _time_asked(table[f"r{at}_seconds"], table[f"r{at}_micros"])
            case "truth" if self._engine.columns[self._names[at]].kind == "text":
                return asked | {"fitting": raw.lower().isin(list(TRUTHS)).sum()}
        return asked

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


def _worked_out(at: int, table: Expression) -> Mapping[str, Expression]:
    if f"r{at}_text_year" not in table.columns:
        return {}
    parts = Pieces(*(table[f"r{at}_text_{part}"] for part in Pieces._fields))
    return instant_of_parts(parts)._asdict()


def _reading(kind: str, values: Sequence[Any]) -> Reading:
    """Say how a column seems to read, by its first values."""
    if kind != "text":
        plain: dict[str, Reading] = {"truth": "truth", "whole": "number", "number": "number", "day": "time"}
        return plain.get(kind, "time" if kind == "moment" else "nothing" if kind == "nothing" else "text")
    there = [value for value in values if value != ""]
    if not there:
        return "text" if values else "nothing"
    enough = MOSTLY * len(there)
    if sum(number_of(value) is not None for value in there) >= enough:
        return "number"
    if sum(moment_of(value) is not None for value in there) >= enough:
        return "time"
    return "truth" if sum(value.lower() in TRUTHS for value in there) >= enough else "text"


def _number_asked(number: Expression) -> dict[str, Expression]:
    import ibis

    there = ibis.cases((number.isnan(), ibis.null("float64")), else_=number)
    plain = ibis.cases((there.abs() < LARGEST, there), else_=ibis.null("float64"))
    asked = {
        "fitting": there.count(),
        "least": plain.min(),
        "most": plain.max(),
        "infinite": (there.abs() >= LARGEST).sum(),
    }
    for digits in range(MOST_DECIMALS + 1):
        scaled = plain * 10**digits
        asked[f"beyond_{digits}"] = ((scaled - scaled.round()).abs() > 1e-6).sum()  # noqa: PLR2004  (doubles of decimals)
    return asked


def _time_asked(seconds: Expression, micros: Expression) -> dict[str, Expression]:
    asked = {"fitting": seconds.count(), "least": seconds.min(), "most": seconds.max()}
    for step, size in STEPS.items():
        asked[f"off_{step}"] = ((seconds % size != 0) | (micros != 0)).sum()
    return asked


def _has_few(one: Profile) -> bool:
    return one.reading == "text" and 0 < one.different <= MOST_LISTED


def _with_values(one: Profile, values: Mapping[str, int]) -> Profile:
    return dataclasses.replace(one, values=values if len(values) <= MOST_LISTED else None)
