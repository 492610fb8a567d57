"""Persons or households: what noise each way of releasing takes, at the same leakage about any one person.

Both ways promise the same to somebody who knows all that members of a household have to do with each other, households
being independent: either a person's loss is so small that those of a whole household amount to no more than the leakage
(`Groups`), or one loss is spent on the household as a unit. In between stands a random field: if any two members'
answers have log odds of at most λ, less of a person shows in the others, and persons need less noise than for anything.
Nothing here reads a row, so all of it may be published.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, Final, NamedTuple

from entwined.canonical import Document
from entwined.dependence import Groups, RandomField
from entwined.dependence.random_field import Edge
from entwined.mechanisms.fitting import fitted_parts, losses, worst_change
from entwined.mechanisms.households.household_tables import HouseholdTables
from entwined.mechanisms.households.masses import counted, parts_of
from entwined.mechanisms.households.seating import COMPOSITION, Seating, Sides
from entwined.mechanisms.marginals.relations import NOISE_OF_A_CELL
from entwined.mechanisms.marginals.synthesis import Synthesis
from entwined.mechanisms.offered import settled
from entwined.noise import Additive
from entwined.numbers import Amount, positive_fraction
from entwined.promise.declared import Declared
from entwined.promise.judge import Judge
from entwined.promise.measure import measure_of
from entwined.promise.promise import Promise
from entwined.queries import Statistic
from entwined.queries.seats import HEAD, Seats
from entwined.schema import Rows, Schema

ODDS: Final = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)
CONFIDENCE: Final = Fraction(19, 20)
YES_OR_NO: Final = 2
HARDLY_LESS: Final = 0.99
OF_A_TABLE: Final = ("bins", "impossible", "texts")


class CellNoise(NamedTuple):
    """How far noise moves one count: its deviation, and how near the truth is in 95 cases of 100."""

    deviation: float
    half_width: float

    def misplaced(self, cells: int) -> float:
        """How many noise puts in a wrong cell of a table, on average."""
        return NOISE_OF_A_CELL * self.deviation * cells / 2


class TableBothWays(NamedTuple):
    """One table asked for alone: its noise where persons are released, and where households are; None where none is."""

    title: str
    cells: int
    persons: CellNoise | None
    households: CellNoise | None


class OddsLine(NamedTuple):
    """The loss of a person, and the noise of a table of all persons, where log odds are at most so much."""

    odds: float
    loss: float
    noise: CellNoise


@dataclass(frozen=True, slots=True)
class HouseholdComparison:
    """What both ways cost at one leakage."""

    leakage: float
    largest: int
    persons: Promise
    households: Promise
    lines: tuple[TableBothWays, ...]
    odds: tuple[OddsLine, ...]
    loss_of_a_person: float
    loss_of_a_household: float
    tables: tuple[Synthesis, HouseholdTables]

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a manager reads."""
        everyone, head = self.lines[0], next(one for one in self.lines if one.title.startswith("head."))
        less = _of(everyone.persons) / _of(head.households)
        kinds = "heads, partners or children" if self._seats.role else "the first member of every household"
        both = (
            f"Both ways leak at most {self.leakage:g} about anybody, also to somebody who knows all that members of a "
            f"household of up to {self.largest} have to do with each other."
        )
        same = (
            f"To count all persons costs the same: ± {_near(everyone.persons)} persons in a cell if persons are "
            f"released, ± {_near(everyone.households)} if households are."
        )
        fewer = (
            f"To count {kinds} takes {less:.3g} times less noise if households are released (± "
            f"{_near(head.households)} instead of ± {_near(head.persons)}): a household counts as one, however large."
        )
        alone = (
            "Who lives with whom can be told by households alone: sizes, ages of couples, of parents and children. "
            "Persons that are released one by one have no household."
        )
        return both, same, fewer, alone, self._vouched(_of(everyone.persons))

    def _vouched(self, persons: float) -> str:
        """Say when persons are the better way."""
        weak = max(
            (one.odds for one in self.odds if one.noise.deviation < HARDLY_LESS * persons), default=None
        )
        if weak is None:
            return "Even if members have nothing to do with each other, persons need as much noise as this."
        return (
            f"If it can be vouched for that any two members' answers have log odds of at most {weak:g}, persons need "
            "less noise than this, and for tables of all persons they are the better way; the log odds say by how much."
        )

    @property
    def _seats(self) -> Seats:
        return self.tables[1].seating.seats

    @property
    def document(self) -> Document:
        """All of it as JSON."""
        return {
            "format": "entwined households compared, publishable 1",
            "from": "the schema and the noise alone; no row was read",
            "leakage": self.leakage,
            "largest": self.largest,
            "loss_of_a_person": self.loss_of_a_person,
            "loss_of_a_household": self.loss_of_a_household,
            "sentences": list(self.sentences),
            "tables": [
                {
                    "table": one.title,
                    "cells": one.cells,
                    "persons": None if one.persons is None else one.persons._asdict(),
                    "households": None if one.households is None else one.households._asdict(),
                }
                for one in self.lines
            ],
            "log_odds": [
                {"at_most": one.odds, "loss_of_a_person": one.loss, **one.noise._asdict()}
                for one in self.odds
            ],
        }


def compared_ways(
    schema: Schema, given: Mapping[str, Any], leakage: Amount, delta: Amount | None = None
) -> HouseholdComparison:
    """Compare both ways for a schema that protects households, and the fields of a file that asks for them."""
    allowed = positive_fraction(leakage, "Leakage")
    measure = measure_of(delta)
    households = Promise.of(schema, measure=measure)
    by_household = settled(HouseholdTables, households, given, leakage=allowed)
    seating = by_household.seating
    by_row = replace(schema, unit=Rows(), approved_digest="", signature=None).approve()
    groups = Declared(Groups(largest=seating.seats.most), by=seating.seats.by)
    persons = Promise.of(by_row, groups, measure=measure)
    of_rows = {key: given[key] for key in OF_A_TABLE if key in given}
    of_rows["columns"] = list(seating.domain.names)
    by_person = settled(Synthesis, persons, of_rows, leakage=allowed)
    every = seating.domain.counted((widest(seating),), by_row)
    return HouseholdComparison(
        float(allowed),
        seating.seats.most,
        persons,
        households,
        tuple(_lines(persons, households, seating, allowed)),
        tuple(_at_odds(persons, every, odds, allowed) for odds in ODDS),
        float(persons.price({one.key: one for one in by_person.parts(persons)}).nominal),
        float(households.price({one.key: one for one in by_household.parts(households)}).nominal),
        (by_person, by_household),
    )


def _lines(persons: Promise, households: Promise, seating: Seating, leakage: Fraction) -> list[TableBothWays]:
    """Every kind of table once, asked for alone: of all persons, of members, of two of them, of households."""
    at = widest(seating)
    name, cells = seating.domain.names[at], seating.domain.sizes[at]
    of_all = seating.domain.counted((at,), persons.schema)
    by_one = _noise(persons, of_all, leakage, 1)
    counted_all = seating.domain.counted((at,), households.schema)
    home = _noise(households, counted(seating), leakage, parts_of(seating))
    found = [
        TableBothWays(f"{name} of all persons", cells, by_one, _noise(households, counted_all, leakage, 1))
    ]
    found += [
        TableBothWays(seating.name((kind, at)), cells, by_one, home) for kind in range(seating.seats.kinds)
    ]
    pairs: list[Sides] = [((HEAD, at), (kind, at)) for kind in range(1, seating.seats.kinds)]
    for sides in (*pairs, (COMPOSITION,)):
        title = " × ".join(map(seating.name, sides))
        found.append(TableBothWays(title, math.prod(map(seating.size, sides)), None, home))
    return found


def widest(seating: Seating) -> int:
    """The column with most cells that heads and others have of their own: what goes together at home is told by it."""
    own = set(seating.columns(HEAD)).intersection(*map(seating.columns, range(1, seating.seats.kinds)))
    return max(own or seating.columns(HEAD), key=lambda at: (seating.domain.sizes[at], -at))


def _noise(promise: Promise, statistic: Statistic, leakage: Fraction, parts: int) -> CellNoise:
    """The noise of one statistic that may leak all of it."""
    each, _, _ = fitted_parts(
        promise, lambda one: losses(promise, [(statistic, Fraction(1))], one), leakage, None
    )
    return _of_law(promise.measure.added(each, worst_change(promise, statistic)), parts)


def _of_law(noise: Additive, parts: int) -> CellNoise:
    return CellNoise(math.sqrt(noise.variance) / parts, float(noise.half_width(CONFIDENCE)) / parts)


def _at_odds(persons: Promise, statistic: Statistic, odds: float, leakage: Fraction) -> OddsLine:
    """What persons need if members of a household are a random field of yes and no with such log odds."""
    most = persons.declared[0].most
    judge = Judge(_field(most, odds), persons.knowledge, ())
    base = persons.base(losses(persons, [(statistic, Fraction(1))], Fraction(1)))
    alone = persons.measure.largest(leakage) / base.replace
    exposed = persons.measure.exposure((base.replace * alone,), most)
    each = alone * Fraction(judge.largest(exposed, leakage))
    noise = persons.measure.added(each, worst_change(persons, statistic))
    return OddsLine(odds, float(persons.measure.epsilon(each * base.replace)), _of_law(noise, 1))


def _field(members: int, odds: float) -> RandomField:
    """Every two members with the same log odds between their answers."""
    alike = math.exp(odds / 2)
    names = [f"member {at}" for at in range(1, members + 1)]
    edges = [Edge(pair, [[alike, 1.0], [1.0, alike]]) for pair in combinations(names, 2)]
    return RandomField.of(dict.fromkeys(names, YES_OR_NO), edges)


def _of(noise: CellNoise | None) -> float:
    return math.inf if noise is None else noise.deviation


def _near(noise: CellNoise | None) -> str:
    return "–" if noise is None else f"{noise.half_width:,.3g}"
