"""Tables in files: CSV, Parquet (one file or a folder of parts) and DuckDB databases.

Every cell of a CSV file is text, an empty one is missing; only the first line is read when it is opened. That line
also tells the delimiter, so that no row can change how the others are read.
"""

import csv
import dataclasses
import gzip
import io
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from entwined.errors import BadTable
from entwined.tables.duck import Duck, Mending, Place, described, opened, quoted_name, quoted_text
from entwined.tables.engine import Shown
from entwined.tables.mending import LONGEST_ROW, LineLayout, mend
from entwined.tables.origin import in_files

if TYPE_CHECKING:
    import duckdb

CSV_ENDS: Final = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".txt")
PARQUET_ENDS: Final = (".parquet", ".pq")
DUCKDB_ENDS: Final = (".duckdb", ".ddb", ".db")
CSV_ROWS: Final = "csv_rows"
DELIMITERS: Final = (",", ";", "\t", "|")
LONGEST_HEADER: Final = 1_000_000
MOST_COLUMNS: Final = 10_000
LARGEST_PIECE: Final = 100_000_000  # bytes of one column in one row group
MOST_PACKED: Final = 1000
BYTES_A_VALUE: Final = 2.5  # a text written out takes 4 and its letters
PACKED_START: Final = 1 << 18  # bytes of a packed file that are unpacked when it is opened
MOST_UNPACKED: Final = 1 << 27
MOST_TIMES: Final = 200
LARGEST_UNPACKED: Final = 500_000_000  # bytes up to which a file may be packed as tightly as it will
WILD: Final = set("*?[")  # DuckDB would look for several files


def checked_path(given: str | os.PathLike[str], *, folder: bool = False) -> Path:
    """Give the full path of a file that is there."""
    path = Path(given)
    try:
        found = path.is_file() or (folder and path.is_dir())
        full = path.resolve()
    except (OSError, ValueError, RuntimeError):  # a name too long, a zero in it, links in a circle
        found = False
    if not found:
        raise BadTable(f"There is no file {str(given)!r:.200} to read rows from. Check its name.")
    if WILD & set(str(full)):
        raise BadTable(f"The path {str(full)!r} has one of * ? [ in it. Rename the file or its folder.")
    return full


def open_csv(given: str | os.PathLike[str]) -> Duck:
    """Open a CSV file, perhaps compressed by gzip, of UTF-8 text with a line of names."""
    path = checked_path(given)
    origin = in_files(f"csv {path}", path)
    line, ending = _first_line(path)
    if path.suffix == ".gz":
        _refuse_packed(path)
    names, delimiter = _header(line, path)
    columns = {name: Shown("text", f"c{at}", "CSV text") for at, name in enumerate(names)}
    layout = LineLayout(len(names), delimiter.encode(), ending.encode())
    packing = quoted_text("gzip" if path.suffix == ".gz" else "none")
    relation = _read_csv(path, layout, compression=packing, max_line_size=str(LONGEST_ROW))

    def mended(target: Path) -> tuple[str, int]:
        wrong = mend(path, layout, target)
        plain = dataclasses.replace(layout, ending=b"\n")
        return _read_csv(target, plain, parallel="false", max_line_size=str(2 * LONGEST_ROW)), wrong

    place = opened(paths=[str(path)])
    with _opening(place, path):
        mending = Mending(place, CSV_ROWS, relation, mended)
        return Duck(CSV_ROWS, columns, place, origin, mending=mending)


def _refuse_packed(path: Path) -> None:
    """Refuse, before anything is charged, a file that is unpacked to far more than tables are.

    Its start tells how much it is unpacked to; a file that goes on otherwise is stopped when the time for reading is
    over. What it says of itself at its end is not asked: where the end is damaged, these are bytes of rows.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        unpacker = zlib.decompressobj(wbits=31)
        packed = file.read(PACKED_START)
        start = unpacker.decompress(packed, MOST_UNPACKED)
        read = len(packed) - len(unpacker.unconsumed_tail) - len(unpacker.unused_data)
    times = len(start) / max(read, 1)
    if times > MOST_TIMES and times * size > LARGEST_UNPACKED:
        raise BadTable(
            f"{path} is unpacked to {times:,.0f} times its size, over {MOST_TIMES}. Unpack it, and give the plain file."
        )


def _read_csv(path: Path, layout: LineLayout, **more: str) -> str:
    types = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(layout.columns))
    ending = layout.ending.decode().replace("\r", "\\r").replace("\n", "\\n")
    options = {
        "auto_detect": "false",
        "header": "true",
        "delim": quoted_text(layout.delimiter.decode()),
        "quote": "'\"'",
        "escape": "'\"'",
        "new_line": quoted_text(ending),
        "compression": "'none'",
        "columns": f"{{{types}}}",
    } | more
    listed = ", ".join(f"{key} = {value}" for key, value in options.items())
    return f"read_csv({quoted_text(str(path))}, {listed})"


def _first_line(path: Path) -> tuple[str, str]:
    try:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rb") as file:
            start = file.read(LONGEST_HEADER + 1)
        at = min((at for end in (b"\n", b"\r") if (at := start.find(end)) >= 0), default=len(start))
        line = start[:at].decode("utf-8-sig")
    except PermissionError:
        raise BadTable(f"{path} may not be read. Ask for the right to read it.") from None
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        raise BadTable(f"{path} does not start with a line of UTF-8 text. Save it as CSV in UTF-8.") from None
    if at > LONGEST_HEADER or "\0" in line:
        raise BadTable(f"{path} does not start with a line of names. Give CSV with a header of at most 1 MB.")
    ending = start[at : at + 2].decode("latin-1")
    return line, ending if ending == "\r\n" else ending[:1] or "\n"


def _header(line: str, path: Path) -> tuple[list[str], str]:
    """Take the delimiter that cuts the line of names into most pieces."""
    cut = [(_cells(line, delimiter), delimiter) for delimiter in DELIMITERS]
    names, delimiter = max(cut, key=lambda pair: len(pair[0]))
    if line.count('"') % 2 or not names or len(names) > MOST_COLUMNS:
        raise BadTable(
            f"{path}: its first line is not a list of 1 to {MOST_COLUMNS:,} names. Give each column a name of one line."
        )
    named = [name for name in names if name]
    if len(set(named)) < len(named):
        first, second, *_ = (at for at, name in enumerate(names, start=1) if name and names.count(name) > 1)
        # the name is not told: in a file without a line of names it would be a cell of the first row
        raise BadTable(f"{path} has one name for columns {first} and {second}. Rename one of them.")
    return names, delimiter


def _cells(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(line), delimiter=delimiter, strict=True), [])
    except csv.Error:
        return []


def open_parquet(given: str | os.PathLike[str]) -> Duck:
    """Open a Parquet file, or all of those in a folder as one table."""
    path = checked_path(given, folder=True)
    origin = in_files(f"parquet {path}", path, lambda: _parquet_parts(path))
    parts = _parquet_parts(path)
    if not parts:
        raise BadTable(f"The folder {path} has no Parquet files. Give one that has.")
    paths = [str(checked_path(part)) for part in parts]
    listed = ", ".join(map(quoted_text, paths))
    relation = f"read_parquet([{listed}])"
    place = opened(paths=paths)
    with _opening(place, path):
        _refuse_wide(place, path, listed)
        _refuse_blown_up(place, path, listed)
        columns = described(place.connection, relation, collated=False)
        return Duck(relation, _repeating(columns, place, listed), place, origin)


def _parquet_parts(path: Path) -> list[Path]:
    """List the files of a table; one that comes later makes it another version."""
    if path.is_file():
        return [path]
    return sorted(part for end in PARQUET_ENDS for part in path.glob(f"*{end}"))


def _refuse_wide(place: Place, path: Path, listed: str) -> None:
    """Refuse far more columns than a schema declares: only to name them would take minutes."""
    each = f"SELECT COUNT(*) AS entries FROM parquet_schema([{listed}]) GROUP BY file_name"
    found = place.connection.execute(f"SELECT MAX(entries) > {2 * MOST_COLUMNS} FROM ({each})").fetchone()
    if found and found[0]:
        raise BadTable(f"{path} has more than {MOST_COLUMNS:,} columns. Leave out those that are not needed.")


def _refuse_blown_up(place: Place, path: Path, listed: str) -> None:
    """Refuse a piece of a column that would fill the memory once it is unpacked from next to nothing."""
    blown = f"total_uncompressed_size > GREATEST({LARGEST_PIECE}, {MOST_PACKED} * total_compressed_size)"
    found = place.connection.execute(
        f"SELECT COUNT(*) FROM parquet_metadata([{listed}]) WHERE {blown}"
    ).fetchone()
    if found and found[0]:
        raise BadTable(
            f"{path} holds a column that is unpacked to over {MOST_PACKED:,} times its size. Write the file anew, in "
            "smaller row groups."
        )


def _repeating(columns: Mapping[str, Shown], place: Place, listed: str) -> Mapping[str, Shown]:
    """Mark the columns that their files keep in fewer bytes than values written out would take.

    This is read from the files' own summaries, and decides nothing but the order of work.
    """
    sizes = f"SUM(total_uncompressed_size) < {BYTES_A_VALUE} * SUM(num_values)"
    ask = f"SELECT path_in_schema FROM parquet_metadata([{listed}]) GROUP BY path_in_schema HAVING {sizes}"
    few = {name for (name,) in place.connection.execute(ask).fetchall()}
    return {name: dataclasses.replace(shown, repeats=name in few) for name, shown in columns.items()}


def open_duckdb(given: str | os.PathLike[str], table: str) -> Duck:
    """Open a table or view of a DuckDB database, read-only."""
    path = checked_path(given)
    written = (path, path.with_name(f"{path.name}.wal"))
    origin = in_files(f"duckdb {path}::{'.'.join(_parts(table))}", path, lambda: written)
    within = origin._replace(digest=lambda: f"{origin.digest()} {'.'.join(_parts(table))}", parts=tuple)
    relation = ".".join(["source", *map(quoted_name, _parts(table))])
    try:
        place = opened([f"ATTACH {quoted_text(str(path))} AS source (READ_ONLY)"], [str(path)])
    except _errors():
        raise BadTable(
            f"{path} cannot be opened as a DuckDB database. Check the file, and that no program is writing to it."
        ) from None
    with _opening(place, path):
        return Duck(relation, described(place.connection, relation, collated=True), place, within)


def _parts(table: str) -> Sequence[str]:
    schema, dot, name = table.partition(".")
    return (schema, name) if dot else ("main", table)


@contextmanager
def _opening(place: Place, path: Path) -> Iterator[None]:
    """Close what cannot be opened, and say so in words of our own."""
    try:
        yield
    except BadTable:
        place.close()
        raise
    except _errors():
        place.close()
        raise BadTable(
            f"{path} has no such table that can be opened. Check the name of the table and what kind of file it is."
        ) from None


def _errors() -> type["duckdb.Error"]:
    import duckdb

    return duckdb.Error
