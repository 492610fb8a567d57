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
    assert "134 groups of 2.99 rows on average; share of the rows beyond a bound of 1: 66.5 %" in found.notes
    assert any("patient_id" in hint for hint in found.hints)
    assert "1 do not read as number" in found.notes


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
        pa.table(
            {
                "x": [2**60, -(2**60), 3] * 30,
                "y": [float("inf"), float("nan"), 1.0] * 30,
                "z": [[1], [2], [3]] * 30,
            }
        )
    )
    assert [type(column) for column in far.schema.columns] == [Integer, Integer, Text]
    assert "beyond 1e15" in far.notes
    mixed = describe(pd.DataFrame({"x": pd.Series([1, "a", None, True] * 30, dtype=object), "": [0.5] * 120}))
    assert mixed.schema.columns == (Categorical("x", ("1", "a", "true")),)
    assert "without a name" in mixed.notes
    with pytest.raises(BadTable):
        describe(tmp_path / "none.csv")


def test_a_package_that_is_not_installed_is_named_as_one(monkeypatch):
    def lacking(*_, **__):
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


def test_labelled_text_values_of_a_survey_file_are_answers(tmp_path):
    """Codes of text have labels too ("M" = male), and only what is declared missing is missing."""
    import pyreadstat

    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        pd.DataFrame({"sex": ["M", "F", "F", "X"] * 25, "region": ["n", "s", "e", "w"] * 25}),
        str(path),
        variable_value_labels={"sex": {"M": "male", "F": "female", "X": "refused"}},
        missing_ranges={"sex": ["X"]},
    )
    found = describe(path).schema
    sex = found.column("sex")
    assert sorted(zip(sex.values, sex.labels, strict=True)) == [("F", "female"), ("M", "male")]
    assert sex.missing_codes == ("X",)
    asked = [TableOf((Axis(name, found.coded(name).levels),), everything()) for name in ("sex", "region")]
    with open_table(path, found) as table:
        counted = [n.tolist() for n in table.answer(asked)]
    by_value = dict(zip(sex.values, counted[0], strict=False))
    assert (by_value, counted[0][-1], counted[1]) == ({"M": 25, "F": 50}, 25, [25, 25, 25, 25, 0])


def test_a_scale_with_some_labels_keeps_all_its_answers_and_missing_codes_widen_nothing(tmp_path):
    """A scale from 1 to 7 is often labelled at 1, 4 and 7 alone; ranges of codes may stand for missing."""
    import pyreadstat

    frame = pd.DataFrame(
        {
            "scale": [1.0, 2, 3, 4, 6, 7, 998, -3] * 25,
            "few": [1.0, 2, 1, 2, 5, 5, 9, 9] * 25,
            "heat": [0.0, 15, 35, 50, 60, 85, 100, 998] * 25,
            "age": [float(18 + n % 70) if n % 9 else 998.0 for n in range(200)],
            "pay": [float(100 + 2 * n) if n % 9 else -800.5 - n % 4 for n in range(200)],
        }
    )
    path = tmp_path / "survey.sav"
    pyreadstat.write_sav(
        frame,
        str(path),
        variable_value_labels={
            "scale": {1: "low", 4: "middle", 7: "high", 998: "refused"},
            "few": {1: "yes", 5: "no"},
            "heat": {0: "cold", 100: "warm"},
            "age": {998: "refused"},
        },
        missing_ranges={
            "scale": [{"lo": -9, "hi": -1}, 998],
            "heat": [998],
            "age": [998],
            "pay": [{"lo": float("-inf"), "hi": -1}],
        },
    )
    found = describe(path).schema
    scale = found.column("scale")
    assert scale.values == tuple("1234567")  # noqa: PD011  (no frame)
    assert scale.labels == ("low", "2", "3", "middle", "5", "6", "high")
    assert set(scale.missing_codes) == {"998", *(str(-n) for n in range(1, 10))}
    assert found.column("few").document["values"] == list("123459")  # what occurs is an answer, too
    assert (found.column("heat").low, found.column("heat").high) == (0, 100)
    assert (found.column("age").low, found.column("age").high, found.column("age").missing_codes) == (
        10,
        90,
        ("998",),
    )
    assert (found.column("pay").low, found.column("pay").outside) == (100, "missing")
    asked = [TableOf((Axis(name, found.coded(name).levels),), everything()) for name in found.names]
    with open_table(path, found) as table:
        lost = [numbers[-1] for numbers in table.answer(asked)]
    assert lost == [50, 0, 25, 23, 23]


def test_letters_that_stand_for_missing_in_stata_are_no_answers(tmp_path):
    import pyreadstat

    cells = pd.Series([1, 2, 7, "a", "b", 3] * 20, dtype=object)
    path = tmp_path / "survey.dta"
    pyreadstat.write_dta(
        pd.DataFrame({"q": cells, "z": [1.0, 2, 3, 4, 5, 6] * 20}),
        str(path),
        variable_value_labels={"q": {1: "yes", 2: "no"}},
        missing_user_values={"q": ["a", "b"]},
    )
    found = describe(path).schema
    assert found.column("q").missing_codes == ("a", "b")
    assert "a" not in getattr(found.column("q"), "values", ())
    asked = [TableOf((Axis("q", found.coded("q").levels),), everything())]
    with open_table(path, found) as table:
        (numbers,) = table.answer(asked)
    assert (numbers.sum(), numbers[-1]) == (120, 40)


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
