"""Limits of reading: how long one reading of a table may take, and how much a packed file may hold.

A view may have no end, and two megabytes may be unpacked to two gigabytes. What can be known of that is refused when a
table is opened, before anything is charged. Otherwise a reading is stopped when its time is over. Both limits are the
holder's, set in the environment; that a reading was stopped is for the holder to know, since it tells of the rows.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from time import monotonic
from typing import Final, Protocol

from entwined.errors import BadInput, SlowReadingError

SECONDS: Final = "ENTWINED_READING_SECONDS"
USUAL_SECONDS: Final = 600.0
AGAIN: Final = 0.1
"""Seconds after which a statement that began when time was over is stopped, too."""


def reading_seconds() -> float:
    """Give the seconds that one reading may take."""
    text = os.environ.get(SECONDS, "")
    try:
        seconds = float(text) if text else USUAL_SECONDS
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        raise BadInput(f"{SECONDS} is {text!r:.40}. Give a number of seconds above 0, such as 600.")
    return seconds


class TimeLimit:
    """The time of one reading; `stop` makes the engine give up whatever it does."""

    def __init__(self, seconds: float, stop: Callable[[], object]) -> None:
        self.seconds = seconds
        self._deadline = monotonic() + seconds
        self._stop = stop
        self._ended = threading.Event()
        self._watch = threading.Timer(seconds, self._stop_until_ended)
        self._watch.daemon = True

    @property
    def is_over(self) -> bool:
        """Whether its time is over."""
        return monotonic() >= self._deadline

    def require(self) -> None:
        """Stop here if its time is over."""
        if self.is_over:
            raise SlowReadingError(
                f"Reading the table took longer than {self.seconds:g} seconds and was stopped. Give fewer rows, or a "
                f"larger {SECONDS}."
            )

    def start(self) -> None:
        """Begin to watch."""
        self._watch.start()

    def end(self) -> None:
        """Stop to watch."""
        self._ended.set()
        self._watch.cancel()

    def _stop_until_ended(self) -> None:
        """Stop what runs, and what begins before the reader noticed."""
        while not self._ended.is_set():
            with suppress(Exception):  # what is closed by now cannot be stopped, and need not be
                self._stop()
            self._ended.wait(AGAIN)


class Interruptible(Protocol):
    """A connection whose statement can be stopped from another thread."""

    def interrupt(self) -> object:
        """Stop what it does."""


def interrupt(connections: Iterable[Interruptible]) -> None:
    """Stop what runs on some connections; those that come later are seen, too."""
    for connection in connections:
        connection.interrupt()


_running: Final[ContextVar[TimeLimit | None]] = ContextVar("running", default=None)


@contextmanager
def time_limit(stop: Callable[[], object]) -> Iterator[TimeLimit]:
    """Let a reading take its time and no more; whatever fails when that is over fails for this reason."""
    limit = TimeLimit(reading_seconds(), stop)
    before = _running.set(limit)
    limit.start()
    try:
        yield limit
    except Exception:
        limit.require()
        raise
    finally:
        limit.end()
        _running.reset(before)


def require_time() -> None:
    """Stop here if rows are being read and the time for it is over."""
    limit = _running.get()
    if limit is not None:
        limit.require()
