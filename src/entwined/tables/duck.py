"""DuckDB: the engine of files and of frames in memory, locked so that it reads the one source and nothing else."""

import re
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import numpy as np

from entwined.numbers import Codes, IntArray
from entwined.tables.engine import FAR, ROWS_AT_ONCE, Dialect, Fold, Key, Shown, Tallying
from entwined.tables.holding import Held, Scan, side_by_side
from entwined.tables.limits import TimeLimit, interrupt, time_limit
from entwined.tables.origin import Known, Origin, contents, once
from entwined.tables.resident import Resident
from entwined.tables.spill import Spill, new_spill

Answer = TypeVar("Answer")

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

WHOLE: Final = {"TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER"}
LARGE: Final = {"UBIGINT", "HUGEINT", "UHUGEINT", "FLOAT", "BIGNUM"}
EXACT_DIGITS: Final = 15  # a decimal of so many digits becomes the nearest double in one division
DECIMAL: Final = re.compile(r"DECIMAL\((\d+),\s*\d+\)")
SLOW: Final = {"partial_aggregate_pushdown"}  # takes seconds to plan sums over looked-up values
CLOSED: Final = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
    "preserve_insertion_order": "false",
}


class Duck:
    """A DuckDB in memory that sees one relation."""

    def __init__(
        self,
        relation: str,
        columns: Mapping[str, Shown],
        place: "Place",
        origin: Origin,
        frames: Callable[[], Mapping[str, "pa.Table"]] = dict,
        mending: "Mending | None" = None,
    ) -> None:
        self._relation = relation
        self._columns = columns
        self.place, self.folder, self._version, self._now, self._digest, self._parts = origin
        self._connection = place.connection
        self._load = frames
        self._mending = mending
        self._frames: Mapping[str, pa.Table] | None = None
        self._lists: dict[tuple[tuple[Key, int], ...], str] = {}
        self._lock = threading.Lock()
        self.held = Held()
        self._resident = Resident(self._made_resident)
        self._known: Known | None = None
        self._close = weakref.finalize(self, _closed, *place)

    @property
    def version(self) -> str:
        """The version of the files when they were opened, or a digest of what a frame held when it was first read."""
        if not self._version:
            try:
                self._version = contents(self._loaded())
            except Exception:  # noqa: BLE001  (whatever cannot be read now is found out after the charge)
                self._version = once()
        return self._version

    @property
    def known(self) -> Known:
        """A file by its place and its bytes, a folder also by those of its parts, a frame by its contents."""
        if self._known is not None and not self.changed:
            return self._known  # bytes are read once for each version
        digest = self._digest() if self.place else f"frame {self.version}"
        found = Known(tuple(name for name in (self.place, digest) if name), self._parts())
        self._known = None if self.changed else found
        return found

    @property
    def changed(self) -> bool:
        """Whether files are not as they were; a frame was copied."""
        now = self._now()
        return bool(now) and now != self._version

    def _loaded(self) -> Mapping[str, "pa.Table"]:
        with self._lock:
            if self._frames is None:
                self._frames = self._load()
            return self._frames

    def prepare(self) -> None:
        """Have the rows of a frame or a survey file at hand, or fail before anything is charged."""
        self._loaded()

    @property
    def dialect(self) -> Dialect:
        """DuckDB's own."""
        return "duckdb"

    @property
    def relation(self) -> str:
        """What stands behind FROM."""
        return self._relation

    @property
    def columns(self) -> Mapping[str, Shown]:
        """The columns by name."""
        return self._columns

    def lookup(self, codes: Mapping[Key, int]) -> str:
        """Keep a list as a table of its own."""
        key = tuple(codes.items())
        with self._lock:
            if key not in self._lists:
                name = f"list_{len(self._lists)}"
                listed = (
                    "SELECT unnest($1) AS value, unnest($2)::INTEGER AS code"  # a frame would take pandas
                )
                self._connection.execute(f"CREATE TABLE {name} AS {listed}", [[*codes], [*codes.values()]])
                self._lists[key] = name
            return self._lists[key]

    @contextmanager
    def reading(self) -> Iterator["Duck.Reader"]:
        """Read on a connection of its own, so that several threads may ask at once; what is held needs none."""
        frames = self._loaded()
        cursors: list[duckdb.DuckDBPyConnection] = []
        with ExitStack() as ending:
            limit = ending.enter_context(time_limit(partial(interrupt, cursors)))

            def begun() -> tuple["duckdb.DuckDBPyConnection", int]:
                with self._lock:
                    turn = self._mending.begun(self._now()) if self._mending else 0
                    cursor = self._connection.cursor()
                ending.callback(cursor.close)
                cursors.append(cursor)
                for name, frame in frames.items():
                    cursor.register(name, frame)
                cursor.execute("BEGIN TRANSACTION")
                return cursor, turn

            yield Duck.Reader(begun, self._mended, self.held, limit)

    def _mended(self, turn: int) -> bool:
        """Make malformed rows readable, if that was not done since a reader began."""
        if self._mending is None:
            return False
        with self._lock:
            return self._mending.done(turn, self._now())

    def resident(self, statement: str) -> str:
        """Keep the rows of a statement as a table in memory."""
        return self._resident.relation(statement)

    def _made_resident(self, name: str, statement: str) -> bool:
        """Make a table of a statement, unless the source changed meanwhile."""
        with self.reading() as reader:
            reader.rows(f"CREATE OR REPLACE TABLE {name} AS {statement}")
            kept = not self.changed
            reader.end(kept=kept)
        return kept

    @property
    def notes(self) -> tuple[str, ...]:
        """Say how many rows were found malformed."""
        return self._mending.notes if self._mending else ()

    def close(self) -> None:
        """Forget everything."""
        self._close()
        self._frames = {}

    class Reader:
        """One moment of the source."""

        def __init__(
            self,
            begun: Callable[[], tuple["duckdb.DuckDBPyConnection", int]],
            mended: Callable[[int], bool],
            held: Held,
            limit: TimeLimit,
        ) -> None:
            self._begun = begun
            self._mended = mended
            self._held = held
            self._limit = limit
            self._moment: tuple[duckdb.DuckDBPyConnection, int] | None = None

        @property
        def _cursor(self) -> "duckdb.DuckDBPyConnection":
            """The connection, whose moment begins with the first statement."""
            if self._moment is None:
                self._moment = self._begun()
            return self._moment[0]

        def rows(self, statement: str) -> list[tuple[Any, ...]]:
            """Give rows as they are."""
            return self._run(lambda: self._cursor.execute(statement).fetchall())

        def counts(self, statement: str) -> IntArray:
            """Give integers as one array."""
            found = self._run(lambda: self._cursor.execute(statement).fetchnumpy())
            return np.column_stack([np.asarray(column, dtype=np.int64) for column in found.values()])

        def folded(self, statement: str, fold: Fold) -> list[int]:
            """Fold batches as DuckDB streams them; if rows have to be mended, from the start again."""
            return self._run(lambda: fold(self._held.batches(statement, lambda: self._batches(statement))))

        def tallied(self, scan: Scan, tally: Tallying) -> IntArray:
            """Count batches as DuckDB streams them, few rows at once; if they must be mended, from the start."""
            read = self._at_once if scan.few else self._batches
            return self._run(lambda: tally(self._held.cells(scan, lambda: read(scan.statement))))

        def end(self, *, kept: bool) -> None:
            """End the moment; what was made in it stays or goes."""
            self._cursor.execute("COMMIT" if kept else "ROLLBACK")

        def in_turn(self, statement: str, fold: Fold) -> list[int]:
            """Fold batches as DuckDB streams them, which keeps the order of a statement that has one."""
            return self._run(lambda: fold(self._batches(statement)))

        def _batches(self, statement: str) -> Iterator[Codes]:
            for batch in self._cursor.sql(statement).to_arrow_reader(ROWS_AT_ONCE):
                self._limit.require()
                yield side_by_side(batch)

        def _at_once(self, statement: str) -> Iterator[Codes]:
            """Give few rows as arrays: a stream of them would load Arrow, which takes more memory than they do."""
            found = np.array([*self._cursor.execute(statement).fetchnumpy().values()]).T
            yield from (found[at : at + ROWS_AT_ONCE] for at in range(0, len(found), ROWS_AT_ONCE))

        def _run(self, ask: Callable[[], Answer]) -> Answer:
            """Ask, and ask again if rows were malformed and could be mended."""
            import duckdb

            self._limit.require()
            try:
                return ask()
            except (
                duckdb.InvalidInputException,
                duckdb.NotImplementedException,
                OSError,
            ):  # a stream's is OSError
                self._limit.require()
                self._cursor.execute("ROLLBACK")
                if self._moment is None or not self._mended(self._moment[1]):
                    raise
                self._cursor.execute("BEGIN TRANSACTION")
                return ask()


class Mending:
    """How the rows of a file that DuckDB finds malformed are made readable: once for each version of the file."""

    def __init__(
        self, place: "Place", view: str, relation: str, mend: Callable[[Path], tuple[str, int]]
    ) -> None:
        self.notes: tuple[str, ...] = ()
        self._connection, self._target = place.connection, place.spill.mended
        self._view, self._relation = view, relation
        self._mend = mend
        self._turn = 0
        self._version = ""
        self._show(relation)

    def begun(self, version: str) -> int:
        """Count the turns, so that a reader knows what it saw; a file that changed is first read as it is."""
        if self._version not in ("", version):
            self._version, self.notes = "", ()
            self._show(self._relation)
        return self._turn

    def done(self, turn: int, version: str) -> bool:
        """Mend the file unless this is what a reader saw already; say whether it should try again."""
        if self._turn > turn:
            return True
        if self._version == version:
            return False
        relation, wrong = self._mend(self._target)
        self._version = version
        self.notes = (f"{wrong:,} rows of the file are malformed: what cannot be read of them is missing",)
        self._show(relation)
        return True

    def _show(self, relation: str) -> None:
        self._turn += 1
        self._connection.execute(f"CREATE OR REPLACE VIEW {self._view} AS SELECT * FROM {relation}")


class Place(NamedTuple):
    """A DuckDB in memory and the private folder where it puts what does not fit there."""

    connection: "duckdb.DuckDBPyConnection"
    spill: Spill

    def close(self) -> None:
        """Forget both."""
        _closed(*self)


def opened(setup: Sequence[str] = (), paths: Sequence[str] = ()) -> Place:
    """Start a DuckDB, let `setup` reach these paths, and lock it."""
    import duckdb

    spill = new_spill()
    connection = duckdb.connect(":memory:", config={**CLOSED, "temp_directory": str(spill.rows)})
    try:
        if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
            connection.execute(
                "SET enable_progress_bar = false"
            )  # in a notebook it may be off and fail to be set
        for one in setup:
            connection.execute(one)
        known = {name for (name,) in connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()}
        connection.execute(f"SET disabled_optimizers = {quoted_text(','.join(SLOW & known))}")
        listed = ", ".join(map(quoted_text, [*paths, str(spill.mended)]))
        connection.execute(f"SET allowed_paths = [{listed}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    except BaseException:
        _closed(connection, spill)
        raise
    return Place(connection, spill)


def _closed(connection: "duckdb.DuckDBPyConnection", spill: Spill) -> None:
    connection.close()
    spill.remove()


def described(connection: "duckdb.DuckDBPyConnection", relation: str, *, collated: bool) -> dict[str, Shown]:
    """Read names and types of a relation."""
    found = connection.execute(f"SELECT * FROM {relation} LIMIT 0").description or []
    return {name: shown(quoted_name(name), str(kind), collated=collated) for name, kind, *_ in found}


def shown(column: str, kind: str, *, collated: bool = False) -> Shown:
    """Show a column of a DuckDB type; a table's own column may compare text by a collation, which is undone."""
    decimal = DECIMAL.fullmatch(kind)
    if kind == "BOOLEAN":
        return Shown("truth", column, kind)
    if kind == "BIGINT" or kind in WHOLE:
        return Shown("whole", column if kind == "BIGINT" else f"CAST({column} AS BIGINT)", kind)
    if kind == "DOUBLE":
        return Shown("number", column, kind)
    if kind in LARGE or (decimal and int(decimal[1]) <= EXACT_DIGITS):
        return Shown("number", f"CAST({column} AS DOUBLE)", kind, blurs=kind in LARGE - {"FLOAT"})
    if decimal:
        return Shown("number", f"CAST(CAST({column} AS VARCHAR) AS DOUBLE)", kind, blurs=True)
    if kind == "VARCHAR":
        return Shown("text", f'{column} COLLATE "binary"' if collated else column, kind)
    if kind.startswith("ENUM(") or kind == "UUID":
        return Shown("text", f"CAST({column} AS VARCHAR)", kind[:4])
    if kind == "DATE":
        return Shown("day", f"CAST({column} - DATE '1970-01-01' AS BIGINT)", kind)
    if kind.startswith("TIMESTAMP"):
        return Shown("moment", _micros(column, kind), kind)
    return Shown("nothing" if kind == '"NULL"' else "other", column, kind)


def _micros(column: str, kind: str) -> str:
    """Give microseconds; an infinite time has none, and stands far outside instead."""
    if kind in ("TIMESTAMP_NS", "TIMESTAMPTZ_NS"):
        return within(floored(f"epoch_ns({column})", 1000))
    zoned = kind == "TIMESTAMP WITH TIME ZONE"
    moment = column if zoned or kind == "TIMESTAMP" else f"TRY_CAST({column} AS TIMESTAMP)"
    middle = "TIMESTAMPTZ '1970-01-01 00:00:00+00'" if zoned else "TIMESTAMP '1970-01-01'"
    beyond = f"CASE WHEN {moment} > {middle} THEN {FAR} WHEN {moment} IS NOT NULL THEN -{FAR} END"
    return f"COALESCE({within(f'epoch_us({moment})')}, {beyond})"


def floored(number: str, by: int) -> str:
    """Divide integers and round down, near the ends of 64 bits too."""
    return f"{number} // {by} - CASE WHEN {number} % {by} < 0 THEN 1 ELSE 0 END"


def within(number: str, times: int = 1) -> str:
    """Multiply an integer, stopping where time ends."""
    end = FAR // times
    return f"CASE WHEN {number} > {end} THEN {FAR} WHEN {number} < -{end} THEN -{FAR} ELSE ({number}) * {times} END"


def quoted_name(name: str) -> str:
    """Quote an identifier."""
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """Quote a text."""
    return "'" + text.replace("'", "''") + "'"
