"""One secret over several columns: every move of their figures together is kept, and no less noise would do."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from entwined.bounds.attributes.joint_noise import JointNoise
from entwined.bounds.attributes.joint_secrets import JointGuard, JointLaw, JointSecret
from entwined.bounds.attributes.linked import from_covariance
from entwined.bounds.attributes.secrets import ColumnSecret, Span
from entwined.bounds.attributes.together import keeps, noise_of
from entwined.errors import BadInput, BadModel, Refused
from entwined.promise.secrets import KeptSecrets
from entwined.queries.plain import PlainSum

ROWS, DELTA = 100, 0.01
STEPS = (-1, -0.5, 0, 0.5, 1)


def part(column, apart=((0.25, 0.5), (0.5, 0.75)), **more):
    given = {"rows": ROWS, "epsilon": 1, "delta": "0.01", "value": "yes"} | more
    return ColumnSecret.of(column, [list(one) for one in apart], **given)


def guard(slopes, sds, correlation=None):
    secret = JointSecret((part("sex"), part("smoker", ((0.1, 0.2), (0.2, 0.3)))))
    laws = tuple(
        JointLaw(name, tuple(Span.of(one) for one in each), Span.of(sd))
        for name, each, sd in zip("xy", slopes, sds, strict=False)
    )
    told = correlation and tuple(tuple(Fraction(str(one)) for one in row) for row in correlation)
    return JointGuard(secret, laws, told)


def slip(mu):
    return 0.0 if mu == 0 else stats.norm.cdf(mu / 2 - 1 / mu) - math.e * stats.norm.cdf(-mu / 2 - 1 / mu)


def test_every_move_together_is_kept_and_signs_do_not_cancel():
    kept = guard([([-12, -10], [4, 5])], [15])
    variance = float(noise_of((kept,), (PlainSum("x"),)).variances[0])
    worst = 0.0
    for sex, smoker, first, second in product(STEPS, STEPS, (-12, -10), (4, 5)):
        moved = ROWS * abs(first * 0.5 * sex + second * 0.2 * smoker)
        worst = max(worst, slip(moved / math.sqrt(ROWS * 15**2 + variance)))
    assert 0.9 * DELTA < worst <= DELTA
    alone = ROWS * 12 * 0.5 / math.sqrt(ROWS * 15**2 + variance)
    assert slip(alone) < 0.6 * DELTA  # a secret of one column alone would have less noise


def test_several_answers_are_kept_for_every_choice_of_signs():
    slopes, sds = [(-12, 5), (3, 6)], (15, 12)
    kept = guard(slopes, sds, [[1, 0.3], [0.3, 1]])
    asked = PlainSum("x"), PlainSum("y")
    noise = noise_of((kept,), asked)
    assert keeps((kept,), asked, noise)
    own = ROWS * np.array([[225, 0.3 * 180], [0.3 * 180, 144]])

    def worst(noise):
        total = np.linalg.inv(noise.counted + own)
        moves = [ROWS * np.array(slopes) @ [0.5 * sex, 0.2 * smoker] for sex, smoker in product(STEPS, STEPS)]
        return max(slip(math.sqrt(move @ total @ move)) for move in moves)

    assert 0.9 * DELTA < worst(noise) <= DELTA
    less = JointNoise(
        tuple(one * Fraction(64, 100) for one in noise.variances),
        noise.direction,
        noise.along * Fraction(64, 100),
    )
    assert worst(less) > DELTA
    assert not keeps((kept,), asked, less)


def test_jointly_normal_columns_have_their_slopes_in_all_protected_ones():
    names = ["a", "b", "y"]
    matrix = [[4.0, 1.0, 2.0], [1.0, 9.0, -3.0], [2.0, -3.0, 16.0]]
    parts = tuple(part(name, ((0, 1), (1, 2)), figure="mean", value="") for name in "ab")
    kept = JointGuard.from_covariance(JointSecret(parts), names, matrix)
    expected = np.linalg.solve(np.array(matrix)[:2, :2], np.array(matrix)[:2, 2])
    assert [float(one.low) for one in kept.laws[0].slopes] == pytest.approx(expected.tolist())
    rest = 16 - expected @ np.array(matrix)[:2, 2]
    assert float(kept.laws[0].sd.low) == pytest.approx(math.sqrt(rest))
    moved = kept.combined({"y": Fraction(1)})
    assert float(moved.shift) == pytest.approx(ROWS * 2 * np.abs(expected).sum())
    single = from_covariance("a", ["a", "y"], [[4.0, 2.0], [2.0, 16.0]])
    assert float(single.columns[0].slope.low) == pytest.approx(0.5)


def test_documents_and_refusals():
    kept = guard([(-12, 5)], [15])
    both = KeptSecrets((kept,), individuals=False)
    assert KeptSecrets.from_document(both.document) == both
    assert "alone or together" in both.says
    assert any("add up" in line for line in both.trusted)
    with pytest.raises(Refused, match="nothing is proved of counts"):
        kept.least(PlainSum("", "ill"))
    with pytest.raises(BadInput, match="2 to 4"):
        JointSecret((part("sex"),))
    with pytest.raises(BadInput, match="one number of rows"):
        JointSecret((part("sex"), part("smoker", rows=50)))
    with pytest.raises(BadModel, match="one for each"):
        guard([(-12,)], [15])
    with pytest.raises(BadModel, match="means, not shares"):
        JointGuard(kept.secret, kept.laws, None, normal=True)
