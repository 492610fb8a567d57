"""One released number as people read it: in the digits that its interval leaves it."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import islice
from typing import Any, Final, cast

from entwined.canonical import Document
from entwined.estimate.compared import ComparedNumbers
from entwined.queries.spoken import moment
from entwined.report.findings import Cell, Finding
from entwined.report.words import digits_for, exactly, number, readable

MOST_LINES: Final = 40  # numbers of a statistic on a page; all are in the values
COARSE: Final = 0.05  # half-widths of shares that leave no decimal of a percentage
CLOSE: Final = 1e-6  # of the last digit: shares are given in millionths, which floats do not hold exactly


def line_of(cell: Cell) -> Document:
    """Write a number in as many digits as its interval leaves it, and the interval rounded outwards."""
    low, high = cell.low, cell.high
    named: Document = {"names": [readable(name, 80) for name in cell.names], "quality": cell.quality}
    if isinstance(cell.value, datetime):
        ends = None if low is None or high is None else (to_minute(low), to_minute(high, up=True))
        return named | {"value": to_minute(cell.value), "interval": ends}
    if isinstance(low, datetime) or isinstance(high, datetime) or low is None or high is None:
        return named | {"value": exactly(cell.value), "interval": None}
    digits = digits_for(Fraction(high - low) / 2)
    if cell.adjusted is not None:
        named["adjusted"] = number(cast("Any", cell.adjusted), digits)
    return named | {
        "value": number(cell.value, digits),
        "interval": (number(low, digits, towards=-1), number(high, digits, towards=1)),
    }


def compared_line(one: ComparedNumbers) -> Document:
    """Write a comparison in as many digits as its interval leaves it."""
    found = one.found
    digits = digits_for((found.high - found.low) / 2)
    return {
        "name": readable(one.wish.name),
        "kind": one.wish.kind,
        "one": readable(" · ".join(map(str, one.wish.one))),
        "other": readable(" · ".join(map(str, one.wish.other))),
        "value": "–" if found.value is None else number(found.value, digits),
        "low": number(found.low, digits, towards=-1),
        "high": number(found.high, digits, towards=1),
        "confidence": f"{float(100 * one.confidence):.3g} %",
    }


def to_minute(value: Any, *, up: bool = False) -> str:
    """Write a time to the minute.

    >>> to_minute(datetime(2020, 1, 31, 12, 30, 7), up=True)
    '2020-01-31 12:31'
    """
    minute = value.replace(second=0, microsecond=0)
    return moment(minute + timedelta(minutes=1) if up and minute < value else minute)


@dataclass(frozen=True, slots=True)
class ShareShown:
    """A percentage, and between which the truth lies with the confidence of the page, rounded outwards."""

    value: str
    interval: str

    @classmethod
    def of(cls, share: float, low: float, high: float) -> "ShareShown":
        """Write a share with the decimals that its interval leaves it; nothing of one that is no number."""
        if math.isnan(share):
            return cls("", "")
        digits = 0 if high - low > 2 * COARSE else 1
        fine = 10**digits
        ends = math.floor(100 * low * fine + CLOSE) / fine, math.ceil(100 * high * fine - CLOSE) / fine
        return cls(f"{100 * share:.{digits}f} %", f"{ends[0]:.{digits}f} to {ends[1]:.{digits}f} %")


def shares_of(finding: Finding) -> list[ShareShown]:
    """Write counts as percentages of their whole; none where they are parts of nothing, or are shares themselves."""
    if finding.dividing is None or finding.query.is_share:
        return []
    places = [cell.place for cell in islice(finding.cells(), MOST_LINES)]
    shares = (ends[places] for ends in finding.dividing(slice(0, places[-1] + 1)))
    return [ShareShown.of(*map(float, ends)) for ends in zip(*shares, strict=True)]
