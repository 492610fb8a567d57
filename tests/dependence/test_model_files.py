"""Model files: what is written is read back, a model holds what its file says, and files may be large."""

import gc
import gzip
import hashlib
import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from entwined.dependence import (
    BayesNet,
    Box,
    Forms,
    Graph,
    Groups,
    Independent,
    MarkovChain,
    RandomField,
    Ties,
    Variable,
)
from entwined.dependence.files import KINDS, model_from, read_model, write_model
from entwined.dependence.gaussian import Correlations, Gaussian, MaxCorrelation
from entwined.dependence.syntax import toml_text
from entwined.errors import BadModel

HERE = Path()

COIN = {"name": "coin", "values": ["heads", "tails"], "parents": [], "table": [[0.5, 0.5]]}
DIE = {"name": "die", "values": ["1", "2", "3"], "parents": [], "table": [[0.2, 0.3, 0.5]]}
BET = {
    "name": "bet",
    "values": ["lost", "won"],
    "parents": ["coin", "die"],
    "table": [[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4], [0.5, 0.5], [0.4, 0.6]],
}
ANSWERS = {"kind": "bayes_net", "variables": [COIN, DIE, BET]}
DOCUMENTS = {
    "independent": {"kind": "independent", "units": 100},
    "independent proxy": {"kind": "independent", "units": 1, "source": "proxy"},
    "groups": {"kind": "groups", "largest": 6, "source": "learned"},
    "chain": {"kind": "markov_chain", "length": 100, "transition": [[0.9, 0.1], [0.2, 0.8]]},
    "chain started": {
        "kind": "markov_chain",
        "length": 3,
        "initial": [0.25, 0.75],
        "transition": [[1, 0], [0.5, 0.5]],
        "source": "exploratory",
    },
    "chain without an end": {
        "kind": "endless_chain",
        "initial": [0.5, 0.5],
        "transition": [[0.9, 0.1], [0.1, 0.9]],
    },
    "chain class": {
        "kind": "markov_chain",
        "length": 9,
        "transition": [[[0.8, 0.9], [0.1, 0.2]], [0.5, 0.5]],
    },
    "seasons": {
        "kind": "varying_chain",
        "length": 9,
        "initial": [0.25, 0.75],
        "transitions": [[[0.9, 0.1], [0.2, 0.8]], [[[0.5, 0.6], [0.4, 0.5]], [0.5, 0.5]]],
    },
    "net": {"kind": "bayes_net", "variables": [COIN, DIE, BET]},
    "net with a hidden variable": {"kind": "bayes_net", "variables": [COIN, DIE, BET], "hidden": ["die"]},
    "net children first": {"kind": "bayes_net", "variables": [BET, DIE, COIN]},
    "net class": {
        "kind": "bayes_net",
        "variables": [COIN, {**DIE, "table": [[[0.1, 0.2], 0.3, [0.5, 0.6]]]}, BET],
    },
    "net of odd names": {
        "kind": "bayes_net",
        "variables": [{**COIN, "name": 'a "b"\\ \u00fc\u2028 \U0001f600', "values": ["", "'\x7f\n"]}],
    },
    "forms": {
        "kind": "forms",
        "form": "sheet",
        "asked": [["coin", "die"], ["bet", "die"]],
        "answers": ANSWERS,
    },
    "forms, one empty": {
        "kind": "forms",
        "form": 'the "form"',
        "asked": [["die", "bet", "coin"], []],
        "answers": {**ANSWERS, "source": "proxy"},
        "source": "proxy",
    },
    "field": {
        "kind": "random_field",
        "variables": {"a": 2, "b": 3, "c.d": 2, "alone": 4},
        "edges": [
            {"between": ["a", "b"], "potential": [[1, 2, 3], [4, 5, 6]]},
            {"between": ["b", "c.d"], "potential": [[1, 2], [0, 4], [5, 6]]},
            {"between": ["c.d", "a"], "potential": [[1e-300, 1e300], [2, 1]]},
        ],
    },
    "field class": {
        "kind": "random_field",
        "variables": {"a": 2, "b": 2, "c": 2},
        "edges": [
            {"between": ["a", "b"], "potential": [[[1, 2], 1], [1, [0.5, 3]]]},
            {"between": ["c", "b"], "potential": [[2, 1], [1, 2]]},
        ],
    },
    "field without edges": {"kind": "random_field", "variables": {"a": 1}, "edges": []},
    "gaussian": {"kind": "gaussian", "covariance": [[2.0, 0.5], [0.5, 1.0]]},
    "gaussian bound": {"kind": "gaussian", "size": 8, "max_correlation": 0.14},
    "gaussian bound class": {"kind": "gaussian", "size": 8, "max_correlation": [0.1, 0.14]},
    "gaussian class": {
        "kind": "gaussian",
        "correlation": [[1, [0.1, 0.3]], [[0.1, 0.3], 1]],
        "deviations": [2, 3],
    },
    "gaussian correlations": {"kind": "gaussian", "correlation": [[1, 0.25], [0.25, 1]]},
    "gaussian siblings": {"kind": "gaussian", "size": 3, "equal_correlation": 0.25},
    "graph": {"kind": "graph", "edges": [[0, 1], [1, 2]], "log_odds": 0.4},
    "places": {
        "kind": "places",
        "edges": [[0, 1], [1, 2]],
        "across": 3,
        "down": 2,
        "width": 1.5,
        "height": 2.0,
        "nearness": 0.1,
        "fall": 2.0,
    },
    "graph class": {"kind": "graph", "edges": [[0, 1], [1, 2]], "log_odds": [0.1, 0.4]},
    "graph of strengths": {"kind": "graph", "units": 5, "edges": [[4, 1, 0.5], [1, 2, "inf"], [0, 4, 0]]},
    "graph with a cap": {"kind": "graph", "edges": [[0, 1, 0.5], [1, 2, 2]], "most_ties": 1, "units": 3},
    "graph without edges": {"kind": "graph", "units": 5, "edges": [], "log_odds": 1},
    "ties": {"kind": "ties", "edges": [[0, 1], [1, 2]], "coefficient": 0.38},
    "ties with a cap": {"kind": "ties", "edges": [[0, 1], [1, 2]], "coefficient": 0.38, "most_ties": 1},
    "ties of strengths": {"kind": "ties", "units": 5, "edges": [[4, 1, 0.5], [1, 2, 1], [0, 4, 0]]},
    "ties of two strengths": {"kind": "ties", "edges": [[4, 1, 0.5, 0.25], [1, 2, 1, 0.125]]},
    "ties without edges": {"kind": "ties", "units": 5, "edges": [], "coefficient": 1},
    "ties with a kernel": {
        "kind": "ties",
        "edges": [[0, 1]],
        "kernel": [[0.5, 0.5, 0], [0.25, 0.5, 0.25], [0, 0.5, 0.5]],
        "distances": [[0, 1, 2], [1, 0, 1], [2, 1, 0]],
        "source": "proxy",
    },
    "ties with two kernels": {
        "kind": "ties",
        "edges": [[0, 1]],
        "kernel": [[0.75, 0.25, 0], [0.25, 0.25, 0.5]],
        "kernel_back": [[0.75, 0.25], [0.5, 0.5], [0, 1]],
    },
}


def arrays(model) -> list[np.ndarray]:
    """All numbers a model holds, in a fixed order."""
    if isinstance(model, MarkovChain):
        start = [] if model.initial is None else [model.initial]
        return [model.transition.low, model.transition.high, *start]
    if isinstance(model, BayesNet | RandomField):
        return [x for block in model.blocks for x in (block.scope, block.table.low, block.table.high)]
    if isinstance(model, Forms):
        return [model.asked, *arrays(model.answers)]
    if isinstance(model, Graph):
        return [model.ends, model.log_odds]
    if isinstance(model, Ties):
        held = (model.kernel, model.kernel_back, model.coefficients, model.distances)
        return [model.ends, *(one for one in held if one is not None)]
    if isinstance(model, Gaussian):
        return [model.covariance]
    if isinstance(model, Correlations):
        return [model.correlation.low, model.correlation.high, model.scales]
    return []


def assert_same(one, other):
    assert type(one) is type(other)
    assert one.document == other.document
    assert one.source == other.source
    assert one.units == other.units
    assert all(map(np.array_equal, arrays(one), arrays(other)))
    for name in ("names", "values", "parents", "sizes", "length", "size", "largest", "max_correlation"):
        assert getattr(one, name, None) == getattr(other, name, None)


@pytest.mark.parametrize("suffix", [".json", ".toml", ".JSON"])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_written_is_read_back(name, suffix, tmp_path):
    model = model_from(DOCUMENTS[name], HERE)
    path = tmp_path / f"model{suffix}"
    write_model(model, path)
    assert_same(model, read_model(path))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_json_and_toml_say_the_same(name, tmp_path):
    (tmp_path / "m.json").write_text(json.dumps(DOCUMENTS[name]))
    (tmp_path / "m.toml").write_text(toml_text(DOCUMENTS[name]), encoding="utf-8")
    assert_same(read_model(tmp_path / "m.json"), read_model(tmp_path / "m.toml"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_gives_its_model_again_to_the_last_bit(name):
    model = model_from(DOCUMENTS[name], HERE)
    assert_same(model, model_from(json.loads(json.dumps(model.document)), HERE))


def test_every_kind_is_in_these_tests():
    assert {document["kind"] for document in DOCUMENTS.values()} == set(KINDS)


def test_toml_as_people_write_it(tmp_path):
    path = tmp_path / "m.toml"
    path.write_text(
        'kind = "bayes_net"\n'
        '[[variables]]\nname = "a"\nvalues = ["x", "y"]\nparents = []\ntable = [[0.25, 0.75]]\n'
        '[[variables]]\nname = "b"\nvalues = ["x", "y"]\nparents = ["a"]\ntable = '
        "[[1, 0], [[0.2, 0.4], [0.6, 0.8]]]\n"
    )
    model = read_model(path)
    assert isinstance(model, BayesNet)
    assert model.parents == ((), (0,))
    assert model.blocks[1].table.high[0, 1].tolist() == pytest.approx([0.4, 0.8])


def test_the_documents_of_the_design_page():
    chain = model_from(DOCUMENTS["chain"], HERE)
    assert isinstance(chain, MarkovChain)
    assert chain.transition.low.tolist() == [[0.9, 0.1], [0.2, 0.8]]
    assert chain.initial is None
    assert model_from(DOCUMENTS["independent"], HERE) == Independent(100)
    assert model_from(DOCUMENTS["groups"], HERE) == Groups(6, "learned")
    bound = model_from(DOCUMENTS["gaussian bound class"], HERE)
    assert isinstance(bound, MaxCorrelation)
    assert bound.max_correlation == 0.14  # the worst member of the class


def test_the_last_parent_is_fastest():
    net = model_from(DOCUMENTS["net"], HERE)
    block = next(block for block in net.blocks if block.scope.shape[1] == 3)
    assert block.scope.tolist() == [[0, 1, 2]]
    assert block.table.low[0, 1, 0].tolist() == pytest.approx([0.6, 0.4])  # coin tails, die 1
    assert block.table.low[0, 0, 2].tolist() == pytest.approx([0.7, 0.3])  # coin heads, die 3
    turned = model_from(DOCUMENTS["net children first"], HERE)
    assert turned.parents == ((2, 1), (), ())


def test_rows_are_those_of_the_first_variable():
    field = model_from(DOCUMENTS["field"], HERE)
    tables = {
        tuple(scope): table
        for block in field.blocks
        for scope, table in zip(block.scope.tolist(), block.table.low, strict=True)
    }
    assert tables[0, 1].tolist() == [[1, 2, 3], [4, 5, 6]]
    assert tables[1, 2].tolist() == [[1, 2], [0, 4], [5, 6]]
    assert tables[2, 0].tolist() == [[1e-300, 1e300], [2, 1]]


def test_an_interval_is_tightened_to_what_a_row_of_probabilities_can_reach():
    chain = model_from(
        {"kind": "markov_chain", "length": 2, "transition": [[[0, 1], [0.1, 0.3]], [0.5, 0.5]]}, HERE
    )
    assert chain.transition.low[0].tolist() == pytest.approx([0.7, 0.1], abs=1e-14)
    assert chain.transition.high[0].tolist() == pytest.approx([0.9, 0.3], abs=1e-14)
    assert chain.transition.low[0, 0] <= 0.7
    assert chain.transition.high[0, 0] >= 0.9


def test_rounded_rows_next_to_intervals_stay_probabilities():
    rows = [[0.5, 0.5000005, 0], [0.333333, 0.333333, 0.333333], [[0.2, 0.4], 0.3, [0.3, 0.5]]]
    table = model_from({"kind": "markov_chain", "length": 2, "transition": rows}, HERE).transition
    assert table.low.min() >= 0
    assert table.low[:2].sum(axis=1) == pytest.approx(1, abs=1e-15)
    assert (table.low[:2] == table.high[:2]).all()


@settings(max_examples=200, deadline=None)
@given(npst.arrays(np.float64, (3, 4), elements=st.floats(1e-9, 1)), st.data())
def test_reading_probabilities_again_changes_nothing(weights, data):
    rows = weights / weights.sum(axis=1, keepdims=True)
    width = data.draw(npst.arrays(np.float64, (3, 4), elements=st.sampled_from([0.0, 1e-9, 0.1])))
    once = Box(np.maximum(rows - width, 0), rows + width).as_probabilities("It")
    again = Box.read(once.document, 2).as_probabilities("It")
    assert np.array_equal(once.low, again.low)
    assert np.array_equal(once.high, again.high)
    assert (once.low <= rows * (1 + 1e-14)).all()
    assert (once.high >= rows * (1 - 1e-14)).all()


def test_memory_models_read_numpy_tables_too():
    net = BayesNet.of([Variable("a", ("x", "y"), (), np.array([[0.3, 0.7]]))])
    assert net.document["variables"][0]["table"] == [[0.3, 0.7]]


# Edge lists


def graph_at(folder: Path, rows: str | bytes, name: str = "edges.csv", **fields):
    (folder / name).write_bytes(rows.encode() if isinstance(rows, str) else rows)
    document = {"kind": "graph", "edges": name, **({"log_odds": 0.4} | fields)}
    (folder / "model.json").write_text(json.dumps({k: v for k, v in document.items() if v is not None}))
    return read_model(folder / "model.json")


@pytest.mark.parametrize(
    ("rows", "units", "ends"),
    [
        ("0,1\n1,2\n", 3, [[0, 1], [1, 2]]),
        ("source,target\n0,1\n1,2\n", 3, [[0, 1], [1, 2]]),
        ("\n\na,b\r\n10,30\r\n30,20", 3, [[0, 2], [2, 1]]),
        ("10\t30\n30\t20\n", 3, [[0, 2], [2, 1]]),
        (b"\xef\xbb\xbffrom\tto\n7\t-9\n", 2, [[1, 0]]),
        ("since,to_id,from_id\n1999,5,6\n", 2, [[1, 0]]),
        ("FromNodeId,ToNodeId,note\n5,6,x\n6,8,\n", 3, [[0, 1], [1, 2]]),
        ("source,target\nzoe, adam \nadam,Bob\n", 3, [[2, 1], [1, 0]]),
        ("source,target\n1,x\n2,1\n", 3, [[0, 2], [1, 0]]),
        ('source,target\n"a, b","c ""d"""\n', 2, [[0, 1]]),
        ("0,9223372036854775807\n", 2, [[0, 1]]),
        ("-9223372036854775808,9223372036854775807\n", 2, [[0, 1]]),
        ("source,target\n99999999999999999999,99999999999999999998\n", 2, [[1, 0]]),
    ],
)
def test_edge_lists_as_people_write_them(rows, units, ends, tmp_path):
    graph = graph_at(tmp_path, rows)
    assert graph.units == units
    assert graph.ends.tolist() == ends
    assert graph.log_odds.tolist() == [0.4] * len(ends)


def test_a_column_of_strengths_is_worth_more_than_the_one_number(tmp_path):
    rows = "log_odds,source,target\n0.5,0,1\ninf,1,2\n0,0,2\n"
    for fields in ({}, {"log_odds": None}, {"log_odds": [0.1, 9]}):
        assert graph_at(tmp_path, rows, **fields).log_odds.tolist() == [0.5, math.inf, 0]


def test_of_an_interval_of_log_odds_the_upper_end_counts(tmp_path):
    graph = graph_at(tmp_path, "0,1\n", log_odds=[0.1, 0.7])
    assert graph.log_odds.tolist() == [0.7]
    assert graph.document["log_odds"] == [0.1, 0.7]


def test_units_add_nodes_without_edges(tmp_path):
    graph = graph_at(tmp_path, "0,3\n", units=10)
    assert graph.units == 10
    assert graph.ends.tolist() == [[0, 3]]
    assert graph_at(tmp_path, "source,target\n", units=10).ends.shape == (0, 2)


def test_a_packed_edge_list(tmp_path):
    graph = graph_at(tmp_path, gzip.compress(b"0,1\n1,2\n"), "edges.csv.gz")
    assert graph.ends.tolist() == [[0, 1], [1, 2]]


def test_a_graph_remembers_its_edge_file(tmp_path):
    graph = graph_at(tmp_path, "0,1\n1,5\n")
    assert dict(graph.fields) == {"edges": "edges.csv", "log_odds": 0.4}
    assert graph.edges_digest == hashlib.sha256(b"0,1\n1,5\n").hexdigest()
    assert_same(graph, model_from(graph.document, tmp_path))
    (tmp_path / "edges.csv").write_text("0,1\n1,6\n")
    with pytest.raises(BadModel, match="not those the model was written for"):
        model_from(graph.document, tmp_path)


def test_a_graph_is_written_beside_its_edge_file_or_whole(tmp_path):
    graph = graph_at(tmp_path, "0,1\n1,5\n")
    write_model(graph, tmp_path / "again.toml")
    assert read_model(tmp_path / "again.toml").document == graph.document
    (tmp_path / "other").mkdir()
    write_model(graph, tmp_path / "other" / "whole.json")
    whole = read_model(tmp_path / "other" / "whole.json")
    assert whole.ends.tolist() == graph.ends.tolist()
    assert whole.log_odds.tolist() == graph.log_odds.tolist()


def ties_at(folder: Path, rows: str, **fields) -> Ties:
    (folder / "ties.csv").write_text(rows)
    (folder / "ties.toml").write_text(toml_text({"kind": "ties", "edges": "ties.csv", **fields}))
    return read_model(folder / "ties.toml")


def test_ties_stand_in_a_file_with_strengths_that_may_have_directions(tmp_path):
    ties = ties_at(tmp_path, "source,target,coefficient,coefficient_back\nzoe,adam,0.5,0.25\nadam,bob,1,1\n")
    assert ties.coefficients.tolist() == [[0.5, 0.25], [1.0, 1.0]]
    assert [ties.named(place) for place in range(3)] == ["'adam'", "'bob'", "'zoe'"]
    alike = ties_at(tmp_path, "source,target,coefficient\n5,9,0.5\n", most_ties=3)
    assert alike.coefficients.tolist() == [[0.5, 0.5]]
    assert alike.named(1) == "node 9"
    assert alike.document["edges_digest"] == hashlib.sha256((tmp_path / "ties.csv").read_bytes()).hexdigest()
    assert_same(alike, model_from(alike.document, tmp_path))
    (tmp_path / "other").mkdir()
    write_model(alike, tmp_path / "other" / "whole.toml")
    assert_same(read_model(tmp_path / "other" / "whole.toml"), replace(alike, **Ties.unfiled))
    (tmp_path / "ties.csv").write_text("source,target,coefficient\n5,8,0.5\n")
    with pytest.raises(BadModel, match="not those the model was written for"):
        model_from(alike.document, tmp_path)


def test_a_kernel_stands_in_the_model_and_the_ties_beside_it(tmp_path):
    ties = ties_at(tmp_path, "0,1\n1,2\n", kernel=[[0.9, 0.1], [0.1, 0.9]], units=7)
    assert ties.units == 7
    assert ties.log_odds == pytest.approx(2 * math.log(9))
    assert ties.couplings.log_odds.tolist() == [ties.log_odds] * 4


def test_an_edge_file_below_the_model_is_found_from_anywhere(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.chdir("/")
    graph = graph_at(tmp_path, "0,1\n", "data/edges.csv")
    assert graph.units == 2
    inside = json.dumps({"kind": "graph", "edges": str(tmp_path / "data" / "edges.csv"), "log_odds": 1})
    (tmp_path / "absolute.json").write_text(inside)
    assert read_model(tmp_path / "absolute.json").units == 2


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_integer_labels_are_numbered_in_their_order(data):
    labels = data.draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=9, unique=True))
    if data.draw(st.booleans()):  # close together
        start = labels[0] // 2
        labels = [start + place * data.draw(st.integers(1, 9)) for place in range(1)] + [
            start + 10,
            start + 23,
        ]
    pairs = [(labels[place], labels[place + 1]) for place in range(len(labels) - 1)]
    document = {"kind": "graph", "edges": [list(pair) for pair in pairs], "log_odds": 1}
    ranked = sorted(labels)
    graph = model_from(document, HERE)
    assert graph.ends.tolist() == [[ranked.index(a), ranked.index(b)] for a, b in pairs]


# The garbage collector, and what is not loaded


def test_the_garbage_collector_is_as_it_was(tmp_path):
    (tmp_path / "bad.json").write_text("{")
    write_model(Groups(3), tmp_path / "good.json")
    for enabled in (True, False):
        gc.enable() if enabled else gc.disable()
        try:
            read_model(tmp_path / "good.json")
            with pytest.raises(BadModel):
                read_model(tmp_path / "bad.json")
            assert gc.isenabled() is enabled
        finally:
            gc.enable()


def test_reading_a_chain_loads_no_heavy_engine():
    code = "import sys, entwined.dependence.files; print(sorted({'pyarrow', 'pyagrum'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


# Size

READ = """
import json, resource, sys, time
from pathlib import Path
from entwined.dependence.files import read_model
wall, busy = time.perf_counter(), time.process_time()
model = read_model(Path(sys.argv[1]))
figures = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - busy, "units": model.units}
figures["couplings"] = len(model.couplings.unit)
print(json.dumps({**figures, "gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6}))
"""


def read_apart(path: Path) -> dict[str, float]:
    """Read a model in a process of its own and tell what it took; processor time, for machines are shared."""
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(done.stdout)
    sys.stderr.write(f"{path.name}: {figures}\n")
    return figures


def random_tree(units: int) -> tuple[list[int], list[list[float]]]:
    rng = np.random.default_rng(7)
    parents = (rng.random(units) * np.arange(units)).astype(int).tolist()
    return parents, np.round(rng.uniform(0.05, 0.95, (units, 2)), 4).tolist()


@pytest.mark.slow
def test_a_field_of_a_million_variables(tmp_path):
    units = 10**6
    parents, weights = random_tree(units)
    variables = ",".join(f'"v{i}":2' for i in range(units))
    edges = ",".join(
        f'{{"between":["v{parents[i]}","v{i}"],"potential":[[{weights[i][0]},{weights[i][1]}],[{weights[i][1]},1]]}}'
        for i in range(1, units)
    )
    path = tmp_path / "field.json"
    path.write_text(f'{{"kind":"random_field","variables":{{{variables}}},"edges":[{edges}]}}')
    figures = read_apart(path)
    assert figures["couplings"] == 2 * (units - 1)
    assert figures["cpu"] < 12
    assert figures["gb"] < 3


@pytest.mark.slow
def test_a_network_of_a_million_variables(tmp_path):
    units = 10**6
    parents, weights = random_tree(units)
    root = '{"name":"v0","values":["no","yes"],"parents":[],"table":[[0.5,0.5]]}'
    rest = ",".join(
        f'{{"name":"v{i}","values":["no","yes"],"parents":["v{parents[i]}"],"table":'
        f"[[{weights[i][0]},{1 - weights[i][0]}],[{weights[i][1]},{1 - weights[i][1]}]]}}"
        for i in range(1, units)
    )
    path = tmp_path / "net.json"
    path.write_text(f'{{"kind":"bayes_net","variables":[{root},{rest}]}}')
    figures = read_apart(path)
    assert figures["couplings"] == 2 * (units - 1)
    assert figures["cpu"] < 12
    assert figures["gb"] < 3


@pytest.mark.slow
def test_a_graph_of_five_million_edges(tmp_path):
    units, count = 10**6, 5 * 10**6
    rng = np.random.default_rng(7)
    first, second = rng.integers(0, units, (2, count + count // 5))
    keys = np.unique(np.minimum(first, second) * units + np.maximum(first, second))
    keys = rng.permutation(keys[keys // units != keys % units])[:count]
    rows = "\n".join(f"{key // units},{key % units}" for key in keys.tolist())
    (tmp_path / "edges.csv").write_text(f"source,target\n{rows}\n")
    (tmp_path / "graph.json").write_text('{"kind":"graph","edges":"edges.csv","log_odds":0.4}')
    figures = read_apart(tmp_path / "graph.json")
    assert figures["couplings"] == 2 * count
    assert figures["cpu"] < 4
    assert figures["gb"] < 1.5


@pytest.mark.parametrize("most", [0, -1, 1.5, "2", True])
def test_a_cap_on_ties_is_a_whole_number_from_1_on(most):
    with pytest.raises(BadModel, match='"most_ties" is'):
        model_from({"kind": "graph", "edges": [[0, 1, 0.4]], "most_ties": most}, Path())
