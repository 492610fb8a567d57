"""A key of the holder's own, and what it signs: approvals of schemas and certificates of releases.

The scheme is Ed25519 as the package `cryptography` has it. A signature proves that whoever has the key signed
these very bytes; whose key it is, is for people to tell each other: that is what the fingerprint is for.
"""

import base64
import hashlib
import os
import stat
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from entwined.errors import BadInput, BadKey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KIND: Final = "ed25519"
HEAD: Final = "entwined private key, ed25519. Whoever has this file can sign in your name."
LARGEST_FILE: Final = 10_000
KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class PublicKey:
    """What anyone may have, to tell whose signature it is."""

    content: bytes

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read a public key as it is written."""
        return cls(_bytes(text, KEY_BYTES, "a public key"))

    @property
    def text(self) -> str:
        """The key as it is written."""
        return base64.b64encode(self.content).decode()

    @property
    def fingerprint(self) -> str:
        """A short name that people can compare aloud.

        >>> PublicKey(bytes(32)).fingerprint
        '6668-7aad-f862-bd77'
        """
        digits = hashlib.sha256(self.content).hexdigest()[:16]
        return "-".join(digits[at : at + 4] for at in range(0, 16, 4))


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature and the public half of the key that made it."""

    key: PublicKey
    content: bytes

    @property
    def text(self) -> str:
        """The signature alone, as it is written."""
        return base64.b64encode(self.content).decode()

    @property
    def document(self) -> dict[str, str]:
        """The signature as JSON."""
        return {"kind": KIND, "key": self.key.text, "signature": self.text}

    @classmethod
    def of_texts(cls, key: str, signature: str) -> Self:
        """Read a key and a signature as they are written."""
        return cls(PublicKey.from_text(key), _bytes(signature, SIGNATURE_BYTES, "a signature"))

    @classmethod
    def from_document(cls, given: Any) -> Self:
        """Read a signature as it was written; nothing else may stand beside it."""
        if (
            not isinstance(given, dict)
            or given.keys() != {"kind", "key", "signature"}
            or given["kind"] != KIND
        ):
            raise BadKey(f"This is no signature of kind {KIND}. Give one that entwined wrote.")
        return cls.of_texts(given["key"], given["signature"])

    def is_of(self, message: str) -> bool:
        """Tell whether the key signed these words."""
        _require_package()
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.key.content).verify(self.content, message.encode())
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True)
class Key:
    """The secret half, from a file that nobody else may read."""

    _private: "Ed25519PrivateKey"

    @classmethod
    def new(cls, path: Path) -> Self:
        """Make a key and write it to a new file that only its owner may read."""
        _require_package()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        made = Ed25519PrivateKey.generate()
        text = f"# {HEAD}\n{base64.b64encode(made.private_bytes_raw()).decode()}\n"
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(file, "w", encoding="ascii") as opened:
                opened.write(text)
        except FileExistsError:
            raise BadInput(f"{path!s:.200} is there already. Give the key a file of its own.") from None
        except (OSError, ValueError) as failed:
            why = getattr(failed, "strerror", None) or "it is no path"
            raise BadInput(f"{path!s:.200} cannot be written: {why}. Give another path.") from None
        return cls(made)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a key; one that others could have read is refused."""
        _require_package()
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return cls(Ed25519PrivateKey.from_private_bytes(_bytes(_secret(path), KEY_BYTES, "a key")))

    @property
    def public(self) -> PublicKey:
        """The half that may be handed out."""
        return PublicKey(self._private.public_key().public_bytes_raw())

    def sign(self, message: str) -> Signature:
        """Sign these words."""
        return Signature(self.public, self._private.sign(message.encode()))


def can_check() -> bool:
    """Whether signatures can be made and checked here."""
    return find_spec("cryptography") is not None


def _require_package() -> None:
    if not can_check():
        raise BadInput("Keys need the package cryptography. Install it with: pip install 'entwined[sign]'.")


def _secret(path: Path) -> str:
    """Read the line of a key file that is no comment."""
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST_FILE:
                raise BadKey(f"{path!s:.200} is no key. Give the file that `entwined key new` made.")
            if found.st_mode & OTHERS:
                raise BadKey(f"{path!s:.200} may be read by others, so it is no secret. Make a new key.")
            lines = file.read(LARGEST_FILE).decode("ascii").splitlines()
    except OSError as failed:
        raise BadKey(f"{path!s:.200} cannot be read: {failed.strerror}. Give the file of your key.") from None
    except ValueError:
        raise BadKey(f"{path!s:.200} is no key. Give the file that `entwined key new` made.") from None
    return "".join(line.strip() for line in lines if not line.startswith("#"))


def _bytes(text: object, size: int, what: str) -> bytes:
    """Read bytes in the only form in which they are written; the words never repeat what may be secret."""
    try:
        found = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError:
        found = b""
    if len(found) != size or base64.b64encode(found).decode() != text:
        raise BadKey(f"What is given is not {what} of kind {KIND}. Give what `entwined key new` made.")
    return found
