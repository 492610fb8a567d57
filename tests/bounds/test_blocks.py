"""Blocks of steps under pure losses: the exact oracle on short chains, the Markov quilt on long ones."""

import math

import numpy as np
import pytest

from entwined.bounds import block_relay, bound, certify, chain_blocks, chains, verify
from entwined.bounds.blocks import block_messages_bound, block_transport_bound
from entwined.bounds.group import group_bound
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.quilt import markov_quilt_bound
from entwined.bounds.transport import transport_bound
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support.chains import CHAINS, chain_of, symmetric, walk
from support.oracle import chain_joint, worst_leakages_by_knowledge

PAIRS = ((block_messages_bound, message_passing_bound), (block_transport_bound, transport_bound))


def drawn(rng, length):
    stay = rng.choice([0.3, 0.6, 0.9])
    step = stay * np.eye(3) + (1 - stay) * rng.dirichlet(np.full(3, 0.7), size=3)
    if rng.random() < 0.4:
        step = walk(3, stay, 2).transition.low
    start = np.full(3, 1 / 3) if rng.random() < 0.5 else rng.dirichlet(np.ones(3))
    return chain_of(length, step, start), 10 ** rng.uniform(-1, 0.5, length)


def test_no_mechanism_on_a_chain_of_three_states_leaks_more():
    rng, better = np.random.default_rng(91), 0
    for length in [2, 3, 3, 4, 4] * 3:
        chain, losses = drawn(rng, length)
        truths = worst_leakages_by_knowledge(chain_joint(chain.initial, chain.transition.low, length), losses)
        for blocks, steps in PAIRS:
            found, one = (theorem(Loss(losses), chain).per_unit for theorem in (blocks, steps))
            assert (found >= truths[blocks.knowledge] * (1 - 1e-7)).all(), chain
            assert (found <= one * (1 + 1e-9)).all()
            better += int((found < 0.99 * one).any())
    assert better >= 5


def any_chain(rng):
    """A chain of two to four states: some hardly ever move, some cannot go everywhere, and losses are uneven."""
    states = int(rng.integers(2, 5))
    length = int(rng.integers(2, {2: 6, 3: 5, 4: 4}[states]))
    step = rng.dirichlet(np.full(states, rng.choice([0.2, 1.0])), size=states)
    kind = rng.random()
    if kind < 0.3:  # nearly deterministic
        step = 0.99 * np.eye(states)[rng.permutation(states)] + 0.01 * step
    elif kind < 0.6:  # with zeros
        step = step * (rng.random(step.shape) < 0.6) + 0.1 * np.eye(states)
        step = step / step.sum(axis=1, keepdims=True)
    start = rng.dirichlet(np.full(states, 0.7)) if rng.random() < 0.7 else np.eye(states)[0]
    return chain_of(length, step, start), 10 ** rng.uniform(-2, 0.7, length)


@pytest.mark.parametrize(
    ("seed", "chains"), [(0, 10), *(pytest.param(n, 100, marks=pytest.mark.slow) for n in range(1, 33))]
)
def test_no_mechanism_on_any_chain_leaks_more_than_what_is_chosen_or_blocks_say(seed, chains):
    rng, by_blocks = np.random.default_rng([93, seed]), 0
    for _ in range(chains):
        chain, losses = any_chain(rng)
        truths = worst_leakages_by_knowledge(
            chain_joint(chain.initial, chain.transition.low, chain.length), losses
        )
        for knowledge, truth in truths.items():
            said = bound(chain, Loss(losses), knowledge)
            told = [said.leakage, *(other.leakage for other in said.alternatives if other.leakage)]
            assert all((one.per_unit >= truth * (1 - 1e-7)).all() for one in told), (chain, losses)
        for theorem, _ in PAIRS if chain.states > 2 else ():
            found = theorem(Loss(losses), chain).per_unit
            assert (found >= truths[theorem.knowledge] * (1 - 1e-7)).all(), (chain, losses)
            by_blocks += 1
    assert by_blocks >= chains // 2


@pytest.mark.parametrize(("stay", "length"), [(0.9, 1500), (0.95, 1200)])
def test_many_steps_at_a_time_say_what_single_steps_say(stay, length, monkeypatch):
    chain, loss = walk(6, stay, length), Loss.uniform(0.002, length)
    many, taken = block_relay.relay_strides, []
    monkeypatch.setattr(block_relay, "PATIENCE", math.inf)
    monkeypatch.setattr(block_relay, "relay_strides", lambda *asked: taken.append(1) or many(*asked))
    for theorem in (block_messages_bound, block_transport_bound):
        quick = theorem(loss, chain).per_unit
        with monkeypatch.context() as patched:
            patched.setattr(block_relay, "SHORTER", math.inf)
            climbed = theorem(loss, chain).per_unit
        assert (quick >= climbed * (1 - 1e-12)).all()
        assert quick.max() <= climbed.max() * (1 + 1e-5)
    assert len(taken) == 4  # both sides of both, and none where steps go one by one


def test_laws_that_hardly_change_share_their_blocks(monkeypatch):
    step = walk(4, 0.7, 2).transition.low
    settled = np.linalg.matrix_power(step, 4096)[0]
    start = settled * np.exp([0.0004, -0.0004, 0.0003, 0.0])
    chain, loss = chain_of(60, step, start / start.sum()), Loss.uniform(0.05, 60)
    exact = block_transport_bound(loss, chain).per_unit
    chain_blocks.block_laws.cache_clear()
    monkeypatch.setattr(chain_blocks, "MOST_POINTS", 1)
    again = chain_of(60, step, start / start.sum())
    shared = chain_blocks.block_laws(again, chain_blocks.FINE_SIZES).course
    assert len(shared.errors) == chain_blocks.FEWEST_LAWS
    followed = start / start.sum()
    for place in range(30):
        law = shared.laws[chain_blocks.place_of(shared, place)]
        error = shared.errors[chain_blocks.place_of(shared, place)]
        assert np.ptp(np.log(law / followed)) <= error
        followed = followed @ step
    found = block_transport_bound(loss, again).per_unit
    assert (found >= exact * (1 - 1e-12)).all()
    assert found.max() <= exact.max() * 1.01
    with pytest.raises(DoesNotApply, match="Start from the stationary law"):
        chain_blocks.block_laws(chain_of(60, step, [1, 0, 0, 0]), chain_blocks.FINE_SIZES)


@pytest.mark.parametrize("length", [40, 1000])
def test_blocks_are_below_the_markov_quilt_and_the_group(length):
    chain = walk(8, 0.8, length)
    for epsilon in (0.001, 0.01, 0.1):
        loss = Loss.uniform(epsilon, length)
        blocks, told, quilt, group = (
            theorem(loss, chain).worst
            for theorem in (block_transport_bound, block_messages_bound, markov_quilt_bound, group_bound)
        )
        assert blocks <= quilt * (1 + 1e-9)
        assert blocks <= told * (1 + 1e-9) <= group * (1 + 1e-9)
    assert block_transport_bound(Loss.uniform(0.01, 3000), walk(8, 0.8, 3000)).worst < 0.7 * (
        markov_quilt_bound(Loss.uniform(0.01, 3000), walk(8, 0.8, 3000)).worst
    )


def test_one_ceiling_holds_for_all_steps_of_a_long_chain():
    for theorem in (block_messages_bound, block_transport_bound):
        long, short = (theorem(Loss.uniform(0.01, n), walk(4, 0.6, n)).worst for n in (100_000, 3000))
        assert short * (1 - 1e-9) <= long <= short * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [1e-4, 0.003, 0.05])
def test_a_ceiling_from_above_is_what_messages_climb_to(epsilon, monkeypatch):
    chain = walk(6, 0.7, 5000)
    for theorem in (block_messages_bound, block_transport_bound):
        quick = theorem(Loss.uniform(epsilon, 5000), chain).per_unit
        with monkeypatch.context() as patched:
            patched.setattr(block_relay, "PATIENCE", math.inf)
            climbed = theorem(Loss.uniform(epsilon, 5000), chain).per_unit
        assert (quick >= climbed * (1 - 1e-12)).all()
        assert quick.max() <= climbed.max() * (1 + 1e-8)


@pytest.mark.parametrize(("epsilon", "stay"), [(1e-6, 1 - 1e-6), (1e-5, 1 - 3e-7), (2e-4, 1 - 1e-9)])
def test_messages_that_climb_for_long_are_had_in_closed_form(epsilon, stay, monkeypatch):
    odds, length = 2 * math.log(stay / (1 - stay)), 60_000
    quick = chains.settling_messages(epsilon, odds, length)
    monkeypatch.setattr(chains, "LONG", math.inf)
    climbed = chains.settling_messages(epsilon, odds, length)
    assert (quick >= climbed).all()
    assert quick == pytest.approx(climbed, rel=1e-8)
    assert quick[20_000] != climbed[20_000]  # it was not the same loop


def test_to_know_two_states_at_every_step_shows_as_much_as_messages_say():
    # A chain of many states forgets, but who knows that each step was in one of two states that hardly change into
    # each other looks at a chain of these two: blocks cannot cover such knowledge, and the messages are nearly reached.
    far, length, epsilon = 1e-3, 5, 0.4
    step = np.full((3, 3), 0.5)
    step[0], step[2] = [0.3, 0.7 - far, far], [far, 0.7 - far, 0.3]
    step[1] = [0.25, 0.5, 0.25]
    inner = step[np.ix_([0, 2], [0, 2])]
    joint = np.ones((2,) * length)
    for t in range(length - 1):
        shape = [1] * length
        shape[t] = shape[t + 1] = 2
        joint = joint * inner.reshape(shape)
    truth = worst_leakages_by_knowledge(joint / joint.sum(), np.full(length, epsilon))["model"][length // 2]
    chain = chain_of(length, step, np.full(3, 1 / 3))
    told = Loss.uniform(epsilon, length)
    assert block_messages_bound(told, chain).per_unit[length // 2] < 0.999 * truth
    assert truth <= message_passing_bound(told, chain).per_unit[length // 2] <= 1.05 * truth


def test_chains_of_all_kinds_leak_no_more_than_step_by_step():
    rng = np.random.default_rng(92)
    for name, chain in CHAINS.items():
        losses = Loss(rng.uniform(0.01, 0.1, chain.length))
        for blocks, steps in PAIRS:
            try:
                found = blocks(losses, chain).per_unit
            except DoesNotApply as reason:
                assert "states" in str(reason) or "start" in str(reason), name  # noqa: PT017
                continue
            assert (found <= steps(losses, chain).per_unit * (1 + 1e-9)).all(), name
            assert (found >= losses.per_unit).all()


def test_it_is_certified_and_two_states_are_left_to_steps():
    chain = walk(4, 0.7, 30)
    for knowledge, name in (("values", "block messages"), ("model", "block transport")):
        proved = bound(chain, Loss.uniform(0.05, 30), knowledge)
        assert verify(certify(proved).document).valid
        assert name in {proved.theorem.name, *(said.theorem.name for said in proved.alternatives)}
    with pytest.raises(DoesNotApply, match="3 states or more"):
        block_messages_bound(Loss.uniform(0.1, 5), symmetric(0.1, 5))
