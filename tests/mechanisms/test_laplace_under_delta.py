"""Laplace noise in a ledger with a δ: it shows no more than it is charged for, and a plan says when it is better."""

import math
from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds.profiles.curves import GaussianCurve
from entwined.bounds.profiles.gaussian import shift_of
from entwined.dependence import Groups
from entwined.errors import BadQuery, Refused
from entwined.forecast.rivals import rivals
from entwined.ledger import Ledger
from entwined.noise import DiscreteGaussian
from entwined.noise.squared_laplace import SquaredLaplace
from entwined.promise.declared import Declared
from entwined.promise.promise import promise_of
from entwined.queries import Count, Histogram, Total, parse
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Integer, Schema, Text
from support.memory_table import MemoryTable

DELTA = Fraction(1, 10**6)
EPSILONS = np.linspace(0.0, 8.0, 161)
COLUMNS = Text("home", compare="exact"), Categorical("a", ("x", "y", "z")), Integer("n", 0, 5)
SCHEMA = Schema(COLUMNS, rows=30).approve()
ROWS = [{"home": f"h{n // 2}", "a": "xyz"[n % 3], "n": n % 6} for n in range(30)]
HOMES = Declared(Groups(2), by="home")


def shown(scale, moves):
    """E_γ of whole numbers that move so, exactly: the log ratio is a whole number of 1/scale, added over numbers."""
    law, most = np.ones(1), 0
    for move in moves:
        places = np.arange(-math.ceil(60 * scale) - move, math.ceil(60 * scale) + move + 1)
        chances = np.exp(-np.abs(places) / scale)
        one = np.bincount(
            np.abs(places - move) - np.abs(places) + move, chances / chances.sum(), 2 * move + 1
        )
        law, most = np.convolve(law, one), most + move
    losses = (np.arange(law.size) - most) / scale
    return np.array([law @ np.maximum(-np.expm1(epsilon - losses), 0.0) for epsilon in EPSILONS])


@pytest.mark.parametrize("moves", [(1,), (1, 1), (1, 1, 1), (2,), (3, 1), (7,)], ids=str)
@pytest.mark.parametrize("rho", [Fraction(1, 200), Fraction(1, 8), Fraction(1), Fraction(6)])
def test_it_shows_no_more_than_the_gaussian_of_its_charge(moves, rho):
    squared = Fraction(sum(move**2 for move in moves))
    noise = SquaredLaplace.for_rho(rho, squared)
    assert rho * (1 - Fraction(1, 10**9)) <= noise.rho(squared) <= rho
    limit = GaussianCurve(shift_of(rho)).at(np.expm1(EPSILONS))
    truth = shown(float(noise.scale), moves)
    assert np.max(truth - limit) <= 1e-13
    less = shown(0.75 * float(noise.scale), moves)
    assert moves != (1,) or np.max(less - limit) > 1e-4  # three quarters of the noise are seen


def test_so_many_times_the_loss_is_its_own_noise():
    noise = SquaredLaplace.for_rho(Fraction(1, 50), Fraction(2))
    assert float(noise.at(Fraction(4)).rho(Fraction(2))) == pytest.approx(4 / 50, rel=1e-9)
    assert noise.document == {"law": "discrete Laplace", "scale": noise.document["scale"]}


@pytest.mark.parametrize("models", [(), HOMES], ids=["alone", "homes"])
def test_both_noises_cost_the_same_in_one_ledger(tmp_path, models):
    terms = {"delta": DELTA, "dependence": models}
    table, promise = MemoryTable(SCHEMA, ROWS), promise_of(SCHEMA, models, delta=DELTA)
    asked = [Histogram("a"), Total("n"), Count(where=parse("n > 2", SCHEMA))]
    gaussian, laplace = (plan(SCHEMA, asked, leakage=1, noise=noise, **terms) for noise in ("", "laplace"))
    assert laplace.charged == gaussian.charged
    assert {type(one.law) for one in laplace.statistics} == {SquaredLaplace}
    for one in laplace.statistics:
        worst = max(part.worst(SCHEMA) for part in promise.moves(one.statistic))
        assert one.law.rho(worst) <= laplace.loss
    with Ledger.create(tmp_path / "l.db", Fraction(2), promise, tmp_path / "a") as ledger:
        first = release(table, asked, leakage=1, ledger=ledger, **terms)
        alone = ledger.spent().price.worst
        second = release(table, asked, leakage=1, ledger=ledger, noise="laplace", **terms)
        together = ledger.spent().price.worst
        assert alone < together < 2 * alone  # squares add up
    assert verify(first.certificate, SCHEMA, release=first.document()).valid
    assert verify(second.certificate, SCHEMA, release=second.document()).valid
    assert second.certificate["mechanism"]["noise"] == "laplace"
    assert "noise" not in first.certificate["mechanism"]
    assert not verify(first.certificate, SCHEMA, release=second.document()).valid


def test_the_noise_of_a_promise_need_not_be_named():
    named = plan(SCHEMA, Histogram("a"), leakage=1, delta=DELTA, noise="gaussian")
    assert named.document == plan(SCHEMA, Histogram("a"), leakage=1, delta=DELTA).document
    assert isinstance(named.statistics[0].law, DiscreteGaussian)
    assert plan(SCHEMA, Histogram("a"), leakage=1, noise="laplace").noise == ""


def test_gaussian_noise_without_a_delta_is_refused():
    with pytest.raises(Refused, match="no pure loss"):
        plan(SCHEMA, Histogram("a"), leakage=1, noise="gaussian")
    with pytest.raises(BadQuery, match="laplace"):
        plan(SCHEMA, Histogram("a"), leakage=1, noise="cauchy")


@pytest.mark.parametrize(("leakage", "better"), [("0.5", False), (20, True)])
def test_a_plan_says_which_of_the_two_is_better(leakage, better):
    planned = plan(SCHEMA, Histogram("a"), leakage=leakage, delta=DELTA, dependence=HOMES)
    (found,) = (one for one in rivals(planned, Fraction(leakage)) if one.how == 'give noise = "laplace"')
    assert found.is_better == better
    other = plan(SCHEMA, Histogram("a"), leakage=leakage, delta=DELTA, dependence=HOMES, noise="laplace")
    spreads = [one.statistics[0].spread for one in (planned, other)]
    assert found.times == pytest.approx(spreads[1] / spreads[0], rel=1e-6)
    (back,) = (one for one in rivals(other, Fraction(leakage)) if one.how == "leave noise out")
    assert back.times == pytest.approx(1 / found.times, rel=1e-6)
