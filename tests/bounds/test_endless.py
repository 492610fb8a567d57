"""Chains without an end: above the truth of every short one, above every long one, and hardly above those."""

import json
from pathlib import Path

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, bound, certify, verify
from entwined.bounds.blocks import block_messages_bound, block_transport_bound
from entwined.bounds.endless import (
    endless_block_messages_bound,
    endless_messages_bound,
    endless_transport_bound,
)
from entwined.bounds.endless_noise import endless_gaussian_messages_bound, endless_separable_messages_bound
from entwined.bounds.gaussian_noise import gaussian_messages_bound
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.separable import separable_messages_bound
from entwined.dependence import Box, EndlessChain, model_from
from entwined.dependence.markov_chain import stationary
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support.chains import walk
from support.oracle import chain_joint, worst_leakages_by_knowledge

ENDLESS = (endless_messages_bound, endless_block_messages_bound, endless_transport_bound)
FINITE = (message_passing_bound, block_messages_bound, block_transport_bound)


def drawn(rng: np.random.Generator, states: int) -> EndlessChain:
    stay = rng.choice([0.1, 0.5, 0.9])
    step = stay * np.eye(states) + (1 - stay) * rng.dirichlet(np.full(states, 0.7), size=states)
    return EndlessChain(Box.exact(step), stationary(step))


def test_no_mechanism_on_a_short_chain_leaks_more():
    rng = np.random.default_rng(17)
    for length, states in [(2, 3), (3, 3), (3, 2), (4, 3), (4, 2)] * 3:
        model, loss = drawn(rng, states), float(10 ** rng.uniform(-1, 0.5))
        joint = chain_joint(model.initial, model.transition.low, length)
        truths = worst_leakages_by_knowledge(joint, np.full(length, loss))
        for theorem in ENDLESS:
            try:
                found = theorem(Loss.uniform(loss, 1), model).worst
            except DoesNotApply:
                assert states == 2
                continue
            known = "values" if theorem.knowledge == "any" else theorem.knowledge
            assert found >= truths[known].max() * (1 - 1e-7)


@pytest.mark.parametrize("epsilon", [0.001, 0.05, 1.0])
@pytest.mark.parametrize(
    ("endless", "finite"), [*zip(ENDLESS, FINITE, strict=True)], ids=lambda one: one.name
)
def test_it_is_what_longer_and_longer_chains_climb_to(epsilon, endless, finite):
    step = walk(5, 0.7, 2).transition.low
    slow = EndlessChain(Box.exact(step), stationary(step))  # who knows a set that a step is in may see all
    for model in (drawn(np.random.default_rng(3), 4), *([] if endless.knowledge == "any" else [slow])):
        limit = endless(Loss.uniform(epsilon, 1), model).worst
        curve = [finite(Loss.uniform(epsilon, n), model.until(n)).worst for n in (1, 3, 30, 20_000)]
        assert sorted(curve) == curve
        assert curve[-1] <= limit * (1 + 1e-9)
        assert limit <= curve[-1] * (1 + 1e-6)


@pytest.mark.parametrize(
    ("endless", "finite", "separable"),
    [
        (endless_separable_messages_bound, separable_messages_bound, True),
        (endless_gaussian_messages_bound, gaussian_messages_bound, False),
    ],
)
def test_profiles_have_a_ceiling_too(endless, finite, separable):
    model = EndlessChain(Box.exact([[0.7, 0.3], [0.2, 0.8]]))
    limit, long = (
        theorem(
            ConcentratedLoss.uniform("0.02", one.units, "1e-6", gaussian=True, separable=separable), one
        ).worst
        for theorem, one in ((endless, model), (finite, model.until(300)))
    )
    assert long * (1 - 1e-9) <= limit <= long * (1 + 1e-3)


def test_what_shows_all_has_no_ceiling():
    copies = EndlessChain(Box.exact([[1.0, 0.0], [0.0, 1.0]]), np.array([0.5, 0.5]))
    for theorem in ENDLESS:
        with pytest.raises(DoesNotApply):
            theorem(Loss.uniform(0.1, 1), copies)
    moving = EndlessChain(Box.exact([[0.9, 0.1], [0.2, 0.8]]), np.array([0.5, 0.5]))
    with pytest.raises(DoesNotApply, match="stationary"):
        endless_transport_bound(Loss.uniform(0.1, 1), moving)


def test_independent_steps_cost_one_step():
    model = EndlessChain(Box.exact(np.full((2, 2), 0.5)))
    assert bound(model, Loss.uniform(0.3, 1)).leakage.worst == pytest.approx(0.3)


def test_a_certificate_is_derived_again_and_the_model_read_back():
    model = drawn(np.random.default_rng(5), 3)
    again = model_from(json.loads(json.dumps(model.document)), Path())
    assert again.document == model.document
    proved = certify(bound(again, Loss.uniform(0.2, 1), "model"))
    assert verify(proved.document).valid
    assert proved.document["theorem"]["name"] == "endless transport"
