"""Noise for shares of one loss: what a table, a distance and a choice get of it."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self, TypeAlias

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.mechanisms.fitting import worst_change
from entwined.mechanisms.marginals.agreement import Counted
from entwined.mechanisms.marginals.domain import Domain, Scope
from entwined.mechanisms.marginals.grain import Grain, Grains, coarse, groups_in
from entwined.noise import Additive, ExponentialChoice, GradualLaplace, noise_from
from entwined.numbers import IntArray
from entwined.promise.measure import Measure
from entwined.promise.promise import Promise

Tables: TypeAlias = Callable[[Sequence[Scope]], Mapping[Scope, IntArray]]
"""Lent rows as exact tables of counts, by their columns."""


@dataclass(frozen=True, slots=True)
class Meter:
    """A loss, in a measure, and how far a unit moves a table and each kind of score in what is charged."""

    measure: Measure
    loss: Fraction
    table: Fraction
    distance: Fraction
    apartness: Fraction

    @classmethod
    def of(cls, promise: Promise, domain: Domain, loss: Fraction) -> Self:
        """Find out how far one unit moves what is read."""
        table = worst_change(promise, domain.whole(promise.schema))
        distance = worst_change(promise, domain.distances(1))
        return cls(promise.measure, loss, table, distance, worst_change(promise, domain.apartness()))

    def noise(self, share: Fraction) -> Additive:
        """The noise of a table that gets this share of the loss."""
        return self.measure.added(self.loss * share, self.table)

    def gradual(self, shares: Iterable[Fraction]) -> GradualLaplace | None:
        """The noise of a table that is told with more and more of the loss, if telling it twice would cost more."""
        return self.measure.gradual((self.loss * one for one in shares), self.table)

    def require_paid(self, noises: Iterable[Additive], share: Fraction) -> None:
        """Refuse tables that were drawn with less noise than this share of the loss pays for."""
        spent = sum((self.measure.shown(one, self.table) for one in noises), Fraction(0))
        if spent > self.loss * share:
            raise BadInput("The tables have less noise than was charged for. Give what was released.")

    def noise_of_distances(self, share: Fraction, tables: int) -> Additive:
        """The noise of the distances of so many tables, which share this share: changes add up over them."""
        return self.measure.added(self.loss * share, tables * self.distance)

    def choice(self, share: Fraction) -> ExponentialChoice:
        """A choice by distances, each of which may move, either way, by as much as its table."""
        return self.measure.chosen(self.loss * share, self.distance)

    def choice_of_parents(self, share: Fraction) -> ExponentialChoice:
        """A choice by how far columns are from independent."""
        return self.measure.chosen(self.loss * share, self.apartness)

    def deviation(self, share: Fraction) -> float:
        """The deviation of the noise of a table."""
        return math.sqrt(self.noise(share).variance)

    def size(self, share: Fraction) -> float:
        """How large the noise of a cell is on average, its sign left out: of Laplace noise its scale."""
        return self.deviation(share) * math.sqrt(1 / 2 if self.measure.is_pure else 2 / math.pi)


@dataclass(frozen=True, slots=True, eq=False)
class Noted:
    """A table of counts with noise, and the law of that noise; of groups of cells if it has a grain."""

    scope: Scope
    counts: IntArray
    noise: Additive
    grain: Grain | None = None

    @property
    def counted(self) -> Counted:
        """What a law is fitted to."""
        return Counted(self.scope, self.counts, math.sqrt(self.noise.variance), self.grain)

    def cells(self, domain: Domain) -> int:
        """How many cells its columns have, or groups of them; none where groups are not of these columns."""
        if self.grain is None:
            return domain.cells(self.scope)
        whole = tuple(map(len, self.grain)) == tuple(domain.sizes[at] for at in self.scope)
        return math.prod(groups_in(self.grain)) if whole else 0

    def document(self, names: Sequence[str]) -> Document:
        """The table as it is released."""
        columns = [names[at] for at in self.scope]
        groups = {} if self.grain is None else {"groups": [list(one) for one in self.grain]}
        return {"columns": columns, **groups, "noise": self.noise.document, "counts": self.counts.tolist()}

    @classmethod
    def from_document(cls, given: Mapping[str, Any], names: Sequence[str]) -> Self:
        """Read it back."""
        noise = noise_from(given["noise"])
        scope = tuple(names.index(name) for name in given["columns"])
        grain = tuple(map(tuple, given["groups"])) if "groups" in given else None
        return cls(scope, np.array(given["counts"], np.int64), noise, grain)


@dataclass(slots=True)
class Transcript:
    """What a run has drawn so far: this and nothing else leaves.

    `earlier` are tables that were told again with less of the same noise: they steered the run, and say no more now.
    """

    tables: list[Noted] = field(default_factory=list)
    distances: dict[Scope, int] = field(default_factory=dict)
    chosen: list[Scope] = field(default_factory=list)
    earlier: list[Noted] = field(default_factory=list)

    def count(
        self, exact: Mapping[Scope, IntArray], noises: Mapping[Scope, Additive], grains: Grains | None = None
    ) -> None:
        """Add noise to tables, of groups of cells where some are given, and keep them."""
        for scope, noise in noises.items():
            grain = grains.grain(scope) if grains else None
            counts = exact[scope] if grain is None else coarse(exact[scope], grain)
            self.tables.append(Noted(scope, noise.add(counts), noise, grain))

    def tell_again(self, tables: Sequence[Noted]) -> None:
        """Put tables in the place of the first ones, of which they are what is left without some of the noise."""
        self.earlier, self.tables = self.tables[: len(tables)], [*tables, *self.tables[len(tables) :]]

    @property
    def counted(self) -> list[Counted]:
        """What a law is fitted to."""
        return [one.counted for one in self.tables]

    def document(self, names: Sequence[str]) -> Document:
        """All of it as JSON."""
        far = [{"columns": [names[at] for at in pair], "rows": rows} for pair, rows in self.distances.items()]
        chosen = [[names[at] for at in scope] for scope in self.chosen]
        earlier = {"earlier": [one.document(names) for one in self.earlier]} if self.earlier else {}
        return {
            "tables": [one.document(names) for one in self.tables],
            "distances": far,
            "chosen": chosen,
            **earlier,
        }
