"""What an analyst is told of an error: the same words whatever the rows hold, and never a place of the holder's."""

import logging
from typing import Final, NamedTuple

from entwined.canonical import Document
from entwined.errors import (
    BadInput,
    BadKey,
    BadLedger,
    BadTable,
    EntwinedError,
    HolderError,
    LedgerDamaged,
    LedgerUnavailable,
    Refused,
    Unapproved,
)

LONGEST: Final = 1000
HOLDERS_LOG: Final = logging.getLogger("entwined.web")
"""What goes wrong, in its own words: on the screen of whoever started the service."""
UNAVAILABLE: Final = (
    "The service cannot answer now; the holder's log says why. Ask again later with the same request id."
)
OURS_ALONE: Final = (BadTable, BadLedger, BadKey, LedgerDamaged, LedgerUnavailable, HolderError, Unapproved)
"""Their messages name files of the holder or come from rows."""


class Refusal(NamedTuple):
    """An error as it is replied: a status, the kind of the error, and words."""

    status: int
    kind: str
    words: str

    @property
    def document(self) -> Document:
        """The body of the reply."""
        return {"error": {"kind": self.kind, "message": self.words}}


class TurnedAway(Refused):
    """A request that is not answered, whatever it asks for: with the status of HTTP that says so."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


def refusal(error: Exception) -> Refusal:
    """Say what an analyst may know of an error; what nobody meant to raise says nothing at all."""
    if isinstance(error, OURS_ALONE) or not isinstance(error, EntwinedError):
        known = isinstance(error, EntwinedError)
        HOLDERS_LOG.error("%s: %s", type(error).__name__, error, exc_info=None if known else error)
        return Refusal(503 if known else 500, "Unavailable", UNAVAILABLE)
    status = 422 if isinstance(error, BadInput) else getattr(error, "status", 409)
    words = str(error).encode("utf-8", "replace").decode()
    if len(words) > LONGEST:
        words = f"{words[: LONGEST // 2]} … {words[-LONGEST // 2 :]}"
    return Refusal(status, type(error).__name__, words)
