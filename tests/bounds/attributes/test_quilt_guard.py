"""Secrets kept by a network of parameters: whole numbers with discrete Gaussian noise never slip more than δ."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from entwined.bounds.attributes.laplace_noise import least_laplace, shown_of
from entwined.bounds.attributes.noisy_columns import ValueSets
from entwined.bounds.attributes.quilt_guard import ParameterSecret, QuiltGuard
from entwined.bounds.attributes.together import curve, keeps, noise_of, veil_keeps
from entwined.bounds.profiles.gaussian import largest_gaussian_rho
from entwined.dependence import BayesNet, Graph, Variable
from entwined.errors import BadInput, BadLoss, BadModel, Unreachable
from entwined.promise.secrets import KeptSecrets
from entwined.queries.plain import PlainSum
from support.parameter_networks import random_network

DELTA = Fraction(1, 100)


def secret(column, epsilon, apart=(), **more):
    return ParameterSecret(column, tuple(apart), 1, Fraction(epsilon), DELTA, **more)


def drawn_sum(rng, drawn):
    """An answer to a table of one row: what it reads, how far it moves, and its value for every table."""
    names, shape = drawn.network.names, tuple(cells.shape[1] for cells in drawn.cells)
    read = sorted(
        rng.choice(len(names), int(rng.integers(1, min(3, len(names)) + 1)), replace=False).tolist()
    )
    inside = rng.integers(0, 3, [shape[j] for j in read])
    inside.flat[0] += inside.max() == inside.min()
    answers = np.broadcast_to(
        inside.reshape([shape[j] if j in read else 1 for j in range(len(shape))]), shape
    )
    reads = tuple(names[j] for j in read)
    return PlainSum("", "made up", reads=reads, span=Fraction(int(inside.max() - inside.min()))), answers


def laws_of(drawn, place, answers):
    """The joint law of several answers given each value of a parameter that can occur: one axis an answer."""
    law = drawn.joint
    for axis, cells in enumerate(drawn.cells):
        if axis != place:
            law = np.moveaxis(np.moveaxis(law, axis, -1) @ cells, -1, axis)
    law = np.moveaxis(law, place, 0)[..., None] * drawn.cells[place].reshape(
        law.shape[place], *([1] * (law.ndim - 1)), -1
    )
    law = law.reshape(law.shape[0], -1)
    places = [np.moveaxis(one, place, -1).ravel() for one in answers]
    found = []
    for row in law[law.sum(axis=1) > 0]:
        table = np.zeros([int(one.max()) + 1 for one in answers])
        np.add.at(table, tuple(places), row / row.sum())
        found.append(table)
    return found


def noisy(table, variances):
    """Add independent discrete Gaussian noise to each answer."""
    for axis, variance in enumerate(variances):
        if variance:
            far = int(12 * float(variance) ** 0.5) + 2
            steps = np.arange(-far, far + 1)
            weights = np.exp(-(steps**2) / (2 * float(variance)))
            weights /= weights.sum()
            table = np.apply_along_axis(lambda line, by=weights: np.convolve(line, by), axis, table)
    return table


def slipped(laws, variances, epsilon):
    out = [noisy(table, variances) for table in laws]
    return max(np.maximum(p - np.exp(epsilon) * q, 0).sum() for p, q in permutations(out, 2))


def test_one_answer_and_several_keep_what_is_promised():
    rng, free, hidden = np.random.default_rng(51), 0, 0
    for turn in range(40):
        drawn = random_network(rng, 4)
        place, epsilon = int(rng.integers(drawn.network.units)), Fraction(int(rng.integers(2, 25)), 10)
        guard = QuiltGuard.of(secret(f"c{place}", epsilon), drawn.network)
        asked, answers = zip(*(drawn_sum(rng, drawn) for _ in range(1 + turn % 2)), strict=True)
        noise = noise_of((guard,), asked)
        assert keeps((guard,), asked, noise)
        assert not noise.direction  # boxes of differences have no direction in common
        variances = noise.variances
        laws = laws_of(drawn, place, answers)
        truth = slipped(laws, variances, float(epsilon))
        assert truth <= float(DELTA) * (1 + 1e-9)
        for level, told in zip((0.0, 0.5, 2.0), curve(guard, asked, noise, [0.0, 0.5, 2.0]), strict=True):
            assert told >= slipped(laws, variances, level) - 1e-9
        free += not any(variances)
        hidden += truth > 0.2 * float(DELTA)
    assert free > 2
    assert hidden > 0


def test_laplace_noise_keeps_epsilon_for_certain():
    """Two answers with scales of their own: the largest log ratio of their joint law, on random networks."""
    rng, free, near = np.random.default_rng(53), 0, []
    for _ in range(60):
        drawn = random_network(rng, 4)
        place = int(rng.integers(len(drawn.network.names)))
        (one, first), (two, second) = drawn_sum(rng, drawn), drawn_sum(rng, drawn)
        kept = ParameterSecret(
            drawn.network.names[place], (), 1, Fraction(str(rng.choice([0.3, 1, 2]))), Fraction(0)
        )
        guard = QuiltGuard.of(kept, drawn.network)
        try:
            least = least_laplace((guard,), (one, two))
        except Unreachable:
            continue
        noise = least.at_least([Fraction(int(rng.integers(0, 4))), Fraction(0)]) if any(least.own) else least
        assert veil_keeps((guard,), (one, two), noise)
        found = log_ratio(laws_of(drawn, place, [first, second]), [float(scale) for scale in noise.own])
        assert found <= float(kept.epsilon) * (1 + 1e-9)
        assert found <= shown_of(guard, (one, two), noise)
        free += noise.is_none
        near.append(found / float(kept.epsilon))
    assert 1 < free < 40
    assert max(near) > 0.8


def log_ratio(laws, scales):
    """The largest log ratio of outputs under independent Laplace noise: reached at outputs among the answers' ends."""
    shape = laws[0].shape
    outputs = []
    for law in laws:
        seen = law
        for axis, (size, scale) in enumerate(zip(shape, scales, strict=True)):
            places = np.arange(size)
            kernel = np.exp(-np.abs(places[:, None] - places) / scale) if scale else np.eye(size)
            seen = np.moveaxis(np.tensordot(kernel, seen, (1, axis)), 0, axis)
        outputs.append(seen)
    with np.errstate(divide="ignore", invalid="ignore"):
        return max(float(np.nanmax(np.log(p) - np.log(q), initial=0.0)) for p, q in permutations(outputs, 2))


def test_what_a_quilt_shows_is_not_spent_twice():
    """One column shows little and moves far, another shows all and moves less: noise hides the latter alone."""
    network = BayesNet.of(
        [
            Variable("x", ("0", "1"), (), [[0.5, 0.5]]),
            Variable("far", ("0", "1"), ("x",), [[0.6, 0.4], [0.4, 0.6]]),
            Variable("near", ("0", "1"), ("x",), [[1.0, 0.0], [0.0, 1.0]]),
        ]
    )
    guard = QuiltGuard.of(secret("x", "1"), network)
    far = PlainSum("", "far", reads=("far",), span=Fraction(100))
    near = PlainSum("", "near", reads=("near",), span=Fraction(20))
    left = Fraction(1) - Fraction(math.log(1.5))
    needed = 400 / (2 * float(largest_gaussian_rho(left, DELTA))) + 3
    variances = noise_of((guard,), (far, near)).variances
    assert float(variances[1]) == pytest.approx(needed, rel=1e-3)
    assert float(variances[0]) < 7
    both = PlainSum("", "a sum", reads=("far", "near"), span=Fraction(40))
    assert guard.least(both) > guard.least(near) > 0
    assert guard.least(far) == 0
    tables = [np.zeros((101, 21)), np.zeros((101, 21))]
    for value, table in enumerate(tables):
        table[0, 20 * value], table[100, 20 * value] = (0.6, 0.4) if value == 0 else (0.4, 0.6)
    assert slipped(tables, variances, 1.0) <= float(DELTA)
    assert slipped(tables, (variances[0], variances[1] * Fraction(16, 25)), 1.0) > float(DELTA)


def test_sets_of_values_and_documents():
    drawn = random_network(np.random.default_rng(52), 4)
    values = drawn.network.values[0]
    told = secret("c0", 1, [ValueSets("c0", values[:1], values[1:])], reading="averaged", name="the first")
    guard = QuiltGuard.of(told, drawn.network)
    assert QuiltGuard.from_document(guard.document) == guard
    assert hash(QuiltGuard.from_document(guard.document)) == hash(guard)
    kept = KeptSecrets((guard,), individuals=False)
    assert KeptSecrets.from_document(kept.document) == kept
    assert "whether the law that c0 is drawn by is 0, or 1" in kept.says
    assert any("average over its points" in line for line in kept.trusted)
    everything = PlainSum("", "every row")  # reads no column: the number of rows is public
    assert guard.least(everything) == 0


def test_what_cannot_be_kept_is_refused():
    drawn = random_network(np.random.default_rng(53), 4)
    with pytest.raises(BadModel, match="kind bayes_net"):
        QuiltGuard.of(secret("c0", 1), Graph(3, np.array([[0, 1]]), 0.5))
    with pytest.raises(BadModel, match="Add it"):
        QuiltGuard.of(secret("age", 1), drawn.network)
    with pytest.raises(BadLoss, match="values of the network"):
        QuiltGuard.of(secret("c0", 1, [ValueSets("c0", ("0",), ("none",))]), drawn.network)
    with pytest.raises(BadInput, match="Give an ε"):
        secret("c0", 0)
