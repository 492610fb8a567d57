"""Synthetic tables as files that every tool opens, and a dictionary of what stands in them."""

import csv
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pc_csv
import pyarrow.parquet as pq

from entwined.errors import BadInput
from entwined.schema import Schema
from entwined.schema.exact import number_text
from entwined.synthetic.household_rows import MadeUpHouseholds
from entwined.synthetic.rows import MadeUpRows
from entwined.synthetic.values import ColumnKind
from entwined.writing import harmless, in_markdown

FORMATS: Final = ("csv", "parquet")
DICTIONARIES: Final = ("dictionary.csv", "dictionary.md")
HEADINGS: Final = ("column", "type", "label", "values", "missing", "in the synthetic table")
MOST_SHOWN: Final = 12
MADE_UP: Final = "Rows are made up; nobody in them ever was."

SyntheticRows: TypeAlias = MadeUpRows | MadeUpHouseholds


def write_rows(
    folder: Path, rows: SyntheticRows, formats: Sequence[str] = FORMATS, stem: str = "synthetic"
) -> list[Path]:
    """Write rows block by block, in one or more formats at once."""
    unknown = [one for one in formats if one not in FORMATS]
    if unknown or not formats:
        raise BadInput(f"format {unknown[:1] or 'none'}. Give {' or '.join(FORMATS)}.")
    schema = rows.arrow_schema
    paths = [folder / f"{stem}.{one}" for one in formats]
    with ExitStack() as stack:
        writers = [stack.enter_context(_writer(path, schema)) for path in paths]
        for block in rows.blocks():
            for path, writer in zip(paths, writers, strict=True):
                writer.write_batch(_harmless(block) if path.suffix == ".csv" else block)
    return paths


def _writer(path: Path, schema: pa.Schema) -> Any:
    if path.suffix == ".parquet":
        return pq.ParquetWriter(path, schema)
    fields = [field.with_name(harmless(field.name)) for field in schema]
    if len(fields) == 1:
        fields = [pa.field(fields[0].name, pa.string())]
    return pc_csv.CSVWriter(path, pa.schema(fields))


def _harmless(block: pa.RecordBatch) -> pa.RecordBatch:
    """Keep a spreadsheet from taking texts for formulas, and every reader from skipping a line that would be empty."""
    columns = [_texts(one) if pa.types.is_string(one.type) else one for one in block.columns]
    if len(columns) == 1:
        columns = [pc.fill_null(pc.cast(columns[0], pa.string()), "")]
    return pa.record_batch(columns, names=[harmless(name) for name in block.schema.names])


def _texts(column: pa.Array) -> pa.Array:
    coded = pc.dictionary_encode(column)
    plain = pa.array(
        [None if one is None else harmless(one) for one in coded.dictionary.to_pylist()], pa.string()
    )
    return pa.DictionaryArray.from_arrays(coded.indices, plain).dictionary_decode()


def write_dictionary(folder: Path, rows: SyntheticRows) -> list[Path]:
    """Write what each column means and how its values came about, for programs and for people."""
    lines = [_line(name, rows) for name in rows.names]
    table, page = (folder / name for name in DICTIONARIES)
    with table.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADINGS)
        writer.writerows([harmless(cell) for cell in line] for line in lines)
    page.write_text(_page(lines), encoding="utf-8", errors="backslashreplace", newline="\n")
    return [table, page]


def _page(lines: Iterable[Sequence[str]]) -> str:
    head = ["# Dictionary", "", MADE_UP, "", _bar(HEADINGS), _bar(["---"] * len(HEADINGS))]
    return "\n".join([*head, *map(_bar, lines)]) + "\n"


def _bar(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(in_markdown, cells)) + " |"


def _line(name: str, rows: SyntheticRows) -> tuple[str, ...]:
    schema = rows.schema
    column = schema.column(name)
    if name in schema.text_columns:
        made = "unique ids" if column.document.get("compare") else "letters by chance"
        return name, column.kind, column.label, "text", "never", f"{made}; none is copied"
    return name, column.kind, column.label, _values(schema, name), _missing(schema, name), _made(rows, name)


def _values(schema: Schema, name: str) -> str:
    column = schema.coded(name)
    kind = ColumnKind.of(column)
    if column.has_order:
        low, high, after = (column.value(code) for code in (0, column.levels - 1, min(1, column.levels - 1)))
        step = (
            f" by {_word(after - low, kind)}"
            if isinstance(low, Fraction) and isinstance(after, Fraction)
            else ""
        )
        return f"{_word(low, kind)} to {_word(high, kind)}{step}"
    shown = [_word(column.value(code), kind) for code in range(min(column.levels, MOST_SHOWN))]
    return ", ".join([*shown, *(["…"] if column.levels > MOST_SHOWN else [])])


def _word(value: object, kind: ColumnKind) -> str:
    """Write a value as it stands in the table; one that could be taken for two is in quotes."""
    match value:
        case bool():
            return str(value).lower()
        case Fraction():
            return number_text(value)
        case datetime():
            return str(kind.plain(value))
    text = str(value)
    return f'"{text}"' if "," in text or text != text.strip() else text


def _missing(schema: Schema, name: str) -> str:
    codes = schema.coded(name).missing_codes
    return f"empty; in the source also {', '.join(codes)}" if codes else "empty"


def _marked(schema: Schema, name: str) -> str:
    """Say so if a value stands otherwise in the CSV file, for the sake of spreadsheets."""
    column = schema.coded(name)
    values = () if column.has_order else map(column.value, range(column.levels))
    marked = next((one for one in values if isinstance(one, str) and one != harmless(one)), None)
    return "" if marked is None else f"; in CSV files {harmless(marked)} stands for {marked}, and so on"


def _made(rows: SyntheticRows, name: str) -> str:
    if name not in rows.domain.names:
        return "unique ids; none is copied"
    axis = rows.domain.axes[rows.domain.names.index(name)]
    if rows.description is None:
        return "any declared value by chance; nothing was read"
    if len(axis.starts) == axis.levels:
        return f"from counts with noise{_marked(rows.schema, name)}"
    return f"from counts of {len(axis.starts)} ranges with noise; inside a range by chance"
