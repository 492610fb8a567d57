"""Synthetic tables: values of the schema alone, rules in every row, files that every tool opens, copies combined."""

import csv
from datetime import date, datetime
from fractions import Fraction

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from entwined.errors import BadInput
from entwined.mechanisms.marginals.law import FITTING
from entwined.mechanisms.marginals.synthesis import Synthesis
from entwined.mechanisms.offered import settled
from entwined.progress import listening
from entwined.promise.promise import Promise
from entwined.schema import Boolean, Categorical, Integer, Moment, Real, Schema, Text
from entwined.synthetic import DescribedTable, MadeUpRows, combined
from entwined.synthetic.files import write_dictionary, write_rows
from entwined.tables import open_table

SCHEMA = Schema(
    (
        Text("id", compare="exact"),
        Integer("age", 0, 99),
        Categorical("job", ("=1+1", "clerk", "none"), label="What they do"),
        Categorical("town", ("t0", "t1", "t2")),
        Categorical("county", ("north", "south")),
        Moment("born", datetime(1920, 1, 1), datetime(2020, 12, 31)),
        Moment("seen", datetime(2020, 1, 1), datetime(2020, 1, 2), step="hour"),
        Real("pay", "-10", "10", "0.1"),
        Boolean("ill"),
        Text("note"),
    ),
    neighbours="add_remove",
    most_rows=10_000,
).approve()
GIVEN = {
    "impossible": ["age < 16 and job in ('clerk', '=1+1')", "age is null"],
    "decides": [["town", "county"]],
    "texts": {"note": [2, 4]},
    "mode": "independent",
    "tables": [["age", "job"], ["town", "county"]],
}
ALONE = "only one row says so"


def people(count=400):
    rng = np.random.default_rng(8)
    ages, towns = rng.integers(0, 100, count), rng.integers(0, 3, count)
    jobs = np.where(ages < 16, "none", rng.choice(["=1+1", "clerk", "none"], count))
    return [
        {
            "id": f"real person {at}",
            "age": int(ages[at]),
            "job": str(jobs[at]),
            "town": f"t{towns[at]}",
            "county": "north" if towns[at] < 2 else "south",
            "born": datetime(1920, 1, 1),
            "seen": datetime(2020, 1, 1, 5),
            "pay": None if at % 4 == 0 else 1.5,
            "ill": at % 3 == 0,
            "note": ALONE,
        }
        for at in range(count)
    ] + [dict.fromkeys(SCHEMA.names) | dict.fromkeys(("id", "job", "town", "note"), ALONE) | {"age": 50}]


@pytest.fixture(scope="module")
def description():
    promise = Promise.of(SCHEMA)
    mechanism = settled(Synthesis, promise, GIVEN, loss=400)
    with open_table(pa.Table.from_pylist(people()), SCHEMA) as table:
        drawn = mechanism.run(table.answer, SCHEMA)
    return DescribedTable.of(mechanism, mechanism.output(drawn), SCHEMA)


@pytest.fixture(scope="module")
def table(description):
    return MadeUpRows(SCHEMA, 3000, description).table()


def test_rules_hold_in_every_row(table):
    rows = table.to_pandas()
    assert not ((rows.age < 16) & rows.job.isin(["clerk", "=1+1"])).any()
    assert rows.age.notna().all()
    assert rows.groupby("town", dropna=False).county.nunique(dropna=False).max() == 1
    assert rows.note.str.fullmatch("[a-z]{2,4}").all()


def test_no_value_of_one_row_is_copied(table):
    """TRUST 15, 17 and 45: undeclared texts and categories, ids, free text."""
    assert ALONE not in table.to_pandas().to_csv()
    assert "real person" not in table.to_pandas().to_csv()
    for name in ("job", "town", "county"):
        declared = SCHEMA.coded(name)
        assert set(table[name].to_pylist()) <= {declared.value(code) for code in range(declared.size)}
    assert len(set(table["id"].to_pylist())) == len(table)


def test_rows_are_like_those_described(table):
    """With noise that hardly matters: shares, missing values, and which columns belong together."""
    rows = table.to_pandas()
    assert abs(rows.pay.isna().mean() - 101 / 401) < 0.01
    assert abs((rows.job == "none").mean() - 0.44) < 0.06
    assert (rows[rows.town == "t2"].county == "south").mean() > 0.99
    assert abs(rows.ill.mean() - 1 / 3) < 0.02


def test_a_table_of_nothing_but_types_needs_no_description():
    rows = MadeUpRows(SCHEMA, 200).table()
    assert rows.num_rows == 200
    assert rows.schema == MadeUpRows(SCHEMA, 7).arrow_schema
    assert rows["age"].null_count == 0
    with pytest.raises(BadInput, match="synthetic rows"):
        MadeUpRows(SCHEMA, 0)


def test_files_open_everywhere_and_keep_dates_missing_values_and_harmless_texts(description, tmp_path):
    paths = write_rows(tmp_path, MadeUpRows(SCHEMA, 500, description))
    assert [path.name for path in paths] == ["synthetic.csv", "synthetic.parquet"]
    read = pd.read_csv(paths[0], parse_dates=["born", "seen"])
    exact = pd.read_parquet(paths[1])
    assert set(exact.job.dropna()) == {"=1+1", "clerk", "none"}
    assert set(read.job.dropna()) == {"'=1+1", "clerk", "none"}
    assert (read.pay.isna() == exact.pay.isna()).all()
    assert np.allclose(read.pay.dropna(), exact.pay.dropna())
    assert (read.born.dt.date == exact.born).where(exact.born.notna(), other=True).all()
    assert pl.read_csv(paths[0], try_parse_dates=True)["born"].dtype == pl.Date
    read_again = duckdb.read_csv(str(paths[0])).aggregate("count(*), count(pay), max(born), max(seen)")
    counted = read_again.fetchall()[0]
    assert counted[:2] == (500, int(exact.pay.notna().sum()))
    assert isinstance(counted[2], date)
    assert isinstance(counted[3], datetime)
    assert pa.parquet.read_schema(paths[1]).field("seen").type == pa.timestamp("ms")
    with pytest.raises(BadInput, match="csv or parquet"):
        write_rows(tmp_path, MadeUpRows(SCHEMA, 5, description), ["sav"])


def test_a_dictionary_tells_every_column(description, tmp_path):
    table, page = write_dictionary(tmp_path, MadeUpRows(SCHEMA, 5, description))
    told = pd.read_csv(table).set_index("column")
    assert list(told.index) == list(SCHEMA.names)
    assert told.label["job"] == "What they do"
    assert "noise" in told["in the synthetic table"]["age"]
    assert page.read_text().count("\n| ") == 2 + len(SCHEMA.names)


@pytest.mark.parametrize(
    "column",
    [
        Integer("a", -5, 5),
        Categorical("a", ("-5 b", "c")),
        Moment("a", datetime(2020, 1, 1), datetime(2021, 1, 1)),
    ],
)
def test_missing_values_of_a_table_of_one_column_are_no_empty_lines(column, tmp_path):
    """Readers skip those, so that rows were lost."""
    schema = Schema((column,), most_rows=1000).approve()
    mechanism = settled(Synthesis, Promise.of(schema), {}, loss=400)
    kept = [{"a": None if at % 3 == 0 else column.value(at % 2)} for at in range(300)]
    with open_table(pa.Table.from_pylist(kept), schema) as table:
        drawn = mechanism.run(table.answer, schema)
    made = MadeUpRows(schema, 300, DescribedTable.of(mechanism, mechanism.output(drawn), schema))
    plain, exact = write_rows(tmp_path, made)
    assert pd.read_csv(plain).a.isna().tolist() == pd.read_parquet(exact).a.isna().tolist()
    assert pl.read_csv(plain).height == duckdb.read_csv(str(plain), header=True).shape[0] == 300


def test_a_dictionary_writes_values_as_the_table_does(tmp_path):
    schema = Schema(
        (
            Moment("born", datetime(1950, 1, 1), datetime(2000, 12, 31)),
            Boolean("ill"),
            Real("pay", "0.5", "9.5", "0.25"),
            Categorical("town", ("a,b", " c", "plain")),
        ),
        most_rows=10,
    ).approve()
    table, _ = write_dictionary(tmp_path, MadeUpRows(schema, 5))
    told = [line["values"] for line in csv.DictReader(table.read_text().splitlines())]
    assert told == ["1950-01-01 to 2000-12-31", "false, true", "0.5 to 9.5 by 0.25", '"a,b", " c", plain']


def test_copies_are_combined_and_noise_is_added():
    found = combined([1.0, 2.0, 3.0], [0.3, 0.3, 0.3], noise=0.5)
    assert found.value == 2
    assert found.deviation == pytest.approx(float(Fraction(4, 3) * Fraction(3, 10) + Fraction(1, 4)) ** 0.5)
    with pytest.raises(BadInput, match="as many variances"):
        combined([1.0], [])
    with pytest.raises(BadInput, match="rows per person"):
        combined([1.0], [1.0], rows_per_person=0)


@pytest.mark.parametrize("rows_per_person", [0.25, 1, 20])
def test_the_deviation_of_copies_is_that_of_people_however_many_rows_were_made_up(rows_per_person):
    """By simulation: people from a population, copies of their share, each with so many rows."""
    rng = np.random.default_rng(11)
    people, many, share = 400, 5, 0.3
    rows = round(people * rows_per_person)
    seen = rng.binomial(people, share, 4000) / people
    shares = rng.binomial(rows, seen, (many, 4000)) / rows
    variances = shares * (1 - shares) / rows
    said = [
        combined(*map(list, each), rows_per_person=rows_per_person)
        for each in zip(shares.T, variances.T, strict=True)
    ]
    deviation = np.std([one.value for one in said])
    assert np.mean([one.deviation for one in said]) == pytest.approx(deviation, rel=0.06)


def test_the_bar_moves_while_a_law_is_fitted_and_inside_a_block_of_rows():
    """Reading was at its end, and the bar with it, for as long as a law was fitted; one block was no step at all."""
    heard = []
    mechanism = settled(Synthesis, Promise.of(SCHEMA), GIVEN, loss=400)
    with open_table(pa.Table.from_pylist(people()), SCHEMA) as table:
        drawn = mechanism.run(table.answer, SCHEMA)
    with listening(lambda *told: heard.append(told)):
        found = DescribedTable.of(mechanism, mechanism.output(drawn), SCHEMA)
        MadeUpRows(SCHEMA, 1000, found).table()
    assert heard[-1] == ("made-up rows", 1000, 1000)
    made = [done for what, done, _ in heard if what == "made-up rows"]
    assert made == sorted(made)
    assert len(set(made)) > len(found.domain.names)
    assert {FITTING} < {what for what, *_ in heard}
