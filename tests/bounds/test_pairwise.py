"""T_P against exact fractions; pairwise coefficients: exact for two units, refused for three."""

import math
from fractions import Fraction
from itertools import permutations, product
from time import process_time

import numpy as np
import pytest

from entwined.bounds.contenders import Contenders
from entwined.bounds.frontier import PROBES, Frontier, hull, sets_of
from entwined.bounds.kernel import frontiers_of
from entwined.bounds.pairwise import (
    exact_coefficient,
    pairwise_bound,
    pairwise_scale_bound,
    scale_coefficient,
    scale_leakage,
)
from entwined.dependence import BayesNet, Box, Edge, Graph, Groups, MarkovChain, RandomField, Variable
from entwined.dependence.places import CityGrid, friends_places
from entwined.errors import BadLoss, BadModel, DoesNotApply
from entwined.loss import Loss
from support import draw
from support.oracle import worst_leakage, worst_leakages

LEAKAGES = np.array(
    [0.0, 1e-300, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 1.0, 3.0, 10.0, 50.0, 599.0, 601.0, 1e6, math.inf]
)
BIT = ("0", "1")
ROUNDING = 1e-12  # the oracle's own
XOR = BayesNet.of(
    [
        Variable("a", BIT, (), [[0.5, 0.5]]),
        Variable("b", BIT, (), [[0.5, 0.5]]),
        Variable("c", BIT, ("a", "b"), [[0.95, 0.05], [0.05, 0.95], [0.05, 0.95], [0.95, 0.05]]),
    ]
)


def pairs(seed, count):
    """Two units as a chain, a network or a field, with their joint law and losses."""
    rng = np.random.default_rng(seed)
    for place in range(count):
        sizes = (
            (int(rng.integers(2, 4)),) * 2 if place % 3 == 0 else tuple(int(s) for s in rng.integers(2, 5, 2))
        )
        table = rng.dirichlet(np.full(sizes[1], rng.choice([0.2, 1.0, 10.0])), size=sizes[0])
        if rng.random() < 0.3:
            table[0] = np.eye(sizes[1])[rng.integers(sizes[1])]
        start = rng.dirichlet(np.ones(sizes[0]))
        joint = start[:, None] * table
        values = [tuple(map(str, range(size))) for size in sizes]
        if place % 3 == 0:
            model = MarkovChain(2, Box.exact(table), start)
        elif place % 3 == 1:
            model = BayesNet.of(
                [Variable("a", values[0], (), [start]), Variable("b", values[1], ("a",), table)]
            )
        else:
            model = RandomField.of({"a": sizes[0], "b": sizes[1]}, [Edge(("a", "b"), (joint * 7).tolist())])
        yield model, joint, draw.losses(rng, 2)


def kernels(seed, count, most=4):
    """Kernels of all sizes, strong and weak, with zeros in some."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        rows, values = rng.integers(1, most + 1), rng.integers(2, most + 1)
        kernel = rng.dirichlet(np.full(values, rng.choice([0.05, 0.3, 1.0, 20.0])), size=rows)
        kernel *= rng.random(kernel.shape) < rng.choice([0.5, 1.0, 1.0])
        kernel[kernel.sum(axis=1) == 0, 0] = 1.0
        yield kernel / kernel.sum(axis=1, keepdims=True)


def exact_transport(kernel, growth):
    """T_P at L = log(1 + growth) over all sets, the ratio less one as an exact fraction."""
    laws = [[Fraction(float(chance)) for chance in row] for row in kernel]
    best = Fraction(0)
    for one, other in permutations(laws, 2):
        for chosen in product((0, 1), repeat=len(one)):
            above, below = (
                sum(c for c, inside in zip(law, chosen, strict=True) if inside) for law in (one, other)
            )
            best = max(best, growth * (above - below) / (1 + growth * below))
    return math.log1p(best)


# T_P


@pytest.mark.parametrize(
    "growth", [Fraction(1, 10**9), Fraction(1, 7), Fraction(2), Fraction(10**4), Fraction(10**20)]
)
def test_a_frontier_is_never_below_the_best_set_and_equals_it(growth):
    leakage = math.log1p(growth)
    for kernel in kernels(seed=1, count=150):
        truth, found = exact_transport(kernel, growth), Frontier.of(kernel)(leakage)
        assert truth * (1 - 1e-15) <= found <= truth * (1 + 2e-14) + 1e-300


def test_one_leakage_and_many_agree_and_stay_in_their_range():
    for kernel in kernels(seed=2, count=200):
        frontier = Frontier.of(kernel)
        many = frontier.each(LEAKAGES)
        assert many == pytest.approx([frontier(leakage) for leakage in LEAKAGES], rel=1e-13)
        assert not np.isnan(many).any()
        assert (many <= LEAKAGES).all()
        assert (np.diff(many) >= -1e-15 * many[:-1]).all()
        assert many[0] == 0.0


def test_the_limit_is_the_largest_log_ratio():
    for kernel in kernels(seed=3, count=200):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.log(kernel[:, None] / kernel[None])
        widest = np.nanmax(ratios, initial=0.0)
        assert Frontier.of(kernel)(math.inf) == pytest.approx(widest, rel=1e-13, abs=1e-13)


def test_equal_rows_carry_nothing_and_a_copy_carries_all():
    assert Frontier.of(np.full((3, 4), 0.25)).each(LEAKAGES).max() == 0.0
    assert Frontier.of(np.eye(3)).each(LEAKAGES).tolist() == LEAKAGES.tolist()


def test_an_uncertain_kernel_is_at_least_every_kernel_that_it_may_be():
    rng = np.random.default_rng(4)
    for kernel in kernels(seed=5, count=100):
        error = 10 ** rng.uniform(-12, -1)
        frontier = Frontier.of(kernel, error)
        for _ in range(5):
            other = kernel * np.exp(rng.uniform(-error / 2, error / 2, kernel.shape))
            other /= other.sum(axis=1, keepdims=True)  # moves each entry by e^±error at most
            for leakage in (1e-6, 0.3, 2.0, 20.0):
                assert Frontier.of(other)(leakage) <= frontier(leakage) * (1 + 1e-13)


def test_a_kernel_of_51_states_is_read_at_once():
    kernel = np.random.default_rng(6).dirichlet(np.ones(51), size=51)
    frontier = Frontier.of(kernel)
    took = []
    for _ in range(5):
        begun = process_time()
        Frontier.of(kernel)
        took.append(process_time() - begun)
    assert min(took) < 0.1
    some = np.random.default_rng(7).random((300, 51)) < 0.5  # sets drawn at random never beat the frontier
    for leakage in (0.01, 1.0, 5.0):
        means = 1 + math.expm1(leakage) * (kernel @ some.T)
        assert np.log(means[:, None] / means[None]).max() <= frontier(leakage)


def test_slices_of_a_large_kernel_give_the_same_frontier(monkeypatch):
    kernel = np.random.default_rng(8).dirichlet(np.full(30, 0.3), size=30)
    whole = Frontier.of(kernel).each(LEAKAGES)
    monkeypatch.setattr("entwined.bounds.frontier.MOST_CELLS", 3_000)
    assert Frontier.of(kernel).each(LEAKAGES) == pytest.approx(whole, rel=1e-13)


def large_kernels():
    """Kernels with zeros, equal rows, near copies, rare values and a drift, small enough to sort whole."""
    rng = np.random.default_rng(11)
    for concentration in (0.05, 0.3, 1.0, 50.0):
        yield rng.dirichlet(np.full(24, concentration), size=24)
    yield np.full((20, 24), 1 / 24)
    yield np.eye(20)
    yield 0.999 * np.eye(20) + 0.001 / 20
    yield friends_places(CityGrid(5, 5).distances())
    yield rng.dirichlet(10.0 ** rng.uniform(-6, 1, 24), size=30)
    sparse = rng.dirichlet(np.ones(24), size=24) * (rng.random((24, 24)) < 0.3) + np.eye(24) * 1e-9
    yield sparse / sparse.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("error", [0.0, 1e-6, 0.1])
def test_pairs_of_rows_that_are_never_sorted_change_no_frontier(monkeypatch, error):
    for kernel in large_kernels():
        monkeypatch.setattr("entwined.bounds.frontier.FEW", 10**9)
        whole = Frontier.of(kernel, error)
        monkeypatch.setattr("entwined.bounds.frontier.FEW", 0)
        monkeypatch.setattr("entwined.bounds.frontier.MOST_CELLS", 400)
        told = Frontier.of(kernel, error)
        assert told.limit == whole.limit
        assert told.each(LEAKAGES) == pytest.approx(whole.each(LEAKAGES), rel=1e-14)
        monkeypatch.undo()


def test_most_pairs_of_rows_of_a_city_are_never_sorted():
    kernel = friends_places(CityGrid(12, 12).distances())
    pairs = Contenders.of(kernel, kernel)
    some = [np.concatenate(each) for each in zip(*sets_of(kernel, kernel, *pairs.first(PROBES)), strict=True)]
    left = pairs.narrowed((kernel, kernel), hull(*some), few=0)
    assert len(left.one) < 0.05 * len(pairs.one)


def test_the_city_of_the_paper_is_read_within_a_second():
    """Equation 26 with 400 places: Equation 14 gives ρ = 0.3778 and 0.3803, Equation 18 0.780 and 0.785."""
    apart = CityGrid(20, 20).distances()
    kernel = friends_places(apart)
    begun = process_time()
    shares = [exact_coefficient(kernel, loss) for loss in (0.1, 1.0)]
    took = process_time() - begun
    assert shares == pytest.approx([0.3778, 0.3803], abs=5e-5)
    assert [scale_coefficient(kernel, loss, apart) for loss in (0.1, 1.0)] == pytest.approx(
        [0.780, 0.785], abs=5e-4
    )
    assert took < 2.0  # 1 for both, on a machine that does nothing else


def test_kernels_run_the_right_way():
    """The leakage of i through j goes by the law of j given i, and the two directions differ."""
    chain = MarkovChain(2, Box.exact([[1.0, 0.0], [0.5, 0.5]]), np.array([0.5, 0.5]))
    _, frontiers = frontiers_of(chain)
    growth = math.expm1(1)
    assert frontiers[1, 0](1.0) == pytest.approx(
        math.log1p(growth / 2)
    )  # x_1 given x_0: (1, 0) and (1/2, 1/2)
    assert frontiers[0, 1](1.0) == pytest.approx(
        math.log1p(growth * 2 / 3)
    )  # x_0 given x_1: (2/3, 1/3) and (0, 1)
    leakage = pairwise_bound(Loss.of([1.0, 1.0]), chain).per_unit
    assert leakage == pytest.approx([1 + math.log1p(growth / 2), 1 + math.log1p(growth * 2 / 3)])


# Two units


def test_two_units_leak_exactly_the_exact_coefficient():
    for model, joint, losses in pairs(seed=1, count=200):
        bound = pairwise_bound(Loss.of(losses), model).per_unit
        truth = worst_leakages(joint, losses, "model")
        assert (bound >= truth - ROUNDING).all()
        assert bound == pytest.approx(truth, rel=1e-9)


def test_the_scale_form_is_never_below_the_truth_nor_the_exact_form_nor_above_the_group():
    above = 0
    for model, joint, losses in pairs(seed=2, count=200):
        loose = pairwise_scale_bound(Loss.of(losses), model).per_unit
        exact = pairwise_bound(Loss.of(losses), model).per_unit
        assert (loose >= worst_leakages(joint, losses, "model") - ROUNDING).all()
        assert (loose >= exact * (1 - 1e-14)).all()
        assert (loose <= losses.sum() * (1 + 1e-12)).all()
        above += (loose > exact * 1.01).any()
    assert above > 100


def test_coefficients_of_independent_units():
    equal = np.array([[0.25, 0.5, 0.25], [0.25, 0.5, 0.25]])
    assert exact_coefficient(equal, 1.0) == 0.0
    assert scale_coefficient(equal, 1.0) == pytest.approx(math.log((math.e + math.sqrt(math.e)) / 2))
    net = BayesNet.of(
        [Variable("a", BIT, (), [[0.5, 0.5]]), Variable("b", BIT, ("a",), [[0.3, 0.7], [0.3, 0.7]])]
    )
    assert pairwise_bound(Loss.of([1.0, 2.0]), net).per_unit.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("loss", [1e-9, 0.01, 1.0, 5.0, 50.0, 5000.0])
def test_coefficients_are_shares(loss):
    rng = np.random.default_rng(3)
    for _ in range(50):
        values = int(rng.integers(2, 4))
        kernel = rng.dirichlet(np.full(values, 0.5), size=3)
        exact, loose = exact_coefficient(kernel, loss), scale_coefficient(kernel, loss)
        assert 0 <= exact <= loose * (1 + 1e-12)  # up to three values; four below
        assert loose <= 1
    assert exact_coefficient(np.eye(3), loss) == 1.0
    assert scale_coefficient(np.array([[0.0, 1.0, 0.0]]), loss) == pytest.approx(0.5)
    assert scale_coefficient(np.array([[0.4, 0.6], [0.1, 0.9]]), loss) == pytest.approx(
        1.0
    )  # two values: the group


def test_small_losses_give_the_distance_of_the_laws():
    """ρ of Eq. 14 tends to the total variation, ρ of Eq. 18 to the mean distance to the farthest value."""
    kernel = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]])
    assert exact_coefficient(kernel, 1e-8) == pytest.approx(0.4, rel=1e-6)
    assert scale_coefficient(kernel, 1e-8) == pytest.approx(0.7 + 0.2 / 2 + 0.1, rel=1e-6)


def test_the_published_scale_form_alone_is_no_bound_for_plain_losses():
    """Two values inside the scale: a move between them may cost the whole loss, the form says two thirds."""
    kernel = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    net = BayesNet.of([Variable("a", BIT, (), [[0.5, 0.5]]), Variable("b", tuple("wxyz"), ("a",), kernel)])
    truth = worst_leakage(kernel / 2, [0.0, 3.0], unit=0, knowledge="model")
    assert truth == pytest.approx(3.0)
    assert scale_leakage(kernel, 3.0) == pytest.approx(2.0)
    assert pairwise_scale_bound(Loss.of([0.0, 3.0]), net).per_unit[0] == pytest.approx(3.0)


def test_it_holds_alone_where_the_loss_is_in_proportion_to_the_distance():
    """Laplace noise on the value itself: at any output the ratio of the densities is within Eq. 18."""
    rng = np.random.default_rng(4)
    for _ in range(100):
        values, loss = int(rng.integers(2, 6)), rng.uniform(0.1, 4)
        kernel = rng.dirichlet(np.full(values, rng.choice([0.2, 1.0])), size=3)
        outputs = np.linspace(-2, values + 1, 400)
        density = np.exp(-loss * np.abs(outputs[:, None] - np.arange(values)) / (values - 1)) @ kernel.T
        ratio = np.log(density.max(axis=1) / density.min(axis=1)).max()
        assert ratio <= scale_leakage(kernel, loss)


# The assumption


def test_three_bits_whose_pairs_are_independent_are_refused():
    with pytest.raises(DoesNotApply, match="'a', 'b', 'c'"):
        pairwise_bound(Loss.uniform(1, 3), XOR)
    with pytest.raises(DoesNotApply, match="'a', 'b', 'c'"):
        pairwise_scale_bound(Loss.uniform(1, 3), XOR)


@pytest.mark.parametrize(("loss", "leakage"), [(1.0, 1.8855), (0.5, 0.9482)])
def test_the_sum_would_have_been_wrong(loss, leakage):
    """The broken trust: all pairs are independent, so the sum is the own loss; the truth is twice it."""
    table = np.array([[0.95, 0.05], [0.05, 0.95], [0.05, 0.95], [0.95, 0.05]]).reshape(2, 2, 2)
    joint = table / 4
    kernels = [joint.sum(axis=2) * 2, joint.sum(axis=1) * 2]  # b given a, c given a
    would_be = loss + sum(exact_coefficient(kernel, loss) * loss for kernel in kernels)
    assert would_be == pytest.approx(loss, abs=1e-12)
    assert worst_leakage(joint, [loss] * 3, unit=0, knowledge="model") == pytest.approx(leakage, abs=5e-5)


def test_a_chain_of_three_is_refused_and_its_steps_are_named():
    chain = MarkovChain(8, Box.exact([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]))
    with pytest.raises(DoesNotApply, match="Units 1, 2, 3, 4, 5 and 3 more"):
        pairwise_bound(Loss.uniform(1, 8), chain)


def test_many_pairs_and_single_units_are_fine():
    variables = [Variable("alone", BIT, (), [[0.1, 0.9]])]
    for j in range(300):
        variables.append(Variable(f"a{j}", BIT, (), [[0.5, 0.5]]))
        variables.append(Variable(f"b{j}", BIT, (f"a{j}",), [[0.99, 0.01], [0.01, 0.99]]))
    leakage = pairwise_bound(Loss.uniform(1, 601), BayesNet.of(variables)).per_unit
    assert leakage[0] == 1.0
    assert leakage[1:] == pytest.approx(1.9766, abs=5e-5)


def test_a_parent_without_effect_does_not_count():
    causes = [Variable("a", BIT, (), [[0.5, 0.5]]), Variable("b", BIT, (), [[0.5, 0.5]])]
    table = [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.2, 0.8]]
    net = BayesNet.of([*causes, Variable("c", BIT, ("a", "b"), table)])
    joint = np.array(table).reshape(2, 2, 2) / 4
    losses = [1.0, 2.0, 0.5]
    assert pairwise_bound(Loss.of(losses), net).per_unit == pytest.approx(
        worst_leakages(joint, losses, "model"), rel=1e-9
    )


def test_losses_from_tiny_to_huge_and_none():
    model = MarkovChain(2, Box.exact([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5]))
    for bound in (pairwise_bound, pairwise_scale_bound):
        before = np.zeros(2)
        for size in (0.0, 1e-9, 1e-3, 0.999, 1.0, 1.001, 50.0, 5000.0):
            leakage = bound(Loss.of([size, size]), model).per_unit
            assert np.isfinite(leakage).all()
            assert (leakage >= before).all()
            before = leakage
        assert bound(Loss.of([0.0, 0.0]), model).worst == 0.0


# Refusals


def test_one_law_is_needed():
    interval = Box(np.array([[0.8, 0.1], [0.1, 0.8]]), np.array([[0.9, 0.2], [0.2, 0.9]]))
    for model, why in [
        (MarkovChain(2, interval, np.array([0.5, 0.5])), "many members"),
        (MarkovChain(2, Box.exact([[0.9, 0.1], [0.1, 0.9]])), "no initial law"),
        (Graph(2, np.array([[0, 1]]), np.float64(0.4)), "does not say what the law is"),
        (Groups(2), "not about"),
    ]:
        with pytest.raises(DoesNotApply, match=why):
            pairwise_bound(Loss.uniform(1, 2), model)


def test_coefficients_of_no_kernel_or_no_loss_are_refused():
    with pytest.raises(BadModel, match="sums to"):
        exact_coefficient(np.array([[0.5, 0.4]]), 1.0)
    for loss in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(BadLoss, match="above zero"):
            scale_coefficient(np.eye(2), loss)
