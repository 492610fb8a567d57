"""One text for one value, so that equal things have equal hashes."""

import hashlib
import json
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from entwined.errors import BadLoss, LedgerDamaged

Document: TypeAlias = dict[str, Any]
"""A JSON object."""


def canonical(document: Any) -> str:
    """Write a JSON value in its one form: sorted, without spaces, ASCII, no NaN."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)


def sha256(*texts: str) -> str:
    """Hash texts, one a line."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def sha256_of_bytes(content: bytes) -> str:
    """Hash bytes."""
    return hashlib.sha256(content).hexdigest()


def fraction_text(exact: Fraction) -> str:
    """Write a fraction exactly."""
    try:
        return f"{exact.numerator}/{exact.denominator}"
    except ValueError:  # Python refuses to write integers of more than 4,300 digits
        raise BadLoss(
            "A loss has more digits than can be stored. Give losses as short decimals such as 0.05."
        ) from None


@lru_cache(maxsize=1 << 16)
def fraction_from(text: str) -> Fraction:
    """Read a fraction in the only form in which it is written.

    >>> fraction_from("1/10") * 10
    Fraction(1, 1)
    """
    try:
        above, below = text.split("/")
        exact = Fraction(int(above), int(below))
    except (ValueError, ZeroDivisionError):
        raise LedgerDamaged(f"The ledger holds {text[:40]!r} where a fraction belongs. Restore it.") from None
    if f"{exact.numerator}/{exact.denominator}" != text:
        raise LedgerDamaged(f"The ledger holds {text[:40]!r}, a fraction not in lowest terms. Restore it.")
    return exact
