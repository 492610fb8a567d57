"""Scales of charts: where a number stands on a line, and the round numbers that are written under it."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from entwined.report.words import figure

DAY: Final = 86_400.0
TIME_STEPS: Final = (
    60.0,
    600.0,
    3600.0,
    6 * 3600.0,
    *(DAY * days for days in (1, 2, 7, 14, 28, 91, 182, 365)),
)
LARGE: Final = 100_000
THOUSANDS: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
MOST_FACTORS: Final = 5  # numbers under a scale of factors
EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  (times of tables have no zone)


@dataclass(frozen=True, slots=True)
class Scale:
    """A line of numbers, times or factors from `low` to `high`, drawn from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[tuple[float, str], ...] = ()
    factors: bool = False

    def at(self, value: float) -> float:
        """Say where a number stands."""
        low, high = (math.log(self.low), math.log(self.high)) if self.factors else (self.low, self.high)
        place = math.log(value) if self.factors else value
        return self.start + (self.end - self.start) * (place - low) / ((high - low) or 1.0)


def sums(values: Iterable[float], start: float, end: float, *, zero: bool = True, most: int = 4) -> Scale:
    """Fit a scale of sums with round ends around values, from zero where lengths are compared."""
    found = [value for value in values if math.isfinite(value)] or [0.0]
    low, high = (min(*found, 0.0), max(*found, 0.0)) if zero else (min(found), max(found))
    if low == high:
        low, high = (low, low + 1.0) if zero else (low - abs(low) / 2 - 0.5, low + abs(low) / 2 + 0.5)
    step = round_step((high - low) / most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple((at * step, told(at * step, step, largest=last * step)) for at in range(first, last + 1))
    return Scale(first * step, last * step, start, end, ticks)


def round_step(least: float) -> float:
    """Give the smallest of 1, 2 and 5 times a power of ten that is no less.

    >>> round_step(37.0), round_step(0.2), round_step(6.0)
    (50.0, 0.2, 10.0)
    """
    power = 10.0 ** math.floor(math.log10(least))
    return next(times * power for times in (1.0, 2.0, 5.0, 10.0) if times * power >= least * (1 - 1e-9))


def told(value: float, step: float, *, largest: float) -> str:
    """Write a round number with the digits that its step has; thousands of large ones by a letter.

    >>> told(0.25, 0.05, largest=1), told(-20, 10, largest=50), told(1_500_000, 500_000, largest=2e6)
    ('0.25', '−20', '1.5M')
    """
    if max(abs(largest), abs(value)) >= LARGE:
        size, letter = next(((size, letter) for size, letter in THOUSANDS if abs(value) >= size), (1.0, ""))
        return f"{value / size:.6g}{letter}".replace("-", "−")
    digits = max(-math.floor(math.log10(step) + 1e-9), 0)
    return f"{value:,.{digits}f}".replace("-", "−")


def factors(values: Iterable[float], start: float, end: float) -> Scale:
    """Fit a scale on which equal lengths are equal factors."""
    found = [value for value in values if value > 0 and math.isfinite(value)] or [1.0]
    least, most = math.floor(math.log10(min(found))), math.ceil(math.log10(max(found)))
    stride = max(1, -(-(most - least) // MOST_FACTORS))
    ticks = tuple((10.0**power, figure(10.0**power)) for power in range(least, most + 1, stride))
    return Scale(10.0**least, 10.0 ** max(most, least + 1), start, end, ticks, factors=True)


def times(values: Iterable[float], start: float, end: float) -> Scale:
    """Fit a scale of seconds since 1970, with dates under it."""
    found = list(values)
    low, high = min(found), max(found)
    if low == high:
        low, high = low - DAY, high + DAY
    least = (high - low) / 3
    years = 365 * DAY * math.ceil(least / (365 * DAY))
    step = next((one for one in TIME_STEPS if one >= least), years)
    first = math.ceil(low / min(step, DAY)) * min(step, DAY)
    ticks = tuple(
        (at, _date(at, step)) for at in (first + step * number for number in range(4)) if low <= at <= high
    )
    return Scale(low, high, start, end, ticks)


def _date(seconds: float, step: float) -> str:
    moment = EPOCH + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%d}" if step >= DAY else f"{moment:%m-%d %H:%M}"


def seconds(moment: datetime) -> float:
    """Give a time as seconds since 1970."""
    return (moment - EPOCH).total_seconds()
