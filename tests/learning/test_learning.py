"""Learning from public tables: counts, structure, models, margins; and the certificate against the oracle."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from entwined.bounds import bound, certify, curve, verify
from entwined.dependence import BayesNet, Variable
from entwined.errors import BadInput, BadTable, Refused
from entwined.learning import Codes, learn, learn_with_margin, pair_counts, public_codes
from entwined.learning.models import chance_intervals
from entwined.learning.structure import forest_of, joint_counts, network, parents_first, score, tree
from entwined.loss import Loss
from entwined.promise.declared import Declared
from entwined.schema import Categorical, Cells, Integer, Schema, Text
from support import draw
from support.joints import joint_of
from support.oracle import tilted_leakages, worst_leakages


def drawn(seed, rows=200, sizes=(2, 3, 4, 2), blanks=0.0):
    rng = np.random.default_rng(seed)
    values = np.stack([rng.integers(0, size, rows) for size in sizes], axis=1)
    keep = rng.random(values.shape) < 0.5
    values = np.where(keep, values[:, :1] % np.array(sizes), values)
    values = np.where(rng.random(values.shape) < blanks, -1, values)
    return Codes.of({f"q{n}": size for n, size in enumerate(sizes)}, values)


@pytest.mark.parametrize("blanks", [0.0, 0.2])
def test_pair_counts_are_those_of_going_through_the_rows(blanks):
    codes = drawn(1, blanks=blanks)
    pairs = pair_counts(codes)
    for i, j in itertools.product(range(4), repeat=2):
        table = np.zeros((codes.sizes[i], codes.sizes[j]), int)
        for row in codes.values.tolist():
            if row[i] >= 0 and row[j] >= 0:
                table[row[i], row[j]] += 1
        assert (pairs.between(i, j) == table).all()
        assert pairs.asked[i, j] == table.sum()
    assert (pairs.single(2) == np.bincount(codes.values[:, 2][codes.values[:, 2] >= 0], minlength=4)).all()


def test_counts_stay_exact_over_many_slices_of_rows():
    values = np.zeros((70_000, 2), int)
    values[::3, 1] = 1
    pairs = pair_counts(Codes.of({"a": 1, "b": 2}, values))
    assert pairs.between(0, 1).tolist() == [[70_000 - 23_334, 23_334]]


@pytest.mark.parametrize("blanks", [0.0, 0.3])
def test_mutual_information_is_its_definition(blanks):
    codes = drawn(2, blanks=blanks)
    pairs = pair_counts(codes)
    for i, j in itertools.combinations(range(4), 2):
        law = pairs.between(i, j) / pairs.asked[i, j]
        apart = np.outer(law.sum(1), law.sum(0))
        there = law > 0
        assert pairs.information[i, j] == pytest.approx(
            np.sum(law[there] * np.log(law[there] / apart[there]))
        )
    assert (pairs.information == pairs.information.T).all()


def test_the_tree_is_the_heaviest_of_all():
    pairs = pair_counts(drawn(3))

    def weight(links):
        return sum(pairs.information[i, j] for i, j in links)

    every = list(itertools.combinations(range(4), 2))
    spanning = [links for links in itertools.combinations(every, 3) if len(components(links, 4)) == 1]
    assert len(spanning) == 16  # Cayley
    found = [(parents[0], child) for child, parents in enumerate(tree(pairs)) if parents]
    assert weight(found) == pytest.approx(max(map(weight, spanning)))


def components(links, units):
    groups = [{unit} for unit in range(units)]
    for i, j in links:
        first, second = (next(group for group in groups if unit in group) for unit in (i, j))
        if first is not second:
            groups.remove(second)
            first |= second
    return groups


def test_columns_that_nobody_was_asked_together_are_not_joined():
    values = np.full((400, 3), -1)
    values[:200, 0], values[200:, 1] = 1, 1
    values[:, 2] = np.arange(400) % 2
    found = tree(pair_counts(Codes.of({"a": 2, "b": 2, "c": 2}, values)))
    assert sorted((*parents, child) for child, parents in enumerate(found) if parents) in (
        [(0, 2), (2, 1)],
        [(2, 0), (2, 1)],
    )
    assert forest_of(np.full((3, 3), -1.0)) == ((), (), ())


def test_a_network_finds_two_causes_that_a_tree_cannot_show():
    rng = np.random.default_rng(4)
    causes = rng.integers(0, 2, (2000, 2))
    agree = (causes[:, 0] & causes[:, 1]) ^ (rng.random(2000) < 0.05)
    pairs = pair_counts(Codes.of({"a": 2, "b": 2, "c": 2}, np.column_stack([causes, agree])))
    assert max(map(len, network(pairs, 1))) == 1
    assert max(map(len, network(pairs, 2))) == 2
    independent = Codes.of({"a": 2, "b": 2, "c": 2}, rng.integers(0, 2, (2000, 3)))
    assert max(map(len, network(pair_counts(independent), 3))) == 1  # a further parent must pay for itself
    with pytest.raises(BadInput, match="0 parents"):
        network(pairs, 0)


def test_the_score_is_the_penalised_likelihood():
    codes = drawn(5)
    counts = joint_counts(codes, (1, 3)).astype(float)
    law = counts / counts.sum(1, keepdims=True)
    likelihood = np.sum(counts[counts > 0] * np.log(law[counts > 0]))
    assert score(codes, 3, (1,)) == pytest.approx(likelihood - 0.5 * np.log(200) * 3)


def test_parents_come_first_and_cycles_are_refused():
    assert parents_first(((1,), (2,), ())) == (2, 1, 0)
    with pytest.raises(BadInput, match="cycle"):
        parents_first(((1,), (0,)))


def test_a_learned_model_has_the_smoothed_tables_of_its_counts():
    codes = drawn(6)
    found = learn(codes, "pilot.csv", smoothing="0.5")
    child = next(at for at, parents in enumerate(found.model.parents) if parents)
    (parent,) = found.model.parents[child]
    counts = joint_counts(codes, (parent, child)) + 0.5
    table = next(one["table"] for one in found.model.document["variables"] if one["name"] == f"q{child}")
    assert np.allclose(table, counts / counts.sum(1, keepdims=True))
    assert found.model.source == "proxy"
    assert "pilot.csv (200 rows, a tree, 0.5 added" in found.title
    assert found.declared.title == found.title


def test_a_learned_model_makes_a_certificate_that_names_where_it_comes_from():
    model = learn(drawn(7), "wave 1").model
    document = certify(bound(model, Loss.uniform("0.1", 4))).document
    assert verify(document).valid
    assert any("another, public table" in words for words in document["trusted"])


def test_what_was_learned_from_the_private_rows_is_for_planning_only():
    model = learn(drawn(7), "the private rows", planning_only=True).model
    schema = Schema(tuple(Integer(f"q{n}", 0, 3) for n in range(4)), unit=Cells())
    with pytest.raises(Refused, match="planning"):
        Declared(model).check(schema)
    with pytest.raises(Refused, match="planning"):
        certify(bound(model, Loss.uniform("0.1", 4)))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("knowledge", ["any", "values", "model"])
def test_the_true_leakage_of_an_answer_is_never_above_the_certificate(seed, knowledge):
    """Issue: enumerate all records of the population, compute the worst mechanism's leakage."""
    rng = np.random.default_rng([8, seed])
    sizes = [(2, 2, 2), (2, 3, 2), (2, 2, 2, 2), (3, 2, 3), (2, 2, 2, 2, 2)][seed % 5]
    codes = drawn([9, seed], rows=60, sizes=sizes)
    model = learn(codes, "pilot", parents=1 + seed % 3).model
    loss = Loss.of(rng.uniform(0.1, 1.5, len(sizes)))
    found = bound(model, loss, knowledge).leakage.per_unit
    joint = joint_of(model)
    if knowledge == "any":
        truth = tilted_leakages(joint, loss.per_unit, draw.tilts(rng, joint.shape, 4))
    else:
        truth = worst_leakages(joint, loss.per_unit, knowledge)
    assert (truth <= found + 1e-7).all()


def test_stronger_odds_are_larger_by_the_share_and_leak_more():
    model = learn(drawn(10), "pilot").model
    for share in (0.1, 0.5):
        assert model.stronger(share).couplings.log_odds == pytest.approx(
            model.couplings.log_odds * (1 + share)
        )
    points = curve(model, Loss.uniform("0.2", 4)).points
    assert [point.share for point in points] == [0.0, 0.1, 0.25, 0.5]
    assert sorted(points, key=lambda point: point.leakage) == list(points)
    assert points[0].leakage == pytest.approx(bound(model, Loss.uniform("0.2", 4)).leakage.worst)
    with pytest.raises(BadInput, match="share"):
        model.stronger(-0.1)


def test_intervals_cover_every_chance_as_often_as_they_say():
    """For each p, sum the binomial law over the counts whose interval misses it."""
    for rows in (5, 40):
        counts = np.array([[k, rows - k] for k in range(rows + 1)])
        box = chance_intervals(counts, counts, 0.1)
        for p in np.linspace(0.001, 0.999, 41):
            missed = (box.low[:, 0] > p) | (box.high[:, 0] < p)
            assert binom.pmf(np.arange(rows + 1), rows, p)[missed].sum() <= 0.1 + 1e-9
    with pytest.raises(BadInput, match="confidence"):
        chance_intervals(counts, counts, 0.0)


def test_intervals_of_counts_between_limits_hold_those_of_every_count_between():
    low, high = np.array([[3, 5, 0]]), np.array([[6, 9, 2]])
    wide = chance_intervals(low, high, 0.05)
    for counts in itertools.product(range(3, 7), range(5, 10), range(3)):
        box = chance_intervals(np.array([counts]), np.array([counts]), 0.05)
        assert (wide.low <= box.low).all()
        assert (box.high <= wide.high).all()


def test_a_margin_holds_the_smoothed_law_and_leaks_at_least_as_much():
    codes = drawn(11, rows=4000)
    exact, wide = learn(codes, "pilot").model, learn_with_margin(codes, "pilot", "0.95")
    loss = Loss.uniform("0.2", 4)
    assert "confidence 0.95" in wide.title
    assert not wide.model.blocks[-1].table.is_exact
    assert bound(wide.model, loss).leakage.worst > bound(exact, loss).leakage.worst
    fewer = learn_with_margin(codes.some(np.arange(400)), "pilot", "0.95").model
    assert bound(fewer, loss).leakage.worst > bound(wide.model, loss).leakage.worst
    assert (
        bound(wide.model.stronger(0.1), loss).leakage.worst
        > bound(exact.stronger(0.1), loss).leakage.worst
        > bound(exact, loss).leakage.worst
    )


def test_public_rows_are_coded_by_the_schema(tmp_path):
    path = tmp_path / "pilot.csv"
    path.write_text("a,b,c\nx,5,1\ny,,7\nx,9,\n")
    schema = Schema(
        (Categorical("a", ("x", "y")), Integer("b", 5, 7), Integer("c", 0, 8, missing="drop"), Text("d"))
    )
    with pytest.raises(BadTable, match="'d'"):
        public_codes(path, schema)
    codes = public_codes(path, Schema(schema.columns[:3]))
    assert codes.sizes == (3, 4, 10)  # missing has a code, dropped or not
    assert sorted(map(tuple, codes.values.tolist())) == [(0, 0, 1), (0, 2, 9), (1, 3, 7)]
    assert codes.without_missing(["c"]).values.min() == -1
    with pytest.raises(BadTable, match="no column that can be queried"):
        public_codes(path, Schema((Text("a"),)))


def test_wrong_codes_are_refused():
    with pytest.raises(BadTable, match="outside"):
        Codes.of({"a": 2}, [[2]])
    with pytest.raises(BadTable, match="outside"):
        Codes.of({"a": 2}, [[-2]])
    with pytest.raises(BadTable, match="coarser"):
        Codes.of({"a": 5000}, [[2]])
    with pytest.raises(BadTable, match="no column 'b'"):
        Codes.of({"a": 2}, [[1]]).place("b")
    with pytest.raises(BadTable, match="name"):
        Codes(("a", "a"), (2, 2), np.zeros((1, 2), np.int32))
    with pytest.raises(BadTable, match="shape"):
        Codes(("a",), (2,), np.zeros((1, 2), np.int32))
    wide = Codes.of({f"q{n}": 900 for n in range(30)}, np.zeros((1, 30)))
    with pytest.raises(BadTable, match="codes in all"):
        pair_counts(wide)


def test_smoothing_must_be_above_zero():
    from entwined.errors import BadLoss

    with pytest.raises(BadLoss, match="above zero"):
        learn(drawn(1), "pilot", smoothing=0)
    assert learn(drawn(1), "pilot", smoothing=Fraction(1, 3)).how.startswith("a tree")


def test_hundreds_of_columns_are_learned_in_moments():
    import time

    codes = Codes.of({f"q{n}": 6 for n in range(400)}, np.random.default_rng(1).integers(0, 6, (3000, 400)))
    began = time.process_time()
    assert sum(map(bool, tree(pair_counts(codes)))) == 399
    assert time.process_time() - began < 8  # seen: 0.7; the limit leaves room for a busy machine


def test_with_two_parents_the_odds_grow_while_the_other_parent_is_held_fixed():
    variables = [
        Variable("a", ("0", "1"), (), [[0.5, 0.5]]),
        Variable("b", ("0", "1"), (), [[0.5, 0.5]]),
        Variable("c", ("0", "1"), ("a", "b"), [[0.9, 0.1], [0.5, 0.5], [0.4, 0.6], [0.2, 0.8]]),
    ]
    model = BayesNet.of(variables)

    def odds(net):
        (block,) = [block for block in net.blocks if block.scope.shape[1] == 3]
        return [float(block.pair_log_odds(parent, 2)[0]) for parent in (0, 1)]

    assert odds(model.stronger(0.25)) == pytest.approx([1.25 * one for one in odds(model)])
