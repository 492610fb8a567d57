"""Posteriors are those of enumeration, written here anew; what a release adds keeps to ε and to the certificate."""

import math
from fractions import Fraction

import numpy as np
import pytest

from entwined.audit import Addend, Attacker, NoisyVector, attack, count_of, each_of, histogram_of
from entwined.audit.attack import entropy, known_units
from entwined.audit.guesses import likely_range
from entwined.audit.vectors import noised
from entwined.audit.worlds import NoisyFunction, WorldDrawer
from entwined.bounds import bound
from entwined.dependence import (
    Box,
    Groups,
    Independent,
    MarkovChain,
    ProductLaw,
    UnitTable,
    near_copies,
)
from entwined.errors import BadInput, Refused
from entwined.loss import Loss
from entwined.noise import DiscreteGaussian, DiscreteLaplace
from support.draw import models

RANDOM = list(models(41, 21))


def laplace(epsilon):
    return DiscreteLaplace.for_loss(str(epsilon), Fraction(1))


def law_of(drawn):
    return ProductLaw(drawn.sizes, tuple(UnitTable(scope, table) for scope, table in drawn.factors))


def some_vectors(rng, sizes):
    """One that all units enter, one that two of them enter together and another adds to, and one of a single unit."""
    first = tuple(Addend((j,), rng.integers(-1, 3, (size, 1))) for j, size in enumerate(sizes))
    pair = Addend((1, 0), rng.integers(0, 3, (sizes[1], sizes[0], 2)))
    second = (pair, Addend((2,), rng.integers(0, 3, (sizes[2], 2))))
    third = (Addend((1,), np.eye(sizes[1], dtype=int)),)
    fourth = (Addend((2, 0), rng.integers(0, 4, (sizes[2], sizes[0], 1))),)
    scales = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(1, 2))
    each = zip((first, second, third, fourth), scales, strict=True)
    return tuple(NoisyVector(addends, DiscreteLaplace(scale)) for addends, scale in each)


def enumerated(joint, vectors, outputs, target, known):
    """The posterior by going through every world: Σ over worlds of p(world) Π exp(−|output − exact| / scale)."""
    laws = np.zeros((len(outputs), joint.shape[target]))
    for world in np.argwhere(joint > 0):
        if any(world[j] != value for j, value in known.items()):
            continue
        exact, rates = [], []
        for vector in vectors:
            total = sum(numbers[tuple(world[list(scope)])] for scope, numbers in vector.addends)
            exact += list(total)
            rates += [1 / float(vector.noise.scale)] * len(total)
        weights = np.exp(-(np.abs(outputs - np.array(exact)) * np.array(rates)).sum(axis=1))
        laws[:, world[target]] += joint[tuple(world)] * weights
    return laws / laws.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("drawn", RANDOM[:14], ids=lambda drawn: drawn.shape)
def test_posteriors_are_those_of_enumeration(drawn):
    rng = np.random.default_rng(11)
    joint, law = drawn.joint(), law_of(drawn)
    vectors = some_vectors(rng, law.sizes)
    cells = np.argwhere(joint > 0)
    for target in (0, law.units - 1):
        person = cells[rng.integers(len(cells))]
        known = tuple(j for j in range(law.units) if j != target and rng.random() < 0.4)
        attacker = Attacker(law, vectors, target, known)
        outputs = np.round(rng.laplace(1, 3, (60, 4 + law.sizes[1]))).astype(int)
        truth = enumerated(joint, vectors, outputs, target, {j: person[j] for j in known})
        found = attacker.learn(np.repeat(person[None], 60, axis=0), outputs)
        assert found.posterior == pytest.approx(truth, rel=1e-9, abs=1e-12)


def test_many_populations_are_looked_at_at_once_as_one_by_one():
    rng = np.random.default_rng(21)
    for drawn in RANDOM[2:7]:
        law = law_of(drawn)
        vectors = some_vectors(rng, law.sizes)
        people = law.draw(120, rng)
        outputs = np.round(rng.laplace(1, 3, (120, 4 + law.sizes[1]))).astype(int)
        attacker = Attacker(law, vectors, 0, (1,) if law.units < 4 else (1, 3))
        at_once = attacker.learn(people, outputs)
        for number in (0, 49, 50, 119):
            one = attacker.learn(people[[number]], outputs[[number]])
            assert at_once.posterior[number] == pytest.approx(one.posterior[0], rel=1e-9)
            assert at_once.prior[number] == pytest.approx(one.prior[0], rel=1e-9)


@pytest.mark.parametrize("drawn", RANDOM, ids=lambda drawn: drawn.shape)
def test_who_knows_all_others_gains_at_most_the_loss_whatever_the_dependence(drawn):
    law, rng = law_of(drawn), np.random.default_rng(12)
    for epsilon in (0.1, 0.5, 2):
        found = attack(law, [count_of(law, 1, laplace(epsilon))], 0, known=1.0, releases=40, generator=rng)
        assert found.gained.at_worst <= epsilon + 1e-9
        assert found.known == law.units - 1


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2])
def test_twenty_near_copies_show_more_than_the_loss_and_never_more_than_the_certificate(epsilon):
    law, rng = near_copies(20, 2, 0.9), np.random.default_rng(13)
    certified = bound(Groups(20), Loss.uniform(str(epsilon), 20)).leakage.worst
    assert certified == pytest.approx(20 * epsilon)
    found = {
        share: attack(
            law,
            [count_of(law, 1, laplace(epsilon))],
            0,
            known=share,
            releases=40,
            generator=rng,
        )
        for share in (0, 0.25, 0.5, 0.75, 1)
    }
    assert found[0].gained.log_odds > 1.5 * epsilon
    assert all(one.gained.at_worst <= certified + 1e-9 for one in found.values())
    assert found[1].gained.at_worst <= epsilon + 1e-9
    before = [one.before.nats for one in found.values()]
    assert before[0] == pytest.approx(0, abs=1e-12)  # nobody known: nothing was known before
    assert before[-1] > 0.4
    calibrated = attack(law, [count_of(law, 1, laplace(epsilon / 20))], 0, releases=40, generator=rng)
    assert 0.3 * epsilon < calibrated.gained.at_worst <= epsilon


def test_what_is_nearly_impossible_is_not_taken_for_a_gain():
    """Friends who agree leave the other value a chance at the end of floats, where ratios are rounded."""
    tie = np.array([[0.999, 0.001], [0.001, 0.999]])
    for friends in (40, 105, 107):
        law = ProductLaw(
            (2,) * (friends + 1), tuple(UnitTable((0, one), tie) for one in range(1, friends + 1))
        )
        found = attack(
            law, [count_of(law, 1, laplace(1))], 0, known=1.0, releases=40, generator=np.random.default_rng(5)
        )
        assert found.gained.at_worst <= 1 + 1e-9


def test_the_group_bound_is_nearly_reached_by_nearer_copies():
    law = near_copies(20, 2, 0.9999)
    attacker, nobody = Attacker(law, (count_of(law, 1, laplace(0.1)),), 0), np.zeros((21, 21), int)
    shifts = attacker.learn(nobody, attacker.answers(nobody[0])).log_shifts
    assert 1.95 < np.ptp(shifts, axis=1).max() <= 2.0


def test_a_chain_never_shows_more_than_its_certificate_in_one_answer_a_step_or_in_a_sum():
    chain = MarkovChain(30, Box.exact([[0.8, 0.2], [0.2, 0.8]]))
    law, rng = chain.member(), np.random.default_rng(14)
    certified = bound(chain, Loss.uniform("1", 30)).leakage.worst
    each = attack(
        law, each_of(law, laplace(0.5)), 15, releases=100, generator=rng
    )  # a cell moves two numbers
    total = attack(law, [count_of(law, 1, laplace(1))], 15, generator=rng)
    assert 1 < each.gained.log_odds <= certified
    assert 1 < total.gained.at_worst <= certified


def test_independent_people_say_nothing_about_each_other():
    law, rng = Independent(6).member(3), np.random.default_rng(15)
    for share in (0, 0.5, 1):
        found = attack(law, [histogram_of(law, laplace(0.5))], 2, known=share, generator=rng)
        assert found.gained.at_worst <= 1 + 1e-9
        assert found.before == pytest.approx((0, 0), abs=1e-9)


def test_an_attacker_who_ignores_the_dependence_gains_at_most_the_loss():
    law, rng = near_copies(20, 2, 0.9), np.random.default_rng(16)
    naive = attack(law, [count_of(law, 1, laplace(0.5))], 0, believed=law.independent, generator=rng)
    assert naive.gained.at_worst <= 0.5 + 1e-9


def test_leaving_the_table_does_not_help_where_relatives_speak():
    """200 guesses each: shares 0.5 and 0.95 are 6 deviations from the thresholds, so a false alarm is below 1e-6."""
    law, rng = near_copies(20, 2, 0.98), np.random.default_rng(17)
    guesses = attack(law, [count_of(law, 1, laplace(1))], 0, generator=rng).guesses
    assert guesses.naive < 150 < guesses.control
    assert guesses.attack > 150
    assert abs(guesses.risk) < 0.9
    alone = Independent(5).member()
    apart = attack(alone, [count_of(alone, 1, laplace(3))], 0, known=1.0, generator=rng).guesses
    assert apart.control < 140 < apart.attack
    assert (
        apart.document["attack"]["interval"][0] < apart.attack / 200 < apart.document["attack"]["interval"][1]
    )


def test_information_is_gained_on_average_and_bits_stand_beside_nats():
    law, rng = near_copies(10, 2, 0.9), np.random.default_rng(18)
    found = attack(law, [count_of(law, 1, laplace(1))], 0, generator=rng).document["added"]
    assert found["nats"] > 3 * found["standard_error_nats"]
    assert found["nats"] == pytest.approx(found["bits"] * math.log(2))
    assert found["nats"] <= math.log(2)


def test_gaussian_noise_is_looked_through_too():
    law, rng = near_copies(5, 2, 0.9), np.random.default_rng(19)
    vector = count_of(law, 1, DiscreteGaussian(Fraction(2)))
    outputs = np.arange(-3, 9)[:, None]
    sums = np.arange(6)
    chances = np.array([[math.comb(5, k) * p**k * (1 - p) ** (5 - k) for k in sums] for p in (0.05, 0.95)])
    density = np.exp(-((outputs - sums) ** 2) / 8) @ chances.T / 2  # by the hidden cause
    ratio = density[:, 1] / density.sum(axis=1)
    posterior = Attacker(law, (vector,), 0).learn(np.zeros((12, 6), int), outputs).posterior
    assert np.all(np.diff(posterior[:, 1]) > 0)
    assert np.abs(posterior[:, 1] - ratio).max() < 0.06  # the target nearly is the hidden cause
    drawn = noised(vector.noise, np.zeros((40_000, 1), int), rng)
    assert drawn.var() == pytest.approx(4, rel=0.05)


def test_worlds_come_near_what_is_exact():
    """Means over 4,000 worlds: every posterior is within 0.05 of the exact one, at twelve of its deviations or more."""
    law, rng = near_copies(6, 3, 0.7), np.random.default_rng(22)
    vectors = (histogram_of(law, laplace(0.5)),)
    people = np.repeat(law.draw(4, rng), 10, axis=0)
    outputs = np.round(rng.laplace(2, 3, (40, 3))).astype(int)
    exact = Attacker(law, vectors, 0, (1, 2)).learn(people, outputs)
    drawn = WorldDrawer(law, vectors, 0, (1, 2), 4_000, rng).learn(people, outputs)
    assert drawn.prior == pytest.approx(exact.prior)
    assert np.abs(drawn.posterior - exact.posterior).max() < 0.05


def test_any_function_of_people_is_attacked_by_worlds():
    law, rng = near_copies(8, 2, 0.9), np.random.default_rng(23)
    most = NoisyFunction(lambda people: people[:, :8].max(axis=1, keepdims=True), 1, laplace(3))
    found = attack(law, [most], 0, worlds=200, generator=rng)
    assert (found.document["exact"], found.gained.nats > 0) == (False, True)
    with pytest.raises(BadInput, match="worlds"):
        attack(law, [most], 0)
    with pytest.raises(BadInput, match="worlds"):
        attack(law, [most], 0, worlds=-1)
    with pytest.raises(BadInput, match="integers a row"):
        attack(law, [NoisyFunction(lambda people: people[:, 0], 1, laplace(3))], 0, worlds=5)


def test_changes_are_those_of_one_unit():
    law = Independent(3).member(3)
    assert histogram_of(law, laplace(1)).largest_change(0) == 2
    assert count_of(law, 2, laplace(1)).largest_change(1) == 1
    joint = NoisyVector((Addend((0, 1), np.arange(9).reshape(3, 3, 1)),), laplace(1))
    assert [joint.largest_change(unit) for unit in range(3)] == [6, 2, 0]


def test_what_cannot_be_attacked_is_refused():
    law = near_copies(3, 2, 0.9)
    vectors = (count_of(law, 1, laplace(1)),)
    for bad in ({"target": 3}, {"target": 0, "known": (0,)}, {"target": 0, "known": (3,)}, {"target": 9}):
        with pytest.raises(BadInput):
            Attacker(law, vectors, **bad)
    with pytest.raises(BadInput, match="share"):
        attack(law, vectors, 0, known=1.5)
    with pytest.raises(BadInput, match="releases"):
        attack(law, vectors, 0, releases=0)
    wide = Independent(60).member(400)
    with pytest.raises(Refused, match="too many sums"):
        Attacker(wide, (histogram_of(wide, laplace(1)),), 0).learn(
            np.zeros((1, 60), int), np.zeros((1, 400), int)
        )
    with pytest.raises(BadInput, match="never happens"):
        copies = ProductLaw((2, 2, 2), (UnitTable((0, 1), np.eye(2)), UnitTable((0, 2), np.eye(2))))
        Attacker(copies, (count_of(copies, 1, laplace(1)),), 0, (1, 2)).learn(
            np.array([[0, 0, 1]]), np.zeros((1, 1), int)
        )
    assert known_units(law, 0, {1, 2}, np.random.default_rng(1)) == (1, 2)
    assert 3 not in known_units(law, 0, 1.0, np.random.default_rng(1))


def test_small_figures():
    assert entropy(np.array([0.5, 0.5, 0.0])) == pytest.approx(math.log(2))
    assert likely_range(0, 10)[0] == 0
    assert likely_range(10, 10)[1] == 1
