"""Variables with causes: each has a table of its law given its parents."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from entwined.dependence.box import Box
from entwined.dependence.couplings import Couplings
from entwined.dependence.factors import Factors, couplings_of
from entwined.dependence.model import Coupled, Source, checked_source, checked_units
from entwined.errors import BadModel
from entwined.numbers import IntArray


class Variable(NamedTuple):
    """One variable: `table` has a row for each joint value of the parents, the last parent fastest."""

    name: str
    values: tuple[str, ...]
    parents: tuple[str, ...]
    table: Any


@dataclass(frozen=True, eq=False)
class BayesNet(Coupled):
    """A Bayesian network with any number of parents, its tables stacked by shape."""

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    blocks: tuple[Factors, ...]
    source: Source = "declared"
    kind: ClassVar[str] = "bayes_net"
    plural: ClassVar[str] = "Bayesian networks"

    @classmethod
    def of(cls, variables: Sequence[Variable], source: Source = "declared") -> Self:
        """Check the variables and stack their tables."""
        checked_units(len(variables))
        position = {variable.name: place for place, variable in enumerate(variables)}
        if len(position) < len(variables):
            raise BadModel("Two variables have the same name. Give each variable a name of its own.")
        parents = tuple(parent_places(variable, position) for variable in variables)
        for variable in variables:
            if not variable.values or len(set(variable.values)) < len(variable.values):
                raise BadModel(f"Variable {variable.name!r} has no values or one value twice. List each value once.")
        refuse_cycles(parents, variables)
        values = tuple(variable.values for variable in variables)
        return cls(tuple(position), values, parents, stacked(variables, parents), checked_source(source))

    @property
    def units(self) -> int:
        """How many variables there are."""
        return len(self.names)

    @cached_property
    def couplings(self) -> Couplings:
        """Each variable with its parents."""
        return couplings_of(self.units, self.blocks)

    @property
    def document(self) -> dict[str, Any]:
        """The model as the fields of its file."""
        tables: list[Any] = [None] * self.units
        for block in self.blocks:
            for place, scope in enumerate(block.scope):
                shape = (-1, block.table.shape[-1])
                low, high = (end[place].reshape(shape) for end in (block.table.low, block.table.high))
                tables[scope[-1]] = Box.exact(low) if block.table.is_exact else Box(low, high)
        variables = [
            {
                "name": name,
                "values": list(self.values[place]),
                "parents": [self.names[parent] for parent in self.parents[place]],
                "table": tables[place].document,
            }
            for place, name in enumerate(self.names)
        ]
        return {"kind": self.kind, "variables": variables, "source": self.source}


def parent_places(variable: Variable, position: dict[str, int]) -> tuple[int, ...]:
    """Look the parents up by name."""
    try:
        places = tuple(position[parent] for parent in variable.parents)
    except KeyError as missing:
        raise BadModel(f"Variable {variable.name!r} has the unknown parent {missing}. Name a variable of the model.") from None
    if len(set(places)) < len(places) or position[variable.name] in places:
        raise BadModel(f"Variable {variable.name!r} has itself or one parent twice as parents. List others, once each.")
    return places


def refuse_cycles(parents: tuple[tuple[int, ...], ...], variables: Sequence[Variable]) -> None:
    """A network goes one way: no variable may be its own ancestor."""
    child = np.repeat(np.arange(len(parents)), [len(causes) for causes in parents])
    cause = np.array([place for causes in parents for place in causes], dtype=np.int64)
    links = coo_array((np.ones(child.size, np.int8), (cause, child)), shape=(len(parents), len(parents)))
    count, labels = connected_components(links, directed=True, connection="strong")
    if count < len(parents):
        cyclic = int(np.argmax(np.bincount(labels)[labels] > 1))
        raise BadModel(f"Variable {variables[cyclic].name!r} is its own ancestor: a cycle. Remove one of its parents.")


def stacked(variables: Sequence[Variable], parents: tuple[tuple[int, ...], ...]) -> tuple[Factors, ...]:
    """Stack the tables of equal shape; check that each has the rows and columns its names call for."""
    sizes = [len(variable.values) for variable in variables]
    by_shape: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for place, causes in enumerate(parents):
        by_shape[(*(sizes[cause] for cause in causes), sizes[place])].append(place)
    blocks = []
    for shape, places in by_shape.items():
        for place in places:
            table = variables[place].table
            if len(table) != prod(shape[:-1]) or any(len(row) != shape[-1] for row in table):
                raise BadModel(
                    f"The table of {variables[place].name!r} is not {prod(shape[:-1])} rows of {shape[-1]} numbers. "
                    "Give one row for each joint value of the parents, one column for each value."
                )
        scope = np.array([(*parents[place], place) for place in places], dtype=np.int64)
        box = Box.read([variables[place].table for place in places], depth=3)
        box = box.as_probabilities(f"The table of {variables[places[0]].name!r} or one of its shape")
        blocks.append(Factors(scope, box.reshaped((len(places), *shape)), conditional=True))
    return tuple(blocks)
