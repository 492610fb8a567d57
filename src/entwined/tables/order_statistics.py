"""Where the bulk of a column lies: the m-th least and the m-th greatest value among units, by one statement.

The extremes of a column are values of one respondent. The m-th from each end is the end of a range that at least m
units reach, and if the (2m − 1)-th is the same, at least m units have that very value.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from entwined.tables.engine import Dialect, Reader
from entwined.tables.steps import Steps, statement

PARTS: Final = 1024  # that Spark orders one by one, so that none has to fit in the memory of one machine


class TailQuery(NamedTuple):
    """A column to look at: its place, the SQL of its order, what is asked of each row, and the minimum of units."""

    place: int
    order: str
    flags: Mapping[str, str]
    minimum: int


class Bulk(NamedTuple):
    """The ends of a column's bulk, whether each is a value of many, and how many units have a row with each flag."""

    least: Any
    most: Any
    least_is_common: bool
    most_is_common: bool
    flagged: Mapping[str, int]


def bulk_of(
    reader: Reader, steps: Steps, columns: Sequence[TailQuery], units: Sequence[str], dialect: Dialect
) -> dict[int, Bulk]:
    """Look at columns of the rows that the last step gives, by rows and by the values of each column of units."""
    if not columns:
        return {}
    levels = [_one_level(reader, steps, columns, unit, dialect) for unit in (None, *units)]
    return {column.place: _inmost([level[column.place] for level in levels]) for column in columns}


def _inmost(levels: Sequence[Bulk]) -> Bulk:
    """Keep the bulk that is one for every kind of unit."""
    least, most = _last([level.least for level in levels], max), _last([level.most for level in levels], min)
    return Bulk(
        least,
        most,
        all(level.least_is_common and level.least == least for level in levels),
        all(level.most_is_common and level.most == most for level in levels),
        {flag: min(level.flagged[flag] for level in levels) for flag in levels[0].flagged},
    )


def _last(ends: Sequence[Any], choose: Any) -> Any:
    return None if any(end is None for end in ends) else choose(ends)


def _one_level(
    reader: Reader, steps: Steps, columns: Sequence[TailQuery], unit: str | None, dialect: Dialect
) -> dict[int, Bulk]:
    parts = []
    for at, order, flags, _ in columns:
        flagged = {f"f{at}_{name}": f"CASE WHEN {flag} THEN 1 ELSE 0 END" for name, flag in flags.items()}
        if unit is None:
            parts += [f"{order} AS lo{at}", f"{order} AS hi{at}"]
            parts += [f"{flag} AS {name}" for name, flag in flagged.items()]
        else:
            parts += [f"MIN({order}) AS lo{at}", f"MAX({order}) AS hi{at}"]
            parts += [f"MAX({flag}) AS {name}" for name, flag in flagged.items()]
    by_unit = "" if unit is None else f" WHERE {unit} IS NOT NULL GROUP BY {unit}"
    made = [*steps, ("unit_rows", f"SELECT {', '.join(parts)} FROM {steps[-1][0]} AS t0{by_unit}")]
    if dialect == "pyspark":
        made += _in_parts(columns)
    asked = [sql for column in columns for sql in _asked(column, dialect)]
    (row,) = reader.rows(statement(made, f"SELECT {', '.join(asked)} FROM {made[-1][0]} AS t0"))
    answers = iter(row)
    return {column.place: _bulk(column, answers) for column in columns}


def _bulk(column: TailQuery, answers: Any) -> Bulk:
    least, beyond_least, most, beyond_most = (next(answers) for _ in range(4))
    flagged = {flag: int(next(answers) or 0) for flag in column.flags}
    return Bulk(
        least,
        most,
        least is not None and least == beyond_least,
        most is not None and most == beyond_most,
        flagged,
    )


def _asked(column: TailQuery, dialect: Dialect) -> list[str]:
    """Ask for the m-th and the (2m − 1)-th value from each end, and how many units have each flag."""
    at, deepest = column.place, 2 * column.minimum - 1
    found = []
    for name, end in ((f"lo{at}", "min"), (f"hi{at}", "max")):
        down = "" if end == "min" else " DESC"
        match dialect:
            case "duckdb":
                listed = f"{end}({name}, {deepest})"
            case "postgres":
                listed = f"(array_agg({name} ORDER BY {name}{down}) FILTER (WHERE {name} IS NOT NULL))"
            case "pyspark":
                listed = f"sort_array(flatten(collect_list({name})), {'false' if down else 'true'})"
        first = 0 if dialect == "pyspark" else 1
        ranks = (column.minimum - 1 + first, deepest - 1 + first)
        found += [f"get({listed}, {rank})" if dialect == "pyspark" else f"{listed}[{rank}]" for rank in ranks]
    return [*found, *(f"SUM(f{at}_{name})" for name in column.flags)]


def _in_parts(columns: Sequence[TailQuery]) -> Steps:
    """Let Spark keep the outermost values of each of many parts of the units."""
    kept = []
    for at, _, flags, minimum in columns:
        for name, ascending in ((f"lo{at}", "true"), (f"hi{at}", "false")):
            ordered = f"sort_array(collect_list({name}), {ascending})"
            kept.append(f"slice({ordered}, 1, {2 * minimum - 1}) AS {name}")
        kept += [f"SUM(f{at}_{name}) AS f{at}_{name}" for name in flags]
    return [
        ("numbered_units", f"SELECT *, pmod(xxhash64(*), {PARTS}) AS part FROM unit_rows"),
        ("outermost_units", f"SELECT {', '.join(kept)} FROM numbered_units GROUP BY part"),
    ]
