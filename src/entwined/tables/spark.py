"""Spark: a frame, a session with a table's name, or a master's URL.

Columns are renamed by their place, so that no name of the source meets the parser. Nothing depends on the
session's time zone or on whether it fails or wraps on overflow. Folds run in Spark's Python workers, which need
entwined as well.
"""

import itertools
import os
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import numpy as np

from entwined.errors import BadTable
from entwined.numbers import Codes, IntArray
from entwined.queries.axes import Axis
from entwined.tables.engine import ROWS_AT_ONCE, Dialect, Fold, Key, Shown, Tallying
from entwined.tables.frames import checked_names, places
from entwined.tables.holding import Scan, side_by_side, small
from entwined.tables.java import find_java
from entwined.tables.limits import TimeLimit, time_limit
from entwined.tables.origin import Known, of_server, sampled, untouched, version_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

WHOLE: Final = {"tinyint", "smallint", "int", "bigint"}
DAY_MICROS: Final = 86_400_000_000
MOST_BROUGHT: Final = 2**27
BYTES_A_CODE: Final = {"tinyint": 1, "smallint": 2, "int": 4, "bigint": 8}
MOST_FILES: Final = 10_000
_numbers = itertools.count()


def open_spark(source: Any, table: str | None, version: str | None = None) -> "Spark":
    """Open a Spark frame, or a table by its name in a session."""
    if hasattr(source, "createOrReplaceTempView"):
        return Spark(source, "spark frame", version, ours=False, named=False)
    if table is None:
        raise BadTable(
            "A Spark session has many tables. Say which: open_table(session, schema, table='name')."
        )
    return Spark(_found(source, table), f"spark {table}", version, ours=False)


def open_master(url: str, table: str | None, version: str | None = None) -> "Spark":
    """Start or join a Spark at a master's URL: spark://host:port, spark://local[2], or sc:// for Spark Connect."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise BadTable(
            "Tables in Spark need the package pyspark. Run: pip install 'entwined[spark]'."
        ) from None
    if table is None:
        raise BadTable(f"{url} has many tables. Say which: {url}?table=name.")
    master = url.removeprefix("spark://").rstrip("/") if url.startswith("spark://local") else url.rstrip("/")
    find_java()
    os.environ.setdefault(
        "PYSPARK_PYTHON", sys.executable
    )  # folds run where the rows lie, by the Python of this one
    builder = SparkSession.builder.appName("entwined")
    try:
        session = (builder.remote(url) if url.startswith("sc://") else builder.master(master)).getOrCreate()
    except Exception:  # noqa: BLE001  (Java's errors have no common class)
        raise BadTable(f"No Spark answers at {url}. Check the URL, and that Java 17 is there.") from None
    return Spark(_found(session, table), f"spark {of_server(url)} {table}", version, ours=True)


def _found(session: "SparkSession", table: str) -> "DataFrame":
    try:
        return session.table(table)
    except Exception:  # noqa: BLE001  (Java's errors have no common class)
        raise BadTable(f"Spark has no table {table!r}. Check its name, and that it was registered.") from None


def _local_files(frame: "DataFrame") -> tuple[Path, ...]:
    """List the files of this machine that rows lie in; none where they lie elsewhere, or Spark cannot tell."""
    try:
        places = [urlsplit(place) for place in frame.inputFiles()]
    except Exception:  # noqa: BLE001  (Java's errors have no common class, and not every Spark can tell)
        return ()
    if len(places) > MOST_FILES or any(place.scheme not in ("", "file") for place in places):
        return ()
    return tuple(sorted(Path(unquote(place.path)) for place in places))


class _Tagged(NamedTuple):
    """How statements of this thread are marked and stopped, in a session far away or in one of this machine."""

    begin: Callable[[str], object]
    end: Callable[[str], object]
    stop: Callable[[str], object]

    @classmethod
    def of(cls, session: "SparkSession") -> "_Tagged":
        """Choose by the kind of session."""
        if type(session).__module__.startswith("pyspark.sql.connect"):
            return cls(session.addTag, session.removeTag, session.interruptTag)
        context = session.sparkContext
        context.setInterruptOnCancel(interruptOnCancel=True)
        return cls(context.addJobTag, context.removeJobTag, context.cancelJobsWithTag)


class Spark:
    """One frame of a Spark session."""

    def __init__(
        self, frame: "DataFrame", place: str, version: str | None, *, ours: bool, named: bool = True
    ) -> None:
        names = checked_names(frame.columns)
        self._session = frame.sparkSession
        self._ours = ours
        self.place = place
        self.folder = None
        self.notes = ()
        self._files = _local_files(frame)
        self._opened = untouched(self._files)
        self.version = version_of(version)
        self.known = Known(
            tuple(name for name in (named and place, self._files and sampled(self._files)) if name)
        )
        self.held = HeldFrames()
        self._views: list[str] = []
        self._lists: dict[tuple[tuple[Key, int], ...], str] = {}
        types = [field.dataType.simpleString() for field in frame.schema.fields]
        self._columns = {name: shown(f"c{at}", types[at]) for at, name in enumerate(names)}
        self._relation = self._view(frame.toDF(*places(len(names))))

    @property
    def changed(self) -> bool:
        """Whether files of this machine were touched; rows that lie elsewhere show no sign."""
        return untouched(self._files) != self._opened

    @property
    def dialect(self) -> Dialect:
        """Spark's own."""
        return "pyspark"

    @property
    def relation(self) -> str:
        """What stands behind FROM."""
        return self._relation

    @property
    def columns(self) -> Mapping[str, Shown]:
        """The columns by name."""
        return self._columns

    def lookup(self, codes: Mapping[Key, int]) -> str:
        """Keep a list as a view, which Spark sends to where the rows are."""
        key = tuple(codes.items())
        if key not in self._lists:
            import pyarrow as pa

            texts = isinstance(next(iter(codes), ""), str)
            values = pa.array(codes, pa.string()) if texts else pa.array(map(float, codes), pa.float64())
            listed = pa.table({"value": values, "code": pa.array(codes.values(), pa.int32())})
            self._lists[key] = self._view(
                self._session.createDataFrame(listed)
            )  # no Python where the rows are
        return self._lists[key]

    def resident(self, statement: str) -> str:  # noqa: ARG002  (rows that others write are read anew)
        """Keep nothing: what was kept would not show what became of the rows."""
        return ""

    @contextmanager
    def reading(self) -> Iterator["Spark.Reader"]:
        """Read; a frame of Spark is one moment as far as its source is."""
        tag = f"entwined-{uuid4().hex}"
        running = _Tagged.of(self._session)
        with time_limit(partial(running.stop, tag)) as limit:
            running.begin(tag)
            try:
                yield Spark.Reader(self._session, self.held, limit)
            finally:
                running.end(tag)

    def close(self) -> None:
        """Forget the views; a session that the caller made stays."""
        for view in self._views:
            self._session.catalog.dropTempView(view)
        self._views.clear()
        if self._ours:
            self._session.stop()

    def _view(self, frame: "DataFrame") -> str:
        name = f"entwined_{next(_numbers)}"
        frame.createOrReplaceTempView(name)
        self._views.append(name)
        return name

    class Reader:
        """Runs statements."""

        def __init__(self, session: "SparkSession", held: "HeldFrames", limit: TimeLimit) -> None:
            self._session = session
            self._held = held
            self._limit = limit

        def rows(self, statement: str) -> list[tuple[Any, ...]]:
            """Give rows as they are."""
            self._limit.require()
            return [tuple(row) for row in self._session.sql(statement).collect()]

        def counts(self, statement: str) -> IntArray:
            """Give integers as one array."""
            found = self.rows(statement)
            return np.array(found, dtype=np.int64).reshape(-1, 3)

        def folded(self, statement: str, fold: Fold) -> list[int]:
            """Fold each part of the rows where it lies; what comes here are its sums, or that it failed.

            Few rows that are asked for again while they are lent come here as codes, once, and are folded here.
            """
            brought = self._held.brought(statement)
            if brought is not None:
                return fold(brought)
            frame = self._held.frame(statement, self._session)
            found = frame.mapInArrow(partly(fold), "sums array<string>").collect()
            if any(row.sums is None for row in found):
                raise ValueError("A part of the rows could not be folded.")
            parts = [fold(()), *([int(text) for text in row.sums] for row in found)]
            return [sum(numbers) for numbers in zip(*parts, strict=True)]

        def tallied(self, scan: Scan, tally: Tallying) -> IntArray:
            """Bring few rows here as the numbers of their cells, which are lent; count many where they lie."""
            frame = self._held.frame(scan.statement, self._session)
            brought = self._held.brought(scan.statement)
            self._held.note(scan)
            if brought is not None:
                return tally(brought)
            counted = (
                frame.mapInArrow(counting(tally), "cell long, n long").groupBy("cell").sum("n").collect()
            )
            counts = tally(())
            for cell, number in counted:
                if cell < 0:
                    raise ValueError("A part of the rows could not be counted.")
                counts[cell] = number
            return counts

        def in_turn(self, statement: str, fold: Fold) -> list[int]:
            """Bring the rows here, as they are sorted, and fold them."""
            found = self._session.sql(statement).toArrow()
            return fold(map(side_by_side, found.to_batches(ROWS_AT_ONCE)))


class HeldFrames:
    """Frames of scanned rows by statement, kept by Spark where they lie for as long as rows are lent.

    A round of Spark takes a second or so of its own, however few rows there are. So a statement that is asked again, by
    a mechanism of several rounds, is brought here if its codes fit a limit, and is forgotten with the rest.
    """

    def __init__(self) -> None:
        self._lent = 0
        self._kept: dict[str, DataFrame] = {}
        self._brought: dict[str, list[Codes] | None] = {}
        self._scans: list[Scan] = []
        self._bytes = 0

    @contextmanager
    def lending(self) -> Iterator[None]:
        """Keep what is scanned until the last lending ends."""
        self._lent += 1
        try:
            yield
        finally:
            self._lent -= 1
            if not self._lent:
                for frame in self._kept.values():
                    frame.unpersist()
                self._kept, self._brought, self._scans, self._bytes = {}, {}, [], 0

    def scan_of(self, rows: Hashable, axes: Sequence[Axis]) -> Scan | None:
        """Find a scan that is kept and has the cells along some axes."""
        return next((one for one in self._scans if one.has(rows, axes)), None)

    def note(self, scan: Scan) -> None:
        """Remember what a frame that is kept was scanned for."""
        if scan.statement in self._kept and scan not in self._scans:
            self._scans.append(scan)

    def frame(self, statement: str, session: "SparkSession") -> "DataFrame":
        """Give the rows of a statement, the same ones again while they are lent."""
        if not self._lent:
            return session.sql(statement)
        if statement not in self._kept:
            self._kept[statement] = session.sql(statement).persist()
        return self._kept[statement]

    def brought(self, statement: str) -> "list[Codes] | None":
        """Give the codes of rows that were asked for before, if they are few enough to be here."""
        frame = self._kept.get(statement)
        if frame is None:
            return None
        if statement not in self._brought:
            widest = max(BYTES_A_CODE[kind] for _, kind in frame.dtypes)
            size = frame.count() * len(frame.columns) * widest
            few = self._bytes + size <= MOST_BROUGHT
            self._bytes += size if few else 0
            batches = frame.toArrow().combine_chunks().to_batches(ROWS_AT_ONCE) if few else ()
            self._brought[statement] = [small(side_by_side(one)) for one in batches] if few else None
        return self._brought[statement]


def partly(fold: Fold) -> Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]:
    """Fold a part of the rows into one row of sums, written as text for their size; without a word if it fails."""

    def folded(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        try:
            sums = [str(number) for number in fold(map(side_by_side, batches))]
        except Exception:  # noqa: BLE001  (its words may come from private rows, and would be logged)
            sums = None
        yield pa.record_batch({"sums": pa.array([sums], pa.list_(pa.string()))})

    return folded


def counting(tally: Tallying) -> Callable[[Iterable["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]:
    """Count a part of the rows, and tell the cells that are not empty; a cell below all of them if it fails."""

    def counted(batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        import pyarrow as pa

        try:
            counts = tally(map(side_by_side, batches))
            cells = np.flatnonzero(counts)
            numbers = counts[cells]
        except Exception:  # noqa: BLE001  (its words may come from private rows, and would be logged)
            cells = numbers = np.array([-1])
        yield pa.record_batch({"cell": pa.array(cells, pa.int64()), "n": pa.array(numbers, pa.int64())})

    return counted


def shown(column: str, kind: str) -> Shown:
    """Show a column of a Spark type."""
    if kind == "boolean":
        return Shown("truth", column, kind)
    if kind in WHOLE:
        return Shown("whole", f"CAST({column} AS BIGINT)", kind)
    if kind in ("float", "double") or kind.startswith("decimal"):
        return Shown("number", f"CAST({column} AS DOUBLE)", kind, blurs=kind.startswith("decimal"))
    if kind.startswith(("string", "char", "varchar")):
        plain = f"collate({column}, 'UTF8_BINARY')" if "collate" in kind else f"CAST({column} AS STRING)"
        return Shown("text", plain, kind)
    if kind == "date":
        return Shown("day", f"CAST(unix_date({column}) AS BIGINT)", kind)
    if kind == "timestamp":
        return Shown("moment", f"unix_micros({column})", kind)
    if kind == "timestamp_ntz":
        return Shown("moment", _local_micros(column), kind)
    return Shown("nothing" if kind == "void" else "other", column, kind)


def _local_micros(column: str) -> str:
    """Count the microseconds of a time without zone by its parts: no zone of the session comes in."""
    days = f"CAST(unix_date(CAST({column} AS DATE)) AS BIGINT) * {DAY_MICROS}"
    clock = f"(hour({column}) * 3600 + minute({column}) * 60) * CAST(1000000 AS BIGINT)"
    seconds = f"CAST(extract(SECOND FROM {column}) * 1000000 AS BIGINT)"
    return f"({days} + {clock} + {seconds})"
