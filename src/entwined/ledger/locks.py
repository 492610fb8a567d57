"""Locks on files that the kernel gives back when their holder dies."""

import fcntl
import os
import time
from pathlib import Path
from typing import Final

from entwined.errors import LedgerUnavailable

FIRST_WAIT: Final = 0.0002
LONGEST_WAIT: Final = 0.01

_held: Final[set[int]] = set()


class FileLock:
    """An exclusive lock between threads and processes on one machine, held from birth until `release`."""

    def __init__(self, path: Path, patience: float, what: str) -> None:
        self._path = path
        self._holder = os.getpid()
        self._descriptor = _acquire(path, time.monotonic() + patience, what)
        _held.add(self._descriptor)

    def release(self, *, remove: bool = False) -> None:
        """Give the lock back; `remove` also tidies away the file it is on."""
        if self._holder != os.getpid():  # a fork of the process that holds it, or released before
            return
        self._holder = 0
        _held.discard(self._descriptor)
        if remove:
            self._path.unlink(missing_ok=True)
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        os.close(self._descriptor)


def _acquire(path: Path, deadline: float, what: str) -> int:
    """Open and lock the file that stands at `path`, trying until the deadline."""
    wait = FIRST_WAIT
    while True:
        descriptor = _open(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _still_there(path, descriptor):
                return descriptor
        except BlockingIOError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if time.monotonic() > deadline:
            raise LedgerUnavailable(f"{what} Try again later; nothing was charged by this attempt.")
        time.sleep(wait)
        wait = min(2 * wait, LONGEST_WAIT)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as failed:
        raise LedgerUnavailable(
            f"The lock {path} cannot be opened: {failed.strerror}. Give the right to write there."
        ) from None


def _still_there(path: Path, descriptor: int) -> bool:
    """Tell whether the locked file is the one others will find, not one that was tidied away meanwhile."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _let_go_after_fork() -> None:
    """Close a child's share of its parent's locks, or they would outlive the parent."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_let_go_after_fork)
