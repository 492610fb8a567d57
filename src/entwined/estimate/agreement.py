"""Which answers of a batch have to agree, and how they are made to.

Counts and tables of counts agree whatever their conditions, through the atoms of all of these. Where all count the
same rows, and for totals, the closed form over tables of one condition does it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TypeAlias

import numpy as np

from entwined.estimate.atoms import Counting, has_empty_cells
from entwined.estimate.collected_laws import Laws
from entwined.estimate.consistency import Consistent, ConsistentTable, consistent, error_laws, refuse_large
from entwined.estimate.kept_together import kept_together
from entwined.estimate.layout import Layout, NoisyTable
from entwined.estimate.reconciled import Reconciliation, reconciliation
from entwined.estimate.rounding import Loose
from entwined.noise import Additive
from entwined.numbers import IntArray
from entwined.queries.aggregates import Aggregate
from entwined.queries.axes import Term
from entwined.queries.predicate import Predicate, nothing

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

    @property
    def counting(self) -> Counting:
        """The rows that are counted, and in which cells."""
        return Counting(self.subject[0], self.table.layout.axes)


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which numbers are made to agree with each other, by their places.

    Those in `by_atoms` agree with each other whatever their conditions. Every other group has numbers of one subject,
    which agree among themselves. `alone` has the counts that should agree with more than that, and are too many.
    """

    by_atoms: tuple[int, ...]
    by_subject: tuple[tuple[int, ...], ...]
    alone: tuple[int, ...]


def grouped(
    numbers: Sequence[Released], impossible: Sequence[Predicate] = (), *, always_by_atoms: bool = False
) -> Grouping:
    """Put numbers together that have to agree; only public facts decide, never a released number.

    Counts of one subject need no atoms, unless they are wanted always.
    """
    ruled_out = reduce(or_, impossible, nothing())
    counts: dict[Predicate, list[int]] = {}
    sums: dict[Subject, list[int]] = {}
    for place, one in enumerate(numbers):
        where, term = one.subject
        if term is None:
            counts.setdefault(where | ruled_out, []).append(place)
        else:
            sums.setdefault(one.subject, []).append(place)
    subjects = tuple(tuple(places) for places in counts.values())
    by_sums = tuple(map(tuple, sums.values()))
    tables = {place: numbers[place].counting for places in subjects for place in places}
    full = [Counting(table.where - ruled_out, table.axes) for table in tables.values()]
    if len(subjects) <= 1 and not always_by_atoms and not any(map(has_empty_cells, full)):
        return Grouping((), subjects + by_sums, ())
    kept = kept_together(subjects, tables, tuple(impossible))
    left = tuple(places for places in subjects if places not in kept)
    together = tuple(sorted(place for places in kept for place in places))
    return Grouping(together, left + by_sums, tuple(place for places in left for place in places))


def agreed(
    numbers: Sequence[Released], impossible: Sequence[Predicate] = (), most: int | None = None
) -> Consistent:
    """Make all numbers of a batch agree with those they have to, and give them in the same order.

    No count is above `most`, the number of rows that there are at most.
    """
    groups = grouped(numbers, impossible)
    tables: dict[int, ConsistentTable] = {}
    loose: list[Loose] = []
    apart: frozenset[str] = frozenset()
    for places in groups.by_subject:
        found = [numbers[place].table for place in places]
        made = consistent(found, counts=numbers[places[0]].subject[1] is None, most=most)
        tables.update(zip(places, made.tables, strict=True))
        loose += [(places[one], places[other], shared) for one, other, shared in made.loose]
        apart |= made.apart
    through = _through_atoms([numbers[place] for place in groups.by_atoms], groups.by_atoms, impossible, most)
    tables.update(through)
    return Consistent(
        tuple(tables[place] for place in range(len(numbers))), tuple(loose), apart, groups.alone
    )


def agreed_laws(numbers: Sequence[Released], impossible: Sequence[Predicate] = ()) -> list[Laws]:
    """Give the laws of the errors of all numbers once they agree; the numbers themselves do not matter."""
    groups = grouped(numbers, impossible)
    found: dict[int, Laws] = {}
    for places in groups.by_subject:
        laws = error_laws(tuple(numbers[place].table.layout for place in places))
        found.update(
            (place, (kinds.reshape(-1), some)) for place, (kinds, some) in zip(places, laws, strict=True)
        )
    if groups.by_atoms:
        how = reconciliation_of([numbers[place] for place in groups.by_atoms], impossible)
        found.update(zip(groups.by_atoms, how.laws, strict=True))
    return [found[place] for place in range(len(numbers))]


def _through_atoms(
    numbers: Sequence[Released],
    places: Sequence[int],
    impossible: Sequence[Predicate],
    most: int | None,
) -> Iterator[tuple[int, ConsistentTable]]:
    """Make counts and tables agree whatever their conditions."""
    if not numbers:
        return
    given = [one.table for one in numbers]
    refuse_large(given)
    how = reconciliation_of(numbers, impossible)
    values = [table.values.reshape(-1).astype(float) for table in given]
    estimates = how.estimates([value[None] for value in values])
    found = zip(places, given, estimates, how.whole(values, most), how.laws, strict=True)
    for place, table, estimate, whole, (kinds, laws) in found:
        shape = table.layout.shape
        both = estimate[0].reshape(shape), whole.numbers.reshape(shape)
        law = kinds.reshape(shape), laws
        yield place, ConsistentTable(table.layout, *both, True, *law, whole.shrinkage)  # noqa: FBT003  (they are counts)


def reconciliation_of(numbers: Sequence[Released], impossible: Sequence[Predicate]) -> Reconciliation:
    """Prepare counts to be reconciled through their atoms."""
    tables, noises = (one.counting for one in numbers), (one.noise for one in numbers)
    return reconciliation(tuple(tables), tuple(noises), tuple(impossible))
