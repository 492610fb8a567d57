"""Models that cannot be: each is refused soon, in words that name the culprit, and never by a traceback."""

import gzip
import json
import math
import os
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entwined.dependence.files import KINDS, SYNTAXES, model_from, read_model, write_model
from entwined.dependence.groups import Groups
from entwined.dependence.syntax import json_document, toml_document
from entwined.errors import BadInput, EntwinedError

SECONDS = 2.0


def refused(read, *arguments) -> str:
    """Read what is bad; give the message, which must be one for people and come soon."""
    start = time.process_time()
    with pytest.raises(BadInput) as caught:
        read(*arguments)
    assert time.process_time() - start < SECONDS
    message = str(caught.value)
    assert "Traceback" not in message
    assert "Error" not in message
    assert "\n" not in message
    assert len(message) < 600
    assert message.endswith(".")
    assert caught.value.__cause__ is None
    return message


# Files that hold no document

TEXTS = {
    "empty.json": (b"", "empty"),
    "blank.json": (b" \n\t", "empty"),
    "empty.toml": (b"", "empty"),
    "mark.json": (b'\xef\xbb\xbf{"kind":"groups","largest":2}', "byte order mark"),
    "mark.toml": (b'\xef\xbb\xbfkind="groups"', "byte order mark"),
    "utf16.json": ('{"kind":"groups","largest":2}'.encode("utf-16"), "UTF-16"),
    "utf16be.json": (b"\xfe\xff" + '{"kind":"groups"}'.encode("utf-16-be"), "UTF-16"),
    "utf16bare.json": ('{"kind":"groups"}'.encode("utf-16-le"), "zero"),
    "utf32.json": ('{"kind":"groups"}'.encode("utf-32-be"), "zero"),
    "zero.json": (b'{"kind":"groups\x00","largest":2}', "Byte 16"),
    "latin1.json": ('{"kind":"gröups","largest":2}'.encode("latin-1"), "Byte 12"),
    "cut.json": (b'{"kind":"groups","largest":2', "line 1"),
    "comma.json": (b'{"kind":"groups","largest":2,}', "line 1"),
    "two.json": (b'{"kind":"groups","largest":2}{}', "Extra data"),
    "single quotes.json": (b"{'kind':'groups'}", "column 2"),
    "comment.json": (b'{"kind":"groups","largest":2} // two', "Extra data"),
    "control.json": (b'{"kind":"groups\n","largest":2}', "control character"),
    "toml in.json": (b'kind = "groups"\nlargest = 2', "line 1"),
    "json in.toml": (b'{"kind":"groups","largest":2}', "not TOML"),
    "twice.json": (b'{"kind":"groups","largest":2,"largest":9}', "'largest' is given twice"),
    "twice.toml": (b'kind="groups"\nlargest=2\nlargest=3', "not TOML"),
    "deep twice.json": (
        b'{"kind":"random_field","variables":{"a":2,"a":3},"edges":[]}',
        "'a' is given twice",
    ),
    "nan.json": (b'{"kind":"gaussian","size":3,"max_correlation":NaN}', "NaN"),
    "inf.json": (b'{"kind":"graph","edges":[[0,1]],"log_odds":Infinity}', "Infinity"),
    "minus inf.json": (b'{"kind":"graph","edges":[[0,1]],"log_odds":-Infinity}', "-Infinity"),
    "nan.toml": (b'kind="gaussian"\nsize=3\nmax_correlation=nan', "max_correlation"),
    "inf.toml": (b'kind="graph"\nedges=[[0,1]]\nlog_odds=inf', "log_odds"),
    "overflow.json": (b'{"kind":"graph","edges":[[0,1]],"log_odds":1e999}', "log_odds"),
    "digits.json": (b'{"kind":"groups","largest":' + b"9" * 5000 + b"}", "digits"),
    "digits.toml": (b'kind="groups"\nlargest=' + b"9" * 5000, "usable size"),
    "huge.json": (b'{"kind":"groups","largest":' + b"9" * 400 + b"}", "largest"),
    "nested.json": (b"[" * 200_000, "nested too deeply"),
    "nested objects.json": (b'{"a":' * 200_000, "nested too deeply"),
    "nested.toml": (b"a = " + b"[" * 100_000, "nested too deeply"),
    "dots.toml": (b".".join([b"a"] * 100_000) + b" = 1", "joined by dots"),
    "quoted dots.toml": (b" . ".join([b'"a"'] * 100_000) + b" = 1", "joined by dots"),
    "date.toml": (b'kind="groups"\nlargest=1979-05-27', "largest"),
    "bad date.toml": (b'kind="groups"\nlargest=1979-02-31', "not TOML"),
    "half.json": (rb'{"kind":"groups","largest":2,"source":"\ud800"}', "half a character"),
    "half name.json": (rb'{"kind":"random_field","variables":{"\udc00":2},"edges":[]}', "half a character"),
    "list.json": (b"[1, 2]", "a list of 2 entries"),
    "text.json": (b'"groups"', "'groups'"),
    "number.json": (b"7", "7"),
    "null.json": (b"null", "null"),
    "true.json": (b"true", "true"),
    "model.yaml": (b"kind: groups", "'.yaml'"),
    "model": (b'{"kind":"groups","largest":2}', "no suffix"),
    "model.pkl": (b"\x80\x04.", "'.pkl'"),
    "model.csv": (b"0,1", "'.csv'"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_files_that_hold_no_model(name, tmp_path):
    data, culprit = TEXTS[name]
    (tmp_path / name).write_bytes(data)
    message = refused(read_model, tmp_path / name)
    assert culprit in message
    assert name in message


def test_files_that_are_not_there(tmp_path):
    assert "no such file" in refused(read_model, tmp_path / "nothing.json")
    (tmp_path / "folder.json").mkdir()
    assert "folder" in refused(read_model, tmp_path / "folder.json")
    assert "cannot be read" in refused(read_model, tmp_path / "zero\0.json")
    assert "cannot be read" in refused(read_model, tmp_path / ("long" * 80 + ".json"))
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    assert "cannot be read" in refused(read_model, tmp_path / "loop.json")
    os.mkfifo(tmp_path / "pipe.json")
    assert "pipe" in refused(read_model, tmp_path / "pipe.json")
    (tmp_path / "file.json").write_text("{}")
    assert "cannot be read" in refused(read_model, tmp_path / "file.json" / "below.json")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "locked.json"
    path.write_text("{}")
    path.chmod(0)
    assert "may not be read" in refused(read_model, path)


@pytest.mark.parametrize("suffix", [".json", ".toml", ".bif"])
def test_a_file_too_large_is_refused_before_it_is_read(suffix, tmp_path):
    path = tmp_path / f"large{suffix}"
    with path.open("wb") as file:
        file.truncate(3_000_000_000)  # a hole: it takes no disk
    assert "3000 MB" in refused(read_model, path)


# Documents that describe no model

CHAIN = {"kind": "markov_chain", "length": 3, "transition": [[0.5, 0.5], [0.5, 0.5]]}
SEASONS = {"kind": "varying_chain", "length": 3, "transitions": [[[0.5, 0.5], [0.5, 0.5]]]}
A = {"name": "a", "values": ["x", "y"], "parents": [], "table": [[0.5, 0.5]]}
B = {"name": "b", "values": ["x", "y"], "parents": ["a"], "table": [[0.5, 0.5], [0.5, 0.5]]}
FIELD = {
    "kind": "random_field",
    "variables": {"a": 2, "b": 2, "c": 2},
    "edges": [
        {"between": ["a", "b"], "potential": [[1, 2], [3, 4]]},
        {"between": ["b", "c"], "potential": [[1, 2], [3, 4]]},
    ],
}
KIN = {"kind": "gaussian", "kinship": [[0.5, 0.25], [0.25, 0.5]], "heritability": 0.5}
GAUSS = {"kind": "gaussian", "covariance": [[1, 0.5], [0.5, 1]]}
CLASS = {"kind": "gaussian", "correlation": [[1, [0.1, 0.3]], [[0.1, 0.3], 1]]}
BOUND = {"kind": "gaussian", "size": 8, "max_correlation": 0.1}
CITY = {"kind": "places", "edges": [[0, 1]], "across": 2, "down": 2}
TIES = {"kind": "ties", "edges": [[0, 1], [1, 2]], "coefficient": 0.38}
TIED = {"kind": "ties", "edges": [[0, 1]], "kernel": [[0.9, 0.1], [0.1, 0.9]]}
GRAPH = {"kind": "graph", "edges": [[0, 1], [1, 2]], "log_odds": 0.4}


FORMS = {
    "kind": "forms",
    "form": "sheet",
    "asked": [["a"], ["a", "b"]],
    "answers": {"kind": "bayes_net", "variables": [A, B]},
}


def net(*variables):
    return {"kind": "bayes_net", "variables": list(variables)}


def field(*edges, **variables):
    return {**FIELD, "variables": variables or FIELD["variables"], "edges": list(edges)}


def edge(potential, *between):
    return {"between": list(between or ("a", "b")), "potential": potential}


def without(document, name):
    return {key: value for key, value in document.items() if key != name}


DOCUMENTS = [
    # kinds and fields
    ({}, '"kind"'),
    ({"kind": None}, "null"),
    ({"kind": 7}, "7"),
    ({"kind": ["groups"]}, "a list of 1 entries"),
    ({"kind": "group", "largest": 2}, "'group' is unknown"),
    ({"kind": "Groups", "largest": 2}, '"groups"'),
    ({"kind": "x" * 10_000}, "unknown"),
    ({"kind": "independent"}, '"units"'),
    ({"kind": "independent", "units": 0}, "0 units"),
    ({"kind": "independent", "units": -3}, "-3 units"),
    ({"kind": "independent", "units": True}, '"units" is true'),
    ({"kind": "independent", "units": 2.0}, '"units" is 2.0'),
    ({"kind": "independent", "units": "3"}, "\"units\" is '3'"),
    ({"kind": "independent", "units": None}, '"units" is null'),
    ({"kind": "independent", "units": [3]}, '"units" is a list'),
    ({"kind": "independent", "units": 10**15}, "1000000000000000"),
    ({"kind": "independent", "units": 10**40}, "18 digits"),
    ({"kind": "independent", "units": 3, "unit": 3}, "'unit'"),
    ({"kind": "independent", "units": 3, "source": "guess"}, "'guess'"),
    ({"kind": "independent", "units": 3, "source": 1}, '"source" is 1'),
    ({"kind": "independent", "units": 3, "source": None}, '"source" is null'),
    ({"kind": "groups"}, '"largest"'),
    ({"kind": "groups", "largest": 0}, "0 units"),
    ({"kind": "groups", "largest": 1.5}, "1.5"),
    ({"kind": "groups", "largest": [1, 2]}, '"largest"'),
    ({"kind": "groups", "size": 6}, "'size'"),
    ({"kind": "groups", "largest": 2, "": 1}, "''"),
    # chains
    ({**CHAIN, "kind": "endless_chain"}, "'length'"),
    ({"kind": "endless_chain"}, '"transition"'),
    ({"kind": "endless_chain", "transition": [[0.5, 0.5]]}, "not square"),
    (without(CHAIN, "length"), '"length"'),
    (without(CHAIN, "transition"), '"transition"'),
    (without(SEASONS, "transitions"), '"transitions"'),
    ({**SEASONS, "transitions": [[0.5, 0.5], [0.5, 0.5]]}, "0.5"),
    ({**SEASONS, "transitions": []}, "empty"),
    ({**SEASONS, "transitions": [[[0.5, 0.5]]]}, "1 × 1 × 2"),
    ({**SEASONS, "transitions": [[[0.5, 0.6], [0.5, 0.5]]]}, "sums to 1.1"),
    ({**SEASONS, "transitions": [[[1]]] * 4}, "never used"),
    ({**SEASONS, "initial": [1]}, "1 states"),
    ({**CHAIN, "length": 0}, "0 units"),
    ({**CHAIN, "length": 10**15}, "1000000000000000"),
    ({**CHAIN, "length": "100"}, "'100'"),
    ({**CHAIN, "length": False}, "false"),
    ({**CHAIN, "steps": 3}, "'steps'"),
    ({**CHAIN, "transition": 0.5}, "0.5"),
    ({**CHAIN, "transition": None}, "null"),
    ({**CHAIN, "transition": {}}, "an object"),
    ({**CHAIN, "transition": "[[1]]"}, "'[[1]]'"),
    ({**CHAIN, "transition": []}, "empty"),
    ({**CHAIN, "transition": [[]]}, "empty"),
    ({**CHAIN, "transition": [[0.5, 0.5]]}, "1 × 2"),
    ({**CHAIN, "transition": [0.5, 0.5]}, "0.5"),
    ({**CHAIN, "transition": [[0.5, 0.5], [1]]}, "lists of 1 and of 2"),
    ({**CHAIN, "transition": [[0.5, 0.5], 1]}, '"transition" holds 1'),
    ({**CHAIN, "transition": [[0.5, 0.6], [0.5, 0.5]]}, "row 1, sums to 1.1"),
    ({**CHAIN, "transition": [[0.5, 0.5], [0.5, 0.4]]}, "row 2, sums to 0.9"),
    ({**CHAIN, "transition": [[0.5, 0.5], [1.5, -0.5]]}, "row 2, has a negative"),
    ({**CHAIN, "transition": [[0, 0], [0.5, 0.5]]}, "row 1, sums to 0"),
    ({**CHAIN, "transition": [[1e308, 1e308], [0.5, 0.5]]}, "row 1, has a probability above 1"),
    ({**CHAIN, "transition": [[0.5, 0.500002], [0.5, 0.5]]}, "row 1"),
    ({**CHAIN, "transition": [["0.5", 0.5], [0.5, 0.5]]}, "'0.5'"),
    ({**CHAIN, "transition": [[True, False], [0.5, 0.5]]}, "true"),
    ({**CHAIN, "transition": [[True, 0.0], [False, 1.0]]}, "not a number"),
    ({**CHAIN, "transition": [[None, 0.5], [0.5, 0.5]]}, "null"),
    ({**CHAIN, "transition": [[10**400, 0.5], [0.5, 0.5]]}, "too large"),
    ({**CHAIN, "transition": [[math.inf, 0.5], [0.5, 0.5]]}, "infinite"),
    ({**CHAIN, "transition": [[math.nan, 0.5], [0.5, 0.5]]}, "not a number"),
    ({**CHAIN, "transition": [[[0.6, 0.4], 0.5], [0.5, 0.5]]}, "lower end above"),
    ({**CHAIN, "transition": [[[0.1, 0.2], [0.1, 0.2]], [0.5, 0.5]]}, "row 1, cannot sum to 1"),
    ({**CHAIN, "transition": [[0.5, 0.5], [[0.9, 1], [0.2, 1]]]}, "row 2, cannot sum to 1"),
    ({**CHAIN, "transition": [[[-0.1, 0.5], 0.5], [0.5, 0.5]]}, "row 1, has a negative"),
    ({**CHAIN, "transition": [[[0.1, 0.2, 0.3], 0.5], [0.5, 0.5]]}, "a list of 3"),
    ({**CHAIN, "transition": [[[0.1, True], 0.5], [0.5, 0.5]]}, "true"),
    ({**CHAIN, "transition": [[[0.1, "x"], 0.5], [0.5, 0.5]]}, "'x'"),
    ({**CHAIN, "transition": [[[[0.1], 0.2], 0.5], [0.5, 0.5]]}, "a list of 1"),
    ({**CHAIN, "transition": [[{"low": 0.1}, 0.5], [0.5, 0.5]]}, "an object"),
    ({**CHAIN, "transition": [[[[[0.5]]]]]}, "a list of 1"),
    ({**CHAIN, "initial": [1]}, "initial law has 1 states"),
    ({**CHAIN, "initial": [0.5, 0.4]}, "initial law sums to 0.9"),
    ({**CHAIN, "initial": [1.5, -0.5]}, "initial law has a negative"),
    ({**CHAIN, "initial": [1e308, 1e308]}, "initial law has a probability above 1"),
    ({**CHAIN, "initial": [[0.5, 0.5]]}, "initial"),
    ({**CHAIN, "initial": [[0.4, 0.6], 0.5]}, '"initial" has an interval'),
    ({**CHAIN, "initial": 0.5}, '"initial" holds 0.5'),
    ({**CHAIN, "initial": None}, '"initial" holds null'),
    ({**CHAIN, "initial": [True, False]}, "not a number"),
    # networks
    ({"kind": "bayes_net"}, '"variables"'),
    (net(), "0 units"),
    ({"kind": "bayes_net", "variables": {"a": 2}}, '"variables" is an object'),
    (net(7), "Variable 1 is 7"),
    (net(A, None), "Variable 2 is null"),
    (net({}), '"name"'),
    (net(A, B) | {"hidden": "a"}, '"hidden" is'),
    (net(A, B) | {"hidden": [1]}, 'Name 1 of "hidden" is 1'),
    (net(A, B) | {"hidden": ["z"]}, "'z', which is no variable"),
    (net(without(A, "table")), "Variable 'a' has no \"table\""),
    (net(A, without(B, "parents")), "Variable 'b' has no \"parents\""),
    (net({**A, "states": 2}), "'states'"),
    (net({**A, "name": 7}), "variable 1 is 7"),
    (net({**A, "values": []}), "'a' has no values"),
    (net({**A, "values": ["x", "x"]}), "'a'"),
    (net({**A, "values": 2}), "\"values\" of 'a' is 2"),
    (net({**A, "values": "xy"}), "\"values\" of 'a' is 'xy'"),
    (net({**A, "values": ["x", 1]}), "\"values\" of 'a' holds 1"),
    (net({**A, "values": ["x", True]}), "true"),
    (net(A, A), "'a'"),
    (net({**A, "parents": "a"}), "\"parents\" of 'a'"),
    (net({**A, "parents": None}), "\"parents\" of 'a' is null"),
    (net({**A, "parents": [0]}), "\"parents\" of 'a' holds 0"),
    (net({**A, "parents": [["a"]]}), "\"parents\" of 'a'"),
    (net({**A, "parents": ["z"]}), "unknown parent 'z'"),
    (net({**A, "parents": ["a"]}), "'a' has itself"),
    (net(A, {**B, "parents": ["a", "a"]}), "parent 'a' twice"),
    (net({**A, "parents": ["b"], "table": B["table"]}, B), "its own ancestor"),
    (net(A, {**B, "table": [[0.5, 0.5]]}), "The table of 'b' is 1 rows of 2 numbers where 2 rows"),
    (net({**A, "table": [[0.5, 0.5], [0.5, 0.5]]}), "The table of 'a' is 2 rows"),
    (net({**A, "table": [[0.5, 0.25, 0.25]]}), "The table of 'a' is 1 rows of 3"),
    (net({**A, "table": [0.5, 0.5]}), "The table of 'a' holds 0.5"),
    (net({**A, "table": 1}), "The table of 'a' holds 1"),
    (net({**A, "table": []}), "The table of 'a'"),
    (net({**A, "table": [[0.5, 0.6]]}), "The table of 'a', row 1, sums to 1.1"),
    (net(A, {**B, "table": [[0.5, 0.5], [0.5, 0.4]]}), "The table of 'b', row 2, sums to 0.9"),
    (net(A, {**B, "table": [[0.5, 0.5], [-1, 2]]}), "The table of 'b', row 2, has a negative"),
    (net(A, {**B, "table": [[0.5, 0.5], [0.5, "0.5"]]}), "The table of 'b' holds '0.5'"),
    (net(A, {**B, "table": [[0.5, 0.5], [1, True]]}), "The table of 'b' holds true"),
    (net(A, {**B, "table": [[0.5, 0.5], [[0.1, 0.2], 0.5]]}), "The table of 'b', row 2, cannot sum"),
    (net(A, {**B, "table": [[0.5, 0.5], [[0.2, 0.1], 0.5]]}), "The table of 'b' has an interval"),
    (net(A, {**B, "table": [[0.5, 0.5], [0.5, 10**999]]}), "The table of 'b' holds an integer"),
    (
        net(*({**A, "name": f"v{i}"} for i in range(500)), {**A, "name": "z", "table": [[1, 1]]}),
        "The table of 'z'",
    ),
    (
        net(*({**A, "name": f"v{i}"} for i in range(500)), {**A, "name": "z", "table": [[1, []]]}),
        "The table of 'z'",
    ),
    (
        net(
            *({**A, "name": f"v{i}", "values": ["x"], "table": [[1]]} for i in range(80)),
            {**A, "name": "z", "parents": [f"v{i}" for i in range(80)]},
        ),
        "'z' has 80 parents",
    ),
    # questionnaires in forms
    (without(FORMS, "form"), '"form"'),
    (without(FORMS, "asked"), '"asked"'),
    (without(FORMS, "answers"), '"answers"'),
    ({**FORMS, "form": 1}, '"form" is 1'),
    ({**FORMS, "form": "a"}, "'a' is among the questions"),
    ({**FORMS, "filling": []}, "'filling'"),
    ({**FORMS, "asked": {}}, '"asked" is an object'),
    ({**FORMS, "asked": ["a", "b"]}, "\"asked\" of form 1 is 'a'"),
    ({**FORMS, "asked": [["a"], ["b", 2]]}, '"asked" of form 2 holds 2'),
    ({**FORMS, "asked": [["a"], ["b", "z"]]}, "Form 2 asks 'z'"),
    ({**FORMS, "asked": [["a", "b", "a"]]}, "Form 1 asks 'a' twice"),
    ({**FORMS, "asked": []}, "No form asks the question 'a'"),
    ({**FORMS, "asked": [["a"], ["a"]]}, "No form asks the question 'b'"),
    ({**FORMS, "asked": [[True, False]]}, '"asked" of form 1 holds true'),
    ({**FORMS, "answers": []}, '"answers" is a list'),
    ({**FORMS, "answers": {}}, '"kind"'),
    ({**FORMS, "answers": {"kind": "groups", "largest": 2}}, "\"answers\" has the kind 'groups'"),
    ({**FORMS, "answers": FORMS}, "\"answers\" has the kind 'forms'"),
    ({**FORMS, "answers": net(A, {**B, "table": [[0.5, 0.5]]})}, "The table of 'b'"),
    ({**FORMS, "source": "guess"}, "'guess'"),
    ({**FORMS, "source": "exploratory"}, 'its "answers" have "declared"'),
    # fields
    (without(FIELD, "variables"), '"variables"'),
    (without(FIELD, "edges"), '"edges"'),
    ({**FIELD, "variables": {}}, "0 units"),
    ({**FIELD, "variables": ["a", "b"]}, '"variables" is a list'),
    ({**FIELD, "variables": {"a": 2, "b": 0, "c": 2}}, "'b' has 0 values"),
    ({**FIELD, "variables": {"a": 2, "b": -1, "c": 2}}, "'b' has -1 values"),
    ({**FIELD, "variables": {"a": 2, "b": 2.0, "c": 2}}, "'b' is 2.0"),
    ({**FIELD, "variables": {"a": 2, "b": True, "c": 2}}, "'b' is true"),
    ({**FIELD, "variables": {"a": 2, "b": ["x", "y"], "c": 2}}, "'b' is a list"),
    ({**FIELD, "variables": {"a": 10**9, "b": 10**9, "c": 2}}, "'a' has 1000000000 values"),
    ({**FIELD, "variables": {"a": 2, "b": 10**400, "c": 2}}, "'b' has an integer of more than 30 digits"),
    (field(edge([[1] * 2] * 2), a=10**6, b=10**6), "where 1000000 rows of 1000000 numbers are needed"),
    ({**FIELD, "edges": {}}, '"edges" is an object'),
    (field(3), "Edge 1 is 3"),
    (field(["a", "b"]), "Edge 1 is a list"),
    (field({"between": ["a", "b"]}), 'Edge 1 has no "potential"'),
    (field({**edge([[1, 1], [1, 1]]), "weight": 1}), "'weight'"),
    (field(edge([[1, 1], [1, 1]], "a")), "Edge 1 is between 1 variables"),
    (field(edge([[1, 1], [1, 1]], "a", "b", "c")), "Edge 1 is between 3 variables"),
    (
        field(edge([[1, 1], [1, 1]], "a"), edge([[1, 1], [1, 1]], "a", "b", "c")),
        "Edge 1 is between 1 variables",
    ),
    (field({"between": "ab", "potential": [[1, 1], [1, 1]]}), "\"between\" of edge 1 is 'ab'"),
    (field(edge([[1, 1], [1, 1]], "a", 2)), '"between" of edge 1 holds 2'),
    (field(edge([[1, 1], [1, 1]], "a", "z")), "Edge 1 names the unknown variable 'z'"),
    (field(edge([[1, 1], [1, 1]], "a", "a")), "'a' to itself"),
    (field(edge([[1, 2], [2, 1]]), edge([[1, 2], [2, 1]])), "between 'a' and 'b' is listed twice"),
    (field(edge([[1, 2], [2, 1]]), edge([[1, 2], [2, 1]], "b", "a")), "between 'a' and 'b' is listed twice"),
    (field(edge([[1, 2]])), "between 'a' and 'b' is 1 rows of 2 numbers where 2 rows"),
    (field(edge([[1, 2], [3]])), "between 'a' and 'b' has lists of 1 and of 2"),
    (field(edge([[1, -2], [3, 4]])), "between 'a' and 'b', row 1, has a negative"),
    (field(edge([[0, 0], [0, 0]])), "between 'a' and 'b' is zero everywhere"),
    (field(edge([[1, "2"], [3, 4]])), "between 'a' and 'b' holds '2'"),
    (field(edge([[1, True], [3, 4]])), "between 'a' and 'b' holds true"),
    (field(edge([[1, [3, 2]], [3, 4]])), "between 'a' and 'b' has an interval"),
    (field(edge(None)), "between 'a' and 'b' holds null"),
    (field(edge([[1, math.inf], [3, 4]])), "between 'a' and 'b' has an entry that is infinite"),
    # gaussians
    ({"kind": "gaussian"}, '"covariance", "correlation", "max_correlation"'),
    ({**GAUSS, **BOUND}, "covariance"),
    ({**GAUSS, "deviations": [1, 1]}, "'deviations'"),
    ({**GAUSS, "covariance": []}, "empty"),
    ({**GAUSS, "covariance": [[1, 0.5]]}, "not square"),
    ({**GAUSS, "covariance": [[1, 0.5], [0.4, 1]]}, "not symmetric"),
    ({**GAUSS, "covariance": [[1, 2], [2, 1]]}, "covariance"),
    ({**GAUSS, "covariance": [[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]]}, "not positive definite"),
    ({**GAUSS, "covariance": [[0, 0], [0, 1]]}, "variance 0"),
    ({**GAUSS, "covariance": [[-1, 0], [0, 1]]}, "variance -1"),
    ({**GAUSS, "covariance": [[1, True], [True, 1]]}, "true"),
    ({**GAUSS, "covariance": [[1, "0"], ["0", 1]]}, "'0'"),
    ({**GAUSS, "covariance": [[1, [0, 0.1]], [[0, 0.1], 1]]}, "interval"),
    ({**GAUSS, "covariance": [[1, 1e308], [1e308, 1]]}, "covariance"),
    ({"kind": "gaussian", "size": 3, "equal_correlation": 1}, "not positive definite"),
    ({"kind": "gaussian", "size": 3, "equal_correlation": [0.1, 0.2]}, "interval"),
    ({"kind": "gaussian", "size": 3, "equal_correlation": 0.2, "autoregression": 0.2}, "has both"),
    ({"kind": "gaussian", "size": 10**6, "equal_correlation": 0.2}, "at most 5,000"),
    ({"kind": "gaussian", "size": 3, "autoregression": 2}, "above 1 in size"),
    ({**KIN, "heritability": 1.2}, "at most 1"),
    ({**KIN, "shared": 0.6}, "at most 1"),
    ({**KIN, "kinship": [[1, 0.5], [0.5, 1]]}, "with oneself"),
    ({**KIN, "kinship": [[0.5, 0.25]]}, "square"),
    ({**KIN, "kinship": [[0.5, [0, 0.25]], [0.25, 0.5]]}, "interval"),
    (without(KIN, "heritability"), "heritability"),
    ({**GAUSS, "covariance": 4}, '"covariance" holds 4'),
    (without(BOUND, "size"), '"size"'),
    ({**BOUND, "size": 0}, "0 units"),
    ({**BOUND, "size": 10**15}, "1000000000000000"),
    ({**BOUND, "size": "8"}, "'8'"),
    ({**BOUND, "max_correlation": 1}, "correlation of 1"),
    ({**BOUND, "max_correlation": -0.1}, "correlation of -0.1"),
    ({**BOUND, "max_correlation": True}, '"max_correlation" holds true'),
    ({**BOUND, "max_correlation": "0.1"}, "'0.1'"),
    ({**BOUND, "max_correlation": [0.3, 0.1]}, '"max_correlation" has an interval'),
    ({**BOUND, "max_correlation": [0.1, 0.2, 0.3]}, '"max_correlation" holds a list of 3'),
    ({**CLASS, "correlation": [[2, 0], [0, 1]]}, "diagonal"),
    ({**CLASS, "correlation": [[1, [0.1, 1]], [[0.1, 1], 1]]}, "below 1"),
    ({**CLASS, "correlation": [[1, [0.1, 0.2]], [[0.1, 0.3], 1]]}, "not symmetric"),
    ({**CLASS, "correlation": [[1, 0.5], [0.5]]}, '"correlation" has lists'),
    ({**CLASS, "deviations": [1]}, "1 deviations for 2 units"),
    ({**CLASS, "deviations": [1, 0]}, '"deviations" has 0'),
    ({**CLASS, "deviations": [1, -1]}, '"deviations" has -1'),
    ({**CLASS, "deviations": [1, [1, 2]]}, '"deviations" has an interval'),
    ({**CLASS, "deviations": [1, "2"]}, "'2'"),
    ({**CLASS, "size": 2}, "'size'"),
    # graphs that are written out
    (without(GRAPH, "edges"), '"edges"'),
    (without(GRAPH, "log_odds"), '"log_odds"'),
    ({**GRAPH, "edges": 7}, '"edges" is 7'),
    ({**GRAPH, "edges": []}, "no edge"),
    ({**GRAPH, "edges": [0, 1]}, "Edge 1 is 0"),
    ({**GRAPH, "edges": [[0]]}, "Edge 1 has 1 entries"),
    ({**GRAPH, "edges": [[0, 1], [1, 2, 0.5]]}, "Edge 2 has 3 entries"),
    ({**GRAPH, "edges": [[0, 1, 2, 3]]}, "Edge 1 has 4 entries"),
    ({**GRAPH, "edges": [["a", "b"]]}, "An end of edge 1 is 'a'"),
    ({**GRAPH, "edges": [[0, 1], [1, 2.0]]}, "An end of edge 2 is 2.0"),
    ({**GRAPH, "edges": [[0, True]]}, "true"),
    ({**GRAPH, "edges": [[0, 10**30]]}, "18 digits"),
    ({**GRAPH, "edges": [[0, 0]]}, "node 0 to itself"),
    ({**GRAPH, "edges": [[0, 7], [7, 0]]}, "between node 0 and node 7 is listed twice"),
    ({**GRAPH, "edges": [[0, 1, -1]]}, "Edge 1"),
    ({**GRAPH, "edges": [[0, 1, "-inf"]]}, "'-inf'"),
    ({**GRAPH, "edges": [[0, 1, None]]}, "null"),
    ({**GRAPH, "units": 2}, "Node 2 is not from 0 to 1"),
    ({**GRAPH, "units": 0}, "0 units"),
    ({**GRAPH, "units": 10**12}, "1000000000000 units"),
    ({**GRAPH, "units": "3"}, "'3'"),
    ({**GRAPH, "edges": [[-1, 0]], "units": 2}, "Node -1"),
    ({**GRAPH, "log_odds": -0.1}, '"log_odds" is -0.1'),
    ({**GRAPH, "log_odds": [-0.3, 0.2]}, '"log_odds" is -0.3'),
    ({**GRAPH, "log_odds": [0.3, 0.2]}, '"log_odds" has an interval'),
    ({**GRAPH, "log_odds": "0.4"}, "'0.4'"),
    ({**GRAPH, "log_odds": True}, "true"),
    ({**GRAPH, "log_odds": None}, "null"),
    ({**GRAPH, "log_odds": math.nan}, "not a number"),
    ({**GRAPH, "edges_digest": "0" * 64}, "edges_digest"),
    ({**GRAPH, "edges_digest": 5}, '"edges_digest" is 5'),
    ({**GRAPH, "strength": 1}, "'strength'"),
    # places
    (without(CITY, "down"), '"down"'),
    (without(CITY, "edges"), '"edges"'),
    ({**CITY, "nearness": 0}, "b above 0"),
    ({**CITY, "fall": -1}, "c from 0 on"),
    ({**CITY, "fall": [1, 2]}, "interval"),
    ({**CITY, "width": 0}, "width"),
    ({**CITY, "across": 64, "down": 64}, "larger cells"),
    ({**CITY, "across": "2"}, '"across"'),
    ({**CITY, "edges": [[0, 1, 0.5]]}, "Leave these out"),
    ({**CITY, "log_odds": 1}, "'log_odds'"),
    ({**CITY, "edges_digest": "0" * 64}, "edges_digest"),
    # ties
    (without(TIES, "edges"), '"edges"'),
    (without(TIES, "coefficient"), "strengths of the ties are not said"),
    ({**TIES, "kernel": [[0.5, 0.5], [0.5, 0.5]]}, "said by kernel and by coefficient"),
    ({**TIES, "edges": [[0, 1, 0.5]]}, "said by coefficient and by a column of edges"),
    ({**TIES, "edges": []}, "no edge"),
    ({**TIES, "edges": [[0, 0]]}, "node 0 to itself"),
    ({**TIES, "edges": [[0, 7], [7, 0]]}, "between node 0 and node 7 is listed twice"),
    ({**TIES, "edges": [[0, 1, 0.5, 0.5, 0.5]]}, "Edge 1 has 5 entries"),
    ({**TIES, "coefficient": 1.5}, "coefficient 1.5"),
    ({**TIES, "coefficient": -0.5}, "coefficient -0.5"),
    ({**TIES, "coefficient": "0.4"}, "'0.4'"),
    ({**TIES, "coefficient": None}, "null"),
    ({**TIES, "coefficient": math.nan}, "not a number"),
    ({**TIES, "log_odds": 1}, "'log_odds'"),
    ({**TIES, "most_ties": 0}, '"most_ties" is 0'),
    ({**TIES, "most_ties": 1.5}, '"most_ties" is 1.5'),
    ({**TIES, "distances": [[0, 1], [1, 0]]}, '"distances" belong to a "kernel"'),
    ({**TIES, "edges_digest": "0" * 64}, "edges_digest"),
    ({**TIED, "edges": [[0, 1, 0.5]]}, "said by kernel and by a column of edges"),
    ({**without(TIES, "coefficient"), "edges": [[0, 1, 0.5, 0]]}, "0 one way and more the other"),
    ({**without(TIES, "coefficient"), "edges": [[0, 1, 0.5, 1.5]]}, "coefficient 1.5"),
    ({**TIED, "kernel": [[0.5, 0.6], [0.5, 0.5]]}, "sums to 1.1"),
    ({**TIED, "kernel": [[0.5, 0.5], [0.5]]}, "side by side"),
    ({**TIED, "kernel": [[0.5, [0.4, 0.5]], [0.5, 0.5]]}, '"kernel" has an interval'),
    ({**TIED, "kernel": []}, '"kernel"'),
    ({**TIED, "kernel": [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]]}, '"kernel_back" too'),
    ({**TIED, "kernel": [[0, 1], [0.5, 0.5]], "kernel_back": [[0.5, 0.5], [0.5, 0.5]]}, "rules out a pair"),
    ({**TIED, "kernel": [[0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.7, 0.1, 0.2]]}, "contradicts itself"),
    ({**TIED, "kernel_back": [[0.6, 0.4], [0.5, 0.5]]}, "other way round of the same joint law"),
    ({**TIED, "distances": [[0, 1]]}, '"distances" has the shape'),
    ({**TIED, "distances": [[0, -1], [1, 0]]}, '"distances"'),
    ({**TIED, "distances": [[0, 0], [0, 0]]}, "nothing above zero"),
    # graphs in files
    ({**GRAPH, "edges": ""}, '"edges"'),
    ({**GRAPH, "edges": "nothing.csv"}, 'edge file "nothing.csv": There is no such file'),
    ({**GRAPH, "edges": "."}, "folder"),
    ({**GRAPH, "edges": "../edges.csv"}, "leads out of the folder"),
    ({**GRAPH, "edges": "/etc/passwd"}, "leads out of the folder"),
    ({**GRAPH, "edges": "below/../../edges.csv"}, "leads out of the folder"),
    ({**GRAPH, "edges": "a\0b"}, "no file name"),
    ({**GRAPH, "edges": "x" * 5000}, "too long"),
]


@pytest.mark.parametrize(("document", "culprit"), DOCUMENTS, ids=[str(i) for i in range(len(DOCUMENTS))])
def test_documents_that_describe_no_model(document, culprit, tmp_path):
    assert culprit in refused(model_from, document, tmp_path)


def test_there_are_many_bad_documents():
    assert len(DOCUMENTS) + len(TEXTS) + len(EDGES) >= 120
    assert {
        document.get("kind") for document, _ in DOCUMENTS if isinstance(document.get("kind"), str)
    } >= set(KINDS)


@pytest.mark.parametrize("place", range(0, len(DOCUMENTS), 7))
def test_the_file_is_named_with_the_field(place, tmp_path):
    document, culprit = DOCUMENTS[place]
    path = tmp_path / "bad.json"
    try:
        path.write_text(json.dumps(document, allow_nan=False))
    except ValueError:
        pytest.skip("no JSON can say this")
    message = refused(read_model, path)
    assert culprit in message or "digits" in message
    assert message.startswith(str(path))


# Edge files

EDGES = {
    "empty": (b"", "empty"),
    "header alone": (b"source,target\n", "no edge"),
    "one column": (b"0\n1\n", "one column"),
    "semicolons": (b"source;target\n0;1\n", "one column"),
    "blanks": (b"0 1\n1 2\n", "one column"),
    "three columns, no header": (b"0,1,0.5\n", "3 columns and no header"),
    "uneven rows": (b"source,target\n0,1\n1,2,3\n", "columns"),
    "short row": (b"source,target,x\n0,1,2\n1\n", "columns"),
    "names without a header": (b"ann,bob\nbob,cat\n", "may be an edge or a header"),
    "names under unclear names": (b"node1,node2\nann,bob\n", "may be an edge or a header"),
    "a number in the header": (b"1,x\n1,2\n", "number 1"),
    "a decimal in the header": (b"1.0,2.0\n3,4\n", "number 1.0"),
    "an edge id first": (b"edge_id,a,b\n1,2,3\n", "'edge_id'"),
    "an index first": (b",a,b\n1,2,3\n", "''"),
    "strength first": (b"log_odds,a,b\n1,2,3\n", "'log_odds'"),
    "two strengths": (b"source,target,log_odds,log_odds\n1,2,3,4\n", "two columns"),
    "two directions": (b"source,target,log_odds,log_odds_back\n0,1,1,2\n", "the same from either end"),
    "self loop": (b"source,target\n0,1\n8,8\n", "Edge 2 joins node 8 to itself"),
    "self loop of a name": (b"source,target\nann,bob\nbob, bob\n", "Edge 2 joins 'bob' to itself"),
    "edge twice": (b"4,9\n1,2\n4,9\n", "between node 4 and node 9 is listed twice"),
    "edge back": (b"source,target\nann,bob\nbob,ann\n", "between 'ann' and 'bob' is listed twice"),
    "far apart, twice": (b"0,1000000000000\n1000000000000,0\n", "node 1000000000000"),
    "missing end": (b"source,target\n0,1\n,2\n", "Edge 2 lacks its first end"),
    "NA": (b"source,target\n0,1\n1,NA\n", "Edge 2 lacks its second end"),
    "missing name": (b"source,target\nann,bob\nann,\n", "Edge 2 lacks its second end"),
    "blank name": (b"source,target\nann,bob\n  ,ann\n", "Edge 2 lacks its first end"),
    "one person as two": (b"source,target\nann,7\n7.0,bob\n", "are the same number"),
    "one person with zeros": (b"source,target\nann,7\n007,bob\n", "are the same number"),
    "negative strength": (b"source,target,log_odds\n0,1,0.5\n1,2,-0.5\n", "Edge 2"),
    "minus infinity": (b"source,target,log_odds\n0,1,-inf\n", "Edge 1"),
    "strength NaN": (b"source,target,log_odds\n0,1,0.5\n1,2,nan\n", 'Edge 2 lacks its "log_odds"'),
    "strength missing": (b"source,target,log_odds\n0,1,\n", 'Edge 1 lacks its "log_odds"'),
    "strength in words": (b"source,target,log_odds\n0,1,strong\n", "'strong'"),
    "zero byte": (b"source,target\n0,1\x00\n", "zero"),
    "UTF-16": ("source,target\n0,1\n".encode("utf-16"), "UTF-16"),
    "latin-1 header": ("sourcé,target\n0,1\n".encode("latin-1"), "UTF-8"),
    "latin-1 name": ("source,target\nann,renée\n".encode("latin-1"), "UTF-8"),
    "long first row": (b"x" * 100_000, "first row"),
    "open quote": (b'source,target\n"0,1\n', "edges.csv"),
}


TIE_FILES = {
    "no strength": (b"source,target\n0,1\n", "are not said"),
    "a strength of another kind": (b"source,target,log_odds\n0,1,2\n", "are not said"),
    "the way back alone": (b"source,target,coefficient_back\n0,1,0.5\n", 'no "coefficient"'),
    "nothing one way": (b"source,target,coefficient,coefficient_back\n0,1,0.5,0\n", "0 one way"),
    "more than all": (b"source,target,coefficient\n0,1,2\n", "coefficient 2"),
    "a gap": (
        b"source,target,coefficient,coefficient_back\n0,1,0.5,\n",
        'Edge 1 lacks its "coefficient_back"',
    ),
    "in words": (b"source,target,coefficient\n0,1,strong\n", "'strong'"),
    "twice": (b"source,target,coefficient,coefficient\n0,1,1,1\n", "two columns"),
    "both ways": (b"source,target,coefficient\n0,1,1\n1,0,1\n", "listed twice"),
}


@pytest.mark.parametrize("name", TIE_FILES)
def test_tie_files_that_are_none(name, tmp_path):
    data, culprit = TIE_FILES[name]
    (tmp_path / "ties.csv").write_bytes(data)
    assert culprit in refused(model_from, {"kind": "ties", "edges": "ties.csv"}, tmp_path)


@pytest.mark.parametrize("name", EDGES)
def test_edge_files_that_are_no_edge_lists(name, tmp_path):
    data, culprit = EDGES[name]
    (tmp_path / "edges.csv").write_bytes(data)
    message = refused(model_from, {"kind": "graph", "edges": "edges.csv", "log_odds": 0.4}, tmp_path)
    assert culprit in message
    assert "edges.csv" in message


def test_names_where_units_are_counted(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\nann,bob\n")
    document = {"kind": "graph", "edges": "edges.csv", "log_odds": 0.4, "units": 5}
    assert '"units" is 5' in refused(model_from, document, tmp_path)


def test_a_link_out_of_the_folder(tmp_path):
    (tmp_path / "edges.csv").write_text("0,1\n")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "edges.csv").symlink_to(tmp_path / "edges.csv")
    document = {"kind": "graph", "edges": "edges.csv", "log_odds": 0.4}
    assert "leads out" in refused(model_from, document, tmp_path / "below")


@pytest.mark.parametrize(
    ("data", "culprit"),
    [
        (b"0,1\n", "no gzip file"),
        (gzip.compress(b"0,1\n")[:-6], "damaged"),
        (gzip.compress(b"0,1\n1,2\n" * 20_000)[:40], "damaged"),
        (gzip.compress(b"0,1\n") + b"rest", "damaged"),
        (gzip.compress(b""), "empty"),
        (gzip.compress(bytes(300_000_000), 1), "Unpacked"),
    ],
    ids=["plain", "cut", "cut early", "rest", "empty", "bomb"],
)
def test_packed_edge_files_that_are_none(data, culprit, tmp_path):
    (tmp_path / "edges.csv.gz").write_bytes(data)
    document = {"kind": "graph", "edges": "edges.csv.gz", "log_odds": 0.4}
    assert culprit in refused(model_from, document, tmp_path)


# Writing


def test_what_cannot_be_written(tmp_path, monkeypatch):
    assert "cannot be written" in refused(write_model, Groups(3), tmp_path / "no folder" / "m.json")
    assert "'.xml'" in refused(write_model, Groups(3), tmp_path / "m.xml")
    monkeypatch.setitem(SYNTAXES, ".toml", SYNTAXES[".toml"]._replace(most_bytes=1000))
    chain = model_from({"kind": "graph", "edges": [[i, i + 1] for i in range(100)], "log_odds": 1}, tmp_path)
    assert "Write it as .json" in refused(write_model, chain, tmp_path / "m.toml")
    assert list(tmp_path.iterdir()) == []


# Anything at all

FIELDS = {
    *("kind", "source", "units", "largest", "length", "initial", "transition", "variables", "edges", "name"),
    *(
        "values",
        "parents",
        "table",
        "between",
        "potential",
        "covariance",
        "correlation",
        "deviations",
        "size",
    ),
    *("max_correlation", "log_odds", "edges_digest", "declared", "a", "b", "x"),
}
WORDS = st.sampled_from(sorted(FIELDS))
NUMBERS = st.one_of(
    st.integers(-3, 5),
    st.sampled_from(
        [0.0, 0.25, 0.5, 0.75, 1.0, -0.5, 1e308, 1e-320, math.inf, math.nan, 10**15, 10**400, 2**63]
    ),
    st.floats(),
)
LEAVES = st.one_of(st.none(), st.booleans(), NUMBERS, WORDS, st.text(max_size=3))
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(WORDS, st.text(max_size=3)), inner, max_size=4)
    ),
    max_leaves=25,
)
ROWS = st.lists(
    st.lists(st.one_of(st.sampled_from([0.5, 0.5, 1, 0, [0.2, 0.8]]), NUMBERS), min_size=2, max_size=2),
    min_size=1,
    max_size=2,
)
LIKELY = st.fixed_dictionaries(
    {"kind": st.sampled_from(sorted(KINDS))},
    optional={
        "source": st.one_of(st.just("proxy"), LEAVES),
        "units": st.one_of(st.integers(1, 9), LEAVES),
        "largest": st.one_of(st.integers(1, 9), LEAVES),
        "length": st.one_of(st.integers(1, 9), LEAVES),
        "size": st.one_of(st.integers(1, 9), LEAVES),
        "transition": st.one_of(ROWS, ANYTHING),
        "initial": st.one_of(st.just([0.5, 0.5]), ANYTHING),
        "covariance": st.one_of(ROWS, ANYTHING),
        "correlation": st.one_of(ROWS, ANYTHING),
        "deviations": st.one_of(st.just([1, 2]), ANYTHING),
        "max_correlation": st.one_of(NUMBERS, ANYTHING),
        "log_odds": st.one_of(NUMBERS, ANYTHING),
        "variables": st.one_of(
            st.dictionaries(st.sampled_from("abc"), st.one_of(st.integers(1, 3), LEAVES), max_size=3),
            st.lists(
                st.fixed_dictionaries(
                    {
                        "name": st.sampled_from("abc"),
                        "values": st.one_of(st.just(["x", "y"]), ANYTHING),
                        "parents": st.lists(st.sampled_from("abc"), max_size=1),
                        "table": st.one_of(ROWS, ANYTHING),
                    }
                ),
                max_size=3,
            ),
            ANYTHING,
        ),
        "edges": st.one_of(
            st.lists(st.lists(st.one_of(st.integers(0, 4), LEAVES), min_size=2, max_size=3), max_size=4),
            st.lists(
                st.fixed_dictionaries(
                    {"between": st.lists(st.sampled_from("abc"), min_size=2, max_size=2), "potential": ROWS}
                ),
                max_size=3,
            ),
            ANYTHING,
        ),
    },
)
FUZZ = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def tried(document, folder):
    """Read a document and ask its model for everything, or be refused in our own words."""
    try:
        model = model_from(document, folder)
    except EntwinedError:
        return
    assert model_from(model.document, folder).document == model.document


@FUZZ
@given(document=ANYTHING)
def test_any_document_is_read_or_refused(document, tmp_path):
    tried(document, tmp_path)


@FUZZ
@given(document=LIKELY)
def test_any_likely_document_is_read_or_refused(document, tmp_path):
    tried(document, tmp_path)


@FUZZ
@given(
    text=st.one_of(st.text(max_size=60), LIKELY.map(json.dumps), ANYTHING.map(json.dumps)),
    cut=st.integers(0, 80),
)
def test_any_text_is_parsed_or_refused(text, cut, tmp_path):
    for parse in (json_document, toml_document):
        for part in (text, text[:-cut] if cut else text, text.replace("{", "[", 1)):
            try:
                document = parse(part)
            except EntwinedError:
                continue
            tried(document, tmp_path)


@FUZZ
@given(
    data=st.one_of(st.binary(max_size=60), st.text('0123,\t\n"ab.-+ einfx\r', max_size=60).map(str.encode))
)
def test_any_edge_file_is_read_or_refused(data, tmp_path):
    (tmp_path / "edges.csv").write_bytes(data)
    for head in (b"", b"source,target\n", b"source,target,log_odds\n"):
        (tmp_path / "edges.csv").write_bytes(head + data)
        tried({"kind": "graph", "edges": "edges.csv", "log_odds": 1}, tmp_path)
