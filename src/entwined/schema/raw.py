"""How one raw cell is read, whatever an engine hands over: every value has a fate, none raises.

Numbers become the nearest IEEE double (ties to even; too large becomes an infinity), so that every engine can
do the same. Texts are numbers or times only in the strict ASCII forms below, after spaces at the ends.
"""

import math
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Final, SupportsFloat, SupportsIndex

LONGEST_NUMBER: Final = 1000
NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
TIME: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?"
)


def is_whole(given: object) -> bool:
    """Say whether something is an integer and not a truth value."""
    return isinstance(given, int) and not isinstance(given, bool)


def is_text(given: object) -> bool:
    """Say whether something is text."""
    return isinstance(given, str)


def number_of(raw: object) -> float | None:
    """Read a number or a number's text as a double; None for whatever is no number, NaN included."""
    if isinstance(raw, str):
        text = raw.strip(" ")
        if len(text) > LONGEST_NUMBER or NUMBER.fullmatch(text) is None:
            return None
        return float(text)
    if not isinstance(
        raw, int | float | Fraction | Decimal | SupportsFloat | SupportsIndex
    ):  # protocols are slow
        return None
    try:
        number = float(raw)
    except OverflowError:  # an integer or fraction beyond every double
        return math.inf if raw > 0 else -math.inf  # type: ignore[operator]  # what overflows has an order
    except (TypeError, ValueError):  # a signalling NaN, a missing marker
        return None
    return None if math.isnan(number) else number


def number_not_text(raw: object) -> float | None:
    """Read a number that is not written as text and not a truth value."""
    return None if isinstance(raw, str | bool) else number_of(raw)


def text_of(raw: object) -> str | None:
    """Read text; truth values and dates have one too, anything else has none."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, date) and not isinstance(raw, datetime):
        return raw.isoformat()
    return None


def moment_of(raw: object) -> datetime | None:
    """Read a time (one with a zone is moved to UTC), a date as its midnight, or ISO text of either."""
    if isinstance(raw, str):
        text = raw.strip(" ")
        if TIME.fullmatch(text) is None:
            return None
        try:
            return _without_zone(datetime.fromisoformat(text))
        except ValueError:  # such as the 30th of February
            return None
    if isinstance(raw, datetime):
        return _without_zone(raw) if raw == raw else None  # noqa: PLR0124  (a missing time is not itself)
    if isinstance(raw, date):
        return datetime(raw.year, raw.month, raw.day)  # noqa: DTZ001  (schema times have no zone)
    return None


def _without_zone(moment: datetime) -> datetime | None:
    try:
        return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:  # within a day of the first or last year
        return moment.replace(tzinfo=None)
