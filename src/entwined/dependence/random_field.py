"""Variables with mutual influence: a potential on each pair that interacts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from entwined.canonical import Document
from entwined.dependence.box import Box
from entwined.dependence.couplings import Couplings
from entwined.dependence.edged import refuse_repeats
from entwined.dependence.factors import Factors, couplings_of, factors_of, raised_in
from entwined.dependence.model import Coupled, Source, checked_source, checked_units, distinct_places
from entwined.dependence.narrower import Tie
from entwined.dependence.nested import by_rows, shown
from entwined.dependence.possible import possible_in_tables
from entwined.dependence.product_law import ProductLaw, over_units
from entwined.errors import BadModel
from entwined.numbers import BoolArray, IntArray

MOST_VALUES = 1_000_000  # a potential lists every pair of values
ROWS = "Give one row a value of the first variable and one column a value of the second."


class Edge(NamedTuple):
    """Two variables and the potential between them, rows for the first and columns for the second."""

    between: tuple[str, str]
    potential: Any


@dataclass(frozen=True, eq=False, repr=False)
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
        between, potentials = zip(*edges, strict=True) if edges else ((), ())
        return cls.of_columns(variables, between, potentials, source)

    @classmethod
    def of_columns(
        cls,
        variables: Mapping[str, int],
        between: Sequence[Sequence[str]],
        potentials: Sequence[Any],
        source: Source = "declared",
    ) -> Self:
        """Check the variables and the edges, given as two lists, and stack the potentials."""
        checked_units(len(variables))
        names, sizes = tuple(variables), tuple(variables.values())
        refuse_sizes(names, sizes)
        ends = looked_up(between, distinct_places(names))
        refuse_repeats(ends, len(names), lambda place: repr(names[place])[:60])
        shapes = np.array(sizes, dtype=np.int64)[ends]
        blocks = tuple(
            stacked((rows, columns), ends[places], [potentials[place] for place in places.tolist()], names)
            for (rows, columns), places in by_rows(shapes)
        )
        return cls(names, sizes, blocks, checked_source(source))

    @property
    def has_values(self) -> bool:
        """It says which values its units take."""
        return True

    @property
    def units(self) -> int:
        """How many variables there are."""
        return len(self.names)

    @cached_property
    def couplings(self) -> Couplings:
        """Each pair that interacts."""
        return couplings_of(self.units, self.blocks)

    def member(self, values: int = 2) -> ProductLaw:  # noqa: ARG002  (the variables have theirs)
        """The field with weights in the middle of their intervals."""
        each = (
            over_units(block.scope.tolist(), (block.table.low + block.table.high) / 2)
            for block in self.blocks
        )
        return ProductLaw(self.sizes, tuple(chain.from_iterable(each)))

    def times_as_strong(self, factor: float) -> "RandomField":
        """Raise every table to a power."""
        return replace(self, blocks=tuple(block.raised(factor) for block in self.blocks))

    def possible(self) -> Sequence[BoolArray]:
        """The values of each variable that no zero rules out."""
        return possible_in_tables(self.sizes, self.blocks)

    def called(self, place: int) -> str:
        """Name a variable."""
        return f"{self.names[place]!r:.60}"

    def ties(self, place: int) -> Iterator[Tie["RandomField"]]:
        """Give every edge of a variable."""
        for number, place_in in factors_of(self.blocks, place):
            yield self._tie(number, place_in)

    def _tie(self, number: int, place: int) -> Tie["RandomField"]:
        units = self.blocks[number].scope[place].tolist()
        odds = float(self.blocks[number].log_odds[place].max())

        def weaker(factor: float) -> "RandomField":
            return replace(self, blocks=raised_in(self.blocks, number, place, factor))

        first, second = map(self.called, units)
        return Tie(f"of the edge between {first} and {second}", odds, weaker)

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        edges = [
            {"between": [self.names[first], self.names[second]], "potential": potential}
            for block in self.blocks
            for (first, second), potential in zip(block.scope.tolist(), block.table.document, strict=True)
        ]
        variables = dict(zip(self.names, self.sizes, strict=True))
        order = {} if list(self.names) == sorted(self.names) else {"order": list(self.names)}
        return {"kind": self.kind, "variables": variables, **order, "edges": edges, "source": self.source}


def refuse_sizes(names: tuple[str, ...], sizes: tuple[int, ...]) -> None:
    """Refuse variables with no values or more than a potential can list."""
    if min(sizes) < 1 or max(sizes) > MOST_VALUES:
        name, size = next(
            (name, size) for name, size in zip(names, sizes, strict=True) if not 1 <= size <= MOST_VALUES
        )
        raise BadModel(
            f"Variable {name!r:.60} has {shown(size)} values. Give it from 1 to {MOST_VALUES} values."
        )


def looked_up(between: Sequence[Sequence[str]], position: dict[str, int]) -> IntArray:
    """Look the ends of the edges up by name."""
    if set(map(len, between)) - {2}:
        place = next(place for place, pair in enumerate(between) if len(pair) != 2)  # noqa: PLR2004  (two ends)
        raise BadModel(f"Edge {place + 1} is between {len(between[place])} variables. Name two.")
    try:
        ends = np.fromiter(
            map(position.__getitem__, chain.from_iterable(between)), np.int64, 2 * len(between)
        )
    except KeyError:
        place = next(place for place, pair in enumerate(between) if not set(pair) <= position.keys())
        unknown = next(name for name in between[place] if name not in position)
        wrong = f"Edge {place + 1} names the unknown variable {unknown!r:.60}"
        raise BadModel(f"{wrong}. Name a variable of the model.") from None
    return ends.reshape(-1, 2)


def stacked(
    shape: tuple[int, int], ends: IntArray, potentials: Sequence[Any], names: tuple[str, ...]
) -> Factors:
    """Stack the potentials of one shape."""

    def name(place: int) -> str:
        first, second = ends[place].tolist()
        return f"The potential between {names[first]!r:.60} and {names[second]!r:.60}"

    box = Box.stack(potentials, shape, name, ROWS).as_weights(name)
    return Factors(ends, box, conditional=False)
