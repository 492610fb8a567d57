"""The total loss of every part, with a digest that the chain vouches for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from entwined.errors import BadCharge, BadLoss, LedgerDamaged
from entwined.ledger.canonical import canonical, sha256
from entwined.ledger.charge import Part, add_up


@dataclass(frozen=True)
class Totals:
    """The sum of all charges, part by part.

    >>> from fractions import Fraction
    >>> tenth = Part("all", Fraction(1, 10), Fraction(0))
    >>> Totals({}).plus([tenth]).plus([tenth]).parts["all"].one
    Fraction(1, 5)
    """

    parts: Mapping[str, Part]

    def plus(self, parts: Iterable[Part]) -> "Totals":
        """Add losses."""
        return Totals(add_up(dict(self.parts), parts))

    @cached_property
    def digest(self) -> str:
        """The hash of all rows in the order of their keys."""
        return sha256(canonical([self.parts[key].row for key in sorted(self.parts)]))

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[str, str, str]]) -> Self:
        """Read totals as they were written."""
        try:
            return cls({row[0]: Part.from_row(row) for row in rows})
        except (BadCharge, BadLoss):
            raise LedgerDamaged("The ledger holds a total that is no loss. Restore the ledger.") from None
