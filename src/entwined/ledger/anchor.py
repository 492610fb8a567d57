"""The anchor: a small file away from the ledger that remembers how far the ledger has come.

A ledger that was put back from an old copy is a valid chain, only a shorter one. The anchor tells: it holds
the furthest position seen and its hash, and a ledger that does not hold that entry is refused. It is raised
after every commit and before anything is handed out: after a crash it may lag behind, it never runs ahead.
"""

from pathlib import Path

from entwined.canonical import sha256
from entwined.errors import BadLedger, LedgerDamaged, LedgerUnavailable, NoAnchor
from entwined.ledger.entry import START, Mark
from entwined.ledger.slots import Kept, Slots, state_folder
from entwined.writing import why_not


def default_anchor(name: str) -> Path:
    """Name the place for a ledger's anchor: the user's state folder, which no copy of the ledger restores."""
    return state_folder() / "anchors" / sha256(name)[:32]


class Anchor:
    """The furthest mark seen of one ledger."""

    def __init__(self, path: Path, patience: float) -> None:
        self.path = path
        self._slots = Slots(path, "The anchor", patience)

    def read(self) -> Mark:
        """Read the furthest mark."""
        found = self._slots.read()
        if found is None:
            raise NoAnchor(
                f"The ledger's anchor {self.path} is missing, so an old copy cannot be told from the newest. "
                f"If this is the newest copy and was moved here on purpose: entwined budget adopt LEDGER."
            )
        if found.mark == START:
            raise LedgerDamaged(
                f"The anchor {self.path} holds no valid mark. If the ledger is the newest copy, delete the "
                f"anchor, then: entwined budget adopt LEDGER."
            )
        return found.mark

    def start(self, mark: Mark) -> None:
        """Make the anchor of a new or adopted ledger."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._slots.start(Kept(mark), 0o600)
        except FileExistsError:
            self.refuse_to_start()
        except OSError as failed:
            raise self._unwritable(failed) from None

    def require_room(self) -> None:
        """Refuse, before a ledger is begun, a place where its anchor could not be made."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._slots.require_room()
        except OSError as failed:
            raise self._unwritable(failed) from None

    @property
    def exists(self) -> bool:
        """Whether a ledger is or was remembered here."""
        return self.path.exists()

    def refuse_to_start(self) -> None:
        """Refuse where an anchor stands: it belongs to a ledger that was here before."""
        if self.exists:
            raise BadLedger(
                f"The anchor {self.path} remembers a ledger at this place. Put that ledger back; or, if these "
                f"are other rows than it was for: entwined budget adopt RELEASE.toml --other-rows."
            )

    def forget(self) -> None:
        """Let a ledger be begun anew at this place; only for data that may be spent anew."""
        self.path.unlink(missing_ok=True)

    def replace(self, mark: Mark) -> None:
        """Remember a mark in place of a further one, whole or not at all; only for a copy that is restored."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._slots.replace(Kept(mark), 0o600)
        except OSError as failed:
            raise self._unwritable(failed) from None

    def raise_to(self, mark: Mark) -> None:
        """Remember a further mark, durably; a nearer one changes nothing."""
        try:
            self._slots.raise_to(Kept(mark))
        except OSError as failed:
            raise self._unwritable(failed) from None

    def _unwritable(self, failed: OSError) -> LedgerUnavailable:
        return LedgerUnavailable(f"The anchor {self.path} cannot be written: {why_not(failed)}")
