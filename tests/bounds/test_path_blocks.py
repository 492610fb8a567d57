"""Blocks along paths of trees and of chains that vary: never below the exact oracle, and tighter where paths are long."""

import numpy as np
import pytest

from entwined.bounds import bound, certify, verify
from entwined.bounds.blocks import block_messages_bound, block_transport_bound
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.path_blocks import path_messages_bound, path_transport_bound
from entwined.bounds.transport import transport_bound
from entwined.dependence import BayesNet, Box, Edge, RandomField, Variable, VaryingChain
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support.chains import walk
from support.oracle import worst_leakages_by_knowledge

PAIRS = ((path_messages_bound, message_passing_bound), (path_transport_bound, transport_bound))
VALUES = ("0", "1", "2")


def table(rng):
    """A kernel that stays for long, sometimes with a zero."""
    stay = rng.choice([0.2, 0.7])
    step = stay * np.eye(3) + (1 - stay) * rng.dirichlet(np.full(3, 0.7), size=3)
    if rng.random() < 0.3:
        step[0, 2] = 0
    return step / step.sum(axis=1, keepdims=True)


def varying(rng):
    steps, start = [table(rng) for _ in range(3)], rng.dirichlet(np.ones(3))
    joint = start
    for step in steps:
        joint = joint[..., None] * step
    return VaryingChain(4, Box.exact(steps), start), joint


def fork(rng):
    """A root between two: one child with a child of its own, one without."""
    start, *steps = rng.dirichlet(np.ones(3)), *(table(rng) for _ in range(3))
    names = [("root", ()), ("left", ("root",)), ("right", ("root",)), ("last", ("left",))]
    laws = [[start.tolist()], *(step.tolist() for step in steps)]
    model = BayesNet.of(
        [Variable(name, VALUES, above, law) for (name, above), law in zip(names, laws, strict=True)]
    )
    joint = np.einsum("a,ab,ac,bd->abcd", start, *steps)
    return model, joint


def field(rng):
    potentials = [rng.uniform(0.1, 3, (3, 3)) for _ in range(3)]
    edges = [Edge(pair, one.tolist()) for pair, one in zip(("ab", "bc", "cd"), potentials, strict=True)]
    joint = np.einsum("ab,bc,cd->abcd", *potentials)
    return RandomField.of(
        dict.fromkeys("abcd", 3), [Edge(tuple(one.between), one.potential) for one in edges]
    ), joint / joint.sum()


@pytest.mark.parametrize("made", [varying, fork, field])
def test_no_mechanism_leaks_more(made):
    rng = np.random.default_rng(17)
    for _ in range(5):
        model, joint = made(rng)
        losses = 10 ** rng.uniform(-1, 0.5, 4)
        truths = worst_leakages_by_knowledge(joint, losses)
        for blocks, steps in PAIRS:
            found, one = (theorem(Loss(losses), model).per_unit for theorem in (blocks, steps))
            assert (found >= truths[blocks.knowledge] * (1 - 1e-7)).all(), model
            assert (found <= one * (1 + 1e-9)).all()


def test_on_a_chain_that_does_not_vary_it_is_the_theorem_of_blocks():
    even = walk(5, 0.7, 60)
    turned = VaryingChain(60, Box.exact(even.transition.low[None]), even.initial)
    loss = Loss(np.linspace(0.005, 0.02, 60))
    for paths, blocks, steps in zip(
        (path_messages_bound, path_transport_bound),
        (block_messages_bound, block_transport_bound),
        (message_passing_bound, transport_bound),
        strict=True,
    ):
        found, known = paths(loss, turned).per_unit, blocks(loss, even).per_unit
        assert (found >= known * (1 - 1e-9)).all()  # longer blocks are tried there
        assert found.max() < 1.1 * known.max()
        assert found.max() < 0.95 * steps(loss, turned).worst
    proved = bound(turned, loss, "model")
    assert proved.theorem.name == "path transport"
    assert verify(certify(proved).document).valid


def test_arms_of_a_tree_are_passed_in_blocks():
    """Three long arms meet in one unit."""
    step = walk(4, 0.7, 9).transition.low.tolist()
    values = tuple(map(str, range(4)))
    arms = [Variable("centre", values, (), [[0.25] * 4])]
    for arm in "abc":
        for at in range(12):
            above = f"{arm}{at - 1}" if at else "centre"
            arms.append(Variable(f"{arm}{at}", values, (above,), step))
    model, loss = BayesNet.of(arms), Loss.uniform(0.01, 37)
    for blocks, steps in PAIRS:
        assert blocks(loss, model).worst < 0.95 * steps(loss, model).worst


def test_what_has_no_paths_says_so():
    with pytest.raises(DoesNotApply, match="block messages cover it"):
        path_messages_bound(Loss.uniform(1, 9), walk(3, 0.5, 9))
    star = [
        Variable("r", VALUES, (), [[0.2, 0.3, 0.5]]),
        *(Variable(n, VALUES, ("r",), np.eye(3).tolist()) for n in "abc"),
    ]
    with pytest.raises(DoesNotApply, match="no blocks"):
        path_messages_bound(Loss.uniform(1, 4), BayesNet.of(star))
    wide = VaryingChain(5, Box(np.full((1, 3, 3), 0.2), np.full((1, 3, 3), 0.6)))
    with pytest.raises(DoesNotApply, match="one law"):
        path_messages_bound(Loss.uniform(1, 5), wide)
