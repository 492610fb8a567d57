"""The anchor: a small file away from the ledger that remembers how far the ledger has come.

A ledger that was put back from an old copy is a valid chain, only a shorter one. The anchor tells: it holds
the furthest position seen and its hash, and a ledger that does not hold that entry is refused. It is raised
after every commit and before anything is handed out: after a crash it may lag behind, it never runs ahead.

Two slots on two disk blocks are written in turn, so that a write cut short by a power failure spoils only the
older state, and a reader who meets a half-written slot falls back on the other.
"""

import os
from pathlib import Path
from typing import Final

from entwined.errors import BadLedger, LedgerDamaged, LedgerUnavailable
from entwined.ledger.canonical import sha256
from entwined.ledger.entry import START, Mark
from entwined.ledger.locks import Lock

# blocks that exist already need no new metadata, and a sync without metadata does not wait for the journal
sync_data: Final = getattr(os, "fdatasync", os.fsync)
SLOT: Final = 4096
"""A block of its own for each slot: what a disk writes at once."""


def default_anchor(name: str) -> Path:
    """Name the place for a ledger's anchor: the user's state folder, which no copy of the ledger restores."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "entwined" / "anchors" / sha256(name)[:32]


class Anchor:
    """The furthest mark seen of one ledger."""

    def __init__(self, path: Path, patience: float) -> None:
        self.path = path
        self._lock = path.with_name(path.name + "-lock")
        self._patience = patience

    def read(self) -> Mark:
        """Read the furthest mark."""
        try:
            slots = self.path.read_bytes()
        except FileNotFoundError:
            raise LedgerDamaged(
                f"The ledger's anchor {self.path} is missing, so an old copy cannot be told from the newest. "
                f"If this is the newest copy and was moved here on purpose, adopt it."
            ) from None
        except OSError as failed:
            raise LedgerUnavailable(
                f"The anchor {self.path} cannot be read: {failed.strerror}. Give the right to read it."
            ) from None
        mark = max(_unpack(slots[:SLOT]), _unpack(slots[SLOT:]))
        if mark == START:
            raise LedgerDamaged(
                f"The anchor {self.path} holds no valid mark. If the ledger is the newest copy, delete the "
                f"anchor and adopt the ledger."
            )
        return mark

    def start(self, mark: Mark) -> None:
        """Make the anchor of a new or adopted ledger."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                os.pwrite(descriptor, _pack(mark) * 2, 0)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            sync_folder(self.path.parent)
        except FileExistsError:
            self.refuse_to_start()
        except OSError as failed:
            raise self._unwritable(failed) from None

    def refuse_to_start(self) -> None:
        """Refuse where an anchor stands: it belongs to a ledger that was here before."""
        if self.path.exists():
            raise BadLedger(
                f"The anchor {self.path} remembers a ledger at this place. Put that ledger back; or, if its "
                f"data may be spent anew, delete the anchor first."
            )

    def forget(self) -> None:
        """Let a ledger be begun anew at this place; only for data that may be spent anew."""
        self.path.unlink(missing_ok=True)

    def raise_to(self, mark: Mark) -> None:
        """Remember a further mark, durably; a nearer one changes nothing."""
        busy = f"The anchor {self.path} is locked by another process. Try again later."
        held = Lock(self._lock, "raise", self._patience, busy)
        try:
            self._raise_alone(mark)
        except OSError as failed:
            raise self._unwritable(failed) from None
        finally:
            held.release()

    def _raise_alone(self, mark: Mark) -> None:
        descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            first = _unpack(os.pread(descriptor, SLOT, 0))
            second = _unpack(os.pread(descriptor, SLOT, SLOT))
            if mark.position > max(first.position, second.position):
                os.pwrite(descriptor, _pack(mark), 0 if first <= second else SLOT)
                sync_data(descriptor)
        finally:
            os.close(descriptor)

    def _unwritable(self, failed: OSError) -> LedgerUnavailable:
        return LedgerUnavailable(
            f"The anchor {self.path} cannot be written: {failed.strerror}. Make room or give the right to "
            f"write there, or name another place for it."
        )


def sync_folder(folder: Path) -> None:
    """Make a new file's name durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _pack(mark: Mark) -> bytes:
    line = f"{mark.position} {mark.hash}"
    return f"{line} {sha256(line)}".ljust(SLOT - 1).encode() + b"\n"


def _unpack(slot: bytes) -> Mark:
    """Read a slot; a torn one says nothing."""
    match slot.decode("ascii", "replace").split():
        case [position, head, check] if sha256(f"{position} {head}") == check:
            return Mark(int(position), head)
        case _:
            return START
