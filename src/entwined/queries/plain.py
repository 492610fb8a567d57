"""Answers that are one plain sum over all rows: what laws of whole columns speak of."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class PlainSum:
    """A sum over all rows, of a column's values or of the rows inside a condition.

    `step` is what one whole number of the sum stands for, in the unit of the column, and `unit` what it moves the
    answer by. `reads` are all columns that it depends on, and `span` is the most that one row moves it by, in whole
    numbers. Sums lie `grain` whole numbers apart, where rows add more than one or nothing.
    """

    column: str
    where: str = ""
    step: Fraction = Fraction(1)
    unit: Fraction = Fraction(1)
    reads: tuple[str, ...] = ()
    span: Fraction = Fraction(1)
    grain: int = 1

    @property
    def words(self) -> str:
        """What is added up."""
        return f"column {self.column!r}" if self.column else f"the rows with {self.where}"
