"""What an engine is asked for: exact integers over codes, many of them in one scan.

`where` is the whole condition: rows whose code is missing where a value is needed are already outside it.
"""

import dataclasses
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, Self, TypeAlias, TypeVar

from entwined.queries.axes import Axis, Term
from entwined.queries.predicate import Predicate

if TYPE_CHECKING:
    from entwined.queries.folds import FoldOf
    from entwined.queries.graphs import BoundedDegreesOf
    from entwined.queries.homes import HomesOf

Made = TypeVar("Made")
Made_co = TypeVar("Made_co", covariant=True)


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

    def is_weighted_by(self, column: str) -> bool:
        """Say whether whatever a row adds is multiplied by a column."""
        return self.adds is not None and column in self.adds.columns

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

    def fold(self, one: "FoldOf") -> Made_co:
        """Have vectors added up."""

    def degrees(self, one: DegreesOf) -> Made_co:
        """Have ids counted by how often they are named."""

    def moves(self, one: MovesOf) -> Made_co:
        """Have steps counted by their state and the next one's."""

    def bounded(self, one: "BoundedDegreesOf") -> Made_co:
        """Have edges cut to so many an id, and ids counted by how many they have."""

    def homes(self, one: "HomesOf") -> Made_co:
        """Have households counted by what their members say."""
