"""Who sits where in a household: its head, and the members of each further kind, told by a column of roles.

A row whose role is the head's is the head, and so on for every kind that is named; all other rows are of the last kind.
Without a column of roles the first of a household's rows that count, by all codes, stands for its head. Of a kind that
seats one, one row counts, by lot, and others are left out; so is a household without a head.
"""

import math
from dataclasses import dataclass
from typing import Final

from entwined.errors import BadQuery
from entwined.queries.axes import Axis
from entwined.schema.raw import is_whole

HEAD: Final = 0
MOST_MEMBERS: Final = 20


@dataclass(frozen=True, slots=True)
class Seats:
    """The column that households share, their largest size, and which codes of the column of roles each kind has.

    `codes` are those of the head and of every further kind but the last, which has all others; `singles` are the kinds
    of which a household has one member at most.
    """

    by: str
    most: int
    role: str | None = None
    codes: tuple[tuple[int, ...], ...] = ((),)
    singles: tuple[int, ...] = (HEAD,)

    def __post_init__(self) -> None:
        if not is_whole(self.most) or not 2 <= self.most <= MOST_MEMBERS:  # noqa: PLR2004  (a head and another)
            raise BadQuery(
                f"The largest household has {self.most!r} members. Give a number from 2 to {MOST_MEMBERS}."
            )
        named = [code for codes in self.codes for code in codes]
        if len(set(named)) < len(named):
            raise BadQuery(f"A role of {self.role!r} is named for two kinds of members. Name it once.")

    @property
    def kinds(self) -> int:
        """How many kinds of members there are, the head among them."""
        return len(self.codes) + 1

    def capacity(self, kind: int) -> int:
        """How many members of a kind a household has at most."""
        return 1 if kind in self.singles else self.most - 1

    @property
    def shape(self) -> tuple[int, ...]:
        """In how many ways each kind but the head's can be there, from none of it to all seats."""
        return tuple(self.capacity(kind) + 1 for kind in range(1, self.kinds))

    @property
    def compositions(self) -> int:
        """How many numbers there are for a household's composition, also for those with too many members."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class HomeTable:
    """Households by their composition, if `composed`, and by what their members say; the last side is the fastest.

    A side is of the head or of the kind `member`. Where that is not the head's, its members are counted instead of
    households, and the first side is how many of them the household has, from 1.
    """

    seats: Seats
    sides: tuple[tuple[int, Axis], ...] = ()
    member: int = HEAD
    composed: bool = False

    def __post_init__(self) -> None:
        kinds = {kind for kind, _ in self.sides}
        if not 0 <= self.member < self.seats.kinds or not kinds <= {HEAD, self.member}:
            raise BadQuery("A table of households has sides of its head and of one further kind of members.")

    @property
    def cells(self) -> int:
        """One integer a cell."""
        sides = math.prod(axis.cells for _, axis in self.sides)
        many = 1 if self.member == HEAD else self.seats.capacity(self.member)
        return many * (self.seats.compositions if self.composed else 1) * sides

    @property
    def columns(self) -> frozenset[str]:
        """The columns whose codes are read."""
        named = {axis.column for _, axis in self.sides}
        return frozenset(named.union(() if self.seats.role is None else (self.seats.role,)))
