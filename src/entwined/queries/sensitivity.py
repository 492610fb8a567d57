"""How far one unit can move an answer, and on which part of the table that falls."""

from dataclasses import dataclass
from fractions import Fraction

from entwined.errors import BadQuery
from entwined.queries.predicate import Predicate
from entwined.schema import Schema


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The largest L1 change of an answer: `one` when a row enters or leaves, `both` when it stays inside.

    For a unit of at most k rows both are k times the row's figures, because rows can be moved one at a time.
    """

    one: Fraction
    both: Fraction

    def __post_init__(self) -> None:
        if self.one < 0 or self.both < 0:
            raise BadQuery(f"A change of {self.one} or {self.both} is below zero. Give sizes of changes.")

    def __add__(self, other: "Sensitivity") -> "Sensitivity":
        """Bound the change of two answers released together."""
        return Sensitivity(self.one + other.one, self.both + other.both)

    def __mul__(self, times: int) -> "Sensitivity":
        """Bound the change when this many rows change."""
        return Sensitivity(self.one * times, self.both * times)


@dataclass(frozen=True, slots=True)
class Reach:
    """Where a loss falls: on rows inside `where`, or for cells, on the cells of one column.

    Between two values of a row (or of a cell in it) the answer moves by `sensitivity.one` if exactly one of
    them is inside `where`, by `sensitivity.both` if both are, and not at all otherwise. `together` lists the columns
    that the answer reads where it reads several, and `filling` the weights by which its blanks are filled. `reserved`
    says that it is no change but what is taken of a column's reserve.
    """

    where: Predicate
    sensitivity: Sensitivity
    column: str | None = None
    together: tuple[str, ...] = ()
    filling: tuple[int, ...] = ()
    reserved: bool = False

    def worst(self, schema: Schema) -> Fraction:
        """Give the largest change between neighbouring tables; noise is scaled by it."""
        one, both = self.sensitivity.one, self.sensitivity.both
        if self.where.is_empty:
            return Fraction(0)
        if schema.neighbours == "add_remove":
            return one
        outside = schema.unit.may_be_absent or not self.where.is_everything
        return max(one, both) if outside else both
