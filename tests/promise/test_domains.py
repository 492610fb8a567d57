"""A model's values are those of the columns it speaks of, and what else must be believed is said."""

import json
from pathlib import Path

import numpy as np
import pytest

from entwined.dependence import (
    BayesNet,
    Box,
    Edge,
    Forms,
    Graph,
    Groups,
    MarkovChain,
    RandomField,
    Variable,
    model_from,
)
from entwined.errors import BadModel
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.schema import Boolean, Categorical, Cells, Integer, Person, Schema, Text

COLUMNS = (Categorical("a", ("x", "y")), Categorical("b", ("x", "y", "z")), Boolean("c"))
CELLS = Schema(COLUMNS, unit=Cells(), rows=9).approve()


def chain(states, length=3, initial=None):
    return MarkovChain(length, Box.exact(np.full((states, states), 1 / states)), initial)


def field(**sizes):
    return RandomField.of(sizes, [])


def net(**values):
    return BayesNet.of([Variable(name, own, (), [[1 / len(own)] * len(own)]) for name, own in values.items()])


def codes(count):
    return tuple(map(str, range(count)))


def checked(schema, model, **about):
    return Promise.of(schema, [Declared(model, **about)])


def test_over_cells_every_column_has_as_many_values_as_codes():
    checked(CELLS, field(a=3, b=4, c=3))
    checked(CELLS, field(a=2, b=4, c=3), missing_says_nothing=("a",))
    checked(CELLS, field(b=4, hidden=7))
    checked(CELLS, net(b=codes(4), h=codes(7)).hiding(["h"]))
    checked(CELLS, chain(3, 2), columns=("a", "c"))
    checked(CELLS, net(a=codes(3), c=("false", "true", "unknown")))
    checked(CELLS, net(a=("x", "y"), b=codes(4)), missing_says_nothing=("a",))


@pytest.mark.parametrize(
    ("model", "about", "words"),
    [
        (
            field(a=3, b=3),
            {},
            "3 values for the column 'b', and the schema has 3 values and missing: 4 in all",
        ),
        (field(a=12), {}, "12 values for the column 'a'.* 3 in all. Describe 3 values"),
        (field(a=3), {"missing_says_nothing": ("a",)}, "the schema has 2 values: 2 in all"),
        (chain(3, 2), {"columns": ("a", "b")}, "3 values for the column 'b'"),
        (chain(3), {}, "3 values for the column 'b'"),
        (net(a=("y", "x", "?")), {}, "values of 'a' are 'y', 'x', '\\?'"),
        (net(a=("1", "2", "3")), {}, "values of 'a' are"),
        (field(a=3), {"missing_says_nothing": ("b",)}, "names 'b', and .* describes no values of it"),
        (field(a=3, h=2), {"missing_says_nothing": ("h",)}, "names 'h'"),
        (Groups(2), {"missing_says_nothing": ("a",)}, "names 'a'"),
        (Graph(3, np.array([[0, 1]]), np.array([0.5])), {"missing_says_nothing": ("a",)}, "names 'a'"),
        (field(a=2), {"missing_says_nothing": ("a", "a")}, "names a column twice"),
        (net(a=codes(3), b=codes(4)).hiding(["b"]), {}, "calls 'b' hidden, and it is a column"),
    ],
)
def test_over_cells_a_mismatch_is_refused_with_both_sizes(model, about, words):
    with pytest.raises(BadModel, match=words):
        checked(CELLS, model, **about)


def test_a_question_of_one_form_has_one_value_less_for_its_blank():
    schema = Schema(
        (Categorical("q", ("x", "-", "y")), Categorical("p", ("x", "y")), Categorical("form", ("A", "B"))),
        unit=Cells(),
        rows=9,
    ).approve()
    asked = np.array([[True, True], [False, True]])
    for own in (codes(3), ("x", "y", "gone"), ("x", "-", "y")):
        checked(schema, Forms(net(q=own, p=codes(3)), "form", asked.copy()))
    checked(schema, Forms(net(q=("x", "y"), p=codes(3)), "form", asked.copy()), missing_says_nothing=("q",))
    for own, words in (
        (codes(4), "one of them a blank"),
        (codes(2), "3 in all"),
        (("y", "x", "?"), "values of 'q'"),
    ):
        with pytest.raises(BadModel, match=words):
            checked(schema, Forms(net(q=own, p=codes(3)), "form", asked.copy()))
    with pytest.raises(BadModel, match="names 'form'"):
        checked(schema, Forms(net(q=codes(3)), "form", asked[:, :1].copy()), missing_says_nothing=("form",))


ROWS = Schema(COLUMNS, rows=3, most_rows=3).approve()
SERIES = Schema((Text("who", compare="exact"), Integer("day", 0, 9), *COLUMNS[:2]), most_rows=90).approve()


def test_over_rows_the_states_are_the_joint_values_of_the_columns():
    checked(ROWS, chain(3 * 4 * 3))
    checked(ROWS, chain(2 * 4 * 3), missing_says_nothing=("a",))
    checked(ROWS, chain(12), columns=("b", "c"))
    checked(ROWS, net(one=codes(3), two=("x", "y", "?")), columns=("a",))
    checked(SERIES, chain(12), by="who", order="day")
    checked(SERIES, chain(3), by="who", order="day", columns=("a",))
    person = Schema(
        (Text("who", compare="exact"), *COLUMNS[:1]), unit=Person("who", 2), most_rows=3
    ).approve()
    checked(person, chain(3))


@pytest.mark.parametrize(
    ("schema", "model", "about", "words"),
    [
        (ROWS, chain(2), {}, "2 states, and the joint values of 'a', 'b', 'c' are 36, .* Say in `columns`"),
        (ROWS, chain(2), {"columns": ("a",)}, "2 states, and the joint values of 'a' are 3"),
        (ROWS, net(one=codes(3), two=codes(2)), {"columns": ("a",)}, "2 states"),
        (ROWS, net(one=("x", "z", "?")), {"columns": ("a",)}, "values 'x', 'z'"),
        (ROWS, net(one=tuple("abcdefghijkl")), {"columns": ("b", "c")}, "by their codes"),
        (ROWS, chain(3), {"columns": ("a",), "missing_says_nothing": ("b",)}, "names 'b'"),
        (ROWS, chain(3), {"columns": ("a", "a")}, "twice"),
        (SERIES, chain(3), {"by": "who", "order": "day"}, "'a', 'b' are 12"),
    ],
)
def test_over_rows_a_mismatch_is_refused(schema, model, about, words):
    with pytest.raises(BadModel, match=words):
        checked(schema, model, **about)


# what must be believed is said


def said(schema, model, knowledge="any", **about):
    return " ".join(Promise.of(schema, [Declared(model, **about)], knowledge).trusted)


def test_what_is_believed_of_columns_outside_the_model():
    inside = field(a=3, b=4, c=3)
    assert said(CELLS, inside) == ""
    assert said(CELLS, field(a=3)) == (
        "Each column outside the model is worked out from a single column of the model, perhaps with independent "
        "errors, or says nothing about those in it."
    )
    assert said(CELLS, field(a=3), "model") == "Nothing is known of the columns outside the model."
    with_text = Schema((Text("note"), *COLUMNS), unit=Cells(), rows=9).approve()
    assert "outside the model" in said(with_text, inside)


def test_what_is_believed_of_rows_beside_their_states():
    assert "other columns" not in said(ROWS, chain(36))
    found = said(ROWS, chain(3), columns=("a",))
    assert "Given 'a', the other columns of a row say nothing about any other row." in found
    person = Schema(
        (Text("who", compare="exact"), *COLUMNS[:2]), unit=Person("who", 2), most_rows=3
    ).approve()
    assert "All rows of a person agree in 'a'" in said(person, chain(3), columns=("a",))


def test_what_is_believed_of_who_is_there():
    there = "Whether a row is in the table says nothing about what any row holds"
    absent = Schema(COLUMNS[:1], neighbours="add_remove", most_rows=3).approve()
    graph = Graph(3, np.array([[0, 1]]), np.array([0.5]))
    for model in (chain(3), field(u=3, v=3), net(u=codes(3)), graph):
        assert there in said(absent, model)
        assert there not in said(Schema(COLUMNS[:1], most_rows=3).approve(), model)
    assert there not in said(absent, Groups(2))  # it is inside the group that anything may happen
    person = Schema(
        (Text("who", compare="exact"), *COLUMNS[:1]), unit=Person("who", 1), most_rows=3
    ).approve()
    assert "Whether a person is in the table" in said(person, chain(3))


def test_what_is_believed_of_ids():
    loose = Schema((Text("who", compare="loose"), *SERIES.columns[1:]), most_rows=90).approve()
    assert "In column 'who' ids that differ only in spaces" in said(loose, Groups(2), by="who")
    assert "In column 'who' ids are compared exactly" in said(SERIES, Groups(2), by="who")
    person = Schema((Text("who", compare="exact"), *COLUMNS), unit=Person("who", 2), most_rows=3).approve()
    assert "In column 'who' ids are compared exactly" in " ".join(Promise.of(person).trusted)
    assert "In column" not in said(Schema(COLUMNS, most_rows=9).approve(), Groups(2), by="a")


def test_what_is_believed_of_missing_steps():
    start = np.array([0.2, 0.3, 0.5])
    words = "No step of a series is missing before or between those that are kept."
    about = {"by": "who", "order": "day", "columns": ("a",)}
    assert words in said(SERIES, chain(3, initial=start), "model", **about)
    assert words not in said(SERIES, chain(3, initial=start), **about)
    assert words not in said(SERIES, chain(3), "model", **about)


def test_what_is_believed_of_respondents_without_a_form():
    schema = Schema(
        (Categorical("q", ("x", "-", "y")), Categorical("form", ("A", "B"))), unit=Cells(), rows=9
    ).approve()
    asked = np.array([[True], [False]])
    words = "That a respondent has no form in column 'form', or one that is not declared, says nothing"
    assert words in said(schema, Forms(net(q=codes(3)), "form", asked))
    assert words not in said(schema, Forms(net(q=codes(3)), "form", np.array([[True], [False], [False]])))


def test_knowledge_of_exact_values_alone_is_not_what_a_release_is_made_for():
    with pytest.raises(BadModel, match="cannot be kept to exact values"):
        Promise.of(CELLS, [Groups(2)], "values")


def test_an_order_of_variables_survives_writers_that_sort_names():
    model = RandomField.of({"b": 4, "a": 3}, [Edge(("b", "a"), np.ones((4, 3)).tolist())])
    again = model_from(json.loads(json.dumps(model.document, sort_keys=True)), Path())
    assert (again.names, again.sizes) == (("b", "a"), (4, 3))
    assert again.document == model.document
    for wrong in (["b"], ["b", "b"], ["b", "c"], ["b", 1], "ba"):
        with pytest.raises(BadModel, match="order"):
            model_from({**model.document, "order": wrong}, Path())
