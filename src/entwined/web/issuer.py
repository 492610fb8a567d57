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
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from entwined.errors import BadInput
from entwined.web.bearer import Verifying, Voucher, WrongToken, keys_of
from entwined.web.refusals import HOLDERS_LOG, TurnedAway

FRESH: Final = 600.0
STALE: Final = 3600.0
PAUSE: Final = 10.0
PATIENCE: Final = 5.0
LARGEST: Final = 1_000_000
FIELDS: Final = ("issuer", "audience", "keys")
NOT_NOW: Final = "Tokens of the issuer cannot be checked now. Try again later; nothing was charged."
WELL_KNOWN: Final = "/.well-known/openid-configuration"


@dataclass(slots=True)
class Keys:
    """Keys that are fetched and kept for a while; several threads may ask."""

    fetch: Callable[[], Mapping[str, Verifying]]
    clock: Callable[[], float] = time.monotonic
    _kept: Mapping[str, Verifying] = field(default_factory=dict)
    _since: float = -STALE
    _tried: float = -STALE
    _fetching: threading.Lock = field(default_factory=threading.Lock)

    def holding(self, name: str) -> Mapping[str, Verifying]:
        """Give the keys, fetched again if they are old or do not have this one; one thread fetches, for all."""
        age = self.clock() - self._since
        if age >= FRESH or name not in self._kept:
            waits = age >= STALE  # there is nothing to go by until somebody has fetched
            if self._fetching.acquire(blocking=waits):
                try:
                    self._refresh(name)
                finally:
                    self._fetching.release()
        if self.clock() - self._since >= STALE:
            raise TurnedAway(503, NOT_NOW)
        return self._kept

    def _refresh(self, name: str) -> None:
        now = self.clock()
        done = now - self._since < FRESH and name in self._kept  # by who held the lock before
        if done or now - self._tried < PAUSE:
            return
        self._tried = now
        try:
            self._kept = self.fetch()
        except (OSError, HTTPException, ValueError, RecursionError) as failed:
            HOLDERS_LOG.error("The keys of the issuer cannot be had: %s", failed)
            return
        self._since = now


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


class _NoRedirect(HTTPRedirectHandler):
    """Go nowhere but where we were told to."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow nothing."""


def asked(issuer: str) -> Mapping[str, Verifying]:
    """Ask an issuer for its keys, at the address that it gives for them."""
    about = _fetched(issuer.rstrip("/") + WELL_KNOWN)
    if (
        not isinstance(about, dict)
        or about.get("issuer") != issuer
        or not isinstance(about.get("jwks_uri"), str)
    ):
        raise ValueError("The issuer does not say that it is the one, or where its keys are.")
    return keys_of(_fetched(about["jwks_uri"]))


def _fetched(url: str) -> Any:
    try:
        require_safe(url)
    except BadInput as wrong:
        raise ValueError(str(wrong)) from None
    opener = build_opener(_NoRedirect, ProxyHandler({}))
    with opener.open(Request(url, headers={"Accept": "application/json"}), timeout=PATIENCE) as reply:  # noqa: S310
        body = reply.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise ValueError("The issuer says too much.")
    return json.loads(body)
