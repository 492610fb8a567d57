"""The door on a real engine: DuckDB reading a Parquet file and a CSV file."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from entwined.dependence import Groups
from entwined.errors import Unreadable
from entwined.ledger import Ledger
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import (
    Count,
    GroupBy,
    Histogram,
    Marginal,
    Mean,
    Median,
    Quantile,
    Total,
    Variance,
    parse,
)
from entwined.request.verbs import release
from entwined.request.verification import verify
from entwined.schema import Categorical, Integer, Person, Real, Schema, Text
from entwined.tables import open_table
from support.memory_table import MemoryTable

COLUMNS = (
    Text("home", compare="exact"),
    Categorical("gender", ("male", "female")),
    Integer("age", 0, 99),
    Real("wage", Fraction(0), Fraction(100), Fraction(1, 2)),
)
SCHEMA = Schema(COLUMNS, neighbours="add_remove", most_rows=10_000).approve()


def drawn_rows(count):
    rng = np.random.default_rng(4)
    return {
        "home": [f"h{at // 3}" for at in range(count)],
        "gender": rng.choice(["male", "female", "other"], count, p=[0.5, 0.45, 0.05]).tolist(),
        "age": rng.integers(-5, 120, count).tolist(),
        "wage": np.round(rng.gamma(2, 20, count), 3).tolist(),
    }


@pytest.fixture(scope="module")
def columns():
    return drawn_rows(600)


@pytest.fixture(params=["parquet", "csv"])
def source(request, tmp_path, columns):
    path = tmp_path / f"rows.{request.param}"
    write = pa.parquet.write_table if request.param == "parquet" else pa.csv.write_csv
    write(pa.table(columns), path)
    return path


def queries(schema):
    return [
        Count(),
        Count(where=parse("gender = 'male' and age between 20 and 60", schema)),
        Total("wage"),
        Mean("age"),
        Variance("age"),
        Median("wage"),
        Quantile("age", Fraction(19, 20)),
        Histogram("gender"),
        Marginal(("gender", "age")),
        GroupBy(("gender",), "wage"),
    ]


def ledger_at(folder, schema, cap, models=()):
    return Ledger.create(folder / "l.db", Fraction(cap), Promise.of(schema, models), anchor=folder / "a")


@pytest.mark.parametrize("unit", ["rows", "person"])
def test_with_hardly_any_noise_the_exact_answers_come_out(tmp_path, source, columns, unit):
    """At a huge loss the noise is nearly always zero, so what is released is what plain Python counts."""
    schema = SCHEMA
    if unit == "person":
        schema = Schema(COLUMNS, Person("home", 2), "add_remove", most_rows=10_000).approve()
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    memory = MemoryTable(schema, rows)
    with open_table(source, schema) as table, ledger_at(tmp_path, schema, 5000) as ledger:
        found = release(table, queries(schema), loss=4000, ledger=ledger)
        expected = {}
        for query in queries(schema):
            statistics = query.statistics(schema)
            exact = memory.answer([one.aggregate for one in statistics])
            if statistics[0].selects:
                exact = [[int(np.argmax(query.scores(exact[0])))]]
            expected[query.kind, query.fingerprint] = query.answer(schema, exact)
        for query in queries(schema):
            value, truth = found.of(query).value, expected[query.kind, query.fingerprint]
            if query.kind in ("count", "histogram", "marginal"):
                assert value == truth
            elif query.kind in ("mean", "variance", "total", "group_by"):
                assert np.allclose(np.array(value, float), np.array(truth, float), rtol=0.01, atol=5)


def test_households_on_a_real_engine(tmp_path, source):
    models = [Groups(3)]
    with open_table(source, SCHEMA) as table, ledger_at(tmp_path, SCHEMA, 1, models) as ledger:
        first = release(table, queries(SCHEMA), leakage="0.6", dependence=models, ledger=ledger)
        again = release(table, queries(SCHEMA)[::-1], leakage="0.6", dependence=models, ledger=ledger)
        assert first.content == again.content
        release(table, Median("age"), leakage="0.4", dependence=models, ledger=ledger)
        assert 0.999 < float(ledger.spent().price.worst) <= 1
        assert ledger.book.check() == 5
    assert verify(first.certificate, SCHEMA).valid


def test_groups_are_kept_small_by_a_real_engine(tmp_path, source, columns):
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    models = [Declared(Groups(2), by="home")]
    asked = [one.aggregate for query in queries(SCHEMA) for one in query.statistics(SCHEMA)]
    with open_table(source, SCHEMA) as table, ledger_at(tmp_path, SCHEMA, 1, models) as ledger:
        found, expected = (one.keeping("home", 2).answer(asked) for one in (table, MemoryTable(SCHEMA, rows)))
        assert [np.array(numbers).tolist() for numbers in found] == expected
        given = release(table, queries(SCHEMA), leakage=1, dependence=models, ledger=ledger)
    assert verify(given.certificate, SCHEMA).valid


def test_an_engine_that_fails_tells_nothing(tmp_path, source, monkeypatch):
    reserve = Ledger.reserve

    def unlinked(ledger, charge):
        receipt = reserve(ledger, charge)
        source.unlink()
        return receipt

    monkeypatch.setattr(Ledger, "reserve", unlinked)
    with open_table(source, SCHEMA) as table, ledger_at(tmp_path, SCHEMA, 1) as ledger:
        with pytest.raises(Unreadable, match="What was charged stays charged") as failed:
            release(table, Count(), loss="0.25", ledger=ledger)
        assert failed.value.__context__ is None
        assert ledger.spent().price.nominal == Fraction(1, 4)
        with pytest.raises(Unreadable, match="Nothing was charged"):
            release(table, Count(), loss="0.25", ledger=ledger)
        assert ledger.spent().price.nominal == Fraction(1, 4)
