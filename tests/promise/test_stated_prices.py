"""Prices worked out a second time, from the noise itself and with columns of unequal losses."""

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from entwined.errors import BadLoss
from entwined.promise.measure import measure_of
from entwined.promise.price import Price
from entwined.queries import Count, Histogram, parse
from entwined.request.verbs import plan
from entwined.schema import Categorical, Cells, Schema

NAMES = ("a", "b", "c")
COLUMNS = tuple(Categorical(name, ("x", "y")) for name in NAMES)
CELLS = Schema(COLUMNS, unit=Cells(), rows=40).approve()
SHARES = (("0.6", "0.3", "0.1"), ("0.3", "0.1", "0.6"), ("0.1", "0.6", "0.3"))  # the largest anywhere
WIDER = 3  # by which the variance of whole numbers is larger than that of the Gaussian that they show no more than
DELTA = Fraction(1, 10**6)


def epsilon_of_counts(scale, moved, delta):
    """The ε at δ of so many counts with discrete Laplace noise, each moved by one, by adding up all outcomes.

    Of a count and of one more only this is seen: whether it is nearer to the one or to the other, odds of e^(1/scale).
    """
    keep = exp(-1 / scale)
    near, far = np.array([1, keep]) / (1 + keep), np.array([keep, 1]) / (1 + keep)
    p, q = np.ones(1), np.ones(1)
    for _ in range(moved):
        p, q = np.outer(p, near).ravel(), np.outer(q, far).ravel()
    return brentq(lambda e: np.maximum(p - exp(e) * q, 0).sum() - float(delta), 0, moved / scale)


def epsilon_of_gaussian(shift, delta):
    """The ε at δ of Gaussian noise whose centre moves by so many deviations (Balle, Wang 2018)."""
    return brentq(
        lambda e: norm.cdf(shift / 2 - e / shift) - exp(e) * norm.cdf(-shift / 2 - e / shift) - float(delta),
        0,
        200,
    )


@pytest.mark.parametrize("scales", [(4, 9, 30), (9, 30, 4), (30, 4, 9)])
def test_the_epsilon_of_counts_under_a_delta_is_that_of_the_column_that_loses_most(scales):
    """Two counts of each column with discrete Laplace noise; or that of all their ρ, where that is less."""
    bits = [((Fraction(1, scale), 2),) for scale in scales]
    each = [epsilon_of_counts(scale, 2, DELTA) for scale in scales]
    assert max(each) > 5 * min(each)
    found = float(measure_of(DELTA).alone(Fraction(1), bits))
    assert found == pytest.approx(max(each), rel=1e-6)
    little = Fraction(1, 10**4)
    assert float(measure_of(DELTA).alone(little, bits)) == pytest.approx(
        epsilon_of_gaussian(float(2 * little) ** 0.5, DELTA), rel=1e-6
    )


@pytest.mark.parametrize("shares", SHARES)
def test_the_nominal_epsilon_of_cells_is_that_of_the_column_that_loses_most(shares):
    planned = plan(CELLS, [Histogram(name) for name in NAMES], loss="0.9", shares=shares)
    each = [2 / float(one.law.scale) for one in planned.statistics]  # a changed cell moves two counts by one
    assert float(planned.price.nominal) == pytest.approx(max(each), rel=1e-9) == pytest.approx(0.9, rel=1e-3)
    gaussian = plan(CELLS, [Histogram(name) for name in NAMES], loss="0.9", shares=shares, delta=DELTA)
    shifts = [(2 / (float(one.law.variance) - WIDER)) ** 0.5 for one in gaussian.statistics]
    assert float(gaussian.price.nominal) == pytest.approx(epsilon_of_gaussian(max(shifts), DELTA), rel=1e-4)
    assert float(gaussian.price.nominal) == pytest.approx(0.9, rel=1e-3)


@pytest.mark.parametrize(("neighbours", "moved"), [("replace", 2), ("add_remove", 1)])
def test_the_nominal_epsilon_of_rows_adds_up_what_each_question_shows_of_a_row(neighbours, moved):
    size = {"rows": 40} if neighbours == "replace" else {"most_rows": 40}
    schema = Schema(COLUMNS, neighbours=neighbours, **size).approve()
    asked = [Histogram("a"), Histogram("b"), Count(where=parse("c = 'x'", schema))]
    planned = plan(schema, asked, loss=2, shares=["0.5", "0.3", "0.2"])
    scales = [float(one.law.scale) for one in planned.statistics]
    shown = moved / scales[0] + moved / scales[1] + 1 / scales[2]
    assert float(planned.price.nominal) == pytest.approx(shown, rel=1e-9) == pytest.approx(2, rel=1e-3)


def test_disjoint_parts_cost_what_one_row_can_move():
    schema = Schema(COLUMNS, neighbours="add_remove", most_rows=40).approve()
    asked = [Count(where=parse(text, schema)) for text in ("a = 'x'", "a = 'y'")]
    planned = plan(schema, asked, loss=1, shares=["0.2", "0.8"])
    each = [1 / float(one.law.scale) for one in planned.statistics]
    assert float(planned.price.nominal) == pytest.approx(max(each), rel=1e-9)
    swapped = Schema(COLUMNS, neighbours="replace", rows=40).approve()
    planned = plan(swapped, asked, loss=1, shares=["0.2", "0.8"])
    each = [1 / float(one.law.scale) for one in planned.statistics]
    assert float(planned.price.nominal) == pytest.approx(
        sum(each), rel=1e-9
    )  # a row may go from one to the other


@pytest.mark.parametrize(("leakage", "passes"), [("0.5", True), ("0.4999", False), ("0.6", True)])
def test_no_price_is_below_the_loss_of_a_unit_by_itself(leakage, passes):
    price = Price(Fraction(1, 2), {"one": Fraction(leakage), "other": Fraction(1, 10)})
    if passes:
        assert price.at_least(Fraction(1, 2)) is price
    else:
        with pytest.raises(BadLoss, match="which cannot be"):
            price.at_least(Fraction(1, 2))
