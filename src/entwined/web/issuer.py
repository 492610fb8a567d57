"""The one issuer whose tokens are taken besides our own: its name, whom its tokens are for, and its keys, kept a while.

Keys come from a file of the holder's, or from the issuer itself: over TLS, or from this machine. They are asked for
again after a while, and when a token names a key that is not known, but never often; what an issuer took back is gone
at the next time.
"""

import importlib.util
import json
import threading
import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from entwined.errors import BadInput
from entwined.web.bearer import Verifying, Voucher, WrongToken, keys_of
from entwined.web.key_sets import LARGEST, document_at
from entwined.web.refusals import HOLDERS_LOG, TurnedAway

FRESH: Final = 600.0
STALE: Final = 3600.0
PAUSE: Final = 10.0
PATIENCE: Final = 5.0
MOST_WAITING: Final = 4
FIELDS: Final = ("issuer", "audience", "keys")
NOT_NOW: Final = "Tokens of the issuer cannot be checked now. Try again later; nothing was charged."
WELL_KNOWN: Final = "/.well-known/openid-configuration"


@dataclass(slots=True)
class Keys:
    """Keys that are fetched and kept for a while.

    One thread of their own fetches them, for all who ask. A few wait for it, for a while; whoever comes then is turned
    away at once, so that an issuer that does not answer holds no more than these.
    """

    fetch: Callable[[], Mapping[str, Verifying]]
    clock: Callable[[], float] = time.monotonic
    _kept: Mapping[str, Verifying] = field(default_factory=dict)
    _since: float = -STALE
    _tried: float = -STALE
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _fetched: threading.Event | None = None
    _waiting: int = 0

    def holding(self, name: str) -> Mapping[str, Verifying]:
        """Give the keys, fetched again if they are old or do not have this one."""
        age = self.clock() - self._since
        if age >= FRESH or name not in self._kept:
            fetched = self._begun(name)
            if fetched is not None and (age >= STALE or name not in self._kept):
                self._wait(fetched)
        if self.clock() - self._since >= STALE:
            raise TurnedAway(503, NOT_NOW)
        return self._kept

    def _begun(self, name: str) -> threading.Event | None:
        """Have keys fetched if nobody does and nobody did just now; give what says that it is done."""
        with self._lock:
            now = self.clock()
            is_known = now - self._since < FRESH and name in self._kept
            if self._fetched is None and not is_known and now - self._tried >= PAUSE:
                self._tried, self._fetched = now, threading.Event()
                threading.Thread(target=self._refresh, args=(self._fetched,), daemon=True).start()
            return self._fetched

    def _wait(self, fetched: threading.Event) -> None:
        with self._lock:
            if self._waiting >= MOST_WAITING:
                return
            self._waiting += 1
        try:
            fetched.wait(PATIENCE)
        finally:
            with self._lock:
                self._waiting -= 1

    def _refresh(self, fetched: threading.Event) -> None:
        """Fetch, and let those who wait go on, whatever comes of it."""
        try:
            kept = self.fetch()
            with self._lock:
                self._kept, self._since = kept, self.clock()
        except (OSError, HTTPException, ValueError, RecursionError) as failed:
            HOLDERS_LOG.error("The keys of the issuer cannot be had: %s", failed)
        finally:
            with self._lock:
                self._fetched = None
            fetched.set()


@dataclass(frozen=True, slots=True)
class Issuer:
    """Whose tokens are taken, and whom they have to be for."""

    name: str
    audience: str
    keys: Keys

    @classmethod
    def read(cls, path: Path) -> "Issuer":
        """Read the holder's file about the issuer."""
        if importlib.util.find_spec("cryptography") is None:
            raise BadInput(
                "Tokens of an issuer need the package cryptography. Install it with: pip install 'entwined[web,sign]'"
            )
        try:
            given = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise BadInput(
                f"{path!s:.200} cannot be read as TOML. Give issuer, audience and perhaps keys."
            ) from None
        unknown = [key for key in given if key not in FIELDS]
        texts = {key: given.get(key, "") for key in FIELDS}
        if (
            unknown
            or not all(isinstance(one, str) for one in texts.values())
            or not (texts["audience"] and texts["issuer"])
        ):
            raise BadInput(
                f"{path!s:.200} has issuer, audience and perhaps keys, all texts, and nothing else."
            )
        place = path.parent / texts["keys"]
        name = texts["issuer"]
        if not texts["keys"]:
            require_safe(name)
        fetch = (
            (lambda: keys_of(json.loads(place.read_bytes()[:LARGEST])))
            if texts["keys"]
            else lambda: asked(name)
        )
        return cls(name, texts["audience"], Keys(fetch))

    def subject(self, text: str) -> str:
        """Give whose token it is, or refuse it."""
        token = Voucher.read(text)
        if token.claims.get("iss") != self.name or token.claims.get("sub") is None:
            raise WrongToken  # before anybody is asked for keys
        return token.subject(self.keys.holding(token.key), self.name, self.audience, time.time())


def require_safe(url: str) -> None:
    """Refuse an address that others could answer for: it has TLS, or is on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        here = host == "localhost" or (host != "" and not host[-1].isalpha() and ip_address(host).is_loopback)
    except ValueError:
        parts, here, host = urlsplit(""), False, ""
    if not host or parts.username or not (parts.scheme == "https" or (parts.scheme == "http" and here)):
        raise BadInput(
            "The issuer needs an https:// address, or one of this machine; or give its keys as a file."
        )


def asked(issuer: str, patience: float = PATIENCE) -> Mapping[str, Verifying]:
    """Ask an issuer for its keys, at the address that it gives for them; both within one deadline."""
    deadline = time.monotonic() + patience
    about = _document(issuer.rstrip("/") + WELL_KNOWN, deadline)
    if (
        not isinstance(about, dict)
        or about.get("issuer") != issuer
        or not isinstance(about.get("jwks_uri"), str)
    ):
        raise ValueError("The issuer does not say that it is the one, or where its keys are.")
    return keys_of(_document(about["jwks_uri"], deadline))


def _document(url: str, deadline: float) -> Any:
    try:
        require_safe(url)
    except BadInput as wrong:
        raise ValueError(str(wrong)) from None
    return document_at(url, deadline)
