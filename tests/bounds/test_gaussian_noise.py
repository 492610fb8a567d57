"""Gaussian noise in any mechanism: noisy sums of dependent bits, exactly, against the messages and the group."""

import numpy as np
import pytest
from scipy.special import ndtr

from entwined.bounds import ConcentratedLoss, bound, certify, verify
from entwined.bounds.concentrated_group import concentrated_group_bound
from entwined.bounds.gaussian_noise import (
    any_messages,
    gaussian_group_bound,
    gaussian_messages_bound,
    gaussian_transport_bound,
)
from entwined.bounds.profiles.passing import IN_TURN
from entwined.bounds.profiles.profile import Grid
from entwined.bounds.separable import curves_of, known_messages
from entwined.dependence import BayesNet, Edge, Graph, Groups, RandomField, Variable
from entwined.errors import DoesNotApply
from support.chains import symmetric
from support.hockey_sticks import sum_sticks
from support.joints import joint_of

DELTA = "1e-6"
BITS = ("0", "1")


def shifts(weights, scale, delta=DELTA):
    """The losses of Σ w_j x_j with Gaussian noise."""
    return ConcentratedLoss.of([w**2 / (2 * scale**2) for w in weights], delta, gaussian=True)


def tree_of_bits(rng, units, *, chain=False):
    names = [f"v{j}" for j in range(units)]
    above = [(names[j - 1 if chain else int(rng.integers(j))],) if j else () for j in range(units)]
    tables = [rng.dirichlet([1.5, 1.5], size=2 if up else 1).tolist() for up in above]
    net = BayesNet.of(
        [Variable(n, BITS, up, table) for n, up, table in zip(names, above, tables, strict=True)]
    )
    return net, joint_of(net)


def loop_of_bits(rng, units):
    names = [f"v{j}" for j in range(units)]
    ends = [(j, (j + 1) % units) for j in range(units)] + [(0, 2)] * (units > 3)
    tables = [np.exp(rng.normal(0, 0.7, (2, 2))) for _ in ends]
    field = RandomField.of(
        dict.fromkeys(names, 2),
        [Edge((names[a], names[b]), table.tolist()) for (a, b), table in zip(ends, tables, strict=True)],
    )
    joint = np.ones((2,) * units)
    for (a, b), table in zip(ends, tables, strict=True):
        lying = [2 if j in (a, b) else 1 for j in range(units)]
        joint = joint * (table if a < b else table.T).reshape(lying)
    return field, joint / joint.sum()


def compared(rng, models, units, fewest=0):
    """Hold noisy sums on chains, trees and loops against their bounds; give how many comparisons, and the ratios."""
    count, ratios = 0, []
    while models > 0 or count < fewest:
        models -= 1
        size = int(rng.integers(3, units + 1))
        shape = rng.choice(["chain", "tree", "loop"])
        model, joint = (
            loop_of_bits(rng, size) if shape == "loop" else tree_of_bits(rng, size, chain=shape == "chain")
        )
        weights, scale = rng.choice([0.5, 1.0, 1.0, -1.0, 2.0], size), float(rng.uniform(0.7, 5))
        loss = shifts(weights, scale)
        reach = min(40.0, np.abs(weights).sum() / scale * 8)
        epsilons, grid = np.append(0.0, rng.uniform(0, reach / 3, 9)), Grid.up_to(reach, 128)
        asked = [("any", any_messages(loss, model))]
        if shape != "loop":
            asked.append(("model", known_messages(IN_TURN, curves_of(loss, model), model)))
        for knowledge, passed in asked:
            told = passed(grid)
            bounds = np.array([told.profiles[place].at(np.expm1(epsilons)) for place in told.place])
            worst = np.zeros(bounds.shape)
            for unit, truth in sum_sticks(joint, weights, scale, np.exp(epsilons), knowledge):
                assert (bounds[unit] >= truth * (1 - 1e-10) - 1e-300).all(), (shape, weights, scale)
                worst[unit] = np.maximum(worst[unit], truth)
                count += epsilons.size
            ratios.extend((bounds / np.maximum(worst, 1e-300))[worst > 1e-4].tolist())
    return count, ratios


def test_no_noisy_sum_shows_more_than_the_messages_say():
    count, ratios = compared(np.random.default_rng(81), 12, 5)
    assert count > 4000
    assert np.median(ratios) < 2


@pytest.mark.slow
def test_no_noisy_sum_of_many_shows_more_than_the_messages_say():
    count, ratios = compared(np.random.default_rng(82), 60, 6, fewest=300_000)
    print(f"{count:,} comparisons, δ {np.median(ratios):.3f} × the truth in the median")
    assert count >= 300_000


def test_two_bits_that_are_equal_reach_the_group():
    """Both enter the sum, so it moves by two: exactly the Gaussian profile of the whole group."""
    loss = shifts([1.0, 1.0], 5.0)
    copies = BayesNet.of(
        [Variable("a", BITS, (), [[0.5, 0.5]]), Variable("b", BITS, ("a",), [[1, 0], [0, 1]])]
    )
    found = gaussian_group_bound(loss, copies).worst
    mu = 2 / 5.0
    shown = ndtr(mu / 2 - found / mu) - np.exp(found) * ndtr(-mu / 2 - found / mu)
    assert shown == pytest.approx(1e-6, rel=1e-6)
    assert gaussian_messages_bound(loss, copies).worst == pytest.approx(found, rel=1e-9)
    assert found < concentrated_group_bound(loss, copies).worst


def test_a_broken_trust_breaks_the_promise():
    """Two bits said to be nearly independent that are copies show more than the bound says."""
    loss, weak = shifts([1.0, 1.0], 3.0, "1e-3"), symmetric(0.45, 2)
    claimed = gaussian_messages_bound(loss, weak).worst
    copies = np.array([[0.5, 0.0], [0.0, 0.5]])
    truth = max(stick[0] for _, stick in sum_sticks(copies, np.ones(2), 3.0, np.array([np.exp(claimed)])))
    assert truth > 1e-3


def test_it_takes_gaussian_noise_only_and_gives_way_to_the_group():
    chain = symmetric(0.25, 4)
    plain = ConcentratedLoss.uniform(0.01, 4, DELTA)
    for theorem in (gaussian_group_bound, gaussian_messages_bound, gaussian_transport_bound):
        with pytest.raises(DoesNotApply, match="Gaussian noise"):
            theorem(plain, chain)
    assert bound(chain, plain).theorem.name == "concentrated group"
    loss = ConcentratedLoss.uniform(0.01, 4, DELTA, gaussian=True)
    free, known = gaussian_messages_bound(loss, chain).worst, gaussian_transport_bound(loss, chain).worst
    assert known < free < gaussian_group_bound(loss, chain).worst
    assert gaussian_group_bound(loss, Groups(4)).worst < concentrated_group_bound(loss, Groups(4)).worst


def test_loops_that_are_alike_are_gone_round_once(monkeypatch):
    """A ring of 300 has one kind of message; many different ones are refused, never answered by half."""
    ends = np.array([[j, (j + 1) % 300] for j in range(300)])
    loss = ConcentratedLoss.uniform(0.001, 300, DELTA, gaussian=True)
    found = gaussian_messages_bound(loss, Graph(300, ends, np.array(0.4)))
    assert np.ptp(found.per_unit) == 0
    small = Graph(30, np.array([[j, (j + 1) % 30] for j in range(30)]), np.array(0.4))
    again = gaussian_messages_bound(ConcentratedLoss.uniform(0.001, 30, DELTA, gaussian=True), small)
    assert found.worst == pytest.approx(again.worst, rel=2e-3)
    assert found.worst < gaussian_group_bound(loss, Graph(300, ends, np.array(0.4))).worst / 10
    monkeypatch.setattr("entwined.bounds.profiles.loops.MOST_MADE", 100)
    with pytest.raises(DoesNotApply, match="many different kinds"):
        gaussian_messages_bound(loss, Graph(300, ends, np.linspace(0.3, 0.4, 300)))


def test_certificates_around_loops_are_derived_again():
    ring = RandomField.of(
        dict.fromkeys("abcd", 2),
        [Edge((p, q), [[2.0, 1.0], [1.0, 2.0]]) for p, q in ("ab", "bc", "cd", "da")],
    )
    proved = bound(ring, ConcentratedLoss.uniform(0.01, 4, DELTA, gaussian=True))
    assert proved.theorem.name == "gaussian messages"
    assert verify(certify(proved).document).valid
