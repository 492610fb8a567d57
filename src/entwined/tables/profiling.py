"""What the holder's rows look like, column by column: a first look, a few scans, and a list of values where few differ.

Only `describe` calls this. What it finds is private.
"""

import dataclasses
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from entwined.progress import report
from entwined.schema.categories import TRUTHS
from entwined.schema.raw import moment_of, number_of
from entwined.tables.engine import Dialect, Engine, Kind, Reader, Shown
from entwined.tables.order_statistics import Bulk, TailQuery, bulk_of
from entwined.tables.profile import Frequency, Profile, Reading
from entwined.tables.profile_sql import MOST_DECIMALS, READ, STEPS, ProfileQuery, own, profile_query, widen
from entwined.tables.steps import Steps, statement
from entwined.tables.units import MinimumUnits

LOOKED_AT: Final = 10_000
MOSTLY: Final = 0.95
MOST_LISTED: Final = 1000
BATCH: Final = 50  # columns a statement
TEXT: Final[Mapping[Dialect, str]] = {"duckdb": "VARCHAR", "postgres": "text", "pyspark": "STRING"}


def profiles(
    engine: Engine,
    missing: Sequence[str] = (),
    *,
    minimum: MinimumUnits | None = None,
    labelled: Collection[str] = (),
    codes: bool = False,
) -> list[Profile]:
    """Look at every column of a source, cells that stand for missing as empty.

    The values of texts and of `labelled` columns are listed where few differ; with `codes` those of all whole numbers.
    """
    least = minimum or MinimumUnits()
    names = list(engine.columns)
    least.require_columns(names)
    with engine.reading() as reader:
        batches = [
            _Batch(engine, reader, names[start : start + BATCH], missing)
            for start in range(0, len(names), BATCH)
        ]
        plain: list[list[Profile]] = []
        for at, batch in enumerate(batches):
            report("describing columns", at, 2 * len(batches))
            plain.append(batch.profiles(least))
        units = least.columns([profile for batch in plain for profile in batch])
        found: list[Profile] = []
        for at, (batch, seen) in enumerate(zip(batches, plain, strict=True)):
            report("describing columns", len(batches) + at, 2 * len(batches))
            found += batch.with_values(batch.with_bulk(seen, units), units, labelled, codes=codes)
        report("describing columns", 2 * len(batches), 2 * len(batches))
    return found


class _Batch:
    """Some columns of a source, read together."""

    def __init__(self, engine: Engine, reader: Reader, names: Sequence[str], missing: Sequence[str]) -> None:
        self._engine = engine
        self._reader = reader
        self._names = names
        self._missing = missing
        self._readings = self._first_look()
        self._ways = [profile_query(*kinds, self._engine.dialect) for kinds in self._kinds]

    def _source(self, units: Sequence[str] = ()) -> tuple[str, str]:
        """Show the columns, and beside them those that name units, as texts that are compared without their case."""
        columns, text = self._engine.columns, TEXT[self._engine.dialect]
        parts = [f"{_there(columns[name], self._missing)} AS r{at}" for at, name in enumerate(self._names)]
        parts += [
            f"LOWER(TRIM(CAST({_there(columns[name], self._missing)} AS {text}))) AS u{at}"
            for at, name in enumerate(units)
        ]
        return "rows", f"SELECT {', '.join(parts)} FROM {self._engine.relation}"

    def _first_look(self) -> list[Reading]:
        rows = self._reader.rows(statement([self._source()], f"SELECT * FROM rows LIMIT {LOOKED_AT}"))
        return [
            _reading(self._engine.columns[name].kind, [row[at] for row in rows if row[at] is not None])
            for at, name in enumerate(self._names)
        ]

    @property
    def _kinds(self) -> list[tuple[Reading, Kind]]:
        """How each column seems to read, and how it is stored."""
        return [
            (reading, self._engine.columns[name].kind)
            for reading, name in zip(self._readings, self._names, strict=True)
        ]

    def _steps(self, places: Collection[int], units: Sequence[str] = ()) -> Steps:
        """Read the values of some columns, step by step."""
        steps: Steps = [self._source(units)]
        nothing: tuple[Mapping[str, str], ...] = ({},) * len(READ)
        read = [way.read if at in places else nothing for at, way in enumerate(self._ways)]
        for name, made_of in zip(READ, zip(*read, strict=True), strict=True):
            widen(steps, name, made_of, self._engine.dialect)
        return steps

    def profiles(self, minimum: MinimumUnits) -> list[Profile]:
        """Count what is there in one scan."""
        places = range(len(self._names))
        steps = self._steps(places)
        wanted: dict[str, str] = {"rows": "COUNT(*)"}
        for at, way in enumerate(self._ways):
            wanted |= {own(what, at): own(sql, at) for what, sql in way.asked.items()}
        (row,) = self._reader.rows(
            statement(steps, f"SELECT {', '.join(wanted.values())} FROM {steps[-1][0]} AS t0")
        )
        answers = dict(zip(wanted, row, strict=True))
        return [self._profile(at, answers, minimum.of(self._names[at])) for at in places]

    def _profile(self, at: int, answers: Mapping[str, Any], minimum: int) -> Profile:
        def counted(what: str) -> int:
            return int(answers.get(f"r{at}_{what}") or 0)

        there = counted("there")
        fitting = counted("fitting") if f"r{at}_fitting" in answers else there
        return Profile(
            self._names[at],
            self._readings[at],
            int(answers["rows"]),
            there,
            fitting,
            counted("different"),
            minimum,
            zero_or_one=bool(counted("zeros") and counted("ones")) and not counted("others_than_0_and_1"),
            infinite=counted("infinite"),
            decimals=None if counted("beyond_0") else 0,
        )

    def with_bulk(self, seen: Sequence[Profile], units: Sequence[str]) -> list[Profile]:
        """Find where the bulk of numbers and times lies, and how exact it is, in one scan for each kind of unit."""
        columns = [
            TailQuery(at, own(way.ordered, at), _finer(way, at, profile), profile.minimum)
            for at, (way, profile) in enumerate(zip(self._ways, seen, strict=True))
            if way.ordered and profile.there
        ]
        steps = self._steps({column.place for column in columns}, units)
        places = [f"u{at}" for at in range(len(units))]
        found = bulk_of(self._reader, steps, columns, places, self._engine.dialect)
        return [_with_bulk(profile, found[at]) if at in found else profile for at, profile in enumerate(seen)]

    def with_values(
        self, seen: Sequence[Profile], units: Sequence[str], labelled: Collection[str], *, codes: bool
    ) -> list[Profile]:
        """List the values of columns in which few differ, all in one scan, with the rows and units that have each."""
        places = [
            at
            for at, profile in enumerate(seen)
            if 0 < profile.different <= MOST_LISTED and _is_listed(profile, labelled, codes=codes)
        ]
        if not places:
            return list(seen)
        keys = ", ".join(f"r{at}" for at in places)
        sets = ", ".join(f"(r{at})" for at in places)
        which = " ".join(f"WHEN GROUPING(r{at}) = 0 THEN {at}" for at in places)
        counts = ", ".join(["COUNT(*)", *(f"COUNT(DISTINCT u{at})" for at in range(len(units)))])
        ask = f"SELECT CASE {which} END, {counts}, {keys} FROM rows GROUP BY GROUPING SETS ({sets})"
        listed: dict[int, dict[str, Frequency]] = {at: {} for at in places}
        for at, *cells in self._reader.rows(statement([self._source(units)], ask)):
            numbers, values = cells[: 1 + len(units)], cells[1 + len(units) :]
            value = values[places.index(at)]
            if value is not None:
                listed[at][value] = Frequency(int(numbers[0]), min(map(int, numbers)))
        return [
            dataclasses.replace(profile, values=listed[at])
            if len(listed.get(at, ())) <= MOST_LISTED and at in listed
            else profile
            for at, profile in enumerate(seen)
        ]


def _finer(way: ProfileQuery, at: int, profile: Profile) -> dict[str, str]:
    """Whole numbers are not asked how many decimals they have."""
    if profile.decimals == 0 and profile.reading == "number":
        return {}
    return {what: own(sql, at) for what, sql in way.finer.items()}


def _with_bulk(profile: Profile, bulk: Bulk) -> Profile:
    def rare(flag: str) -> bool:
        return bulk.flagged.get(flag, 0) < profile.minimum

    decimals = next((digits for digits in range(MOST_DECIMALS + 1) if rare(f"beyond_{digits}")), None)
    return dataclasses.replace(
        profile,
        least=bulk.least,
        most=bulk.most,
        least_is_common=bulk.least_is_common,
        most_is_common=bulk.most_is_common,
        decimals=decimals,
        step=next((step for step in STEPS if rare(f"off_{step}")), "second"),
    )


def _is_listed(profile: Profile, labelled: Collection[str], *, codes: bool) -> bool:
    if profile.reading == "number":
        return profile.name in labelled or (codes and profile.decimals == 0)
    return profile.reading == "text"


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
