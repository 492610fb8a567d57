"""Blocks of steps on chains that forget slowly: exact hockey sticks of short chains, and how much less noise they need."""

from time import process_time

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, bound, certify, separable_blocks, verify
from entwined.bounds.profiles.curves import GaussianCurve
from entwined.bounds.profiles.passing import TOGETHER
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.separable import (
    known_messages,
    separable_group_bound,
    separable_messages_bound,
    separable_transport_bound,
    tilted_messages,
)
from entwined.bounds.separable_blocks import (
    known_blocks,
    separable_block_messages_bound,
    separable_block_transport_bound,
    tilted_blocks,
)
from entwined.dependence import Box, MarkovChain
from entwined.errors import DoesNotApply
from support.chains import chain_of, symmetric, walk
from support.hockey_sticks import ChannelCurve, secrets, separable_sticks, stick, through_channels
from support.oracle import chain_joint

DELTA = "1e-6"
IN_BLOCKS = {"values": (tilted_blocks, tilted_messages), "model": (known_blocks, known_messages)}


def gaussian(scale, units):
    return ConcentratedLoss.uniform(1 / (2 * scale**2), units, DELTA, gaussian=True, separable=True)


def drawn(rng, length):
    """A chain of three states, some with zeros, some at rest, and what is shown of each step: one thing, or anything."""
    stay = rng.choice([0.3, 0.6, 0.9])
    step = stay * np.eye(3) + (1 - stay) * rng.dirichlet(np.full(3, 0.7), size=3)
    if rng.random() < 0.3:
        step[0, 2] = 0.0
    if rng.random() < 0.4:
        step = walk(3, stay, 2).transition.low
    step = step / step.sum(axis=1, keepdims=True)
    start = np.full(3, 1 / 3) if rng.random() < 0.5 else rng.dirichlet(np.ones(3))
    channels = [rng.dirichlet(np.full(2, 1.0), size=3) for _ in range(length)]
    if rng.random() < 0.5:
        channels = channels[:1] * length
    return chain_of(length, step, start), channels


def compared(rng, lengths, gammas=6):
    """Hold both theorems against the truth; give how many comparisons, and how often a block was better than a step."""
    count, better = 0, 0
    for length in lengths:
        chain, channels = drawn(rng, length)
        curves = list(map(ChannelCurve.of, channels))
        span = sum(float(np.ptp(np.log(channel), axis=0).max()) for channel in channels)
        grid = Grid.up_to(min(span, 20.0) * 1.02, 384)
        epsilons = np.append(0.0, rng.uniform(0, 0.5 * min(span, 8.0), gammas - 1))
        joint = chain_joint(chain.initial, chain.transition.low, length)
        for knowledge, (blocks, steps) in IN_BLOCKS.items():
            found, one = (passed(TOGETHER, curves, chain)(grid) for passed in (blocks, steps))
            bounds, single = (
                [told.profiles[place].at(np.expm1(epsilons)) for place in told.place] for told in (found, one)
            )
            better += sum(
                int((ours < 0.99 * theirs).any()) for ours, theirs in zip(bounds, single, strict=True)
            )
            known = "any" if knowledge == "values" else "model"  # the sticks know values
            for unit, truth in separable_sticks(joint, channels, np.exp(epsilons), known):
                assert (bounds[unit] >= truth * (1 - 1e-11)).all(), (chain, unit, knowledge)
                count += gammas
    return count, better


def test_no_channel_on_a_chain_of_three_states_shows_more_than_blocks_say():
    count, better = compared(np.random.default_rng(81), [2, 3, 4, 4, 4, 4, 5])
    assert count > 20_000
    assert better >= 5


@pytest.mark.slow
def test_no_channel_on_many_chains_of_up_to_six_steps_shows_more_than_blocks_say():
    count, better = compared(np.random.default_rng(82), [3, 4, 5] * 15 + [6, 6])
    print(f"{count:,} comparisons, {better} units bounded by blocks")
    assert count > 300_000


def test_long_strides_over_equal_steps_show_no_less_than_the_truth(monkeypatch):
    """Blocks of four steps, asked at every fourth step alone."""
    monkeypatch.setattr(separable_blocks, "IN_ALL", 1)
    chain, channel = walk(3, 0.4, 6), np.array([[0.8, 0.2], [0.5, 0.5], [0.1, 0.9]])
    epsilons, joint = np.linspace(0, 3, 8), chain_joint(np.full(3, 1 / 3), walk(3, 0.4, 2).transition.low, 6)
    separable_blocks.known_sides.cache_clear()
    told = known_blocks(TOGETHER, [ChannelCurve.of(channel)] * 6, chain)(Grid.up_to(16.0, 512))
    separable_blocks.known_sides.cache_clear()
    assert len({id(told.profiles[place]) for place in told.place}) < 6
    for unit, truth in separable_sticks(joint, [channel] * 6, np.exp(epsilons), "model"):
        assert (told.profiles[told.place[unit]].at(np.expm1(epsilons)) >= truth * (1 - 1e-11)).all()


def test_to_know_a_set_of_states_can_show_more_so_blocks_cover_values_alone():
    """The trusted part broken: the third state forgets all, and it is known that no step was in it."""
    step = np.array([[0.05, 0.0005, 0.9495], [0.0005, 0.05, 0.9495], [0.3, 0.3, 0.4]])
    chain = chain_of(3, step, [0.4, 0.4, 0.2])
    quiet, loud = np.full((3, 2), 0.5), np.array([[0.99, 0.01], [0.01, 0.99], [0.5, 0.5]])
    curves = [ChannelCurve.of(channel) for channel in (quiet, quiet, loud)]
    told = tilted_blocks(TOGETHER, curves, chain)(Grid.up_to(10.0, 512))
    said = told.profiles[told.place[0]].at(np.zeros(1))[0]
    joint = chain_joint(chain.initial, step, 3)
    known = max(
        truth[0] for unit, truth in separable_sticks(joint, [quiet, quiet, loud], np.ones(1)) if unit == 0
    )
    inside = joint.copy()
    inside[:, 2, :] = inside[:, :, 2] = 0.0
    tilted = max(
        stick(through_channels(p, [quiet, loud]), through_channels(q, [quiet, loud]), np.ones(1))[0]
        for unit, unknown, p, q, _ in secrets(inside, "model")
        if unit == 0
    )
    assert known <= said < tilted
    assert separable_block_messages_bound.knowledge == "values"


# How much it helps


def test_a_walk_of_six_states_needs_less_noise_in_blocks():
    chain, loss = walk(6, 0.5, 300), gaussian(60.0, 300)
    step, group = (
        theorem(loss, chain).worst for theorem in (separable_transport_bound, separable_group_bound)
    )
    start = process_time()
    blocks, told = (
        theorem(loss, chain).worst
        for theorem in (separable_block_transport_bound, separable_block_messages_bound)
    )
    assert process_time() - start < 8
    print(f"group {group:.3f}, step by step {step:.3f}, blocks {blocks:.3f}, values known {told:.3f}")
    assert blocks < 0.6 * step <= 0.6 * group * (1 + 1e-9)
    assert blocks <= told < 0.7 * group


def test_blocks_are_no_worse_than_steps_of_which_they_are_made():
    rng = np.random.default_rng(83)
    for length in (1, 2, 5, 24):
        chain, _ = drawn(rng, length)
        rhos = rng.uniform(0.001, 0.01, length).tolist()
        losses = ConcentratedLoss.of(rhos, DELTA, gaussian=True, separable=True)
        for blocks, steps in (
            (separable_block_messages_bound, separable_messages_bound),
            (separable_block_transport_bound, separable_transport_bound),
        ):
            assert (blocks(losses, chain).per_unit <= steps(losses, chain).per_unit * (1 + 1e-4)).all()


def test_a_long_chain_ends_where_a_shorter_one_does():
    long, short = (
        separable_block_transport_bound(gaussian(30.0, n), walk(4, 0.5, n)).worst for n in (50_000, 300)
    )
    assert short * (1 - 1e-9) <= long <= short * 1.001


def test_what_blocks_do_not_cover_is_refused():
    for theorem in (separable_block_messages_bound, separable_block_transport_bound):
        with pytest.raises(DoesNotApply, match="3 states or more"):
            theorem(gaussian(5.0, 5), symmetric(0.1, 5))
        with pytest.raises(DoesNotApply, match="reads one unit alone"):
            theorem(ConcentratedLoss.uniform(0.01, 5, DELTA, gaussian=True), walk(3, 0.5, 5))
    wide = MarkovChain(5, Box(walk(3, 0.5, 5).transition.low * 0.9, np.ones((3, 3))))
    with pytest.raises(DoesNotApply, match=r"one law|known transitions"):
        separable_block_transport_bound(gaussian(5.0, 5), wide)


def test_a_class_leaks_no_less_than_its_members():
    loss, member = gaussian(5.0, 5), walk(3, 0.5, 5)
    wide = MarkovChain(5, Box(member.transition.low * 0.9, np.minimum(member.transition.low * 1.1, 1)))
    whole, one = (separable_block_messages_bound(loss, chain) for chain in (wide, member))
    assert (whole.per_unit >= one.per_unit).all()


def test_the_list_of_theorems_uses_blocks_where_they_are_best():
    chain, loss = walk(4, 0.7, 30), gaussian(30.0, 30)
    for knowledge, name in (("values", "separable block messages"), ("model", "separable block transport")):
        proved = bound(chain, loss, knowledge)
        assert proved.theorem.name == name
        assert verify(certify(proved).document).valid
    assert bound(chain, loss, "any").theorem.name != "separable block messages"


def test_the_convex_curve_below_points_is_below_them_and_above_every_convex_one():
    grid = Grid.up_to(4.0, 400)
    one, other = (PrivacyProfile.of(GaussianCurve(shift), grid) for shift in (0.6, 1.0))
    least = one.raised(0.0, 0.02).least(other)
    convex = least.convex()
    assert convex.below(least)
    assert one.below(convex.raised(1e-12, 0.0))
    slopes = np.diff(convex.deltas) / np.diff(grid.excess)
    assert (np.diff(slopes) > -1e-9).all()
    assert (convex.deltas < least.deltas * (1 - 1e-6)).any()
