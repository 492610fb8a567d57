"""The structure of a declared network: each column with its parents there, which cost nothing to find.

What a model says of the columns is public, as the rest of the promise is. So which tables are counted is settled before
a row is read, and the whole loss is theirs. Whether the network is true is no matter of privacy here: rows made of
wrong tables are worse, and no more is told.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from entwined.canonical import Document
from entwined.dependence import BayesNet
from entwined.errors import BadQuery
from entwined.mechanisms.marginals.domain import Domain, Scope
from entwined.mechanisms.marginals.recipes import Settled, scopes_of
from entwined.promise.promise import Promise

DECLARED: Final = "declared"
CHOSEN: Final = "chosen"
LARGEST_TABLE: Final = 100_000
OF_A_CHOICE: Final = ("parents", "usefulness", "forced", "forbidden")


@dataclass(frozen=True, slots=True)
class DeclaredTables(Settled):
    """The tables of a declared network, and of every other column alone."""

    name: ClassVar[str] = "correlated"

    @property
    def document(self) -> Document:
        """Where the tables come from, and which they are."""
        return {"structure": DECLARED, "tables": [list(names) for names in self.named]}

    @property
    def words(self) -> str:
        """What it is called."""
        return f"{self.name}, with the structure of the declared model, which cost nothing"

    @classmethod
    def of(cls, given: Mapping[str, Any], domain: Domain) -> "DeclaredTables":
        """Read it back; refuse tables that are too large to be counted."""
        made = cls(scopes_of(given.get("tables", ()), domain))
        large = [scope for scope in made.scopes(domain) if domain.cells(scope) > LARGEST_TABLE]
        if large:
            names = ", ".join(domain.names[at] for at in large[0])
            raise BadQuery(
                f"The declared model ties {names}, a table of {domain.cells(large[0]):,} cells; {LARGEST_TABLE:,} are "
                f'the most. Give them fewer bins, or structure = "{CHOSEN}".'
            )
        return made

    def scopes(self, domain: Domain) -> tuple[Scope, ...]:
        """The tables that no other one holds, then the columns that are in none."""
        named = [tuple(domain.names.index(name) for name in names) for names in self.named]
        kept = [one for one in named if not any(set(one) < set(other) for other in named)]
        inside = {at for scope in kept for at in scope}
        return (*kept, *((at,) for at in range(len(domain.axes)) if at not in inside))


def structured(given: Mapping[str, Any], promise: Promise, domain: Domain) -> Mapping[str, Any]:
    """Fill in the tables of a declared network, unless there is none or parents are to be chosen."""
    asked = given.get("structure", CHOSEN if given.keys() & set(OF_A_CHOICE) else None)
    if asked not in (None, DECLARED, CHOSEN):
        raise BadQuery(f'structure = {asked!r:.60}. Give "{DECLARED}" or "{CHOSEN}".')
    found = [list(one) for one in _families(promise, domain)] if asked != CHOSEN else []
    if asked == DECLARED:
        strange = sorted(given.keys() & set(OF_A_CHOICE))
        if strange:
            raise BadQuery(
                f'structure = "{DECLARED}" leaves nothing for {strange[0]!r} to say. Leave it out, or give structure = '
                f'"{CHOSEN}".'
            )
        if not found:
            raise BadQuery(
                f'structure = "{DECLARED}", and no declared model is a network of these columns. Declare a bayes_net '
                f'over cells, or give structure = "{CHOSEN}".'
            )
    rest = {key: value for key, value in given.items() if key != "structure"}
    return {**rest, "structure": DECLARED, "tables": found} if found else rest


def _families(promise: Promise, domain: Domain) -> Iterator[tuple[str, ...]]:
    """Give each column of the declared networks with its parents, as far as they are in the table."""
    for declared in promise.declared if promise.schema.unit.by_column else ():
        if isinstance(declared.model, BayesNet):
            names = declared.variables(promise.schema)
            for child, above in zip(names, declared.model.parents, strict=True):
                family = {child, *(names[one] for one in above)} & set(domain.names)
                if len(family) > 1 and child in domain.names:
                    yield tuple(name for name in domain.names if name in family)
