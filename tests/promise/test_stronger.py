"""What a promise leaks if dependence is stronger: never below the stronger model's own bound, and quick."""

from fractions import Fraction

import pytest

from entwined.bounds import bound
from entwined.dependence import Box, Groups, Independent, MarkovChain
from entwined.promise.base_loss import BaseLoss
from entwined.promise.judge import MOST_DRAWN, STRONGER
from entwined.promise.measure import PURE, Concentrated
from entwined.promise.promise import Promise
from entwined.schema import Boolean, Schema

SCHEMA = Schema((Boolean("ill"),), most_rows=50).approve()
BASE = BaseLoss(Fraction(1, 10), Fraction(1, 10))
STEP = Box.exact([[0.8, 0.1, 0.1], [0.3, 0.5, 0.2], [0.2, 0.2, 0.6]])  # the last state is missing


def curves(*models, knowledge="any", measure=PURE, cap=None, base=BASE):
    return list(Promise.of(SCHEMA, models, knowledge, measure).curves(base, cap).values())


@pytest.mark.parametrize("knowledge", ["any", "model"])
@pytest.mark.parametrize(
    "model", [Groups(7), MarkovChain(50, STEP), Independent(9)], ids=lambda one: one.kind
)
def test_a_point_is_a_bound_of_the_stronger_model(model, knowledge):
    promise = Promise.of(SCHEMA, [model], knowledge)
    ((name, (one, _)),) = promise.judges.items()
    shown = promise.curves(BASE)[name]
    assert tuple(point.share for point in shown.points) == STRONGER == (0.1, 0.25, 0.5)
    for point in shown.points:
        stronger = one.model.stronger(point.share)
        exposure = promise.exposure(one, BASE).widened(stronger.units)
        assert point.leakage == pytest.approx(point.theorem(exposure, stronger).worst, rel=1e-12)
        assert point.leakage >= bound(stronger, exposure, knowledge).leakage.worst * (1 - 1e-9)
        assert point.leakage >= promise.bounds(BASE)[name].leakage.worst
        assert point.theorem.covers(knowledge)


def test_gaussian_noise_has_a_curve_too():
    delta = Concentrated(Fraction(1, 10**6))
    (pairs,) = curves(Groups(2), measure=delta)
    (threes,) = curves(Groups(3), measure=delta)
    assert {point.theorem.name for point in pairs.points} == {"gaussian group"}
    for point in pairs.points:  # two grow by one at least
        assert point.leakage == pytest.approx(
            Promise.of(SCHEMA, [Groups(3)], measure=delta).bounds(BASE)["groups"].leakage.worst, rel=1e-9
        )
    assert threes.points[0].leakage > pairs.points[0].leakage


def test_large_models_say_that_they_have_none():
    just, over = curves(Groups(MOST_DRAWN), Groups(MOST_DRAWN + 1), cap=2.0)
    assert just.document["points"]
    assert just.document["cap"] == 2.0
    assert over.points == ()
    assert over.document == {
        "strength": "the size of the largest group",
        "why_not": "The model has 10,001 units, and stronger dependence is tried for 10,000 at most, so that a release "
        "stays quick.",
    }


def test_nothing_released_has_no_curve():
    assert curves(Groups(2), base=BaseLoss(Fraction(0), Fraction(0))) == []
