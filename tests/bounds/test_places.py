"""Leakage by distance in a city: never below what a mechanism reaches, reached by one friend, and no log odds in it."""

import json
from itertools import permutations, product

import numpy as np
import pytest

from entwined.bounds import DistanceLoss, bound, calibrate, carried, certify, verify
from entwined.bounds.carried import proved_ratio, streets_of
from entwined.dependence import City, read_model, write_model
from entwined.dependence.places import CityGrid
from entwined.loss import Loss
from entwined.queries import Histogram
from entwined.request.verbs import plan
from entwined.schema import Integer, Schema
from support.distance_sticks import city_joint, reached

GRIDS = {"a street": CityGrid(3, 1, 3.0, 1.0), "a block": CityGrid(2, 2, 1.0, 3.0)}
TIES = {"a pair": (2, [(0, 1)]), "a path": (3, [(0, 1), (2, 1)]), "a circle": (3, [(0, 1), (1, 2), (2, 0)])}


def city(shape, grid, **kernel):
    units, ties = TIES[shape]
    return City.of(units, np.array(ties), grid, **kernel)


def secrets(model):
    return [(unit, a, b) for unit in range(model.units) for a, b in permutations(range(model.grid.cells), 2)]


@pytest.mark.parametrize("shape", TIES)
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_whatever_is_known_of_single_people_no_more_leaks(shape, grid):
    rng = np.random.default_rng(7)
    for _ in range(4):
        model = city(shape, grid, nearness=float(rng.uniform(0.05, 1)), fall=float(rng.uniform(0.5, 4)))
        rates = 10 ** rng.uniform(-1, 1, model.units)
        claimed = bound(model, DistanceLoss(Loss.of(rates))).leakage.per_unit
        apart = grid.distances()
        joint = city_joint(model.units, TIES[shape][1], model.kernel * model.kernel.sum())
        for axis in range(
            model.units
        ):  # what is known of one person multiplies the law by a weight of the place
            weights = 10 ** rng.uniform(-2, 0, grid.cells) * (rng.random(grid.cells) < 0.8) + 1e-9
            joint = joint * weights.reshape([-1 if place == axis else 1 for place in range(model.units)])
        for unit, a, b in rng.permutation(secrets(model))[:6]:
            assert reached(joint, rates, apart, unit, a, b) <= claimed[unit] * apart[a, b] * (1 + 1e-9)


def symmetric(model):
    """The factor of a tie for which places follow the kernel in both directions."""
    return (model.grid.distances() + model.nearness) ** -model.fall


def chain_of_kernels(shape, model):
    """The law of a tree whose every tie follows the kernel in both directions."""
    units, ties = TIES[shape]
    joint = city_joint(units, ties, symmetric(model))
    base = symmetric(model).sum(axis=1)
    for axis in range(units):
        times = sum(axis in tie for tie in ties) - 1
        joint = joint / (base**times).reshape([-1 if place == axis else 1 for place in range(units)])
    return joint / joint.sum()


@pytest.mark.parametrize("shape", ["a pair", "a path"])
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_to_one_who_knows_no_place_no_more_leaks_and_a_friend_reaches_it(shape, grid):
    rng, near = np.random.default_rng(8), []
    for _ in range(4):
        model = city(shape, grid, nearness=float(rng.uniform(0.05, 1)), fall=float(rng.uniform(0.5, 4)))
        rates = 10 ** rng.uniform(-1.5, 0.7, model.units)
        claimed = bound(model, DistanceLoss(Loss.of(rates)), "model").leakage.per_unit
        apart, joint = grid.distances(), chain_of_kernels(shape, model)
        for axis in range(model.units - 1):
            moved = np.moveaxis(joint, axis, 0).reshape(grid.cells, -1).sum(axis=1)
            assert moved == pytest.approx(symmetric(model).sum(axis=1) / symmetric(model).sum())
        for unit in range(model.units):
            found = [
                reached(joint, rates, apart, unit, a, b) / apart[a, b]
                for who, a, b in secrets(model)
                if who == unit
            ]
            assert max(found) <= claimed[unit] * (1 + 1e-9)
            near.append(max(found) / claimed[unit])
    assert min(near) > (0.97 if shape == "a pair" else 0.9)


def test_who_knows_that_a_friend_is_at_one_of_two_places_reaches_it():
    model, rates = city("a pair", GRIDS["a street"], fall=2.0), [0.7, 0.4]
    claimed = bound(model, DistanceLoss(Loss.of(rates))).leakage.per_unit[0]
    apart, found = model.grid.distances(), 0.0
    for (a, b), (y, z) in product([(0, 1), (1, 0)], permutations(range(3), 2)):
        for weight in np.logspace(-1, 1, 13):
            seen = np.full(3, 1e-12)
            seen[[y, z]] = weight, 1.0
            found = max(found, reached(model.kernel * seen, rates, apart, 0, a, b) / apart[a, b])
    assert 0.98 * claimed < found <= claimed


def test_people_can_be_drawn_where_it_says_they_are():
    model = city("a path", GRIDS["a block"])
    law = model.member()
    assert law.marginal(1, {0: 2}) == pytest.approx(model.kernel[2])
    assert law.marginal(0, {1: 3}) == pytest.approx(model.kernel[3])


def test_ties_that_go_round_have_messages_alone():
    found = bound(city("a circle", GRIDS["a street"]), DistanceLoss.uniform(1, 3), "model")
    assert found.theorem.name == "places messages"
    said = {one.theorem.name: one.why_not for one in found.alternatives}
    assert "circles" in said["places transport"]


def test_log_odds_of_a_city_say_nothing_of_a_step_and_losses_by_distance_do():
    """Equation 26 on 20 × 20 cells, fifty friends: over the whole city everything leaks, for a step hardly anything."""
    friends = np.array([[0, friend] for friend in range(1, 51)])
    model, rate = City.of(51, friends, CityGrid(20, 20)), 0.1
    assert float(model.log_odds[0]) == pytest.approx(4.976, abs=5e-4)
    apart = model.grid.distances()
    over_city = bound(model, Loss.uniform(rate * float(apart.max()), 51)).leakage.worst
    a_step = 0.05 * bound(model, DistanceLoss.uniform(rate, 51)).leakage.worst
    assert over_city == pytest.approx(8.231, rel=1e-3)  # of 9.69, the group
    assert a_step == pytest.approx(0.630, rel=1e-2)


@pytest.mark.slow
def test_what_a_friend_of_equation_26_carries_on():
    pair = City.of(2, np.array([[0, 1]]), CityGrid(20, 20))
    found = [
        bound(pair, DistanceLoss.uniform(rate, 2), "model").leakage.worst / rate for rate in (0.001, 1.0)
    ]
    assert found == pytest.approx([1.34, 1.36], rel=0.02)


def test_whatever_the_solver_says_the_figure_is_proved(monkeypatch):
    """Dual numbers are taken as a suggestion: without any of use the ratio of the laws themselves is left."""
    model = city("a pair", CityGrid(3, 3))
    streets = streets_of(model.grid)
    gains = np.exp(2.0 * streets.lengths)
    laws = model.kernel[0], model.kernel[1]
    proved = proved_ratio(*laws, streets.steps, gains)

    class Wrong:
        class ineqlin:  # noqa: N801  (as scipy calls it)
            marginals = None

    rng = np.random.default_rng(2)
    for marginals in (np.zeros(len(gains)), -rng.random(len(gains)) / 100, np.full(len(gains), np.nan)):
        Wrong.ineqlin.marginals = marginals
        monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: Wrong)
        assert proved_ratio(*laws, streets.steps, gains) >= proved


def test_mirrors_of_a_step_are_one_step():
    assert [len(streets_of(CityGrid(n, n)).told) for n in (2, 3, 4)] == [1, 4, 6]
    assert len(streets_of(CityGrid(4, 4)).steps) == 48
    every = carried.streets_of(CityGrid(3, 2)).told
    assert len(every) == 4


def test_from_a_file_to_a_certificate(tmp_path):
    (tmp_path / "ties.csv").write_text("source,target\nann,bob\nbob,cid\n")
    document = {"kind": "places", "edges": "ties.csv", "across": 4, "down": 3, "width": 8, "height": 6}
    (tmp_path / "city.json").write_text(json.dumps(document))
    model = read_model(tmp_path / "city.json")
    assert (model.units, model.grid, model.nearness) == (3, CityGrid(4, 3, 8.0, 6.0), 0.196)
    for knowledge in ("any", "model"):
        proof = certify(bound(model, DistanceLoss.uniform("0.5", 3), knowledge))
        assert "for each unit of distance between the two places" in proof.document["guarantee"]
        assert verify(json.loads(json.dumps(proof.document)), tmp_path).valid
    write_model(model, tmp_path / "again.json")
    assert read_model(tmp_path / "again.json").document == model.document
    loose = City.of(3, np.array([[0, 1], [1, 2]]), model.grid)
    write_model(loose, tmp_path / "loose.json")
    assert read_model(tmp_path / "loose.json").document == loose.document


def test_a_target_by_distance_is_reached():
    model = city("a path", GRIDS["a street"])
    found = calibrate(model, 1, "model", DistanceLoss.uniform(1, 3))
    assert 0.9 < found.leakage.worst <= 1
    assert bound(model, DistanceLoss.uniform(1, 3)).hints()  # knowing no places helps


def test_at_the_door_it_is_a_graph():
    schema = Schema((Integer("cell", 0, 8),), rows=3).approve()
    model = city("a path", CityGrid(3, 3))
    planned = plan(schema, Histogram("cell"), leakage=1, dependence=model)
    assert (
        planned.promise.bounds(planned.promise.base(planned.charged))["places"].theorem.name
        == "message passing"
    )
