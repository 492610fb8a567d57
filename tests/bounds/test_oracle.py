"""The oracle against truths known by hand, and against the linear program as the theory page writes it."""

from itertools import chain as flattened
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from support import draw, oracle
from support.oracle import (
    chain_joint,
    count_law,
    exact_leakage,
    gaussian_factor,
    laplace_leakage,
    worst_leakage,
    worst_leakages,
    worst_leakages_by_knowledge,
)


def equal_pair(chance):
    return np.array([[chance, 1 - chance], [1 - chance, chance]]) / 2


def noisy_xor(flip):
    return np.array(
        [[[0.25 * (flip if z != x ^ y else 1 - flip) for z in (0, 1)] for y in (0, 1)] for x in (0, 1)]
    )


def tilt(loss, p, q):
    """The log ratio that a function with log range `loss` reaches on an event of chances p and q."""
    return np.log1p(np.expm1(loss) * p) - np.log1p(np.expm1(loss) * q)


def as_written(joint, losses, unit, known, a, b):
    """The program of the theory page, every configuration and every pair one replacement apart."""
    cells = list(product(*(range(size) for size in joint.shape)))
    place = {cell: k for k, cell in enumerate(cells)}
    pairs = [
        (place[x], place[(*x[:j], v, *x[j + 1 :])], np.exp(losses[j]))
        for x in cells
        for j in range(joint.ndim)
        for v in range(joint.shape[j])
        if v != x[j]
    ]
    above, below, gain = (np.array(column) for column in zip(*pairs, strict=True))
    row = np.arange(len(pairs))
    table = sparse.csr_array(
        (
            np.concatenate([np.ones(len(pairs)), -gain]),
            (np.concatenate([row, row]), np.concatenate([above, below])),
        ),
        shape=(len(pairs), len(cells)),
    )
    given = [
        np.array([x[unit] == v and all(x[j] == w for j, w in known.items()) for x in cells]) for v in (a, b)
    ]
    p, q = (joint.ravel() * event / (joint.ravel() @ event) for event in given)
    answer = linprog(-p, A_ub=table, b_ub=np.zeros(len(pairs)), A_eq=q[None], b_eq=[1.0], method="highs")
    assert answer.status == 0
    return np.log(-answer.fun)


def every_secret(joint, unit):
    others = [j for j in range(joint.ndim) if j != unit]
    for units in flattened.from_iterable(combinations(others, size) for size in range(len(others) + 1)):
        for values in product(*(range(joint.shape[j]) for j in units)):
            for a, b in permutations(range(joint.shape[unit]), 2):
                yield dict(zip(units, values, strict=True)), a, b


# Truths known by hand.


@pytest.mark.parametrize(("loss", "leaked"), [(1.0, 1.8855), (0.5, 0.9482)])
def test_a_noisy_xor_leaks_though_all_pairs_are_independent(loss, leaked):
    joint = noisy_xor(0.05)
    for unknown in combinations(range(3), 2):
        pair = joint.sum(axis=tuple(set(range(3)) - set(unknown)))
        assert np.allclose(pair, 0.25)
    for knowledge in ("values", "model"):  # the figure of the theory page holds for both
        assert worst_leakages(joint, [loss] * 3, knowledge) == pytest.approx([leaked] * 3, abs=5e-5)
    assert exact_leakage(joint, [loss] * 3, 0, {}, 0, 1) == pytest.approx(leaked, abs=5e-5)
    assert exact_leakage(joint, [loss] * 3, 0, {1: 0}, 0, 1) == pytest.approx(loss + tilt(loss, 0.95, 0.05))
    assert exact_leakage(joint, [loss] * 3, 0, {1: 0, 2: 0}, 0, 1) == pytest.approx(loss)


@pytest.mark.parametrize(
    ("chance", "leaked"), [(0.5, 1.0), (0.7, 1.374), (0.9, 1.776), (0.99, 1.977), (1.0, 2.0), (0.99, 1.9766)]
)
def test_a_pair_of_bits_that_are_mostly_equal(chance, leaked):
    assert worst_leakages(equal_pair(chance), [1, 1]) == pytest.approx([leaked] * 2, abs=5e-4)
    assert worst_leakage(equal_pair(chance), [1, 1], 0) == pytest.approx(1 + tilt(1, chance, 1 - chance))


def test_independence_leaks_the_base_loss():
    rng = np.random.default_rng(1)
    joint = np.einsum("a,b,c->abc", *(rng.dirichlet(np.ones(size)) for size in (3, 2, 3)))
    for knowledge in ("values", "model"):
        assert worst_leakages(joint, [0.3, 1.0, 0.02], knowledge) == pytest.approx([0.3, 1.0, 0.02], abs=1e-8)


@pytest.mark.parametrize("values", [2, 3])
def test_copies_leak_the_sum_of_the_losses(values):
    joint = np.zeros((values,) * 4)
    joint[(np.arange(values),) * 4] = 1 / values
    for losses in ([0.1, 0.7, 0.2, 1.5], [5.0] * 4):
        assert worst_leakages(joint, losses, "model") == pytest.approx([sum(losses)] * 4)
        assert worst_leakages(joint, losses, "values") == pytest.approx([sum(losses)] * 4)


def test_large_losses_meet_the_closed_form():
    for loss in (3.0, 5.0):
        expected = loss + tilt(loss, 0.95, 0.05)
        assert worst_leakage(noisy_xor(0.05), [loss] * 3, 0) == pytest.approx(expected, rel=1e-9)


def test_two_units_meet_the_closed_form_over_all_subsets():
    rng = np.random.default_rng(2)
    for _ in range(40):
        joint = rng.dirichlet(np.full(12, 0.5)).reshape(3, 4)
        losses = rng.uniform(0.05, 3, 2)
        rows = joint / joint.sum(axis=1, keepdims=True)
        events = np.array(list(product([0, 1], repeat=4))).T
        best = max(
            tilt(losses[1], rows[a] @ events, rows[b] @ events).max() for a, b in permutations(range(3), 2)
        )
        assert worst_leakage(joint, losses, 0) == pytest.approx(losses[0] + best, abs=1e-9)


def test_a_secret_that_cannot_be_leaks_nothing():
    joint = np.array([[[0.5, 0.0], [0.0, 0.0]], [[0.25, 0.25], [0.0, 0.0]]])
    assert exact_leakage(joint, [1, 1, 1], 0, {2: 1}, 0, 1) == -np.inf
    assert exact_leakage(joint, [1, 1, 1], 0, {1: 1}, 0, 1) == -np.inf
    assert worst_leakage(joint, [1, 1, 1], 1) == -np.inf
    assert worst_leakage(joint, [1, 2, 1], 0) == pytest.approx(1 + tilt(1, 0.5, 0.0))


def test_what_makes_no_sense_is_refused():
    for joint, losses in (
        (equal_pair(0.9), [1.0]),
        (equal_pair(0.9), [1.0, -1.0]),
        (equal_pair(0.9), [1.0, np.inf]),
        (-equal_pair(0.9), [1.0, 1.0]),
        (np.zeros((2, 2)), [1.0, 1.0]),
    ):
        with pytest.raises(ValueError, match=r"joint law|finite loss"):
            worst_leakages(joint, losses)
    with pytest.raises(ValueError, match="values or model"):
        worst_leakages(equal_pair(0.9), [1.0, 1.0], "all")
    with pytest.raises(ValueError, match="cannot be known"):
        exact_leakage(equal_pair(0.9), [1, 1], 0, {0: 1}, 0, 1)


# The reductions and the solver.


def test_the_small_program_equals_the_one_as_written():
    rng = np.random.default_rng(3)
    met = 0
    for model in draw.models(seed=3, count=105):
        joint, losses = model.joint(), np.minimum(model.losses, 1.5)
        unit = int(rng.integers(joint.ndim))
        a, b = (int(v) for v in rng.permutation(joint.shape[unit])[:2])
        drawn = {
            j: int(rng.integers(joint.shape[j]))
            for j in range(joint.ndim)
            if j != unit and rng.random() < 0.3
        }
        for known in ({}, drawn):
            exact = exact_leakage(joint, losses, unit, known, a, b)
            if exact > -np.inf:
                assert exact == pytest.approx(as_written(joint, losses, unit, known, a, b), abs=2e-6)
                met += 1
    assert met > 150


def test_the_worst_is_the_largest_of_all_secrets_one_by_one():
    for model in draw.models(seed=4, count=14):
        joint, unit = model.joint(), len(model.sizes) // 2
        alone = [exact_leakage(joint, model.losses, unit, *secret) for secret in every_secret(joint, unit)]
        assert worst_leakage(joint, model.losses, unit) == pytest.approx(max(alone), abs=2 * oracle.GAP)
        pairs = permutations(range(joint.shape[unit]), 2)
        blind = max(exact_leakage(joint, model.losses, unit, {}, a, b) for a, b in pairs)
        assert worst_leakage(joint, model.losses, unit, "model") == pytest.approx(blind, abs=2 * oracle.GAP)
        for knowledge, leaked in worst_leakages_by_knowledge(joint, model.losses).items():
            alone = worst_leakages(joint, model.losses, knowledge)
            assert leaked == pytest.approx(alone, abs=2 * oracle.GAP)


def test_every_drawn_model_lies_between_its_loss_and_the_sum_of_losses():
    for model in draw.models(seed=5, count=70):
        seen, blind = worst_leakages_by_knowledge(model.joint(), model.losses).values()
        assert (model.losses - 1e-12 <= blind).all()
        assert (blind <= seen + oracle.GAP).all()
        assert (seen <= model.losses.sum() + 1e-9).all()


def test_units_may_come_in_any_order_and_leakage_grows_with_the_loss():
    rng = np.random.default_rng(6)
    for model in draw.models(seed=6, count=21):
        joint, order = model.joint(), rng.permutation(len(model.sizes))
        leaked = worst_leakages(joint, model.losses)
        moved = worst_leakages(joint.transpose(order), model.losses[order])
        assert moved == pytest.approx(leaked[order], abs=2 * oracle.GAP)
        assert (worst_leakages(joint, 1.3 * model.losses) >= leaked).all()


def no_solver(answer):
    answer.status = 4


def short_flow(answer):
    answer.x *= 0.9


def forbidden_g(answer):
    answer.ineqlin.marginals *= np.linspace(0.7, 1.3, len(answer.ineqlin.marginals))


@pytest.mark.parametrize("spoil", [no_solver, short_flow, forbidden_g])
def test_what_is_not_proved_is_not_returned(monkeypatch, spoil):
    joint = next(draw.models(seed=7, count=1, shapes=["complete"])).joint()
    assert worst_leakages(joint, np.ones(joint.ndim)).min() > 1

    def spoilt(*program, **settings):
        answer = linprog(*program, **settings)
        spoil(answer)
        return answer

    monkeypatch.setattr(oracle, "linprog", spoilt)
    with pytest.raises(ArithmeticError, match="known only to within"):
        worst_leakages(joint, np.ones(joint.ndim))


# Gaussian units, counts and Laplace noise.


def test_gaussian_goldens():
    steps = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
    equicorrelated = np.where(steps == 0, 1.0, 0.14)
    assert gaussian_factor(equicorrelated, np.ones(8), 0) == pytest.approx(1.980, abs=5e-4)
    factors = [gaussian_factor(0.5**steps, np.ones(8), unit) for unit in range(8)]
    assert max(factors) == pytest.approx(2.8125)  # 1 + 2(½ + ¼ + ⅛) + 1/16


def test_gaussian_factors_by_way_of_the_precision_matrix():
    rng = np.random.default_rng(8)
    for _ in range(40):
        covariance = draw.covariance(rng)
        size = len(covariance)
        losses, unit = draw.losses(rng, size), int(rng.integers(size))
        precision = np.linalg.inv(covariance)
        others = [j for j in range(size) if j != unit]
        factors = []
        for unknown in (list(u) for count in range(size) for u in combinations(others, count)):
            shift = np.linalg.solve(precision[np.ix_(unknown, unknown)], precision[unknown, unit])
            factors.append(losses[unit] + np.abs(shift) @ losses[unknown])
        assert gaussian_factor(covariance, losses, unit) == pytest.approx(max(factors), rel=1e-6)
        assert gaussian_factor(covariance, losses, unit, "model") == pytest.approx(factors[-1], rel=1e-6)


def test_a_gaussian_unit_that_is_known_through_its_copy_is_no_secret():
    copies = np.array([[1.0, 1.0, 0.5], [1.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    assert gaussian_factor(copies, [1.0, 0.5, 2.0], 0) == pytest.approx(1 + 0.5 + 0.5 * 2)


@pytest.mark.parametrize(("length", "leaked"), [(6, 3.851), (16, 4.495)])
def test_plain_laplace_noise_on_a_count_along_a_chain(length, leaked):
    stay = np.array([[0.9, 0.1], [0.1, 0.9]])
    laws = [[count_law([0.5, 0.5], stay, length, unit, v, [0, 1]) for v in (0, 1)] for unit in range(length)]
    assert max(laplace_leakage(*pair, scale=1.0) for pair in laws) == pytest.approx(leaked, abs=5e-4)


def test_laplace_noise_on_two_certain_values():
    assert laplace_leakage({0.0: 1.0}, {2.0: 1.0}, scale=4.0) == pytest.approx(0.5)
    assert laplace_leakage({0: 0.5, 1: 0.5}, {0: 0.5, 1: 0.5}, scale=0.1) == pytest.approx(0.0)
    assert laplace_leakage({}, {1.0: 1.0}, scale=1.0) == -np.inf


def test_the_law_of_a_count_path_by_path():
    initial, step = [0.2, 0.8], [[0.5, 0.5], [0.0, 1.0]]
    assert count_law(initial, step, 2, 0, 0, [0, 1]) == pytest.approx({0.0: 0.5, 1.0: 0.5})
    assert count_law(initial, step, 2, 1, 1, [0, 1]) == pytest.approx({1.0: 0.1 / 0.9, 2.0: 0.8 / 0.9})
    assert count_law(initial, step, 2, 0, 0, [[0, 1], [0, 3]]) == pytest.approx({0.0: 0.5, 3.0: 0.5})
    assert count_law([0.0, 1.0], step, 3, 1, 0, [0, 1]) == {}


def test_laplace_noise_stays_below_the_worst_mechanism_with_its_loss():
    for model in draw.models(seed=9, count=40, shapes=["chain"]):
        values = np.arange(model.sizes[0])
        joint, scale = chain_joint(model.initial, model.transition, model.length), 1.5
        assert joint == pytest.approx(model.joint(), rel=1e-12)
        losses = np.full(model.length, (len(values) - 1) / scale)
        for unit in range(model.length):
            laws = [count_law(model.initial, model.transition, model.length, unit, v, values) for v in values]
            leaked = max(laplace_leakage(*pair, scale, points=501) for pair in permutations(laws, 2))
            assert leaked <= worst_leakage(joint, losses, unit, "model") + oracle.GAP


# The draws themselves.


def test_draws_are_valid_varied_and_repeatable():
    drawn = list(draw.models(seed=10, count=350))
    assert {model.shape for model in drawn} == set(draw.SHAPES)
    for model in drawn:
        assert 3 <= len(model.sizes) <= (5 if max(model.sizes) == 2 else 4)
        assert model.joint().sum() == pytest.approx(1)
        assert model.holds_secrets()
        assert (model.losses > 0).all()
        assert {j for scope, _ in model.factors for j in scope} == set(range(len(model.sizes)))
    tables = [table for model in drawn for _, table in model.factors]
    assert sum((table == 0).any() for table in tables) > 50
    assert sum(((table > 0) & (table < 1e-3)).any() for table in tables) > 50
    assert {2, 3} == {size for model in drawn for size in model.sizes}
    assert sum(len(set(model.losses)) == 1 for model in drawn) > 30
    assert sum(model.losses.min() < 1e-3 for model in drawn) > 20
    again = list(draw.models(seed=10, count=30))
    assert all(np.array_equal(one.joint(), two.joint()) for one, two in zip(drawn, again, strict=False))


def test_a_drawn_network_is_the_product_of_its_tables():
    for model in draw.models(seed=11, count=40, shapes=["net", "tree"]):
        place = {variable.name: j for j, variable in enumerate(model.variables)}
        joint = model.joint()
        for cell in product(*(range(size) for size in model.sizes)):
            chance = 1.0
            for j, variable in enumerate(model.variables):
                row = 0
                for parent in variable.parents:  # the last parent is the fastest
                    row = row * model.sizes[place[parent]] + cell[place[parent]]
                chance *= variable.table[row, cell[j]]
            assert joint[cell] == pytest.approx(chance, abs=1e-15)
        assert all(np.allclose(variable.table.sum(axis=1), 1) for variable in model.variables)
        most = max(len(variable.parents) for variable in model.variables)
        assert most == (2 if model.shape == "net" else 1)
