"""Which conditions are reconciled where all together have too many atoms: the largest part that has few enough.

Only public facts decide. Within a component the conditions that read the fewest columns and have the fewest cells
come first, and as many of them are kept as go together; numbers of one condition are never parted.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from entwined.errors import QueryTooComplex
from entwined.estimate.atoms import Counting, atoms_of, components
from entwined.estimate.projection import MOST_CELLS
from entwined.queries.predicate import Predicate

KEPT: Final = 32  # choices that are remembered
Subject: TypeAlias = tuple[int, ...]  # the places of numbers of one condition


def kept_together(
    subjects: Sequence[Subject], tables: Mapping[int, Counting], impossible: tuple[Predicate, ...]
) -> frozenset[Subject]:
    """Choose the conditions whose numbers are made to agree with each other."""
    return _kept(tuple(subjects), tuple(tables.items()), impossible)


@lru_cache(maxsize=KEPT)
def _kept(
    subjects: tuple[Subject, ...],
    counted: tuple[tuple[int, Counting], ...],
    impossible: tuple[Predicate, ...],
) -> frozenset[Subject]:
    """Choose once for all releases of a batch."""
    tables = dict(counted)
    places = list(tables)
    owner = {place: subject for subject in subjects for place in subject}
    kept = set(subjects)
    found = components(list(tables.values()), impossible)
    meeting = dict.fromkeys(frozenset(owner[places[number]] for number in part.places) for part in found)
    for mine in meeting:  # components of the same conditions are looked at once
        if _goes(mine, tables, impossible):
            continue
        order = sorted(mine, key=lambda subject: _simplest_first(subject, tables))
        fits, too_many = 0, len(order)
        while too_many - fits > 1:
            middle = (fits + too_many) // 2
            fits, too_many = (
                (middle, too_many) if _goes(order[:middle], tables, impossible) else (fits, middle)
            )
        kept -= set(order[fits:])
    return frozenset(kept)


def _simplest_first(subject: Subject, tables: Mapping[int, Counting]) -> tuple[int, int, str]:
    mine = [tables[place] for place in subject]
    columns = frozenset().union(*(table.columns for table in mine))
    return len(columns), sum(table.cells for table in mine), mine[0].where.text


def _goes(
    subjects: Sequence[Subject] | frozenset[Subject],
    tables: Mapping[int, Counting],
    impossible: tuple[Predicate, ...],
) -> bool:
    """Say whether numbers can be made to agree through their atoms."""
    places = sorted(place for subject in subjects for place in subject)
    found = [tables[place] for place in places]
    for part in components(found, impossible):
        mine = tuple(found[number] for number in part.places)
        if sum(table.cells for table in mine) > MOST_CELLS:
            return False
        try:
            atoms_of(mine, part.impossible)
        except QueryTooComplex:
            return False
    return True
