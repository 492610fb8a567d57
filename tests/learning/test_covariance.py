"""A covariance learned with a budget: its class holds the truth as often as it says, and the worst member counts."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from entwined.bounds.attributes.guarded import Guarded
from entwined.bounds.attributes.learned_covariance import LearnedCovariance
from entwined.bounds.attributes.linked import Linked
from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.bounds.attributes.together import noise_of
from entwined.errors import BadModel, BadQuery
from entwined.learning.covariance import learned_from
from entwined.mechanisms.moments import NoisyMoments
from entwined.promise.promise import promise_of
from entwined.queries.plain import PlainSum
from entwined.schema import Integer, Schema, Text
from support.memory_table import MemoryTable
from support.origins import CHARGED

ROWS = 400
COLUMNS = Integer("income", 0, 101), Integer("weight", 0, 200), Integer("height", 100, 231)
SCHEMA = Schema(COLUMNS, rows=ROWS).approve()
NAMES = ("income", "weight", "height")
COVARIANCE = np.array([[100.0, -60.0, 20.0], [-60.0, 225.0, 60.0], [20.0, 60.0, 64.0]])


def moments(loss, delta=None):
    promise = promise_of(SCHEMA, delta=delta)
    return NoisyMoments.of(promise, NAMES, loss), promise


def exact_sums(rows):
    """The sums by hand, from the middle of each column in steps or half steps."""
    middles = [(column.low + column.high) / 2 for column in COLUMNS]
    scales = [1 if middle == int(middle) else 2 for middle in middles]
    table = np.array(
        [
            scale * (rows[:, at] - middle)
            for at, (middle, scale) in enumerate(zip(middles, scales, strict=True))
        ]
    )
    pairs = [(at, other) for at in range(3) for other in (at, *range(at))]
    return [*table.sum(axis=1), *((table[at] * table[other]).sum() for at, other in pairs)]


def drawn(rng, rows=ROWS):
    return np.rint(rng.multivariate_normal([50, 90, 170], COVARIANCE, rows)).clip(
        [0, 0, 100], [101, 200, 231]
    )


def test_sums_are_those_of_the_rows_and_no_row_moves_them_further_than_charged():
    rng = np.random.default_rng(6)
    mechanism, promise = moments("0.5")
    rows = drawn(rng)
    table = MemoryTable(SCHEMA, [dict(zip(NAMES, map(int, row), strict=True)) for row in rows])
    found = [int(one[0]) for one in table.answer([one.aggregate for one in mechanism.sums.statistics])]
    assert found == exact_sums(rows)
    ends = list(product(*((column.low, column.high, (column.low + column.high) // 2) for column in COLUMNS)))
    single = np.array([exact_sums(np.array([end], float)) for end in ends])
    moved = np.abs(single[:, None] - single[None]).max(axis=(0, 1))
    charged = [float(promise_change(promise, one)) for one in mechanism.sums.statistics]
    assert (moved <= np.array(charged) + 1e-9).all()
    assert sum(float(part.both) for part in mechanism.parts(promise)) <= 9 * 0.5 * (1 + 1e-6)


def promise_change(promise, statistic):
    return max(part.worst(promise.schema) for part in promise.measure.parts(statistic, promise.schema))


@pytest.mark.parametrize("loss", ["0.5", "5", "50000"])
def test_the_class_holds_the_truth_as_often_as_it_says(loss):
    """Of 200 tables at most 5 % may be missed; a false alarm at twice that has a chance below 10⁻³."""
    rng, missed, wide = np.random.default_rng(7), 0, []
    mechanism, _ = moments(loss)
    scales = np.array([float(noise.scale) for noise in mechanism.noises])
    for _ in range(200):
        sums = np.array(exact_sums(drawn(rng)))
        noisy = sums + np.rint(rng.laplace(0, scales))
        learned = learned_from(mechanism, tuple(int(one) for one in noisy), Fraction(95, 100), CHARGED)
        try:
            laws = {law.column: law for law in learned.linked("income")}
        except BadModel:
            continue
        wide.append(float(laws["weight"].slope.high - laws["weight"].slope.low))
        holds = all(
            law.slope.low <= Fraction(COVARIANCE[0, at] / 100) <= law.slope.high
            and law.sd.low
            <= Fraction(math.sqrt(COVARIANCE[at, at] - COVARIANCE[0, at] ** 2 / 100))
            <= law.sd.high
            for law, at in ((laws["weight"], 1), (laws["height"], 2))
        )
        missed += not holds
    assert missed <= 22
    assert len(wide) > 100
    assert loss != "5" or np.median(wide) < 1.4


def test_the_worst_member_counts():
    mechanism, _ = moments("50")
    learned = learned_from(
        mechanism,
        tuple(int(one) for one in exact_sums(drawn(np.random.default_rng(8)))),
        Fraction(9, 10),
        CHARGED,
    )
    secret = ColumnSecret.of("income", [48, 52], rows=50, epsilon=1, delta="0.001", figure="mean")
    laws = learned.linked("income")
    asked = (PlainSum("weight"),)
    worst = noise_of((Guarded(secret, laws),), asked).variances[0]
    weight = next(law for law in laws if law.column == "weight")
    for slope, sd in product((weight.slope.low, weight.slope.high), (weight.sd.low, weight.sd.high)):
        member = Guarded(secret, (Linked.of("weight", slope, sd),))
        assert noise_of((member,), asked).variances[0] <= worst
    kept = Guarded(secret, laws, (), None, learned.words)
    assert Guarded.from_document(kept.document) == kept
    assert any("learned from" in line for line in kept.trusted)
    assert LearnedCovariance.from_document(learned.document) == learned


def test_gaussian_noise_learns_too_and_what_cannot_be_is_refused():
    mechanism, promise = moments("0.05", delta="1e-6")
    assert NoisyMoments.from_document(mechanism.document, promise) == mechanism
    with pytest.raises(BadQuery, match="2 to 12"):
        NoisyMoments.of(promise, ["income"], 1)
    with pytest.raises(BadQuery, match="public number of rows"):
        NoisyMoments.of(promise_of(Schema(COLUMNS, most_rows=500).approve()), NAMES, 1)
    with pytest.raises(BadQuery, match="never queried"):
        NoisyMoments.of(
            promise_of(Schema((*COLUMNS, Text("name", compare="exact")), rows=ROWS).approve()),
            ("income", "name"),
            1,
        )
    nothing = tuple([0] * 9)
    with pytest.raises(BadModel, match="may not vary at all"):
        learned_from(moments("0.001")[0], nothing, Fraction(1, 2), CHARGED).linked("income")
