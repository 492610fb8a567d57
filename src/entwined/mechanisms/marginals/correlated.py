"""PrivBayes: a network of columns by the exponential mechanism with half the loss, its tables with the other half.

Zhang, Cormode, Procopiuc, Srivastava, Xiao (2017). Parents are scored by how far a column and they are from
independent (`mechanisms.parents` says why no row moves that far), less what the noise of their table would hide.

How many parents a column has is said, or follows from a usefulness θ: of n rows, a table of m cells whose noise is
about s a cell says n / m rows a cell, so no table with n / (m s) below θ is looked at. Sizes and noise are public. n is
the number of rows where the schema says it, else a count with noise of its own, drawn first and charged: never the
true one.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, Final

import numpy as np

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadLoss, BadQuery
from entwined.mechanisms.marginals.declared_tables import DECLARED, DeclaredTables
from entwined.mechanisms.marginals.domain import Domain, Scope
from entwined.mechanisms.marginals.foreseen import AffordedRelations, afforded_relations, is_measured
from entwined.mechanisms.marginals.grain import Grains
from entwined.mechanisms.marginals.meter import Meter, Tables, Transcript
from entwined.mechanisms.marginals.recipes import Expected, ExpectedTable, Shares, weighed
from entwined.mechanisms.marginals.relations import NOISE_OF_A_CELL
from entwined.mechanisms.parents import Candidate, Search
from entwined.noise import Additive
from entwined.numbers import positive_fraction
from entwined.schema import Schema
from entwined.schema.raw import is_text, is_whole

HALF: Final = Fraction(1, 2)
COUNTED: Final = Fraction(1, 50)  # of the loss, for the number of rows where it is not public
USUAL_PARENTS: Final = 2
MOST_PARENTS: Final = 5
MOST_TABLES: Final = 2000
LARGEST_TABLE: Final = 100_000

Edges = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Correlated:
    """Up to `parents` parents for each column, or as many as `usefulness` allows.

    `forced` and `forbidden` edges lead from a parent to a child.
    """

    name: ClassVar[str] = "correlated"
    is_settled: ClassVar[bool] = False
    parents: int | None = USUAL_PARENTS
    forced: Edges = ()
    forbidden: Edges = ()
    usefulness: Fraction | None = None

    def __post_init__(self) -> None:
        given = self.parents is not None or self.usefulness is None
        if given and (not is_whole(self.parents) or not 1 <= (self.parents or 0) <= MOST_PARENTS):
            raise BadQuery(f"parents = {self.parents!r:.60}. Give 1 to {MOST_PARENTS}.")
        both = sorted(set(self.forced) & set(self.forbidden))
        if both:
            raise BadQuery(f"The edge {list(both[0])} is forced and forbidden. Keep one of them.")

    @classmethod
    def of(cls, given: Mapping[str, Any], domain: Domain) -> "Correlated | DeclaredTables":
        """Read it from the fields of a file; refuse edges that no network can have."""
        if given.get("structure") == DECLARED:
            return DeclaredTables.of(given, domain)
        forced, forbidden = (_edges(given.get(key, ()), domain, key) for key in ("forced", "forbidden"))
        theta = _theta(given.get("usefulness"))
        made = cls(given.get("parents", None if theta else USUAL_PARENTS), forced, forbidden, theta)
        made.check(domain)
        return made

    def check(self, domain: Domain) -> None:
        """Refuse too many tables to look at, forced parents that go round in a circle or are too many."""
        if len(domain.axes) < 2:  # noqa: PLR2004  (nothing to choose)
            raise BadQuery('A network needs two columns at least. Take mode = "independent".')
        order, left = set[str](), set(domain.names)
        while left:
            free = {name for name in left if all(one in order for one in self._forced(name))}
            if not free:
                raise BadQuery("The forced edges go round in a circle. Leave one of them out.")
            order |= free
            left -= free
        most = self.most_parents(domain)
        if max(len(self._forced(name)) for name in domain.names) > most:
            raise BadQuery(f"More than parents = {most} are forced on a column. Allow more parents.")
        if len(self._scopes(domain)) > MOST_TABLES:
            raise BadQuery(
                f"{len(self._scopes(domain)):,} tables would be looked at; the most is {MOST_TABLES:,}. Give "
                'parents = 1, or take mode = "adaptive".'
            )

    def most_parents(self, domain: Domain) -> int:
        """How many parents a column has at most: as was said, else as many as there are not too many tables for."""
        columns = len(domain.axes)
        if self.parents is not None:
            return min(self.parents, columns - 1)
        tables, most = math.comb(columns, 2), 1
        while most < min(MOST_PARENTS, columns - 1):
            tables += math.comb(columns, most + 2)
            if tables > MOST_TABLES:
                break
            most += 1
        return most

    @property
    def document(self) -> Document:
        """Every public choice."""
        edges = {"forced": self.forced, "forbidden": self.forbidden}
        told: Document = {} if self.parents is None else {"parents": self.parents}
        told |= {key: [list(edge) for edge in found] for key, found in edges.items() if found}
        useful = {} if self.usefulness is None else {"usefulness": fraction_text(self.usefulness)}
        return told | useful

    @property
    def words(self) -> str:
        """What it is called."""
        return self.name if self.usefulness is None else f"{self.name}, θ = {float(self.usefulness):g}"

    def shares(self, domain: Domain, schema: Schema) -> Shares:
        """Half for choices, half for tables of all sorts."""
        return [(domain.whole(schema), HALF), (domain.apartness(), HALF)]

    def asks(self, domain: Domain) -> tuple[Scope, ...]:
        """Every table that a choice may look at."""
        return self._scopes(domain)

    def _search(self, domain: Domain, scale: Fraction) -> Search:
        return Search(domain.sizes, self.most_parents(domain), scale)

    def _scopes(self, domain: Domain) -> tuple[Scope, ...]:
        every = self._search(domain, Fraction(0)).scopes
        return tuple(scope for scope in every if domain.cells(scope) <= LARGEST_TABLE)

    def _forced(self, child: str) -> list[str]:
        return [one for one, two in self.forced if two == child]

    def run(self, tables: Tables, domain: Domain, meter: Meter, notes: Transcript) -> None:
        """Choose parents, then count each column with its parents."""
        largest = self._largest(tables, domain, meter, notes)
        found = self._network(tables, domain, meter, largest)
        scopes = tuple(dict.fromkeys(tuple(sorted((child, *above))) for child, above in found.items()))
        notes.chosen += [(child, *above) for child, above in found.items() if above]
        parted = weighed(scopes, domain, self._left(domain))
        notes.count(tables(scopes), {scope: meter.noise(share) for scope, share in parted.items()})

    def _left(self, domain: Domain) -> Fraction:
        """The share of the tables: their half, less what the number of rows costs where it has to be counted."""
        return HALF - COUNTED if self.usefulness is not None and domain.rows is None else HALF

    def _largest(self, tables: Tables, domain: Domain, meter: Meter, notes: Transcript) -> float:
        """The most cells of a table that is as useful as was said; by a count with noise where rows are not public."""
        if self.usefulness is None:
            return LARGEST_TABLE
        rows = domain.rows
        if rows is None:
            together = Grains(tuple((0,) * size for size in domain.sizes))  # all rows are in one group
            notes.count(tables(((0,),)), {(0,): meter.noise(COUNTED)}, together)
            rows = int(notes.tables[-1].counts[0])
        return max(rows, 1) / (float(self.usefulness) * meter.size(self._left(domain) / len(domain.axes)))

    def _network(self, tables: Tables, domain: Domain, meter: Meter, largest: float) -> dict[int, Scope]:
        steps = len(domain.axes) - 1
        hidden = Fraction(round(1000 * NOISE_OF_A_CELL * meter.deviation(HALF / (steps + 1))), 1000)
        search, choice = self._search(domain, hidden), meter.choice_of_parents(HALF / steps)
        looked_at = tuple(scope for scope in self._scopes(domain) if domain.cells(scope) <= largest)
        counts = {
            scope: np.asarray(table).reshape([domain.sizes[at] for at in scope])
            for scope, table in tables(looked_at).items()
        }
        first = next(at for at, name in enumerate(domain.names) if not self._forced(name))
        found: dict[int, Scope] = {first: ()}
        scores: dict[Candidate, int] = {}
        while len(found) <= steps:
            listed = self._allowed(search.candidates(list(found)), domain, counts)
            for one in listed:
                if one not in scores:
                    scores[one] = search.utility(one, counts)
            child, above = (
                listed[choice.choose([scores[one] for one in listed])]
                if listed
                else self._alone(domain, found)
            )
            found[child] = above
        return found

    def _allowed(
        self, candidates: Sequence[Candidate], domain: Domain, counts: Mapping[Scope, object]
    ) -> list[Candidate]:
        """Leave out what the edges forbid, or a table that is too large."""
        names = domain.names
        return [
            (child, above)
            for child, above in candidates
            if tuple(sorted((child, *above))) in counts
            and all(names.index(one) in above for one in self._forced(names[child]))
            and not any((names[one], names[child]) in self.forbidden for one in above)
        ]

    def _alone(self, domain: Domain, found: Mapping[int, Scope]) -> Candidate:
        """A column whose parents nobody may choose: the first that is left and is forced under none outside."""
        for child in (at for at in range(len(domain.axes)) if at not in found):
            above = tuple(sorted(domain.names.index(one) for one in self._forced(domain.names[child])))
            if all(one in found for one in above):
                return child, above
        raise BadQuery("The forced edges go round in a circle. Leave one of them out.")

    def relations(self, domain: Domain, meter: Meter, rows: int | None) -> AffordedRelations:
        """The pairs of a column and a parent whose relation the noise of their table does not hide."""
        columns, every = len(domain.axes), math.comb(len(domain.axes), 2)
        if rows is None:
            return AffordedRelations(every)
        each = min(self.parents or 1, columns - 1)
        share, sizes = self._left(domain) / columns, domain.sizes

        def counting(other: Meter, strength: float) -> int:
            deviation = other.deviation(share)
            clear = sum(
                is_measured(sizes, pair, strength, rows, deviation)
                for pair in combinations(range(columns), 2)
            )
            return min(clear, (columns - 1) * each)

        return afforded_relations(every, columns - 1, meter, counting)

    def expected(self, domain: Domain, meter: Meter, rows: int | None) -> Expected:  # noqa: ARG002  (shares are fixed)
        """The noise of the first column and of the others with their parents, which are not known before.

        Tables part a share by their cells: the others are taken to be pairs of middling size, and between the smallest
        pairs beside the largest tables and the other way round.
        """
        many, left = len(domain.axes), self._left(domain)
        first = next(at for at, name in enumerate(domain.names) if not self._forced(name))
        cells = sorted(map(domain.cells, self._scopes(domain)))
        pairs = sorted(domain.cells(pair) for pair in combinations(range(many), 2))
        alone, small, middle, large = map(
            _weight, (domain.sizes[first], pairs[0], pairs[len(pairs) // 2], cells[-1])
        )
        others, share = many - 1, left
        alone_noises = [
            meter.noise(share * alone / (alone + others * other)) for other in (middle, small, large)
        ]
        rest = [
            meter.noise(share * middle / (alone + others * middle)),
            meter.noise(share * large / (large + alone + (others - 1) * small)),
            meter.noise(share * small / (small + alone + (others - 1) * large)),
        ]
        counted: Expected = (
            [ExpectedTable("how many rows there are", 1, 1, meter.noise(COUNTED))] if left < HALF else []
        )
        return [
            *counted,
            _expected(domain.names[first], 1, domain.sizes[first], alone_noises),
            _expected("columns with their parents", others, cells[-1], rest, pairs[len(pairs) // 2]),
        ]


def _expected(
    name: str, tables: int, cells: int, noises: Sequence[Additive], typical: int | None = None
) -> ExpectedTable:
    noise, least, most = noises
    return ExpectedTable(name, tables, cells, noise, least, most, typical)


def _weight(cells: int) -> Fraction:
    """What part of a share a table of so many cells gets beside others (`weighed`)."""
    return Fraction(max(round(10 * cells ** (2 / 3)), 1))


def _theta(given: Any) -> Fraction | None:
    """Read a usefulness as people give it, or as a document has it."""
    if given is None:
        return None
    try:
        return (
            fraction_from(given)
            if is_text(given) and "/" in given
            else positive_fraction(given, "usefulness")
        )
    except BadLoss:
        raise BadQuery(f"usefulness = {given!r:.60}. Give a number above 0, such as 4.") from None


def _edges(given: object, domain: Domain, what: str) -> Edges:
    found: list[tuple[str, str]] = []
    for one in given if isinstance(given, list | tuple) else [given]:
        pair = tuple(one) if isinstance(one, list | tuple) and all(map(is_text, one)) else ()
        if len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(domain.names):  # noqa: PLR2004
            raise BadQuery(f'{what} has {one!r:.60}. Give edges from parent to child: [["age", "income"]].')
        found.append((pair[0], pair[1]))
    return tuple(sorted(set(found)))
