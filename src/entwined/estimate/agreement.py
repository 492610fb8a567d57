"""Which answers of a batch are about the same rows and the same thing, so that they have to agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from entwined.estimate.consistency import Consistent, ConsistentTable, consistent
from entwined.estimate.layout import Layout, NoisyTable
from entwined.estimate.rounding import Loose
from entwined.noise import Additive
from entwined.numbers import IntArray
from entwined.queries.aggregates import Aggregate, Term
from entwined.queries.predicate import Predicate

Subject: TypeAlias = tuple[Predicate, Term | None]  # the rows, and what each adds; None counts them


@dataclass(frozen=True, eq=False, slots=True)
class Released:
    """The released integers of one statistic, last axis fastest; a noise of None marks exact, public ones."""

    aggregate: Aggregate
    noise: Additive | None
    values: Sequence[int] | IntArray

    @property
    def subject(self) -> Subject:
        """What the numbers are about: numbers of one subject have to agree."""
        return self.aggregate.where, self.aggregate.adds

    @property
    def table(self) -> NoisyTable:
        """The numbers as a table; a single number is one without sides."""
        return NoisyTable(Layout(self.aggregate.sides, self.noise), np.asarray(self.values))


def agreed(numbers: Sequence[Released]) -> Consistent:
    """Make all numbers of a batch agree with those of their subject, and give them in the same order."""
    subjects: dict[Subject, list[int]] = {}
    for place, one in enumerate(numbers):
        subjects.setdefault(one.subject, []).append(place)
    tables: dict[int, ConsistentTable] = {}
    loose: list[Loose] = []
    apart: frozenset[str] = frozenset()
    for (_, term), places in subjects.items():
        made = consistent([numbers[place].table for place in places], counts=term is None)
        tables.update(zip(places, made.tables, strict=True))
        loose += [(places[one], places[other], shared) for one, other, shared in made.loose]
        apart |= made.apart
    return Consistent(tuple(tables[place] for place in range(len(numbers))), tuple(loose), apart)
