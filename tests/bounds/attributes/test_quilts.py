"""Quilts of column parameters: recomputed by brute force, tight where they should be, and refused where nothing is proved."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from entwined.audit.lower_bound import audit
from entwined.bounds import bound, certify, verify
from entwined.bounds.attributes.column_query import ColumnPart, ColumnQuery
from entwined.bounds.attributes.gaussian_quilts import gaussian_quilt_noise
from entwined.bounds.attributes.noisy_columns import NoisyColumns, ValueSets
from entwined.bounds.attributes.parameter_law import max_influence
from entwined.bounds.attributes.parameter_quilt import parameter_quilt_bound
from entwined.bounds.attributes.quilts import quilt_noise, quilt_noise_for_class
from entwined.bounds.attributes.separation import published_quilts, published_scale, separations
from entwined.bounds.attributes.two_normals import analytic_ratio
from entwined.dependence import BayesNet, Variable
from entwined.errors import BadInput, BadLoss, BadQuery, DoesNotApply, NoTheorem
from support.parameter_networks import random_network, true_influence, true_leakage, true_slip

NETWORKS = 500
TWO = ("low", "high")


def school(gender=((0.6, 0.4), (0.4, 0.6)), protected="income"):
    """Example 1 and Figure 1 of Zhang, Ohrimenko and Cummings: income ties sat and gender, gender height and weight."""
    network = BayesNet.of(
        [
            Variable("income", TWO, (), [[0.5, 0.5]]),
            Variable("sat", TWO, ("income",), [[0.8, 0.2], [0.2, 0.8]]),
            Variable("gender", TWO, ("income",), [list(row) for row in gender]),
            Variable("height", TWO, ("gender",), [[0.9, 0.1], [0.1, 0.9]]),
            Variable("weight", TWO, ("gender", "height"), [[0.7, 0.3], [0.3, 0.7], [0.2, 0.8], [0.4, 0.6]]),
        ]
    )
    return network.hiding([name for name in network.names if name != protected])


def drawn_query(rng, drawn):
    """An answer of one or two parts to some of the columns: its declared spans, and its value for every table."""
    names, shape = drawn.network.names, tuple(cells.shape[1] for cells in drawn.cells)
    answers, parts = np.zeros(shape), []
    for _ in range(int(rng.integers(1, 3))):
        read = sorted(
            rng.choice(len(names), int(rng.integers(1, min(4, len(names)) + 1)), replace=False).tolist()
        )
        inside = rng.integers(0, 4, [shape[j] for j in read]).astype(float)
        inside.flat[0] += inside.max() == inside.min()
        answers = answers + inside.reshape([shape[j] if j in read else 1 for j in range(len(shape))])
        parts.append(ColumnPart(tuple(names[j] for j in read), float(inside.max() - inside.min())))
    return ColumnQuery(tuple(parts)), answers


def test_certificates_are_never_below_the_log_ratio_of_500_random_networks():
    rng, free, tight = np.random.default_rng(15), 0, 0
    for _ in range(NETWORKS):
        drawn = random_network(rng)
        network, (query, answers) = drawn.network, drawn_query(rng, drawn)
        scale = float(10 ** rng.uniform(-1, 1.5)) if rng.random() < 0.9 else 0.0
        place = int(rng.integers(network.units))
        alone = network.hiding([name for at, name in enumerate(network.names) if at != place])
        found = parameter_quilt_bound(NoisyColumns(query, scale, network.units), alone).per_unit
        truth = true_leakage(drawn, place, answers, scale)
        assert found[place] >= truth - 1e-12, (drawn, query, scale)
        tight += truth > 0.9 * found[place] > 0
        epsilon = float(rng.uniform(0.05, 3))
        noise = quilt_noise(alone, query, epsilon)
        assert true_leakage(drawn, place, answers, noise.scale) <= epsilon + 1e-12
        free += noise.scale == 0
    assert free > 20  # some releases need no noise
    assert tight > 20  # and some bounds are nearly reached


def test_gaussian_quilts_keep_epsilon_and_delta():
    """The exact divergence of what comes out, from the chances of small cells, in both orders and for all pairs."""
    rng, delta, free, reached = np.random.default_rng(25), 0.01, 0, 0
    for _ in range(40):
        drawn = random_network(rng, 5)
        network, (query, answers) = drawn.network, drawn_query(rng, drawn)
        place, epsilon = int(rng.integers(network.units)), float(rng.uniform(0.1, 2.5))
        alone = network.hiding([name for at, name in enumerate(network.names) if at != place])
        noise = gaussian_quilt_noise(alone, ColumnQuery(whole(query)), epsilon, delta)
        slipped = true_slip(drawn, place, answers, noise.deviation, epsilon)
        assert slipped <= delta * (1 + 1e-6) + 1e-12
        free += noise.deviation == 0
        reached += slipped > 0.5 * delta
    assert free > 2
    assert reached > 1


def whole(query):
    """The parts of one number: it moves by the sum of what its parts move by."""
    columns = [name for part in query.parts for name in part.columns]
    return (ColumnPart(tuple(columns), sum(part.span for part in query.parts)),)


def test_a_list_of_answers_moves_by_its_length_under_gaussian_noise():
    two = ColumnQuery.mean("height", 0, 3) + ColumnQuery.mean("sat", 0, 4)
    assert two.length_moved_by(["height", "sat"]) == pytest.approx(5)
    assert two.moved_by(["height", "sat"]) == pytest.approx(7)
    noise = gaussian_quilt_noise(school(), two, 0.3, 1e-3)  # nothing may be shown: e(height) is above
    assert noise.deviation == pytest.approx(5 * analytic_ratio(Fraction("0.3"), Fraction("1/1000")), rel=1e-6)
    far = gaussian_quilt_noise(
        school(), ColumnQuery.mean("height", 0, 90) + ColumnQuery.mean("sat", 0, 1), 1.0, 1e-3
    )
    shown = max_influence(school(), "income", ["height"])
    assert far.quilt.shown == ("height",)
    assert far.deviation == pytest.approx(analytic_ratio(Fraction(1 - shown), Fraction("1/1000")), rel=1e-6)
    alone = gaussian_quilt_noise(school(), ColumnQuery.mean("height", 0, 3), 1.0, 1e-3)
    assert alone.deviation == 0.0


def test_influence_is_that_of_the_joint_law_multiplied_out():
    rng = np.random.default_rng(16)
    for _ in range(100):
        drawn = random_network(rng)
        place = int(rng.integers(drawn.network.units))
        others = [j for j in range(drawn.network.units) if j != place]
        for shown in combinations(others, min(2, len(others))):
            truth = true_influence(drawn.joint, place, shown)
            found = max_influence(drawn.network, f"c{place}", [f"c{j}" for j in shown])
            assert found == pytest.approx(truth, rel=1e-9, abs=1e-11)
            assert found >= truth * (1 - 1e-15)


def test_a_large_network_is_summed_out_to_the_same_influence(monkeypatch):
    from entwined.bounds.attributes import parameter_law

    rng = np.random.default_rng(17)
    for _ in range(20):
        drawn = random_network(rng)
        names = drawn.network.names
        small = max_influence(drawn.network, names[0], names[1:3])
        with monkeypatch.context() as patch:
            patch.setattr(parameter_law, "MOST_TOGETHER", 0)
            again = max_influence(replace(drawn.network), names[0], names[1:3])
        assert again == pytest.approx(small, rel=1e-12)


def test_no_published_quilt_needs_less_noise():
    """Definition 6 by d-separation, each quilt with independence checked in the joint law."""
    rng = np.random.default_rng(18)
    for _ in range(60):
        drawn = random_network(rng, 5)
        query, _ = drawn_query(rng, drawn)
        names, place = drawn.network.names, int(rng.integers(drawn.network.units))
        for quilt in separations(drawn.network, names[place]):
            assert names[place] in quilt.near
            assert sorted((*quilt.cut, *quilt.near, *quilt.remote)) == sorted(names)
            both = tuple(map(names.index, (*quilt.cut, *quilt.remote)))
            cut = tuple(map(names.index, quilt.cut))
            assert true_influence(drawn.joint, place, both) == pytest.approx(
                true_influence(drawn.joint, place, cut), abs=1e-9
            )
        epsilon = float(rng.uniform(0.1, 3))
        alone = drawn.network.hiding([name for name in names if name != names[place]])
        ours = quilt_noise(alone, query, epsilon).scale
        theirs = published_scale(drawn.network, query, epsilon, [names[place]])
        assert ours <= theirs * (1 + 1e-9)
        if len(drawn.network.values[place]) == 2:  # one pair of values: the best of all quilts is found
            assert ours == pytest.approx(theirs)


def test_example_1_to_the_letter():
    network, tall = school(), ColumnQuery.count(["height"], rows=100)
    e = max_influence(network, "income", ["gender"])
    assert e == pytest.approx(math.log(1.5))
    quilt = next(one for one in separations(network, "income") if one.cut == ("gender",))
    assert set(quilt.near) == {"income", "sat"}
    assert set(quilt.remote) == {"height", "weight"}
    by_gender = next(one for one in published_quilts(network, "income", tall) if one.shown == ("gender",))
    assert by_gender.scale(e) == 0.0  # free if e(gender|income) ≤ ε
    assert by_gender.scale(e * 0.999) == math.inf
    for epsilon in (e, 1.0, 5.0):
        assert quilt_noise(network, tall, epsilon).scale == 0.0
        assert published_scale(network, tall, epsilon, ["income"]) == 0.0
    # height itself shows less of income than gender does, so less is needed than Example 1 asks for
    shown = max_influence(network, "income", ["height"])
    assert shown < e
    assert quilt_noise(network, tall, shown).scale == 0.0
    assert quilt_noise(network, tall, shown * 0.99).scale == pytest.approx(100 / (shown * 0.99))
    # with SAT as well the near part moves as much as the whole: no quilt is better than none
    both = ColumnQuery.count(["height", "sat"], rows=100)
    assert both.moved_by(["sat"]) == both.moved_by(["height", "sat"]) == 100
    with_sat = next(one for one in published_quilts(network, "income", both) if one.shown == ("gender",))
    assert with_sat.scale(1.0) == pytest.approx(100 / (1 - e))
    assert quilt_noise(network, both, 1.0).scale == pytest.approx(100)
    # two counts, one of each: now the quilt pays
    two = tall + ColumnQuery.count(["sat"], rows=100)
    assert quilt_noise(network, two, 1.0).scale == pytest.approx(100 / (1 - shown))
    assert quilt_noise(network, two, 1.0).accuracy(0.05) == pytest.approx(100 / (1 - shown) * math.log(20))


def test_of_several_networks_the_worst_counts():
    weak, strong = school(), school(gender=((0.9, 0.1), (0.1, 0.9)))
    tall = ColumnQuery.count(["height"], rows=100)
    assert quilt_noise(weak, tall, 1.0).scale == 0.0
    assert quilt_noise_for_class([weak, strong], tall, 1.0) == quilt_noise(strong, tall, 1.0)
    assert quilt_noise_for_class([weak, strong], tall, 1.0).scale == pytest.approx(100)
    with pytest.raises(BadInput, match="at least one"):
        quilt_noise_for_class([], tall, 1.0)


def test_zeros_show_everything_or_nothing():
    copied = school(gender=((1.0, 0.0), (0.0, 1.0)))
    assert max_influence(copied, "income", ["gender"]) == math.inf
    sure = BayesNet.of(
        [
            Variable("income", ("low", "never", "high"), (), [[0.5, 0.0, 0.5]]),
            Variable("sat", TWO, ("income",), [[0.5, 0.5], [1.0, 0.0], [0.5, 0.5]]),
        ]
    )
    assert max_influence(sure, "income", ["sat"]) == pytest.approx(
        0.0, abs=1e-12
    )  # what never occurs is no secret
    assert quilt_noise(sure.hiding(["sat"]), ColumnQuery.mean("sat", 0, 1), 0.1).scale == 0.0


def test_sets_of_values_by_their_worst_values_or_averaged():
    values = ("a", "b", "c")
    network = BayesNet.of(
        [
            Variable("share", values, (), [[0.2, 0.3, 0.5]]),
            Variable("weight", TWO, ("share",), [[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]]),
        ]
    ).hiding(["weight"])
    query = ColumnQuery.mean("weight", 0, 1)
    sets = [ValueSets("share", ("a",), ("b", "c"))]
    worst = quilt_noise(network, query, 5.0, sets).quilt.influence
    mean = quilt_noise(network, query, 5.0, sets, averaged=True).quilt.influence
    mixed = np.array([0.3, 0.5]) @ np.array([[0.5, 0.5], [0.9, 0.1]]) / 0.8
    assert worst == pytest.approx(math.log(8))
    assert mean == pytest.approx(max(np.log(mixed / [0.2, 0.8]).max(), np.log([0.2, 0.8] / mixed).max()))
    near = [ValueSets("share", ("a",), ("b",))]
    assert quilt_noise(network, query, 5.0, near).quilt.influence == pytest.approx(math.log(2.5))
    asked = NoisyColumns.of(query, 0.0, 2, sets, averaged=True)
    assert "averaged under the network" in bound(network, asked, "model").guarantee


def test_a_certificate_is_derived_again_without_data():
    network = school()
    asked = NoisyColumns(ColumnQuery.count(["height", "sat"], rows=100), 100.0, 5)
    document = certify(bound(network, asked, "model")).document
    assert document["leakage"] == pytest.approx(1.0)
    assert "the parameter that any one column is drawn with" in document["guarantee"]
    assert verify(document).valid
    document["inputs"]["loss"]["laplace_scale"] = 80.0
    assert not verify(document).valid
    with pytest.raises(NoTheorem):
        bound(network, asked, "any")


def test_what_is_not_proved_is_refused():
    network = school()
    with pytest.raises(BadQuery, match="Add it to the network"):
        quilt_noise(network, ColumnQuery.count(["age"], rows=10), 1.0)
    with pytest.raises(BadLoss, match="Name a column"):
        quilt_noise(network, ColumnQuery.count(["sat"], rows=10), 1.0, [ValueSets("age", ("a",), ("b",))])
    with pytest.raises(BadLoss, match="values of the network"):
        quilt_noise(
            network, ColumnQuery.count(["sat"], rows=10), 1.0, [ValueSets("income", ("low",), ("b",))]
        )
    with pytest.raises(BadLoss, match="share nothing"):
        ValueSets("income", ("low",), ("low",))
    with pytest.raises(BadQuery, match="positive"):
        ColumnQuery.mean("sat", 3, 3)
    open_law = BayesNet.of(
        [
            Variable("income", TWO, (), [[0.5, 0.5]]),
            Variable("sat", TWO, ("income",), [[[0.7, 0.8], [0.2, 0.3]], [[0.2, 0.3], [0.7, 0.8]]]),
        ]
    )
    with pytest.raises(DoesNotApply, match="known by intervals alone"):
        quilt_noise(open_law, ColumnQuery.mean("sat", 0, 1), 1.0)


def test_many_columns_are_searched_by_those_that_show_least():
    rng, names = np.random.default_rng(19), [f"c{j}" for j in range(30)]
    flips = rng.uniform(0.495, 0.5, 29)
    network = BayesNet.of(
        [
            Variable("c0", TWO, (), [[0.5, 0.5]]),
            *(
                Variable(name, TWO, ("c0",), [[1 - flip, flip], [flip, 1 - flip]])
                for name, flip in zip(names[1:], flips, strict=True)
            ),
        ]
    ).hiding(names[1:])
    query = ColumnQuery(tuple(ColumnPart((name,), 1.0) for name in names[1:]))
    noise = quilt_noise(network, query, 1.0)
    assert 0 < noise.scale < 29
    rates = np.sort(np.log((1 - flips) / flips))
    running = np.concatenate([[0.0], np.cumsum(rates)])
    wanted = min((29 - k) / (1 - running[k]) for k in range(20))  # 2²⁰ joint values are summed, more are not
    assert noise.scale == pytest.approx(wanted)


# The adversary


def releases(rng, count, scale):
    """Draw so many tables of 20 rows under each income and release how many are tall or good at SAT, two counts."""
    chances = {"height": (0.4, 0.6), "sat": (0.0, 1.0)}
    network = school()
    found = []
    for value in (0, 1):
        law = network.member()
        drawn = law.draw(count, rng, {0: value})
        tall = rng.binomial(20, np.array(chances["height"])[drawn[:, 3]])
        good = rng.binomial(20, np.array(chances["sat"])[drawn[:, 1]])
        found.append(np.stack([tall, good], axis=1) + rng.laplace(0, scale, (count, 2)))
    return found


def log_likelihood(outputs, scale):
    """log p(output | income) for both incomes, summed over the parameters and the tables."""
    from scipy.stats import binom

    joint = np.stack([school().member().joint([1, 3], {0: value}) for value in (0, 1)])
    counts = np.arange(21)
    tall = np.stack([binom.pmf(counts, 20, chance) for chance in (0.4, 0.6)])
    good = np.stack([binom.pmf(counts, 20, chance) for chance in (0.0, 1.0)])
    dens = [
        np.exp(-np.abs(outputs[:, k, None] - counts) / scale) @ pmf.T for k, pmf in ((0, tall), (1, good))
    ]
    return np.log(np.einsum("isv,ns,nv->in", joint, dens[1], dens[0]))


def test_posterior_odds_from_a_hundred_thousand_releases_stay_within_epsilon():
    rng, epsilon = np.random.default_rng(20), 0.7
    query = ColumnQuery.count(["height"], rows=20) + ColumnQuery.count(["sat"], rows=20)
    noise = quilt_noise(school(), query, epsilon)
    worst = 0.0
    for outputs in releases(rng, 50_000, noise.scale):
        logs = log_likelihood(outputs, noise.scale)
        worst = max(worst, float(np.abs(logs[0] - logs[1]).max()))
    assert 0.3 * epsilon < worst <= epsilon


@pytest.mark.parametrize(("share", "caught"), [(1.0, False), (0.8, True)])
def test_too_little_noise_is_caught_by_an_audit(share, caught):
    """SAT is a copy of income and every row of it the same, so that the bound is reached: n / ε is needed."""
    network = BayesNet.of(
        [Variable("income", TWO, (), [[0.5, 0.5]]), Variable("sat", TWO, ("income",), [[1, 0], [0, 1]])]
    ).hiding(["sat"])
    rng = np.random.default_rng(21)
    scale = quilt_noise(network, ColumnQuery.count(["sat"], rows=20), 1.0).scale * share
    outputs = [truth + rng.laplace(0, scale, 100_000) for truth in (0.0, 20.0)]
    proven = audit(*outputs)
    assert proven.refutes(1.0) == caught
    assert proven.epsilon > 0.9


def test_every_pair_of_values_has_its_own_quilt():
    """Two pairs that different columns show: one quilt for all pairs would need more noise."""
    values = ("a", "b", "c")
    network = BayesNet.of(
        [
            Variable("x", values, (), [[1 / 3] * 3]),
            Variable("y", TWO, ("x",), [[0.5, 0.5], [0.999, 0.001], [0.5, 0.5]]),
            Variable("z", TWO, ("x",), [[0.5, 0.5], [0.5, 0.5], [0.999, 0.001]]),
        ]
    ).hiding(["y", "z"])
    query = ColumnQuery.mean("y", 0, 1) + ColumnQuery.mean("z", 0, 1)
    ours, theirs = quilt_noise(network, query, 1.0).scale, published_scale(network, query, 1.0, ["x"])
    assert ours == pytest.approx(2.0)
    assert ours <= theirs
    apart = [ValueSets("x", ("a",), ("b",))]
    assert quilt_noise(network, query, 1.0, apart).scale == pytest.approx(1.0)
