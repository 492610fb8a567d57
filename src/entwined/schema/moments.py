"""Columns of times without zone, in whole steps of a clock or of the calendar.

Seconds to weeks are even steps from low on. Months, quarters and years are those of the calendar: low begins one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import ClassVar, Final, Literal, TypeAlias, get_args

from entwined.canonical import Document
from entwined.errors import BadQuery, BadSchema
from entwined.schema.bands import MOST_BANDS, Periods
from entwined.schema.calendar import MONTHS, PERIODS, begins, ends, month_begins, month_number, named
from entwined.schema.grids import Ordered
from entwined.schema.raw import is_text, moment_of

Step: TypeAlias = Literal["second", "minute", "hour", "day", "week", "month", "quarter", "year"]

STEPS: Final[tuple[Step, ...]] = get_args(Step)
CLOCK: Final[Mapping[str, timedelta]] = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
}
LAST_DAY: Final = datetime(9999, 12, 31)  # noqa: DTZ001  (schema times have no zone)


@dataclass(frozen=True)
class Moment(Ordered):
    """Times in whole steps from low to high; a raw time is cut to the step it lies in."""

    low: datetime
    high: datetime
    step: Step = "day"
    kind: ClassVar[str] = "moment"

    def __post_init__(self) -> None:
        super().__post_init__()
        name = f"Moment column {self.name!r}"
        for part in ("low", "high"):
            moment = moment_of(getattr(self, part))
            if moment is None:
                raise BadSchema(
                    f"{name} has {part} = {getattr(self, part)!r}. Give a time such as 2020-01-31."
                )
            object.__setattr__(self, part, moment)
        if not is_text(self.step) or self.step not in STEPS:
            raise BadSchema(f"{name} has step {self.step!r}. Give one of {', '.join(STEPS)}.")
        if self.low > self.high:
            raise BadSchema(f"{name} goes from {self.low} to {self.high}. Swap low and high.")
        if self.months and self._value(0) != self.low:
            raise BadSchema(
                f"{name} begins inside a {self.step}, at {self.low}. Give low = {self._value(0).date()}."
            )
        self._cut()

    @property
    def months(self) -> int:
        """How many months a step has; none where steps are those of a clock."""
        return MONTHS.get(self.step, 0)

    @property
    def seconds(self) -> int:
        """How many seconds a step of a clock has."""
        return int(CLOCK[self.step].total_seconds())

    @property
    def levels(self) -> int:
        """How many whole steps there are."""
        return self._steps(self.high) + 1

    def _steps(self, moment: datetime) -> int:
        """Count the whole steps from low to a time."""
        if self.months:
            return month_number(moment) // self.months - month_number(self.low) // self.months
        return (moment - self.low) // CLOCK[self.step]

    def _stands_for_missing(self, raw: object) -> bool:
        moment = moment_of(raw)
        return super()._stands_for_missing(raw) or (moment is not None and moment in self._missing_moments)

    @cached_property
    def _missing_moments(self) -> frozenset[datetime]:
        return frozenset(moment for text in self.missing_codes if (moment := moment_of(text)) is not None)

    def _code(self, raw: object) -> int:
        moment = moment_of(raw)
        return self.missing_code if moment is None else self._fate(self._steps(moment))

    def _value(self, code: int) -> datetime:
        if self.months:
            return month_begins((month_number(self.low) // self.months + code) * self.months)
        return self.low + code * CLOCK[self.step]

    def position(self, constant: object) -> Fraction:
        """Say where a time lies, in steps after low."""
        moment = moment_of(constant)
        if moment is None:
            raise self.wrong(constant, "a time such as '2020-01-31' or '2020-01-31 12:00:00'")
        micro = timedelta(microseconds=1)
        if not self.months:
            return Fraction((moment - self.low) // micro, CLOCK[self.step] // micro)
        whole = self._steps(moment)
        inside = (moment - self._value(whole)) // micro
        return whole + Fraction(inside, self._length(whole) // micro)

    def _length(self, code: int) -> timedelta:
        """How long a step is; the last one of the last year as a December."""
        try:
            return self._value(code + 1) - self._value(code)
        except ValueError:
            return LAST_DAY - self._value(code) + timedelta(days=1)

    def at(self, steps: Fraction) -> datetime:
        """Give the time so many steps after low, perhaps inside a step."""
        if not self.months:
            return self.low + CLOCK[self.step] * float(steps)
        whole = floor(steps)
        return self._value(whole) + self._length(whole) * float(steps - whole)

    def apart(self, low: datetime, high: datetime) -> float:
        """Give how many steps apart two times are."""
        if not self.months:
            return (high - low) / CLOCK[self.step]
        return float(self.position(high) - self.position(low))

    def spoken(self, code: int) -> str:
        """Write a time: a month as a month, whole days without a clock."""
        moment = self._value(code)
        if self.step in PERIODS and self.step != "minute":
            return named(moment, self.step)
        return moment.isoformat(sep=" ", timespec="seconds" if self.step == "second" else "minutes")

    def periods(self, every: str | int) -> Periods:
        """Begin bands where the periods of the calendar do."""
        if every not in PERIODS:
            raise BadQuery(f"Bands of {self.name} every {every!r:.60}. Give one of {', '.join(PERIODS)}.")
        found: list[tuple[str, datetime]] = []
        begin: datetime | None = begins(self.low, every)
        while begin is not None and begin <= self._value(self.levels - 1):
            if len(found) == MOST_BANDS:
                raise BadQuery(
                    f"Bands of {self.name} every {every}: more than {MOST_BANDS:,}. Take longer ones."
                )
            found.append((named(begin, every), begin))
            begin = ends(begin, every)
        return found

    def _written(self, code: int) -> str:
        return self._value(code).isoformat()

    @property
    def document(self) -> Document:
        """The column as the fields of its file."""
        return super().document | {
            "low": self.low.isoformat(),
            "high": self.high.isoformat(),
            "step": self.step,
        }
