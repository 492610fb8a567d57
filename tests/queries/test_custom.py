"""A statistic of the holder's own: what it can move follows from its bounds, whatever its function says."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from entwined.errors import BadQuery, QueryTooComplex
from entwined.ledger import Ledger
from entwined.noise.dominated import SMOOTHED
from entwined.promise.promise import Promise
from entwined.queries import Count, Custom, query_from
from entwined.queries.documents import as_written, question_of, written
from entwined.report.findings import findings
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Cells, Integer, Person, Rows, Schema, Text
from entwined.tables import open_table

COLUMNS = (Integer("n", 0, 3), Categorical("g", ("a", "b"), missing="drop"), Text("id", compare="exact"))
LEAST, MOST = (-2, 0, 0), (2, 3, 1)


def wild(codes):
    """Anything at all, far out of bounds: the bounds are not the function's to keep."""
    n, g = codes[:, 0], codes[:, 1]
    return np.stack([(n - 2) * 1000, n * n * (1 - 2 * g) + g, g - 7 * n], axis=1).astype(np.int64)


def asked(**more):
    given = {"name": "wild", "version": "1", "of": ("n", "g"), "least": LEAST, "most": MOST, "function": wild}
    return Custom(**given | more)


def schema_with(unit=None, neighbours="replace", **more):
    return Schema(COLUMNS, unit or Rows(), neighbours, most_rows=1000, **more).approve()


def vectors(query, schema):
    """What every row inside adds, by its codes; nothing for rows outside."""
    (statistic,) = query.bound(schema).statistics(schema)
    fold = statistic.aggregate
    for codes in itertools.product(range(5), range(3)):
        row = dict(zip(("n", "g"), codes, strict=True))
        inside = fold.where.holds(row)
        yield codes, fold.vectors(np.array([codes], dtype=np.int64))[0] if inside else None


@pytest.mark.parametrize("together", [None, 4, 1, 0])
@pytest.mark.parametrize("where", ["n >= 0 or n is null", "n > 1", "g = 'a'"])
def test_no_row_moves_the_answer_further_than_its_bounds_allow(together, where):
    query, schema = asked(together=together, where=where), schema_with()
    (statistic,) = query.bound(schema).statistics(schema)
    row, squared = statistic.row, statistic.squared(statistic.row)
    found = list(vectors(query, schema))
    zero = np.zeros(3, dtype=np.int64)
    for (_, one), (_, two) in itertools.product(found, repeat=2):
        moved = (zero if one is None else one) - (zero if two is None else two)
        one_side = (one is None) != (two is None)
        assert np.abs(moved).sum() <= (row.one if one_side else row.both)
        assert (moved**2).sum() <= (squared.one if one_side else squared.both)
    assert squared.one <= row.one**2
    assert squared.both <= row.both**2


def test_the_change_of_bounds_that_are_reached_is_tight():
    (statistic,) = asked().bound(schema_with()).statistics(schema_with())
    assert (statistic.row.one, statistic.row.both) == (6, 8)
    assert statistic.squared(statistic.row).one == 4 + 9 + 1
    assert statistic.squared(statistic.row).both == 16 + 9 + 1
    for unit, times in ((Person("id", 3), 3), (Rows(), 1)):
        assert asked().bound(schema_with()).sensitivity(schema_with(unit)).one == 6 * times
    parts = asked(where="n > 1").bound(schema_with()).parts(schema_with(Cells()))
    assert {part.column: part.sensitivity.both for part in parts} == {"n": 8, "g": 8}


def test_rows_without_a_value_that_the_schema_drops_are_outside():
    found = {codes: vector is not None for codes, vector in vectors(asked(), schema_with())}
    assert all(inside == (codes[1] != 2) for codes, inside in found.items())


def test_it_is_known_by_its_name_and_version_and_written_without_its_function():
    query = asked(where="n > 1").bound(schema_with())
    again = as_written(written(query))
    assert again == query
    assert again.parts(schema_with()) == query.parts(schema_with())
    with pytest.raises(BadQuery, match="no function"):
        plan(schema_with(), again, loss=1)
    assert query.fingerprint != asked(version="2", where="n > 1").bound(schema_with()).fingerprint
    assert question_of(query.fingerprint).words == "wild (1) of n, g"
    with pytest.raises(BadQuery, match="Ask for one of"):
        query_from({"query": "custom", **query.fields}, schema_with())


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": ""},
        {"version": 3},
        {"of": ()},
        {"of": ("n", "n")},
        {"least": (0, 0)},
        {"least": (0, 0, 2)},
        {"most": (0.5, 1, 1)},
        {"names": ("a", "b")},
        {"names": ("a", "a", "b")},
        {"together": -1},
        {"function": 3},
    ],
)
def test_what_is_no_custom_statistic_is_refused(wrong):
    with pytest.raises(BadQuery):
        asked(**wrong)


def test_sums_that_pass_what_integers_hold_are_refused():
    huge = asked(most=(2**60, 0, 0), least=(0, 0, 0)).bound(schema_with())
    with pytest.raises(QueryTooComplex, match="2\\^63"):
        huge.check(schema_with())


def test_it_is_released_beside_counts_and_its_certificate_holds(tmp_path):
    rows = pd.DataFrame({"n": [0, 1, 2, 3, 3] * 40, "g": ["a", "b", "a", "b", None] * 40, "id": range(200)})
    schema = schema_with(rows=200)
    table = open_table(rows, schema)
    query, count = asked(names=("x", "y", "z")), Count(where="n > 1")
    with Ledger.create(tmp_path / "l.db", Fraction(100), Promise.of(schema), anchor=tmp_path / "a") as ledger:
        given = release(table, [query, count], loss=50, ledger=ledger)
    # 40 rows each of (0, a), (1, b), (2, a), (3, b): cut to (−2, 0, 0), (−2, 0, 0), (0, 3, 0), (2, 0, 0)
    truth = (-2 * 40 - 2 * 40 + 2 * 40, 3 * 40, 0)
    assert np.abs(np.array(given.answers[0].value) - truth).max() <= 5
    assert abs(given.answers[1].value - 120) <= 5
    assert verify(given.certificate, schema).valid
    found = findings(given, ("own", "count"), schema)[0]
    assert [cell.name for cell in found.cells()] == ["x", "y", "z"]
    assert found.question == "Sum of wild (version 1) of n and g"


def test_gaussian_noise_is_fitted_to_its_squared_change():
    noise = plan(schema_with(), asked(), loss=1, delta="1e-6").statistics[0].law
    wider = (
        plan(schema_with(), asked(least=(0,), most=(8,), function=wild), loss=1, delta="1e-6")
        .statistics[0]
        .law
    )
    ratio = (noise.scale**2 - SMOOTHED) / (wider.scale**2 - SMOOTHED)
    assert float(ratio) == pytest.approx(26 / 64, rel=1e-6)
