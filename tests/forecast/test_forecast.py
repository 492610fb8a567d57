"""Predicted errors against what the noise itself gives, and the loss that a wanted accuracy takes."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from entwined.dependence import Groups
from entwined.errors import BadQuery, Unreachable
from entwined.estimate.agreement import Released
from entwined.estimate.answers import Answered, Release
from entwined.estimate.consistent_release import make_consistent
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.least_squares import least_squares
from entwined.estimate.spans import Around
from entwined.forecast.draft import Draft
from entwined.forecast.forecast import Assumed, forecasts, mean_size
from entwined.forecast.wanted import fitted
from entwined.mechanisms.draws import noisy
from entwined.noise import DiscreteGaussian, DiscreteLaplace, laplace, sampler
from entwined.promise.declared import Declared
from entwined.promise.promise import promise_of
from entwined.queries import (
    Count,
    CountOf,
    GroupBy,
    Histogram,
    Marginal,
    Mean,
    Median,
    Quantile,
    Share,
    Total,
    Variance,
    everything,
    parse,
)
from entwined.queries.terms import grid_of, total_term
from entwined.request.verbs import plan
from entwined.schema import Boolean, Categorical, Integer, Real, Schema
from support.memory_table import MemoryTable
from support.simulated import laplace_by_a_generator

# ages 4 and 8 of 0 to 8, and pays alike, are what forecasts of means assume: a quarter of the range off its
# middle, with a deviation of a quarter; all other values are equally common, which quantiles assume
COLUMNS = (
    Categorical("place", ("a", "b", "c"), missing="drop"),
    Boolean("well", missing="drop"),
    Integer("age", 0, 8, missing="drop"),
    Real("pay", "-2", "2", "0.5", missing="drop"),
    Integer("score", 0, 24, mean=12, missing="drop"),
)
ROWS = [
    {"place": place, "well": well, "age": age, "pay": (age - 4) / 2, "score": score}
    for place, well, age, score in product("abc", (True, False), (4, 8), range(25))
] * 12
PUBLIC = Schema(COLUMNS, rows=len(ROWS), most_rows=10_000).approve()
HIDDEN = Schema(COLUMNS, neighbours="add_remove", most_rows=len(ROWS)).approve()
MANY = 60_000
TURNS = 10_000
DRAWN = Assumed(len(ROWS), consistent=False)
AGREED = Assumed(len(ROWS), consistent=True)
SINGLE = [
    Count(),
    Count(where=parse("age > 6", HIDDEN)),
    Total("age"),
    Total("pay", where=parse("place = 'a'", HIDDEN)),
    Mean("age"),
    Mean("pay", where=parse("place in ('a', 'b') and well", HIDDEN)),
    Variance("age"),
    Variance("pay"),
    Share(where=parse("place = 'a'", HIDDEN), of=parse("score < 20", HIDDEN)),
    Mean("age", weight="score"),
    Share(where=parse("place = 'a'", HIDDEN), weight="score"),
]
TABLES = [
    Histogram("score"),
    Histogram("score", 5),
    Marginal(("place", "well")),
    GroupBy(("place",)),
    GroupBy(("place", "well"), "pay"),
]
CHOICES = [
    Median("score"),
    Quantile("score", Fraction(1, 10)),
    Quantile("score", Fraction(1, 100)),
    Quantile("score", Fraction(99, 100)),
]


@pytest.fixture(autouse=True, scope="module")
def drawn_quickly():
    """A million draws and more: by a generator of the same law, all but those of one test."""
    with laplace_by_a_generator(13):
        yield


@cache
def table_of(columns):
    """The rows, whose codes do not depend on what else a schema says."""
    return MemoryTable(Schema(columns), ROWS)


def exact_of(planned):
    return [
        np.array(found) for found in table_of(planned.schema.columns).answer(planned.needs(planned.schema))
    ]


def drawn(planned, times):
    """Draw the noise of a plan so often, by the door's own function, on the exact table."""
    exact = exact_of(planned)
    return exact, drawn_for(planned.statistics, tuple(tuple(found.tolist()) for found in exact), times)


@cache
def drawn_for(statistics, exact, times):
    """Draw once for plans that differ in nothing that is drawn."""
    return [
        noisy(one, np.broadcast_to(np.array(numbers), (times, len(numbers))).copy())
        for one, numbers in zip(statistics, exact, strict=True)
    ]


def answers(query, schema, numbers):
    """Make answers of many releases at once; the first hundred are held against the query's own."""
    column = schema.coded(query.values[-1]) if query.values else None
    match query:
        case Mean() | Variance():
            term = query.statistics(schema)[0].aggregate.term
            origin, step = map(float, grid_of(column))
            rows = (
                schema.rows
                if query.kind == "mean" and query.count == "public"
                else np.maximum(numbers[-1], 1)
            )
            mean = numbers[0] / rows
            if query.kind == "mean":
                found = origin + np.clip((mean - term.offset) / term.factor, 0, column.levels - 1) * step
            else:
                largest = (term.factor * (column.levels - 1) / 2) ** 2
                found = np.clip(numbers[1] / rows - mean**2, 0, largest) * (step / term.factor) ** 2
        case Share():
            found = numbers[0] / (numbers[0] + numbers[1])
        case Total() | GroupBy(total=str()):
            found = numbers[0] * float(total_term(column)[1])
        case _:
            found = numbers[0]
    lines = zip(*(some[:100].tolist() for some in numbers), strict=True)
    own = np.array([query.answer(schema, line) for line in lines], dtype=float)
    assert np.allclose(found[:100].reshape(own.shape), own)
    return found


def errors_of(planned, times):
    (query,), (uses,) = planned.queries, planned.uses
    exact, numbers = drawn(planned, times)
    truth = np.array(query.answer(planned.schema, [exact[use].tolist() for use in uses]), dtype=float)
    return np.abs(answers(query, planned.schema, [numbers[use] for use in uses]) - truth)


def holds(found, errors):
    """Means within 2 %; widths hold as often as they say, within five deviations, and are not far too wide."""
    assert errors.mean() == pytest.approx(found.mean_error, rel=0.02)
    assert math.sqrt((errors**2).mean()) == pytest.approx(found.deviation, rel=0.04)
    for alpha, beta in [(found.half_width, 0.05), *found.accuracy]:
        slack = 5 * math.sqrt(beta / errors.size)
        assert (errors > alpha * (1 + 1e-9)).mean() <= beta + slack
        assert (errors >= alpha * 0.8).mean() >= beta - slack


@pytest.mark.parametrize("query", SINGLE, ids=lambda query: query.kind)
def test_a_number_is_as_exact_as_predicted(query):
    """With 60,000 draws a mean of |error| is known to 0.4 %: 2 % off is five deviations."""
    planned = plan(HIDDEN, query, loss=1)
    (found,) = forecasts(Draft.of(planned), DRAWN)
    holds(found, errors_of(planned, MANY))
    assert found.exact == (query.kind in ("count", "total"))


def test_what_is_really_drawn_is_as_exact_as_predicted(monkeypatch):
    monkeypatch.setattr(laplace, "add_laplace", sampler.add_laplace)
    planned = plan(HIDDEN, Count(), loss="1.25")
    (found,) = forecasts(Draft.of(planned), DRAWN)
    holds(found, errors_of(planned, MANY))


@pytest.mark.parametrize("query", TABLES, ids=lambda query: query.kind)
def test_a_table_is_as_exact_as_predicted(query):
    planned = plan(HIDDEN, query, loss="0.5")
    (found,) = forecasts(Draft.of(planned), DRAWN)
    holds(found, errors_of(planned, MANY // planned.needs(planned.schema)[0].cells))
    assert found.exact
    assert found.scale == pytest.approx(
        float(planned.statistics[0].law.scale) * (0.5 if "pay" in query.columns else 1)
    )


def test_a_mean_by_the_public_number_of_rows_is_as_exact_as_predicted():
    query = Mean("age", count="public")
    planned = plan(PUBLIC, query, loss=1)
    (found,) = forecasts(Draft.of(planned), DRAWN)
    holds(found, errors_of(planned, MANY))
    assert found.exact


def test_a_forecast_that_is_three_per_cent_off_would_be_caught():
    planned = plan(HIDDEN, SINGLE[0], loss=1)
    (found,) = forecasts(Draft.of(planned).at(Fraction(103, 100)), DRAWN)
    with pytest.raises(AssertionError):
        holds(found, errors_of(planned, MANY))


@pytest.mark.parametrize("query", CHOICES, ids=lambda query: str(query.at))
def test_a_choice_is_as_many_ranks_off_as_predicted(query):
    """The mean over the exact chances of every value, and the same drawn, within five deviations."""
    planned = plan(HIDDEN, query, loss="0.1")
    (found,) = forecasts(Draft.of(planned), DRAWN)
    law, counts = (
        planned.statistics[0].law,
        exact_of(planned)[0],
    )
    far = -query.scores(counts) / (2 * query.at.denominator)
    chances = np.array(law.probabilities(query.scores(counts)))
    assert found.mean_ranks_off == pytest.approx(float(chances @ far), rel=1e-6)
    deviation = math.sqrt(float(chances @ far**2) - found.mean_ranks_off**2)
    picked = far[drawn(planned, 2_000)[1][0][:, 0]]
    assert abs(picked.mean() - found.mean_ranks_off) < 5 * deviation / math.sqrt(picked.size)
    assert (picked > found.ranks_within).mean() <= 0.05
    assert (found.half_width, found.mean_error, found.scale) == (None, None, None)


@pytest.mark.parametrize("public", [True, False], ids=["public", "hidden"])
def test_answers_made_to_agree_are_as_exact_as_predicted(public):
    """The best estimates of counts within 2 %; what is published after rounding within the draws' own spread."""
    columns = tuple(replace(column, missing="value") for column in COLUMNS)  # so that all count the same rows
    schema = Schema(columns, most_rows=len(ROWS), **({"rows": len(ROWS)} if public else {})).approve()
    planned = plan(schema, TABLES, loss=2)
    found = dict(zip(planned.queries, forecasts(Draft.of(planned), AGREED), strict=True))
    raw = dict(zip(planned.queries, forecasts(Draft.of(planned), DRAWN), strict=True))
    exact, numbers = drawn(planned, TURNS)
    counted = [query for query in planned.queries if query.kind != "group_by" or query.total is None]
    places = [planned.uses[planned.queries.index(query)][0] for query in counted]
    known = [] if schema.rows is None else [Released(CountOf(everything()), None, [schema.rows])]
    tables = [
        *(
            Released(planned.needs(planned.schema)[place], planned.statistics[place].law, exact[place])
            for place in places
        ),
        *known,
    ]
    noise = [numbers[place].astype(float) for place in places] + [np.full((TURNS, 1), schema.rows)] * len(
        known
    )
    shaped = [
        some.reshape(-1, *one.table.layout.shape).astype(float)
        for some, one in zip(noise, tables, strict=True)
    ]
    estimates = least_squares(tuple(one.table.layout for one in tables)).estimates(shaped)
    for query, place, estimate in zip(counted, places, estimates, strict=False):
        errors = np.abs(estimate.reshape(TURNS, -1) - exact[place])
        predicted, misses = found[query].mean_error, errors > found[query].half_width
        assert abs(errors.mean() - predicted) <= 0.02 * predicted + 3 * spread(errors)
        assert misses.mean() <= 0.051 + 4 * spread(misses)
        assert found[query].mean_error < 0.99 * raw[query].mean_error
        assert (found[query].exact, raw[query].exact) == (False, True)
    published = {query: [] for query in planned.queries}
    for turn in range(40):
        made = make_consistent(planned, released(planned, [some[turn].tolist() for some in numbers]))
        for query, (use,) in zip(planned.queries, planned.uses, strict=True):
            truth = np.array(query.answer(schema, [exact[use].tolist()]), dtype=float)
            wrong = np.abs(np.array(made.of(query).value, dtype=float) - truth)
            published[query].append(wrong[truth > 0])  # putting empty cells to zero is better than predicted
    for query, errors in published.items():
        predicted = found[query].mean_error
        assert abs(np.mean(errors) - predicted) <= 0.1 * predicted + 4.5 * spread(np.array(errors))


def spread(turns):
    """The standard deviation of the mean over all turns; cells of one turn are not independent."""
    means = turns.reshape(len(turns), -1).mean(axis=1)
    return means.std() / math.sqrt(len(means))


def released(planned, numbers):
    """Give a release of these integers, before they agree."""
    asked = zip(planned.queries, planned.uses, strict=True)
    return Release(
        tuple(
            Answered(
                query.fingerprint,
                query.answer(planned.schema, [numbers[use]]),
                Around(1),
                (tuple(numbers[use]),),
                (),
            )
            for query, (use,) in asked
        ),
        {},
    )


@pytest.mark.parametrize("scale", ["0.05", "0.2", "1", "7.5", "4000"])
def test_the_mean_of_an_error_is_that_of_its_exact_law(scale):
    noise = DiscreteLaplace(Fraction(scale))
    assert mean_size(ErrorLaw.of([3], [noise])) == pytest.approx(
        3 / math.sinh(1 / float(noise.scale)), rel=1e-3, abs=1e-300
    )
    normal = DiscreteGaussian(Fraction(scale))
    places = np.arange(-200_000, 200_001) if float(scale) > 100 else np.arange(-500, 501)
    weights = np.exp(-0.5 * (places / float(normal.scale)) ** 2)
    exact = float(np.abs(places) @ weights / weights.sum())
    assert mean_size(ErrorLaw.of([1], [normal])) == pytest.approx(exact, rel=1e-3, abs=1e-12)


def test_the_mean_of_a_sum_of_errors_is_that_of_its_convolution():
    noise = DiscreteLaplace(Fraction(2))
    places = np.arange(-80, 81)
    law = np.exp(-np.abs(places) / 2)
    law /= law.sum()
    exact = sum(
        law[a] * law[b] * abs(places[a] + 2.5 * places[b])
        for a in range(len(places))
        for b in range(len(places))
    )
    assert mean_size(ErrorLaw.of([1, 2.5], [noise, noise])) == pytest.approx(exact, rel=1e-4)


@pytest.mark.parametrize("assumed", [DRAWN, AGREED], ids=["drawn", "agreed"])
@pytest.mark.parametrize(
    "wanted",
    [
        {SINGLE[0]: 30},
        {SINGLE[1]: Fraction(1, 2)},
        {SINGLE[2]: 400, TABLES[0]: 12, TABLES[1]: 40},
        {SINGLE[4]: Fraction(1, 10)},
        {SINGLE[6]: 1},
        {CHOICES[0]: 100, SINGLE[0]: 500},
        {TABLES[4]: 35, TABLES[3]: 35},
    ],
    ids=lambda wanted: " ".join(query.kind for query in wanted),
)
def test_the_loss_for_an_accuracy_gives_it_and_one_per_cent_less_does_not(wanted, assumed):
    accountant = promise_of(HIDDEN, (), "any")
    exact = {query: Fraction(half) for query, half in wanted.items()}
    found = fitted(accountant, list(exact.items()), assumed)

    def reached(at):
        planned = plan(HIDDEN, list(wanted), loss=at, shares=found.shares)
        given = zip(planned.queries, forecasts(Draft.of(planned), assumed), strict=True)
        return all(one.reach <= exact[query] for query, one in given)

    assert reached(found.loss)
    assert not reached(found.loss * Fraction(99, 100))
    assert max(found.shares) == 1


def test_a_coarse_question_takes_less_of_the_loss_than_a_fine_one():
    accountant = promise_of(HIDDEN, (), "any")
    both = [(Count(), Fraction(30)), (Histogram("score"), Fraction(300))]
    alone = fitted(accountant, both[:1], DRAWN)
    found = fitted(accountant, both, DRAWN)
    assert alone.loss < found.loss < alone.loss * Fraction(6, 5)
    assert found.shares[0] == 1
    assert found.shares[1] == pytest.approx(0.1, abs=0.01)


def test_a_wanted_accuracy_costs_more_leakage_where_rows_depend_on_each_other():
    wish = [(Count(), Fraction(30))]
    found = fitted(promise_of(HIDDEN, (Declared(Groups(4)),), "any"), wish, DRAWN)
    assert found == fitted(promise_of(HIDDEN, (), "any"), wish, DRAWN)
    planned = plan(HIDDEN, Count(), loss=found.loss, dependence=Groups(4))
    assert planned.price.worst == pytest.approx(4 * float(found.loss))


def test_what_no_noise_gives_is_refused():
    accountant = promise_of(HIDDEN, (), "any")
    with pytest.raises(Unreachable, match="within"):
        fitted(accountant, [(Count(), Fraction(10) ** 30)], DRAWN)
    nowhere = Assumed.of(Schema(COLUMNS).approve(), None, consistent=True)
    assert nowhere.rows is None
    with pytest.raises(BadQuery, match="expected_rows"):
        fitted(accountant, [(Mean("age"), Fraction(1))], nowhere)
    (found,) = forecasts(Draft.of(plan(HIDDEN, Mean("age"), loss=1)), nowhere)
    assert (found.half_width, found.mean_error, found.exact) == (None, None, False)


def test_the_number_of_rows_is_the_public_one_then_the_expected_one_then_the_most():
    assert Assumed.of(PUBLIC, 7, consistent=True).rows == len(ROWS)
    assert Assumed.of(HIDDEN, 7, consistent=True).rows == 7
    assert Assumed.of(HIDDEN, None, consistent=True).rows == len(ROWS)
