"""When two texts name the same person or group: a rule that is declared, and the same in every engine.

Spaces at the ends, which nobody sees, never count. Numbers are compared as numbers: 7 and 7.0 are one.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from numbers import Integral, Real
from typing import Final, Literal, TypeAlias

from entwined.schema.raw import text_of

Compare: TypeAlias = Literal["exact", "loose"]

# every sign that is shown as nothing but room, or as nothing at all
BLANKS: Final = (
    " \t\n\v\f\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS: Final = "0123456789"
WORDS: Final[Mapping[str, str]] = {
    "exact": "ids are compared exactly, but for spaces at the ends: two spellings are two",
    "loose": "ids that differ only in spaces, in the case of A to Z or in zeros before a number are one; any other "
    "two spellings are two",
}
_SPACED: Final = str.maketrans(dict.fromkeys(BLANKS, " "))
_LOWERED: Final = str.maketrans(CAPITALS, CAPITALS.lower())


def form(text: str, compare: str) -> str | None:
    """Give what is compared of a text; None for one that names nobody."""
    bare = text.strip(BLANKS)
    if compare == "loose":
        bare = re.sub(" +", " ", bare.translate(_SPACED)).translate(_LOWERED)
        if bare and not bare.strip(DIGITS):
            bare = bare.lstrip("0") or "0"
    return bare or None


def spelled(raw: object) -> str | None:
    """Write any raw value as text: a whole number in its digits, however it is kept; None for a missing one."""
    if raw is None or type(raw).__name__ in {"NAType", "NaTType"}:
        return None
    text = text_of(raw)
    if text is not None:
        return text
    if isinstance(raw, Decimal):
        return _digits(raw)
    if isinstance(raw, Integral):
        return _digits(Decimal(int(raw)))
    return _digits(Decimal(repr(float(raw)))) if isinstance(raw, Real) else str(raw)


def _digits(number: Decimal) -> str | None:
    """Write a number in as few digits as it has, whatever its size."""
    if number.is_nan():
        return None
    text = f"{number:f}"
    shortest = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if shortest == "-0" else shortest
