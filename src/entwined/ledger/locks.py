"""Locks between threads and processes of one machine, which the kernel gives back when their holder dies.

A lock is one byte of a file that is never written, so that taking it leaves no trace on the disk. The kernel
counts such locks by process and forgets them all when the process closes the file: each process therefore has
a lock file open once, for as long as any of its threads needs it, and keeps its own threads apart itself.
"""

import fcntl
import os
import threading
import time
from pathlib import Path
from typing import Final

from entwined.canonical import sha256
from entwined.errors import LedgerUnavailable
from entwined.writing import why_not

FIRST_WAIT: Final = 0.0002
LONGEST_WAIT: Final = (
    0.003  # longer, and threads of the process that has a lock would take it again and again
)


class LockFile:
    """A file whose bytes are locks, as this process has it open."""

    def __init__(self, path: Path) -> None:
        try:
            self.descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as failed:
            raise LedgerUnavailable(
                f"The ledger's lock file {path} cannot be opened for writing: {why_not(failed)}"
            ) from None
        self.users = 0
        self._held: set[int] = set()
        self._change = threading.Condition()

    def is_at(self, path: Path) -> bool:
        """Tell whether others who open that path find the same file."""
        try:
            return os.path.samestat(path.stat(), os.fstat(self.descriptor))
        except FileNotFoundError:
            return False

    def acquire(self, place: int, patience: float, what: str) -> None:
        """Wait for a lock; `what` says who has it when patience ends."""
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

    def release(self, place: int) -> None:
        """Give a lock back."""
        fcntl.lockf(self.descriptor, fcntl.LOCK_UN, 1, place)
        self._forget(place)

    def _wait_for_others(self, place: int, deadline: float, what: str) -> None:
        wait = FIRST_WAIT
        while True:
            try:
                fcntl.lockf(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
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
        self._files: dict[Path, LockFile] = {}
        self._change = threading.Lock()

    def enter(self, path: Path) -> LockFile:
        """Use the file at a path, with whoever uses it already."""
        with self._change:
            file = self._files.get(path)
            if file is None or not file.is_at(path):
                file = self._files[path] = LockFile(path)
            file.users += 1
            return file

    def leave(self, path: Path, file: LockFile) -> None:
        """Close a file that no thread uses: no lock can be lost by it."""
        with self._change:
            file.users -= 1
            if file.users == 0:
                os.close(file.descriptor)
                if self._files.get(path) is file:
                    del self._files[path]

    def start_anew(self) -> None:
        """Forget, in a fork, what its parent has open: the locks are the parent's, and stay so."""
        for file in self._files.values():
            os.close(file.descriptor)
        self._files = {}
        self._change = threading.Lock()  # a thread that is not here may have held it


_opened: Final = _Opened()
os.register_at_fork(after_in_child=_opened.start_anew)


class Lock:
    """An exclusive lock by its name in a lock file, held from birth until `release`."""

    def __init__(self, path: Path, name: str, patience: float, what: str) -> None:
        self._path = path
        self._place = int(sha256(name)[:15], 16)  # one of 2^60 bytes
        self._file = _opened.enter(path)
        try:
            self._file.acquire(self._place, patience, what)
        except BaseException:
            _opened.leave(path, self._file)
            raise
        self._holder = os.getpid()

    def release(self) -> None:
        """Give the lock back; a fork of the holder has nothing to give."""
        if self._holder == os.getpid():
            self._holder = 0
            self._file.release(self._place)
            _opened.leave(self._path, self._file)
