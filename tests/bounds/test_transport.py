"""Exact transport: the theorem against the oracle and against fifty digits, long chains step by step."""

from decimal import Decimal, localcontext
from itertools import permutations, product
from time import process_time

import numpy as np
import pytest

from entwined.bounds.frontier import Frontier
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.transport import StepLaws, transport_bound
from entwined.dependence import BayesNet, Edge, RandomField, Variable
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support import draw
from support.chains import CHAINS, REFUSED, YES_NO, as_net, chain_of, forest_field, symmetric
from support.growth import leaks_more_as_losses_grow, no_unit_leaks_less_for_more_loss
from support.oracle import chain_joint, exact_leakage, worst_leakages
from support.product import product_model

ROUNDING = 1e-12  # the oracle's own


# The theorem against the oracle


@pytest.mark.parametrize("count", [180, pytest.param(1000, marks=pytest.mark.slow)])
def test_it_is_never_below_the_oracle_nor_above_the_messages_and_close_on_binary_trees(count):
    rng = np.random.default_rng(11)
    ratios = []
    for place in range(count):
        drawn = (draw.chain if place % 2 else draw.tree)(rng)
        loss, model = Loss.of(drawn.losses), product_model(drawn)
        bound = transport_bound(loss, model).per_unit
        truth = worst_leakages(drawn.joint(), drawn.losses, "model")
        assert (bound >= truth - ROUNDING).all(), drawn
        assert (bound <= message_passing_bound(loss, model).per_unit * (1 + 1e-12)).all(), drawn
        if max(drawn.sizes) == 2:
            ratios.extend(bound / truth)
    assert len(ratios) > count
    assert np.mean(ratios) < 1.03  # seen: 1.01


def test_it_is_never_below_the_oracle_on_fields():
    rng = np.random.default_rng(12)
    for _ in range(150):
        drawn, field = forest_field(rng)
        bound = transport_bound(Loss.of(drawn.losses), field).per_unit
        assert (bound >= worst_leakages(drawn.joint(), drawn.losses, "model") - ROUNDING).all(), drawn


def test_two_units_reach_it():
    rng = np.random.default_rng(13)
    for _ in range(100):
        values = int(rng.integers(2, 4))
        transition = rng.dirichlet(np.full(values, 0.5), size=values)
        initial = rng.dirichlet(np.ones(values))
        losses = draw.losses(rng, 2)
        bound = transport_bound(Loss.of(losses), chain_of(2, transition, initial)).per_unit
        assert bound == pytest.approx(
            worst_leakages(chain_joint(initial, transition, 2), losses, "model"), rel=1e-10
        )


def test_a_loss_without_end_shows_the_most_telling_value_of_the_most_telling_pair():
    rng = np.random.default_rng(14)
    for _ in range(50):
        kernel = rng.dirichlet(np.full(3, 0.7), size=int(rng.integers(2, 5)))
        ratios = np.log(kernel[:, None, :] / kernel[None, :, :])
        assert Frontier.of(kernel)(np.inf) == pytest.approx(ratios.max(), rel=1e-12)
        assert Frontier.of(kernel)(np.inf) >= ratios.max()


def test_an_adversary_who_knows_a_value_can_learn_more():
    """The broken trust: the bound is for an adversary who knows the law and no value."""
    losses = np.array([0.0, 5.0, 0.0])
    chain = symmetric(0.1, 3)
    joint = chain_joint(chain.initial, chain.transition.low, 3)
    bound = float(transport_bound(Loss.of(losses), chain).per_unit[0])
    assert exact_leakage(joint, losses, unit=0, known={}, a=0, b=1) == pytest.approx(bound, rel=1e-9)
    assert exact_leakage(joint, losses, unit=0, known={2: 1}, a=0, b=1) > 1.5 * bound  # 3.28, not 2.14


def test_a_wrong_initial_law_breaks_it():
    """The other broken trust: the same transitions, started elsewhere, leak more."""
    transition, losses = [[0.999, 0.001], [0.5, 0.5]], [1.0, 1.0]
    believed = chain_of(2, transition, [0.999, 0.001])
    true = chain_joint([0.5, 0.5], transition, 2)
    assert (
        worst_leakages(true, losses, "model").max() > transport_bound(Loss.of(losses), believed).worst + 0.1
    )


def careful_transport(laws, leakage):
    """T_P with as many digits as the context has."""
    growth, best = leakage.exp() - 1, Decimal(1)
    for one, other in permutations(laws, 2):
        for chosen in product((0, 1), repeat=len(one)):
            above, below = (
                sum(c for c, inside in zip(law, chosen, strict=True) if inside) for law in (one, other)
            )
            best = max(best, (1 + growth * above) / (1 + growth * below))
    return best.ln()


def careful_leakage(chain, losses):
    """The recursion as the theorem states it, step by step, nothing settled and nothing rounded."""
    states = range(chain.states)
    step = [[Decimal(float(chance)) for chance in row] for row in chain.transition.low]
    step = [[chance / sum(row) for chance in row] for row in step]
    law = [Decimal(float(chance)) for chance in chain.initial]
    past, possible = [Decimal(0)], [[v for v in states if law[v] > 0]]
    for loss in losses[:-1]:
        onward = [sum(law[v] * step[v][w] for v in states) for w in states]
        back = [[law[v] * step[v][w] / onward[w] for v in states] for w in states if onward[w] > 0]
        past.append(careful_transport(back, Decimal(loss) + past[-1]))
        law = onward
        possible.append([v for v in states if law[v] > 0])
    future = [Decimal(0)]
    for loss, values in zip(losses[:0:-1], possible[-2::-1], strict=True):
        future.append(careful_transport([step[v] for v in values], Decimal(loss) + future[-1]))
    return [Decimal(loss) + p + f for loss, p, f in zip(losses, past, future[::-1], strict=True)]


def test_rounding_and_settling_never_go_below_fifty_digits():
    rng = np.random.default_rng(15)
    with localcontext() as context:
        context.prec = 50
        for _ in range(25):
            states, length = int(rng.integers(2, 4)), int(rng.integers(2, 60))
            transition = rng.dirichlet(np.full(states, rng.choice([0.3, 1.0, 10.0])), size=states)
            transition[0] = np.roll(np.eye(states)[0], 1) if rng.random() < 0.3 else transition[0]
            chain = chain_of(length, transition, rng.dirichlet(np.ones(states)))
            losses = (
                [10 ** rng.uniform(-9, 1)] * length
                if rng.random() < 0.5
                else list(10 ** rng.uniform(-9, 1, length))
            )
            truth = careful_leakage(chain, losses)
            for model in (chain, as_net(chain)):
                bound = transport_bound(Loss.of(losses), model).per_unit
                excess = [float(Decimal(float(b)) / t - 1) for b, t in zip(bound, truth, strict=True)]
                assert min(excess) >= 0
                assert max(excess) < 1e-6


# Golden


@pytest.mark.parametrize(
    ("flip", "target", "scale"),
    [(0.10, 0.2, 44.93), (0.10, 1, 8.64), (0.25, 1, 2.89), (0.25, 5, 0.34), (0.40, 1, 1.47)],
)
def test_the_laplace_scales_of_the_theory_page(flip, target, scale):
    chain, low, high = symmetric(flip, 100), 0.0, float(target)
    for _ in range(40):
        middle = (low + high) / 2
        if transport_bound(Loss.uniform(middle, 100), chain).worst <= target:
            low = middle
        else:
            high = middle
    assert round(1 / low, 2) == scale


def test_two_equal_bits_leak_almost_twice():
    assert transport_bound(Loss.uniform(1, 2), symmetric(0.01, 2)).worst == pytest.approx(1.9766, abs=5e-5)


# Long chains


@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("even", [True, False])
def test_a_long_chain_gets_what_it_gets_step_by_step(name, even):
    chain = CHAINS[name]
    losses = np.full(400, 0.3) if even else np.random.default_rng(21).uniform(0, 0.6, 400)
    quick = transport_bound(Loss.of(losses), chain).per_unit
    plain = transport_bound(Loss.of(losses), as_net(chain)).per_unit
    assert quick == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize(
    "name", ["stationary", "from one state", "slow", "period three", "two classes", "a state never met"]
)
def test_laws_that_stand_for_later_ones_are_as_close_as_they_say(name):
    chain = CHAINS[name]
    course = StepLaws.of(chain.initial, chain.transition.low, 100_000)
    law = np.array(chain.initial)
    for t in range(3_000):
        stand_in = t if t < course.start else course.start + (t - course.start) % course.period
        possible = law > 0
        assert (possible == (course.laws[stand_in] > 0)).all()
        gap = np.ptp(np.log(law[possible] / course.laws[stand_in][possible]))
        assert gap <= course.errors[stand_in] + 1e-15
        law = law @ chain.transition.low
    assert max(course.errors) < 1e-6


def test_a_million_steps_of_51_states_take_seconds():
    rng = np.random.default_rng(22)
    transition = 0.5 * rng.dirichlet(np.ones(51), size=51) + 0.5 * np.eye(51)
    chain = chain_of(1_000_000, transition, rng.dirichlet(np.ones(51)))
    begun = process_time()
    leakage = transport_bound(Loss.uniform(0.1, 1_000_000), chain)
    assert process_time() - begun < 10
    short = transport_bound(Loss.uniform(0.1, 300), chain_of(300, transition, chain.initial))
    assert short.worst * (1 - 1e-8) <= leakage.worst <= short.worst * (1 + 1e-6)


def test_a_million_uneven_steps_take_seconds():
    losses = np.random.default_rng(23).uniform(0, 0.2, 1_000_000)
    begun = process_time()
    leakage = transport_bound(Loss(losses), symmetric(0.2, 1_000_000))
    assert process_time() - begun < 10
    assert (leakage.per_unit >= losses).all()


def test_equal_losses_on_a_sluggish_chain_are_not_taken_to_stand_still_too_soon():
    """Messages climb by less and less for long; an uneven loss, never above it, goes step by step."""
    chain, losses = symmetric(1e-5, 400_000), np.full(400_000, 1e-4)
    losses[0] *= 0.5
    even = transport_bound(Loss.uniform(1e-4, 400_000), chain).per_unit
    assert (even >= transport_bound(Loss(losses), chain).per_unit * (1 - 1e-13)).all()


# Trees


def test_deep_wide_and_plain_trees_of_thousands_are_fine():
    rng, values = np.random.default_rng(31), ("a", "b", "c")
    for parent in (lambda j: j - 1, lambda _: 0, lambda j: int(rng.integers(j))):
        table = rng.dirichlet(np.ones(3), size=3)
        variables = [Variable("v0", values, (), [[0.2, 0.3, 0.5]])]
        variables += [Variable(f"v{j}", values, (f"v{parent(j)}",), table) for j in range(1, 1500)]
        net = BayesNet.of(variables)
        loss = Loss.of(rng.uniform(0, 0.1, 1500))
        leakage = transport_bound(loss, net).per_unit
        assert (leakage >= loss.per_unit).all()
        assert (leakage <= message_passing_bound(loss, net).per_unit * (1 + 1e-9)).all()


def test_an_edge_without_effect_is_dropped():
    ring = [
        Edge(("a", "b"), [[2, 1], [1, 3]]),
        Edge(("b", "c"), [[1, 5], [2, 1]]),
        Edge(("c", "a"), [[1, 2], [2, 4]]),
    ]
    joint = np.einsum("ab,bc,ca->abc", *(np.array(edge.potential, dtype=float) for edge in ring))
    field = RandomField.of({"a": 2, "b": 2, "c": 2}, ring)
    truth = worst_leakages(joint, [0.5, 1.0, 0.7], "model")
    bound = transport_bound(Loss.of([0.5, 1.0, 0.7]), field).per_unit
    assert (bound >= truth - ROUNDING).all()
    assert bound == pytest.approx(truth, rel=0.05)


def test_values_that_cannot_occur_are_no_secrets():
    transition = [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    never = chain_of(5, transition, [0.4, 0.6, 0.0])
    assert transport_bound(Loss.uniform(1, 5), never).worst == pytest.approx(1.0, abs=1e-12)
    assert transport_bound(Loss.uniform(1, 5), as_net(never)).worst == pytest.approx(1.0, abs=1e-12)
    sometimes = chain_of(5, transition, [0.4, 0.5, 0.1])
    assert transport_bound(Loss.uniform(1, 5), sometimes).worst == pytest.approx(5.0)


# All losses


@pytest.mark.parametrize(
    "model",
    [symmetric(0.2, 30), as_net(symmetric(0.2, 30)), CHAINS["absorbed"]],
    ids=["chain", "net", "absorbed"],
)
def test_losses_from_tiny_to_huge_give_numbers_that_grow_with_them(model):
    leaks_more_as_losses_grow(transport_bound, model, 41)


def test_more_loss_anywhere_never_means_less_leakage():
    no_unit_leaks_less_for_more_loss(transport_bound, 42, 1e-13)


def test_independent_steps_leak_their_own_loss():
    losses = [0.0, 0.5, 3.0]
    chain = chain_of(3, [[0.2, 0.8], [0.2, 0.8]], [0.5, 0.5])
    assert transport_bound(Loss.of(losses), chain).per_unit.tolist() == pytest.approx(losses, rel=1e-14)
    assert transport_bound(
        Loss.of([2.0]), chain_of(1, [[0.2, 0.8], [0.2, 0.8]], [0.5, 0.5])
    ).worst == pytest.approx(2.0)


# Refusals


@pytest.mark.parametrize("why", REFUSED)
def test_where_it_does_not_apply_it_says_why(why):
    with pytest.raises(DoesNotApply, match=why):
        transport_bound(Loss.uniform(1, REFUSED[why].units), REFUSED[why])


def test_a_net_of_intervals_and_a_forest_too_large_are_refused():
    net = BayesNet.of(
        [Variable("a", YES_NO, (), [[[0.4, 0.6], [0.4, 0.6]]]), Variable("b", YES_NO, (), [[0.5, 0.5]])]
    )
    with pytest.raises(DoesNotApply, match="many members"):
        transport_bound(Loss.uniform(1, 2), net)
    edges = [Edge((str(j), str(j + 1)), [[2, 1], [1, 2]]) for j in range(10_001)]
    field = RandomField.of({str(j): 2 for j in range(10_002)}, edges)
    with pytest.raises(DoesNotApply, match="kernels"):
        transport_bound(Loss.uniform(1, 10_002), field)


def test_a_slow_chain_in_its_stationary_law_is_fine():
    walk = 0.5 * np.eye(51) + 0.25 * np.eye(51, k=1) + 0.25 * np.eye(51, k=-1)
    walk[0, 0] = walk[50, 50] = 0.75
    loss, chain = Loss.uniform(0.1, 100_000), chain_of(100_000, walk, np.full(51, 1 / 51))
    assert transport_bound(loss, chain).worst <= message_passing_bound(loss, chain).worst
