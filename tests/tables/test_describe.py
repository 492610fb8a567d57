"""Describe proposes what a holder would have written, from any source, and says what to look at."""

import datetime as dt
import sys
import tomllib

import pandas as pd
import pyarrow as pa
import pytest

from entwined.errors import BadTable
from entwined.queries import Axis, TableOf, everything
from entwined.schema import Categorical, Integer, Moment, Text, approve, read_schema
from entwined.schema.files import schema_of
from entwined.tables import describe, open_table
from support import engines
from support.described import PROPOSED, STORED


@pytest.mark.parametrize("engine", engines.LIGHT)
def test_the_same_schema_is_proposed_from_every_source(engine, tmp_path):
    source, _ = engines.ALL[engine](STORED, tmp_path)
    found = describe(source)
    assert not found.schema.approved
    assert schema_of(found.text) == found.schema
    assert tomllib.loads(found.text)["approved"] is False
    for name, wanted in PROPOSED.items():
        column = found.schema.column(name)
        if isinstance(wanted, type):
            assert isinstance(column, wanted), name
        else:
            assert column == wanted, name
    assert "rows for each value" in found.text
    assert any("patient_id" in hint for hint in found.hints)
    assert "1 do not read as number" in found.text


def test_what_was_proposed_is_approved_and_holds_every_row(tmp_path):
    source, seen = engines.csv_file(STORED, tmp_path)
    found = describe(source)
    found.write(tmp_path / "schema.toml")
    schema = approve(tmp_path / "schema.toml")
    assert schema == read_schema(tmp_path / "schema.toml")
    assert schema.columns == found.schema.columns
    assert "# PROPOSED" in (tmp_path / "schema.toml").read_text()
    with open_table(source, schema) as table:
        for name in ("age", "price", "born", "seen", "sex"):
            column = schema.coded(name)
            (numbers,) = table.answer([TableOf((Axis(name, column.levels),), everything())])
            assert numbers[-1] == sum(value is None for value in seen[name][1])


def test_numbers_just_below_the_largest_are_described():
    """A code for a missing answer may be so large that its ten thousandfold is no whole number of 64 bits."""
    found = describe(pa.table({"answer": ["1.5", "2.25", "999999999999999"] * 40}))
    assert found.schema.column("answer").high == 10**15


def test_comments_stay_comments():
    """A value or a name can neither end its comment nor add a field."""
    name = 'id\n[[column]]\nname = "x"'
    frame = pa.table({name: [f"{n // 4}\napproved = true" for n in range(800)], "ok": list(range(800))})
    found = describe(frame)
    assert schema_of(found.text) == found.schema
    assert found.schema.names == (name, "ok")


def test_odd_tables_are_described_too(tmp_path):
    wide = describe(pa.table({f"c{n}": [n, n + 1] for n in range(55)}))
    assert len(wide.schema.columns) == 55
    none = describe(pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}))
    assert [type(column) for column in none.schema.columns] == [Text, Text]
    far = describe(
        pa.table({"x": [2**60, -(2**60), 3], "y": [float("inf"), float("nan"), 1.0], "z": [[1], [2], [3]]})
    )
    assert [type(column) for column in far.schema.columns] == [Integer, Integer, Text]
    assert "beyond 1e15" in far.text
    mixed = describe(pd.DataFrame({"x": pd.Series([1, "a", None, True] * 30, dtype=object), "": [0.5] * 120}))
    assert mixed.schema.columns == (Categorical("x", ("1", "a", "true")),)
    assert "without a name" in mixed.text
    with pytest.raises(BadTable):
        describe(tmp_path / "none.csv")


def test_a_package_that_is_not_installed_is_named_as_one(monkeypatch):
    def lacking(engine):
        raise ModuleNotFoundError("No module named 'lacking'", name="lacking")

    monkeypatch.setattr(sys.modules["entwined.tables.describe"], "profiles", lacking)
    with pytest.raises(BadTable, match="The package lacking that tables are read with is not installed"):
        describe(pa.table({"a": [1]}))


def test_survey_files_bring_labels_and_missing_codes(tmp_path):
    import pyreadstat

    frame = pd.DataFrame(
        {
            "sex": [1.0, 2.0, 2.0, 9.0, None] * 20,
            "age": [23.0, 45.0, 99.0, 67.0, 31.0] * 20,
            "mood": [1.0, 2.0, 3.0, 8.0, 9.0] * 20,
            "town": ["a", "b", "", "a", "c"] * 20,
            "day": [dt.date(2020, 1, n) for n in (1, 2, 3, 4, 5)] * 20,
            "scale": [float(n) for n in range(100)],
        }
    )
    labels = {
        "sex": {1: "male", 2: "female", 9: "refused"},
        "mood": {1: "bad", 2: "so so", 3: "good", 8: "?", 9: "-"},
    }
    labels["scale"] = {0: "not at all", 99: "fully"}
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        frame,
        str(path),
        column_labels={"sex": "Sex of the respondent"},
        variable_value_labels=labels,
        missing_ranges={"sex": [9], "age": [99], "mood": [{"lo": 8, "hi": 9}]},
    )
    found = describe(path)
    assert found.schema.column("sex") == Categorical(
        "sex", ("1", "2"), ("male", "female"), label="Sex of the respondent", missing_codes=("9",)
    )
    assert found.schema.column("mood") == Categorical(
        "mood", ("1", "2", "3"), ("bad", "so so", "good"), missing_codes=("8", "9")
    )
    assert found.schema.column("age").missing_codes == ("99",)
    assert isinstance(found.schema.column("scale"), Integer)
    assert found.schema.column("day") == Moment("day", "2020-01-01", "2020-12-31")
    asked = [
        TableOf((Axis(name, found.schema.coded(name).levels),), everything())
        for name in ("sex", "mood", "town")
    ]
    with open_table(path, found.schema) as table:
        assert [n.tolist() for n in table.answer(asked)] == [[20, 40, 40], [20, 20, 20, 40], [40, 20, 20, 20]]


def test_stata_files_are_read(tmp_path):
    import pyreadstat

    frame = pd.DataFrame({"sex": [1, 2, 2, 1] * 10, "income": [0.5, 1.5, None, 2.5] * 10})
    path = tmp_path / "survey.dta"
    pyreadstat.write_dta(frame, str(path), variable_value_labels={"sex": {1: "male", 2: "female"}})
    found = describe(path)
    assert found.schema.column("sex") == Categorical("sex", ("1", "2"), ("male", "female"))
    asked = [
        TableOf((Axis(name, found.schema.coded(name).levels),), everything()) for name in ("sex", "income")
    ]
    with open_table(path, found.schema) as table:
        sex, income = table.answer(asked)
    assert sex.tolist() == [20, 20, 0]
    assert income[-1] == 10
