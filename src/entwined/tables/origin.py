"""Where rows come from and which version of them it is: what tells one table from another.

A file is known by its path, size and time of change, a frame by its contents. A table in a database may change without
a sign, so that its version is what the holder calls it, or else a name that is never used again.

An opened table is one version for good. Of files it is taken before anything is read of them: rows that were read while
the files are no longer that version are thrown away, whenever the change came, so that no answer is kept under the name
of other rows. The rows of a frame are copied when they are first needed. Whoever wants the rows of now opens the table
again.
"""

import hashlib
import io
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from entwined.errors import BadTable

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE: Final = 1 << 20
BLOCK: Final = 1 << 16
BLOCKS: Final = 256
MOST_PARTS: Final = 100  # of a folder, that are known one by one
ONCE: Final = "once"
"""What the name of a version that never comes again begins with."""


class Notes(Protocol):
    """What a source itself remembers of the ledger of one of its tables."""

    @property
    def path(self) -> str:
        """Where that is, in words."""

    def read(self) -> tuple[int, str, str] | None:
        """Give the position and hash of an entry, and the ledger that it is of; none where nothing is kept."""

    @property
    def can_keep(self) -> bool:
        """Whether the user may write there."""

    def start(self, position: int, mark: str, ledger: str) -> None:
        """Remember them where nothing is kept; PermissionError where that is not allowed."""

    def raise_to(self, position: int, mark: str, ledger: str) -> None:
        """Remember a further entry of the same ledger."""

    def forget(self) -> None:
        """Remember nothing."""


class Known(NamedTuple):
    """Names that rows are known by again, their own first; `under` are those of tables that a view is made of.

    A file is known by its place and its bytes, so that a copy is noticed, and a frame by its contents. `notes` are
    kept in the source itself, of the table first and then of those under it.
    """

    own: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    notes: tuple[Notes, ...] = ()


class Origin(NamedTuple):
    """The kind and place of a table in words, the folder of one in a file, its version when opened, and that of now.

    `digest` names the contents, whatever their place, and `parts` those of each file of several; this reads a few
    megabytes of a file at most.
    """

    place: str
    folder: Path | None
    version: str
    now: Callable[[], str]
    digest: Callable[[], str] = str
    parts: Callable[[], tuple[str, ...]] = tuple


IN_MEMORY: Final = Origin("", None, "", str)  # its contents are its version


def in_files(place: str, path: Path, parts: Callable[[], Sequence[Path]] | None = None) -> Origin:
    """Name a table in a file, or in several of them, as it is now: before anything is read of it.

    Its version is told by sizes and times alone, so that a file which was copied back is the same one. While it is open
    nothing may happen to it at all: a change that keeps size and time is seen by its inode and its time of change.
    """

    def files() -> Sequence[Path]:
        return (path,) if parts is None else parts()

    opened = untouched(files())

    def now() -> str:
        state = untouched(files())
        return stamp(files()) if state == opened else f"touched {state}"

    def each() -> tuple[str, ...]:
        found = files()
        return tuple(sampled([one]) for one in found) if 1 < len(found) <= MOST_PARTS else ()

    return Origin(place, path.parent, stamp(files()), now, lambda: sampled(files()), each)


def sampled(paths: Sequence[Path]) -> str:
    """Digest files by their sizes and bytes, of large ones by blocks all over them: equal files are always alike."""
    found = hashlib.sha256()
    try:
        for path in paths:
            size = path.stat().st_size if path.exists() else 0
            found.update(f"{size}\0".encode())
            step = max(size // BLOCKS, BLOCK)
            with path.open("rb") if size else io.BytesIO() as file:
                for at in range(0, size, step):
                    file.seek(at)
                    found.update(file.read(BLOCK))
    except OSError:  # whatever cannot be read is found out after the charge
        return ""
    return f"contents {found.hexdigest()}"


def stamp(paths: Sequence[Path]) -> str:
    """Tell by size and time of writing whether files are still the same."""
    return _told_by(paths, lambda about: (about.st_size, about.st_mtime_ns))


def untouched(paths: Sequence[Path]) -> str:
    """Tell whether anything was done to files: the system sets the time of change, and nobody can set it back."""
    return _told_by(
        paths, lambda about: (about.st_size, about.st_mtime_ns, about.st_dev, about.st_ino, about.st_ctime_ns)
    )


def _told_by(paths: Sequence[Path], tell: Callable[[os.stat_result], tuple[int, ...]]) -> str:
    found = hashlib.sha256()
    for path in paths:
        try:
            about = " ".join(map(str, tell(path.stat())))
        except OSError:
            about = "gone"
        found.update(f"{path.name}\0{about}\0".encode(errors="surrogateescape"))
    return found.hexdigest()


def of_server(url: str) -> str:
    """Name the server of a URL: its kind, host and port, but neither user nor password nor options."""
    kind, _, rest = url.partition("://")
    return f"{kind}://{rest.partition('/')[0].partition('?')[0].rpartition('@')[2]}"


def once() -> str:
    """Give a version that never comes again."""
    return f"{ONCE} {secrets.token_hex(16)}"


def version_of(named: str | None) -> str:
    """Give the version of a table in a database: the one the holder names, else one that never comes again."""
    if named is not None and not named.strip():
        raise BadTable("The version of the table is empty. Name it, such as 2026-03, or leave it out.")
    return once() if named is None else f"named {named}"


def contents(tables: Mapping[str, "pa.Table"]) -> str:
    """Digest the rows of frames: equal values give equal digests, however they are cut into chunks."""
    found = hashlib.sha256()
    for name, table in tables.items():
        found.update(f"{name} {table.num_rows}\0".encode())
        for column in table.columns:
            found.update(f"{column.type}\0".encode())
            for start in range(0, table.num_rows, ROWS_AT_ONCE):
                _add(column.slice(start, ROWS_AT_ONCE), found.update)
    return found.hexdigest()


def _add(column: "pa.ChunkedArray", update: Callable[[bytes], None]) -> None:
    """Write a stretch of a column in one form: what lies under a missing value and behind the last one is set."""
    import pyarrow as pa
    from pyarrow import types

    there = column.is_valid()
    if types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if types.is_string(column.type):
        column = column.cast(pa.large_string())
    if column.null_count and not types.is_null(column.type):
        column = column.fill_null("" if types.is_large_string(column.type) else 0)
    batch = pa.table({"there": there.cast(pa.int8()), "value": column}).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_table(batch)
    update(sink.getvalue())
