"""One number that is all that was ever released: an exact adversary through the door, and what a second charge does."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from entwined.dependence import Box, Groups, MarkovChain, VaryingChain
from entwined.errors import OverBudget
from entwined.ledger import Ledger
from entwined.promise.declared import Declared
from entwined.promise.places import key_of, place_of
from entwined.promise.promise import Promise
from entwined.queries import Count, Histogram, Mean, Total, parse
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Integer, Schema, Text
from support.adversary import certified, gain, log_likelihoods
from support.memory_table import MemoryTable

STATES = ("well", "unwell", "ill")
STEP = np.array([[0.9, 0.1, 0.0], [0.1, 0.6, 0.3], [0.0, 0.3, 0.7]])
START = np.array([0.5, 0.3, 0.2])
COLUMNS = (Text("who", compare="exact"), Integer("day", 1, 9), Categorical("state", STATES))
DAYS = Schema(COLUMNS, most_rows=100).approve()
ILL = Count(where=parse("state = 'ill'", DAYS))


def series(length=4, **about):
    about = {"never_missing": ("state",)} | about
    return Declared(MarkovChain(length, Box.exact(STEP), START), by="who", order="day", **about)


def law_of(length, step=STEP, start=START):
    law = np.zeros([len(start)] * length)
    for states in itertools.product(range(len(start)), repeat=length):
        law[states] = start[states[0]] * np.prod([step[a, b] for a, b in itertools.pairwise(states)])
    return law


def tables(length, schema=DAYS, beside=(), kept=4):
    """Every table of one series, with rows of others beside it, as an engine picks them."""
    return [
        MemoryTable(
            schema,
            [
                *({"who": "w", "day": at + 1, "state": STATES[state]} for at, state in enumerate(states)),
                *beside,
            ],
        ).keeping("who", kept, "day")
        for states in itertools.product(range(3), repeat=length)
    ]


def by_losses(planned):
    return max(planned.promise.by_losses(planned.promise.base(planned.charged)).values())


# the exact adversary


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5])
def test_no_series_of_any_length_leaks_more_than_the_price(length):
    planned = plan(DAYS, ILL, leakage=1, dependence=[series()], knowledge="model")
    assert planned.promise.base(planned.charged).number is not None
    assert certified(planned) == pytest.approx(1, abs=1e-5)
    assert by_losses(planned) > 1.05
    others = [{"who": "v", "day": 1, "state": "ill"}]
    found = gain(law_of(length), log_likelihoods(planned, tables(length, beside=others)), "model")
    assert found <= certified(planned) <= 1
    if length == 4:
        assert found > 0.999  # reached, so no less noise would do


@pytest.mark.parametrize("length", [2, 4])
def test_transitions_that_vary_have_a_law_too(length):
    """Day and night in turn: the law is followed from both sides, and no series of any length leaks more."""
    night = np.array([[0.98, 0.02, 0.0], [0.05, 0.9, 0.05], [0.0, 0.02, 0.98]])
    turns = [STEP, night]
    declared = Declared(
        VaryingChain(4, Box.exact(turns), START), by="who", order="day", never_missing=("state",)
    )
    planned = plan(DAYS, ILL, leakage=1, dependence=[declared], knowledge="model")
    (proved,) = planned.promise.bounds(planned.promise.base(planned.charged)).values()
    assert proved.theorem.name == "both sides of series"
    law = START
    for at in range(length - 1):
        law = law[..., None] * turns[at % 2]
    found = gain(law, log_likelihoods(planned, tables(length)), "model")
    assert found <= certified(planned) <= 1
    if length == 4:
        assert found > 0.99
    assert by_losses(planned) > 1.01


@pytest.mark.parametrize("kind", ["total", "share of several"])
def test_totals_and_conditions_have_the_law_of_their_own_weights(kind):
    schema = Schema((*COLUMNS[:2], Integer("state", 3, 5)), most_rows=100).approve()
    query = Total("state") if kind == "total" else Count(where=parse("state >= 4", schema))
    planned = plan(schema, query, leakage=1, dependence=[series()], knowledge="model")
    named = [
        MemoryTable(schema, [{**row, "state": 3 + STATES.index(row["state"])} for row in one.rows])
        for one in tables(4)
    ]
    found = gain(law_of(4), log_likelihoods(planned, named), "model")
    assert 0.99 < found <= certified(planned) <= 1


def test_several_columns_are_one_state_and_what_is_not_read_does_not_matter():
    """A state of two columns, of which one is read; whether the other is missing says nothing."""
    schema = Schema((*COLUMNS[:2], Integer("a", 0, 1), Integer("b", 0, 1)), most_rows=100).approve()
    step = np.random.default_rng(3).dirichlet(np.ones(4), 4)
    declared = Declared(
        MarkovChain(3, Box.exact(step), np.full(4, 0.25)), by="who", order="day", columns=("a", "b"),
        missing_says_nothing=("a", "b"), never_missing=("b",),
    )  # fmt: skip
    planned = plan(
        schema, Count(where=parse("b = 1", schema)), leakage=1, dependence=[declared], knowledge="model"
    )
    assert planned.promise.base(planned.charged).number is not None
    every = [
        MemoryTable(
            schema, [{"who": "w", "day": at, "a": s // 2, "b": s % 2} for at, s in enumerate(states, 1)]
        )
        for states in itertools.product(range(4), repeat=3)
    ]
    found = gain(law_of(3, step, np.full(4, 0.25)), log_likelihoods(planned, every), "model")
    assert 0.9 < found <= certified(planned) <= 1
    other = plan(
        schema, Count(where=parse("a = 1", schema)), leakage=1, dependence=[declared], knowledge="model"
    )
    assert other.promise.base(other.charged).number is None


# the ledger


def spent(ledger):
    return float(ledger.spent().price.worst)


def test_a_second_charge_prices_everything_by_its_losses(tmp_path):
    promise = Promise.of(DAYS, [series()], "model")
    every = tables(4)
    with Ledger.create(tmp_path / "l.db", Fraction(3), promise, anchor=tmp_path / "a") as ledger:
        about = {"dependence": promise.declared, "knowledge": "model", "ledger": ledger}
        given = release(every[17], ILL, leakage=1, **about)
        first = plan(DAYS, ILL, leakage=1, dependence=promise.declared, knowledge="model")
        assert spent(ledger) == certified(first) <= 1
        assert verify(given.certificate, DAYS).valid
        assert given.certificate["models"][0]["certificate"]["theorem"]["name"] == "exact scalar of series"
        well = Count(where=parse("state = 'well'", DAYS))
        second = plan(DAYS, well, leakage="0.2", dependence=promise.declared, knowledge="model")
        again = release(every[17], well, leakage="0.2", **about)
        together = promise.price({part.key: part for part in (*first.charged, *second.charged)})
        assert spent(ledger) == together.worst > by_losses(first)
        assert verify(again.certificate, DAYS).valid
    logs = [log_likelihoods(one, every) for one in (first, second)]
    both = (logs[0][:, None, :] + logs[1][None, :, :]).reshape(-1, len(every))
    assert gain(law_of(4), both, "model") <= together.worst


def test_the_cap_is_held_against_the_losses_of_everything(tmp_path):
    """A cap that one number fits under and its loss does not: nothing else is ever released."""
    promise = Promise.of(DAYS, [series()], "model")
    table = tables(4)[5]
    with Ledger.create(tmp_path / "l.db", Fraction(1), promise, anchor=tmp_path / "a") as ledger:
        about = {"dependence": promise.declared, "knowledge": "model", "ledger": ledger}
        once = release(table, ILL, leakage=1, **about)
        with pytest.raises(OverBudget):
            release(table, Count(where=parse("state = 'well'", DAYS)), loss="0.000001", **about)
        assert release(table, ILL, leakage=1, **about).answers[0].numbers == once.answers[0].numbers
        assert spent(ledger) <= 1


def test_two_draws_of_the_same_number_are_not_one():
    """Another table under the same promise, or a run that failed: the part is charged twice."""
    planned = plan(DAYS, ILL, leakage=1, dependence=[series()], knowledge="model")
    (part,) = planned.charged
    twice = planned.promise.price({part.key: part + part})
    base = planned.promise.base([part + part])
    assert base.number is None
    assert twice.worst == pytest.approx(max(planned.promise.by_losses(base).values()))
    every = tables(4)
    logs = log_likelihoods(planned, every)
    both = (logs[:, None, :] + logs[None, :, :]).reshape(-1, len(every))
    assert certified(planned) < gain(law_of(4), both, "model") <= twice.worst


def test_prices_never_fall_and_depend_on_nothing_but_the_totals():
    rng = np.random.default_rng(4)
    promise = Promise.of(DAYS, [series()], "model")
    asked = [
        ILL,
        Count(where=parse("state = 'ill' or state = 'well'", DAYS)),
        Count(where=parse("state = 'well'", DAYS)),
        Histogram("state"),
    ]
    for _ in range(6):
        batches = [
            plan(
                DAYS,
                asked[at],
                loss=float(rng.uniform(0.05, 0.5)),
                dependence=promise.declared,
                knowledge="model",
            )
            for at in rng.permutation(4)
        ]
        totals, prices = {}, []
        for batch in batches:
            for part in batch.charged:
                totals[part.key] = totals[part.key] + part if part.key in totals else part
            prices.append(float(promise.price(dict(totals)).worst))
        assert prices == sorted(prices)
        backwards = dict(reversed(totals.items()))
        assert promise.price(backwards).worst == promise.price(totals).worst


def test_a_price_of_its_own_is_not_taken_over_where_codes_mean_something_else():
    promise = Promise.of(DAYS, [series()], "model")
    planned = plan(DAYS, ILL, leakage=1, dependence=promise.declared, knowledge="model")
    totals = {part.key: part for part in planned.charged}
    kept = promise.carried(promise.document, totals)
    assert kept == totals
    states = Schema((*COLUMNS[:2], Categorical("state", (*STATES, "dead"))), most_rows=100).approve()
    four = MarkovChain(4, Box.exact(np.full((4, 4), 0.25)), np.full(4, 0.25))
    other = Promise.of(states, [Declared(four, by="who", order="day", never_missing=("state",))], "model")
    taken = other.carried(promise.document, totals)
    assert all(place_of(key).number is None for key in taken)
    assert other.base(taken.values()).number is None


# what has no price of its own


def test_nothing_else_has_one():
    def number(query, schema=DAYS, **about):
        given = {"dependence": [series()], "knowledge": "model"} | about
        planned = plan(schema, query, leakage=1, **given)
        return planned.promise.base(planned.charged).number

    assert number(ILL) is not None
    assert number(ILL, knowledge="any") is None
    assert number(Histogram("state")) is None
    assert number([ILL, Histogram("state")]) is None
    assert number(ILL, dependence=[series(never_missing=(), missing_says_nothing=("state",))]) is None
    assert number(ILL, dependence=[Declared(Groups(3), by="who")]) is None
    panel = MarkovChain(9, Box.exact(STEP), START)
    about = {"by": "who", "order": "day", "panel": True, "never_missing": ("state",)}
    assert number(ILL, dependence=[Declared(panel, **about)]) is None
    leaving = Schema(COLUMNS, most_rows=100, neighbours="add_remove").approve()
    assert number(Count(where=parse("state = 'ill'", leaving)), leaving) is None
    ages = Schema((*COLUMNS, Integer("age", 0, 9)), most_rows=100).approve()
    assert number(Mean("age"), ages, dependence=[series(columns=("state",))]) is None
    assert number(Count(where=parse("age > 3", ages)), ages, dependence=[series(columns=("state",))]) is None


def test_what_is_too_large_to_follow_is_priced_by_its_loss():
    schema = Schema((*COLUMNS[:2], Integer("pay", 10**9, 10**9 + 2)), most_rows=100).approve()
    given = series(never_missing=("pay",))
    planned = plan(schema, Total("pay"), leakage=1, dependence=[given], knowledge="model")
    (proved,) = planned.promise.bounds(planned.promise.base(planned.charged)).values()
    assert proved.theorem.name != "exact scalar of series"
    long = Declared(MarkovChain(400, Box.exact(STEP), START), by="who", order="day", never_missing=("state",))
    planned = plan(DAYS, ILL, leakage=1, dependence=[long], knowledge="model")
    (proved,) = planned.promise.bounds(planned.promise.base(planned.charged)).values()
    assert proved.theorem.name != "exact scalar of series"


def test_what_has_to_be_believed_is_said():
    planned = plan(DAYS, ILL, leakage=1, dependence=[series()], knowledge="model")
    assert any("lacks a value" in line for line in planned.promise.trusted)
    assert not any("missing says nothing" in line for line in planned.promise.trusted)
    assert any("No step of a series is missing" in line for line in planned.promise.trusted)


def test_it_breaks_where_a_value_is_missing_after_all():
    """Never missing is believed: the law of the sum is another one where values are left out."""
    flip = np.array([[0.02, 0.98], [0.98, 0.02]])
    schema = Schema((*COLUMNS[:2], Integer("state", 0, 1)), most_rows=9).approve()
    chain = MarkovChain(5, Box.exact(flip), np.array([0.5, 0.5]))
    declared = Declared(chain, by="who", order="day", never_missing=("state",))
    query = Count(where=parse("state = 1", schema))
    planned = plan(schema, query, leakage=1, dependence=[declared], knowledge="model")
    holes = [
        MemoryTable(
            schema,
            [{"who": "w", "day": at + 1, "state": None if at % 2 else s} for at, s in enumerate(states)],
        )
        for states in itertools.product(range(2), repeat=5)
    ]
    found = gain(law_of(5, flip, [0.5, 0.5]), log_likelihoods(planned, holes), "model", secrets=[0, 2, 4])
    assert found > 1.5 > certified(planned)


def test_a_charge_names_its_number_and_is_read_back():
    planned = plan(DAYS, ILL, leakage=1, dependence=[series()], knowledge="model")
    (part,) = planned.charged
    place = place_of(part.key)
    assert place.number.scale == planned.statistics[0].law.scale
    assert key_of(place.where, None, number=place.number) == part.key
    assert place.number.added.weights == (0, 0, 1, 0)
