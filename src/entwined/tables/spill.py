"""Folders for rows that do not fit in memory: the owner's alone, and swept after a process that was killed.

Each has a lock that its process holds as long as it lives; the kernel gives it back whatever the end was. Whoever makes
a folder first removes those whose lock is free.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from entwined.errors import BadTable
from entwined.writing import why_not

LOCK: Final = "lock"
ROWS: Final = "rows"
OWNER_ONLY: Final = 0o700


@dataclass(frozen=True, slots=True)
class Spill:
    """A folder of this process and the open file whose lock says that it is in use."""

    folder: Path
    lock: int

    @property
    def rows(self) -> Path:
        """Where an engine may put rows."""
        return self.folder / ROWS

    @property
    def mended(self) -> Path:
        """Where a copy of a file with malformed rows goes."""
        return self.folder / ROWS / "mended.csv"

    def remove(self) -> None:
        """Remove the rows, and then give the lock back."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self.lock)


def spill_home() -> Path:
    """Name the place of all such folders: under the user's own state folder."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "entwined" / "spill"


def new_spill() -> Spill:
    """Sweep what others left behind, and make a folder that nobody else can look into."""
    home = spill_home()
    try:
        home.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
        home.chmod(OWNER_ONLY)
        with _one_at_a_time(home):
            _sweep(home)
            folder = home / uuid4().hex
            folder.mkdir(mode=OWNER_ONLY)
            lock = _open(folder / LOCK)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (folder / ROWS).mkdir(mode=OWNER_ONLY)
    except OSError as failed:
        raise BadTable(
            f"Temporary rows cannot be kept at {home}: {why_not(failed)} "
            "Let XDG_STATE_HOME name a folder of yours that can be written."
        ) from None
    return Spill(folder, lock)


@contextmanager
def _one_at_a_time(home: Path) -> Iterator[None]:
    """Keep a folder that is being made from being swept."""
    gate = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield
    finally:
        os.close(gate)


def _open(path: Path, *, new: bool = True) -> int:
    flags = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    return os.open(path, flags | os.O_CREAT if new else flags, 0o600)


def _sweep(home: Path) -> None:
    for folder in home.iterdir():
        if folder.is_dir() and not folder.is_symlink() and _is_free(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_free(folder: Path) -> bool:
    try:
        lock = _open(folder / LOCK, new=False)
    except FileNotFoundError:  # it died before it had one, or is removing it
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
