"""One joint law of units with finitely many values: what people are drawn from, and what an adversary believes."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple, Self

import numpy as np

from entwined.dependence.summing_out import SumTable, order_of, plain_table, put_in, summed_out, trail
from entwined.errors import BadInput, BadModel
from entwined.numbers import FloatArray, IntArray

MOST_ROUNDS: Final = 1_000_000
IMPOSSIBLE: Final = "What is known never happens under this law. Give values that can occur together."


class UnitTable(NamedTuple):
    """A table of weights over a few units, one axis a unit in the order of `scope`."""

    scope: tuple[int, ...]
    table: FloatArray


@dataclass(frozen=True, eq=False)
class ProductLaw:
    """The law that is proportional to the product of its tables; a unit in none of them is uniform.

    Units of `hidden` tie others together and are nobody: no table has them.

    >>> twins = ProductLaw((2, 2), (UnitTable((0, 1), np.array([[0.45, 0.05], [0.05, 0.45]])),))
    >>> twins.marginal(0, {1: 1}).round(3).tolist()
    [0.1, 0.9]
    """

    sizes: tuple[int, ...]
    tables: tuple[UnitTable, ...] = ()
    hidden: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for scope, table in self.tables:
            if table.shape != tuple(self.sizes[unit] for unit in scope):
                raise BadModel(
                    f"A table of shape {table.shape} over the units {scope}. Give one axis a unit."
                )

    @property
    def units(self) -> int:
        """How many units there are, hidden ones among them."""
        return len(self.sizes)

    @cached_property
    def people(self) -> tuple[int, ...]:
        """The units that are not hidden."""
        return tuple(unit for unit in range(self.units) if unit not in set(self.hidden))

    def terms(self, known: Mapping[int, int | IntArray]) -> list[SumTable]:
        """Give the tables where some values are known: one value a unit, or one for each of several copies."""
        found = []
        for scope, table in self.tables:
            left, inside = put_in(scope, table, known)
            if left:
                found.append(plain_table(left, inside))
            elif not (inside > 0).all():
                raise BadInput(IMPOSSIBLE)
        return found

    def joint(self, units: Sequence[int], known: Mapping[int, int]) -> FloatArray:
        """Give the law of a few units, one axis a unit, where the values of others are known."""
        terms = [*self.terms(known), *(self._open(unit) for unit in units)]
        order = order_of([term.scope for term in terms], self.sizes, units)
        found = summed_out(terms, order, self.sizes)
        law = found.weights[0, ..., 0].transpose([found.scope.index(unit) for unit in units])
        total = float(law.sum())
        if not total > 0:
            raise BadInput(IMPOSSIBLE)
        return np.asarray(law / total)

    def marginal(self, unit: int, known: Mapping[int, int] | None = None) -> FloatArray:
        """Give the law of one unit, where the values of others may be known."""
        return self.joint([unit], known or {})

    def draw(
        self, count: int, generator: np.random.Generator, known: Mapping[int, int] | None = None
    ) -> IntArray:
        """Draw whole populations from exactly this law: one a row, one column a unit."""
        told = known or {}
        values = np.empty((count, self.units), np.int64)
        for unit, value in told.items():
            values[:, unit] = value
        unknown = [unit for unit in range(self.units) if unit not in told]
        terms = [*self.terms(told), *map(self._open, unknown)]
        order = order_of([term.scope for term in terms], self.sizes, ())
        for unit, others, weights in reversed(list(trail(terms, order, self.sizes))):
            chances = weights[tuple(values[:, other] for other in others)]
            values[:, unit] = chosen(np.broadcast_to(chances, (count, self.sizes[unit])), generator)
        return values

    def draw_by_rounds(
        self, count: int, generator: np.random.Generator, rounds: int, known: Mapping[int, int] | None = None
    ) -> IntArray:
        """Draw nearly from this law by Gibbs sampling: each unit anew given all others, round by round.

        It is for laws too wide to draw from exactly, and how near it comes is not known: never for a proof.
        """
        if not 1 <= rounds <= MOST_ROUNDS:
            raise BadInput(f"{rounds} rounds of Gibbs sampling. Give 1 to {MOST_ROUNDS:,}.")
        told = known or {}
        values = np.stack([generator.integers(size, size=count) for size in self.sizes], axis=1)
        for unit, value in told.items():
            values[:, unit] = value
        beside = [[one for one in self.tables if unit in one.scope] for unit in range(self.units)]
        for _ in range(rounds):
            for unit in (unit for unit in range(self.units) if unit not in told):
                chances = np.ones((count, self.sizes[unit]))
                for scope, table in beside[unit]:
                    turned = np.moveaxis(table, scope.index(unit), -1)
                    chances = chances * turned[tuple(values[:, other] for other in scope if other != unit)]
                values[:, unit] = chosen(chances, generator)
        return values

    def _open(self, unit: int) -> SumTable:
        return plain_table((unit,), np.ones((1, self.sizes[unit])))

    def linked(self, unit: int) -> tuple[int, ...]:
        """Give everybody who can have a bearing on a unit, itself among them."""
        beside: dict[int, list[int]] = {}
        for number, (scope, _) in enumerate(self.tables):
            for one in scope:
                beside.setdefault(one, []).append(number)
        found, waiting = {unit}, [unit]
        while waiting:
            for number in beside.pop(waiting.pop(), ()):
                more = set(self.tables[number].scope) - found
                found |= more
                waiting += more
        return tuple(sorted(found))

    def only(self, units: Sequence[int]) -> Self:
        """Give the law of some units who have nothing to do with the others, numbered anew in their order."""
        places = {unit: place for place, unit in enumerate(units)}
        tables = tuple(
            UnitTable(tuple(places[unit] for unit in scope), table)
            for scope, table in self.tables
            if scope[0] in places
        )
        hidden = tuple(places[unit] for unit in self.hidden if unit in places)
        return replace(self, sizes=tuple(self.sizes[unit] for unit in units), tables=tables, hidden=hidden)

    def tilted(self, weights: Mapping[int, Sequence[float]]) -> Self:
        """Weigh the values of single units: another share of them, or something that is known of each."""
        more = (UnitTable((unit,), np.asarray(given, dtype=np.float64)) for unit, given in weights.items())
        return replace(self, tables=(*self.tables, *more))

    def repeated(self, times: int) -> Self:
        """Give so many populations of this law side by side, independent of each other."""
        shift = [place * self.units for place in range(times)]
        tables = tuple(
            UnitTable(tuple(unit + by for unit in scope), table)
            for by in shift
            for scope, table in self.tables
        )
        hidden = tuple(unit + by for by in shift for unit in self.hidden)
        return type(self)(self.sizes * times, tables, hidden)

    @cached_property
    def independent(self) -> Self:
        """The law of the same units, each as it is on its own, with no bearing on each other."""
        alone = (UnitTable((unit,), self.marginal(unit)) for unit in range(self.units))
        return replace(self, tables=tuple(alone))


def near_copies(people: int, values: int, agreeing: float) -> ProductLaw:
    """People who all hold what a hidden common cause holds, each with this chance, and else any value.

    >>> round(float(near_copies(2, 2, 0.9).joint([0, 1], {})[0, 0]), 4)   # (0.95² + 0.05²) / 2
    0.4525
    """
    if not (0 <= agreeing < 1 and values > 1):
        raise BadInput(
            f"Near-copies of {values} values that agree with chance {agreeing}. Give a chance below 1."
        )
    copied = agreeing * np.eye(values) + (1 - agreeing) / values
    tables = tuple(UnitTable((people, unit), copied) for unit in range(people))
    return ProductLaw((values,) * (people + 1), tables, hidden=(people,))


def chosen(chances: FloatArray, generator: np.random.Generator) -> IntArray:
    """Choose a value in each row, by weights that need not add up to 1."""
    running = np.cumsum(chances, axis=1)
    points = generator.random(len(chances)) * running[:, -1]
    return np.asarray((running <= points[:, None]).sum(axis=1).clip(max=chances.shape[1] - 1), np.int64)


def over_units(scope: Iterable[Collection[int]], stacked: FloatArray) -> tuple[UnitTable, ...]:
    """Take stacked tables of one shape apart."""
    return tuple(UnitTable(tuple(units), table) for units, table in zip(scope, stacked, strict=True))
