"""Rules of synthetic rows: those of one column, those that leave nothing, and texts that are missing."""

import numpy as np
import pytest

from entwined.errors import BadQuery
from entwined.mechanisms.marginals.grain import alike
from entwined.mechanisms.marginals.synthesis import Synthesis
from entwined.mechanisms.offered import settled
from entwined.promise.promise import Promise
from entwined.schema import Boolean, Categorical, Integer, Schema, Text
from entwined.synthetic.description import DescribedTable
from entwined.synthetic.rows import MadeUpRows
from support.memory_table import MemoryTable

SCHEMA = Schema(
    (Integer("age", 0, 39), Categorical("town", ("a", "b", "c")), Boolean("ill"), Text("note"), Text("said")),
    most_rows=1000,
).approve()
MODES = ("adaptive", "correlated", "independent")


def people(count=200):
    plain = {"note": "so", "said": "no"}
    return [
        {"age": at % 40 if at % 7 else None, "town": "abc"[at % 3], "ill": at % 5 == 0} | plain
        for at in range(count)
    ]


def described(given, loss):
    mechanism = settled(Synthesis, Promise.of(SCHEMA), given, loss=loss)
    drawn = mechanism.run(MemoryTable(SCHEMA, people()).answer, SCHEMA)
    return DescribedTable.of(mechanism, mechanism.output(drawn), SCHEMA)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("loss", ["0.05", "20"])
def test_a_rule_of_one_column_holds_whatever_was_counted_together(mode, loss):
    """Where noise drowns relations no table of two columns tells its cells apart."""
    given = {"mode": mode, "impossible": ["age is null", "age < 7", "town = 'b'", "ill and age > 30"]}
    rows = MadeUpRows(SCHEMA, 500, described(given, loss)).table().to_pandas()
    assert rows.age.notna().all()
    assert (rows.age >= 7).all()
    assert "b" not in set(rows.town)
    assert not (rows.ill.eq(other=True) & (rows.age > 30)).any()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"impossible": ["age < 20", "age >= 20", "age is null"]}, "leave no row"),
        ({"impossible": ["ill", "not ill and age < 20", "not ill and not age < 20", "ill is null", "age is null"]},
         "leave no row"),
        ({"columns": ["age", "ill"], "decides": [["town", "ill"]]}, "not in the synthetic table"),
        ({"columns": []}, "No column"),
        ({"texts": {"note": [5, 2]}}, "0 .which is missing. to"),
    ],
)  # fmt: skip
def test_what_no_row_could_keep_is_refused_before_anything_is_charged(given, said):
    with pytest.raises(BadQuery, match=said):
        settled(Synthesis, Promise.of(SCHEMA), given, loss=1)


def test_rules_that_tie_too_many_cells_together_are_refused_before_anything_is_charged():
    names = "abcdefgh"
    schema = Schema(tuple(Integer(name, 0, 19) for name in names), most_rows=1000).approve()
    unequal = [
        " or ".join(f"({one} = {at} and {two} = {at})" for at in range(20))
        for one, two in zip(names * 7, "".join(names[at:] + names[:at] for at in range(1, 8)), strict=True)
    ]
    with pytest.raises(BadQuery, match="tie columns together"):
        settled(Synthesis, Promise.of(schema), {"impossible": unequal}, loss=1)


def test_cells_that_no_rule_tells_apart_are_alike():
    marks = np.zeros((4, 3))
    marks[2:, 1] = 1
    assert alike(marks) == ((0, 0, 1, 1), (0, 1, 0))
    assert alike(np.zeros((2, 3))) == ((0, 0), (0, 0, 0))


def test_a_text_of_no_letters_is_missing():
    rows = MadeUpRows(SCHEMA, 300, described({"texts": {"note": [0, 0], "said": [0, 1]}}, 1)).table()
    assert rows["note"].null_count == 300
    assert 0 < rows["said"].null_count < 300
    assert set(rows["said"].drop_null().to_pylist()) <= set("abcdefghijklmnopqrstuvwxyz")
