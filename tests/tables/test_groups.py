"""Which rows belong together is a declared rule, the same in every engine, and so is which of them are kept."""

import pyarrow as pa
import pytest

from entwined.errors import BadSchema, BadTable
from entwined.queries import Axis, TableOf, everything
from entwined.schema import Person, Schema, Text
from entwined.tables import open_table
from support import engines
from support.grouped import ASKED, COLUMNS, HOME, SPELLINGS, WHO, check_groups

USUAL = [
    *((engine, "loose text") for engine in engines.LIGHT),
    *(("postgres", which) for which in WHO if which != "loose text"),
    *(("objects", which) for which in ("exact text", "whole", "number", "category")),
    ("duckdb", "number"),
]
REST = [(engine, which) for engine in engines.LIGHT for which in WHO if (engine, which) not in USUAL]


@pytest.mark.parametrize(
    ("engine", "which"), [*USUAL, *(pytest.param(*one, marks=pytest.mark.slow) for one in REST)]
)
def test_groups_are_those_of_the_declared_comparison(engine, which, tmp_path):
    check_groups(engines.LIGHT[engine], which, tmp_path)


def test_one_household_in_eight_spellings_is_one_household():
    frame = pa.table({"who": HOME * 4, "step": [1] * 32, "word": ["a"] * 32, "flag": [True] * 32})
    with open_table(frame, Schema((Text("who", compare="loose"), *COLUMNS))) as table:
        assert table.keeping("who", 4).answer(ASKED)[1].tolist() == [4]
    person = Schema((Text("who", compare="loose"), *COLUMNS), unit=Person("who", 4), neighbours="add_remove")
    with open_table(frame, person) as table:
        assert table.answer(ASKED)[1].tolist() == [4]


def test_spellings_of_the_rule_itself():
    loose, exact = Text("who", compare="loose"), Text("who", compare="exact")
    raws = [*SPELLINGS, 7, 7.0, 7.5, -0.0, float("nan"), 10**20]
    assert [loose.form(raw) for raw in raws] == [engines.compared(raw, "loose") for raw in raws]
    assert [exact.form(raw) for raw in raws] == [engines.compared(raw, "exact") for raw in raws]
    assert {loose.form(raw) for raw in HOME} == {"smith"}
    assert len({exact.form(raw) for raw in HOME}) == 4
    assert (loose.form(10**5000), loose.form(True)) == ("1" + "0" * 5000, "true")


def test_objects_of_a_frame_are_one_whatever_their_type(tmp_path):
    import pandas as pd

    mixed = [7, 7.0, "7", "07", " 7 ", None, float("nan"), pd.NA, 8, "8"]
    frame = pd.DataFrame({"who": pd.Series(mixed, dtype=object), "step": 1, "word": "a", "flag": True})
    schema = Schema((Text("who", compare="loose"), *COLUMNS), unit=Person("who", 1), neighbours="add_remove")
    with open_table(frame, schema) as table:
        assert table.answer(ASKED)[1].tolist() == [2]


def test_a_text_that_groups_rows_needs_a_comparison():
    for make in (
        lambda: Schema((Text("who"), *COLUMNS), unit=Person("who", 2), neighbours="add_remove"),
        lambda: open_table(pa.table({"who": ["a"], "step": [1], "word": ["a"], "flag": [True]}), Schema((Text("who"), *COLUMNS))).keeping("who", 2),
    ):  # fmt: skip
        with pytest.raises(BadSchema, match=r'compare = "loose".*compare = "exact"'):
            make()
    with pytest.raises(BadSchema, match="exact"):
        Text("who", compare="any")
    assert Schema((Text("a"),)).digest != Schema((Text("a", compare="exact"),)).digest


@pytest.mark.parametrize(
    "values", [pa.array([1], pa.uint64()), pa.array([1], pa.decimal128(30, 2)), pa.array([True])]
)
def test_an_id_that_the_engine_could_blur_is_refused(values):
    frame = pa.table({"who": values, "step": [1], "word": ["a"], "flag": [True]})
    with (
        open_table(frame, Schema((Text("who", compare="exact"), *COLUMNS))) as table,
        pytest.raises(BadTable, match="belong together"),
    ):
        table.keeping("who", 2)


def test_which_steps_are_kept_tells_nothing_of_other_columns(tmp_path):
    """Two rows of one step are one step: what they hold moves no other step in or out."""
    asked = [TableOf((Axis("step", 4),), everything())]
    kept = set()
    for order in (COLUMNS, COLUMNS[::-1]):
        schema = Schema((Text("who", compare="exact"), *order))
        for words in ("aab", "bac", "cca", "abx"):
            frame = pa.table(
                {"who": ["h"] * 4, "step": [0, 0, 1, 2], "word": [*words, "a"], "flag": [True] * 4}
            )
            with open_table(frame, schema) as table:
                kept.add(tuple(table.keeping("who", 2, "step").answer(asked)[0].tolist()))
    assert kept == {(1, 1, 0, 0, 0)}
