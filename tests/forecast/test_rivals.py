"""What stands beside a plan: the other noise for the same promise, and whole rows."""

import math
from fractions import Fraction

import numpy as np
import pytest

from entwined.dependence import BayesNet, Box, Groups, MarkovChain
from entwined.forecast.rivals import rivals
from entwined.forecast.ways import Crossing, reasons
from entwined.promise.declared import Declared
from entwined.queries import Count, Histogram, Total, parse
from entwined.request.verbs import plan
from entwined.schema import Boolean, Cells, Integer, Schema

NAMES = tuple(f"q{n}" for n in range(40))
SURVEY = Schema(tuple(Boolean(name) for name in NAMES), unit=Cells(), rows=1000).approve()
CHAIN = Declared(
    BayesNet.of_columns(
        NAMES,
        (("false", "true"),) * 40,
        ((), *((name,) for name in NAMES[:-1])),
        ([[0.5, 0.5]], *([[0.7, 0.3], [0.4, 0.6]],) * 39),
    ),
    missing_says_nothing=NAMES,
)
ALL = [Histogram(name) for name in NAMES]


def test_many_questions_want_gaussian_noise_and_few_laplace():
    many = plan(SURVEY, ALL, leakage=1, dependence=CHAIN)
    other, rows = rivals(many, Fraction(1))
    assert "Gaussian" in other.title
    few = plan(SURVEY, ALL[:1], leakage=1, dependence=CHAIN)
    assert next(rivals(few, Fraction(1))).times > 2
    noisy = plan(SURVEY, ALL, leakage=1, dependence=CHAIN, delta="1e-6")
    laplace, whole, same = rivals(noisy, Fraction(1))
    assert same.times <= 1.01 * laplace.times  # a chance to fail never asks for more noise
    assert laplace.times == pytest.approx(1 / other.times, rel=5e-3)  # one is the other turned round
    assert whole.times / laplace.times == pytest.approx(rows.times, rel=5e-3)
    assert laplace.is_better == (laplace.times < 0.995)


def test_whole_rows_have_the_noise_of_the_analytic_mechanism():
    """4.2247 deviations a unit of change at ε = 1 and δ = 10⁻⁶; forty answers move eighty cells."""
    noisy = plan(SURVEY, ALL, leakage=1, dependence=CHAIN, delta="1e-6")
    (whole,) = (one for one in rivals(noisy, Fraction(1)) if one.whole_rows)
    mine = math.sqrt(sum(one.law.variance for one in noisy.statistics) / 40)
    assert whole.times * mine == pytest.approx(math.sqrt(4.2247**2 * 80 + 3), rel=1e-3)


def test_units_are_not_mixed_and_plain_plans_have_no_rival():
    schema = Schema((Integer("pay", 0, 10**6),), most_rows=100).approve()
    asked = [Count(where=parse("pay > 5", schema)), Total("pay")]
    batch = plan(schema, asked, leakage=1, dependence=Groups(3))
    (other,) = rivals(batch, Fraction(1))
    assert 1 < other.times < 10
    assert list(rivals(plan(schema, asked, leakage=1), Fraction(1))) == []


@pytest.mark.parametrize("states", [2, 3])
def test_every_mechanism_for_a_series_is_asked_or_says_why_not(states):
    schema = Schema((Integer("state", 0, states - 1),), most_rows=9).approve()
    step = 0.4 * np.eye(states) + 0.6 / states
    law = MarkovChain(9, Box.exact(step), np.full(states, 1 / states))
    chain = Declared(law, never_missing=("state",))
    asked = Count(where=parse("state = 1", schema))
    batch = plan(schema, asked, leakage=5, dependence=chain, knowledge="model")
    ways = {way.name: way for way in Crossing(batch, Fraction(5)).ways()}
    gone = {"group", "markov closed form", "markov quilt", "transport", "message passing"}
    assert all(ways[name].applies for name in gone)
    assert ways["lazy symmetric"].applies == (states == 2)
    assert ways["block transport"].applies == ways["block messages"].applies == (states == 3)
    assert all(way.applies or way.why for way in ways.values())
    exact, moved = ways["exact scalar of series"], ways["wasserstein of series"]
    assert exact.applies
    assert moved.applies
    assert all(exact.each >= way.each * (1 - 1e-5) for way in ways.values() if way.keeps_promise)
    assert moved.each < exact.each
    assert moved.made_for
    assert exact.title == "Exact law of one number"


@pytest.mark.parametrize(
    ("declared", "asked", "knowledge", "delta", "says"),
    [
        ({}, "state = 1", "model", None, "name the column in never_missing"),
        ({"never_missing": ("state",)}, "state = 1", "any", None, "knows no values"),
        ({"never_missing": ("state",)}, "state = 1", "model", "1e-6", "leave delta out"),
        ({"never_missing": ("state",)}, "state = 1 and age > 3", "model", None, "'age' is no part of"),
        ({"never_missing": ("state",)}, None, "model", None, "one count or one total"),
    ],
)
def test_one_number_says_why_it_has_no_price_of_its_own(declared, asked, knowledge, delta, says):
    schema = Schema((Integer("state", 0, 1), Integer("age", 0, 9)), most_rows=9).approve()
    law = MarkovChain(9, Box.exact([[0.9, 0.1], [0.3, 0.7]]), np.array([0.75, 0.25]))
    chain = Declared(law, columns=("state",), **({"missing_says_nothing": ("state",)} | declared))
    one = Histogram("state") if asked is None else Count(where=parse(asked, schema))
    batch = plan(schema, one, leakage=1, dependence=chain, knowledge=knowledge, delta=delta)
    ways = {way.name: way for way in Crossing(batch, Fraction(1)).ways()}
    for name in ("exact scalar of series", "wasserstein of series"):
        assert not ways[name].applies
        assert says in ways[name].why


def test_what_takes_long_says_so():
    schema = Schema((Boolean("ill"),), most_rows=100).approve()
    (other,) = rivals(
        plan(schema, Count(where=parse("ill", schema)), leakage=1, dependence=Groups(1001)), Fraction(1)
    )
    assert other.times is None
    assert "takes long" in other.why_not


@pytest.mark.parametrize("delta", [None, Fraction(1, 10**6)])
def test_whole_rows_are_the_group_of_all_cells(delta):
    """The same Gaussian noise does for both."""
    asked, every = ALL[:6], Schema(SURVEY.columns[:6], unit=Cells()).approve()
    planned = plan(every, asked, leakage=1, dependence=Groups(6), delta=delta)
    other, rows, *_ = rivals(planned, Fraction(1))
    assert other.how == ("give delta = 1e-06" if delta is None else "leave delta out")
    assert rows.how == "protect rows in the schema"
    assert (rows.times == pytest.approx(1, abs=0.01)) == (delta is not None)


def test_noise_for_single_answers_is_not_called_differential_privacy():
    """That protects whole rows, and leaks no more than it says; noise for one answer alone does."""
    crossing = Crossing(plan(SURVEY, ALL[:2], leakage=1, dependence=CHAIN), Fraction(1))
    plain, proposed = crossing.plain(), crossing.proposed()
    assert plain.title == "Noise for each answer alone"
    assert not plain.keeps_promise
    told = " ".join(reasons((plain, proposed), proposed, settled=False))
    assert f"noise for each answer alone would leak up to {plain.worst:.4g}" in told
    rows = Schema((Boolean("ill"),), most_rows=100).approve()
    assert Crossing(
        plan(rows, Histogram("ill"), leakage=1, dependence=Groups(3)), Fraction(1)
    ).plain().title == ("Plain differential privacy")
