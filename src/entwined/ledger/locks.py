"""Locks between threads and processes of one machine, which the kernel gives back when their holder dies.

A lock is one byte of a file that is never written, so that taking it leaves no trace on the disk. The kernel
counts such locks by process and forgets them all when the process closes the file: each process therefore
opens a lock file once and never closes it, and keeps its own threads apart itself.
"""

import fcntl
import os
import threading
import time
from pathlib import Path
from typing import Final

from entwined.errors import LedgerUnavailable
from entwined.ledger.canonical import sha256

FIRST_WAIT: Final = 0.0002
LONGEST_WAIT: Final = 0.01


class Lock:
    """An exclusive lock, held from birth until `release`."""

    def __init__(self, file: "LockFile", place: int) -> None:
        self._file = file
        self._place = place
        self._holder = os.getpid()

    def release(self) -> None:
        """Give the lock back; a fork of the holder has nothing to give."""
        if self._holder == os.getpid():
            self._holder = 0
            self._file.release(self._place)


class LockFile:
    """A file whose bytes are locks, as this process has it open."""

    def __init__(self, path: Path) -> None:
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as failed:
            raise LedgerUnavailable(
                f"The lock file {path} cannot be opened: {failed.strerror}. Give the right to write there."
            ) from None
        self._held: set[int] = set()
        self._change = threading.Condition()

    def acquire(self, name: str, patience: float, what: str) -> Lock:
        """Wait for the lock of that name; `what` says who has it when patience ends."""
        place = int(sha256(name)[:15], 16)  # one of 2^60 bytes
        deadline = time.monotonic() + patience
        with self._change:
            if not self._change.wait_for(lambda: place not in self._held, patience):
                raise LedgerUnavailable(what)
            self._held.add(place)
        try:
            self._wait_for_others(place, deadline, what)
        except BaseException:
            self._forget(place)
            raise
        return Lock(self, place)

    def release(self, place: int) -> None:
        """Give a lock back."""
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN, 1, place)
        self._forget(place)

    def is_at(self, path: Path) -> bool:
        """Tell whether others who open that path find the same file."""
        try:
            return os.path.samestat(path.stat(), os.fstat(self._descriptor))
        except FileNotFoundError:
            return False

    def _wait_for_others(self, place: int, deadline: float, what: str) -> None:
        wait = FIRST_WAIT
        while True:
            try:
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            except (BlockingIOError, PermissionError):  # POSIX lets a system answer with either
                if time.monotonic() > deadline:
                    raise LedgerUnavailable(what) from None
            else:
                return
            time.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT)

    def _forget(self, place: int) -> None:
        with self._change:
            self._held.discard(place)
            self._change.notify_all()


class _Opened:
    """The lock files that this process has open."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Begin anew: what a fork finds here is its parent's, locked as its parent's threads had it."""
        self.files: dict[Path, LockFile] = {}
        self.change = threading.Lock()


_opened: Final = _Opened()
os.register_at_fork(after_in_child=_opened.start)


def lock(path: Path, name: str, patience: float, what: str) -> Lock:
    """Wait for a lock by its name in a lock file; `what` says who has it when patience ends."""
    with _opened.change:
        file = _opened.files.get(path)
        if file is None or not file.is_at(path):
            file = _opened.files[path] = LockFile(path)
    return file.acquire(name, patience, what)
