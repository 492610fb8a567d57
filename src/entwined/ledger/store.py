"""Where a ledger is kept: what every database has to offer it."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Final, Generic, Protocol, TypeVar
from weakref import finalize

from entwined.ledger.entry import Entry
from entwined.ledger.pages import Pages

Connection = TypeVar("Connection")


class Lease(Protocol):
    """The right to be the only one who answers a question; given back when its holder dies."""

    def release(self) -> None:
        """Let the next one in."""
        ...


class Store(Protocol):
    """A database: consistent reading, exclusive and durable writing, leases."""

    @property
    def name(self) -> str:
        """The place in words, without secrets; equal places have equal names."""
        ...

    def create(self, first: Entry, document: bytes) -> None:
        """Make the tables with their first entry, all or nothing, where there is no ledger."""
        ...

    def reading(self) -> AbstractContextManager[Pages]:
        """Show one moment of the ledger."""
        ...

    def writing(self) -> AbstractContextManager[Pages]:
        """Write alone; on leaving without an error everything is on disk, otherwise nothing is written."""
        ...

    def clock(self) -> datetime:
        """Tell the time by the database's clock, where it has one."""
        ...

    def lease(self, question: str) -> Lease:
        """Wait for the right to answer a question."""
        ...

    def close(self) -> None:
        """Close the connections that are not in use."""
        ...


_abandoned: Final[list[object]] = []


class Pool(Generic[Connection]):
    """Open connections, each used by one thread at a time and only by the process that opened it."""

    def __init__(self, connect: Callable[[], Connection], disconnect: Callable[[Connection], None]) -> None:
        self._connect = connect
        self._disconnect = disconnect
        self._idle: list[tuple[int, Connection]] = []
        finalize(self, _close_idle, self._idle, disconnect)

    def take(self) -> Connection:
        """Take an idle connection, or a new one."""
        own = _own(self._idle)
        return self._connect() if own is None else own

    def give(self, connection: Connection) -> None:
        """Take back a connection that is sound."""
        self._idle.append((os.getpid(), connection))

    def drop(self, connection: Connection) -> None:
        """Close a connection that is not."""
        self._disconnect(connection)

    def close(self) -> None:
        """Close all idle connections."""
        _close_idle(self._idle, self._disconnect)


def _own(idle: list[tuple[int, Connection]]) -> Connection | None:
    """Take an idle connection of this process; a fork must neither use nor close those of its parent."""
    while True:
        try:
            process, connection = idle.pop()
        except IndexError:
            return None
        if process == os.getpid():
            return connection
        _abandoned.append(connection)  # where it is never collected, so never closed


def _close_idle(idle: list[tuple[int, Connection]], disconnect: Callable[[Connection], None]) -> None:
    while (connection := _own(idle)) is not None:
        disconnect(connection)
