"""Places at the door: what is planned tells near places no further apart than its price, and the rest pays in full."""

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from entwined.dependence import City, Groups
from entwined.dependence.places import CityGrid
from entwined.errors import BadModel, Refused
from entwined.ledger import Ledger
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise, promise_of
from entwined.queries import Count, Histogram, Mean, Total, parse
from entwined.report.claims import Claims, model_words
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Cells, Integer, Person, Real, Schema, Text
from support.distance_sticks import city_joint
from support.memory_table import MemoryTable

SCHEMA = Schema(
    (Integer("x", 0, 2), Real("y", "0.5", "2.5", "2"), Categorical("sex", ("f", "m"))), rows=9
).approve()
GRID = CityGrid(3, 2, 3.0, 4.0)  # cells of 1 by 2
TIES = {"a pair": (2, [(0, 1)]), "a circle": (3, [(0, 1), (1, 2), (2, 0)])}
WHERE = {"columns": ("x", "y"), "missing_says_nothing": ("x", "y")}
TOTALS = [Total("x"), Total("y")]


def declared(shape="a pair", **how):
    units, ties = TIES[shape]
    return Declared(City.of(units, np.array(ties), GRID, nearness=0.3, fall=2.0), **WHERE | how)


def shown(planned):
    (bound,) = planned.promise.bounds(planned.promise.base(planned.charged)).values()
    return bound.exposure


def chances(planned, joint, units):
    """The log chance of every pair of noisy totals given where each person is."""
    scales = []
    for one, cells in zip(planned.statistics, (3, 2), strict=True):
        scales.append(float(one.law.scale * (cells - 1) / one.statistic.row.both))  # in steps of a cell
    seen = list(product(np.arange(-8, 16), repeat=2))
    people = np.array(list(product(range(6), repeat=units)))
    sums = np.stack([(people % 3).sum(axis=1), (people // 3).sum(axis=1)], axis=1)
    logs = np.array([-np.abs(np.array(w) - sums) @ (1 / np.array(scales)) for w in seen])
    return logs, people, joint.reshape(-1)


def worst(planned, joint, units, within):
    logs, people, law = chances(planned, joint, units)
    apart = GRID.distances()
    found = np.zeros(2)  # of near places, and of any two
    for a, b in permutations(range(6), 2):
        ratio = [
            np.exp(logs[:, people[:, 0] == v]) @ law[people[:, 0] == v] / law[people[:, 0] == v].sum()
            for v in (a, b)
        ]
        told = float(np.log(ratio[0] / ratio[1]).max())
        found = np.maximum(found, [told if apart[a, b] <= within else 0.0, told])
    return found


@pytest.mark.parametrize("shape", TIES)
@pytest.mark.parametrize("within", [1, 2])
def test_planned_totals_tell_near_places_no_further_apart_than_their_price(shape, within):
    """Every output, every pair of places, every law of people who are known in some way or not at all."""
    planned = plan(SCHEMA, TOTALS, leakage=1, dependence=declared(shape, within=within))
    units, ties = TIES[shape]
    rng, most = np.random.default_rng(5), np.zeros(2)
    for turn in range(12):
        joint = city_joint(units, ties, (GRID.distances() + 0.3) ** -2.0)
        for axis in range(1, units) if turn else ():
            weights = 10 ** rng.uniform(-6, 0, 6) if turn % 2 else np.eye(6)[rng.integers(6)] + 1e-12
            joint = joint * weights.reshape([-1 if place == axis else 1 for place in range(units)])
        most = np.maximum(most, worst(planned, joint, units, within))
    assert 0.2 < most[0] <= 1
    assert most[1] > most[0]


def test_near_places_cost_less_than_any_two_and_those_no_more_than_a_graph():
    found = {}
    ties = np.array([[0, friend] for friend in range(1, 30)])
    city = City.of(30, ties, CityGrid(10, 10, 10.0, 10.0), nearness=2.0)
    schema = Schema((Integer("x", 0, 9), Integer("y", 0, 9)), rows=30).approve()
    for within in (1, 3, None, "a graph"):
        model = Declared(city) if within == "a graph" else Declared(city, within=within, **WHERE)
        found[within] = float(plan(schema, TOTALS, leakage=1, dependence=model).loss)
    assert found[1] > 2.5 * found[3] > 5 * found[None]
    assert found[None] >= found["a graph"] * 0.999


def test_what_does_not_move_with_a_distance_is_told_apart():
    along = shown(plan(SCHEMA, TOTALS, leakage=1, dependence=declared()))
    assert along.besides == 0
    assert along.within == 4
    assert along.rate * 2 <= along.own <= along.rate * 4  # each total of its own length
    assert shown(plan(SCHEMA, Mean("x"), leakage=1, dependence=declared())).besides == 0
    for query in (
        Histogram("x"),
        Histogram("sex"),
        Count(where=parse("x > 1", SCHEMA)),
        Total("x", where=parse("sex = 'f'", SCHEMA)),
    ):
        found = shown(plan(SCHEMA, query, leakage=1, dependence=declared(within=1)))
        assert found.rate == 0
        assert found.besides == found.own


def test_a_release_is_certified_and_says_what_it_is_about(tmp_path):
    rows = [{"x": n % 3, "y": (0.5, 2.5)[n % 2], "sex": "fm"[n % 2]} for n in range(9)]
    model = declared(within="1.5", name="friends")
    with Ledger.create(
        tmp_path / "ledger", Fraction(2), promise_of(SCHEMA, model), tmp_path / "anchor"
    ) as ledger:
        found = release(MemoryTable(SCHEMA, rows), TOTALS, leakage=1, dependence=model, ledger=ledger)
    assert verify(found.certificate, SCHEMA).valid
    claims = Claims(found.certificate)
    assert "any two places at most 1.5 apart" in claims.secret
    assert "which x, y say" in model_words(claims.models[0]["declared"])
    assert any("no further apart than stated" in line for line in claims.trusted)
    assert any("at the nearest edge" in line for line in claims.trusted)
    assert any("or independent of all of them" in line for line in claims.trusted)
    wider = {**found.certificate, "models": [dict(found.certificate["models"][0])]}
    wider["models"][0]["declared"] = {**wider["models"][0]["declared"], "within": "3/1"}
    assert not verify(wider, SCHEMA).valid


TEXT = Text("who", compare="exact")
REFUSED = [
    ({"columns": ("x",)}, "which two"),
    ({"columns": ("x", "y", "sex")}, "which two"),
    ({"columns": ("y", "x"), "missing_says_nothing": ("x", "y")}, "middles of the cells"),
    ({"columns": ("x", "sex")}, "about distances"),
    ({"missing_says_nothing": ("x",)}, "missing_says_nothing"),
    ({"within": "0.5"}, "longer distance"),
    ({"columns": (), "missing_says_nothing": (), "within": 1}, "has no places"),
]


@pytest.mark.parametrize(("how", "said"), REFUSED)
def test_columns_that_are_not_the_cells_of_the_city_are_refused(how, said):
    with pytest.raises(BadModel, match=said):
        Promise.of(SCHEMA, declared(**how))


def test_what_no_theorem_covers_is_refused():
    with pytest.raises(Refused, match="with a δ"):
        plan(SCHEMA, TOTALS, leakage=1, dependence=declared(), delta="1e-6")
    with pytest.raises(BadModel, match="has no places"):
        Promise.of(SCHEMA, Declared(Groups(2), within=1))
    with pytest.raises(BadModel, match="has no places"):
        Promise.of(Schema(SCHEMA.columns, unit=Cells(), rows=9).approve(), declared(within=1))
    many = Schema((TEXT, *SCHEMA.columns), unit=Person("who", 2), neighbours="add_remove").approve()
    with pytest.raises(BadModel, match="one row a person"):
        Promise.of(many, declared())
    lost = Schema((Integer("x", 0, 2, outside="missing"), *SCHEMA.columns[1:]), rows=9).approve()
    with pytest.raises(BadModel, match="clamp"):
        Promise.of(lost, declared())


def test_a_street_needs_one_column():
    street = City.of(2, np.array([(0, 1)]), CityGrid(3, 1, 3.0, 1.0))
    model = Declared(street, columns=("x",), missing_says_nothing=("x",), within=1)
    assert shown(plan(SCHEMA, Total("x"), leakage=1, dependence=model)).besides == 0
