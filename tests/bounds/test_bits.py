"""Counts with Laplace noise by their own profile: exact hockey sticks, alone and on trees."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, bound, certify, verify
from entwined.bounds.profiles.bits import BitsCurve, scaled
from entwined.bounds.profiles.curves import GaussianCurve, PureCurve, epsilon_at_delta
from entwined.bounds.profiles.gaussian import shift_of
from entwined.bounds.separable import separable_messages_bound, separable_transport_bound
from entwined.dependence import BayesNet, Variable
from entwined.errors import BadLoss
from entwined.noise.dominated import rho_of_pure

DELTA = Fraction(1, 10**3)
EPSILONS = np.linspace(0, 4, 81)
PLACES = np.arange(-60, 62)


def noisy(count, scale):
    """The law of a count with discrete Laplace noise, by its formula; what is cut off is below 1e-13."""
    weights = np.exp(-np.abs(PLACES - count) / scale)
    return weights / weights.sum()


def stick(one, other, gamma):
    return max(np.maximum(one - gamma * other, 0.0).sum(), np.maximum(other - gamma * one, 0.0).sum())


@pytest.mark.parametrize("many", [1, 2])
@pytest.mark.parametrize("scale", [Fraction(1), Fraction(5, 2)])
def test_counts_that_move_by_one_show_exactly_so_many_bits(many, scale):
    laws = [noisy(count, float(scale)) for count in (0, 1)]
    if many == 2:  # one cell loses the row that another one gains
        laws = [np.outer(laws[0], laws[1]).ravel(), np.outer(laws[1], laws[0]).ravel()]
    truth = [stick(*laws, math.exp(epsilon)) for epsilon in EPSILONS]
    found = BitsCurve(((1 / scale, many),)).at(np.expm1(EPSILONS))
    assert found == pytest.approx(truth, abs=1e-12)
    assert (found >= np.array(truth) - 1e-13).all()


def test_unequal_bits_are_summed_over_all_their_values():
    bits = ((Fraction(1, 3), 2), (Fraction(1, 2), 1))
    odds = [1 / 3, 1 / 3, 1 / 2]
    for epsilon in EPSILONS[:30]:
        truth = 0.0
        for signs in product((1, -1), repeat=3):
            loss = sum(sign * one for sign, one in zip(signs, odds, strict=True))
            chance = math.prod(1 / (1 + math.exp(-sign * one)) for sign, one in zip(signs, odds, strict=True))
            truth += chance * max(1 - math.exp(epsilon - loss), 0.0)
        (found,) = BitsCurve(bits).at(np.expm1([epsilon]))
        assert truth <= found <= truth * (1 + 1e-12) + 1e-14


def test_they_show_no_more_than_the_gaussian_of_their_charge_and_than_their_pure_loss():
    for loss, many in product((Fraction(1, 20), Fraction(1, 2), Fraction(2)), (1, 2, 9)):
        found = BitsCurve(((loss, many),)).at(np.expm1(EPSILONS))
        assert (found <= GaussianCurve(shift_of(many * rho_of_pure(loss))).at(np.expm1(EPSILONS))).all()
        assert (found <= PureCurve(float(many * loss)).at(np.expm1(EPSILONS)) + 1e-12).all()
    crowd = tuple((Fraction(1, 100 + k), 3) for k in range(8))  # too many sums: as one truthful answer
    assert epsilon_at_delta(BitsCurve(crowd), DELTA) <= sum(float(loss * many) for loss, many in crowd) * (
        1 + 1e-9
    )


STEP = [[0.8, 0.2], [0.3, 0.7]]
TREE = BayesNet.of(
    [
        Variable("a", ("0", "1"), (), [[0.4, 0.6]]),
        Variable("b", ("0", "1"), ("a",), STEP),
        Variable("c", ("0", "1"), ("a",), STEP),
    ]
)
CHANCES = np.array(
    [(0.4, 0.6)[a] * STEP[a][b] * STEP[a][c] for a, b, c in product((0, 1), repeat=3)]
).reshape(2, 2, 2)


def counted(scales):
    """One count of each unit, with noise: what is shown of the others sums the joint law over what is not known."""
    bits = tuple(((1 / scale, 1),) for scale in scales)
    rhos = [rho_of_pure(1 / scale) for scale in scales]
    loss = ConcentratedLoss.of(rhos, DELTA, gaussian=True, separable=True)
    return loss.drawn(bits)


def exact(unit, known, values, scales, gamma):
    """E_γ between two values of a unit given some others; each count is one bit that tells 0 from 1."""
    true = [1 / (1 + math.exp(-1 / float(scale))) for scale in scales]
    told = np.array([[1 - p, p] for p in true])  # the chance of the bit 1 where the answer is 1 is p
    laws = []
    for value in (0, 1):
        fixed = {unit: value, **dict(zip(known, values, strict=True))}
        law = np.zeros((2, 2, 2))
        for answers in product((0, 1), repeat=3):
            if all(answers[j] == v for j, v in fixed.items()):
                channel = [told[j] if answers[j] else told[j][::-1] for j in range(3)]
                law += CHANCES[answers] * np.einsum("i,j,k->ijk", *channel)
        laws.append(law / law.sum())
    return stick(*laws, gamma)


@pytest.mark.parametrize(
    "theorem", [separable_messages_bound, separable_transport_bound], ids=lambda one: one.name
)
def test_no_tree_of_counts_shows_more_than_the_theorem_says(theorem):
    """The sign of z − ½ is all that a count with discrete Laplace noise tells of an answer."""
    seen = 0
    for scales in product((Fraction(1), Fraction(2), Fraction(4)), repeat=3):
        found = theorem(counted(scales), TREE).per_unit
        dominated = theorem(ConcentratedLoss(counted(scales).rhos, 3, DELTA, True, True), TREE).per_unit
        assert (found < dominated).all()
        for unit in range(3):
            others = [j for j in range(3) if j != unit]
            sets = (
                [()]
                if theorem is separable_transport_bound
                else [k for n in range(3) for k in combinations(others, n)]
            )
            for known in sets:
                for values in product((0, 1), repeat=len(known)):
                    truth = exact(unit, known, values, scales, math.exp(found[unit]))
                    assert truth <= float(DELTA) * (1 + 1e-9), (scales, unit, known)
                    seen += 1
    assert seen >= 81
    alone = exact(0, (), (), scales, math.exp(0.97 * found[0]))
    assert theorem is separable_messages_bound or alone > float(DELTA)  # it is tight


def test_they_are_certified_verified_and_scaled():
    loss = counted((Fraction(2),) * 3)
    document = certify(bound(TREE, loss, "any")).document
    assert verify(document).valid
    assert "Laplace noise" in document["guarantee"]
    document["inputs"]["loss"]["bits"][1][0][0] = "1/4"
    assert not verify(document).valid
    assert ConcentratedLoss.from_document(loss.document).document == loss.document
    ((half, _),) = scaled(((Fraction(1, 2), 2),), Fraction(1, 4))
    assert float(rho_of_pure(half)) == pytest.approx(float(rho_of_pure(Fraction(1, 2))) / 4, rel=1e-9)
    assert (loss * 4).bits[0][0][0] > loss.bits[0][0][0]
    assert loss.padded(4).bits[3] == loss.without([1]).bits[1] == ()
    assert loss.widened(5).bits == ()  # of units of which nothing is known the charge says enough


def test_bits_are_for_separable_batches():
    with pytest.raises(BadLoss, match="separable"):
        ConcentratedLoss((Fraction(1),), 1, DELTA, True, bits=(((Fraction(1), 1),),))
    with pytest.raises(BadLoss, match="no loss"):
        ConcentratedLoss((Fraction(1),), 1, DELTA, True, True, bits=(((Fraction(0), 1),),))
