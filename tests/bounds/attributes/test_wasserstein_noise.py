"""Noise for how far a secret moves a law: exact divergences of small laws are never above δ, and less noise fails."""

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from entwined.audit.lower_bound import audit
from entwined.bounds.attributes.moves import MOST_NEAR, VectorLaw, near_first, ways
from entwined.bounds.attributes.two_normals import analytic_ratio
from entwined.bounds.attributes.wasserstein_noise import (
    laplace_for_laws,
    noise_for_laws,
    noise_for_vectors,
    renyi_deviation,
)
from entwined.bounds.wasserstein import FiniteLaw
from entwined.errors import BadInput
from support.oracle import laplace_leakage

DELTA = 0.01


def law(atoms, chances):
    return FiniteLaw.of(atoms, chances)


def random_laws(rng, most=7):
    """Two laws on a few numbers; at times one is the other moved, or nearly the other."""
    atoms = np.sort(rng.choice(20, int(rng.integers(2, most)), replace=False)).astype(float)
    one = rng.dirichlet(np.ones(atoms.size))
    kind = rng.integers(3)
    if kind == 0:
        return law(atoms, one), law(atoms + int(rng.integers(1, 4)), one)
    if kind == 1:
        far = np.append(atoms, 40.0)
        return law(atoms, one), law(far, np.append(one * (1 - DELTA / 3), DELTA / 3))
    others = np.sort(rng.choice(20, int(rng.integers(2, most)), replace=False)).astype(float)
    return law(atoms, one), law(others, rng.dirichlet(np.ones(others.size)))


def grid_of(one, other, scale):
    reach = 14 * scale
    ends = min(one.atoms[0], other.atoms[0]) - reach, max(one.atoms[-1], other.atoms[-1]) + reach
    return np.linspace(*ends, 20_001)


def exact_slip(one, other, noise, epsilon):
    """sup_S P(S) − γQ(S), both orders, from the chances of 20,000 small cells: below the truth by their size alone."""
    if noise.scale == 0:
        atoms = np.union1d(one.atoms, other.atoms)
        p, q = (
            np.array([np.exp(side.logs)[side.atoms == atom].sum() for atom in atoms]) for side in (one, other)
        )
    else:
        edges = grid_of(one, other, noise.scale)
        p, q = (
            np.diff(
                np.exp(side.logs)
                @ np.array([cumulated(noise, (edges - atom) / noise.scale) for atom in side.atoms])
            )
            for side in (one, other)
        )
    gamma = math.exp(epsilon)
    return max(np.maximum(p - gamma * q, 0).sum(), np.maximum(q - gamma * p, 0).sum())


def cumulated(noise, at):
    if noise.noise == "Gaussian":
        return norm.cdf(at)
    return np.where(at < 0, 0.5 * np.exp(-np.abs(at)), 1 - 0.5 * np.exp(-np.abs(at)))


def test_released_laws_keep_epsilon_for_certain():
    rng = np.random.default_rng(41)
    for _ in range(60):
        pair = random_laws(rng)
        noise = laplace_for_laws([pair], 0.8)
        laws = [dict(zip(side.atoms.tolist(), np.exp(side.logs).tolist(), strict=True)) for side in pair]
        for one, other in permutations(laws, 2):
            assert laplace_leakage(one, other, noise.scale, 2001) <= 0.8


@pytest.mark.parametrize("kind", ["Laplace", "Gaussian"])
def test_released_laws_keep_epsilon_and_delta(kind):
    rng, less, reached = np.random.default_rng(42), 0, 0
    for _ in range(30):
        pair, epsilon = random_laws(rng), float(rng.uniform(0.2, 2.5))
        noise = noise_for_laws([pair], epsilon, DELTA, [kind])
        slipped = exact_slip(*pair, noise, epsilon)
        assert slipped <= DELTA * (1 + 1e-7)
        reached += slipped > DELTA * 0.95
        less += noise.deviation < laplace_for_laws([pair], epsilon).deviation * 0.98
    assert reached > 0
    assert less > 10


def test_less_noise_than_that_fails_where_a_law_is_moved_as_a_whole():
    pair = law([0.0, 1.0], [0.5, 0.5]), law([100.0, 101.0], [0.5, 0.5])
    for kind in ("Laplace", "Gaussian"):
        noise = noise_for_laws([pair], 1.0, DELTA, [kind])
        assert exact_slip(*pair, noise, 1.0) == pytest.approx(DELTA, rel=0.02)
        assert exact_slip(*pair, type(noise)(kind, noise.scale * 0.8), 1.0) > DELTA * 1.5


def test_what_rarely_goes_far_needs_little_noise_or_none():
    one = law(np.arange(10.0), np.full(10, 0.1))
    far = law([*np.arange(10.0), 1000.0], [*np.full(10, 0.1 * (1 - DELTA / 2)), DELTA / 2])
    assert laplace_for_laws([(one, far)], 1.0).scale >= 990  # for certain, the farthest counts
    assert noise_for_laws([(one, far)], 1.0, DELTA).scale == 0.0
    moved = law([-50.0, *np.arange(1.0, 11.0)], [DELTA / 2, *np.full(10, 0.1 * (1 - DELTA / 2))])
    noise = noise_for_laws(
        [(one, moved)], 1.0, DELTA, ["Laplace"]
    )  # all moved by one, and a little far to the left
    assert noise.scale == pytest.approx(1.0, rel=0.1)
    assert exact_slip(one, moved, noise, 1.0) <= DELTA


def test_the_renyi_way_is_sound_and_never_needs_less():
    rng = np.random.default_rng(43)
    for _ in range(12):
        pair, epsilon = random_laws(rng), float(rng.uniform(0.3, 2))
        gaussian = noise_for_laws([pair], epsilon, DELTA, ["Gaussian"])
        deviation = renyi_deviation([pair], epsilon, DELTA)
        assert deviation >= gaussian.scale * (1 - 1e-6)
        assert exact_slip(*pair, type(gaussian)("Gaussian", max(deviation, 0.0)), epsilon) <= DELTA * (
            1 + 1e-7
        )
    for shift, epsilon, delta in product((0.5, 3.0), (0.1, 1.0, 4.0), (1e-6, 1e-2)):  # one normal answer
        pair = law([0.0], [1.0]), law([shift], [1.0])
        exact = noise_for_laws([pair], epsilon, delta, ["Gaussian"]).scale
        assert exact <= renyi_deviation([pair], epsilon, delta)
        assert exact == pytest.approx(shift * analytic_ratio(Fraction(epsilon), Fraction(delta)), rel=1e-6)
    moved = law([0.0], [1.0]), law([1.0], [1.0])
    order = np.linspace(1.01, 60, 20_000)

    def slip(deviation):
        logs = order * (order - 1) / (2 * deviation**2) - (order - 1)
        return np.exp(logs + (order - 1) * np.log(order - 1) - order * np.log(order)).min()

    assert slip(renyi_deviation([moved], 1.0, DELTA)) == pytest.approx(DELTA, rel=1e-3)


def test_gaussian_noise_of_one_shift_is_the_analytic_one():
    noise = noise_for_laws([(law([0.0], [1.0]), law([1.0], [1.0]))], 1.0, 1e-3, ["Gaussian"])
    assert noise.scale == pytest.approx(2.5747, abs=1e-4)


def test_laplace_apartness_is_that_of_the_integral():
    from entwined.bounds.attributes.wasserstein_noise import laplace_apart, pure_apart

    for distance, scale, epsilon in ((3.0, 1.0, 0.5), (2.0, 0.7, 1.5), (1.0, 2.0, 0.2)):
        gamma = math.exp(epsilon)

        def excess(x, distance=distance, scale=scale, gamma=gamma):
            p, q = np.exp(-abs(x - distance) / scale), np.exp(-abs(x) / scale)
            return max(p - gamma * q, 0.0) / (2 * scale)

        truth = quad(excess, -30, 40, points=[0, distance, (distance + epsilon * scale) / 2], limit=400)[0]
        found = float(laplace_apart(epsilon)(np.array([distance]), scale)[0])
        assert found == pytest.approx(truth, abs=1e-6)
        assert found <= float(pure_apart(epsilon)(np.array([distance]), scale)[0])


def test_near_first_carries_as_much_as_can_be():
    """Against a linear program: the least mass that must go farther than a distance."""
    from scipy.optimize import linprog

    from entwined.bounds.attributes.moves import within

    rng = np.random.default_rng(44)
    for _ in range(40):
        one, other = random_laws(rng)
        distance = float(rng.integers(0, 8))
        found = within(one, other, distance)
        gaps = np.abs(one.atoms[:, None] - other.atoms)
        rows, columns = gaps.shape
        sums = np.concatenate(
            [np.kron(np.eye(rows), np.ones(columns)), np.kron(np.ones(rows), np.eye(columns))]
        )
        totals = np.concatenate([np.exp(one.logs), np.exp(other.logs)])
        best = linprog((gaps > distance).ravel().astype(float), A_eq=sums, b_eq=totals, method="highs").fun
        assert found.masses[-1] == pytest.approx(best, abs=1e-9)
        assert found.distances[:-1].max(initial=0.0) <= distance


def test_every_way_carries_one_law_into_the_other():
    rng = np.random.default_rng(45)
    for _ in range(30):
        pair = random_laws(rng)
        for moves in ways(*pair, DELTA):
            assert moves.masses.sum() == pytest.approx(1)
            assert (moves.masses >= 0).all()
    large = law(np.arange(3000.0), np.full(3000, 1 / 3000))
    assert len(list(ways(large, large, DELTA))) == 2
    assert MOST_NEAR < 6000
    assert near_first(*random_laws(rng), 0.5).misplaced < 1e-12


def test_vectors_have_an_upper_bound():
    rng = np.random.default_rng(46)
    for _ in range(10):
        atoms = rng.integers(0, 6, (5, 2)).astype(float)
        shift = rng.integers(0, 3, 2).astype(float)
        chances = rng.dirichlet(np.ones(5))
        one, other = VectorLaw.of(atoms, chances), VectorLaw.of(atoms + shift, chances)
        noise = noise_for_vectors([(one, other)], 1.0, DELTA)
        length = float(np.hypot(*shift))
        assert noise.deviation <= max(length * 2.0, 1e-9)  # moved as a whole: no more than the shift needs
        if noise.scale > 0 and noise.noise == "Gaussian":
            draws = [
                side.atoms[rng.choice(5, 20_000, p=side.chances)] + rng.normal(0, noise.scale, (20_000, 2))
                for side in (one, other)
            ]
            along = [points @ shift for points in draws]
            assert not audit(along[0], along[1], delta=DELTA).refutes(1.0)
    with pytest.raises(BadInput, match="same questions"):
        noise_for_vectors([(VectorLaw.of([[0.0]], [1]), VectorLaw.of([[0.0, 1.0]], [1]))], 1.0, DELTA)


@pytest.mark.parametrize(("share", "caught"), [(1.0, False), (0.8, True)])
def test_an_audit_of_a_hundred_thousand_releases_catches_too_little_noise(share, caught):
    pair = law([0.0, 1.0], [0.5, 0.5]), law([30.0, 31.0], [0.5, 0.5])
    rng = np.random.default_rng(47)
    scale = laplace_for_laws([pair], 1.0).scale * share
    first, second = (
        rng.choice(side.atoms, 100_000, p=np.exp(side.logs)) + rng.laplace(0, scale, 100_000) for side in pair
    )
    assert audit(first, second).refutes(1.0) == caught


def test_what_cannot_be_is_refused():
    pair = law([0.0], [1.0]), law([1.0], [1.0])
    with pytest.raises(BadInput, match="larger"):
        noise_for_laws([pair], 1.0, 1e-12)
    with pytest.raises(BadInput, match="sum to 1"):
        VectorLaw.of([[0.0], [1.0]], [0.5, 0.6])
    assert laplace_for_laws([(pair[0], pair[0])], 1.0).scale == 0.0
