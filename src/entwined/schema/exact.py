"""Numbers as they are declared: read exactly, and written so that they are read back exactly."""

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Final

LONGEST_CONSTANT: Final = 400
MOST_DIGITS: Final = 100  # 2^-100 has no more


def exact_number(given: object) -> Fraction | None:
    """Read a number exactly: 0.1 is one tenth, not the double next to it; None for whatever is no number."""
    if isinstance(given, bool) or not isinstance(given, int | float | str | Decimal | Fraction):
        return None
    if isinstance(given, int | Fraction):
        return Fraction(given)
    text = str(given)
    if len(text) > LONGEST_CONSTANT:
        return None
    try:
        over, _, under = text.partition("/")
        number = Decimal(over.strip())
        if not number.is_finite() or abs(number.adjusted()) > LONGEST_CONSTANT:
            return None
        return Fraction(number) / (int(under) if under else 1)
    except (InvalidOperation, ValueError, ZeroDivisionError):
        return None


def number_text(number: Fraction) -> str:
    """Write a number so that it is read back exactly: a plain decimal where there is one, else a fraction."""
    digits = 0
    while digits <= MOST_DIGITS and (number * 10**digits).denominator != 1:
        digits += 1
    if digits > MOST_DIGITS:
        return f"{number.numerator}/{number.denominator}"
    whole, rest = divmod(abs(number.numerator) * 10**digits // number.denominator, 10**digits)
    sign = "-" if number < 0 else ""
    return f"{sign}{whole}.{rest:0{digits}d}" if digits else f"{sign}{whole}"
