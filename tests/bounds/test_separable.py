"""Separable releases: exact hockey sticks of small ones, the numbers of the theory page, long chains, wide trees."""

import math
from time import process_time

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, bound, certify, verify
from entwined.bounds.pairs import KNOWN, TILTED
from entwined.bounds.profiles.curves import epsilon_at_delta
from entwined.bounds.profiles.passing import TOGETHER
from entwined.bounds.profiles.profile import Grid
from entwined.bounds.separable import (
    crossed,
    known_messages,
    separable_group_bound,
    separable_messages_bound,
    separable_transport_bound,
    tilted_messages,
)
from entwined.dependence import BayesNet, Box, Graph, Groups, MarkovChain, Variable
from entwined.errors import DoesNotApply
from support import draw
from support.chains import symmetric
from support.hockey_sticks import ChannelCurve, separable_sticks
from support.product import product_model

DELTA = "1e-6"


def gaussian(scale, units, delta=DELTA, **facts):
    return ConcentratedLoss.uniform(1 / (2 * scale**2), units, delta, gaussian=True, separable=True, **facts)


def compared(rng, models, fewest=0, gammas=12):
    """Hold both theorems against random channels on random trees; give how many comparisons and the ratios."""
    count, ratios = 0, []
    while models > 0 or count < fewest:
        models -= 1
        drawn = (draw.tree if rng.random() < 0.7 else draw.chain)(rng)
        channels = [rng.dirichlet(np.full(3, rng.choice([0.5, 2.0, 8.0])), size=size) for size in drawn.sizes]
        curves = list(map(ChannelCurve.of, channels))
        span = sum(float(np.ptp(np.log(channel), axis=0).max()) for channel in channels)
        grid, model = Grid.up_to(min(span, 20.0) * 1.02, 512), product_model(drawn)
        epsilons = np.append(0.0, rng.uniform(0, 0.6 * min(span, 20.0), gammas - 1))
        for knowledge, ways, along in (("any", TILTED, tilted_messages), ("model", KNOWN, known_messages)):
            chain = isinstance(model, MarkovChain)
            told = (along(TOGETHER, curves, model) if chain else crossed(curves, model, ways.apart))(grid)
            bounds = [told.profiles[place].at(np.expm1(epsilons)) for place in told.place]
            worst = np.zeros((len(curves), gammas))
            for unit, truth in separable_sticks(drawn.joint(), channels, np.exp(epsilons), knowledge):
                assert (bounds[unit] >= truth * (1 - 1e-11)).all(), drawn
                worst[unit] = np.maximum(worst[unit], truth)
                count += gammas
            seen = worst > 1e-4
            ratios.extend((np.array(bounds)[seen] / worst[seen]).tolist())
    return count, ratios


def test_no_channel_on_a_tree_shows_more_than_the_theorems_say():
    count, ratios = compared(np.random.default_rng(71), models=12)
    assert count > 10_000
    assert np.median(ratios) < 1.15


@pytest.mark.slow
def test_no_channel_on_many_trees_shows_more_than_the_theorems_say():
    count, ratios = compared(np.random.default_rng(72), models=100, fewest=300_000)
    print(f"{count:,} comparisons, δ {np.median(ratios):.3f} × the truth in the median")
    assert count >= 300_000
    assert np.median(ratios) < 1.15


# The numbers of the theory page: the noise is at most what it says, and less by the chords of a coarser grid

GOLDEN = [  # flip, leakage, knowledge model, knowledge any, all steps as one group
    (0.10, 0.5, 17.17, 17.21, 80.58),
    (0.10, 1.0, 8.915, 8.989, 42.25),
    (0.10, 2.0, 4.553, 4.693, 22.30),
    (0.25, 1.0, 5.423, 5.445, 42.25),
    (0.40, 1.0, 4.396, 4.398, 42.25),
]


@pytest.mark.parametrize(("flip", "leakage", "model", "free", "group"), GOLDEN)
def test_golden_noise_on_a_binary_chain(flip, leakage, model, free, group):
    chain = symmetric(flip, 100)
    for theorem, scale in ((separable_transport_bound, model), (separable_messages_bound, free)):
        assert 0.998 * leakage < theorem(gaussian(scale, 100), chain).worst <= leakage
    digit = 0.005
    assert separable_group_bound(gaussian(group + digit, 100), chain).worst <= leakage
    assert separable_group_bound(gaussian(group - digit, 100), chain).worst >= leakage


def test_golden_profiles_of_two_and_three_bits():
    grid = Grid.up_to(8.0, 4000)
    for units, unit, expected in ((2, 0, 0.163804), (3, 1, 0.19927)):
        loss = ConcentratedLoss.uniform(0.5, units, DELTA, gaussian=True, separable=True)
        told = known_messages(TOGETHER, list(loss.curves) * units, symmetric(0.25, units))(grid)
        shown = told.profiles[told.place[unit]].at(np.array([math.e - 1]))[0]
        assert shown == pytest.approx(expected, rel=4e-6)


def test_a_step_alone_is_analytic_gaussian_noise():
    for leakage, scale in ((0.5, 8.058), (1.0, 4.225), (2.0, 2.230)):
        for digit, above in ((0.0006, False), (-0.0006, True)):
            found = separable_messages_bound(gaussian(scale + digit, 3), symmetric(0.5, 3)).worst
            assert (found > leakage) is above


# Models of all kinds


def test_hidden_units_show_nothing_of_their_own_and_tie_the_others():
    """A latent class with three indicators: each shows the others' parts through it."""
    yes = (("0", "1"), ("c",), [[0.8, 0.2], [0.3, 0.7]])
    net = BayesNet.of(
        [Variable("c", ("0", "1"), (), [[0.5, 0.5]]), *(Variable(f"v{j}", *yes) for j in range(3))]
    )
    hidden = ConcentratedLoss((0, *[gaussian(5.0, 1).rhos[0]] * 3), 4, DELTA, gaussian=True, separable=True)
    for theorem in (separable_messages_bound, separable_transport_bound):
        found = theorem(hidden, net).per_unit
        alone = theorem(gaussian(5.0, 1), symmetric(0.5, 1)).worst
        assert found[1:].min() > alone * 1.001
        assert found[0] > 0.1


def test_factors_of_three_units_are_carried_where_they_form_no_loop():
    rng = np.random.default_rng(73)
    table = rng.dirichlet([2.0, 2.0], size=4)
    bits = ("0", "1")
    net = BayesNet.of(
        [
            Variable("a", bits, (), [[0.5, 0.5]]),
            Variable("b", bits, (), [[0.3, 0.7]]),
            Variable("c", bits, ("a", "b"), table.tolist()),
        ]
    )
    channels = [rng.dirichlet([2.0] * 3, size=2) for _ in range(3)]
    curves = list(map(ChannelCurve.of, channels))
    told = crossed(curves, net, TILTED.apart)(Grid.up_to(12.0, 1024))
    joint = 0.5 * np.array([0.3, 0.7])[None, :, None] * table.reshape(2, 2, 2) * np.ones((2, 1, 1))
    epsilons = np.linspace(0, 3, 20)
    for unit, truth in separable_sticks(joint, channels, np.exp(epsilons)):
        assert (told.profiles[unit].at(np.expm1(epsilons)) >= truth * (1 - 1e-11)).all()
    with pytest.raises(DoesNotApply, match="parents"):
        separable_transport_bound(gaussian(5.0, 3), net)


def test_a_class_leaks_as_much_as_its_worst_member():
    wide = MarkovChain(20, Box(np.array([[0.7, 0.1], [0.1, 0.7]]), np.array([[0.9, 0.3], [0.3, 0.9]])))
    loss = gaussian(9.0, 20)
    assert separable_messages_bound(loss, wide).worst == pytest.approx(
        separable_messages_bound(loss, symmetric(0.1, 20)).worst, rel=1e-6
    )


def test_what_is_not_covered_is_refused():
    chain = symmetric(0.25, 4)
    plain = ConcentratedLoss.uniform(0.01, 4, DELTA, gaussian=True)
    for theorem in (separable_group_bound, separable_messages_bound, separable_transport_bound):
        with pytest.raises(DoesNotApply, match="reads one unit alone"):
            theorem(plain, chain)
    ring = Graph(3, np.array([[0, 1], [1, 2], [2, 0]]), np.array(0.5))
    with pytest.raises(DoesNotApply, match="cycle"):
        separable_messages_bound(gaussian(5.0, 3), ring)
    assert bound(ring, gaussian(5.0, 3)).theorem.name in {"separable group", "gaussian messages"}
    assert bound(Groups(3), gaussian(5.0, 3)).theorem.name == "separable group"


def test_losses_of_which_only_rho_is_known_cost_more():
    chain = symmetric(0.25, 50)
    known = separable_messages_bound(gaussian(5.445, 50), chain).worst
    only = ConcentratedLoss.uniform(1 / (2 * 5.445**2), 50, DELTA, separable=True)
    assert known < separable_messages_bound(only, chain).worst < 1.5 * known


@pytest.mark.parametrize("rho", ["1e-290", "1e-12", "0.5", "100", "1e6"])
@pytest.mark.parametrize("delta", ["1e-290", "1e-12", "0.4"])
def test_extreme_losses_show_no_less_than_a_step_alone(rho, delta):
    for stay in (0.5, 0.9, 1 - 1e-9, 1.0):
        loss = ConcentratedLoss.uniform(rho, 6, delta, gaussian=True, separable=True)
        own = epsilon_at_delta(loss.largest, loss.delta)
        for theorem in (separable_messages_bound, separable_transport_bound):
            found = theorem(loss, symmetric(1 - stay, 6))
            assert found.worst >= own
            assert found.worst <= separable_group_bound(loss, symmetric(1 - stay, 6)).worst


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_its_certificates_are_derived_again(knowledge):
    proved = bound(symmetric(0.25, 10), gaussian(6.0, 10), knowledge)
    document = certify(proved).document
    assert proved.theorem.name == {"any": "separable messages", "model": "separable transport"}[knowledge]
    assert document["inputs"]["loss"]["separable"] is True
    assert verify(document).valid
    document["inputs"]["loss"] = {**document["inputs"]["loss"], "delta": "1/100"}
    assert not verify(document).valid


# Speed


def test_a_long_chain_takes_seconds_and_ends_where_a_short_one_does():
    for theorem in (separable_messages_bound, separable_transport_bound):
        start = process_time()
        long = theorem(gaussian(9.0, 100_000), symmetric(0.1, 100_000)).worst
        assert process_time() - start < 5
        assert long == pytest.approx(theorem(gaussian(9.0, 300), symmetric(0.1, 300)).worst, rel=1e-5)


def test_unequal_losses_on_a_very_long_chain_are_bounded_by_the_largest():
    loss = ConcentratedLoss.of([0.004, 0.006] * 3000, DELTA, gaussian=True, separable=True)
    even = ConcentratedLoss.uniform(0.006, 6000, DELTA, gaussian=True, separable=True)
    chain = symmetric(0.25, 6000)
    assert separable_messages_bound(loss, chain).worst == separable_messages_bound(even, chain).worst


def test_a_tree_of_410_columns_takes_about_a_second():
    rng = np.random.default_rng(74)
    names = [f"v{j}" for j in range(410)]
    table = (0.6 * np.full((4, 4), 0.25) + 0.4 * np.eye(4)).tolist()
    values = ("0", "1", "2", "3")
    net = BayesNet.of(
        [
            Variable(
                name,
                values,
                (names[int(rng.integers(max(0, j - 30), j))],) if j else (),
                table[: 4 if j else 1],
            )
            for j, name in enumerate(names)
        ]
    )
    start = process_time()
    found = separable_messages_bound(gaussian(40.0, 410), net).per_unit
    assert process_time() - start < 4
    assert found.size == 410
    assert found.max() < separable_group_bound(gaussian(40.0, 410), net).worst / 4
