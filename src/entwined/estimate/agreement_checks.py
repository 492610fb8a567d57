"""Parts and wholes, and repeated measurements, that differ by more than their noise: checks on the draws."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from entwined.estimate.agreement import Released, Subject, grouped, reconciliation_of
from entwined.estimate.answers import Contradiction
from entwined.estimate.collected_laws import Noises, collected
from entwined.estimate.contradictions import Check
from entwined.estimate.error_law import ErrorLaw, Weighted
from entwined.estimate.reconciled import Reconciliation
from entwined.queries.predicate import Predicate

MOST_CELLS: Final = 512  # whose distances from their estimates are looked at one by one


def agreement_checks(
    numbers: Sequence[Released], impossible: Sequence[Predicate], wrong: Contradiction
) -> Iterator[Check]:
    """Check that tables of the same rows have equal sums, and that counts are near what all counts together say."""
    yield from _sums(numbers, wrong)
    groups = grouped(numbers, impossible)
    together = [numbers[place] for place in groups.by_atoms]
    if together and sum(released.counting.cells for released in together) <= MOST_CELLS:
        yield from _residuals(together, reconciliation_of(together, impossible), wrong)


def _sums(numbers: Sequence[Released], wrong: Contradiction) -> Iterator[Check]:
    """Compare the sums of tables of the same rows, one after the other."""
    subjects: dict[Subject, list[tuple[float, ErrorLaw]]] = {}
    for released in numbers:
        if released.noise is not None:
            values = np.asarray(released.values, dtype=np.float64)
            law = ErrorLaw((Weighted(1.0, released.noise, values.size),))
            subjects.setdefault(released.subject, []).append((float(values.sum()), law))
    for sums in subjects.values():
        for (total, law), (other, other_law) in pairwise(sums):
            yield from _both_ways(total - other, law + other_law, wrong)


def _residuals(numbers: Sequence[Released], how: Reconciliation, wrong: Contradiction) -> Iterator[Check]:
    """Compare every count with its best estimate from all counts."""
    values = [released.table.values.reshape(-1).astype(float) for released in numbers]
    joined = np.concatenate([values[place] for part in how.parts for place in part.places])
    noises = Noises.of(how.noises)
    own = np.eye(len(how.owners))
    edges = np.cumsum([0, *(how.tables[place].cells for part in how.parts for place in part.places)])
    places = [place for part in how.parts for place in part.places]
    starts = dict(zip(places, edges.tolist(), strict=False))
    for place, weights in enumerate(how.weights()):
        mine = own[starts[place] : starts[place] + how.tables[place].cells] - weights
        laws = collected(how.owners, np.ones(len(how.owners)), mine, noises)
        for residual, law in zip((mine @ joined).tolist(), laws, strict=True):
            yield from _both_ways(residual, law, wrong)


def _both_ways(difference: float, law: ErrorLaw, wrong: Contradiction) -> Iterator[Check]:
    yield Check(difference, law, wrong)
    yield Check(-difference, law, wrong)
