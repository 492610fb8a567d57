"""Columns whose values lie on a public, evenly spaced grid: integers and fixed-point numbers; times are in `moments`.

A number x has the code floor((x − low)/step + 0.5), computed in IEEE doubles with low and step rounded to
doubles; what falls below 0 or above the last code is outside, infinities with it. Constants of conditions are held
against the grid in exact fractions. A column may declare bands, coarser looks at it: see `bands`.
"""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, get_args

from entwined.canonical import Document
from entwined.errors import BadQuery, BadSchema
from entwined.schema.bands import MOST_BANDS, Bands, Periods, bands_of
from entwined.schema.column import LONGEST_NAME, Coded, Outside, checked_text
from entwined.schema.exact import exact_number, number_text
from entwined.schema.raw import is_whole, number_of

FARTHEST: Final = 2**51
FINEST: Final = 10**30


@dataclass(frozen=True)
class Ordered(Coded):
    """A column on a grid; a raw value outside it goes to the nearest end, or is missing.

    `bands` are given by name, each as `bands_of` takes it: {"stage": {"child": 0, "adult": 18}, "decade": 10}.
    """

    outside: Outside = field(default="clamp", kw_only=True)
    bands: tuple[Bands, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_kinds_of_missing()
        if self.outside not in get_args(Outside):
            raise BadSchema(f'Column {self.name!r}: outside = {self.outside!r}. Give "clamp" or "missing".')

    def _cut(self) -> None:
        """Make bands of the rules given, once the grid is known."""
        given: object = self.bands
        rules = given.items() if isinstance(given, Mapping) else ((one.name, one) for one in self.bands)
        object.__setattr__(self, "bands", tuple(self._band(name, rule) for name, rule in rules))

    def _band(self, name: object, rule: object) -> Bands:
        called = checked_text(name, f"The name of bands of column {self.name!r}", LONGEST_NAME)
        if not called.isprintable() or not called:
            raise BadSchema(f"Column {self.name!r} has bands called {called!r}. Give a name on one line.")
        if isinstance(rule, Bands) and not rule.every:
            if rule.size != self.size:
                raise BadSchema(
                    f"Bands {called!r} of column {self.name!r} were cut for other bounds. Cut them again."
                )
            return replace(rule, column=self.name)
        try:
            return bands_of(self, rule.every if isinstance(rule, Bands) else rule, called)
        except BadQuery as wrong:
            raise BadSchema(f"Column {self.name!r}, bands {called!r}: {wrong}") from None

    @property
    def has_order(self) -> bool:
        """Numbers and times have one."""
        return True

    @abstractmethod
    def spoken(self, code: int) -> str:
        """Write the value that a code stands for."""

    @abstractmethod
    def periods(self, every: str | int) -> Periods:
        """Give where even bands, or periods of the calendar, begin."""

    def _fate(self, steps: float) -> int:
        """Give the code of a whole number of steps since low, which may be outside the grid."""
        if 0 <= steps < self.levels:
            return int(steps)
        if self.outside == "missing":
            return self.missing_code
        return 0 if steps < 0 else self.levels - 1

    @property
    def document(self) -> Document:
        """The column as the fields of its file."""
        rules = {one.name: one.every or self._rule(one) for one in self.bands}
        return super().document | {"outside": self.outside} | ({"bands": rules} if rules else {})

    def _rule(self, bands: Bands) -> Document:
        """Write bands by label, each with the value where it begins."""
        return dict(zip(bands.labels, map(self._written, bands.starts), strict=True))

    @abstractmethod
    def _written(self, code: int) -> str | int:
        """Write the value of a code as the fields of a file have it."""


@dataclass(frozen=True)
class Numeric(Ordered):
    """Numbers low + code · step; `mean` is what they are on average as far as is public, which only plans use."""

    mean: Fraction | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def origin(self) -> Fraction:
        """The value of code 0."""

    @property
    @abstractmethod
    def spacing(self) -> Fraction:
        """The step from one code to the next."""

    @property
    def declared_mean(self) -> Fraction | None:
        """The mean of the values as far as it is declared."""
        return self.mean

    def _check_mean(self) -> None:
        """Refuse a declared mean that no values in range have."""
        if self.mean is None:
            return
        mean, last = exact_number(self.mean), self.origin + (self.levels - 1) * self.spacing
        if mean is None or not self.origin <= mean <= last:
            raise BadSchema(
                f"Column {self.name!r} has mean = {self.mean!r:.40}. Give a number from {number_text(self.origin)} to "
                f"{number_text(last)}, or leave it out."
            )
        object.__setattr__(self, "mean", mean)

    @property
    def document(self) -> Document:
        """The column as the fields of its file."""
        return super().document | ({} if self.mean is None else {"mean": number_text(self.mean)})

    def _stands_for_missing(self, raw: object) -> bool:
        return number_of(raw) in self._missing_numbers

    @cached_property
    def _doubles(self) -> tuple[float, float]:
        return float(self.origin), float(self.spacing)

    def _code(self, raw: object) -> int:
        number = number_of(raw)
        if number is None:
            return self.missing_code
        low, step = self._doubles
        steps = (number - low) / step + 0.5
        return self._fate(math.floor(steps) if math.isfinite(steps) else steps)

    def position(self, constant: object) -> Fraction:
        """Say where a number lies, in steps above low."""
        number = exact_number(constant)
        if number is None:
            raise self.wrong(constant, "a number such as 20 or 0.5")
        return (number - self.origin) / self.spacing

    def spoken(self, code: int) -> str:
        """Write a number."""
        return number_text(self.origin + code * self.spacing)

    def periods(self, every: str | int) -> Periods:
        """Begin bands at the multiples of a width."""
        width = exact_number(every)
        if width is None or width <= 0:
            raise BadQuery(f"Bands of {self.name} every {every!r:.60}. Give a width above 0, such as 10.")
        first = math.floor(self.origin / width)
        last = math.floor((self.origin + (self.levels - 1) * self.spacing) / width)
        if last - first >= MOST_BANDS:
            raise BadQuery(
                f"Bands of {self.name} every {every}: {last - first + 1:,}. {MOST_BANDS:,} are the most."
            )
        return [("", turn * width) for turn in range(first, last + 1)]

    def _written(self, code: int) -> str | int:
        number = self.origin + code * self.spacing
        return int(number) if number.denominator == 1 else number_text(number)


@dataclass(frozen=True)
class Integer(Numeric):
    """Whole numbers from low to high; a raw number is rounded, halves up."""

    low: int
    high: int
    kind: ClassVar[str] = "integer"

    def __post_init__(self) -> None:
        super().__post_init__()
        for end in (self.low, self.high):
            if not is_whole(end) or abs(end) > FARTHEST:
                raise BadSchema(
                    f"Integer column {self.name!r} has the bound {end!r}. Give integers up to 2^51."
                )
        if self.low > self.high:
            raise BadSchema(
                f"Integer column {self.name!r} goes from {self.low} to {self.high}. Swap low and high."
            )
        self._check_mean()
        self._cut()

    @property
    def levels(self) -> int:
        """How many integers there are."""
        return self.high - self.low + 1

    @property
    def origin(self) -> Fraction:
        """The value of code 0."""
        return Fraction(self.low)

    @property
    def spacing(self) -> Fraction:
        """One."""
        return Fraction(1)

    def _value(self, code: int) -> int:
        return self.low + code

    @property
    def document(self) -> Document:
        """The column as the fields of its file."""
        return super().document | {"low": self.low, "high": self.high}


@dataclass(frozen=True)
class Real(Numeric):
    """Numbers in fixed point, low + k·step up to high; a raw number is rounded to the grid, halves up."""

    low: Fraction
    high: Fraction
    step: Fraction
    kind: ClassVar[str] = "real"

    def __post_init__(self) -> None:
        super().__post_init__()
        name = f"Real column {self.name!r}"
        for part in ("low", "high", "step"):
            number = exact_number(getattr(self, part))
            if number is None or number.denominator > FINEST:
                raise BadSchema(
                    f'{name} has {part} = {getattr(self, part)!r}. Give an exact number such as "0.01".'
                )
            object.__setattr__(self, part, number)
        if self.low > self.high:
            raise BadSchema(f"{name} goes from {self.low} to {self.high}. Swap low and high.")
        if self.step <= 0 or ((self.high - self.low) / self.step).denominator != 1:
            raise BadSchema(f"{name} has step {self.step}. Give a step above 0 that divides high − low.")
        if (abs(self.low) + abs(self.high)) / self.step > FARTHEST:  # else doubles could not tell codes apart
            raise BadSchema(
                f"{name} has step {self.step}, too fine for its bounds. Give at most 2^51 steps to 0."
            )
        if max(abs(self.low), abs(self.high)) > FINEST:
            raise BadSchema(f"{name} has a bound beyond 10^30. Measure it in a larger unit.")
        self._check_mean()
        self._cut()

    @property
    def levels(self) -> int:
        """How many grid values there are."""
        return int((self.high - self.low) / self.step) + 1

    @property
    def origin(self) -> Fraction:
        """The value of code 0."""
        return self.low

    @property
    def spacing(self) -> Fraction:
        """The declared step."""
        return self.step

    def _value(self, code: int) -> Fraction:
        return self.low + code * self.step

    @property
    def document(self) -> Document:
        """The column as the fields of its file."""
        return super().document | {part: number_text(getattr(self, part)) for part in ("low", "high", "step")}
