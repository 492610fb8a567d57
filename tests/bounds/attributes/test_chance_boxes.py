"""Counts whose chances lie between two ends: no member of the class is told apart better than the bound says."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from entwined.bounds.attributes.chance_boxes import ChanceBox, chances_from
from entwined.bounds.attributes.enumerated import least_enumerated, pairs_of_laws, slip_of
from entwined.bounds.attributes.guarded import Guarded
from entwined.bounds.attributes.secrets import ColumnSecret, Span
from entwined.bounds.attributes.summed_laws import RowChances
from entwined.errors import BadModel, Refused


def secret(rows, apart=((0.25, 0.5), (0.5, 0.75)), **more):
    given = {"epsilon": 1, "delta": "0.01", "value": "female"} | more
    return ColumnSecret.of("sex", [list(one) for one in apart], rows=rows, **given)


def box(inside, others):
    return ChanceBox(Span.of(list(inside)), Span.of(list(others)))


def law_of(chances):
    total = np.ones(1)
    for chance in chances:
        total = np.convolve(total, [1 - chance, chance])
    return total


def exact(one, other, variance, gamma):
    far = int(10 * math.sqrt(variance)) + 2
    steps = np.arange(-far, far + 1)
    noise = np.exp(-(steps**2) / (2 * variance)) if variance else (steps == 0) * 1.0
    p, q = (np.convolve(law, noise / noise.sum()) for law in (one, other))
    return max(np.maximum(p - gamma * q, 0).sum(), np.maximum(q - gamma * p, 0).sum())


BOXES = [
    ((0.2, 0.3), (0.05, 0.15)),
    ((0.4, 0.6), (0.45, 0.55)),
    ((0.0, 0.2), (0.1, 0.1)),
    ((0.7, 0.95), (0.5, 1.0)),
]


@pytest.mark.parametrize(("inside", "others"), BOXES)
@pytest.mark.parametrize("rows", [8, 40])
def test_no_member_is_told_apart_better(inside, others, rows):
    rng, kept = np.random.default_rng(rows), secret(rows)
    law = box(inside, others)
    for variance in (0, 4, 60):
        bound = slip_of(pairs_of_laws(kept, law), kept.epsilon, Fraction(variance), in_order=True)
        for few, many in product(kept.counts(kept.apart[0][0]), kept.counts(kept.apart[0][1])):
            if rows > 8 and (few, many) != (10, 30):
                continue
            for turn in range(6):
                corner = turn < 4
                if corner:  # one chance for all rows with the value, and one for the others
                    p, q = inside[turn % 2], others[turn // 2]
                    ones, zeros = np.full(rows, p), np.full(rows, q)
                else:  # a chance of its own for every row
                    ones, zeros = rng.uniform(*inside, rows), rng.uniform(*others, rows)
                laws = [law_of([*ones[:count], *zeros[count:]]) for count in (few, many)]
                assert exact(*laws, variance, math.e) <= bound


def test_noise_keeps_every_member_and_is_hardly_more_than_that_of_the_worst():
    kept, law = secret(200), box((0.28, 0.30), (0.10, 0.11))
    variance, _ = least_enumerated(kept, law)
    worst = 0.0
    for p, q in product((0.28, 0.30), (0.10, 0.11)):
        laws = [
            np.convolve(
                stats.binom.pmf(np.arange(k + 1), k, p), stats.binom.pmf(np.arange(201 - k), 200 - k, q)
            )
            for k in (50, 150)
        ]
        worst = max(worst, exact(*laws, float(variance), math.e))
    assert worst <= 0.01
    alone, _ = least_enumerated(kept, RowChances.counting("0.30", "0.10"))
    assert alone < variance < 1.35 * alone


def test_a_box_of_one_point_is_that_point():
    kept = secret(60)
    point, exactly = box((0.3, 0.3), (0.1, 0.1)), RowChances.counting("0.3", "0.1")
    one, other = (
        slip_of(pairs_of_laws(kept, law), kept.epsilon, Fraction(30), in_order=True)
        for law in (point, exactly)
    )
    assert one == pytest.approx(other, abs=5e-5)
    assert one >= other


def test_written_and_refused():
    law = box((0.2, 0.3), (0.05, 0.15))
    assert chances_from(law.document) == law
    assert chances_from(RowChances.counting("0.3", "0.1").document) == RowChances.counting("0.3", "0.1")
    guard = Guarded(secret(40), (), (("ill", law),))
    assert Guarded.from_document(guard.document) == guard
    with pytest.raises(Refused, match="averaged"):
        Guarded(secret(40, reading="averaged"), (), (("ill", law),))
    with pytest.raises(BadModel, match="from 0 to 1"):
        box((0.2, 1.3), (0, 1))
