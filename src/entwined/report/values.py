"""The released numbers as files that other programs read: a line a number, as CSV and as Parquet."""

import csv
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from entwined.report.findings import Finding
from entwined.report.long_table import AT_ONCE, Block, LongTable
from entwined.schema.exact import number_text
from entwined.writing import harmless

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_DECIMAL: Final = 25


def write_values(findings: Sequence[Finding], folder: Path) -> list[Path]:
    """Write values.csv and values.parquet, which say the same."""
    table, paths = LongTable(findings), [folder / "values.csv", folder / "values.parquet"]
    _write_csv(paths[0], table)
    _write_parquet(paths[1], table)
    return paths


def _write_csv(path: Path, table: LongTable) -> None:
    """Write lines that a spreadsheet takes for texts and numbers, never for formulas."""
    names = list(table.kinds)
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for block in table.blocks():
            writer.writerows(zip(*(_texts(block, name) for name in names), strict=True))


def _texts(block: Block, name: str) -> Iterable[str]:
    if name in block.columns:
        return map(_written, block.columns[name])
    return itertools.repeat(_written(block.common.get(name)), block.rows)


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


def _write_parquet(path: Path, table: LongTable) -> None:
    """Write numbers as doubles and times as times; small tables share a group of rows."""
    import pyarrow as pa
    from pyarrow import parquet

    schema = _arrow_schema(table)
    with parquet.ParquetWriter(path, schema) as file:
        for batches in _gathered(_record_batches(schema, table)):
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

    table = LongTable(findings)
    schema = _arrow_schema(table)
    return pa.Table.from_batches(_record_batches(schema, table), schema)


def _arrow_schema(table: LongTable) -> "pa.Schema":
    import pyarrow as pa

    types = {name: getattr(pa, name)() for name in ("string", "float64", "int64")}
    types |= {"bool": pa.bool_(), "timestamp": pa.timestamp("us")}
    return pa.schema([pa.field(name, types[kind]) for name, kind in table.kinds.items()])


def _record_batches(schema: "pa.Schema", table: LongTable) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa

    kinds = table.kinds
    for block in table.blocks():
        arrays = []
        for name, kind in zip(schema.names, schema.types, strict=True):
            typed = TYPED[kinds[name]]
            if name in block.columns:
                arrays.append(pa.array(map(typed, block.columns[name]), kind, size=block.rows))
            else:
                arrays.append(pa.repeat(pa.scalar(typed(block.common.get(name)), kind), block.rows))
        yield pa.record_batch(arrays, schema=schema)


def _as_text(value: Any) -> str | None:
    """Write half a character as its number: no file can hold it."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return None if value is None else _written(value)


def _as_number(value: Any) -> float | None:
    return None if value is None else float(value)


TYPED: Final[Mapping[str, Callable[[Any], Any]]] = {
    "string": _as_text,
    "float64": _as_number,
    **dict.fromkeys(("int64", "bool", "timestamp"), lambda value: value),
}
