"""Edge lists: who knows whom, one pair a row, and how strongly where a column says so."""

import gzip
import hashlib
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import numpy as np

from entwined.dependence.contents import read_bytes, refuse_binary
from entwined.dependence.edge_columns import LOG_ODDS, Columns
from entwined.dependence.edge_labels import Numbered
from entwined.dependence.edged import refuse_repeats
from entwined.errors import BadModel
from entwined.numbers import FloatArray, IntArray

MOST_BYTES: Final = 2_000_000_000
MOST_INFLATION: Final = (
    100  # edge lists shrink to a quarter or a tenth; what shrinks far more is made to harm
)
CHUNK: Final = 1 << 20


@dataclass(frozen=True, eq=False, slots=True)
class EdgeList:
    """Pairs of nodes, numbered from 0 in the order of their labels, with strengths if the file has them.

    `strengths` has one column for each that is there, `label` says what a node is called in the file.
    """

    nodes: int
    ends: IntArray
    strengths: FloatArray | None
    digest: str
    label: Callable[[int], str]


def read_edges(path: Path, units: int | None = None, wanted: Sequence[str] = LOG_ODDS) -> EdgeList:
    """Read a list of edges; with `units`, the labels are 0 to units - 1 and some nodes may have no edge."""
    data = read_bytes(path, MOST_BYTES)
    digest = hashlib.sha256(data).hexdigest()
    if path.suffix == ".gz":
        data = inflated(data)
    refuse_binary(data)
    columns = Columns.of(data, wanted)
    table = None if columns.empty(data) else parsed(data, columns)
    del data
    first, second = (np.zeros(0, np.int64),) * 2 if table is None else labels_of(table, columns)
    strengths = None if table is None or not columns.strengths else strengths_of(table, columns)
    del table
    found = Numbered.of(first, second, units)
    refuse_repeats(found.ends, found.nodes, found.label)
    return EdgeList(found.nodes, found.ends, strengths, digest, found.label)


def inflated(data: bytes) -> bytes:
    """Unpack a gzip file, refusing one that swells beyond what an edge list can."""
    most, size = min(MOST_BYTES, MOST_INFLATION * len(data) + CHUNK), 0
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as packed:
            while chunk := packed.read(CHUNK):  # measured first, so that a bomb is never held in memory
                size += len(chunk)
                if size > most:
                    raise BadModel(
                        f"Unpacked, the file has more than {most / 1e6:.0f} MB. Unpack it and look at it."
                    )
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        raise BadModel("The file is no gzip file, or it is damaged. Pack it anew.") from None


def parsed(data: bytes, columns: Columns) -> Any:
    """Read the two ends and the strength; ends are integers where all of them are, otherwise strings."""
    import pyarrow as pa
    from pyarrow import csv

    names = [f"column {place + 1}" for place in range(columns.count)]
    ends = [names[place] for place in columns.ends]
    strengths = [names[place] for place in columns.strengths.values()]
    for kind in (pa.int64(), pa.string()):
        types = {**dict.fromkeys(ends, kind), **dict.fromkeys(strengths, pa.float64())}
        wanted = csv.ConvertOptions(
            column_types=types, include_columns=[*ends, *strengths], strings_can_be_null=True
        )
        source = pa.BufferReader(pa.py_buffer(data).slice(columns.start))
        try:
            table = csv.read_csv(
                source,
                read_options=csv.ReadOptions(column_names=names),
                parse_options=csv.ParseOptions(delimiter=columns.delimiter),
                convert_options=wanted,
            )
            return table.rename_columns(["first", "second", *columns.strengths])
        except pa.ArrowInvalid as failed:
            if "conversion error to int64" not in str(failed):
                raise BadModel(told(str(failed), columns)) from None
    raise BadModel("An end of an edge is no text. Save the file as UTF-8 text.")


def told(failure: str, columns: Columns) -> str:
    """Say in our words what the reader of the rows found wrong."""
    first = failure.splitlines()[0]
    if "Expected" in first and "columns" in first:
        found = first.partition("Expected")[2].split(":")[0]
        return f"A row has too few or too many columns: expected{found}. Give every row the same columns."
    if "conversion error to double" in first:
        found = first.partition("invalid value")[2].strip()
        named = " or ".join(f'"{name}"' for name in columns.strengths)
        return f"The column {named} holds {found:.40}, which is not a number. Give numbers ≥ 0."
    if "UTF8" in first:
        return "A row is not UTF-8. Save the file as UTF-8 text."
    return (
        f"The rows cannot be read: {first:.100}. Give one edge a row, its ends separated by a comma or a tab."
    )


def labels_of(table: Any, columns: Columns) -> tuple[Any, Any]:
    """Read the ends of the edges as integers, or as arrow strings without blanks around them."""
    import pyarrow as pa
    from pyarrow import compute

    for name in ("first", "second"):
        refuse_missing(table.column(name), f"its {name} end")
    if table.schema.field("first").type == pa.int64():
        first, second = (table.column(name).combine_chunks() for name in ("first", "second"))
        return np.from_dlpack(first), np.from_dlpack(second)  # to_numpy would load all of pandas
    columns.refuse_unclear()
    first, second = (compute.utf8_trim_whitespace(table.column(name)) for name in ("first", "second"))
    for name, ends in (("first", first), ("second", second)):
        refuse_missing(compute.if_else(compute.equal(ends, ""), None, ends), f"its {name} end")
    return first, second


def strengths_of(table: Any, columns: Columns) -> FloatArray:
    """Read the strengths, one column each."""
    found = []
    for name in columns.strengths:
        refuse_missing(table.column(name), f'its "{name}"')
        found.append(table.column(name).to_numpy())
        refuse_negative(found[-1], name)
    return np.column_stack(found)


def refuse_negative(strengths: FloatArray, name: str) -> None:
    """Refuse strengths below zero and what is not a number; infinity is allowed."""
    wrong = ~(strengths >= 0)  # catches what is not a number as well
    if wrong.any():
        row = int(np.argmax(wrong))
        given = f'"{name}" {strengths[row]:g}, which is negative or not a number'
        raise BadModel(f"Edge {row + 1} has the {given}. Give its largest size, ≥ 0.")


def refuse_missing(column: Any, what: str) -> None:
    """Every cell is filled."""
    if column.null_count:
        from pyarrow import compute

        row = compute.index(compute.is_null(column), value=True).as_py()
        raise BadModel(f"Edge {row + 1} lacks {what}: the cell is empty or NA. Fill it or remove the row.")
