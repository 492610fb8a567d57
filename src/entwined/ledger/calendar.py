"""How much may leak within a year, a quarter or a month, on top of the cap.

Leakages do not add up, so what a period has spent is not a difference of totals: it is the price of what was charged
within the period, as if nothing else had ever been. It may not exceed the period's allowance, while the price of
everything may not exceed the cap. Periods are those of the UTC calendar; a charge belongs to the period of its entry.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from fractions import Fraction
from typing import Final, Self

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadInput, BadLoss
from entwined.ledger.entry import Entry
from entwined.promise.price import Price

QUARTER: Final = 3  # months
NOTHING: Final = Price(Fraction(0))
LATE: Final = timedelta(days=32)  # after the first of a month: in the next one


class Period(StrEnum):
    """A stretch of the calendar, in UTC."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"

    @property
    def months(self) -> int:
        """How many months it has."""
        return {Period.YEAR: 12, Period.QUARTER: QUARTER, Period.MONTH: 1}[self]

    def start(self, now: datetime) -> datetime:
        """Find the moment at which the period of now began.

        >>> Period.QUARTER.start(datetime(2026, 5, 17, tzinfo=UTC)).date().isoformat()
        '2026-04-01'
        """
        there = now.astimezone(UTC)
        return datetime(there.year, 1 + (there.month - 1) // self.months * self.months, 1, tzinfo=UTC)

    def end(self, now: datetime) -> datetime:
        """Find the moment at which the next one begins."""
        first = self.start(now)
        for _ in range(self.months):
            first = (first + LATE).replace(day=1)
        return first

    def called(self, now: datetime) -> str:
        """Name the period of now, such as 2026, the second quarter of it, or 2026-05."""
        first = self.start(now)
        match self:
            case Period.YEAR:
                return f"{first.year}"
            case Period.QUARTER:
                return f"quarter {1 + (first.month - 1) // QUARTER} of {first.year}"
        return f"{first:%Y-%m}"


@dataclass(frozen=True, slots=True)
class Calendar:
    """What each period may leak; a calendar without allowances is none.

    >>> str(Calendar.of({"year": 2, "month": Fraction(1, 2)}))
    '2 a year, 0.5 a month'
    """

    allowances: tuple[tuple[Period, Fraction], ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Fraction | int]) -> Self:
        """Take exact allowances by the names of their periods."""
        for name in given:
            if name not in set(Period):
                raise BadInput(
                    f"calendar has {name!r:.60}. Give allowances for a year, a quarter or a month."
                )
            if not isinstance(given[name], Fraction | int) or given[name] <= 0:
                raise BadLoss(
                    f"calendar {name} = {given[name]!r:.60} is no exact number above zero. Give such as 2."
                )
        return cls(tuple((one, Fraction(given[one])) for one in Period if one in given))

    @classmethod
    def from_document(cls, document: Mapping[str, str]) -> Self:
        """Read what the ledger's terms say."""
        return cls(tuple((one, fraction_from(document[one])) for one in Period if one in document))

    @property
    def document(self) -> dict[str, str]:
        """The calendar as JSON, exactly."""
        return {period.value: fraction_text(allowed) for period, allowed in self.allowances}

    def __bool__(self) -> bool:
        return bool(self.allowances)

    def __str__(self) -> str:
        return ", ".join(f"{float(allowed):.6g} a {period}" for period, allowed in self.allowances) or "none"


WITHIN: Final = "within"
"""Where an entry says what its periods amounted to after it."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """What a period may leak, and what that which was charged within it leaks on its own."""

    period: Period
    now: datetime
    allowed: Fraction
    spent: Price

    @classmethod
    def as_written(cls, period: Period, now: datetime, allowed: Fraction, last: Entry | None) -> Self:
        """Read from the last entry with a price what the period of now has spent: nothing if that is older."""
        said = last.fields.get(WITHIN, {}) if last is not None and last.time >= period.start(now) else {}
        return cls(period, now, allowed, Price.from_document(said[period]) if period in said else NOTHING)

    @property
    def name(self) -> str:
        """The period that it is now."""
        return self.period.called(self.now)

    @property
    def next(self) -> str:
        """The day on which the next period begins."""
        return self.period.end(self.now).date().isoformat()

    @property
    def left(self) -> float:
        """What may still leak within it."""
        return max(float(self.allowed - self.spent.worst), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether more than is allowed has leaked within it."""
        return not self.spent.worst <= self.allowed

    @property
    def document(self) -> Document:
        """What the period leaves, as JSON."""
        return {
            "period": self.period.value,
            "name": self.name,
            "allowed": float(self.allowed),
            "spent": float(self.spent.worst),
            "left": self.left,
            "next": self.next,
        }

    @property
    def words(self) -> str:
        """Say what is left of it, and until when."""
        return (
            f"{self.left:.6g} of {float(self.allowed):.6g} is left in {self.name}; the next {self.period} begins on "
            f"{self.next} (UTC)"
        )

    @property
    def refusal(self) -> str:
        """Say that this would be too much, and when it would not be."""
        over = float(self.spent.worst - self.allowed)
        return (
            f"what is charged within {self.name} would leak {float(self.spent.worst):.6g}, {over:.6g} more than the "
            f"{float(self.allowed):.6g} that the calendar allows a {self.period}. Ask for a smaller loss, or wait: the "
            f"next {self.period} begins on {self.next} (UTC)"
        )


def within(periods: Iterable[Allowance]) -> Document:
    """Write what periods amount to, for an entry to say."""
    said = {one.period.value: one.spent.document for one in periods}
    return {WITHIN: said} if said else {}
