"""Recipes of a synthetic table that are settled before a row is read: columns alone, or tables that somebody named."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.mechanisms.marginals.domain import Domain, Scope
from entwined.mechanisms.marginals.foreseen import AffordedRelations, afforded_relations, is_measured
from entwined.mechanisms.marginals.grain import Grains
from entwined.mechanisms.marginals.meter import Meter, Tables, Transcript
from entwined.noise import Additive
from entwined.queries import Statistic
from entwined.schema import Schema
from entwined.schema.raw import is_text

Shares: TypeAlias = list[tuple[Statistic, Fraction]]


class ExpectedTable(NamedTuple):
    """Tables that will be counted: how many, of how many cells at most, their noise, and between which laws it may be.

    Where rows decide, `noise` is that of moderate relations, `least` that without any and `most` that with all that are
    afforded.
    """

    name: str
    tables: int
    cells: int
    noise: Additive
    least: Additive | None = None
    most: Additive | None = None
    typical: int | None = None
    """Of how many cells most of them are, where that is not the most that they may have."""


Expected: TypeAlias = list[ExpectedTable]


class Recipe(Protocol):
    """How the tables are found that a synthetic table is made of; nothing about it depends on rows."""

    name: ClassVar[str]
    is_settled: ClassVar[bool]
    """Whether what is asked is fixed before anything is seen."""

    @property
    def document(self) -> Document:
        """Every public choice."""

    @property
    def words(self) -> str:
        """What it is called."""

    def shares(self, domain: Domain, schema: Schema) -> Shares:
        """Say what is read, as statistics with the share of the loss that each gets."""

    def asks(self, domain: Domain) -> tuple[Scope, ...]:
        """Tables that may be asked for."""

    def run(self, tables: Tables, domain: Domain, meter: Meter, notes: Transcript) -> None:
        """Count, add noise and note, one step after another."""

    def expected(self, domain: Domain, meter: Meter, rows: int | None) -> Expected:
        """What is counted with what noise, as far as it is known before, of about so many rows."""

    def relations(self, domain: Domain, meter: Meter, rows: int | None) -> AffordedRelations:
        """Which relations of columns the loss affords, of about so many rows."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Every column alone, and tables that were named beforehand; each gets a share that grows with its size.

    The sum of errors Σ cells · deviation, the shares fixed in all, is least if shares are as cells^(2/3): with Gaussian
    noise; with Laplace noise as the root of cells. Columns alone share evenly.
    """

    name: ClassVar[str] = "independent"
    is_settled: ClassVar[bool] = True
    named: tuple[tuple[str, ...], ...] = ()

    @property
    def document(self) -> Document:
        """The tables that were named."""
        return {"tables": [list(names) for names in self.named]} if self.named else {}

    @property
    def words(self) -> str:
        """What it is called."""
        return self.name

    @classmethod
    def of(cls, given: Mapping[str, Any], domain: Domain) -> "Settled":
        """Read it from the fields of a file, or back."""
        return cls(scopes_of(given.get("tables", ()), domain))

    def scopes(self, domain: Domain) -> tuple[Scope, ...]:
        """The columns one by one, then the named tables."""
        alone = tuple((at,) for at in range(len(domain.axes)))
        named = (tuple(domain.names.index(name) for name in names) for names in self.named)
        return (*alone, *(scope for scope in named if scope not in alone))

    def shares(self, domain: Domain, schema: Schema) -> Shares:
        """Each table for itself: with unit cells its loss falls on its own columns alone."""
        parted = self._parted(domain)
        return [(domain.counted(scope, schema), share) for scope, share in parted.items()]

    def asks(self, domain: Domain) -> tuple[Scope, ...]:
        """All of them."""
        return self.scopes(domain)

    def _parted(self, domain: Domain) -> dict[Scope, Fraction]:
        if not self.named:
            return dict.fromkeys(self.scopes(domain), Fraction(1))
        return weighed(self.scopes(domain), domain, Fraction(len(self.scopes(domain))))

    def _noises(self, domain: Domain, meter: Meter) -> dict[Scope, Additive]:
        return {scope: meter.noise(share) for scope, share in self._parted(domain).items()}

    def run(self, tables: Tables, domain: Domain, meter: Meter, notes: Transcript) -> None:
        """Count all of them in one scan."""
        notes.count(tables(self.scopes(domain)), self._noises(domain, meter))

    def relations(self, domain: Domain, meter: Meter, rows: int | None) -> AffordedRelations:
        """The pairs inside tables that were named, as far as noise does not hide them."""
        pairs = math.comb(len(domain.axes), 2)
        named = {pair: scope for scope in self.scopes(domain) for pair in combinations(scope, 2)}
        if not named:
            return AffordedRelations(pairs, 0, 0, unasked=True)
        if rows is None:
            return AffordedRelations(pairs)

        sizes = domain.sizes

        def counting(other: Meter, strength: float) -> int:
            noises = self._noises(domain, other)
            return sum(
                is_measured(sizes, pair, strength, rows, math.sqrt(noises[scope].variance))
                for pair, scope in named.items()
            )

        return afforded_relations(pairs, len(named), meter, counting)

    def expected(self, domain: Domain, meter: Meter, rows: int | None) -> Expected:  # noqa: ARG002  (it is settled)
        """Every table with its noise."""
        return [
            ExpectedTable(" × ".join(domain.names[at] for at in scope), 1, domain.cells(scope), noise)
            for scope, noise in self._noises(domain, meter).items()
        ]


def weighed(scopes: Sequence[Scope], cut: Domain | Grains, share: Fraction) -> dict[Scope, Fraction]:
    """Part a share among tables of cells or groups, more to larger ones: as cells^(2/3), in whole numbers."""
    weights = {scope: max(round(10 * cut.cells(scope) ** (2 / 3)), 1) for scope in scopes}
    total = sum(weights.values())
    return {scope: share * weight / total for scope, weight in weights.items()}


def scopes_of(given: object, domain: Domain) -> tuple[tuple[str, ...], ...]:
    """Read lists of columns by name, in the order of the table; refuse what the table does not have."""
    if not isinstance(given, list | tuple):
        raise BadQuery(f'tables = {given!r:.60}. Give lists of columns, such as [["age", "sex"]].')
    found: dict[tuple[str, ...], None] = {}
    for one in given:
        names = list(one) if isinstance(one, list | tuple) else []
        known = all(is_text(name) and name in domain.names for name in names)
        if not names or not known or len(set(names)) < len(names):
            raise BadQuery(f"tables has {one!r:.60}. Name columns of the synthetic table, each once.")
        found[tuple(name for name in domain.names if name in names)] = None
    return tuple(found)
