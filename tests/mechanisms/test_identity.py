"""Identity queries: nobody moves the numbers further than is charged, and only public ids are shown."""

import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from entwined.dependence import Graph, Groups
from entwined.door.door import Door
from entwined.errors import BadQuery, EntwinedError
from entwined.ledger import Ledger
from entwined.mechanisms.identity import Identity, _asked, _statistic
from entwined.mechanisms.kinds import mechanism_from
from entwined.mechanisms.offered import settled
from entwined.promise.declared import Declared
from entwined.promise.measure import measure_of
from entwined.promise.promise import Promise
from entwined.request.verification import verify
from entwined.schema import Categorical, Cells, Integer, Person, Real, Schema, Text
from entwined.tables import open_table

WHO = Integer("who", 0, 39)
PUBLIC = Integer("who", 0, 39, public=True)
WEIGHT = Real("weight", 40, 120, step="0.5")
PEOPLE = Schema((WHO, WEIGHT), unit=Person("who", 1), most_rows=40).approve()
MODELS = {
    "groups": Declared(Groups(2), by="who"),
    "graph": Declared(Graph(40, np.array([[0, 1], [1, 2]]), np.float64(0.2))),
}


def people():
    weights = 60 + 40 * np.random.default_rng(2).random(40)
    return pa.table({"who": list(range(40)), "weight": weights.round(1)})


def sums(schema, rows):
    frame = {"who": [row[0] for row in rows], "size": [row[1] for row in rows]}
    types = {"who": pa.int64(), "size": pa.int64()}
    with open_table(pa.table({name: pa.array(frame[name], types[name]) for name in frame}), schema) as table:
        return table.answer([_asked(schema.coded("who"), schema.coded("size"))])[0]


@pytest.mark.parametrize("last", [2, 3])
@pytest.mark.parametrize("most", [1, 2])
def test_nobody_moves_the_numbers_further_than_is_charged(most, last):
    """Every person of up to so many rows, values and ids missing too, in, out, changed and with another id."""
    columns = Integer("who", 0, 2), Integer("size", 0, last)
    schema = Schema(columns, unit=Person("who", most), neighbours="add_remove", most_rows=9).approve()
    statistic = _statistic(*schema.columns)
    line = statistic.sensitivity(schema)
    square = statistic.squared(line)
    values = [*range(last + 1), None]
    units = [
        [(who, value) for value in kept]
        for who in (0, 1)
        for rows in range(most + 1)
        for kept in itertools.combinations_with_replacement(values, rows)
    ]
    rest = [(2, last), (2, 0)][:most]
    before, found = sums(schema, rest), np.array([sums(schema, [*rest, *unit]) for unit in units])
    entering, changing = found - before, (found[:, None] - found).reshape(-1, 3)
    assert np.abs(entering).sum(axis=1).max() == line.one
    assert np.abs(changing).sum(axis=1).max() == line.both
    assert (entering**2).sum(axis=1).max() == square.one
    assert (changing**2).sum(axis=1).max() == square.both


@pytest.mark.parametrize("delta", [None, "1e-6"])
@pytest.mark.parametrize("model", MODELS)
def test_values_are_found_under_every_model_and_noise(tmp_path, model, delta):
    promise = Promise.of(PEOPLE, [MODELS[model]], measure=measure_of(delta))
    mechanism = settled(Identity, promise, {"by": "who", "column": "weight"}, leakage=60)
    price = promise.price({part.key: part for part in mechanism.parts(promise)})
    assert 59 < price.worst <= 60
    frame = people()
    with (
        Ledger.create(tmp_path / "l.db", Fraction(70), promise, anchor=tmp_path / "a") as ledger,
        open_table(frame, PEOPLE) as table,
    ):
        passed = Door(table, promise, ledger).admit(mechanism)
    assert verify(passed.certificate, PEOPLE).valid
    assert mechanism_from(mechanism.document, promise) == mechanism
    found = passed.output
    truth = [Fraction(round(2 * weight), 2) for weight in frame["weight"].to_pylist()]
    inside = [low <= true <= high for low, true, high in zip(found.low, truth, found.high, strict=True)]
    assert sum(inside) >= 28  # fewer of 40 that hold 19 of 20 times: 4 in 10⁸
    assert found.ids[:3] == ("0", "1", "2")
    assert all(40 <= value <= 120 for value in found.values)
    assert found.sheet.headings == ("id", "value", "from", "to")
    assert mechanism.expected().rows[0][0] == 40


def test_a_value_goes_through_noise_and_back():
    for values in (WEIGHT, Integer("weight", 3, 8), Integer("weight", -5, 5)):
        schema = Schema((PUBLIC, values), most_rows=40).approve()
        mechanism = Identity.of(Promise.of(schema), "who", "weight", 1)
        assert [mechanism._value(number) for number in (-(10**6), 10**6)] == [
            values.value(0),
            values.value(values.levels - 1),
        ]
        half = int(_statistic(*schema.columns).row.one)
        assert {mechanism._value(number) for number in range(-half, half + 1)} >= {
            Fraction(values.value(code)) for code in range(values.levels)
        }


def test_cells_are_charged_for_the_value_alone():
    schema = Schema((PUBLIC, Integer("weight", 0, 9)), unit=Cells(), most_rows=40).approve()
    (part,) = Identity.of(Promise.of(schema), "who", "weight", 1).parts(Promise.of(schema))
    assert "weight" in part.key
    assert (part.one, part.both) == (0, 1)


@pytest.mark.parametrize(
    ("columns", "unit", "given", "why"),
    [
        ((WHO, WEIGHT), {}, {"by": "who", "column": "weight"}, "public = true"),
        (
            (Text("who", compare="exact"), WEIGHT),
            {},
            {"by": "who", "column": "weight"},
            "does not list its ids",
        ),
        ((PUBLIC, WEIGHT), {}, {"by": "who"}, "needs by"),
        ((PUBLIC, WEIGHT), {}, {"by": "who", "column": "who"}, "both the id"),
        ((PUBLIC, Categorical("weight", ("a", "b"))), {}, {"by": "who", "column": "weight"}, "do not add up"),
        ((PUBLIC, Integer("weight", 3, 3)), {}, {"by": "who", "column": "weight"}, "one value"),
        (
            (PUBLIC, WEIGHT, Text("home", compare="exact")),
            {"unit": Person("home", 2)},
            {"by": "who", "column": "weight"},
            "protects persons by 'home'",
        ),
    ],
)
def test_what_has_no_public_ids_is_refused(columns, unit, given, why):
    promise = Promise.of(Schema(columns, most_rows=40, **unit).approve())
    with pytest.raises(EntwinedError, match=why):
        settled(Identity, promise, given, leakage=1)


def test_noise_of_another_promise_is_refused():
    wide = Schema((PUBLIC, Real("weight", 0, 240, step="0.5")), most_rows=40).approve()
    narrow = Schema((PUBLIC, WEIGHT), most_rows=40).approve()
    with pytest.raises(BadQuery, match="another promise"):
        Identity.of(Promise.of(narrow), "who", "weight", 1).parts(Promise.of(wide))
