"""Places that are near: no mechanism with these losses tells two of them further apart, and log odds say no less."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from entwined.bounds import DistanceLoss, bound, certify, verify
from entwined.bounds.choose import named
from entwined.bounds.near_places import NearPlaces
from entwined.dependence import City
from entwined.dependence.places import CityGrid
from entwined.errors import BadLoss, DoesNotApply
from entwined.loss import Loss
from support.distance_sticks import city_joint, reached

GRIDS = {"a street": CityGrid(3, 1, 3.0, 1.0), "a block": CityGrid(2, 2, 2.0, 6.0)}
TIES = {"a pair": (2, [(0, 1)]), "a path": (3, [(0, 1), (2, 1)]), "a circle": (3, [(0, 1), (1, 2), (2, 0)])}


def drawn(rng, shape, grid):
    """A city, and losses of a release in it: along distances, and beside them perhaps."""
    units, ties = TIES[shape]
    kernel = {"nearness": float(rng.uniform(0.05, 1)), "fall": float(rng.uniform(0.5, 4))}
    model = City.of(units, np.array(ties), grid, **kernel)
    rate, besides = (Fraction(str(round(10 ** rng.uniform(-2, 0.3), 3))) for _ in range(2))
    besides *= int(rng.integers(0, 2))
    within = Fraction(int(rng.integers(1, 4)))
    own = rate * Fraction(str(grid.distances().max())) + besides
    return model, NearPlaces(own, rate, besides, within, units)


@pytest.mark.parametrize("shape", TIES)
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_no_mechanism_tells_near_places_further_apart(shape, grid, knowledge):
    """The best likelihoods that the losses allow, by linear programs; whoever may know is given something to know."""
    rng, near = np.random.default_rng(17), []
    for _ in range(6):
        model, release = drawn(rng, shape, grid)
        claimed = bound(model, release, knowledge).leakage.per_unit
        apart = grid.distances()
        joint = city_joint(model.units, TIES[shape][1], (apart + model.nearness) ** -model.fall)
        about = ((apart + model.nearness) ** -model.fall).sum(axis=1)
        for axis in range(model.units):
            ties = sum(axis in tie for tie in TIES[shape][1])
            tilt = 10 ** rng.uniform(-2, 0, grid.cells) if knowledge == "any" else about ** (1.0 - ties)
            joint = joint * tilt.reshape([-1 if place == axis else 1 for place in range(model.units)])
        losses = float(release.rate) * apart + float(release.besides) * (apart > 0)
        pairs = [pair for pair in permutations(range(grid.cells), 2) if apart[pair] <= float(release.within)]
        for unit, pair in [
            (unit, pairs[at]) for unit in range(model.units) for at in rng.integers(0, len(pairs), 2)
        ]:
            most = reached(joint / joint.sum(), [1.0] * model.units, losses, unit, *pair)
            assert most <= claimed[unit] * (1 + 1e-9)
            near.append(most / claimed[unit])
    assert max(near) > 0.35


def test_it_is_the_rate_times_the_distance_and_never_more_than_log_odds_say():
    model = City.of(3, np.array([(0, 1), (1, 2)]), CityGrid(5, 4, 5.0, 4.0))
    for rate in ("0.01", "0.5"):
        each = bound(model, DistanceLoss.uniform(rate, 3)).leakage.worst
        own = Fraction(rate) * 7
        odds = named("message passing")(Loss.uniform(own, 3), model).worst
        for within in (1, 2, 7, 100):
            found = bound(model, NearPlaces.of(rate, own=own, within=within, units=3)).leakage.worst
            assert found == pytest.approx(max(min(min(within, 7) * each, odds), float(own)))


def test_what_is_read_beside_places_pays_for_the_group_or_for_the_shortest_step():
    pair = City.of(2, np.array([(0, 1)]), CityGrid(5, 1, 5.0, 1.0))
    counted = NearPlaces.of(0, own="0.1", besides="0.1", within=1, units=2)
    step = bound(pair, DistanceLoss.uniform("0.1", 2)).leakage.worst
    odds = named("message passing")(Loss.uniform("0.1", 2), pair).worst
    assert bound(pair, counted).leakage.worst == pytest.approx(min(step, 0.2, odds))
    assert bound(pair, counted * 0).leakage.worst == 0


def test_certificates_of_near_places_can_be_checked_again():
    model = City.of(3, np.array([(0, 1), (1, 2)]), CityGrid(3, 2, 3.0, 2.0))
    release = NearPlaces.of("0.2", own=1, besides="0.1", within="1.5", units=3)
    assert NearPlaces.from_document(release.document) == release
    for knowledge, name in (("any", "nearby places"), ("model", "nearby places without knowledge")):
        found = bound(model, release, knowledge)
        assert found.theorem.name == name
        certificate = certify(found).document
        assert verify(certificate).valid
        assert "1.5 apart" in certificate["guarantee"]
        assert any("no further apart than stated" in line for line in certificate["trusted"])
        assert not verify(certificate | {"leakage": certificate["leakage"] * 0.9}).valid


def test_what_cannot_be_is_refused():
    for wrong in ({"within": 0}, {"units": 0}, {"own": "0.01"}, {"rate": -1}):
        with pytest.raises(BadLoss):
            NearPlaces.of(**{"rate": 1, "own": 1, "besides": "0.5", "within": 1, "units": 2} | wrong)
    wide = City.of(2, np.array([(0, 1)]), CityGrid(20, 20))
    with pytest.raises(DoesNotApply, match="larger cells"):
        named("nearby places without knowledge")(NearPlaces.of(1, own=2, within=1, units=2), wide)
