"""BIF files: read as other tools read them, written so that other tools can, and exact both ways."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entwined.dependence import BayesNet, Box, Groups, Variable
from entwined.dependence.bif import bif_text, network_from, read_bif, write_bif
from entwined.dependence.files import read_model, write_model
from entwined.errors import BadInput, BadModel

BET = """
// a comment { with } signs
network "a bet" {
  property "author someone" ;
}
variable die { type discrete [ 3 ] { 1, 2, 3 }; property position = (73, 165) ; }
variable coin {
  type discrete[2] {heads, "very tails"};
}
/* a longer
   comment */
variable bet { type discrete [ 2 ] { lost, won }; }
probability ( bet | coin, die ) {
  (heads, 1) 0.9, 0.1;
  (heads, 2) 0.8 0.2;
  ("very tails", 3) .4, 6e-1;
  (heads, 3) 0.7, 0.3;
  (very tails, 1) 0.6, 0.4;
  ("very tails", 2) 0.5, 0.5;
}
probability ( die ) { table 0.2, 0.3, 0.5; }
probability (coin) { table 0.1234567890123456, 0.8765432109876544; }
""".replace("(very tails, 1)", '("very tails", 1)')


def tables(net: BayesNet) -> dict[str, list[list[float]]]:
    return {variable["name"]: variable["table"] for variable in net.document["variables"]}


def test_a_file_as_other_tools_write_it():
    net = network_from(BET)
    assert net.names == ("die", "coin", "bet")
    assert net.values == (("1", "2", "3"), ("heads", "very tails"), ("lost", "won"))
    assert net.parents == ((), (), (1, 0))
    assert tables(net)["bet"] == [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4], [0.5, 0.5], [0.4, 0.6]]
    assert tables(net)["coin"] == [[0.1234567890123456, 0.8765432109876544]]  # all sixteen digits


def test_the_default_row_fills_the_others():
    text = BET[: BET.index("probability ( bet")] + (
        "probability ( bet | die, coin ) { default 0.5, 0.5; (2, heads) 0.25, 0.75; }"
        "probability ( die ) { table 0.2, 0.3, 0.5; } probability ( coin ) { table 1, 0; }"
    )
    assert tables(network_from(text))["bet"] == [[0.5, 0.5]] * 2 + [[0.25, 0.75]] + [[0.5, 0.5]] * 3


@st.composite
def networks(draw, least=1):
    count = draw(st.integers(1, 5))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(least, 4), min_size=count, max_size=count))
    variables = []
    for place, size in enumerate(sizes):
        above = draw(st.lists(st.integers(0, place - 1), max_size=3, unique=True)) if place else []
        rows = int(np.prod([sizes[parent] for parent in above], dtype=int))
        weights = rng.random((rows, size)) ** 9 + (rng.random((rows, size)) < 0.3) * 1e-12
        weights[:, -1] += 1e-3
        values = tuple(f"{'x' if place % 2 else ''}{value}" for value in range(size))
        table = (weights / weights.sum(axis=1, keepdims=True)).tolist()
        variables.append(Variable(f"V{place}", values, tuple(f"V{parent}" for parent in above), table))
    order = draw(st.permutations(variables))
    return BayesNet.of(order, draw(st.sampled_from(["declared", "proxy", "learned", "exploratory"])))


@settings(max_examples=60, deadline=None)
@given(networks())
def test_what_is_written_is_read_back_to_the_last_bit(net):
    assert network_from(bif_text(net)).document == net.document


@settings(max_examples=25, deadline=None)
@given(net=networks(least=2))  # the other tool knows no variable of one value
def test_another_tool_reads_the_same_network(net, tmp_path_factory):
    agrum = pytest.importorskip("pyagrum")
    path = tmp_path_factory.mktemp("bif") / "net.bif"
    write_bif(net, path)
    other = agrum.loadBN(str(path))
    for variable in net.document["variables"]:
        law = other.cpt(variable["name"])
        assert list(other.variable(variable["name"]).labels()) == variable["values"]
        assert set(law.names[1:]) == set(variable["parents"])
        axes = [*variable["parents"], variable["name"]]
        turned = law.toarray().transpose([law.names[::-1].index(name) for name in axes])
        assert turned.reshape(len(variable["table"]), -1) == pytest.approx(
            np.array(variable["table"]), abs=1e-6
        )


def test_a_network_of_another_tool_is_read(tmp_path):
    agrum = pytest.importorskip("pyagrum")
    other = agrum.fastBN("a{x|y|z}->c{no|yes}<-b{0|1};a->b")
    path = tmp_path / "other.bif"
    other.saveBIF(str(path))
    net = read_model(path)
    assert isinstance(net, BayesNet)
    for variable in net.document["variables"]:
        law = other.cpt(variable["name"])
        axes = [*variable["parents"], variable["name"]]
        turned = law.toarray().transpose([law.names[::-1].index(name) for name in axes])
        assert np.array(variable["table"]) == pytest.approx(
            turned.reshape(len(variable["table"]), -1), abs=1e-6
        )


def test_the_source_is_not_lost(tmp_path):
    net = BayesNet.of([Variable("a", ("x", "y"), (), [[0.5, 0.5]])], "exploratory")
    write_model(net, tmp_path / "net.bif")
    assert read_bif(tmp_path / "net.bif").source == "exploratory"


@pytest.mark.parametrize("name", ["two words", "", "é", "a,b", "table", "1x", 'q"', "a|b", "{", "a//b", "-"])
def test_names_that_bif_cannot_hold_are_refused(name, tmp_path):
    for net in (
        BayesNet.of([Variable(name, ("x", "y"), (), [[0.5, 0.5]])]),
        BayesNet.of([Variable("a", ("x", name), (), [[0.5, 0.5]])]),
    ):
        with pytest.raises(BadModel, match="BIF cannot hold the name"):
            write_model(net, tmp_path / "net.bif")
    assert not (tmp_path / "net.bif").exists()


def test_intervals_are_refused(tmp_path):
    net = BayesNet.of([Variable("a", ("x", "y"), (), [[[0.4, 0.6], [0.4, 0.6]]])])
    with pytest.raises(BadModel, match="no intervals"):
        write_bif(net, tmp_path / "net.bif")


def test_other_models_are_refused(tmp_path):
    with pytest.raises(BadModel, match="no network"):
        write_model(Groups(3), tmp_path / "net.bif")
    net = BayesNet.of([Variable("a", ("x", "y"), (), [[0.5, 0.5]])])
    with pytest.raises(BadInput, match="cannot be written"):
        write_bif(net, tmp_path / "no such folder" / "net.bif")


A = "network n { } variable a { type discrete [ 2 ] { x, y }; } "
BROKEN = {
    "empty": ("", "empty"),
    "words": ("hello world", "'hello'"),
    "no network is fine but no variables": ("network n { }", "0 units"),
    "open network": ("network n { property x ;", "no end"),
    "network of a word": ("network n { word }", "'word'"),
    "variable without block": ("variable a", "'a'"),
    "variable without type": ("variable a { }", "'a'"),
    "continuous variable": ("variable a { type continuous ; }", "'continuous'"),
    "wrong number of values": ("variable a { type discrete [ 3 ] { x, y }; }", "'a' lists 2 values"),
    "variable twice": (A + "variable a { type discrete [ 2 ] { x, y }; }", "'a' is declared twice"),
    "value twice": ("variable a { type discrete [ 2 ] { x, x }; } probability ( a ) { table 1, 0; }", "'a'"),
    "no law": (A, "'a' has no probability"),
    "law of a stranger": (A + "probability ( b ) { table 1, 0; }", "'b'"),
    "law twice": (A + "probability ( a ) { table 1, 0; } probability ( a ) { table 1, 0; }", "'a'"),
    "unknown parent": (A + "probability ( a | b ) { (x) 1, 0; }", "unknown parent 'b'"),
    "own parent": (A + "probability ( a | a ) { (x) 1, 0; (y) 1, 0; }", "itself"),
    "law without parentheses": (A + "probability a { table 1, 0; }", "has no"),
    "law with two heads": (A + "probability ( a a ) { table 1, 0; }", "( name | parent"),
    "law about nothing": (A + "probability ( ) { table 1, 0; }", "( name | parent"),
    "text for a number": (A + "probability ( a ) { table 1, zero; }", "'zero'"),
    "underscore in a number": (A + "probability ( a ) { table 1_0, 0; }", "'1_0'"),
    "not a number": (A + "probability ( a ) { table nan, 0; }", "'nan'"),
    "row of three": (A + "probability ( a ) { table 0.5, 0.25, 0.25; }", "'a'"),
    "row that sums to 0.9": (A + "probability ( a ) { table 0.5, 0.4; }", "sums to 0.9"),
    "negative": (A + "probability ( a ) { table 1.5, -0.5; }", "'a'"),
    "no rows": (A + "probability ( a ) { }", "'a'"),
    "open law": (A + "probability ( a ) { table 1, 0;", "'a'"),
    "open row": (A + "probability ( a ) { table 1, 0", "'a'"),
    "value of no parent": (A + "probability ( a ) { (x) 1, 0; }", "'a'"),
    "open comment": (A + "/* probability ( a ) { table 1, 0; }", "'a' has no probability"),
    "open quote": (A + 'probability ( "a ) { table 1, 0; }', "is about"),
}
B = A + "variable b { type discrete [ 2 ] { x, y }; } probability ( a ) { table 1, 0; } "
BROKEN_PAIRS = {
    "table for a law with parents": (B + "probability ( b | a ) { table 1, 0, 1, 0; }", "'b'"),
    "missing row": (B + "probability ( b | a ) { (x) 1, 0; }", r"'b' has no row for (y)"),
    "row of a stranger": (B + "probability ( b | a ) { (x) 1, 0; (y) 1, 0; (z) 1, 0; }", "'b'"),
    "row of a stranger with a default": (B + "probability ( b | a ) { default 1, 0; (z) 1, 0; }", "'b'"),
    "row twice": (B + "probability ( b | a ) { (x) 1, 0; (y) 1, 0; (y) 0, 1; }", "'b'"),
    "row of two": (B + "probability ( b | a ) { (x) 1, 0; (y, x) 1, 0; }", "'b'"),
    "default twice": (B + "probability ( b | a ) { default 1, 0; default 0, 1; }", "'b'"),
    "cycle": (
        A + "variable b { type discrete [ 1 ] { x }; } probability ( a | b ) { (x) 1, 0; }"
        "probability ( b | a ) { (x) 1; (y) 1; }",
        "its own ancestor",
    ),
}


@pytest.mark.parametrize("name", [*BROKEN, *BROKEN_PAIRS])
def test_broken_files_are_refused_by_name(name, tmp_path):
    text, culprit = (BROKEN | BROKEN_PAIRS)[name]
    path = tmp_path / "net.bif"
    path.write_text(text)
    for read in (read_bif, read_model):
        with pytest.raises(BadModel) as refused:
            read(path)
        assert culprit in str(refused.value)
        assert str(refused.value).count("net.bif") == 1


def test_a_table_of_too_many_rows_is_refused_before_it_is_made():
    count = 40
    text = "".join(f"variable v{i} {{ type discrete [ 2 ] {{ x, y }}; }}\n" for i in range(count))
    text += "".join(f"probability ( v{i} ) {{ table 1, 0; }}\n" for i in range(1, count))
    text += f"probability ( v0 | {', '.join(f'v{i}' for i in range(1, count))} ) {{ default 1, 0; }}"
    with pytest.raises(BadModel, match="Up to 'v0' the tables need over"):
        network_from(text)


def test_the_numbers_keep_all_their_digits():
    rare = 1e-30  # single precision has no such chance next to 1
    net = BayesNet.of([Variable("a", ("x", "y"), (), Box.exact([[rare, 1.0]]).document)])
    assert tables(network_from(bif_text(net)))["a"] == [[rare, 1.0]]
