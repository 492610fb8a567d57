"""A small file that remembers a mark and only moves forward.

Two slots on two disk blocks are written in turn, so that a write cut short by a power failure spoils only the
older state, and a reader who meets a half-written slot falls back on the other.
"""

import os
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

from entwined.canonical import sha256
from entwined.errors import LedgerUnavailable
from entwined.ledger.entry import START, Mark
from entwined.ledger.locks import Lock

# blocks that exist already need no new metadata, and a sync without metadata does not wait for the journal
sync_data: Final = getattr(os, "fdatasync", os.fsync)
SLOT: Final = 4096
"""A block of its own for each slot: what a disk writes at once."""


class Kept(NamedTuple):
    """A mark, and the id of the ledger that it is of, where that is kept too."""

    mark: Mark
    ledger: str = ""


NOTHING: Final = Kept(START)


class Slots:
    """The furthest mark that was written to one file; `what` is what people call it."""

    def __init__(self, path: Path, what: str, patience: float) -> None:
        self.path = path
        self._what = what
        self._lock = path.with_name(path.name + "-lock")
        self._patience = patience

    def read(self) -> Kept | None:
        """Read the furthest mark; none where there is no file, `NOTHING` where it holds no valid one."""
        try:
            slots = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as failed:
            raise LedgerUnavailable(
                f"{self._what} {self.path} cannot be read: {failed.strerror}. Give the right to read it."
            ) from None
        return max(_unpack(slots[:SLOT]), _unpack(slots[SLOT:]))

    def start(self, kept: Kept, mode: int) -> None:
        """Make the file, whole or not at all; FileExistsError where it stands, PermissionError where it may not."""
        draft = self.path.with_name(f".{uuid4().hex}-lock")  # what ends so is nobody's mark
        try:
            _write_new(draft, kept, mode)
            try:
                os.link(draft, self.path)  # who reads meanwhile finds all of it, or nothing
            except FileExistsError:
                raise
            except OSError:  # a place without links: there a reader may meet an empty file, and is refused
                _write_new(self.path, kept, mode)
        finally:
            draft.unlink(missing_ok=True)
        sync_folder(self.path.parent)

    def require_room(self) -> None:
        """Fail where the file could not be made."""
        draft = self.path.with_name(f".{uuid4().hex}-lock")
        try:
            _write_new(draft, NOTHING, 0o600)
        finally:
            draft.unlink(missing_ok=True)

    def raise_to(self, kept: Kept) -> None:
        """Remember a further mark of the same ledger, durably; a nearer one changes nothing."""
        busy = f"{self._what} {self.path} is locked by another process. Try again later."
        held = Lock(self._lock, "raise", self._patience, busy)
        try:
            self._raise_alone(kept)
        finally:
            held.release()

    @property
    def can_keep(self) -> bool:
        """Whether the mark may be written, or raised where it stands."""
        return self.is_writable or (not self.path.exists() and os.access(self.path.parent, os.W_OK))

    @property
    def is_writable(self) -> bool:
        """Whether there is a mark that may be raised."""
        return os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)

    def replace(self, kept: Kept, mode: int) -> None:
        """Write a mark in place of whatever stands there; at no moment is there none."""
        draft = self.path.with_name(f".{uuid4().hex}-lock")  # what ends so is nobody's mark
        try:
            _write_new(draft, kept, mode)
            draft.replace(self.path)
        finally:
            draft.unlink(missing_ok=True)
        sync_folder(self.path.parent)

    def forget(self) -> None:
        """Remove the file."""
        self.path.unlink(missing_ok=True)

    def _raise_alone(self, kept: Kept) -> None:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            first = _unpack(os.pread(descriptor, SLOT, 0))
            second = _unpack(os.pread(descriptor, SLOT, SLOT))
            before = max(first, second)
            if before.ledger == kept.ledger and kept.mark.position > before.mark.position:
                os.pwrite(descriptor, _pack(kept), 0 if first <= second else SLOT)
                sync_data(descriptor)
        finally:
            os.close(descriptor)


def _write_new(path: Path, kept: Kept, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        os.pwrite(descriptor, _pack(kept) * 2, 0)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make a new file's name durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def state_folder() -> Path:
    """Name the folder of the holder's own state, which no copy of a ledger or a table restores."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "entwined"


def _pack(kept: Kept) -> bytes:
    line = f"{kept.mark.position} {kept.mark.hash} {kept.ledger}".strip()
    return f"{line} {sha256(line)}".ljust(SLOT - 1).encode() + b"\n"


def _unpack(slot: bytes) -> Kept:
    """Read a slot; a torn one says nothing."""
    match slot.decode("ascii", "replace").split():
        case [position, head, check] if sha256(f"{position} {head}") == check:
            return Kept(Mark(int(position), head))
        case [position, head, ledger, check] if sha256(f"{position} {head} {ledger}") == check:
            return Kept(Mark(int(position), head), ledger)
        case _:
            return NOTHING
