"""Who may ask: a pass is a secret that an analyst shows, kept here as its digest, and what it is good for.

The file is the holder's: JSON that only the owner may read, written whole under a lock. What an analyst may spend
belongs to the name and not to a pass, so that a new pass brings no new budget.
"""

import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Self

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadInput, LedgerUnavailable
from entwined.ledger.locks import Lock
from entwined.numbers import Amount, positive_fraction
from entwined.web.refusals import TurnedAway
from entwined.writing import write_whole

HOLDER: Final = "holder"
SCOPES: Final = ("plan", "ask")
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,59}")
SHOWN: Final = re.compile(r"entw_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
LARGEST_FILE: Final = 10_000_000
NOBODY: Final = "No token that is good here came with the request. Send it as: Authorization: Bearer entw_…"
UNKNOWN: Final = "Your issuer vouches for you, and nobody here knows you. Ask the holder to add you."
PATIENCE: Final = 10.0


@dataclass(frozen=True, slots=True)
class Pass:
    """What one secret is good for; the secret itself is not here."""

    id: str
    analyst: str
    digest: str
    scopes: tuple[str, ...]
    tables: tuple[str, ...]
    expires: datetime
    revoked: bool = False

    @property
    def document(self) -> Document:
        """The pass as the file has it."""
        return {
            "id": self.id,
            "analyst": self.analyst,
            "digest": self.digest,
            "scopes": list(self.scopes),
            "tables": list(self.tables),
            "expires": self.expires.isoformat(timespec="seconds"),
            "revoked": self.revoked,
        }

    @classmethod
    def from_document(cls, given: Document) -> Self:
        """Read a pass."""
        listed = {key: tuple(given[key]) for key in ("scopes", "tables")}
        return cls(**{**given, **listed, "expires": datetime.fromisoformat(given["expires"])})

    @property
    def is_good(self) -> bool:
        """Whether it is good by now."""
        return not self.revoked and datetime.now(UTC) < self.expires

    def require(self, scope: str) -> None:
        """Refuse what it is not good for."""
        if scope not in self.scopes:
            raise TurnedAway(
                403, f"This token is good for {' and '.join(self.scopes)}, not to {scope}. Ask the holder."
            )

    def opens(self, table: str) -> bool:
        """Whether it is good for a table; one that names none is good for all."""
        return not self.tables or table in self.tables


@dataclass(frozen=True, slots=True)
class Listed:
    """Everything that the file of passes says at one moment."""

    passes: tuple[Pass, ...] = ()
    earmarks: tuple[tuple[str, Fraction], ...] = ()

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the file; none is there before the first pass."""
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return cls()
        except OSError as failed:
            raise LedgerUnavailable(f"{path} cannot be read: {failed.strerror}.") from None
        try:
            given: Any = json.loads(text[:LARGEST_FILE])
            marks = {name: fraction_from(most) for name, most in given["earmarks"].items()}
            return cls(tuple(map(Pass.from_document, given["passes"])), tuple(marks.items()))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise LedgerUnavailable(f"{path} is no file of passes. Bring back the newest copy.") from None

    @property
    def document(self) -> Document:
        """The file as JSON."""
        marks = {name: fraction_text(most) for name, most in self.earmarks}
        return {"passes": [one.document for one in self.passes], "earmarks": marks}


class Passes:
    """The file of passes, read again whenever it changed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[tuple[int, ...], Listed] = ((), Listed())

    def listed(self) -> Listed:
        """Read what the file says now."""
        try:
            found = self.path.stat()
            version: tuple[int, ...] = (found.st_mtime_ns, found.st_ino, found.st_size)
        except FileNotFoundError:
            return Listed()
        if self._seen[0] != version:
            self._seen = version, Listed.read(self.path)
        return self._seen[1]

    def shown(self, header: str) -> Pass:
        """Find the pass of an Authorization header; digests are compared in constant time."""
        scheme, _, token = header.partition(" ")
        parts = SHOWN.fullmatch(token.strip())
        known = {one.id: one for one in self.listed().passes}
        found = known.get(parts[1]) if parts else None
        digest = _digest(parts[2] if parts else "")
        same = hmac.compare_digest(digest, found.digest if found else _digest("nobody"))
        if scheme.lower() != "bearer" or found is None or not same or not found.is_good:
            raise TurnedAway(401, NOBODY)
        return found

    def of_subject(self, issuer: str, subject: str) -> Pass:
        """Find the pass of somebody whom an issuer vouches for."""
        name = _named(issuer, subject)
        found = {one.id: one for one in self.listed().passes if not one.digest}.get(name)
        if found is None or not found.is_good:
            raise TurnedAway(401, UNKNOWN)
        return found

    def earmark(self, analyst: str) -> Fraction | None:
        """The most that an analyst's own charges may amount to; the holder alone has no such limit."""
        return None if analyst == HOLDER else dict(self.listed().earmarks).get(analyst, Fraction(0))

    def add(
        self,
        analyst: str,
        *,
        days: float,
        most: Amount | None = None,
        scopes: Sequence[str] = SCOPES,
        tables: Sequence[str] = (),
    ) -> str:
        """Make a pass and give its secret, which nobody can read again; `most` is what the analyst may spend in all."""
        secret, name = secrets.token_urlsafe(32), secrets.token_hex(8)
        self._add(_made(name, analyst, _digest(secret), days, scopes, tables), most)
        return f"entw_{name}_{secret}"

    def add_subject(  # noqa: PLR0913  (what a pass is good for)
        self,
        analyst: str,
        issuer: str,
        subject: str,
        *,
        days: float,
        most: Amount | None = None,
        scopes: Sequence[str] = SCOPES,
        tables: Sequence[str] = (),
    ) -> str:
        """Take somebody whom an issuer vouches for as an analyst, and give the id of the pass: there is no secret."""
        name = _named(issuer, subject)
        self._add(_made(name, analyst, "", days, scopes, tables), most)
        return name

    def _add(self, made: Pass, most: Amount | None) -> None:
        """Keep a pass; one of the same id, which is that of a subject, gives way to it."""
        earmark = None if most is None else positive_fraction(most, "What an analyst may spend")
        analyst = made.analyst
        with self._changing() as now:
            marks = dict(now.earmarks) | ({} if earmark is None else {analyst: earmark})
            if analyst not in marks:
                raise BadInput(f"Nothing says how much {analyst} may spend. Give --most, a slice of the cap.")
            others = tuple(one for one in now.passes if one.id != made.id)
            self._write(Listed((*others, made), tuple(marks.items())))

    def revoke(self, name: str) -> int:
        """End a pass by its id, or all passes of an analyst; say how many were good until now."""
        with self._changing() as now:
            meant = [one for one in now.passes if name in (one.id, one.analyst)]
            if not meant:
                raise BadInput(f"There is no token {name!r:.60}, and none of an analyst of that name.")
            ended = tuple(replace(one, revoked=one.revoked or one in meant) for one in now.passes)
            self._write(replace(now, passes=ended))
        return sum(one.is_good for one in meant)

    @contextmanager
    def _changing(self) -> Iterator[Listed]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_name(self.path.name + "-lock")
        held = Lock(beside, "passes", PATIENCE, f"{self.path} is being written by another process.")
        try:
            yield Listed.read(self.path)
        finally:
            held.release()

    def _write(self, now: Listed) -> None:
        if not self.path.exists():
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        write_whole(self.path, json.dumps(now.document, indent=1))


def _require(analyst: str, days: float, scopes: Sequence[str]) -> None:
    if not NAME.fullmatch(analyst) or analyst == HOLDER:
        raise BadInput(
            f"{analyst!r:.80} is no name of an analyst. Use letters, digits and . _ @ - (at most 60)."
        )
    if not 0 < days <= 3660:  # noqa: PLR2004  (ten years)
        raise BadInput(f"A token for {days} days. Give a number above 0, at most ten years.")
    wrong = [one for one in scopes if one not in SCOPES]
    if wrong or not scopes:
        raise BadInput(f"A token for {', '.join(wrong) or 'nothing'}. It may be for {' and '.join(SCOPES)}.")


def _made(
    name: str, analyst: str, digest: str, days: float, scopes: Sequence[str], tables: Sequence[str]
) -> Pass:
    _require(analyst, days, scopes)
    expires = datetime.now(UTC) + timedelta(days=days)
    return Pass(name, analyst, digest, tuple(scopes), tuple(tables), expires)


def _named(issuer: str, subject: str) -> str:
    """Name somebody whom an issuer vouches for, in hexadecimal digits that give neither of them away."""
    if not issuer or not subject:
        raise BadInput("Somebody of an issuer needs both --issuer and --subject. Give them.")
    return hashlib.sha256(f"{len(issuer)} {issuer} {subject}".encode()).hexdigest()[:32]


def _digest(secret: str) -> str:
    """Keep a secret of 256 random bits by its hash: there is nothing to guess, so nothing to slow down."""
    return hashlib.sha256(secret.encode()).hexdigest()
