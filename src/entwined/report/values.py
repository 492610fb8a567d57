"""The released numbers as tables that other programs read: one line a number, as CSV and as Parquet."""

import csv
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from entwined.canonical import Document
from entwined.estimate.spans import CONFIDENCE
from entwined.report.findings import Cell, Finding
from entwined.report.words import noise_words
from entwined.schema.grids import number_text

if TYPE_CHECKING:
    import pyarrow as pa

BEFORE: Final = {"statistic": "string", "kind": "string", "cell": "string"}
AFTER: Final = {
    "value": "float64",
    "low": "float64",
    "high": "float64",
    "confidence": "float64",
    "ranks_within": "int64",
    "unit": "string",
    "noise": "string",
}
TIMES: Final = ("value_time", "low_time", "high_time")
FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
AT_ONCE: Final = 50_000
LONGEST_DECIMAL: Final = 25

Block: TypeAlias = tuple[Finding, list[Cell]]


def write_values(findings: Sequence[Finding], folder: Path) -> list[Path]:
    """Write values.csv and values.parquet; the columns of all tables' sides stand between name and value."""
    headings = _headings(findings)
    paths = [folder / "values.csv", folder / "values.parquet"]
    _write_csv(paths[0], headings, _blocks(findings))
    _write_parquet(paths[1], headings, _blocks(findings))
    return paths


def _headings(findings: Sequence[Finding]) -> dict[str, str]:
    """Give each column that is a side of some table a heading that is no other's."""
    taken = {*BEFORE, *AFTER, *TIMES}
    headings: dict[str, str] = {}
    for side in dict.fromkeys(side for one in findings for side in one.sides):
        heading = side
        while heading in taken:
            heading = f"column {heading}"
        taken.add(heading)
        headings[side] = heading
    return headings


def _blocks(findings: Sequence[Finding]) -> Iterator[Block]:
    """Take the numbers of each statistic so many at a time, so that a large table needs little memory."""
    for one in findings:
        cells = one.cells()
        while block := list(itertools.islice(cells, AT_ONCE)):
            yield one, block


def _common(one: Finding) -> Document:
    """What all numbers of a statistic share."""
    return {
        "statistic": one.name,
        "kind": one.query.kind,
        "confidence": float(CONFIDENCE),
        "ranks_within": one.ranks,
        "unit": one.unit,
        "noise": "; ".join(map(noise_words, one.answer.noise)),
    }


def _write_csv(path: Path, headings: Mapping[str, str], blocks: Iterator[Block]) -> None:
    """Write lines that a spreadsheet takes for texts and numbers, never for formulas."""
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(map(harmless, (*BEFORE, *headings.values(), *AFTER)))
        for one, cells in blocks:
            common = {name: _written(value) for name, value in _common(one).items()}
            first, last = ([common.get(name, "") for name in names] for names in (BEFORE, AFTER))
            sides = one.sides
            places = [sides.index(side) if side in sides else None for side in headings]
            lines.writerows(
                [
                    *first[:-1],
                    harmless(cell.name),
                    *("" if place is None else _written(cell.keys[place]) for place in places),
                    *map(_written, (cell.value, cell.low, cell.high)),
                    *last[3:],
                ]
                for cell in cells
            )


def harmless(text: str) -> str:
    """Keep a spreadsheet from taking a text for a formula.

    >>> harmless("=1+1"), harmless("north")
    ("'=1+1", 'north')
    """
    return f"'{text}" if text.startswith(FORMULA) else text


def _written(value: Any) -> str:
    if type(value) is int:  # nearly all are
        return repr(value)
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return harmless(value)
        case Fraction():
            text = number_text(value)
            return text if "/" not in text and len(text) <= LONGEST_DECIMAL else repr(float(value))
        case datetime():
            return value.isoformat()
    return repr(value)


def _write_parquet(path: Path, headings: Mapping[str, str], blocks: Iterator[Block]) -> None:
    """Write numbers as doubles and times as times, whichever a statistic has; small tables share a group of rows."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = _arrow_schema(headings)
    with parquet.ParquetWriter(path, schema) as file:
        for batches in _gathered(_record_batches(schema, headings, blocks)):
            file.write_table(pa.Table.from_batches(batches, schema), row_group_size=AT_ONCE)


def _gathered(batches: "Iterator[pa.RecordBatch]") -> "Iterator[list[pa.RecordBatch]]":
    """Take batches together until they have as many rows as are taken at once."""
    found: list[pa.RecordBatch] = []
    for batch in batches:
        if found and sum(one.num_rows for one in found) + batch.num_rows > AT_ONCE:
            yield found
            found = []
        found.append(batch)
    if found:
        yield found


def arrow_table(findings: Sequence[Finding]) -> "pa.Table":
    """Give all numbers as one Arrow table, as they stand in values.parquet."""
    import pyarrow as pa

    headings = _headings(findings)
    schema = _arrow_schema(headings)
    return pa.Table.from_batches(_record_batches(schema, headings, _blocks(findings)), schema)


def _arrow_schema(headings: Mapping[str, str]) -> "pa.Schema":
    import pyarrow as pa

    kinds = {**BEFORE, **dict.fromkeys(headings.values(), "string"), **AFTER}
    fields = [pa.field(name, getattr(pa, kind)()) for name, kind in kinds.items()]
    return pa.schema(fields + [pa.field(name, pa.timestamp("us")) for name in TIMES])


def _record_batches(
    schema: "pa.Schema", headings: Mapping[str, str], blocks: Iterator[Block]
) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa

    for one, cells in blocks:
        columns = _columns(one, cells, headings)
        empty = {kind: pa.nulls(len(cells), kind) for kind in set(schema.types)}
        arrays = [
            pa.array(columns[name], kind, size=len(cells)) if name in columns else empty[kind]
            for name, kind in zip(schema.names, schema.types, strict=True)
        ]
        yield pa.record_batch(arrays, schema=schema)


def _columns(one: Finding, cells: list[Cell], headings: Mapping[str, str]) -> dict[str, Iterable[Any]]:
    columns: dict[str, Iterable[Any]] = {
        name: itertools.repeat(_utf8(value), len(cells)) for name, value in _common(one).items()
    }
    columns["cell"] = [_utf8(cell.name) for cell in cells]
    for at, side in enumerate(one.sides):
        columns[headings[side]] = [_key(cell.keys[at]) for cell in cells]
    times = isinstance(one.answer.value, datetime)
    for name in ("value", "low", "high"):
        ends = (getattr(cell, name) for cell in cells)
        columns[f"{name}_time" if times else name] = [
            end if times or end is None else float(end) for end in ends
        ]
    return columns


def _key(value: Any) -> str:
    return str(_utf8(value)) if isinstance(value, str) else _written(value)


def _utf8(value: Any) -> Any:
    """Write half a character as its number: no file can hold it."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
