"""Ties: exact in the middle of a star, right only where their assumption is, and never taken without being named."""

import math
from itertools import combinations
from time import process_time

import numpy as np
import pytest

from entwined.bounds import bound, calibrate, certify, curve, verify
from entwined.bounds.choose import THEOREMS
from entwined.bounds.frontier import Frontier
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.pairwise import scale_coefficient
from entwined.bounds.ties import ties_and_anything_known_bound, ties_bound, ties_scale_bound
from entwined.dependence import Graph, Groups, Ties
from entwined.dependence.places import CityGrid, friends_places
from entwined.loss import Loss
from support import draw
from support.growth import leaks_more_as_losses_grow
from support.oracle import tilted_leakages, worst_leakage, worst_leakages

ROUNDING = 1e-12  # the oracle's own
FLIP = np.array([[0.9, 0.1], [0.1, 0.9]])
THREE = (ties_bound, ties_and_anything_known_bound, ties_scale_bound)


def stars(seed, count, most=3):
    """Stars with the law of a leaf given the middle, an unrelated unit beside, the joint law and losses."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        leaves = int(rng.integers(1, most + 1))
        inner, outer = (int(size) for size in rng.integers(2, 4, 2))
        kernel = rng.dirichlet(np.full(outer, rng.choice([0.3, 1.0, 10.0])), size=inner)
        middle = rng.dirichlet(np.ones(inner))
        pair = middle[:, None] * kernel
        back = (pair / pair.sum(axis=0)).T
        joint = middle.reshape(-1, *[1] * leaves)
        for leaf in range(leaves):
            joint = joint * kernel.reshape(inner, *[outer if k == leaf else 1 for k in range(leaves)])
        joint = joint[..., None] * rng.dirichlet(np.ones(2))
        ends = np.array([[0, leaf] for leaf in range(1, leaves + 1)])
        yield Ties(leaves + 2, ends, kernel, back), joint, draw.losses(rng, leaves + 2)


def test_the_middle_of_a_star_leaks_exactly_what_its_ties_say():
    for model, joint, losses in stars(seed=1, count=30):
        found = ties_bound(Loss.of(losses), model).per_unit[0]
        assert found >= worst_leakage(joint, losses, 0, "values") - ROUNDING
        assert found == pytest.approx(worst_leakage(joint, losses, 0, "model"), rel=1e-7)


def test_pairs_leak_exactly_what_their_tie_says_from_both_ends():
    for model, joint, losses in stars(seed=2, count=60, most=1):
        found = ties_bound(Loss.of(losses), model).per_unit
        assert found == pytest.approx(worst_leakages(joint, losses, "model"), rel=1e-7)


def test_what_else_is_known_of_a_tied_one_is_covered_by_log_odds_alone():
    """A reading of a friend's place tilts the law of that place: the kernel is no bound then, its log odds are."""
    rng, beaten = np.random.default_rng(3), 0
    for model, joint, losses in stars(seed=4, count=20, most=2):
        truth = tilted_leakages(joint, losses, draw.tilts(rng, joint.shape, 6))[0]
        assert truth <= ties_and_anything_known_bound(Loss.of(losses), model).per_unit[0] + ROUNDING
        beaten += truth > ties_bound(Loss.of(losses), model).per_unit[0] * (1 + 1e-6)
    assert beaten > 3
    assert not ties_bound.covers("any")
    assert ties_bound.covers("values")


def test_without_the_assumption_the_sum_is_wrong():
    """Fair bits and their noisy exclusive or: no pair tells anything, all three together do."""
    flip = np.array([[0.95, 0.05], [0.05, 0.95]])
    joint = np.array([[flip[a ^ b] for b in (0, 1)] for a in (0, 1)]) / 4
    coin = np.full((2, 2), 0.5)
    model = Ties(3, np.array([[0, 1], [0, 2], [1, 2]]), coin)
    assert ties_bound(Loss.uniform(1, 3), model).per_unit == pytest.approx([1.0, 1.0, 1.0])
    assert worst_leakage(joint, [1.0] * 3, 0, "model") == pytest.approx(1.8855, abs=5e-5)


def test_a_friend_of_a_friend_breaks_it_and_the_messages_cover_that():
    chain = Ties(3, np.array([[0, 1], [1, 2]]), FLIP)
    joint = 0.5 * FLIP[:, :, None] * FLIP[None]
    truth = worst_leakages(joint, [1.0] * 3, "model")
    found = ties_bound(Loss.uniform(1, 3), chain).per_unit
    assert found[1] == pytest.approx(truth[1])
    assert found[0] < truth[0] - 0.3
    assert message_passing_bound(Loss.uniform(1, 3), chain).per_unit[0] >= truth[0]


def random_ties(rng, *, directed):
    size = int(rng.integers(3, 9))
    pairs = np.array(list(combinations(range(size), 2)))
    ends = pairs[rng.random(len(pairs)) < rng.uniform(0.2, 0.9)]
    flipped = rng.random(len(ends)) < 0.5
    ends[flipped] = ends[flipped][:, ::-1]
    shares = rng.uniform(0.01, 1.0, (len(ends), 2)) if directed else rng.uniform(0.01, 1.0, len(ends))
    return size, ends, shares


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("most", [None, 1, 2])
def test_coefficients_add_up_tie_by_tie_each_its_own_way(directed, most):
    rng = np.random.default_rng(5)
    for _ in range(60):
        size, ends, shares = random_ties(rng, directed=directed)
        losses = draw.losses(rng, size)
        found = ties_bound(Loss.of(losses), Ties(size, ends, coefficients=shares, most_ties=most)).per_unit
        model = Ties(size, ends, coefficients=shares)
        both = np.broadcast_to(shares if directed else shares[:, None], (len(ends), 2))
        for unit in range(size):
            come = [share[0] * losses[b] for (a, b), share in zip(ends, both, strict=True) if a == unit]
            come += [share[1] * losses[a] for (a, b), share in zip(ends, both, strict=True) if b == unit]
            told = losses[unit] + sum(sorted(come, reverse=True)[:most])
            assert found[unit] == pytest.approx(min(told, model.group_totals(Loss.of(losses))[unit]))
            assert found[unit] >= told * (1 - 1e-14)


def test_no_ties_bound_is_above_the_group_or_below_the_loss_and_each_looser_form_is():
    rng = np.random.default_rng(6)
    for _ in range(40):
        size, ends, _ = random_ties(rng, directed=True)
        weights = rng.uniform(0.01, 1.0, (3, 3))
        model = Ties(size, ends, (weights + weights.T) / (weights + weights.T).sum(axis=1, keepdims=True))
        loss = Loss.of(draw.losses(rng, size))
        exact, anything, scale = (one(loss, model).per_unit for one in THREE)
        for found in (exact, anything, scale):
            assert (found >= loss.per_unit).all()
            assert (found <= model.group_totals(loss)).all()
        assert (exact <= anything * (1 + 1e-14)).all()
        assert (exact <= scale).all()
        assert (anything <= message_passing_bound(loss, model).per_unit * (1 + 1e-12)).all()


@pytest.mark.parametrize("theorem", THREE, ids=lambda one: one.name)
def test_more_loss_leaks_more(theorem):
    ring = np.array([[k, (k + 1) % 8] for k in range(8)] + [[0, 4]])
    leaks_more_as_losses_grow(theorem, Ties(8, ring, FLIP), seed=10)
    leaks_more_as_losses_grow(theorem, Ties(8, ring, friends_places(CityGrid(3, 2).distances())), seed=11)
    leaks_more_as_losses_grow(theorem, Ties(8, ring, coefficients=np.float64(0.4), most_ties=2), seed=12)


def test_equation_18_takes_any_distance_and_turning_it_round_solves_for_its_own_scale():
    apart = CityGrid(3, 3).distances("euclidean")
    kernel = friends_places(apart)
    model = Ties(3, np.array([[0, 1], [0, 2]]), kernel, distances=apart)
    found = ties_scale_bound(Loss.uniform(0.5, 3), model).worst
    assert found == pytest.approx(0.5 * (1 + 2 * scale_coefficient(kernel, 0.5, apart)))
    equally = ties_scale_bound(Loss.uniform(0.5, 3), Ties(3, model.ends, kernel)).worst
    assert equally == pytest.approx(0.5 * (1 + 2 * scale_coefficient(kernel, 0.5)))
    sigma = 1.0
    for _ in range(200):  # σ = DS / ε with the coefficient at the scale in use
        sigma = (1 + 2 * scale_coefficient(kernel, 1 / sigma, apart)) / 1.0
    loss = Loss.uniform(1 / sigma, 3)
    assert ties_scale_bound(loss, model).worst == pytest.approx(1.0)


def test_places_of_a_city_as_the_paper_has_them():
    kernel = friends_places(CityGrid(20, 20).distances())
    model = Ties(3, np.array([[0, 1], [0, 2]]), kernel)
    assert model.log_odds == pytest.approx(4.976, abs=5e-4)
    assert ties_bound(Loss.uniform(1, 3), model).worst == pytest.approx(1 + 2 * 0.3803, abs=1e-4)


def test_only_who_declares_ties_is_answered_by_them():
    graph = Graph(3, np.array([[0, 1], [1, 2]]), np.float64(2.0))
    for model in (graph, Groups(3)):
        said = bound(model, Loss.uniform(1, 3), "model")
        names = {said.theorem.name, *(one.theorem.name for one in said.alternatives if one.leakage)}
        assert not {theorem.name for theorem in THREE} & names
    assert set(THREE) <= set(THEOREMS)


def test_the_assumption_is_the_first_thing_that_must_be_believed():
    for theorem in THREE:
        assert theorem.trusted.startswith(
            "Given i, those tied to i are independent of each other, and nobody else says"
        )


def test_a_certificate_of_ties_is_derived_again():
    model = Ties(4, np.array([[0, 1], [0, 2]]), coefficients=np.array([[0.3, 0.5], [0.2, 0.2]]), most_ties=1)
    for knowledge, name in (("model", "ties"), ("any", "ties and anything known")):
        found = bound(model, Loss.uniform(1, 4), knowledge)
        assert found.theorem.name == name
        assert verify(certify(found).document).valid
    assert bound(model, Loss.uniform(1, 4), "model").leakage.per_unit == pytest.approx([1.3, 1.5, 1.2, 1.0])


def test_calibration_and_the_curve_of_stronger_ties():
    star = Ties(5, np.array([[0, leaf] for leaf in range(1, 5)]), FLIP)
    found = calibrate(star, 1, "model")
    assert ties_bound(found.exposure, star).worst == pytest.approx(1.0)
    told = curve(star, Loss.uniform(0.3, 5), "model")
    leaked = [point.leakage for point in told.points]
    assert leaked == sorted(leaked)
    stronger = star.stronger(0.5)
    assert stronger.log_odds == pytest.approx(1.5 * star.log_odds)
    shares = Ties(3, np.array([[0, 1]]), coefficients=np.float64(0.8)).stronger(0.5)
    assert shares.coefficients.tolist() == [[1.0, 1.0]]


def test_what_a_cap_would_be_worth_is_hinted_at():
    star = Ties(9, np.array([[0, leaf] for leaf in range(1, 9)]), FLIP)
    hint = next(one for one in bound(star, Loss.uniform(1, 9), "model").hints() if one.about == "ties")
    assert "most_ties = 4" in hint.knowing
    assert hint.leakage == pytest.approx(1 + 4 * Frontier.of(FLIP)(1.0))


def test_linear_correlations_are_those_of_the_pair_and_prove_nothing():
    """Sums of |δ_ij| ε_j by Zhu and others: below the truth where a friend is far with a chance that distance hides."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        weights = rng.uniform(0.01, 1.0, (4, 4))
        joint = (weights + weights.T) / (weights + weights.T).sum()
        law, places = joint.sum(axis=0), np.arange(4)
        mean, spread = law @ places, law @ places**2 - (law @ places) ** 2
        correlation = (joint * np.outer(places, places)).sum() / spread - mean**2 / spread
        pair = Ties(2, np.array([[0, 1]]), joint / law[:, None])
        assert pair.correlations[0] == pytest.approx([abs(correlation)] * 2)
        assert pair.correlated_sensitivity(np.array([1.0, 1.0])) == pytest.approx(1 + abs(correlation))
    hidden = np.array(
        [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]]
    )  # no linear correlation, and yet a tie
    pair = Ties(2, np.array([[0, 1]]), hidden)
    joint = np.diag([0.25, 0.5, 0.25]) @ hidden
    assert pair.correlated_sensitivity(np.array([1.0, 1.0])) == pytest.approx(1.0)
    assert worst_leakage(joint, [1.0, 1.0], 0, "model") == pytest.approx(2.0)


@pytest.mark.slow
def test_two_hundred_thousand_people_and_a_million_ties_take_seconds():
    rng = np.random.default_rng(7)
    drawn = rng.integers(0, 200_000, (1_100_000, 2))
    ends = np.unique(np.sort(drawn[drawn[:, 0] != drawn[:, 1]], axis=1), axis=0)[:1_000_000]
    loss = Loss.uniform(0.01, 200_000)
    kernel = friends_places(CityGrid(20, 20).distances())
    begun = process_time()
    assert math.isfinite(ties_bound(loss, Ties(200_000, ends, kernel)).worst)
    assert process_time() - begun < 10
    for odds in (0.05, 0.4, 4.976):
        begun = process_time()
        assert math.isfinite(message_passing_bound(loss, Graph(200_000, ends, np.float64(odds))).worst)
        assert process_time() - begun < 10
