"""Places of people at the door: what leaks between two places that are near, from all that was released."""

from typing import Final

import numpy as np

from entwined.bounds.distance_loss import DistanceLoss
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.near_places import NearPlaces
from entwined.bounds.places import places_messages_bound, places_transport_bound
from entwined.bounds.theorem import Secret, Theorem, theorem
from entwined.dependence.city import City
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, float_above, round_up, round_up_float

NEAR_EACH_OTHER: Final = Secret(
    between="any two places, no further apart than stated, of any one unit",
    trusted="Secrets are pairs of places no further apart than stated, along the streets of the grid and between the "
    "middles of its cells: of two that are further apart no more is promised than that the leakages of steps from the "
    "one to the other add up, and two places in one cell are one.",
)
MOST_CELLS: Final = 100  # beyond it linear programs take long, and a release asks many
THE_REST: Final = (
    "Given its place, what else a unit holds, whether it is there and whether its place is missing say nothing about "
    "the places of others; which of them are missing says nothing about any place."
)


@theorem("any", secret=NEAR_EACH_OTHER, trusted=THE_REST)
def nearby_places_bound(release: NearPlaces, model: City) -> Leakage:
    """Bound what a release leaks between two places of a unit that are near each other.

    Theorem. Let the law of people's cells be as in the theorem "places messages". Let the loss of a release fall in two
    parts: λ for each unit of distance between two cells of a unit, with nothing else of a unit but its cell, and ε'
    for any change of a unit; let ε be the loss of any change of a unit to both. Let Λ_i(λ) be what "places messages"
    gives for each unit of distance, C_i what "message passing" gives for losses ε, m_i the number of units that hang
    together with i, and s the shortest distance of two cells. For two cells of unit i at a distance of at most r,
    whatever is known of other units one by one, the leakage is at most the smallest of r Λ_i(λ) + m_i ε', of
    r Λ_i(λ + ε'/s) and of C_i. It is never taken for less than ε.

    Checked. As for the two theorems that it rests on. No distance is taken for longer than the city, and every
    operation is rounded up.

    Trusted. The true law is the model. What the adversary knows of several other units together, such as whether two of
    them are at the same place, is not covered.

    Proof. Given the cells of all units the chance of what was released is a product of the chances of its answers, each
    given those before. Averaged over what else the units hold, which given its cell depends on no other unit, the
    answers of the first part keep their factor, for they read cells alone, and change it by at most e^{λd} where a unit
    moves by d; those of the second change theirs by at most e^{ε'}. Given unit i's cell, only the m_i units that hang
    together change their law, and whatever these are, the second factor is between some c and c e^{m_i ε'}. Let it be
    the largest in the average given one cell and the smallest in the average given the other: what is left is the
    first, of which r Λ_i(λ) bounds the ratio. Different cells are at least s apart, so the second factor too changes
    by at most e^{d ε'/s}: all in all the loss is λ + ε'/s for each unit of distance. And any two cells at all are told
    apart by at most C_i.

    Source. New here, after the theorem "places messages".
    """
    return _leakage(release, model, (places_messages_bound,))


@theorem("model", secret=NEAR_EACH_OTHER, trusted=THE_REST)
def nearby_places_without_knowledge_bound(release: NearPlaces, model: City) -> Leakage:
    """Bound what a release leaks between two near places of a unit to one who knows no places.

    Theorem. As the theorem "nearby places", for ties that are a forest and an adversary who knows nobody's place, with
    Λ_i the smaller of what "places transport" and "places messages" give for each unit of distance.

    Checked. Ties are a forest, and what the theorems check that it rests on. It is not asked of cities with very many
    cells, where linear programs take minutes: what is proved of whoever knows anything holds there too.

    Trusted. The adversary knows nobody's place: one who does can learn more. The true law is the model: along every tie
    places follow the kernel in both directions.

    Proof. That of the theorem "nearby places", with nothing known.

    Source. New here, after the theorem "places transport".
    """
    if model.grid.cells > MOST_CELLS:
        raise DoesNotApply(
            f"What a kernel over {model.grid.cells:,} cells carries on takes minutes to work out; {MOST_CELLS:,} are "
            "the most here. Take larger cells."
        )
    return _leakage(release, model, (places_transport_bound, places_messages_bound))


def _leakage(release: NearPlaces, model: City, theorems: tuple[Theorem, ...]) -> Leakage:
    if not release.own:
        return Leakage(np.zeros(model.units))
    own, besides = float_above(release.own), float_above(release.besides)
    far = min(float_above(release.within), longest(model))
    together = model.group_totals(Loss.uniform(1, model.units))
    found = round_up(far * _rates(release, model, theorems, besides=False) + together * besides, 8)
    if release.besides:
        found = np.minimum(found, round_up(far * _rates(release, model, theorems, besides=True), 4))
    found = np.minimum(found, message_passing_bound(Loss.uniform(release.own, model.units), model).per_unit)
    return Leakage(np.maximum(found, own))


def _rates(release: NearPlaces, model: City, theorems: tuple[Theorem, ...], *, besides: bool) -> FloatArray:
    """What leaks for each unit of distance: of what moves with it, or of all that was released."""
    if not besides and not release.rate:
        return np.zeros(model.units)
    shown = loss_by_distance(release, model) if besides else DistanceLoss.uniform(release.rate, model.units)
    return np.asarray(np.minimum.reduce([one(shown, model).per_unit for one in theorems]))


def loss_by_distance(release: NearPlaces, model: City) -> DistanceLoss:
    """All that was released as a loss by distance: any change of a place is one by the shortest distance at least."""
    shortest = float_above(release.besides) / step(model)
    return DistanceLoss.uniform(round_up_float(float_above(release.rate) + shortest), model.units)


def longest(model: City) -> float:
    """How far two places of a city are apart at most."""
    return float(model.grid.distances().max())


def step(model: City) -> float:
    """How far two cells of a city are apart at least."""
    distances = model.grid.distances()
    return float(distances[distances > 0].min()) if model.grid.cells > 1 else float("inf")
