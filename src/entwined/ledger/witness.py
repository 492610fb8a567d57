"""The witness: what a table remembers of its ledger, so that another or an older one is noticed.

An anchor lies beside no table, and can be put back together with its ledger. So a table keeps a third mark: in the
holder's state folder, by the table's place, and for a table in a file also beside that file, where it moves along.
Each holds the id of the one ledger that the table was released under, and how far that had come. It is begun before
the first charge and raised before anything is handed out: after a crash it may lag behind, it never runs ahead.
"""

import errno
import os
from pathlib import Path
from typing import Final

from entwined.canonical import sha256
from entwined.errors import BadLedger, LedgerDamaged, LedgerUnavailable
from entwined.ledger.book import PATIENCE, Book
from entwined.ledger.entry import START, Mark
from entwined.ledger.slots import Kept, Slots, state_folder
from entwined.ledger.view import View

LONGEST_NAME: Final = 200
FORBIDDEN: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
OTHER_ROWS: Final = (
    "If these are other rows, about other people, than were released before: "
    "entwined budget adopt RELEASE.toml --other-rows."
)


class Witness:
    """The marks that a table keeps of its ledger; `place` names the table, `folder` is that of one in a file."""

    def __init__(self, place: str, folder: Path | None = None, patience: float = PATIENCE) -> None:
        self.place = place
        home = state_folder() / "witnesses" / sha256(place)[:32]
        self._home = Slots(home, "The table's witness", patience)
        beside = None if folder is None else folder / f".{_name(place, folder)}.entwined"
        self._beside = None if beside is None else Slots(beside, "The table's witness", patience)

    @property
    def _slots(self) -> tuple[Slots, ...]:
        return (self._home,) if self._beside is None else (self._home, self._beside)

    def refuse_new(self) -> None:
        """Refuse to begin a ledger for a table that has had one."""
        for slots in self._slots:
            found = slots.read()
            if found is not None:
                raise BadLedger(
                    f"{self.place} was released from before, under the ledger {found.ledger[:8]}… up to its entry "
                    f"{found.mark.position} (so says {slots.path}), and there is no ledger at the place given. "
                    f"Put the newest copy of that ledger back. {OTHER_ROWS}"
                )

    def require(self, book: Book) -> int:
        """Refuse another ledger than the table's, or an older copy of it; count the marks that agree."""
        with book.reading() as view:
            return self._require(view)

    def bind(self, book: Book) -> None:
        """Refuse as above, and bind a table that has no ledger yet to this one."""
        with book.reading() as view:
            if self._require(view) < len(self._slots):
                self._begin(Kept(view.last.mark, view.first.fields["ledger"]))
                self._require(view)  # whoever came first is the table's ledger

    def raise_to(self, mark: Mark, ledger: str) -> None:
        """Remember how far the ledger has come."""
        for slots in self._slots:
            if slots is self._beside and not _is_writable(slots):
                continue  # only others may write there: the state folder alone remembers
            try:
                slots.raise_to(Kept(mark, ledger))
            except OSError as failed:
                raise _unwritable(slots, failed) from None

    def forget(self) -> None:
        """Let the table have another ledger; only for other rows than were released before."""
        for slots in self._slots:
            try:
                slots.path.unlink(missing_ok=True)
            except OSError as failed:
                raise _unwritable(slots, failed) from None

    def _require(self, view: View) -> int:
        agreeing = 0
        for slots in self._slots:
            found = slots.read()
            if found is not None:
                require_held(view, found, f"{self.place} (so says {slots.path})")
                agreeing += 1
        return agreeing

    def _begin(self, kept: Kept) -> None:
        """Write the marks that are not there; beside a table only where that is allowed."""
        for slots in self._slots:
            try:
                if slots is self._home:
                    slots.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                slots.start(kept, 0o666)  # others who use the table have to read it: the umask says who may
            except FileExistsError:
                continue
            except OSError as failed:
                if slots is self._home or failed.errno not in FORBIDDEN:
                    raise _unwritable(slots, failed) from None


def require_all(book: Book) -> int:
    """Hold a ledger to all marks in the holder's state folder that name it, and count them."""
    folder, agreeing = state_folder() / "witnesses", 0
    paths = [path for path in folder.glob("*") if not path.name.endswith("-lock")] if folder.is_dir() else []
    with book.reading() as view:
        for path in sorted(paths):
            found = Slots(path, "A table's witness", PATIENCE).read()
            if found is not None and found.ledger == view.first.fields["ledger"]:
                require_held(view, found, f"of {path}")
                agreeing += 1
    return agreeing


def require_held(view: View, found: Kept, whose: str) -> None:
    """Refuse a ledger that does not hold a table's mark."""
    if found.mark == START:
        raise LedgerDamaged(
            f"The witness of the table {whose} holds no valid mark. Restore it; if it was spoilt by accident and "
            "the ledger is the newest copy, delete it."
        )
    if found.ledger != view.first.fields["ledger"]:
        raise BadLedger(
            f"The table {whose} was released from under the ledger {found.ledger[:8]}…, and this is another one: "
            f"what was spent there would be forgotten. Nothing was charged. Give that ledger. {OTHER_ROWS}"
        )
    if not view.holds(found.mark):
        raise LedgerDamaged(
            f"The ledger has {view.last.position} entries, and not the one at {found.mark.position} that was seen "
            f"at the table {whose}: it is an old copy. Nothing was charged. Restore the newest copy."
        )


def _is_writable(slots: Slots) -> bool:
    return os.access(slots.path, os.W_OK) and os.access(slots.path.parent, os.W_OK)


def _unwritable(slots: Slots, failed: OSError) -> LedgerUnavailable:
    return LedgerUnavailable(
        f"The table's witness {slots.path} cannot be written: {failed.strerror}. Make room or give the right to "
        "write there."
    )


def _name(place: str, folder: Path) -> str:
    """Name a table within its folder."""
    name = place.partition(str(folder / "x")[:-1])[2]
    fits = (
        name and "/" not in name and "\0" not in name and len(name.encode(errors="replace")) <= LONGEST_NAME
    )
    return name if fits else sha256(name)[:32]
