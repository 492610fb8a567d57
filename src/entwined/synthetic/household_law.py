"""The law of synthetic households: a tree by seats, each column given its relatives, fitted to what was released.

A column that hangs on two others is fitted to its tables with both, and to how often these two come together in
households that are drawn meanwhile, so that both tables come out as they were released.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from entwined.dependence.luck import made_up_luck
from entwined.errors import BadInput
from entwined.mechanisms.degrees import nearest_counts
from entwined.mechanisms.households.household_rules import HouseholdRules
from entwined.mechanisms.households.relatives import is_within
from entwined.mechanisms.households.released import NoisyHouseholds
from entwined.mechanisms.households.seating import COMPOSITION, Place, Seating, Sides
from entwined.mechanisms.marginals.agreement import Counted
from entwined.mechanisms.marginals.law import fitted
from entwined.numbers import FloatArray, IntArray
from entwined.schema import Schema
from entwined.synthetic.household_draws import Bounds, Drawn, Hanging, evenly

PILOT: Final = 20_000
MOST_TRIES: Final = 100
SURE: Final = 0.5  # the deviation of how often relatives come together, in those of what was released
UNKEPT: Final = "The rules leave hardly any household that could be. Allow more of them."


@dataclass(frozen=True, slots=True, eq=False)
class HouseholdLaw:
    """Compositions with their chances, then places in the order in which they are drawn."""

    seating: Seating
    bounds: Bounds
    chances: FloatArray
    places: tuple[Hanging, ...]

    def drawn(self, households: int) -> list[Drawn]:
        """Draw so many households that keep all rules; those that could not be are drawn again."""
        found: list[Drawn] = []
        luck = made_up_luck()
        for _ in range(MOST_TRIES):
            one = _begun(self.seating, self.chances, households, luck)
            for hanging in self.places:
                _next(one, hanging, self.bounds, luck)
            _last(one)
            found.append(one)
            households = int(one.barred.sum())
            if not households:
                return found
        raise BadInput(UNKEPT)


def law_of(released: NoisyHouseholds, rules: HouseholdRules, schema: Schema) -> HouseholdLaw:
    """Fit the law, one place after another, while households are drawn by it."""
    seating, luck = released.seating, made_up_luck()
    merged = _merged(released)
    bounds = Bounds(seating, rules, rules.rows.empty(seating.domain, schema))
    chances = nearest_counts(merged[COMPOSITION,].counts.astype(float))
    chances = chances if chances.sum() > 0 else np.ones(len(chances))
    pilot = _begun(seating, chances, PILOT, luck)
    places = []
    for place, own, home in _order(seating, tuple(merged)):
        table = _given(merged, seating, pilot, (place, own, home))
        hanging = Hanging(place, own, home, table)
        _next(pilot, hanging, bounds, luck)
        places.append(hanging)
    return HouseholdLaw(seating, bounds, chances, tuple(places))


def _begun(seating: Seating, chances: FloatArray, households: int, luck: np.random.Generator) -> Drawn:
    """Draw compositions, about as often as they should come."""
    even = evenly(np.zeros(households, np.int64), 1, luck)
    sums = np.cumsum(chances)
    found = np.searchsorted(sums, even * sums[-1], side="right")
    return Drawn(seating, np.minimum(found, int(np.flatnonzero(chances)[-1])).astype(np.int64))


def _next(drawn: Drawn, hanging: Hanging, bounds: Bounds, luck: np.random.Generator) -> None:
    """Draw one more place; whoever comes after the head knows first what all share."""
    kind = hanging.place[0]
    if not any(place[0] == kind and place[1] in drawn.seating.columns(kind) for place in drawn.cells):
        drawn.shared(kind)
    bounds.draw(drawn, hanging, luck)


def _last(drawn: Drawn) -> None:
    """Let kinds of which nothing had to be drawn know what all share."""
    for kind in range(1, drawn.seating.seats.kinds):
        drawn.shared(kind)


def _order(seating: Seating, several: tuple[Sides, ...]) -> Iterator[tuple[Place, int | None, Place | None]]:
    """Give every place with the column and the place outside that it hangs on, these always before it."""
    outside = {sides[1]: sides[0] for sides in several if len(sides) > 1 and not is_within(sides)}
    edges: dict[Place, list[Place]] = {}
    for one, two in (sides for sides in several if is_within(sides)):
        edges.setdefault(one, []).append(two)
        edges.setdefault(two, []).append(one)
    for kind in range(seating.seats.kinds):
        seen: set[Place] = set()
        roots = sorted(((kind, at) for at in seating.columns(kind)), key=lambda one: one not in outside)
        for root in roots:
            queue: list[tuple[Place, int | None]] = [(root, None)] if root not in seen else []
            for place, own in queue:  # it grows while it is walked along
                seen.add(place)
                yield place, own, outside.get(place)
                queue += [(one, place[1]) for one in edges.get(place, ()) if one not in seen]


def _merged(released: NoisyHouseholds) -> dict[Sides, Counted]:
    """Average tables of the same sides by how precise they are; their scopes are not used."""
    found: dict[Sides, Counted] = {}
    for one in released.tables:
        before = found.get(one.sides)
        if before is None:
            found[one.sides] = Counted((), one.counts, one.deviation)
            continue
        mine, theirs = one.deviation**-2, before.deviation**-2
        mean = (mine * one.counts + theirs * before.counts) / (mine + theirs)
        found[one.sides] = Counted((), mean, (mine + theirs) ** -0.5)
    return found


def _given(
    merged: dict[Sides, Counted],
    seating: Seating,
    pilot: Drawn,
    hangs: tuple[Place, int | None, Place | None],
) -> FloatArray:
    """Fit the law of a place given what it hangs on: own cells × home cells × its cells."""
    place, own, home = hangs
    kind = place[0]
    sizes = (
        1 if own is None else seating.size((kind, own)),
        1 if home is None else seating.size(home),
        seating.size(place),
    )
    alone = merged[place,]
    told = [Counted((2,), alone.counts, alone.deviation)]
    if own is not None:
        told.append(_pair(merged, seating, (kind, own), place, 0))
    if home is not None:
        told.append(_pair(merged, seating, home, place, 1))
    if own is not None and home is not None:
        groups = pilot.groups(Hanging(place, own, home, np.zeros(sizes)))
        seen = np.bincount(groups, pilot.parts(kind), sizes[0] * sizes[1])
        total = max(float(np.sum(alone.counts)), 1.0)
        told.append(Counted((0, 1), seen * total / max(seen.sum(), 1.0), SURE * alone.deviation))
    together: dict[tuple[int, ...], FloatArray] = {
        (0, 1, 2): np.zeros(sizes)
    }  # nothing is barred: all three stand in one table
    law = fitted(told, sizes, never=together)
    joint = law.marginal((0, 1, 2)).reshape(sizes)
    return np.asarray(
        joint + 1e-12 * joint.sum(axis=(0, 1)), float
    )  # who hangs on what never came is like everybody


def _pair(merged: dict[Sides, Counted], seating: Seating, other: Place, place: Place, at: int) -> Counted:
    """A table of two places, that of the one drawn last fastest."""
    if (other, place) in merged:
        found = merged[other, place]
        return Counted((at, 2), found.counts, found.deviation)
    found = merged[place, other]
    turned = np.asarray(found.counts, float).reshape(seating.size(place), seating.size(other)).T
    return Counted((at, 2), np.ascontiguousarray(turned).reshape(-1), found.deviation)


def in_line(several: list[Drawn], at: int) -> tuple[IntArray, IntArray]:
    """Put members in line, household by household and head first: the household's number, and the code of a column."""
    homes, kinds, codes, begun = [], [], [], 0
    for drawn in several:
        numbers = np.cumsum(~drawn.barred) - 1 + begun
        for kind, home in drawn.homes.items():
            kept = ~drawn.barred[home]
            homes.append(numbers[home[kept]])
            kinds.append(np.full(int(kept.sum()), kind))
            codes.append(drawn.codes[kind, at][kept])
        begun += int((~drawn.barred).sum())
    home = np.concatenate(homes)
    order = np.lexsort((np.concatenate(kinds), home))
    return home[order], np.concatenate(codes)[order]
