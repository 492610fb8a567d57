"""Calendar periods: where each begins, where the next one does, and what it is called."""

from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias, get_args

Period: TypeAlias = Literal["minute", "hour", "day", "week", "month", "quarter", "year"]

PERIODS: Final[tuple[Period, ...]] = get_args(Period)
MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
EVEN: Final = {
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
YEAR: Final = 12  # months
FIRST: Final = datetime(1, 1, 1)  # noqa: DTZ001  (schema times have no zone)


def begins(moment: datetime, period: Period) -> datetime:
    """Give the first moment of the period that a moment lies in; weeks begin on Mondays.

    >>> [f"{begins(datetime(2026, 2, 28, 7), period):%Y-%m-%d}" for period in ("week", "month", "quarter", "year")]
    ['2026-02-23', '2026-02-01', '2026-01-01', '2026-01-01']
    """
    if period in MONTHS:
        whole = month_number(moment) // MONTHS[period] * MONTHS[period]
        return month_begins(whole)
    if period == "week":
        return begins(moment, "day") - timedelta(days=moment.weekday())
    return FIRST + (moment - FIRST) // EVEN[period] * EVEN[period]


def ends(begin: datetime, period: Period) -> datetime | None:
    """Give the first moment after the period that begins there; None behind the last year."""
    try:
        if period in MONTHS:
            return month_begins(month_number(begin) + MONTHS[period])
        return begin + EVEN[period]
    except (OverflowError, ValueError):
        return None


def named(begin: datetime, period: Period) -> str:
    """Name a period by where it begins, so that names sort as periods do.

    >>> [named(datetime(2026, 7, 1), period) for period in ("hour", "day", "month", "quarter", "year")]
    ['2026-07-01 00:00', '2026-07-01', '2026-07', '2026-Q3', '2026']
    """
    match period:
        case "year":
            return f"{begin.year:04}"
        case "quarter":
            return f"{begin.year:04}-Q{(begin.month + 2) // 3}"
        case "month":
            return f"{begin.year:04}-{begin.month:02}"
        case "week" | "day":
            return begin.date().isoformat()
    return begin.isoformat(sep=" ", timespec="minutes")


def month_number(moment: datetime) -> int:
    """Count the months since the year 0."""
    return moment.year * YEAR + moment.month - 1


def month_begins(number: int) -> datetime:
    """Give the first moment of a month by its number."""
    return datetime(number // YEAR, number % YEAR + 1, 1)  # noqa: DTZ001  (schema times have no zone)
