"""Variables with causes: each has a table of its law given its parents."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import prod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from entwined.canonical import Document
from entwined.dependence.box import Box
from entwined.dependence.couplings import FEW, Couplings
from entwined.dependence.factors import Factors, couplings_of, factors_of, pairs_of, raised_in
from entwined.dependence.learned_from import LearnedFrom, origin_fields
from entwined.dependence.model import Coupled, Source, checked_source, checked_units, distinct_places
from entwined.dependence.model_check import ModelCheck
from entwined.dependence.narrower import Tie
from entwined.dependence.nested import by_rows
from entwined.dependence.possible import possible_in_tables
from entwined.dependence.product_law import ProductLaw, over_units
from entwined.errors import BadModel
from entwined.numbers import BoolArray, FloatArray, IntArray

MOST_PARENTS = 60  # an array has 64 axes at most
ROWS = "Give one row for each joint value of the parents, the last parent fastest, and one column a value."


class Variable(NamedTuple):
    """One variable: `table` has a row for each joint value of the parents, the last parent fastest."""

    name: str
    values: tuple[str, ...]
    parents: tuple[str, ...]
    table: Any


@dataclass(frozen=True, eq=False, repr=False)
class BayesNet(Coupled):
    """A Bayesian network with any number of parents, its tables stacked by shape."""

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    blocks: tuple[Factors, ...]
    source: Source = "declared"
    learned_from: LearnedFrom | None = None
    hidden: tuple[int, ...] = ()
    check: ModelCheck | None = None
    kind: ClassVar[str] = "bayes_net"
    plural: ClassVar[str] = "Bayesian networks"

    @classmethod
    def of(cls, variables: Sequence[Variable], source: Source = "declared") -> Self:
        """Check the variables and stack their tables."""
        names, values, parents, tables = zip(*variables, strict=True) if variables else ((), (), (), ())
        return cls.of_columns(names, values, parents, tables, source)

    @classmethod
    def of_columns(
        cls,
        names: Sequence[str],
        values: Sequence[Sequence[str]],
        parents: Sequence[Sequence[str]],
        tables: Sequence[Any],
        source: Source = "declared",
    ) -> Self:
        """Check the variables, given as four lists with one entry each, and stack their tables."""
        checked_units(len(names))
        position = distinct_places(names)
        domains = checked_domains(names, values)
        links = Links.of(names, parents, position)
        links.refuse_cycles(names)
        sizes = np.fromiter(map(len, domains), np.int64, len(names))
        blocks = tuple(
            block for scope in links.scopes() for block in stacked(scope, sizes[scope], names, tables)
        )
        return cls(tuple(names), domains, links.per_child(), blocks, checked_source(source))

    def hiding(self, names: Sequence[str]) -> Self:
        """Say that these variables are hidden: they tie others together, and nothing is promised of them."""
        position = distinct_places(self.names)
        unknown = [name for name in names if name not in position]
        if unknown or len(set(names)) < len(names):
            wrong = f"{unknown[0]!r:.60}, which is no variable" if unknown else "a variable twice"
            raise BadModel(f"The hidden variables name {wrong}. Name variables of the model, each once.")
        if len(names) == self.units:
            raise BadModel("Every variable is hidden, so there is nothing to protect. Leave some as secrets.")
        return replace(self, hidden=tuple(sorted(position[name] for name in names)))

    @property
    def has_values(self) -> bool:
        """It says which values its units take."""
        return True

    @property
    def units(self) -> int:
        """How many variables there are."""
        return len(self.names)

    @property
    def secrets(self) -> str:
        """Say which variables are no secrets, if some are not."""
        named = ", ".join(repr(self.names[place]) for place in self.hidden)
        return f" but the hidden {named}" if named else ""

    @cached_property
    def couplings(self) -> Couplings:
        """Each variable with its parents."""
        return couplings_of(self.units, self.blocks)

    @cached_property
    def pairs(self) -> tuple[IntArray, FloatArray]:
        """Each pair in one table, with Δ between the two while all other variables are held fixed."""
        return pairs_of(self.blocks)

    def member(self, values: int = 2) -> ProductLaw:  # noqa: ARG002  (the variables have theirs)
        """The network with chances in the middle of their intervals."""
        each = (over_units(block.scope.tolist(), block.table.middle) for block in self.blocks)
        return ProductLaw(tuple(map(len, self.values)), tuple(chain.from_iterable(each)), self.hidden)

    def times_as_strong(self, factor: float) -> "BayesNet":
        """Raise every table to a power; those without parents stay."""
        return replace(self, blocks=tuple(block.raised(factor) for block in self.blocks))

    def possible(self) -> Sequence[BoolArray]:
        """The values of each variable that no zero rules out."""
        return possible_in_tables(tuple(map(len, self.values)), self.blocks)

    def called(self, place: int) -> str:
        """Name a variable."""
        return f"{self.names[place]!r:.60}"

    def ties(self, place: int) -> Iterator[Tie["BayesNet"]]:
        """Give every table that holds a variable and others."""
        for number, place_in in factors_of(self.blocks, place):
            yield self._tie(number, place_in)

    def _tie(self, number: int, place: int) -> Tie["BayesNet"]:
        units = self.blocks[number].scope[place].tolist()
        odds = float(self.blocks[number].log_odds[place].max())

        def weaker(factor: float) -> "BayesNet":
            return replace(self, blocks=raised_in(self.blocks, number, place, factor))

        *causes, child = map(self.called, units)
        return Tie(f"in the table of {child} given {' and '.join(causes)}", odds, weaker)

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        tables: list[Any] = [None] * self.units
        for block in self.blocks:
            rows = block.table.reshaped((len(block.scope), -1, block.table.shape[-1]))
            for child, table in zip(block.scope[:, -1].tolist(), rows.document, strict=True):
                tables[child] = table
        variables = [
            {
                "name": name,
                "values": list(values),
                "parents": [self.names[cause] for cause in causes],
                "table": table,
            }
            for name, values, causes, table in zip(self.names, self.values, self.parents, tables, strict=True)
        ]
        origin = origin_fields(self.learned_from)
        origin |= {"check": self.check.document} if self.check else {}
        hidden = {"hidden": [self.names[place] for place in self.hidden]} if self.hidden else {}
        return {"kind": self.kind, "variables": variables, **hidden, "source": self.source, **origin}


@dataclass(frozen=True, eq=False)
class Links:
    """Who causes whom: `cause[k]` is a parent of `child[k]`, and `count` tells how many each child has."""

    count: IntArray
    child: IntArray
    cause: IntArray

    @classmethod
    def of(cls, names: Sequence[str], parents: Sequence[Sequence[str]], position: dict[str, int]) -> Self:
        """Look the parents up by name."""
        count = np.fromiter(map(len, parents), np.int64, len(names))
        if count.max(initial=0) > MOST_PARENTS:
            name = names[int(np.argmax(count))]
            raise BadModel(
                f"Variable {name!r:.60} has {count.max()} parents. Give it {MOST_PARENTS} at most."
            )
        child = np.repeat(np.arange(len(names)), count)
        try:
            cause = np.fromiter(map(position.__getitem__, chain.from_iterable(parents)), np.int64, child.size)
        except KeyError:
            place, unknown = next(
                (place, name)
                for place, causes in enumerate(parents)
                for name in causes
                if name not in position
            )
            wrong = f"Variable {names[place]!r:.60} has the unknown parent {unknown!r:.60}"
            raise BadModel(f"{wrong}. Name a variable of the model.") from None
        links = cls(count, child, cause)
        links.refuse_repeats(names)
        return links

    def refuse_repeats(self, names: Sequence[str]) -> None:
        """Refuse a variable that is its own parent or has a parent twice."""
        own = self.child == self.cause
        if own.any():
            name = names[int(self.child[np.argmax(own)])]
            raise BadModel(f"Variable {name!r:.60} has itself as a parent. Remove it from its parents.")
        keys = np.sort(self.child * np.int64(len(names)) + self.cause)
        again = keys[1:] == keys[:-1]
        if again.any():
            child, cause = divmod(int(keys[1:][again][0]), len(names))
            raise BadModel(
                f"Variable {names[child]!r:.60} has the parent {names[cause]!r:.60} twice. List it once."
            )

    def refuse_cycles(self, names: Sequence[str]) -> None:
        """Refuse a variable that is its own ancestor: a network goes one way."""
        if len(names) + self.child.size <= FEW and self._goes_one_way(len(names)):
            return
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        units = len(names)
        matrix = coo_array(
            (np.ones(self.child.size, np.int8), (self.cause, self.child)), shape=(units, units)
        )
        count, labels = connected_components(matrix, directed=True, connection="strong")
        if count < units:
            name = names[int(np.argmax(np.bincount(labels)[labels] > 1))]
            raise BadModel(f"Variable {name!r:.60} is its own ancestor: a cycle. Remove one of its parents.")

    def _goes_one_way(self, units: int) -> bool:
        """Whether all variables can be put in order, causes first."""
        children: list[list[int]] = [[] for _ in range(units)]
        for cause, child in zip(self.cause.tolist(), self.child.tolist(), strict=True):
            children[cause].append(child)
        waits = self.count.tolist()
        order = [unit for unit in range(units) if not waits[unit]]
        for unit in order:  # grows while it is walked
            for child in children[unit]:
                waits[child] -= 1
                if not waits[child]:
                    order.append(child)
        return len(order) == units

    def scopes(self) -> Iterator[IntArray]:
        """Variables with equally many parents: a row each, its parents and then itself."""
        first = np.cumsum(self.count) - self.count
        for count in np.unique(self.count).tolist():
            child = np.flatnonzero(self.count == count)
            yield np.concatenate([self.cause[first[child, None] + np.arange(count)], child[:, None]], axis=1)

    def per_child(self) -> tuple[tuple[int, ...], ...]:
        """Split the causes by child."""
        causes, stops = self.cause.tolist(), np.cumsum(self.count).tolist()
        return tuple(tuple(causes[start:stop]) for start, stop in zip([0, *stops], stops, strict=False))


def checked_domains(names: Sequence[str], values: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Refuse a variable without values or with one value twice; variables of equal values share them."""
    shared: dict[tuple[str, ...], tuple[str, ...]] = {}
    domains = tuple(shared.setdefault(domain, domain) for domain in map(tuple, values))
    wrong = {domain for domain in shared if not domain or len(set(domain)) < len(domain)}
    if wrong:
        name = names[next(place for place, domain in enumerate(domains) if domain in wrong)]
        raise BadModel(f"Variable {name!r:.60} has no values or one value twice. List each value once.")
    return domains


def stacked(scope: IntArray, sizes: IntArray, names: Sequence[str], tables: Sequence[Any]) -> list[Factors]:
    """Stack the tables of equal shape; check that each has the rows and columns its names call for."""
    blocks = []
    for shape, places in by_rows(sizes):
        part = scope[places]
        children = part[:, -1].tolist()

        def name(place: int, children: list[int] = children) -> str:
            return f"The table of {names[children[place]]!r:.60}"

        wanted = (prod(shape[:-1]), shape[-1])
        box = Box.stack([tables[child] for child in children], wanted, name, ROWS).as_probabilities(name)
        blocks.append(Factors(part, box.reshaped((len(children), *shape)), conditional=True))
    return blocks
