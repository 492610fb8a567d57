"""What an engine must do: show raw columns in a few plain kinds, hold look-up lists, and run statements.

Engines know nothing of privacy. They are handed whole SQL statements over rows that the schema has coded.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

from entwined.numbers import Codes, IntArray
from entwined.queries.axes import Axis
from entwined.tables.holding import Scan
from entwined.tables.origin import Known

Kind: TypeAlias = Literal["truth", "whole", "number", "text", "day", "moment", "code", "nothing", "other"]
Dialect: TypeAlias = Literal["duckdb", "postgres", "pyspark"]
Key: TypeAlias = str | float | int
Fold: TypeAlias = Callable[[Iterable[Codes]], list[int]]
Tallying: TypeAlias = Callable[[Iterable[Codes]], IntArray]

ROWS_AT_ONCE: Final = 2**16
FAR: Final = 9_000_000_000_000_000_000  # microseconds; stands for times beyond every calendar


@dataclass(frozen=True, slots=True)
class Shown:
    """A raw column as an engine shows it: SQL that gives one plain kind and never fails, and its own type.

    truth: a boolean; whole: a 64-bit integer; number: a double; text: text compared letter by letter;
    day: days since 1970; moment: microseconds since 1970 in UTC; code: what the schema made of it already;
    nothing: missing in every row; other: what no column that can be queried is made of.
    `repeats`: the source keeps few different values, so that counting them raw takes little memory.
    `blurs`: two values that differ may be shown as one.
    """

    kind: Kind
    sql: str
    type: str
    repeats: bool = False
    blurs: bool = False


class Reader(Protocol):
    """One moment of a table."""

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Run a statement and give its rows; for few of them."""

    def counts(self, statement: str) -> IntArray:
        """Run a statement that gives three integers a row; for millions of them."""

    def folded(self, statement: str, fold: Fold) -> list[int]:
        """Run a statement that gives integers, and fold its rows in batches as they come.

        Where rows lie in several places, each is folded there and what they give is added up.
        """

    def tallied(self, scan: Scan, tally: Tallying) -> IntArray:
        """Scan the cells of rows, and count them in batches as they come, where they lie if they are many."""

    def in_turn(self, statement: str, fold: Fold) -> list[int]:
        """Run a statement that gives integers in an order, and fold all of its rows here, in that order."""


class Holding(Protocol):
    """Scanned rows that may be kept."""

    def lending(self) -> AbstractContextManager[None]:
        """Keep what is scanned until this ends."""

    def scan_of(self, rows: Hashable, axes: Sequence[Axis]) -> Scan | None:
        """Find a scan that is held and has the cells along some axes."""


class Engine(Protocol):
    """Where rows live. Opening one reads names and types, never rows."""

    @property
    def held(self) -> "Holding":
        """What is kept of scanned rows while they are lent."""

    @property
    def place(self) -> str:
        """The kind and place of the table in words, never a user or a password; empty for a frame."""

    @property
    def folder(self) -> Path | None:
        """The folder of a table that lives in a file."""

    @property
    def version(self) -> str:
        """Which version of the rows was opened; it never fails, and says nothing about rows to anybody but us."""

    @property
    def known(self) -> Known:
        """What the same rows are known by at another place, under another name or through a view."""

    @property
    def changed(self) -> bool:
        """Whether the rows are seen to be of another version by now."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the holder should know of the rows that were read."""

    @property
    def dialect(self) -> Dialect:
        """Which SQL it speaks, as Ibis calls it."""

    @property
    def relation(self) -> str:
        """What stands behind FROM."""

    @property
    def columns(self) -> Mapping[str, Shown]:
        """The columns by name."""

    def lookup(self, codes: Mapping[Key, int]) -> str:
        """Give a relation with the columns `value` and `code`; it stands behind JOIN."""

    def resident(self, statement: str) -> str:
        """Keep the rows of a statement in memory and name their relation; an empty name where they are not kept."""

    def reading(self) -> AbstractContextManager[Reader]:
        """Hold one moment of the table while statements run."""

    def close(self) -> None:
        """Let go of files and connections."""


@runtime_checkable
class Preparing(Protocol):
    """An engine that has to convert its rows before they can be asked for."""

    def prepare(self) -> None:
        """Convert them, or fail where they cannot be; before anything is charged."""


@runtime_checkable
class Connected(Protocol):
    """An engine that reads over a connection, which may break while nobody reads or in the middle of a scan."""

    def reconnect(self) -> None:
        """Make sure that the server answers, over a new connection if need be; it fails where it does not."""

    def is_lost(self, failed: Exception) -> bool:
        """Whether an error means that the connection broke, and says nothing else."""
