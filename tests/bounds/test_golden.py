"""Every golden number of the theory page that is about finitely many values (Gaussian ones: test_gaussian.py)."""

import numpy as np
import pytest

from entwined.bounds import bound
from entwined.dependence import BayesNet, Box, MarkovChain, Variable
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from entwined.papers.golden import METHODS, symmetric_chain
from support import oracle

GOLDEN = {
    (0.10, 0.2): (500, None, 251.37, 44.98, 44.93, 44.93, 5.00),
    (0.10, 1.0): (100, None, 31.74, 8.91, 8.64, 8.64, 1.00),
    (0.25, 1.0): (100, None, 9.34, 2.97, 2.89, 2.89, 1.00),
    (0.25, 5.0): (20, 1.65, 0.36, 0.49, 0.34, 0.34, 0.20),
    (0.40, 1.0): (100, None, 3.57, 1.49, 1.47, 1.47, 1.00),
}


@pytest.mark.parametrize("place", range(len(METHODS)), ids=list(METHODS))
@pytest.mark.parametrize("case", list(GOLDEN), ids=str)
def test_golden_table(case, place):
    flip, target = case
    method = list(METHODS)[place]
    golden, scale = GOLDEN[case][place], METHODS[method](symmetric_chain(flip), target)
    if golden is None:
        assert scale is None
    else:
        assert scale == pytest.approx(golden, abs=0.00501)  # the table is printed to two decimals


def xor_net():
    fair = [[0.5, 0.5]]
    noisy = [[0.95, 0.05], [0.05, 0.95], [0.05, 0.95], [0.95, 0.05]]
    bits = ("0", "1")
    return BayesNet.of(
        [Variable("a", bits, (), fair), Variable("b", bits, (), fair), Variable("c", bits, ("a", "b"), noisy)]
    )


@pytest.mark.parametrize(("loss", "truth"), [(1.0, 1.8855), (0.5, 0.9482)])
@pytest.mark.parametrize("knowledge", ["any", "values", "model"])
def test_xor_is_never_underestimated_and_pairwise_coefficients_are_refused(loss, truth, knowledge):
    found = bound(xor_net(), Loss.uniform(loss, 3), knowledge)
    joint = np.zeros((2, 2, 2))
    for a, b, c in np.ndindex(2, 2, 2):
        joint[a, b, c] = 0.25 * (0.95 if c == a ^ b else 0.05)
    assert oracle.worst_leakage(joint, [loss] * 3, 0, "model") == pytest.approx(truth, abs=5e-5)
    known = "model" if knowledge == "model" else "values"
    assert found.leakage.per_unit[0] >= oracle.worst_leakage(joint, [loss] * 3, 0, known)
    said = {one.theorem.name: one for one in (*found.alternatives,)}
    pairwise = [one for name, one in said.items() if name.startswith("pairwise")]
    assert len(pairwise) == 2
    assert all(one.leakage is None for one in pairwise)
    if knowledge == "model":
        assert all("independent" in one.why_not for one in pairwise)


def test_parallel_composition_is_false_for_a_pair_that_is_equal_with_probability_099():
    pair = MarkovChain(2, Box.exact([[0.99, 0.01], [0.01, 0.99]]), np.array([0.5, 0.5]))
    for knowledge in ("any", "values", "model"):
        found = bound(pair, Loss.uniform(1, 2), knowledge)
        assert found.leakage.worst >= 1.9766 - 5e-5
    assert bound(pair, Loss.uniform(1, 2), "model").leakage.worst == pytest.approx(1.9766, abs=5e-5)


@pytest.mark.parametrize(
    ("same", "truth"), [(0.5, 1.000), (0.7, 1.374), (0.9, 1.776), (0.99, 1.977), (1.0, 2.000)]
)
def test_disjoint_but_dependent(same, truth):
    """TRUST 29."""
    pair = MarkovChain(2, Box.exact([[same, 1 - same], [1 - same, same]]), np.array([0.5, 0.5]))
    for knowledge in ("any", "values", "model"):
        leakage = bound(pair, Loss.uniform(1, 2), knowledge).leakage.worst
        assert leakage >= truth - 5e-4
    assert leakage == pytest.approx(truth, abs=5e-4)


def test_a_theorem_is_refused_where_it_says_nothing():
    from entwined.bounds.quilt import markov_quilt_bound

    with pytest.raises(DoesNotApply, match="not about Bayesian networks"):
        markov_quilt_bound(Loss.uniform(1, 3), xor_net())
