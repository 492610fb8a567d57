"""Variables with mutual influence: a potential on each pair that interacts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from entwined.dependence.box import Box
from entwined.dependence.couplings import Couplings
from entwined.dependence.factors import Factors, couplings_of
from entwined.dependence.graph import refuse_repeats
from entwined.dependence.model import Coupled, Source, checked_source, checked_units
from entwined.errors import BadModel


class Edge(NamedTuple):
    """Two variables and the potential between them, rows for the first and columns for the second."""

    between: tuple[str, str]
    potential: Any


@dataclass(frozen=True, eq=False)
class RandomField(Coupled):
    """A pairwise Markov random field."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    blocks: tuple[Factors, ...]
    source: Source = "declared"
    kind: ClassVar[str] = "random_field"
    plural: ClassVar[str] = "random fields"

    @classmethod
    def of(cls, variables: Mapping[str, int], edges: Sequence[Edge], source: Source = "declared") -> Self:
        """Check the variables and edges and stack the potentials."""
        checked_units(len(variables))
        position = {name: place for place, name in enumerate(variables)}
        sizes = tuple(variables.values())
        if min(sizes) < 1:
            raise BadModel("A variable has no values. Give each variable at least one value.")
        try:
            ends = np.array([(position[a], position[b]) for (a, b), _ in edges], dtype=np.int64).reshape(-1, 2)
        except KeyError as missing:
            raise BadModel(f"An edge names the unknown variable {missing}. Name a variable of the model.") from None
        refuse_repeats(ends, len(sizes))
        by_shape: dict[tuple[int, int], list[int]] = defaultdict(list)
        for place, (a, b) in enumerate(ends.tolist()):
            by_shape[sizes[a], sizes[b]].append(place)
        blocks = tuple(block(shape, places, edges, ends) for shape, places in by_shape.items())
        return cls(tuple(position), sizes, blocks, checked_source(source))

    @property
    def units(self) -> int:
        """How many variables there are."""
        return len(self.names)

    @cached_property
    def couplings(self) -> Couplings:
        """Each pair that interacts."""
        return couplings_of(self.units, self.blocks)

    @property
    def document(self) -> dict[str, Any]:
        """The model as the fields of its file."""
        edges = [
            {
                "between": [self.names[a], self.names[b]],
                "potential": Box(group.table.low[place], group.table.high[place]).document,
            }
            for group in self.blocks
            for place, (a, b) in enumerate(group.scope.tolist())
        ]
        variables = dict(zip(self.names, self.sizes, strict=True))
        return {"kind": self.kind, "variables": variables, "edges": edges, "source": self.source}


def block(shape: tuple[int, int], places: list[int], edges: Sequence[Edge], ends: Any) -> Factors:
    """Stack the potentials of one shape."""
    for place in places:
        table = edges[place].potential
        if len(table) != shape[0] or any(len(row) != shape[1] for row in table):
            raise BadModel(
                f"The potential between {' and '.join(map(repr, edges[place].between))} is not {shape[0]} rows of "
                f"{shape[1]} numbers. Give one row a value of the first, one column a value of the second."
            )
    box = Box.read([edges[place].potential for place in places], depth=3).as_weights("A potential")
    return Factors(ends[places], box, conditional=False)
