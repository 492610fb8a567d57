"""Degrees: no edge and no person moves the histogram further than is charged, on every engine the same numbers."""

import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from entwined.dependence import Graph, Groups
from entwined.door.door import Door
from entwined.errors import BadQuery, BadTable, EntwinedError
from entwined.ledger import Ledger
from entwined.mechanisms.degrees import Degrees, _statistic, likeness, nearest_counts
from entwined.mechanisms.kinds import mechanism_from
from entwined.mechanisms.offered import settled
from entwined.promise.declared import Declared
from entwined.promise.measure import measure_of
from entwined.promise.promise import Promise
from entwined.queries import DegreesOf, codes_in, everything
from entwined.request.verification import verify
from entwined.schema import Cells, Integer, Person, Schema, Text
from entwined.tables import open_table
from support.exact_answers import degrees

IDS = Text("one", compare="exact"), Text("other", compare="exact")
EDGES = Schema(IDS, most_rows=4000, neighbours="add_remove").approve()
MOST = 5


def histogram(rows, columns=("one", "other")):
    asked = DegreesOf(columns, MOST, everything())
    return np.array(degrees(asked, [dict(zip(("one", "other"), row, strict=True)) for row in rows]))


def tables(ids, rows):
    ends = [*range(ids), None]
    return itertools.combinations_with_replacement(list(itertools.product(ends, ends)), rows)


def moved(schema, columns=("one", "other")):
    statistic = _statistic(schema, columns, MOST)
    return statistic.sensitivity(schema), statistic.squared(statistic.sensitivity(schema))


def test_no_edge_moves_the_histogram_further_than_is_charged():
    """Every table of up to four edges of four ids, lines without ids and loops included: each edge in, out or changed."""
    units = [row for (row,) in tables(4, 1)]
    one, other = (0, 1), (2, 3)
    rows = [*tables(2, 2), (one, other), (one, one, other), (one, other, other, other)]
    line, square = moved(EDGES)
    assert (line.one, line.both, square.one, square.both) == (4, 8, 8, 24)
    entering, changing = [], []
    for table in rows:
        before = histogram(table)
        after = [histogram([*table, unit]) for unit in units]
        entering += [a - before for a in after]
        changing += [a - b for a in after for b in after]
    assert max(np.abs(change).sum() for change in entering) == line.one
    assert max((change**2).sum() for change in entering) == square.one
    assert max(np.abs(change).sum() for change in changing) == line.both
    assert max((change**2).sum() for change in changing) == square.both


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_person_moves_the_histogram_further_than_is_charged(most):
    """Persons name up to so many others each: their own id moves once, whatever they name."""
    schema = Schema(IDS, unit=Person("one", most), neighbours="add_remove").approve()
    line, square = moved(schema)
    own, own_square = moved(schema, ("one",))
    assert (line.one, line.both) == (2 * (most + 1), 4 * (most + 1))
    assert (own.one, own.both) == (2, 4)
    named = [9, *range(4), None]
    units = [
        [(9, other) for other in others]
        for rows in range(most + 1)
        for others in itertools.combinations_with_replacement(named, rows)
    ]
    rest = [
        (),
        ((0, 1), (2, 3)),
        ((0, 1), (2, 9)),
        ((0, 1), (1, 2), (2, 0), (9, 9)),
        ((0, 1), (2, 3), (3, 9)),
    ]
    entering, changing, alone = [], [], []
    for table in rest:
        before = histogram(table)
        after = [histogram([*table, *unit]) for unit in units]
        entering += [a - before for a in after]
        changing += [a - b for a in after for b in after]
        of_one = [
            histogram([*table, *unit], ("one",)) for unit in units if not any(row[0] == 9 for row in table)
        ]
        alone += [a - b for a in of_one for b in of_one]
    assert max(np.abs(change).sum() for change in entering) == line.one
    assert max((change**2).sum() for change in entering) <= square.one
    assert max(np.abs(change).sum() for change in changing) <= line.both
    assert max((change**2).sum() for change in changing) <= square.both
    assert max(np.abs(change).sum() for change in alone) == (2 if most > 1 else 1)
    assert max((change**2).sum() for change in alone) <= own_square.both


def edges(rows=3000, ids=800):
    rng = np.random.default_rng(4)
    ends = rng.zipf(1.6, (rows, 2)) % ids
    texts = [[None if end == 7 else f"p{end}" for end in column] for column in ends.T]
    return pa.table({"one": texts[0], "other": texts[1]})


def exact(table, columns=("one", "other"), most=40):
    rows = table.to_pylist()
    return degrees(DegreesOf(columns, most, everything()), rows)


MODELS = {
    "groups": Declared(Groups(2), by="one"),
    "graph": Declared(Graph(4000, np.array([[0, 1], [1, 2]]), np.float64(0.2))),
}


@pytest.mark.parametrize("delta", [None, "1e-6"])
@pytest.mark.parametrize("model", MODELS)
def test_degrees_are_found_under_every_model_and_noise(tmp_path, model, delta):
    promise = Promise.of(EDGES, [MODELS[model]], measure=measure_of(delta))
    mechanism = settled(Degrees, promise, {"columns": ["one", "other"], "most": 40}, leakage=6)
    price = promise.price({part.key: part for part in mechanism.parts(promise)})
    assert 5.9 < price.worst <= 6
    frame = edges()
    with (
        Ledger.create(tmp_path / "l.db", Fraction(7), promise, anchor=tmp_path / "a") as ledger,
        open_table(frame, EDGES) as table,
    ):
        passed = Door(table, promise, ledger).admit(mechanism)
    assert verify(passed.certificate, EDGES).valid
    assert mechanism_from(mechanism.document, promise) == mechanism
    if model == "graph":  # no row is left out
        truth, found = exact(frame), passed.output
        inside = [abs(noisy - true) <= found.reach for noisy, true in zip(found.drawn, truth, strict=True)]
        assert sum(inside) >= 28  # fewer of 40 that hold 19 of 20 times: 4 in 10⁸
        assert likeness(truth, found.counts) > 0.8
    assert min(passed.output.counts) >= 0
    assert sum(passed.output.counts) == pytest.approx(max(sum(passed.output.drawn), 0))


def test_an_engine_counts_the_rows_that_count(tmp_path):
    """Ids as texts and as numbers, under a condition, and of persons only the rows that are used."""
    frame = edges(400, 30)
    with open_table(frame, EDGES) as table:
        assert table.answer([DegreesOf(("one", "other"), 9, everything())])[0].tolist() == exact(
            frame, most=9
        )
        assert table.answer([DegreesOf(("one",), 9, everything())])[0].tolist() == exact(frame, ("one",), 9)
    numbers = Schema((Integer("one", 0, 99), Integer("other", 0, 99), Integer("year", 0, 9)), most_rows=500)
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, 100, (300, 2))
    years = rng.integers(0, 10, 300)
    frame = pa.table({"one": drawn[:, 0], "other": drawn[:, 1], "year": years})
    where = codes_in("year", 11, ((0, 4),))
    with open_table(frame, numbers) as table:
        found = table.answer([DegreesOf(("one", "other"), 6, where)])[0].tolist()
    kept = [row for row in frame.to_pylist() if row["year"] <= 4]
    assert found == degrees(DegreesOf(("one", "other"), 6, where), kept)
    persons = Schema(IDS, unit=Person("one", 2), most_rows=500)
    rows = [("a", "x"), ("a", "b"), ("a", "c"), ("b", "a"), (None, "a"), ("c", None)]
    frame = pa.table({"one": [row[0] for row in rows], "other": [row[1] for row in rows]})
    with open_table(frame, persons) as table:
        found = table.answer([DegreesOf(("one", "other"), 4, everything())])[0].tolist()
    used = [("a", "b"), ("a", "c"), ("b", "a"), ("c", None)]  # the first two of a by their ids
    assert found == degrees(
        DegreesOf(("one", "other"), 4, everything()),
        [dict(zip(("one", "other"), row, strict=True)) for row in used],
    )


def test_numbers_that_agree_are_the_nearest_that_are_not_below_zero():
    assert nearest_counts(np.array([5.0, -2.0, 3.0])).tolist() == [4.0, 0.0, 2.0]
    assert nearest_counts(np.array([-5.0, 2.0])).tolist() == [0.0, 0.0]
    rng = np.random.default_rng(0)
    noisy = rng.normal(0, 5, 30) + 2
    found = nearest_counts(noisy)
    assert found.sum() == pytest.approx(max(noisy.sum(), 0))
    for _ in range(50):
        other = np.abs(rng.normal(0, 5, 30))
        other *= found.sum() / other.sum()
        assert ((found - noisy) ** 2).sum() <= ((other - noisy) ** 2).sum() + 1e-9


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"columns": ["one", "other"]}, "most = 50"),
        ({"columns": "one", "most": 9}, "needs columns"),
        ({"columns": ["one", "one"], "most": 9}, "Name the two columns"),
        ({"columns": ["one", "other"], "most": 0}, "1 to 100,000"),
        ({"columns": ["one", "nobody"], "most": 9}, "nobody"),
    ],
)
def test_what_is_no_degree_distribution_is_refused(given, why):
    with pytest.raises(EntwinedError, match=why):
        settled(Degrees, Promise.of(EDGES), given, leakage=1)


def test_ids_that_could_be_called_two_things_are_refused():
    cells = Schema((Integer("one", 0, 9), Integer("other", 0, 9)), unit=Cells()).approve()
    with pytest.raises(BadQuery, match="protects cells"):
        Degrees.of(Promise.of(cells), ["one", "other"], 9, 1)
    asked = [DegreesOf(("one", "other"), 9, everything())]
    mixed = Schema((Text("one", compare="exact"), Text("other", compare="loose")))
    frame = pa.table({"one": ["1"], "other": ["2"]})
    with open_table(frame, mixed) as table, pytest.raises(BadQuery, match="Declare them alike"):
        table.check(asked)
    with (
        open_table(pa.table({"one": ["1"], "other": [2]}), EDGES) as table,
        pytest.raises(BadTable, match="one type"),
    ):
        table.check(asked)
