"""Refusals of release files, of promises and of an open table: each row is what is written and what is said of it."""

import tomllib

import pytest

import entwined as ew
from entwined.dependence import BayesNet, Groups, MarkovChain, Variable
from entwined.dependence.box import Box
from entwined.errors import EntwinedError
from entwined.promise.promise import promise_of
from entwined.request.request_file import read_request
from entwined.schema import Boolean, Cells, Integer, Schema, write_schema

COLUMNS = (Integer("age", 0, 9), Boolean("ill"), Boolean("old"))
ROWS = Schema(COLUMNS, rows=6).approve()
CELLS = Schema(COLUMNS, unit=Cells(), rows=6).approve()
ANY = 'individuals = "not protected"\n'
KEPT = '[[secret]]\ncolumn = "ill"\nvalue = "true"\napart = [[[0, 0.25], [0.5, 0.75]]]\nepsilon = 1\ndelta = 0.001\nrows = 6\n'
LINKED = '[[secret.law]]\ncolumn = "age"\n'
COUNT = '[[query]]\nname = "n"\nkind = "count"\nwhere = "ill"\n'
MEANS = '[[mechanism]]\nname = "m"\nkind = "k_means"\ncolumns = ["age"]\ncentres = 1\n'
LAWFUL = KEPT + LINKED + "sd = 2\ndifference = [-1, 1]\n"
LEAK = "leakage = 1\n"

FILES = {
    "a calendar that is no table": ("calendar = 3\n" + LEAK + COUNT, "Give what may leak in each period"),
    "a list of queries that is none": (LEAK + "query = 3\n", "Start each one with [[query]]"),
    "an unknown choice": ('knowledge = "all"\n' + LEAK + COUNT, 'Give "any" or "model"'),
    "rows expected of nobody": ("expected_rows = 0\n" + LEAK + COUNT, "about how many rows"),
    "no amount": (COUNT, "Neither a leakage nor a loss"),
    "two amounts": ("loss = 1\n" + LEAK + COUNT, "Keep one of them"),
    "an amount without a query": (LEAK + MEANS + "loss = 1\n", "Give each mechanism its own"),
    "an accuracy under a delta": ('delta = "1e-6"\n' + COUNT + "within = 5\n", "not worked out for Gaussian noise"),
    "a mechanism without an amount": (MEANS, "either a leakage or a loss of its own"),
    "a mechanism with two": (MEANS + "leakage = 1\nloss = 1\n", "either a leakage or a loss of its own"),
    "a mechanism without letters": (MEANS.replace('"m"', '"!"') + "loss = 1\n", "1 to 60 letters and digits"),
    "a mechanism named as a report": (MEANS.replace('"m"', '"Report"') + "loss = 1\n", "another file is called so"),
    "two mechanisms of one name": (2 * (MEANS + "loss = 1\n"), "Two mechanisms are called 'm' or nearly so"),
    "a mechanism of no kind": (MEANS.replace("k_means", "k_mean") + "loss = 1\n", "Ask for k_means"),
    "unprotected with nothing": (ANY + LEAK + COUNT, "nothing would be protected"),
    "individuals of another kind": ('individuals = "maybe"\n' + COUNT + KEPT, 'give "not protected"'),
    "a secret for nobody's rows": (COUNT + LAWFUL, "Say individuals ="),
    "a secret with a choice for rows": (ANY + "consistent = false\n" + COUNT + LAWFUL, "has no consistent"),
    "a secret without questions": (ANY + LAWFUL, "A release of 0 queries"),
    "a secret twice asked": (ANY + COUNT + COUNT + LAWFUL, "Two queries have one name"),
    "a secret without a column": (ANY + COUNT + KEPT.replace('column = "ill"\n', ""), "has no column"),
    "a secret without epsilon": (ANY + COUNT + KEPT.replace("epsilon = 1\n", ""), "has no epsilon"),
    "a secret of half a row": (ANY + COUNT + KEPT.replace("rows = 6", "rows = 6.5"), "public number of rows"),
    "a law without a deviation": (ANY + COUNT + KEPT + LINKED + "difference = 1\n", "needs its column, its sd"),
    "a law of two kinds": (ANY + COUNT + KEPT + LINKED + "sd = 1\nslope = 1\ndifference = 1\n", "its sd, and one of"),
    "means that are none": (ANY + COUNT + KEPT + LINKED + "sd = 1\nmeans = 4\n", "Give means = {inside"),
    "a model that is none": (LEAK + "[[dependence]]\nmodel = 3\n" + COUNT, "There is no model"),
    "columns that are no list": (
        LEAK + '[[dependence]]\nmodel = {kind = "groups", largest = 2}\nmissing_says_nothing = "age"\n' + COUNT,
        "Give a list of columns' names",
    ),
    "a comparison with a number": (LEAK + COUNT + "[[comparison]]\none = 3\nother = 4\n", "Give the name of a query"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_what_is_wrong_in_a_release_file_is_said_before_anything_is_charged(tmp_path, case):
    written, says = FILES[case]
    write_schema(ROWS, tmp_path / "schema.toml")
    (tmp_path / "rows.csv").write_text("age,ill,old\n" + "3,true,false\n" * 6)
    top = 'table = "rows.csv"\nschema = "schema.toml"\nledger = "ledger.sqlite"\ncap = 3\n'
    path = tmp_path / "release.toml"
    path.write_text(top + written)
    tomllib.loads(path.read_text())
    with pytest.raises(EntwinedError) as refused:
        read_request(path)
    assert says in str(refused.value)
    assert not (tmp_path / "ledger.sqlite").exists()


def network(*names):
    return BayesNet.of([Variable(name, ("0", "1"), (), [[0.5, 0.5]]) for name in names])


CHAIN = MarkovChain(3, Box.exact([[0.9, 0.1], [0.1, 0.9]]))
PROMISES = {
    "no model": (lambda: ew.Declared(3), "Give Groups"),
    "no truth value": (lambda: ew.Declared(Groups(2), panel="yes"), "Give true or false"),
    "a column of a network with other values": (
        lambda: promise_of(CELLS, ew.Declared(network("ill"), columns=("old",))),
        "has 2 values for the column 'old', and the schema has 2 values and missing",
    ),
    "a model of missing rows": (lambda: promise_of(ROWS, ew.Declared(network("ill", "old"))), "The model"),
    "almost certain to fail": (lambda: promise_of(ROWS, delta="0.99"), "with this probability no bound holds"),
}  # fmt: skip


@pytest.mark.parametrize("case", PROMISES)
def test_a_promise_that_cannot_be_is_refused_in_words(case):
    make, says = PROMISES[case]
    with pytest.raises(EntwinedError) as refused:
        make()
    assert says in str(refused.value)


ASKED = {
    "no query": (lambda door: door.plan(["age"], loss=1), "is no query. Give Count"),
    "SQL of another table": (lambda door: door.sql("SELECT count(*) AS n FROM people WHERE ill", loss=1), "is called t"),
    "a computation of no kind": (lambda door: door.compute("k_mean", loss=1), "There is no mechanism 'k_mean'"),
    "a field of no mechanism": (lambda door: door.compute("k_means", loss=1, seed=7), "k_means has no 'seed'"),
    "Gaussian noise of a pure loss": (
        lambda door: door.release({"n": ew.Count(where="ill")}, loss=1, noise="gaussian"),
        "Gaussian noise has no pure loss",
    ),
    "neither amount": (lambda door: door.release({"n": ew.Count(where="ill")}), "either a leakage or a loss"),
}  # fmt: skip


@pytest.mark.parametrize("case", ASKED)
def test_what_an_open_table_refuses_it_neither_reads_nor_charges(tmp_path, case):
    ask, says = ASKED[case]
    (tmp_path / "rows.csv").write_text("age,ill,old\n" + "3,true,false\n" * 6)
    with ew.open(tmp_path / "rows.csv", ROWS, ledger=tmp_path / "l.sqlite", cap=3) as door:
        with pytest.raises(EntwinedError) as refused:
            ask(door)
        assert says in str(refused.value)
        assert not list(door.ledger.book.history())[1:]
