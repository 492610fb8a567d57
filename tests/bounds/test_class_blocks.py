"""Blocks of a class of chains: no member, and no chain with a member of its own at each step, leaks more."""

import itertools

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, bound
from entwined.bounds.blocks import block_messages_bound, block_transport_bound
from entwined.bounds.class_blocks import class_odds
from entwined.bounds.endless import endless_block_messages_bound
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.separable_blocks import separable_block_messages_bound
from entwined.dependence import Box, EndlessChain, MarkovChain
from entwined.dependence.odds import log_odds
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support.chains import walk
from support.oracle import worst_leakages

SIZES = (1, 2, 3, 4, 6, 8, 12, 16)


def drawn_class(rng, states, width, length=40):
    """Ends around the transitions of a chain that stays for long; some are zero at both ends or only at the low one."""
    stay = rng.choice([0.2, 0.6, 0.9])
    middle = stay * np.eye(states) + (1 - stay) * rng.dirichlet(np.full(states, 0.8), size=states)
    if rng.random() < 0.5:
        middle[0, -1] = 0
        middle /= middle.sum(axis=1, keepdims=True)
    high = np.where(middle > 0, np.minimum(middle + width, 1), 0)
    return MarkovChain(length, Box(np.maximum(middle - width, 0), high))


def member_of(rng, box):
    """A member at a corner of the class, or between two."""
    rows = []
    for low, high in zip(box.low, box.high, strict=True):
        ends = []
        for _ in range(2):
            row, left = low.copy(), 1 - low.sum()
            for place in rng.permutation(row.size):
                more = min(high[place] - low[place], max(left, 0))
                row[place], left = row[place] + more, left - more
            ends.append(row)
        share = rng.choice([0.0, 0.5])
        rows.append((1 - share) * ends[0] + share * ends[1])
    return np.array(rows) / np.sum(rows, axis=1, keepdims=True)


def test_no_product_of_members_is_closer_tied():
    rng, closest = np.random.default_rng(7), 0.0
    for _ in range(15):
        model = drawn_class(rng, int(rng.integers(3, 5)), rng.choice([1e-6, 0.01, 0.05]))
        known = class_odds(model, SIZES)
        assert list(known.values()) == sorted(known.values(), reverse=True)
        for same, size in itertools.product((True, False), SIZES):
            one = member_of(rng, model.transition)
            steps = [one if same else member_of(rng, model.transition) for _ in range(size)]
            product = np.linalg.multi_dot([np.eye(model.states), *steps, np.eye(model.states)])
            truth = float(log_odds(Box.exact(product[None]), conditional=False).max())
            assert truth <= known[size] * (1 + 1e-9) + 1e-9, (size, model.document)
            if np.isfinite(truth) and truth > 0:
                closest = max(closest, truth / known[size])
    assert closest > 0.95


def test_no_mechanism_leaks_more_under_any_member():
    rng = np.random.default_rng(8)
    for length in (3, 4) * 5:
        model = drawn_class(rng, 3, rng.choice([0.01, 0.05]), length)
        losses = 10 ** rng.uniform(-1, 0.5, length)
        found = block_messages_bound(Loss(losses), model).per_unit
        assert (found <= message_passing_bound(Loss(losses), model).per_unit * (1 + 1e-9)).all()
        joint = rng.dirichlet(np.ones(3))
        for _ in range(length - 1):
            joint = joint[..., None] * member_of(rng, model.transition)
        assert (found >= worst_leakages(joint, losses) * (1 - 1e-7)).all()


@pytest.mark.parametrize("width", [1e-9, 1e-4])
def test_a_narrow_class_costs_hardly_more_than_its_middle(width):
    sure = walk(6, 0.7, 400)
    step, loss = sure.transition.low, Loss.uniform(0.01, 400)
    unsure = MarkovChain(400, Box(np.maximum(step - width, 0) * (step > 0), (step + width) * (step > 0)))
    exact, widened = (block_messages_bound(loss, model).worst for model in (sure, unsure))
    assert exact <= widened <= exact * 1.35
    assert widened < 0.5 * message_passing_bound(loss, unsure).worst
    proved = bound(unsure, loss, "values")
    assert proved.theorem.name == "block messages"
    with pytest.raises(DoesNotApply, match="needs one law"):
        block_transport_bound(loss, MarkovChain(400, unsure.transition, np.full(6, 1 / 6)))


def test_profiles_pass_blocks_of_a_class_too():
    step = walk(4, 0.6, 30).transition.low
    wide = MarkovChain(30, Box(np.maximum(step - 1e-3, 0) * (step > 0), (step + 1e-3) * (step > 0)))
    loss = ConcentratedLoss.uniform("0.001", 30, "1e-6", gaussian=True, separable=True)
    sure, unsure = (separable_block_messages_bound(loss, model).worst for model in (walk(4, 0.6, 30), wide))
    assert sure <= unsure <= 1.2 * sure


def test_a_class_without_an_end_is_no_less_than_a_long_one():
    step = walk(4, 0.5, 9).transition.low
    wide = Box(np.maximum(step - 0.01, 0) * (step > 0), (step + 0.01) * (step > 0))
    endless = endless_block_messages_bound(Loss.uniform(0.02, 1), EndlessChain(wide)).worst
    long = block_messages_bound(Loss.uniform(0.02, 300), MarkovChain(300, wide)).worst
    assert long * (1 - 1e-9) <= endless <= 1.01 * long


def test_many_states_are_refused():
    many = np.full((129, 129), 1 / 129)
    with pytest.raises(DoesNotApply, match="128"):
        class_odds(MarkovChain(9, Box(many * 0.9, many * 1.1)), SIZES)
