"""What is public about a table of households: who sits where, which columns each member has, and what is counted.

A *place* is a column of one kind of members, such as the age of children, or the household itself by its composition.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Self, TypeAlias

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.mechanisms.marginals.domain import Domain
from entwined.numbers import IntArray
from entwined.queries.predicate import Predicate
from entwined.queries.seats import HEAD, Seats
from entwined.schema import Schema
from entwined.schema.raw import is_text

HOME: Final = -1
NAMED: Final = ("head", "partner", "child")
ONE_EACH: Final = ("head", "partner")
OTHER: Final = "other"
MOST_COMPOSITIONS: Final = 10_000

Place: TypeAlias = tuple[int, int]
"""A kind of members and one of their columns; or of the household its composition, or its type."""
Sides: TypeAlias = tuple[Place, ...]
"""What a table is of: one place, or two of which the first is the household's, the head's or of the same members."""

COMPOSITION: Final[Place] = (HOME, 0)
TYPE: Final[Place] = (HOME, 1)
NO_UNIT: Final = (
    "Households are released where they are what is protected, and the schema protects {}. Give it unit = "
    '{{kind = "household", column = "home", most = 5}}, or name them by --household and --largest.'
)


@dataclass(frozen=True, slots=True)
class Seating:
    """Seats, the columns of a row in cells, the kinds of members with the roles of each, and columns all share."""

    seats: Seats
    domain: Domain
    kinds: tuple[str, ...]
    roles: tuple[tuple[str, ...], ...] = ()
    shared: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        strange = [name for name in self.shared if name not in self.domain.names or name == self.seats.role]
        if strange:
            raise BadQuery(f"shared has {strange[0]!r:.60}, which is no column that all members could share.")
        if self.seats.role is not None and self.seats.role not in self.domain.names:
            raise BadQuery(f"The column of roles {self.seats.role!r} is left out. Name it in columns too.")
        if self.seats.compositions > MOST_COMPOSITIONS:
            raise BadQuery("Too many kinds of households. Give a smaller largest size, or name fewer kinds.")

    @classmethod
    def of(cls, given: Mapping[str, Any], schema: Schema, cut_at: Sequence[Predicate] = ()) -> Self:
        """Read it from the fields of a file."""
        return cls._seated(given, schema, Domain.of(schema, given.get("columns"), given.get("bins"), cut_at))

    @classmethod
    def from_document(cls, document: Mapping[str, Any], schema: Schema) -> Self:
        """Read it back."""
        return cls._seated(document, schema, Domain.from_document(document["columns"], schema))

    @classmethod
    def _seated(cls, given: Mapping[str, Any], schema: Schema, domain: Domain) -> Self:
        by, role = schema.unit.id_column, given.get("role")
        if by is None:
            raise BadQuery(NO_UNIT.format(schema.unit.kind))
        shared = listed(given, "shared")
        if role is None:
            if any(key in given for key in NAMED):
                raise BadQuery("Heads, partners and children are told by a column of roles. Name it as role.")
            return cls(Seats(by, schema.unit.most_rows), domain, (NAMED[0], OTHER), (), shared)
        if not is_text(role) or "head" not in given:
            raise BadQuery(
                f'role = {role!r:.60}. Give the column of roles, and with it the head\'s: head = "head".'
            )
        named = [kind for kind in NAMED if kind in given]
        roles = tuple(listed(given, kind) for kind in named)
        codes = tuple(tuple(_code(schema, role, one) for one in some) for some in roles)
        singles = tuple(at for at, kind in enumerate(named) if kind in ONE_EACH)
        seats = Seats(by, schema.unit.most_rows, role, codes, singles)
        return cls(seats, domain, (*named, OTHER), roles, shared)

    @property
    def document(self) -> Document:
        """What was read, as the fields of a file."""
        told: Document = {"columns": self.domain.document}
        told |= {} if self.seats.role is None else {"role": self.seats.role}
        told |= {kind: list(some) for kind, some in zip(self.kinds, self.roles, strict=False)}
        return told | ({"shared": list(self.shared)} if self.shared else {})

    @property
    def compositions(self) -> IntArray:
        """The numbers of the compositions of households that are not too large, in rising order."""
        return np.flatnonzero(self.members(np.arange(self.seats.compositions)).sum(axis=1) < self.seats.most)

    def members(self, compositions: IntArray) -> IntArray:
        """How many members of each kind but the head's a composition has."""
        return np.stack(np.unravel_index(compositions, self.seats.shape), axis=1)

    @property
    def types(self) -> IntArray:
        """The type of every composition: which kinds are there, or of one kind how many."""
        members = self.members(self.compositions)
        if members.shape[1] == 1:
            return np.asarray(members[:, 0], np.int64)
        return np.asarray(np.minimum(members, 1) @ (2 ** np.arange(members.shape[1])), np.int64)

    def columns(self, kind: int) -> tuple[int, ...]:
        """The columns that are drawn for a kind: not what the head says for all, nor a role that follows from it."""
        return tuple(
            at
            for at, name in enumerate(self.domain.names)
            if not (kind != HEAD and name in self.shared) and self.fixed(kind, at) is None
        )

    def fixed(self, kind: int, at: int) -> int | None:
        """The cell of a column where a kind has but one: its role."""
        if self.domain.names[at] != self.seats.role:
            return None
        codes = self.open_roles(kind)
        return codes[0] if len(codes) == 1 else None

    def open_roles(self, kind: int) -> tuple[int, ...]:
        """The cells of the column of roles that a kind can be in."""
        codes = self.seats.codes
        if kind < len(codes):
            return codes[kind]
        role = self.domain.axes[self.domain.names.index(str(self.seats.role))]
        taken = {code for some in codes for code in some}
        return tuple(code for code in range(role.cells) if code not in taken)

    @property
    def alone(self) -> tuple[Sides, ...]:
        """Every place by itself: the composition, and each column of each kind."""
        every = range(self.seats.kinds)
        return ((COMPOSITION,), *(((kind, at),) for kind in every for at in self.columns(kind)))

    @property
    def pairs(self) -> tuple[Sides, ...]:
        """What may go together: a head and its type, columns of one kind, and a column and the head's."""
        types = [(TYPE, (HEAD, at)) for at in self.columns(HEAD)]
        within = [
            ((kind, one), (kind, two))
            for kind in range(self.seats.kinds)
            for one, two in combinations(self.columns(kind), 2)
        ]
        across = [
            ((HEAD, at), (kind, at))
            for kind in range(1, self.seats.kinds)
            for at in self.columns(kind)
            if at in self.columns(HEAD)
        ]
        return (*types, *within, *across)

    def size(self, place: Place) -> int:
        """How many cells a place has."""
        if place == COMPOSITION:
            return len(self.compositions)
        return int(self.types.max()) + 1 if place == TYPE else self.domain.sizes[place[1]]

    def name(self, place: Place) -> str:
        """What a place is called."""
        if place[0] == HOME:
            return ("composition", "type")[place[1]]
        return f"{self.kinds[place[0]]}.{self.domain.names[place[1]]}"

    def place(self, name: str) -> Place:
        """Read a place by its name."""
        if name in ("composition", "type"):
            return (HOME, ("composition", "type").index(name))
        kind, _, column = name.partition(".")
        return self.kinds.index(kind), self.domain.names.index(column)


def listed(given: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Read one text or a list of them."""
    said = given.get(key, ())
    some = (said,) if is_text(said) else said
    if not isinstance(some, list | tuple) or not all(map(is_text, some)):
        raise BadQuery(f"{key} = {said!r:.60}. Give a text, or a list of texts.")
    return tuple(some)


def _code(schema: Schema, role: str, value: str) -> int:
    column = schema.coded(role)
    code = column.encode(value)
    if column.has_order or str(column.value(code)) != value:
        raise BadQuery(f"{value!r:.60} is no category of the column of roles {role!r}. Give one of its own.")
    return code
