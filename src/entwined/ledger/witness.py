"""The rollback guard: what a table remembers of its ledger, so that another or an older one is noticed.

An anchor lies beside no table, and can be put back together with its ledger. So a table keeps further marks: in the
holder's state folder, by the table's place, its bytes and the fingerprint of its rows, and for a table in a file also
beside that file, where it moves along. Each holds the id of the one ledger that the table was released under, and how
far that had come. It is begun before the first charge and raised before anything is handed out: after a crash it may
lag behind, it never runs ahead.
"""

import errno
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Protocol

from entwined.canonical import sha256
from entwined.errors import BadLedger, LedgerDamaged, LedgerUnavailable
from entwined.ledger.book import PATIENCE, Book
from entwined.ledger.entry import START, Mark
from entwined.ledger.slots import Kept, Slots, state_folder
from entwined.ledger.view import View
from entwined.writing import why_not

LONGEST_NAME: Final = 200
FORBIDDEN: Final = (errno.EACCES, errno.EPERM, errno.EROFS)
OTHER_ROWS: Final = (
    "If these are other rows, about other people, than were released before: "
    "entwined budget adopt RELEASE.toml --other-rows, or in Python open(…, other_rows=True)."
)


GUARDS: Final = "rollback-guards"
ROWS: Final = "rows"
SAME_ROWS: Final = "rows"
"""What a name begins with that is made of the rows themselves, whatever their order, spelling and format."""
NAMELESS: Final = ("frame", "contents", SAME_ROWS)  # rows that have no place
UNGUARDED: Final = (
    "The rollback guard cannot be kept in {place}: other users and machines will not notice a second ledger for this "
    "table. Grant the right to write there."
)
FREE: Final = Kept(Mark(1, 64 * "0"), "none")
"""What is kept of a view that may have another ledger than what it is made of, by the holder's word."""


class Remembering(Protocol):
    """One place that remembers the mark of a table's ledger, such as `Slots`."""

    @property
    def path(self) -> Path | str:
        """Where that is."""

    def read(self) -> Kept | None:
        """Give the mark; none where nothing is kept, one at `START` where it is spoilt."""

    @property
    def can_keep(self) -> bool:
        """Whether a mark may be written there."""

    def start(self, kept: Kept, mode: int) -> None:
        """Remember a mark where none is; FileExistsError where one is, PermissionError where it may not be written."""

    def raise_to(self, kept: Kept) -> None:
        """Remember a further mark of the same ledger."""

    def forget(self) -> None:
        """Remember nothing."""


class Witness:
    """The marks that a table keeps of its ledger, under every name that its rows are known by.

    `own` names the table, its place first; `folder` is that of one in a file. `under` names what a view is made of:
    it is asked only where the view itself remembers nothing. `sources` and `sources_under` are kept where the rows are.
    """

    def __init__(
        self,
        own: Sequence[str],
        folder: Path | None = None,
        under: Sequence[str] = (),
        *,
        sources: Sequence[Remembering] = (),
        sources_under: Sequence[Remembering] = (),
        patience: float = PATIENCE,
    ) -> None:
        self.place = "A frame in memory" if _is_nameless(own[0]) else f"The table {own[0]}"
        self._home = [_at_home(name, patience, is_place=name is own[0]) for name in own]
        self._home_under = [_at_home(name, patience, is_place=False) for name in under]
        beside = None if folder is None else folder / f".{_name(own[0], folder)}.entwined"
        self._beside = None if beside is None else Slots(beside, "The table's rollback guard", patience)
        self._guests: list[Remembering] = [*sources, *([] if self._beside is None else [self._beside])]
        self._guests_under = [*sources_under]

    @property
    def _own(self) -> tuple[Remembering, ...]:
        return (*self._home, *self._guests)

    @property
    def _under(self) -> tuple[Remembering, ...]:
        return (*self._home_under, *self._guests_under)

    @property
    def unguarded(self) -> str:
        """Say where the guard cannot be kept beside the rows, so that only this user on this machine is held to it."""
        places = [str(slots.path) for slots in self._guests if not slots.can_keep]
        return UNGUARDED.format(place=places[0]) if places else ""

    def refuse_new(self) -> None:
        """Refuse to begin a ledger for a table that has had one."""
        for slots, found in self._found():
            if found != FREE:
                raise BadLedger(
                    f"{self._whose(slots)} was released from before, under the ledger {found.ledger[:8]}… up to its "
                    f"entry {found.mark.position} (so says {slots.path}), and there is no ledger at the place given. "
                    f"Put the newest copy of that ledger back. {OTHER_ROWS}"
                )

    def require(self, book: Book) -> int:
        """Refuse another ledger than the table's, or an older copy of it; count the marks that agree."""
        remembered = list(self._found())  # before the ledger is, or a charge in between would look like a cut
        with book.reading() as view:
            return self._require(view, remembered)

    def bind(self, book: Book, *, other_rows: bool = False) -> None:
        """Refuse as above, and bind a table that has no ledger yet to this one; other rows, by the holder's word."""
        if other_rows:
            self.forget()
        elif self.require(book) >= len(self._own) + len(self._under):
            return
        for slots in self._own:
            if slots.read() == FREE:
                slots.forget()
        with book.reading() as view:
            now = Kept(view.last.mark, view.first.fields["ledger"])
        self._begin(now)
        if not other_rows:
            self.require(book)  # whoever came first is the table's ledger

    def raise_to(self, mark: Mark, ledger: str) -> None:
        """Remember how far the ledger has come."""
        for slots in (*self._own, *self._under):
            if slots is self._beside and not self._beside.is_writable:
                continue  # only others may write there: the state folder alone remembers
            try:
                slots.raise_to(Kept(mark, ledger))
            except OSError as failed:
                if slots in (*self._home, *self._home_under) or failed.errno not in FORBIDDEN:
                    raise _unwritable(slots, failed) from None

    def remembered(self) -> list[Kept]:
        """Give the marks of the table's ledger that can be read."""
        return [kept for _, kept in self._found() if kept != FREE and kept.mark != START]

    def forget(self) -> None:
        """Let the table have another ledger; only for other rows than were released before.

        What a view is made of keeps its own, so that it is written down that the view need not ask there.
        """
        for slots in self._own:
            try:
                slots.forget()
                if self._under and slots is self._home[0]:
                    self._home[0].path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                    slots.start(FREE, 0o600)
            except OSError as failed:
                raise _unwritable(slots, failed) from None

    def _found(self) -> Iterator[tuple[Remembering, Kept]]:
        """List what is remembered: of the table itself, or else of what it is made of."""
        known = False
        for slots in self._own:
            found = slots.read()
            if found is not None:
                known = True
                yield slots, found
        for slots in () if known else self._under:
            found = slots.read()
            if found is not None:
                yield slots, found

    def _require(self, view: View, remembered: Sequence[tuple[Remembering, Kept]]) -> int:
        agreeing = 0
        for slots, found in remembered:
            if found != FREE:
                require_held(view, found, f"{self._whose(slots)} (so says {slots.path})")
                agreeing += 1
        return agreeing

    def _whose(self, slots: Remembering) -> str:
        """Name the table, and say what else it may be that was released from."""
        if slots in self._under:
            return f"{self.place} is made of another one, which"
        same = slots in self._home[1:]
        return (
            f"{self.place}, or the same rows under another name, in another order or format,"
            if same
            else self.place
        )

    def _begin(self, kept: Kept) -> None:
        """Write the marks that are not there; beside a table and in a database only where that is allowed."""
        for slots in (*self._own, *self._under):
            try:
                if slots in (*self._home, *self._home_under):
                    Path(slots.path).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                if slots.read() is None:  # others who use the table have to read it: the umask says who may
                    slots.start(kept, 0o666)
            except FileExistsError:
                continue
            except OSError as failed:
                if slots in (*self._home, *self._home_under) or failed.errno not in FORBIDDEN:
                    raise _unwritable(slots, failed) from None


def _is_nameless(name: str) -> bool:
    return name.partition(" ")[0] in NAMELESS


def _at_home(name: str, patience: float, *, is_place: bool) -> Slots:
    """Name the mark of a table in the holder's state folder: by its place, or by what else its rows are known by."""
    folder = state_folder() / (GUARDS if is_place and not _is_nameless(name) else ROWS)
    return Slots(folder / sha256(name)[:32], "The table's rollback guard", patience)


def require_all(book: Book) -> int:
    """Hold a ledger to all marks in the holder's state folder that name it, and count the tables of known places."""
    agreeing = 0
    paths = sorted(path for name in (GUARDS, ROWS) for path in (state_folder() / name).glob("*"))
    marks = [
        (path, Slots(path, "A table's rollback guard", PATIENCE).read())
        for path in paths
        if not path.name.endswith("-lock")
    ]
    with book.reading() as view:
        for path, found in marks:
            if found is not None and found.ledger == view.first.fields["ledger"]:
                require_held(view, found, f"The table of {path}")
                agreeing += path.parent.name == GUARDS
    return agreeing


def require_held(view: View, found: Kept, whose: str) -> None:
    """Refuse a ledger that does not hold a table's mark."""
    if found.mark == START:
        raise LedgerDamaged(
            f"{whose} has a rollback guard that holds no valid mark. Restore it; if it was spoilt by accident and "
            "the ledger is the newest copy, delete it."
        )
    if found.ledger != view.first.fields["ledger"]:
        raise BadLedger(
            f"{whose} was released from under the ledger {found.ledger[:8]}…, and this is another one: "
            f"what was spent there would be forgotten. Nothing was charged. Give that ledger. {OTHER_ROWS}"
        )
    if not view.holds(found.mark):
        raise LedgerDamaged(
            f"The ledger has {view.last.position} entries, and not the one at {found.mark.position}. {whose} remembers "
            "that one, so the ledger is an old copy. Nothing was charged. Restore the newest copy."
        )


def _unwritable(slots: Remembering, failed: OSError) -> LedgerUnavailable:
    return LedgerUnavailable(f"The table's rollback guard {slots.path} cannot be written: {why_not(failed)}")


def _name(place: str, folder: Path) -> str:
    """Name a table within its folder."""
    name = place.partition(str(folder / "x")[:-1])[2]
    fits = (
        name and "/" not in name and "\0" not in name and len(name.encode(errors="replace")) <= LONGEST_NAME
    )
    return name if fits else sha256(name)[:32]
