"""A tree or network learned from the private rows themselves, with a budget: charged before a row is read.

Half of the budget or so goes to the structure, by the exponential mechanism, and the rest to the tables of each
column with its parents, released with noise through the door. Both charges are base losses like any other, so a
release after it pays for them once, together with its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any, Final
from uuid import uuid4

import numpy as np

from entwined.dependence import Box, LearnedFrom
from entwined.door.door import Door
from entwined.errors import Refused
from entwined.learning.models import SMOOTHING, Learned, as_network, chance_intervals, chances
from entwined.learning.origin import charged_to, learned_model
from entwined.mechanisms.asked import Added
from entwined.mechanisms.batch import Batch, plan_batch
from entwined.mechanisms.parents import Parents
from entwined.mechanisms.structure_search import StructureSearch
from entwined.noise import Additive
from entwined.noise.lattice import probability
from entwined.numbers import IntArray, positive_fraction
from entwined.promise.price import Price
from entwined.promise.promise import Promise
from entwined.queries import Marginal
from entwined.queries.query import MOST_CELLS
from entwined.request.verbs import release_batch
from entwined.schema import Coded, Schema

SURE: Final = Fraction(19, 20)


@dataclass(frozen=True, slots=True)
class Budget:
    """Base losses for learning: of all choices of parents together, and of all tables together.

    With unit cells they are the losses of the column that loses most.
    """

    structure: Fraction
    tables: Fraction

    @classmethod
    def of(cls, structure: str | float | Fraction, tables: str | float | Fraction) -> "Budget":
        """Read both exactly."""
        return cls(positive_fraction(structure, "Structure loss"), positive_fraction(tables, "Tables loss"))


@dataclass(frozen=True, eq=False)
class NoisyTables:
    """What was learned with a budget: parents and noisy counts of each column with them, and the noise.

    `agreed` are the same counts after they were made to agree with each other and none is negative.
    """

    names: tuple[str, ...]
    parents: Parents
    counts: tuple[IntArray, ...]
    agreed: tuple[IntArray, ...]
    noise: Additive
    rows: int
    origin: LearnedFrom

    def smoothed(self, added: float | str | Fraction = SMOOTHING) -> Learned:
        """Take the counts that agree with each other, plus `added`: a likely model, trusted as it is."""
        more = float(positive_fraction(added, "Smoothing"))
        tables = [chances(np.maximum(counts, 0), more) for counts in self.agreed]
        return self._learned(tables, f"{more:g} added to every noisy count")

    def with_margin(self, confidence: str | float | Fraction) -> Learned:
        """Take all laws that the noise and the sample leave open, at this confidence for all chances together.

        Half of what may be missed goes to the noise, half to the sample.
        """
        missed = 1 - probability(confidence, "Confidence")
        cells = sum(counts.size for counts in self.counts)
        reach = self.noise.accuracy(missed / (2 * cells))
        boxes = [
            chance_intervals(
                np.maximum(counts - reach, 0), np.maximum(counts + reach, 0), float(missed) / (2 * cells)
            )
            for counts in self.counts
        ]
        return self._learned(boxes, f"intervals of confidence {float(1 - missed):g}")

    def _learned(self, tables: Sequence[Box], how: str) -> Learned:
        model = learned_model(as_network(self.names, self.parents, tables), self.origin)
        return Learned(model, self.origin.table, self.rows, how)


def learn_privately(
    door: Door, budget: Budget, *, parents: int = 1, request: str | None = None, analyst: str = "holder"
) -> NoisyTables:
    """Choose up to `parents` parents for every column, and release its table with them: two mechanisms, two charges.

    Stopped between the two and asked again under the same terms, the structure is found in the ledger and not
    charged again.
    """
    promise, name = door.promise, request or uuid4().hex
    if promise.is_for_one_batch:
        raise Refused(
            "Learning takes two charges, the second chosen by what the first showed, and under a δ a model over the "
            "columns is for one batch. Leave delta out, or learn before a model is declared."
        )
    measure = promise.measure
    search = StructureSearch.of(
        promise, parents, measure.largest(budget.structure), _noise_scale(promise.schema, budget)
    )
    rehearsed_noise(promise, budget)
    chosen = door.admit(search, request=f"{name}-structure", analyst=analyst).output
    names = [column.name for column in search.columns]
    asked = [Marginal(tuple(names[at] for at in (*each, place))) for place, each in enumerate(chosen)]
    batch = plan_batch(promise, asked, loss=budget.tables)
    released = release_batch(door, batch, asked, request=f"{name}-tables", analyst=analyst)
    answers = [released.of(query) for query in asked]
    shapes = [[search.search.sizes[at] for at in (*each, place)] for place, each in enumerate(chosen)]
    drawn = _shaped([one.numbers[0] for one in answers], shapes)
    agreed = _shaped([one.value for one in answers], shapes)
    return NoisyTables(
        tuple(names), chosen, drawn, agreed, _widest(batch), _rows(promise, agreed), charged_to(door.ledger)
    )


def price_of(promise: Promise, budget: Budget, parents: int = 1) -> Price:
    """Bound what learning costs, if all losses of the tables fall together."""
    measure = promise.measure
    both = measure.largest(budget.structure) + measure.largest(budget.tables)
    search = StructureSearch.of(promise, parents, both, _noise_scale(promise.schema, budget))
    return promise.price({part.key: part for part in search.parts(promise)})


def rehearsed_noise(promise: Promise, budget: Budget) -> Additive:
    """Plan tables such as a search may end with, and give their noise; refuse what could not be released after it."""
    columns = [column for column in promise.schema.columns if isinstance(column, Coded)]
    names, sizes = [column.name for column in columns], sorted(column.size for column in columns)
    if prod(sizes[-2:]) > MOST_CELLS:
        raise Refused(
            f"Two columns have {prod(sizes[-2:]):,} values together, over {MOST_CELLS:,}: their table could not be "
            "released. Declare bands, or leave a column out of the schema."
        )
    tables = [Marginal(tuple(names[:1])), *(Marginal(pair) for pair in pairwise(names))]
    noise = _widest(plan_batch(promise, tables, loss=budget.tables))
    within, rows = noise.half_width(SURE), promise.schema.rows_at_most
    if within >= rows:
        raise Refused(drowned(within, rows))
    return noise


def drowned(within: float, rows: int) -> str:
    """Say that noise is above all that can be counted."""
    return (
        f"Every count would have noise of ± {within:,.0f}, and the table has at most {rows:,} rows: nothing would be "
        "learned. Spend more, or declare fewer columns."
    )


def _widest(batch: Batch) -> Additive:
    noises = [one.law for one in batch.statistics if isinstance(one, Added)]
    if not noises:
        raise Refused("Every column is public, so nothing needs a budget. Learn from the table as it is.")
    return max(noises, key=lambda law: law.scale)


def _noise_scale(schema: Schema, budget: Budget) -> Fraction:
    """Say how noisy the tables will be if all their losses add up."""
    return 2 * sum(isinstance(column, Coded) for column in schema.columns) / budget.tables


def _shaped(numbers: Sequence[Any], shapes: Sequence[Sequence[int]]) -> tuple[IntArray, ...]:
    return tuple(
        np.array(one, dtype=np.int64).reshape(shape) for one, shape in zip(numbers, shapes, strict=True)
    )


def _rows(promise: Promise, agreed: Sequence[IntArray]) -> int:
    """The number of rows, as public or as released."""
    public = None if promise.kept else promise.schema.rows
    return int(agreed[0].sum()) if public is None else public
