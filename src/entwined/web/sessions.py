"""Who holds the page: the start address is good once, and becomes a cookie that only this service gets.

Every form carries a token that belongs to the cookie. All of it is forgotten when the service ends.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from typing import Final

COOKIE: Final = "entwined"
MOST: Final = 16  # browsers at once


@dataclass(slots=True)
class Sessions:
    """The start token and the cookies in force; texts are compared in constant time."""

    start: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _open: list[str] = field(default_factory=list)
    _key: bytes = field(default_factory=lambda: secrets.token_bytes(32))

    def begin(self, given: str) -> str | None:
        """Turn the start token into a cookie, once; the next start token is another one."""
        if not _same(given, self.start):
            return None
        self.start = secrets.token_urlsafe(32)
        made = secrets.token_urlsafe(32)
        self._open = [*self._open[1 - MOST :], made]
        return made

    def holds(self, cookie: str) -> bool:
        """Whether a cookie is one of ours."""
        return any([_same(cookie, one) for one in self._open])  # noqa: C419  (all are compared, whichever is right)

    def form_token(self, cookie: str) -> str:
        """The token of the forms of one cookie."""
        return hmac.new(self._key, cookie.encode(), hashlib.sha256).hexdigest()

    def is_form_of(self, cookie: str, token: str) -> bool:
        """Whether a form was made for this cookie."""
        return self.holds(cookie) and _same(token, self.form_token(cookie))


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())
