"""Panels: what is asked about one step is charged to it alone, and an exact adversary never gains more."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from entwined.dependence import Box, Groups, MarkovChain, VaryingChain
from entwined.errors import BadModel, OverBudget, Refused
from entwined.ledger import Ledger
from entwined.promise.declared import Declared
from entwined.promise.panel import StepLosses, series_in_all
from entwined.promise.places import place_of
from entwined.promise.promise import Promise
from entwined.queries import Count, Histogram, parse
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Boolean, Categorical, Cells, Integer, Moment, Schema, Text
from support.adversary import certified, gain, log_likelihoods
from support.memory_table import MemoryTable
from support.oracle import worst_leakages

ILL = ("well", "ill")
STICKY = np.array([[0.9, 0.1], [0.3, 0.7]])
LOOSE = np.array([[0.6, 0.4], [0.4, 0.6]])
START = np.array([0.75, 0.25])
CLOSE = 1e-9


def panel_of(steps, **more):
    columns = Text("who", compare="exact"), Integer("month", 1, steps), Categorical("state", ILL)
    return Schema(columns, most_rows=10_000, **more).approve()


def declared(model, **more):
    about = {"by": "who", "order": "month", "missing_says_nothing": ("state",), "panel": True}
    return Declared(model, **about | more)


def ill(schema, when=""):
    return Count(where=parse(" and ".join(filter(None, ("state = 'ill'", when))), schema))


def law_of(start, steps):
    """The joint law of a chain, a table for each step to the next."""
    law = np.array(start)
    for step in steps:
        law = law[..., None] * np.asarray(step)
    return law


def losses(schema, model, questions, **more):
    planned = plan(schema, questions, loss=1, dependence=[declared(model)], **more)
    return planned.promise.base(planned.charged).steps


def test_a_step_is_charged_for_what_reads_it():
    schema, model = panel_of(6), MarkovChain(6, Box.exact(STICKY))
    asked = [ill(schema, "month = 3"), ill(schema, "month <= 2"), ill(schema)]
    found = losses(schema, model, asked)
    one = found.each[5]
    assert [loss / one for loss in found.each] == [2, 2, 2, 1, 1, 1]
    assert not found.apart
    apart = losses(schema, model, [ill(schema, f"month = {month}") for month in (2, 5)])
    assert apart.apart
    assert [bool(loss) for loss in apart.each] == [False, True, False, False, True, False]
    by_month = losses(
        schema, model, Histogram("month")
    )  # whether there is a row at a step is a secret of that step
    assert set(by_month.each) == {max(by_month.each)}
    assert max(by_month.each) > 0
    rows = losses(
        panel_of(6, neighbours="add_remove"), model, Count()
    )  # no step has a row that is not counted, but it may have none
    assert len(set(rows.each)) == 1
    assert min(rows.each) > 0
    nothing = losses(schema, model, ill(schema, "month is null"))
    assert sum(nothing.each) == 0


def test_steps_that_no_condition_tells_apart_are_worked_out_once_and_right():
    """Random conditions over two columns: each step by itself says the same as all at once."""
    columns = Integer("month", 1, 9), Categorical("state", ("a", "b", "c")), Boolean("new")
    schema = Schema(columns, most_rows=100).approve()
    order, rng = schema.coded("month"), np.random.default_rng(5)
    texts = [
        "month = 4",
        "month < 3 or state = 'a'",
        "new and month between 2 and 7",
        "state = 'b'",
        "month > 8",
    ]
    for _ in range(20):
        some = [f"({texts[at]})" for at in rng.integers(0, len(texts), 3)]
        where = " or ".join((" and ".join(some[:2]), some[2]))
        planned = plan(schema, [Count(where=parse(one, schema)) for one in (where, *some)], loss=1)
        found = StepLosses.of(planned.charged, order)
        for step in range(order.levels):
            rows = [
                {"month": step, "state": state, "new": new}
                for state, new in itertools.product(range(4), range(3))
            ]
            assert found.each[step] == worst_pair(planned.charged, rows), (where, step)


def worst_pair(parts, rows):
    """The most that two of these rows, or one and no row, come to."""
    held = [[place_of(part.key).where.holds(row) for part in parts] for row in rows] + [[False] * len(parts)]
    return max(
        sum(
            part.both if a and b else part.one if a or b else 0
            for part, a, b in zip(parts, x, y, strict=True)
        )
        for x, y in itertools.combinations(held, 2)
    )


@pytest.mark.parametrize("knowledge", ["any", "model"])
@pytest.mark.parametrize("kind", ["even", "day and night", "a kernel a step"])
def test_an_exact_adversary_of_a_small_panel_never_gains_more(knowledge, kind):
    """Two counts of single months and one of three, of a person with four months beside one who never changes."""
    schema = panel_of(4)
    tables = {
        "even": [STICKY] * 3,
        "day and night": [STICKY, LOOSE, STICKY],
        "a kernel a step": [LOOSE, STICKY, LOOSE],
    }
    steps = tables[kind]
    model = {
        "even": MarkovChain(4, Box.exact(STICKY), START),
        "day and night": VaryingChain(4, Box.exact([STICKY, LOOSE]), START),
        "a kernel a step": VaryingChain(4, Box.exact(steps), START),
    }[kind]
    asked = [ill(schema, "month = 1"), ill(schema, "month = 4"), ill(schema, "month <= 3")]
    planned = plan(schema, asked, leakage=1.5, dependence=[declared(model)], knowledge=knowledge)
    joint = law_of(START, steps)
    worlds = [
        MemoryTable(
            schema, [{"who": "w", "month": at + 1, "state": ILL[state]} for at, state in enumerate(states)]
        ).keeping("who", 4, "month")
        for states in itertools.product(range(2), repeat=4)
    ]
    found = gain(joint, log_likelihoods(planned, worlds), knowledge)
    assert found <= certified(planned) <= 1.5
    assert found > 1.3  # the noise is not more than it has to be
    each = [float(loss) for loss in planned.promise.base(planned.charged).steps.each]
    exact = worst_leakages(joint, each, "model" if knowledge == "model" else "values").max()
    assert found <= exact * (1 + CLOSE)
    assert exact <= certified(planned) * (1 + CLOSE)


def test_gaps_late_starts_and_early_ends():
    """Whoever has no row at a step shows nothing there, and whether there is one is protected with the rest."""
    schema = panel_of(3)
    model = MarkovChain(3, Box.exact([[0.8, 0.15, 0.05], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]]))
    asked = [ill(schema, "month = 1"), Count(where=parse("month = 2", schema)), ill(schema, "month = 3")]
    planned = plan(schema, asked, leakage=1, dependence=[declared(model, missing_says_nothing=())])
    law = law_of([0.3, 0.3, 0.4], [model.transition.low] * 2)  # the last state: no row
    worlds = [
        MemoryTable(
            schema,
            [
                {"who": "w", "month": at + 1, "state": ILL[state]}
                for at, state in enumerate(states)
                if state < 2
            ],
        ).keeping("who", 3, "month")
        for states in itertools.product(range(3), repeat=3)
    ]
    found = gain(law, log_likelihoods(planned, worlds))
    assert 0.6 < found <= certified(planned) <= 1
    said = " ".join(planned.promise.trusted)
    assert "without a row at a step of 'month' is in the state missing" in said
    assert "different series are independent" in said


@pytest.fixture(scope="module")
def sixty_months():
    """What a count of loss 1/4 charges to each of sixty months."""
    schema, model = panel_of(60), declared(MarkovChain(60, Box.exact(LOOSE), np.array([0.5, 0.5])))
    asked = [ill(schema, f"month = {month}") for month in range(1, 61)]
    return schema, model, [plan(schema, one, loss="0.25", dependence=[model]).charged for one in asked]


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_monthly_counts_settle_where_plain_privacy_of_persons_adds_up(knowledge, sixty_months):
    """Sixty counts, one a month, each of loss 1/4: under the chain they leak hardly more than a year of them."""
    schema, model, charges = sixty_months
    promise = Promise.of(schema, [model], knowledge)
    totals, seen = {}, []
    for month, charged in enumerate(charges, start=1):
        totals |= {part.key: part for part in charged}
        if month in (1, 2, 3, 12, 60):
            seen.append(promise.price(totals).worst)
    assert seen == sorted(seen)
    assert seen[0] == pytest.approx(0.25)
    assert seen[-1] == pytest.approx(0.3746 if knowledge == "any" else 0.3738, abs=2e-4)
    assert seen[-1] < seen[-2] * (1 + 1e-4)
    assert promise.series_in_all(totals.values()) == 15
    assert series_in_all(promise.document, totals.values()) == 15
    grouped = Promise.of(schema, [Declared(Groups(60), by="who")])
    assert float(grouped.price(totals).worst) >= 15


def test_the_ledger_keeps_losses_by_step(tmp_path):
    schema, model = panel_of(60), declared(MarkovChain(60, Box.exact(LOOSE)))
    rows = [{"who": "w", "month": month, "state": ILL[month % 2]} for month in range(1, 61)]
    ways = {"dependence": [model], "loss": "0.25"}
    promise = Promise.of(schema, [model])
    with Ledger.create(tmp_path / "l.db", Fraction(1), promise, anchor=tmp_path / "a") as ledger:
        for month in (1, 2, 30):
            given = release(MemoryTable(schema, rows), ill(schema, f"month = {month}"), ledger=ledger, **ways)
        spent = ledger.spent()
        assert spent.price.worst == pytest.approx(ledger.price(()).worst) == pytest.approx(0.3001, abs=1e-3)
        assert len(spent.parts) == 3
        assert verify(given.certificate, schema).valid
        with pytest.raises(OverBudget):
            release(MemoryTable(schema, rows), ill(schema), ledger=ledger, **ways | {"loss": 2})


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_with_a_delta_single_steps_are_separable_and_it_is_one_batch(tmp_path, knowledge):
    schema = panel_of(5)
    model = declared(VaryingChain(5, Box.exact([STICKY, LOOSE]), START))
    asked = [ill(schema, f"month = {month}") for month in range(1, 6)]
    planned = plan(schema, asked, leakage=1, dependence=[model], knowledge=knowledge, delta="1e-6")
    (bound,) = planned.promise.bounds(planned.promise.base(planned.charged)).values()
    assert bound.theorem.name.startswith("separable")
    whole = plan(schema, [ill(schema)], leakage=1, dependence=[model], knowledge=knowledge, delta="1e-6")
    (bound,) = whole.promise.bounds(whole.promise.base(whole.charged)).values()
    assert bound.theorem.name.startswith("gaussian")
    assert whole.statistics[0].law.scale > planned.statistics[0].law.scale
    assert planned.promise.is_for_one_batch
    assert float(planned.promise.series_in_all(planned.charged)) > 1
    rows = [{"who": "w", "month": 1, "state": "ill"}]
    with Ledger.create(tmp_path / "l.db", Fraction(2), planned.promise, anchor=tmp_path / "a") as ledger:
        one = {"dependence": [model], "knowledge": knowledge, "delta": "1e-6", "ledger": ledger}
        release(MemoryTable(schema, rows), asked[:1], leakage="0.1", **one)
        with pytest.raises(OverBudget, match="steps of a panel"):
            release(MemoryTable(schema, rows), asked[1:2], leakage="0.1", **one)


WRONG = {
    "no chain": (Declared(Groups(3), by="who", panel=True), "no column says which step"),
    "no order": (
        Declared(MarkovChain(4, Box.exact(STICKY)), by="who", panel=True),
        "no column says which step",
    ),
    "too short": (
        declared(MarkovChain(3, Box.exact(STICKY))),
        "has 3 steps, and column 'month' has 4 values",
    ),
    "too long": (declared(MarkovChain(5, Box.exact(STICKY))), "has 5 steps, and column 'month' has 4 values"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_panel_is_refused(case):
    given, why = WRONG[case]
    with pytest.raises((BadModel, Refused), match=why):
        given.check(panel_of(4))


def test_panels_are_over_rows_and_their_steps_are_public():
    schema = Schema((Categorical("a", ILL), Categorical("b", ILL)), unit=Cells(), most_rows=9).approve()
    with pytest.raises(BadModel, match="`panel` out"):
        Declared(MarkovChain(2, Box.exact(np.full((3, 3), 1 / 3))), panel=True).check(schema)
    with pytest.raises(BadModel, match="true or false"):
        Declared(Groups(2), panel="yes")
    monthly = Moment("month", "2026-01-01", "2030-12-31", step="month")
    waves = Schema((Text("who", compare="exact"), monthly, Categorical("state", ILL)), most_rows=9).approve()
    declared(MarkovChain(60, Box.exact(STICKY))).check(waves)


def test_a_chain_that_varies_says_what_it_is():
    day = VaryingChain(24, Box.exact([LOOSE] * 12 + [STICKY] * 12), START)
    assert day.turns.tolist() == [*range(23)]
    assert math.isclose(day.log_odds[0], 2 * math.log(1.5), rel_tol=1e-9)
    assert day.times_as_strong(2).log_odds[0] == pytest.approx(2 * day.log_odds[0])
    with pytest.raises(BadModel, match="never used"):
        VaryingChain(3, Box.exact([LOOSE] * 4))
    with pytest.raises(BadModel, match="not square"):
        VaryingChain(3, Box.exact([[[0.5, 0.5]]]))
