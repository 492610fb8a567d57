"""A token of somebody else's, checked: signed by a key of the one issuer, for this service, now; then whose it is.

RS256 and ES256 and nothing else: the key decides what a signature is checked with, so that a token cannot choose
none, nor take a public key for a shared secret. Nothing that a token says about where its key may be had is followed.
"""

import base64
import binascii
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from entwined.web.refusals import TurnedAway

SKEW: Final = 60.0
"""Seconds that two clocks may differ by."""
LONGEST: Final = 16_384
LONGEST_SUBJECT: Final = 255
LATEST: Final = 2**53
SMALLEST_RSA: Final = 2048
SMALLEST_EXPONENT: Final = 65_537
LARGEST_EXPONENT: Final = 2**64
P256: Final = 32  # bytes of a coordinate
PARTS: Final = 3
REFUSED: Final = "The token is not good here. Get a new one from your issuer, for this service."

Claims: TypeAlias = dict[str, Any]


class WrongToken(TurnedAway):
    """A token that is not good; the holder's log has no more of it than an analyst is told."""

    def __init__(self) -> None:
        super().__init__(401, REFUSED)


class Verifying(Protocol):
    """The public half of a key."""

    @property
    def algorithm(self) -> str:
        """The one way of signing that it is for."""

    def check(self, signature: bytes, signed: bytes) -> bool:
        """Whether a signature of these bytes is its own."""


@dataclass(frozen=True, slots=True)
class RsaKey:
    """RSA with SHA-256, as RS256 has it."""

    number: int
    exponent: int
    algorithm: str = "RS256"

    def check(self, signature: bytes, signed: bytes) -> bool:
        """Check a signature by PKCS #1 v1.5."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
        from cryptography.hazmat.primitives.hashes import SHA256

        try:
            RSAPublicNumbers(self.exponent, self.number).public_key().verify(
                signature, signed, PKCS1v15(), SHA256()
            )
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class CurveKey:
    """A point of P-256 with SHA-256, as ES256 has it."""

    x: int
    y: int
    algorithm: str = "ES256"

    def check(self, signature: bytes, signed: bytes) -> bool:
        """Check a signature of two numbers, one after the other."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicNumbers
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
        from cryptography.hazmat.primitives.hashes import SHA256

        if len(signature) != 2 * P256:
            return False
        pair = (int.from_bytes(half, "big") for half in (signature[:P256], signature[P256:]))
        try:
            key = EllipticCurvePublicNumbers(self.x, self.y, SECP256R1()).public_key()
            key.verify(encode_dss_signature(*pair), signed, ECDSA(SHA256()))
        except (InvalidSignature, ValueError):
            return False
        return True


def keys_of(document: Any) -> dict[str, Verifying]:
    """Read the keys of an issuer by their names; those that are for something else are passed over."""
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("No list of keys.")  # noqa: TRY004  (it was read, not given)
    found: dict[str, Verifying] = {}
    for one in listed:
        name = one.get("kid") if isinstance(one, dict) else None
        key = _key(one) if isinstance(name, str) and name not in found else None
        if key is not None and isinstance(name, str):
            found[name] = key
    return found


def _key(given: Mapping[str, Any]) -> Verifying | None:
    try:
        if given.get("use", "sig") != "sig" or "verify" not in given.get("key_ops", ["verify"]):
            return None
        made: Verifying
        match given:
            case {"kty": "RSA", "n": str(n), "e": str(e)}:
                made = RsaKey(_number(n), _number(e))
                good = made.number.bit_length() >= SMALLEST_RSA and made.exponent % 2 == 1
                good = good and SMALLEST_EXPONENT <= made.exponent < LARGEST_EXPONENT
            case {"kty": "EC", "crv": "P-256", "x": str(x), "y": str(y)}:
                made, good = CurveKey(_number(x), _number(y)), True
            case _:
                return None
    except (ValueError, TypeError):
        return None
    return made if good and given.get("alg", made.algorithm) == made.algorithm else None


@dataclass(frozen=True, slots=True)
class Voucher:
    """A token taken apart, not yet believed."""

    key: str
    algorithm: str
    claims: Claims
    signed: bytes
    signature: bytes

    @classmethod
    def read(cls, text: str) -> "Voucher":
        """Take a token apart."""
        parts = text.split(".") if len(text) <= LONGEST else []
        if len(parts) != PARTS or not text.isascii():
            raise WrongToken
        try:
            head, claims = (_json(_bytes(part)) for part in parts[:2])
            signature = _bytes(parts[2])
        except (ValueError, RecursionError):
            raise WrongToken from None
        name, algorithm = head.get("kid"), head.get("alg")
        if not isinstance(name, str) or not isinstance(algorithm, str) or "crit" in head:
            raise WrongToken
        return cls(name, algorithm, claims, text.rpartition(".")[0].encode(), signature)

    def subject(self, keys: Mapping[str, Verifying], issuer: str, audience: str, now: float) -> str:
        """Give whose token it is, if it is signed, for this service, and good now."""
        key, claims = keys.get(self.key), self.claims
        if key is None or self.algorithm != key.algorithm or not key.check(self.signature, self.signed):
            raise WrongToken
        meant = claims.get("aud")
        audiences = meant if isinstance(meant, list) else [meant]
        subject = claims.get("sub")
        if claims.get("iss") != issuer or audience not in audiences or not _is_now(claims, now):
            raise WrongToken
        if not isinstance(subject, str) or not 1 <= len(subject) <= LONGEST_SUBJECT:
            raise WrongToken
        return subject


def _is_now(claims: Claims, now: float) -> bool:
    """Whether a token has begun and not ended; when it ends has to be said."""
    end, *begins = (
        _seconds(claims.get(key, usual)) for key, usual in (("exp", None), ("nbf", now), ("iat", now))
    )
    return end > now - SKEW and all(begin <= now + SKEW for begin in begins)


def _seconds(given: object) -> float:
    """Read a time; what is none is never now."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not abs(given) <= LATEST:
        return math.nan
    return float(given)


def _bytes(text: str) -> bytes:
    """Read base64 for URLs, without padding and in the one way that it is written."""
    try:
        found = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise ValueError("No base64.") from None
    if base64.urlsafe_b64encode(found).decode().rstrip("=") != text:
        raise ValueError("Base64 in another way than it is written.")
    return found


def _number(text: str) -> int:
    return int.from_bytes(_bytes(text), "big")


def _json(text: bytes) -> Claims:
    """Read an object; a name that stands there twice, or a number that is none, is refused."""

    def once(pairs: list[tuple[str, Any]]) -> Claims:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("A name stands twice.")
        return dict(pairs)

    def refuse(_: str) -> float:
        raise ValueError("No number.")

    found = json.loads(text.decode(), object_pairs_hook=once, parse_constant=refuse)
    if not isinstance(found, dict):
        raise ValueError("No object.")  # noqa: TRY004  (it was read, not given)
    return found
