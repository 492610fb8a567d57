"""The journal of a stream: every answer is in it before it is shown, and it can only grow.

A block of steps is a line of JSON for each and one that ends the block with a hash of all lines so far. What stands
behind the last whole block was never shown, and is cut off when the journal is opened. The furthest mark, how many
steps and their hash, is kept in the holder's state folder too, and raised before a block is shown: so an older copy
that was put back is refused. The journal holds exact numbers and noise that is still in use: it is as private as the
rows, and nobody but its owner may read it.
"""

import fcntl
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from entwined.canonical import canonical, sha256
from entwined.door.stepwise import StepAnswer, Taken
from entwined.errors import BadInput, LedgerUnavailable, Refused
from entwined.ledger import Mark
from entwined.ledger.slots import Kept, Slots, state_folder, sync_data, sync_folder
from entwined.writing import why_not

FORMAT: Final = "entwined stream 1"
PATIENCE: Final = 10.0
OWNER_ONLY: Final = 0o600
LOST: Final = (
    "This stream was opened and charged before, and its journal is not at {path}. Answers that were shown are in it, "
    "so nothing is answered again. Put it back, or begin another stream under another name, which is charged."
)
OTHER: Final = "The journal {path} is that of another stream. Give this stream a journal of its own."
OLDER: Final = (
    "The journal {path} is an older copy: it ends at step {there:,}, and step {known:,} was answered. Put the newest "
    "back, or begin another stream under another name, which is charged."
)


class StepJournal:
    """The journal of one stream, held by one process at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.answers: list[StepAnswer] = []
        self._hash = ""
        self._opening = ""
        self._descriptor: int | None = None

    def begin(self, stream: str) -> str:
        """Begin it for a stream where nothing is yet, and give its name; refuse that of another stream."""
        descriptor = self._open()
        found = _blocks(self._text(descriptor))
        if found.opening and found.stream != stream:
            raise Refused(OTHER.format(path=self.path))
        if found.opening:
            return found.opening
        opening = uuid4().hex
        os.ftruncate(descriptor, 0)
        header = canonical({"format": FORMAT, "opening": opening, "stream": stream})
        os.pwrite(descriptor, f"{header}\n".encode(), 0)
        os.fsync(descriptor)
        sync_folder(self.path.absolute().parent)
        return opening

    def resumed(self, opening: str) -> Sequence[Any]:
        """Give what was remembered of each step; refuse another journal, a lost or an older one."""
        descriptor = self._open()
        found = _blocks(self._text(descriptor))
        if found.opening != opening:
            raise Refused((OTHER if found.kept else LOST).format(path=self.path))
        self._opening, self._hash, self.answers = opening, found.hash, found.answers
        self._require_newest()
        os.ftruncate(descriptor, found.end)
        os.lseek(descriptor, found.end, os.SEEK_SET)
        return found.kept

    def keep(self, taken: Taken) -> None:
        """Write answers and what has to be remembered, durably, and raise the mark."""
        lines = [
            canonical([one.step, one.number, kept])
            for one, kept in zip(taken.answers, taken.kept, strict=True)
        ]
        self._hash = sha256(self._hash, *lines)
        last = taken.answers[-1].step
        block = "\n".join([*lines, canonical({"end": last, "hash": self._hash})]) + "\n"
        descriptor = self._open()
        _write(descriptor, block.encode())
        sync_data(descriptor)
        self.answers += taken.answers
        self._raise(Kept(Mark(last, self._hash)))

    def close(self) -> None:
        """Let others have it."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        if self._descriptor is not None:
            return self._descriptor
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY)
        except OSError as failed:
            raise BadInput(f"The journal {self.path} cannot be written: {why_not(failed)}") from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise LedgerUnavailable(
                f"Another process follows the stream of {self.path}. Stop it first."
            ) from None
        self._descriptor = descriptor
        return descriptor

    @staticmethod
    def _text(descriptor: int) -> bytes:
        with os.fdopen(os.dup(descriptor), "rb") as file:
            file.seek(0)
            return file.read()

    def _require_newest(self) -> None:
        known = self._slots.read()
        there = len(self.answers)
        if known is not None and known.mark.position > there:
            raise Refused(OLDER.format(path=self.path, there=there, known=known.mark.position))
        if known is not None and known.mark.position == there and there and known.mark.hash != self._hash:
            raise Refused(OTHER.format(path=self.path))

    def _raise(self, kept: Kept) -> None:
        if self._slots.read() is None:
            self._slots.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._slots.start(kept, OWNER_ONLY)
        else:
            self._slots.raise_to(kept)

    @property
    def _slots(self) -> Slots:
        return Slots(state_folder() / "streams" / self._opening, "The mark of the stream", PATIENCE)


def wrong_journal(path: Path, openings: Sequence[str]) -> str | None:
    """Say how a journal is not the newest one of a stream that a ledger has opened, without changing it.

    The holder's state folder remembers its last hash, so that numbers which were changed with all hashes are noticed.
    """
    found = _blocks(path.read_bytes())
    if found.opening not in openings:
        return f"{path.name} is the journal of another stream than the one in the ledger."
    mark = Slots(state_folder() / "streams" / found.opening, "The mark of the stream", PATIENCE).read()
    if found.end != path.stat().st_size or (mark is not None and mark.mark.position > len(found.answers)):
        return f"{path.name} ends at step {len(found.answers):,}, behind which it was cut or changed."
    if mark is not None and mark.mark.position == len(found.answers) and mark.mark.hash != found.hash:
        return f"{path.name} has other answers than were given up to step {len(found.answers):,}."
    return None


class _Found:
    """What a journal holds up to its last whole block."""

    def __init__(self) -> None:
        self.opening = ""
        self.stream = ""
        self.answers: list[StepAnswer] = []
        self.kept: list[Any] = []
        self.hash = ""
        self.end = 0


def _blocks(text: bytes) -> _Found:
    """Read whole blocks; the first that is not whole, or does not follow from those before, ends it."""
    found, lines, at = _Found(), list[str](), 0
    for raw in text.splitlines(keepends=True):
        at += len(raw)
        line = _parsed(raw)
        match line:
            case {"format": told, "opening": str() as opening, "stream": str() as stream} if told == FORMAT:
                if found.opening:
                    break
                found.opening, found.stream, found.end = opening, stream, at
            case [int(), int(), _]:
                lines.append(raw.decode().rstrip("\n"))
            case {"end": int(), "hash": str() as told} if sha256(found.hash, *lines) == told:
                rows = [json.loads(one) for one in lines]
                found.answers += [StepAnswer(step, number) for step, number, _ in rows]
                found.kept += [kept for _, _, kept in rows]
                found.hash, found.end, lines = told, at, []
            case _:
                break
    return found


def _parsed(raw: bytes) -> object:
    if not raw.endswith(b"\n"):
        return None
    try:
        found: object = json.loads(raw)
    except ValueError:
        return None
    return found


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]
