"""Degrees where nodes are protected: no node with all of its edges moves them further than is charged."""

import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from entwined.dependence import Groups, Independent
from entwined.door.door import Door
from entwined.errors import BadQuery, BadSchema, EntwinedError, Refused
from entwined.ledger import Ledger
from entwined.mechanisms.degrees import Degrees, _statistic
from entwined.mechanisms.k_means import KMeans
from entwined.mechanisms.kinds import mechanism_from
from entwined.mechanisms.offered import settled
from entwined.promise.declared import Declared
from entwined.promise.measure import measure_of
from entwined.promise.promise import Promise
from entwined.queries import BoundedDegreesOf, Count, CountOf, everything
from entwined.request.verification import verify
from entwined.schema import Categorical, Integer, Nodes, Schema, Text, read_schema, write_schema
from entwined.tables import open_table
from entwined.tables.edge_bounding import bounded_degrees, degree_counts
from support import engines
from support.lots import lot

ENDS = "one", "other"


def graph_schema(ids, bound, **more):
    columns = tuple(Integer(name, 0, ids - 1) for name in ENDS)
    return Schema(columns, unit=Nodes(ENDS, bound), most_rows=5000, **more).approve()


def cut(pairs, ids, bound):
    """The rule itself, edge by edge."""
    degrees = [0] * ids
    for one, other in pairs:
        if degrees[one] < bound and degrees[other] < bound:
            degrees[one] += 1
            degrees[other] += 1
    return degrees


def numbers(degrees, most):
    return np.bincount(np.minimum(degrees, most), minlength=most + 1)[1:]


@pytest.mark.parametrize("nodes", [4, 5])
@pytest.mark.parametrize("bound", [1, 2, 3])
def test_no_node_of_any_small_graph_moves_the_numbers_further_than_is_charged(nodes, bound):
    """Every graph, every node of it, and every set of edges that the node may have instead."""
    pairs = list(itertools.combinations(range(nodes), 2))
    statistic = _statistic(graph_schema(nodes, bound), ENDS, bound)
    line, square = statistic.row, statistic.squared(statistic.row)
    assert (line.one, line.both, square.one) == (2 * bound + 1, 4 * bound, (bound + 1) ** 2 + bound**2)
    entering, changing = [0, 0], [0, 0]
    for node in range(nodes):
        own, rest = ([pair for pair in pairs if (node in pair) == mine] for mine in (True, False))
        for others in itertools.product((False, True), repeat=len(rest)):
            kept = list(itertools.compress(rest, others))
            found = np.array(
                [
                    numbers(cut(sorted([*kept, *itertools.compress(own, mine)]), nodes, bound), bound)
                    for mine in itertools.product((False, True), repeat=len(own))
                ]
            )
            for moved, most in ((found - found[0], entering), (found[:, None] - found, changing)):
                most[0] = max(most[0], np.abs(moved).sum(axis=-1).max())
                most[1] = max(most[1], (moved**2).sum(axis=-1).max())
    assert entering[0] <= line.one
    assert entering[1] <= square.one
    assert changing[0] <= line.both
    assert changing[1] <= square.both
    if nodes == 5 and bound == 2:  # reached
        assert (entering[0], entering[1], changing[0], changing[1]) == (5, 13, 8, 32)


def test_edges_in_an_order_of_their_own_for_each_graph_would_move_more():
    """The order must not hang on the table: by degrees, say, one node decides about many edges between others."""

    def by_degree(pairs):
        often = np.bincount(np.array(pairs).reshape(-1), minlength=12)
        return sorted(pairs, key=lambda pair: (-often[list(pair)].sum(), pair))

    rng, bound = np.random.default_rng(0), 2
    every = list(itertools.combinations(range(1, 12), 2))
    worst = {by_degree: 0, sorted: 0}
    for _ in range(400):
        rest = [every[at] for at in rng.choice(len(every), int(rng.integers(6, 20)), replace=False)]
        more = [(0, int(at)) for at in rng.choice(np.arange(1, 12), int(rng.integers(1, 8)), replace=False)]
        for order, most in worst.items():
            before, after = (numbers(cut(order(one), 12, bound), bound) for one in (rest, rest + more))
            worst[order] = max(most, int(np.abs(after - before).sum()))
    assert worst[by_degree] > 2 * bound + 1 >= worst[sorted]


@pytest.mark.parametrize("size", [1, 7, 100, 5000])
@pytest.mark.parametrize("bound", [1, 3, 20])
def test_batches_are_cut_as_edge_by_edge(size, bound):
    rng = np.random.default_rng(bound)
    pairs = np.unique(np.sort((60 * rng.random((900, 2)) ** 2).astype(np.int64), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    batches = [pairs[at : at + size] for at in range(0, len(pairs), size)]
    expected = cut(pairs.tolist(), 60, bound)
    assert bounded_degrees(batches, 60, bound).tolist() == expected
    asked = BoundedDegreesOf(ENDS, bound, 5, everything())
    assert degree_counts(asked, 60)(batches) == numbers(expected, 5).tolist()


@pytest.mark.parametrize("engine", engines.LIGHT)
def test_engines_give_each_pair_once_and_in_order(engine, tmp_path):
    """Rows may name a pair twice, in either order, themselves, nobody, or somebody out of bounds."""
    rng = np.random.default_rng(3)
    ends = [[None if end > 110 else int(end) for end in row] for row in rng.integers(0, 115, (260, 2))]
    stored = {name: ("whole", [row[at] for row in ends]) for at, name in enumerate(ENDS)}
    source, _ = engines.LIGHT[engine](stored, tmp_path)
    schema = graph_schema(100, 3)
    coded = [[min(end, 99) for end in row] for row in ends if None not in row]
    pairs = sorted({tuple(sorted(row)) for row in coded if row[0] != row[1]})
    pairs = sorted(pairs, key=lambda pair: lot(schema.sampling_key, *pair))
    expected = numbers(cut(pairs, 100, 3), 3).tolist()
    assert expected != numbers(cut(pairs[::-1], 100, 3), 3).tolist()
    with open_table(source, schema) as table:
        (found,) = table.answer([BoundedDegreesOf(ENDS, 3, 3, everything())])
    assert found.tolist() == expected


def test_the_order_of_edges_favours_no_id():
    """The numbers are those of edges in a random order (6 sd off in the order of ids); false alarms: 1 in 15,000."""
    rng, ids, bound = np.random.default_rng(5), 600, 10
    pairs = np.array([pair for pair in itertools.combinations(range(ids), 2) if rng.random() < 30 / ids])
    full = [cut(rng.permutation(pairs).tolist(), ids, bound).count(bound) for _ in range(20)]
    frame = pa.table(dict(zip(ENDS, pairs.T, strict=True)))
    schema = Schema(graph_schema(ids, bound).columns, unit=Nodes(ENDS, bound), most_rows=50_000)
    with open_table(frame, schema) as table:
        (found,) = table.answer([BoundedDegreesOf(ENDS, bound, bound, everything())])
    assert abs(found[-1] - np.mean(full)) < 4 * np.std(full)
    assert abs(cut(pairs.tolist(), ids, bound).count(bound) - np.mean(full)) > 4 * np.std(full)


@pytest.mark.parametrize("delta", [None, "1e-6"])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace"])
def test_degrees_of_nodes_are_released_and_verified(tmp_path, neighbours, delta):
    schema = graph_schema(400, 10, neighbours=neighbours)
    promise = Promise.of(schema, [Declared(Independent(1))], measure=measure_of(delta))
    mechanism = settled(Degrees, promise, {"columns": list(ENDS), "most": 10}, leakage=30)
    assert mechanism_from(mechanism.document, promise) == mechanism
    assert mechanism.words.endswith("every id cut to 10 edges")
    ends = np.random.default_rng(1).integers(0, 400, (1500, 2))
    frame = pa.table({name: ends[:, at] for at, name in enumerate(ENDS)})
    with (
        Ledger.create(tmp_path / "l.db", Fraction(40), promise, anchor=tmp_path / "a") as ledger,
        open_table(frame, schema) as table,
    ):
        passed = Door(table, promise, ledger).admit(mechanism)
    assert verify(passed.certificate, schema).valid
    assert passed.price.worst <= 30
    pairs = sorted({tuple(sorted(row)) for row in ends.tolist() if row[0] != row[1]})
    truth = numbers(cut(pairs, 400, 10), 10)
    found = passed.output
    inside = [abs(noisy - true) <= found.reach for noisy, true in zip(found.drawn, truth, strict=True)]
    assert sum(inside) >= 4  # fewer of 10 that hold 19 of 20 times: 1 in 10⁷
    assert found.reach < 60


def test_nothing_else_is_asked_where_nodes_are_protected():
    schema = graph_schema(30, 4)
    promise = Promise.of(schema)
    with pytest.raises(BadQuery, match="no degree distribution"):
        _ = Count().bound(schema).statistics(schema)[0].sensitivity(schema)
    with pytest.raises(BadQuery, match="no degree distribution"):
        KMeans.of(promise, list(ENDS), 2, 1, 1)
    with pytest.raises(BadQuery, match="Name these two"):
        Degrees.of(promise, ["one"], 9, 1)
    frame = pa.table({"one": [1], "other": [2]})
    with open_table(frame, schema) as table:
        for way in (table.check, table.answer):
            with pytest.raises(BadQuery, match="protects nodes"):
                way([CountOf(everything())])
    rows = Schema(schema.columns, most_rows=9)
    with open_table(frame, rows) as table, pytest.raises(BadQuery, match="protects rows"):
        table.check([BoundedDegreesOf(ENDS, 4, 4, everything())])


def test_nodes_have_no_values_that_a_model_could_be_about():
    with pytest.raises(Refused, match="an edge is of two of them"):
        Promise.of(graph_schema(30, 4), [Declared(Groups(2), by="one")])


@pytest.mark.parametrize(
    ("columns", "unit", "why"),
    [
        ((Text("one", compare="exact"), Text("other", compare="exact")), (ENDS, 4), "Declare both alike"),
        ((Integer("one", 0, 9), Integer("other", 0, 8)), (ENDS, 4), "Declare both alike"),
        ((Integer("one", 0, 9),), (ENDS, 4), "Declare both alike"),
        ((Integer("one", 0, 9),), (("one", "one"), 4), "Name the two columns"),
        ((Integer("one", 0, 9),), (ENDS, 0), "Give a number"),
    ],
)
def test_what_are_no_nodes_is_refused(columns, unit, why):
    with pytest.raises(EntwinedError, match=why):
        Schema(columns, unit=Nodes(*unit))


def test_nodes_are_read_back_from_a_schema_file(tmp_path):
    levels = ("a", "b", "c")
    schema = Schema(tuple(Categorical(name, levels) for name in ENDS), unit=Nodes(ENDS, 2)).approve()
    write_schema(schema, tmp_path / "schema.toml")
    assert read_schema(tmp_path / "schema.toml").unit == Nodes(ENDS, 2)
    with pytest.raises(BadSchema, match='kind = "nodes"'):
        (tmp_path / "schema.toml").write_text(
            (tmp_path / "schema.toml").read_text().replace('kind = "nodes"', 'kind = "knots"')
        )
        read_schema(tmp_path / "schema.toml")
