"""The total loss of every part, with a digest that the chain vouches for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, Self, TypeAlias

from entwined.errors import BadCharge, BadLoss, LedgerDamaged
from entwined.ledger.canonical import canonical, sha256
from entwined.ledger.charge import Part

Written: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True)
class Totals:
    """The sum of all charges, part by part, kept as it is written so that a thousand parts are read quickly.

    >>> from fractions import Fraction
    >>> tenth = Part("all", Fraction(1, 10), Fraction(0))
    >>> Totals({}).plus([tenth]).plus([tenth]).parts["all"].one
    Fraction(1, 5)
    """

    rows: Mapping[str, Written]

    @classmethod
    def of(cls, rows: Iterable[Written]) -> Self:
        """Take totals as they were written."""
        return cls({row[0]: row for row in rows})

    @property
    def parts(self) -> dict[str, Part]:
        """The totals as exact numbers."""
        return {key: _part(row) for key, row in self.rows.items()}

    def plus(self, parts: Iterable[Part]) -> "Totals":
        """Add losses."""
        after = dict(self.rows)
        for part in parts:
            known = after.get(part.key)
            after[part.key] = part.row if known is None else (_part(known) + part).row
        return Totals(after)

    @cached_property
    def digest(self) -> str:
        """The hash of all rows in the order of their keys."""
        return sha256(canonical([self.rows[key] for key in sorted(self.rows)]))


NOTHING: Final = Totals({})


class Plan(NamedTuple):
    """Totals before and after a charge, worked out before it is known that nobody else comes between."""

    before: Totals
    after: Totals


@lru_cache(maxsize=1 << 16)
def _part(row: Written) -> Part:
    try:
        return Part.from_row(row)
    except (BadCharge, BadLoss):
        raise LedgerDamaged("The ledger holds a total that is no loss. Restore the newest copy.") from None
