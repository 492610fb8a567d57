"""What an engine is asked for: exact integers over codes, many of them in one scan.

`where` is the whole condition: rows whose code is missing where a value is needed are already outside it.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from entwined.errors import BadQuery
from entwined.numbers import Codes, IntArray
from entwined.queries.axes import Axis, Term
from entwined.queries.predicate import Predicate
from entwined.queries.row_numbers import RowNumbers, only_seen, together, within
from entwined.queries.sensitivity import Sensitivity
from entwined.schema.raw import is_whole

if TYPE_CHECKING:
    from entwined.queries.graphs import BoundedDegreesOf
    from entwined.queries.homes import HomesOf

MOST_FOLDED: Final = 2**20  # integers a row
END: Final = 2**63
NO_VECTORS: Final = "The function of a fold gave no 64-bit integers, one row of them for every row of codes."

Made = TypeVar("Made")
Made_co = TypeVar("Made_co", covariant=True)
Function: TypeAlias = Callable[[Any], IntArray]


class Aggregate(ABC):
    """Integers that are added up over the rows inside a condition; each kind says what it reads and needs."""

    __slots__ = ()
    where: Predicate
    of_units: ClassVar[bool] = False
    """Whether what moves it is told of whole units, however many rows they have."""
    counts_rows: ClassVar[bool] = False
    """Whether each integer is a number of rows, so that one row moves it by one at most."""

    @property
    @abstractmethod
    def cells(self) -> int:
        """How many integers it is."""

    @abstractmethod
    def asked_of(self, engine: "Asking[Made]") -> Made:
        """Have this kind of aggregate answered."""

    @property
    def sides(self) -> tuple[Axis, ...]:
        """The axes of a table; none where it is no table."""
        return ()

    @property
    def adds(self) -> Term | None:
        """What a row adds, if it is a sum of one term."""
        return None

    @property
    def values(self) -> frozenset[str]:
        """The columns that are read, those of the condition left out."""
        named = {axis.column for axis in self.sides}
        return frozenset(named.union(self.adds.columns if self.adds else ()))

    @property
    def reads(self) -> frozenset[str]:
        """The columns that are read."""
        return self.values | frozenset(self.where.columns)

    @property
    def needed(self) -> frozenset[str]:
        """The columns without whose value a row is left out."""
        there = {axis.column for axis in self.sides if not axis.keeps_missing}
        return frozenset(there.union(self.adds.columns if self.adds else ()))

    def inside(self, where: Predicate) -> Self:
        """Ask the same under another condition."""
        return dataclasses.replace(self, where=where)  # type: ignore[type-var]  # every kind is a dataclass


@dataclass(frozen=True, slots=True)
class CountOf(Aggregate):
    """How many rows are inside."""

    where: Predicate
    counts_rows: ClassVar[bool] = True

    @property
    def cells(self) -> int:
        """One integer."""
        return 1

    def asked_of(self, engine: "Asking[Made]") -> Made:
        """Have it counted."""
        return engine.single(self)


@dataclass(frozen=True, slots=True)
class SumOf(Aggregate):
    """The sum of a term over the rows inside."""

    term: Term
    where: Predicate

    @property
    def cells(self) -> int:
        """One integer."""
        return 1

    @property
    def adds(self) -> Term:
        """The term."""
        return self.term

    def asked_of(self, engine: "Asking[Made]") -> Made:
        """Have it added up."""
        return engine.single(self)


@dataclass(frozen=True, slots=True)
class TableOf(Aggregate):
    """How many rows are inside in each cell, empty cells included, the last axis fastest."""

    axes: tuple[Axis, ...]
    where: Predicate
    counts_rows: ClassVar[bool] = True

    @property
    def cells(self) -> int:
        """One integer a cell."""
        return math.prod(axis.cells for axis in self.axes)

    @property
    def sides(self) -> tuple[Axis, ...]:
        """The axes."""
        return self.axes

    def asked_of(self, engine: "Asking[Made]") -> Made:
        """Have it counted by cell."""
        return engine.table(self)


@dataclass(frozen=True, slots=True)
class TotalsOf(Aggregate):
    """The sum of a term over the rows inside in each cell, empty cells included, the last axis fastest."""

    axes: tuple[Axis, ...]
    term: Term
    where: Predicate

    @property
    def cells(self) -> int:
        """One integer a cell."""
        return math.prod(axis.cells for axis in self.axes)

    @property
    def sides(self) -> tuple[Axis, ...]:
        """The axes."""
        return self.axes

    @property
    def adds(self) -> Term:
        """The term."""
        return self.term

    def asked_of(self, engine: "Asking[Made]") -> Made:
        """Have it added up by cell."""
        return engine.totals(self)


@dataclass(frozen=True, slots=True, eq=False)
class FoldOf(Aggregate):
    """The sum over the rows inside of a public function of each row's codes, a vector of bounded integers.

    `function` is given codes, rows × `columns`, missing as the code behind the last, and gives rows × cells, both
    64-bit integers; what it says of a row may depend on nothing but that row's codes. Every number of a row is cut
    to its bounds, `least` to `most`, whatever the function says. With `together`, a row whose numbers, signs left
    out, add up to more than that adds nothing. With several `groups` a row's numbers are added up in one of them: the
    function gives its number, from 0, before the others, and a row of any other group adds nothing. With `adds_codes`
    it gives nothing else, the numbers of a row are 1 and its codes, and it is given these in integers of any width.
    """

    columns: tuple[str, ...]
    least: tuple[int, ...]
    most: tuple[int, ...]
    function: Function
    where: Predicate
    together: int | None = None
    groups: int = 1
    adds_codes: bool = False
    _ends: tuple[IntArray, IntArray] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("columns", "least", "most"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if not self.columns or len(set(self.columns)) < len(self.columns):
            raise BadQuery(f"A fold reads the columns {list(self.columns)}. Name at least one, each once.")
        if not 1 <= len(self.least) == len(self.most) <= MOST_FOLDED:
            raise BadQuery(
                f"A fold has {len(self.least):,} least and {len(self.most):,} most numbers. Give one of each for every "
                f"number of its vector, 1 to {MOST_FOLDED:,}."
            )
        if not is_whole(self.groups) or not 1 <= self.groups <= MOST_FOLDED // len(self.least):
            raise BadQuery(
                f"A fold has groups = {self.groups!r:.60}. Give 1, or more as long as there are {MOST_FOLDED:,} sums."
            )
        for least, most in zip(self.least, self.most, strict=True):
            if not (is_whole(least) and is_whole(most) and -END < least <= most < END):
                raise BadQuery(f"A number of a fold is from {least!r} to {most!r}. Give integers below 2^63.")
        if self.together is not None and not (is_whole(self.together) and 0 <= self.together < END):
            raise BadQuery(
                f"together = {self.together!r}. Give an integer from 0 to 2^63 − 1, or leave it out."
            )
        plain = self.together is None and not any(self.least) and len(self.least) == 1 + len(self.columns)
        if self.adds_codes and not plain:
            raise BadQuery(
                "A fold that adds codes has other numbers than 1 and its codes. Leave their bounds alone."
            )
        if not callable(self.function):
            raise BadQuery("The function of a fold cannot be called. Give a function from codes to integers.")
        object.__setattr__(self, "_ends", (np.array(self.least, np.int64), np.array(self.most, np.int64)))

    @property
    def cells(self) -> int:
        """One integer a number of the vector, in each group."""
        return len(self.least) * self.groups

    @property
    def given(self) -> int:
        """How many numbers the function gives of a row."""
        return 1 if self.adds_codes else len(self.least) + (self.groups > 1)

    @property
    def values(self) -> frozenset[str]:
        """The columns that the function is given."""
        return frozenset(self.columns)

    @property
    def largest(self) -> int:
        """The most that a row can move one number by."""
        widest = max(*map(abs, self.least), *map(abs, self.most))
        return widest if self.together is None else min(widest, self.together)

    @property
    def row(self) -> Sensitivity:
        """How far one row can move all numbers together, whatever the function says."""
        one = self._apart if self.together is None else min(self._apart, self.together)
        stays = sum(self.most) - sum(self.least)
        if self.together is None and self.groups == 1:
            return Sensitivity(Fraction(one), Fraction(stays))
        if self.groups > 1:  # it may leave one group for another, or for none
            return Sensitivity(Fraction(one), Fraction(2 * one))
        both = sum(max(most, 0) for most in self.most) - sum(min(least, 0) for least in self.least)
        return Sensitivity(Fraction(one), Fraction(min(both, 2 * one)))

    @property
    def _apart(self) -> int:
        """What a row's numbers add up to at most by their own bounds, signs left out."""
        return sum(max(abs(least), abs(most)) for least, most in zip(self.least, self.most, strict=True))

    def vectors(self, codes: Codes) -> IntArray:
        """Give what each row adds, within its bounds; a ValueError in words of our own if the function does not."""
        return self._numbers(codes).vectors

    def sums(self, codes: Codes, exact: type) -> IntArray:
        """Add up what rows add, in numbers of a type that holds the sums; a ValueError as `vectors` has it."""
        return self._numbers(codes).sums(exact)

    def _numbers(self, codes: Codes) -> RowNumbers:
        found = self._called(codes)
        if found is None or found.dtype != np.int64 or found.shape != (len(codes), self.given):
            raise ValueError(NO_VECTORS)
        if self.adds_codes:
            return RowNumbers(codes, found[:, 0], self.groups, counts=True)
        group, numbers = (found[:, 0], found[:, 1:]) if self.groups > 1 else (None, found)
        cut = within(numbers, *self._ends)
        if self.together is not None and self.together < self._apart:
            cut = together(cut, self.together, object if self._apart >= END else np.int64)
        return RowNumbers(cut, group, self.groups)

    def _called(self, codes: Codes) -> IntArray | None:
        try:
            with np.errstate(all="ignore"):
                found: object = self.function(
                    only_seen(codes) if self.adds_codes else codes.astype(np.int64, order="C")
                )
        except Exception:  # noqa: BLE001  (whatever it is, its words may come from private rows)
            return None
        return np.asarray(found) if isinstance(found, np.ndarray) else None

    def asked_of(self, engine: "Asking[Made]") -> Made:
        """Have it folded."""
        return engine.fold(self)


@dataclass(frozen=True, slots=True)
class DegreesOf(Aggregate):
    """How many ids are named once, twice, … in columns of the rows inside; the last number is of `most` times or more.

    An id that is named nowhere is not counted. A row that names one id in two columns names it twice, and a column
    without a value names nobody.
    """

    columns: tuple[str, ...]
    most: int
    where: Predicate

    @property
    def cells(self) -> int:
        """One integer a degree."""
        return self.most

    @property
    def values(self) -> frozenset[str]:
        """The columns of ids."""
        return frozenset(self.columns)

    def asked_of(self, engine: "Asking[Made]") -> Made:
        """Have ids counted by how often they are named."""
        return engine.degrees(self)


@dataclass(frozen=True, slots=True)
class MovesOf(Aggregate):
    """How often a series goes from each state to each, from a step to the very next one, the state after it fastest.

    A series is the rows that share a value of `by`, its steps are the codes of `order`, `steps` of them, and its states
    those of `state`, `states` of them with missing. A step with several rows has no state, and a row without a series
    or a step is left out; where a step or the next one has no state nothing is counted.
    """

    by: str
    order: str
    state: str
    steps: int
    states: int
    where: Predicate

    @property
    def cells(self) -> int:
        """One integer for each state and the one after it."""
        return self.states**2

    @property
    def values(self) -> frozenset[str]:
        """The columns of series, steps and states."""
        return frozenset((self.by, self.order, self.state))

    def asked_of(self, engine: "Asking[Made]") -> Made:
        """Have moves counted."""
        return engine.moves(self)


Single: TypeAlias = CountOf | SumOf


class Asking(Protocol[Made_co]):
    """Whoever has aggregates answered, each kind in its own way."""

    def single(self, one: Single) -> Made_co:
        """Have one number found out."""

    def table(self, one: TableOf) -> Made_co:
        """Have rows counted by cell."""

    def totals(self, one: TotalsOf) -> Made_co:
        """Have a term added up by cell."""

    def fold(self, one: FoldOf) -> Made_co:
        """Have vectors added up."""

    def degrees(self, one: DegreesOf) -> Made_co:
        """Have ids counted by how often they are named."""

    def moves(self, one: MovesOf) -> Made_co:
        """Have steps counted by their state and the next one's."""

    def bounded(self, one: "BoundedDegreesOf") -> Made_co:
        """Have edges cut to so many an id, and ids counted by how many they have."""

    def homes(self, one: "HomesOf") -> Made_co:
        """Have households counted by what their members say."""
