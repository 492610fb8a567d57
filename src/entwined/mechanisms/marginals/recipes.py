"""Recipes of a synthetic table that are settled before a row is read: columns alone, or tables that somebody named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeAlias

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.mechanisms.marginals.domain import Domain, Scope
from entwined.mechanisms.marginals.grain import Grains
from entwined.mechanisms.marginals.meter import Meter, Tables, Transcript
from entwined.noise import Additive
from entwined.queries import Statistic
from entwined.schema import Schema
from entwined.schema.raw import is_text

Shares: TypeAlias = list[tuple[Statistic, Fraction]]
Expected: TypeAlias = list[tuple[str, int, int, Additive]]
"""What is counted, how many tables of how many cells at most, and their noise."""


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

    def expected(self, domain: Domain, meter: Meter) -> Expected:
        """What is counted with what noise, as far as it is known before."""


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

    def expected(self, domain: Domain, meter: Meter) -> Expected:
        """Every table with its noise."""
        return [
            (" × ".join(domain.names[at] for at in scope), 1, domain.cells(scope), noise)
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
