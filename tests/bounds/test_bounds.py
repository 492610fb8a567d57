"""Every theorem against the exact oracle: never below the truth, and close to it where it should be."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from entwined.bounds.choose import THEOREMS, bound
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from support import draw, oracle
from support.product import product_model

MODELS, CHUNKS, EVERY_COMMIT = 2_100, 14, 2
ROUNDING = 1e-7  # the oracle is right to 1e-8


def too_low(leakage, truth):
    return leakage < truth * (1 - ROUNDING) - 1e-9


@pytest.mark.parametrize(
    "chunk",
    [*range(EVERY_COMMIT), *(pytest.param(n, marks=pytest.mark.slow) for n in range(EVERY_COMMIT, CHUNKS))],
)
def test_no_bound_is_below_the_truth(chunk):
    """On 2,100 random models, 600 of them at every commit, each theorem for the knowledge that it covers."""
    answered = dict.fromkeys((theorem.name for theorem in THEOREMS), 0)
    for drawn in draw.models(seed=chunk, count=MODELS // CHUNKS):
        model, joint = product_model(drawn), drawn.joint()
        truths = oracle.worst_leakages_by_knowledge(joint, drawn.losses)
        truths["any"] = truths["values"]  # tilts are in test_knowledge
        for theorem in THEOREMS:
            try:
                leakage = theorem(Loss(drawn.losses), model).per_unit
            except DoesNotApply:
                continue
            answered[theorem.name] += 1
            wrong = too_low(leakage, truths[theorem.knowledge])
            assert not wrong.any(), (theorem.name, drawn, leakage, truths[theorem.knowledge])
    silent = {name for name, count in answered.items() if count == 0}
    assert not {"group", "message passing", "self avoiding walks", "influence matrix", "elimination"} & silent
    assert not {"tilted transport", "transport", "elimination without knowledge"} & silent
    assert not {"markov quilt", "tree quilt", "network quilt"} & silent


def test_a_bound_that_is_a_little_too_low_is_caught():
    """The mutant: message passing with every log odds 10 % too small."""
    from entwined.bounds.loopy import loopy_leakage
    from entwined.dependence import Couplings

    caught = 0
    for drawn in draw.models(seed=99, count=30):
        truth = oracle.worst_leakages(drawn.joint(), drawn.losses, "values")
        whole = product_model(drawn).couplings
        weak = Couplings(whole.units, whole.factor, whole.unit, whole.log_odds * 0.9)
        caught += too_low(loopy_leakage(drawn.losses, weak), truth).any()
    assert caught > 0


def plain_table(rng, *shape):
    return np.exp(rng.normal(0, rng.choice([0.5, 1.0]), shape))


def plain_models(rng, shape, count):
    """Positive tables of moderate strength: what a modeller would write."""
    for _ in range(count):
        values = 2 if shape == "binary tree" else int(rng.integers(2, 4))
        units = 4 if values == 2 else 3
        losses = rng.uniform(0.1, 1.5, units)
        if shape == "binary tree":
            scopes = [(int(rng.integers(child)), child) for child in range(1, units)]
        elif shape == "loopy graph":
            ring = [(place, place + 1) for place in range(units - 1)] + [(0, units - 1)]
            scopes = ring if rng.random() < 0.5 else list(combinations(range(units), 2))
        else:
            scopes = [(0,), (0, 1)]
            scopes += [
                (*sorted(rng.choice(child, 2, replace=False).tolist()), child) for child in range(2, units)
            ]
        factors = [(scope, plain_table(rng, *(values for _ in scope))) for scope in scopes]
        if shape == "two-parent network":
            factors = [(scope, table / table.sum(axis=-1, keepdims=True)) for scope, table in factors]
            yield as_net(factors, values, losses)
        else:
            yield draw.Model(shape, (values,) * units, tuple(factors), losses)


@cache
def plain_truths(shape):
    """Sixty plain models with their exact leakages, for every test of how close the bounds are."""
    drawn = list(plain_models(np.random.default_rng(20), shape, 60))
    return [(model, oracle.worst_leakages_by_knowledge(model.joint(), model.losses)) for model in drawn]


def as_net(factors, values, losses):
    variables = tuple(
        draw.Variable(
            f"x{scope[-1]}", values, tuple(f"x{parent}" for parent in scope[:-1]), table.reshape(-1, values)
        )
        for scope, table in factors
    )
    return draw.Net("two-parent network", (values,) * len(factors), tuple(factors), losses, variables)


@pytest.mark.parametrize(
    ("shape", "within", "tilted"),
    [("binary tree", 1.05, 1.05), ("loopy graph", 1.30, 1.30), ("two-parent network", 1.30, 1.60)],
)
@pytest.mark.parametrize("knowledge", ["any", "values", "model"])
def test_bounds_are_close_to_the_truth_on_average(shape, within, tilted, knowledge):
    """Of any knowledge only the values are tried, so the truth is a little larger than here."""
    ratios = []
    known, within = ("values", tilted) if knowledge == "any" else (knowledge, within)
    for drawn, truths in plain_truths(shape):
        found = bound(product_model(drawn), Loss(drawn.losses), knowledge)
        ratios.append(float(np.mean(found.leakage.per_unit / truths[known])))
    print(
        f"{shape}, knowledge {knowledge}: mean {np.mean(ratios):.4f}, worst {np.max(ratios):.4f} of the exact leakage"
    )
    assert 1 <= np.mean(ratios) <= within


def test_message_passing_alone_is_close_on_binary_trees_and_loops():
    """What a large model gets, where elimination is out of reach."""
    from entwined.bounds.messages import message_passing_bound

    for shape, within in (("binary tree", 1.05), ("loopy graph", 1.40)):
        ratios = [
            np.mean(
                message_passing_bound(Loss(drawn.losses), product_model(drawn)).per_unit / truths["values"]
            )
            for drawn, truths in plain_truths(shape)
        ]
        assert np.mean(ratios) <= within, (shape, np.mean(ratios))
