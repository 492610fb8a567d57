"""Both ways rehearsed on the holder's own rows, without a charge, for the holder's eyes alone.

Persons and households are described and made up as they would be, and held against the rows that they were made of.
Nothing of this may leave: it is written to files that say so in their names and first lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from entwined.canonical import Document
from entwined.learning.codes import Codes
from entwined.mechanisms.households.masses import asked, masses
from entwined.mechanisms.households.seating import COMPOSITION, Seating, Sides
from entwined.mechanisms.marginals.made_up import made_up
from entwined.numbers import FloatArray, IntArray
from entwined.progress import report
from entwined.queries.seats import HEAD
from entwined.synthetic.description import DescribedTable
from entwined.synthetic.holders_rows import cells_of, members_of
from entwined.synthetic.household_comparison import HouseholdComparison, widest
from entwined.synthetic.household_law import in_line
from entwined.synthetic.household_rows import DescribedHouseholds
from entwined.synthetic.inspection import WARNING
from entwined.synthetic.lent_codes import LentCodes
from entwined.synthetic.likeness import all_apart, mean_distance

USUAL_RUNS: Final = 3
PAIR: Final = 2


class FarOff(NamedTuple):
    """How far both ways are from the real rows, as the share that would have to move; None where one cannot tell."""

    title: str
    persons: float | None
    households: float | None


@dataclass(frozen=True, slots=True)
class RehearsedWays:
    """What was measured, the mean of so many runs."""

    comparison: HouseholdComparison
    rows: int
    households: int
    runs: int
    found: tuple[FarOff, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the holder reads first."""
        told = [
            f"{one.title}: {100 * one.persons:.1f} of 100 would have to move if persons are released, "
            f"{100 * one.households:.1f} if households are."
            for one in self.found
            if one.persons is not None and one.households is not None
        ]
        return (
            f"Rehearsed {self.runs} times on {self.rows:,} rows of {self.households:,} households.",
            *told,
        )

    @property
    def document(self) -> Document:
        """All of it as JSON."""
        return {
            "format": "entwined households compared, for the holder only 1",
            "holder_only": WARNING,
            "rows": self.rows,
            "households": self.households,
            "runs": self.runs,
            "share_to_move": [one._asdict() for one in self.found],
        }


def rehearsed(source: Any, comparison: HouseholdComparison, runs: int = USUAL_RUNS) -> RehearsedWays:
    """Run both ways on the holder's rows, some times, and hold what comes out against them."""
    by_person, by_household = comparison.tables
    seating = by_household.seating
    homes, codes = members_of(source, comparison.households.schema, seating.domain.names, seating.seats.by)
    real = LentCodes(seating.domain.names, codes, homes)
    truth = _Truth.of(seating, real)
    found = []
    for turn in range(runs):
        report("rehearsing", turn, runs)
        drawn = by_person.run(real.few(seating.seats.most).read, comparison.persons.schema)
        table = DescribedTable.of(by_person, by_person.output(drawn), comparison.persons.schema)
        persons = made_up(table.law, max(len(codes), 1))
        drawn = by_household.run(real.read, comparison.households.schema)
        described = DescribedHouseholds.of(
            by_household, by_household.output(drawn), comparison.households.schema
        )
        found.append((truth.of_persons(persons), truth.of_households(described)))
    report("rehearsing", runs, runs)
    titles = truth.titles
    means = [
        FarOff(title, _mean([one[0][at] for one in found]), _mean([one[1][at] for one in found]))
        for at, title in enumerate(titles)
    ]
    return RehearsedWays(comparison, len(codes), len(np.unique(homes)), runs, tuple(means))


@dataclass(frozen=True, slots=True, eq=False)
class _Truth:
    """The real rows, and what they say of members who live together."""

    seating: Seating
    people: Codes
    pairs: tuple[Sides, ...]
    tables: tuple[FloatArray, ...]

    @classmethod
    def of(cls, seating: Seating, real: LentCodes) -> "_Truth":
        at = widest(seating)
        pairs: tuple[Sides, ...] = (
            *(((HEAD, at), (kind, at)) for kind in range(1, seating.seats.kinds)),
            (COMPOSITION,),
        )
        return cls(seating, _people(seating, real.codes), pairs, _shares(seating, real, pairs))

    @property
    def titles(self) -> tuple[str, ...]:
        """What is measured."""
        named = (" × ".join(map(self.seating.name, sides)) for sides in self.pairs)
        return ("all persons, one column", "all persons, two columns", *named)

    def of_persons(self, cells: IntArray) -> list[float | None]:
        """How far persons are off; who lives together they do not say, so members are paired by chance."""
        apart: list[float | None] = [*self._of_all(cells)]
        for sides, real in zip(self.pairs, self.tables, strict=True):
            chance = self._by_chance(cells, sides)
            apart.append(None if chance is None else float(np.abs(chance - real).sum() / 2))
        return apart

    def of_households(self, described: DescribedHouseholds) -> list[float | None]:
        """How far households are off."""
        drawn = described.law.drawn(described.households(None))
        columns = [in_line(drawn, at) for at in range(len(self.seating.domain.axes))]
        codes = np.stack([one for _, one in columns], axis=1)
        lent = LentCodes(self.seating.domain.names, codes, columns[0][0])
        mine = _shares(self.seating, lent, self.pairs)
        far = [float(np.abs(one - real).sum() / 2) for one, real in zip(mine, self.tables, strict=True)]
        return [*self._of_all(_cells(self.seating, codes)), *far]

    def _of_all(self, cells: IntArray) -> list[float]:
        people = Codes.of(dict(zip(self.people.names, self.people.sizes, strict=True)), cells)
        ways = range(1, min(PAIR, len(people.names)) + 1)
        return [mean_distance(all_apart(self.people, people, many)) for many in ways] + [0.0] * (
            PAIR - len(ways)
        )

    def _by_chance(self, cells: IntArray, sides: Sides) -> FloatArray | None:
        """What a pair would be if members found each other by chance."""
        role = self.seating.seats.role
        if role is None or len(sides) < PAIR:
            return None
        roles = cells[:, self.seating.domain.names.index(role)]
        laws = []
        for kind, at in sides:
            mine = cells[np.isin(roles, self.seating.open_roles(kind)), at]
            counts = np.bincount(mine, minlength=self.seating.domain.sizes[at]).astype(float)
            laws.append(counts / max(counts.sum(), 1.0))
        return np.asarray(np.outer(*laws), float).reshape(-1)


def _people(seating: Seating, codes: IntArray) -> Codes:
    return Codes.of(
        dict(zip(seating.domain.names, seating.domain.sizes, strict=True)), _cells(seating, codes)
    )


def _cells(seating: Seating, codes: IntArray) -> IntArray:
    return np.stack([cells_of(codes[:, at], axis) for at, axis in enumerate(seating.domain.axes)], axis=1)


def _shares(seating: Seating, lent: LentCodes, several: Sequence[Sides]) -> tuple[FloatArray, ...]:
    """Tables of households as shares of all that are in them."""
    found = lent.read([asked(seating, sides) for sides in several])
    tables = [masses(seating, sides, counts) for sides, counts in zip(several, found, strict=True)]
    return tuple(one / max(float(one.sum()), 1.0) for one in tables)


def _mean(several: Sequence[float | None]) -> float | None:
    told = [one for one in several if one is not None]
    return float(np.mean(told)) if told else None
