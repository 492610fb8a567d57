"""The closed form for chains: its golden column, the oracle, and that the messages are never worse."""

import numpy as np
import pytest

from entwined.bounds.lazy_symmetric import lazy_symmetric_bound
from entwined.bounds.markov import markov_closed_form_bound
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.transport import transport_bound
from entwined.dependence import Box, Independent, MarkovChain
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support import draw
from support.oracle import chain_joint, worst_leakages
from support.product import product_model


def symmetric(flip, length):
    return MarkovChain(length, Box.exact([[1 - flip, flip], [flip, 1 - flip]]), np.array([0.5, 0.5]))


def settled(transition):
    """The law that one step leaves as it is."""
    return np.linalg.matrix_power(transition, 4096)[0]


def stationary_chains(count, seed):
    """Random positive chains, started where they settle, with uneven losses."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        states = int(rng.choice([2, 2, 3]))
        step = np.exp(rng.normal(0, rng.choice([0.1, 0.5, 1.5]), (states, states)))
        step /= step.sum(axis=1, keepdims=True)
        length = int(rng.integers(2, 6 if states == 2 else 5))
        yield MarkovChain(length, Box.exact(step), settled(step)), Loss.of(draw.losses(rng, length))


@pytest.mark.parametrize("count", [100, pytest.param(500, marks=pytest.mark.slow)])
def test_it_is_never_below_the_oracle_nor_below_the_messages(count):
    for chain, loss in stationary_chains(count, seed=1):
        bound = markov_closed_form_bound(loss, chain).per_unit
        joint = chain_joint(chain.initial, chain.transition.low, chain.length)
        assert (bound >= worst_leakages(joint, loss.per_unit, "values") - 1e-9).all()
        assert (bound >= message_passing_bound(loss, chain).per_unit * (1 - 1e-12)).all()


@pytest.mark.parametrize(
    ("flip", "target", "scale"),
    [(0.1, 0.2, None), (0.1, 1, None), (0.25, 1, None), (0.25, 5, 1.65), (0.4, 1, None)],
)
def test_the_golden_table(flip, target, scale):
    constant = markov_closed_form_bound(Loss.uniform("1e-9", 100), symmetric(flip, 100)).worst
    assert constant == pytest.approx(4 * np.log((1 - flip) / flip), abs=1e-8)
    assert (constant > target) == (scale is None)  # infeasible: even no loss at all leaks more
    if scale is not None:
        assert 1 / (target - constant) == pytest.approx(scale, abs=0.005)
        within = markov_closed_form_bound(Loss.uniform(target - constant, 100), symmetric(flip, 100))
        assert within.worst == pytest.approx(target, rel=1e-6)


def test_it_is_reached_where_steps_are_independent_and_nearly_where_both_neighbours_are_loud():
    same = MarkovChain(3, Box.exact([[0.25] * 4] * 4), np.full(4, 0.25))
    assert markov_closed_form_bound(Loss.of([0.5, 1, 2]), same).per_unit.tolist() == pytest.approx(
        [0.5, 1, 2], rel=1e-15
    )
    step, loud = np.array([[0.6, 0.4], [0.4, 0.6]]), np.array([12.0, 0.0, 12.0])
    bound = markov_closed_form_bound(Loss.of(loud), symmetric(0.4, 3)).per_unit[1]
    # an adversary who knows nothing more can reach half of it, 2 ln γ
    truth = worst_leakages(chain_joint([0.5, 0.5], step, 3), loud, "values")[1]
    assert truth == pytest.approx(2 * np.log(1.5), abs=1e-3)
    assert truth <= bound == pytest.approx(4 * np.log(1.5))


def test_it_fails_where_a_transition_is_rarer_than_believed():
    losses = np.array([3.0, 0.1, 3.0])
    bound = markov_closed_form_bound(Loss.of(losses), symmetric(0.45, 3)).per_unit
    truth = worst_leakages(chain_joint([0.5, 0.5], [[0.99, 0.01], [0.01, 0.99]], 3), losses, "values")
    assert (truth > bound + 0.5).any()


def test_a_class_takes_its_worst_members():
    low, high = np.array([[0.6, 0.2], [0.1, 0.7]]), np.array([[0.8, 0.4], [0.3, 0.9]])
    family = MarkovChain(3, Box(low, high), np.array([0.4, 0.6]))
    bound = markov_closed_form_bound(Loss.uniform(0.5, 3), family)
    assert bound.worst == pytest.approx(0.5 + 4 * np.log(0.9 / 0.1))
    rng, losses = np.random.default_rng(2), np.full(3, 0.5)
    for _ in range(40):
        first, second = rng.uniform(low[:, 0], high[:, 0])
        step = np.array([[first, 1 - first], [second, 1 - second]])
        assert worst_leakages(chain_joint(settled(step), step, 3), losses, "values").max() <= bound.worst


def test_it_grows_with_every_loss_and_never_rounds_down():
    for chain, loss in stationary_chains(40, seed=3):
        more = loss + Loss.of(np.linspace(0, 1, loss.units))
        before, after = (markov_closed_form_bound(each, chain).per_unit for each in (loss, more))
        assert (after >= before).all()
        gamma = chain.transition.low.max() / chain.transition.low.min()
        assert (before >= loss.per_unit + 4 * np.log(gamma)).all()


def test_it_says_where_it_does_not_apply():
    loss, half = Loss.uniform(1, 3), np.array([0.5, 0.5])
    with pytest.raises(DoesNotApply, match="zero"):
        markov_closed_form_bound(loss, MarkovChain(3, Box.exact([[1, 0], [0.5, 0.5]]), half))
    with pytest.raises(DoesNotApply, match="initial"):
        markov_closed_form_bound(loss, MarkovChain(3, Box.exact([[0.9, 0.1], [0.1, 0.9]])))
    with pytest.raises(DoesNotApply, match="stationary"):
        markov_closed_form_bound(
            loss, MarkovChain(3, Box.exact([[0.9, 0.1], [0.1, 0.9]]), np.array([0.6, 0.4]))
        )
    moving = Box(np.array([[0.8, 0.1], [0.1, 0.8]]), np.array([[0.9, 0.2], [0.2, 0.9]]))
    with pytest.raises(DoesNotApply, match="stationary"):
        markov_closed_form_bound(loss, MarkovChain(3, moving, np.array([0.95, 0.05])))
    with pytest.raises(DoesNotApply, match="about Markov chains"):
        markov_closed_form_bound(loss, Independent(3))


def test_random_draws_apply_only_if_they_are_stationary_and_positive():
    rng, said = np.random.default_rng(4), {True: 0, False: 0}
    for _ in range(130):
        drawn = draw.chain(rng)
        fits = drawn.transition.min() > 0 and np.allclose(
            drawn.initial @ drawn.transition, drawn.initial, atol=1e-6
        )
        try:
            bound = markov_closed_form_bound(Loss.of(drawn.losses), product_model(drawn)).per_unit
        except DoesNotApply:
            assert not fits
        else:
            assert fits
            assert (bound >= worst_leakages(drawn.joint(), drawn.losses, "values") - 1e-9).all()
        said[bool(fits)] += 1
    assert min(said.values()) > 20


@pytest.mark.parametrize("flip", [0.02, 0.1, 0.25, 0.4, 0.5])
@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 4.0])
def test_the_closed_form_of_lazy_symmetric_chains_is_where_transport_climbs_to(flip, epsilon):
    short = symmetric(flip, 5)
    truth = worst_leakages(chain_joint([0.5, 0.5], short.transition.low, 5), np.full(5, epsilon), "model")
    assert (lazy_symmetric_bound(Loss.uniform(epsilon, 5), short).per_unit >= truth * (1 - 1e-7)).all()
    loss, chain = Loss.uniform(epsilon, 4000), symmetric(flip, 4000)
    found, told = lazy_symmetric_bound(loss, chain).worst, transport_bound(loss, chain).worst
    assert told * (1 - 1e-9) <= found <= told * (1 + 1e-6)


def test_the_closed_form_of_lazy_symmetric_chains_takes_the_largest_loss_and_knows_its_limits():
    uneven = Loss.of([0.1, 0.5, 0.2])
    assert lazy_symmetric_bound(uneven, symmetric(0.3, 3)).worst == pytest.approx(0.8)  # the group is less
    assert lazy_symmetric_bound(Loss.uniform(500, 3), symmetric(0.1, 3)).worst == pytest.approx(
        500 + 2 * np.log(9)
    )
    for chain, why in (
        (symmetric(0.6, 3), "lazy"),
        (MarkovChain(3, Box.exact([[0.9, 0.1], [0.2, 0.8]]), np.array([2 / 3, 1 / 3])), "symmetric"),
        (MarkovChain(3, symmetric(0.3, 3).transition), "stationary"),
        (MarkovChain(3, symmetric(0.3, 3).transition, np.array([0.9, 0.1])), "stationary"),
        (MarkovChain(3, Box.exact(np.full((3, 3), 1 / 3)), np.full(3, 1 / 3)), "two states"),
    ):
        with pytest.raises(DoesNotApply, match=why):
            lazy_symmetric_bound(Loss.uniform(1, 3), chain)
