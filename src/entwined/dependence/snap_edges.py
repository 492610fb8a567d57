"""Edge lists as SNAP and others publish them: two ends a row, each tie often in both directions."""

import hashlib
from pathlib import Path
from typing import Any, Final

import numpy as np

from entwined.dependence.contents import read_bytes, refuse_binary
from entwined.dependence.edge_labels import Numbered
from entwined.dependence.edges import MOST_BYTES, EdgeList, inflated
from entwined.errors import BadModel
from entwined.numbers import IntArray

COMMENT: Final = b"#"


def read_published_edges(path: Path) -> EdgeList:
    """Read ties between people numbered by whole numbers, each tie once, nobody tied to themselves."""
    pairs, digest = read_pairs(path)
    found = Numbered.of(pairs[:, 0], pairs[:, 1], None)
    return EdgeList(found.nodes, found.ends, None, digest, found.label)


def read_pairs(path: Path) -> tuple[IntArray, str]:
    """Read who is tied to whom, by the file's own numbers, and the SHA-256 of the file.

    Ends stand between blanks, tabs or commas; lines that begin with # and a first line of names are passed over.
    """
    import pyarrow as pa

    data = read_bytes(path, MOST_BYTES)
    digest = hashlib.sha256(data).hexdigest()
    if path.suffix == ".gz":
        data = inflated(data)
    refuse_binary(data)
    whole = pa.int64()
    pairs = np.stack(columns_of(data, {0: whole, 1: whole}, 2), axis=1)
    return each_once(pairs[pairs[:, 0] != pairs[:, 1]]), digest


def each_once(pairs: IntArray) -> IntArray:
    """Keep one of (a, b) and (b, a), the smaller first, in rising order.

    >>> each_once(np.array([[2, 1], [1, 2], [0, 2]])).tolist()
    [[0, 2], [1, 2]]
    """
    ordered = np.sort(pairs, axis=1)
    ordered = ordered[np.lexsort((ordered[:, 1], ordered[:, 0]))]
    new = np.ones(len(ordered), np.bool_)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return np.asarray(ordered[new])


def columns_of(data: bytes, types: dict[int, Any], count: int) -> list[Any]:
    """Read as numbers the columns that `types` names by their place, of rows with `count` cells."""
    import pyarrow as pa
    from pyarrow import csv

    start, delimiter = first_line(data, count)
    names = [str(place) for place in range(count)]
    wanted = [names[place] for place in types]
    source = pa.BufferReader(pa.py_buffer(data).slice(start))
    try:
        table = csv.read_csv(
            source,
            read_options=csv.ReadOptions(column_names=names),
            parse_options=csv.ParseOptions(delimiter=delimiter),
            convert_options=csv.ConvertOptions(
                column_types={names[place]: kind for place, kind in types.items()}, include_columns=wanted
            ),
        )
    except pa.ArrowInvalid as failed:
        raise BadModel(
            f"The rows cannot be read: {str(failed).splitlines()[0]:.100}. Give {count} cells a row."
        ) from None
    columns = [table.column(name).combine_chunks() for name in wanted]
    if any(column.null_count for column in columns):
        raise BadModel(f"A row has an empty cell. Give {count} cells a row, all of them filled.")
    return [np.from_dlpack(column) for column in columns]


def first_line(data: bytes, count: int) -> tuple[int, str]:
    """Find where the rows begin and what parts their cells: a tab, a comma or a blank."""
    at = 0
    while at < len(data):
        stop = data.find(b"\n", at)
        stop = len(data) if stop < 0 else stop
        line = data[at:stop].strip()
        if line and not line.startswith(COMMENT):
            delimiter = next((one for one in (b"\t", b",", b" ") if line.count(one) == count - 1), None)
            if delimiter is None:
                raise BadModel(
                    f"The first row has not {count} cells between tabs, commas or single blanks. "
                    f"Give {count} cells a row."
                )
            if is_number(line.split(delimiter)[0]):
                return at, delimiter.decode()
        at = stop + 1
    raise BadModel("The file has no row that begins with a number. Check that it is the right one.")


def is_number(cell: bytes) -> bool:
    """Whether a cell is a whole number."""
    return cell.strip().lstrip(b"+-").isdigit()
