"""Tables in databases: what is written down of an address has no password; that stays in memory."""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from entwined.errors import BadInput
from entwined.request.words import without_password

KINDS: Final = ("postgresql", "postgres")
MOST: Final = 100
LONGEST: Final = 2000
NO_ADDRESS: Final = "This is no address of a table. Write postgresql://user@host/database?table=name."


class Addresses:
    """Addresses as they are written down, and the passwords that they were given with."""

    def __init__(self, given: Iterable[str] = ()) -> None:
        self._full: dict[str, str] = {}
        self.offered = tuple(self.remember(one) for one in given)

    def remember(self, address: str, password: str = "") -> str:
        """Take an address and give what of it is written down."""
        try:
            parts = urlsplit(address.strip()) if len(address) <= LONGEST else None
        except ValueError:  # its words may hold a password
            parts = None
        if parts is None or parts.scheme not in KINDS or not address.isprintable():
            raise BadInput(NO_ADDRESS)
        bare = without_password(urlunsplit(parts))
        if password:
            user, at, host = parts.netloc.rpartition("@")
            if not at:
                raise BadInput(
                    "A password belongs to a user. Write postgresql://user@host/database?table=name."
                )
            named = f"{user.partition(':')[0]}:{quote(password, safe='')}@{host}"
            parts = parts._replace(netloc=named)
        if len(self._full) >= MOST and bare not in self._full:
            raise BadInput("Too many addresses were given since the service was started. Start it again.")
        if parts.password or "password=" in parts.query or bare not in self._full:
            self._full[bare] = urlunsplit(parts)
        return bare

    def full(self, written: str) -> str:
        """Give an address with its password, where one is known; anything else as it is."""
        return self._full.get(written, written)

    def scrubbed(self, words: str) -> str:
        """Leave passwords out of words, whoever wrote them."""
        for one in self._full.values():
            secret = urlsplit(one).password
            for spelled in filter(None, {secret, unquote(secret or "")}):
                words = words.replace(spelled, "…")
        return words


def is_address(table: str) -> bool:
    """Tell an address from a path below the folder."""
    return "://" in table
