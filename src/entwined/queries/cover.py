"""The most that charges on overlapping sets of rows can add up to at one row, or at a pair of rows.

Sets over separate columns are independent choices, so their maxima add exactly. Inside such a component the
sum is exact as long as its sets fit into one bunch, and never below the truth where they need several.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from entwined.queries.bunches import Bunch, Knot, Weight, charged, joined, knot_of
from entwined.queries.predicate import Predicate

Pair: TypeAlias = tuple[Predicate, Fraction, Fraction]
Component: TypeAlias = tuple[frozenset[str], Knot]


@dataclass(frozen=True, slots=True)
class Cover:
    """A largest sum; `exact` is False where it is only known not to be below the truth."""

    value: Fraction
    exact: bool


@dataclass(frozen=True, eq=False, slots=True)
class Layers:
    """Charges laid over the rows; laying one more leaves all but a bunch as it was.

    Equal charges give equal covers, in whatever order and by whatever steps they were laid.
    """

    components: tuple[Component, ...] = ()

    @classmethod
    def of(cls, charges: Iterable[Pair]) -> "Layers":
        """Lay many charges at once."""
        merged: dict[Predicate, Weight] = {}
        for where, one, both in charges:
            if not where.is_empty and (one or both):
                before = merged.get(where, (Fraction(0), Fraction(0)))
                merged[where] = (before[0] + one, before[1] + both)
        return cls(
            tuple(
                (columns, knot_of({where: merged[where] for where in members}))
                for columns, members in _components(list(merged))
            )
        )

    def plus(self, where: Predicate, one: Fraction, both: Fraction) -> "Layers":
        """Lay one charge more."""
        if where.is_empty or not (one or both):
            return self
        own = columns = frozenset(where.columns)
        knot: Knot = charged(where, (one, both))
        apart: list[Component] = []
        for names, other in self.components:
            if names == own or names & own:
                columns |= names
                knot = joined(other, knot)
            else:
                apart.append((names, other))
        return Layers((*apart, (columns, knot)))

    @property
    def at_one(self) -> Cover:
        """The most at one point, of `one`."""
        return self._cover([knot.at_one for _, knot in self.components])

    def at_two(self, *, absent: bool = False) -> Cover:
        """The most at two points: `one` of sets holding one of them and `both` of sets holding both.

        With `absent` one of the points may also be no row at all, which no set holds.
        """
        pairs = self._cover([knot.at_two for _, knot in self.components])
        if not absent:
            return pairs
        alone = self.at_one
        return Cover(
            max(pairs.value, alone.value), pairs.exact and (alone.exact or alone.value <= pairs.value)
        )

    def _cover(self, values: Sequence[Fraction]) -> Cover:
        exact = all(isinstance(knot, Bunch) for _, knot in self.components)
        return Cover(sum(values, Fraction(0)), exact)


def _components(predicates: Sequence[Predicate]) -> list[tuple[frozenset[str], list[Predicate]]]:
    """Put sets together that share columns, however indirectly."""
    components: list[tuple[frozenset[str], list[Predicate]]] = []
    for predicate in predicates:
        own = columns = frozenset(predicate.columns)
        members = [predicate]
        apart = []
        for names, others in components:
            if names & own:
                columns |= names
                members = others + members
            else:
                apart.append((names, others))
        components = [*apart, (columns, members)]
    return components
