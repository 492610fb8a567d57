"""Panels of protected persons: two secrets, two figures, and an exact adversary of either never gains more."""

import itertools
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from entwined.audit.neighbours import neighbouring
from entwined.audit.planned import staged_release
from entwined.audit.row_adds import RowAdds
from entwined.dependence import Box, EndlessChain, Groups, MarkovChain
from entwined.door.certificate import opened, sealed
from entwined.errors import BadModel, Refused
from entwined.ledger import Ledger
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.promise.terms import carried
from entwined.queries import Count, parse
from entwined.request.request import Question, Request
from entwined.request.reserving import reserve_for
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Integer, Person, Rows, Schema, Text
from entwined.tables import open_table
from support.adversary import gain, log_likelihoods
from support.memory_table import MemoryTable

STICKY = np.array([[0.9, 0.1], [0.3, 0.7]])
START = np.array([0.75, 0.25])
THERE = ("well", "ill")
CHAIN, WHOLE = "markov_chain by who", "whole person"


def schema_of(steps=3, most=None, **more):
    columns = Text("who", compare="exact"), Integer("month", 1, steps), Categorical("state", THERE)
    return Schema(columns, unit=Person("who", most or steps), most_rows=10_000, **more).approve()


def panel(steps=3, **more):
    about = {"by": "who", "order": "month", "panel": True, "missing_says_nothing": ("state",)}
    return Declared(MarkovChain(steps, Box.exact(STICKY), START), **about | more)


def ill(schema, when=""):
    return Count(where=parse(" and ".join(filter(None, ("state = 'ill'", when))), schema))


def monthly(schema, months):
    return [ill(schema, f"month = {month}") for month in months]


def course(states):
    """What a person holds month by month, twice in each; None for no row."""
    return [
        {"who": "w", "month": at + 1, "state": THERE[state]}
        for at, state in enumerate(states)
        if state is not None
        for _ in range(2)
    ]


def law_of(steps):
    law = START
    for _ in range(steps - 1):
        law = law[..., None] * STICKY
    return law


@pytest.mark.parametrize("neighbours", ["replace", "add_remove"])
@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_an_exact_adversary_of_a_step_and_of_a_whole_person_gains_no_more(knowledge, neighbours):
    """Counts of single months and of all of them: the odds of one step by the chain, those of two courses by the sum."""
    schema = schema_of(neighbours=neighbours)
    asked = [ill(schema, "month = 1"), ill(schema), ill(schema, "month >= 2")]
    planned = plan(schema, asked, leakage=2, dependence=panel(), knowledge=knowledge)
    assert set(planned.price.leakage) == {CHAIN, WHOLE}
    held = list(itertools.product((0, 1, None), repeat=3))
    worlds = [MemoryTable(schema, course(one)).keeping("who", 3, "month") for one in held]
    logs = log_likelihoods(planned, worlds)
    always = [at for at, one in enumerate(held) if None not in one]
    step = gain(law_of(3), logs[:, always], knowledge)
    whole = float((logs.max(axis=1) - logs.min(axis=1)).max())
    assert 0.7 * planned.price.leakage[CHAIN] < step <= planned.price.leakage[CHAIN] < 2
    assert whole <= float(planned.price.leakage[WHOLE]) * (1 + 1e-9) <= 2 * (1 + 1e-9)
    assert whole > 2 - 1e-6  # reached, so no less noise would do
    assert planned.price.worst == planned.price.leakage[WHOLE] == float(planned.price.nominal)


def test_with_a_gap_the_missing_step_is_a_state_and_its_secret():
    schema = schema_of()
    model = MarkovChain(3, Box.exact([[0.8, 0.15, 0.05], [0.2, 0.7, 0.1], [0.1, 0.1, 0.8]]))
    declared = Declared(model, by="who", order="month", panel=True)
    asked = [ill(schema, "month = 1"), Count(where=parse("month = 2", schema)), ill(schema, "month = 3")]
    planned = plan(schema, asked, leakage=1, dependence=declared)
    law = np.array([0.3, 0.3, 0.4])
    for _ in range(2):
        law = law[..., None] * model.transition.low
    held = itertools.product((0, 1, None), repeat=3)
    worlds = [MemoryTable(schema, course(one)).keeping("who", 3, "month") for one in held]
    logs = log_likelihoods(planned, worlds)
    assert 0.3 < gain(law, logs) <= planned.price.leakage[CHAIN]
    assert float((logs.max(axis=1) - logs.min(axis=1)).max()) <= 1 + 1e-9


def test_months_add_up_for_a_person_and_settle_for_a_step():
    schema, model = schema_of(60), panel(60)
    promise = Promise.of(schema, [model])
    totals = {}
    for one in monthly(schema, range(1, 61)):
        totals |= {part.key: part for part in plan(schema, one, loss="0.25", dependence=model).charged}
    price = promise.price(totals)
    assert price.nominal == price.leakage[WHOLE] == price.worst == 15
    by_rows = Schema(schema.columns, most_rows=10_000).approve()
    assert price.leakage[CHAIN] == Promise.of(by_rows, [model]).price(totals).worst < 3
    assert promise.series_in_all(totals.values()) is None  # it is a price of its own


def test_a_month_has_the_noise_of_one_row_and_all_months_that_of_all():
    """Without the panel a person may have all rows in one month, and every count has the noise for that."""
    schema = schema_of(12)
    (month,), (year,) = (plan(schema, one, loss=1, dependence=panel(12)).statistics for one in (monthly(schema, [3]), ill(schema)))  # fmt: skip
    assert (float(month.law.scale), float(year.law.scale)) == (1, pytest.approx(12))
    assert float(plan(schema, monthly(schema, [3]), loss=1).statistics[0].law.scale) == 12


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_with_a_delta_losses_of_single_steps_add_and_others_by_their_shifts(knowledge):
    schema = schema_of(4)
    about = {"leakage": 1, "dependence": panel(4), "knowledge": knowledge, "delta": "1e-6"}
    apart = plan(schema, monthly(schema, range(1, 5)), **about)
    whole = plan(schema, ill(schema), **about)
    each, every = (
        float(one.statistics[0].law.variance) - 3 for one in (apart, whole)
    )  # 3: for whole numbers
    assert every == pytest.approx(4 * each, rel=1e-5)  # four shifts of one against one of four
    for one in (apart, whole):
        assert one.price.leakage[CHAIN] < one.price.leakage[WHOLE] <= 1


def test_a_panel_of_persons_passes_the_door_and_its_certificate_keeps_both(tmp_path):
    schema, models = schema_of(), [panel()]
    rows = [{**row, "who": who} for who in "ab" for row in course((1, None, 1))]
    promise = Promise.of(schema, models)
    with (
        open_table(pa.Table.from_pylist(rows), schema) as table,
        Ledger.create(tmp_path / "l.db", Fraction(10**6), promise, anchor=tmp_path / "a") as ledger,
    ):
        found = release(table, ill(schema), loss=3000, dependence=models, ledger=ledger)
    assert found.of(ill(schema)).value == 4  # two persons with two steps, each of them in the table twice
    assert verify(found.certificate, schema).valid
    assert not any("agree in 'state'" in said for said in found.certificate["trusted"])
    without = opened(found.certificate)
    without["models"] = [one for one in without["models"] if one["name"] != WHOLE]
    assert not verify(sealed(without), schema).valid
    with pytest.raises(BadModel, match="of which no model speaks"):
        Promise(schema, (panel(),))


def test_a_reserve_is_priced_for_whole_persons_too():
    schema = schema_of()
    terms = {"dependence": panel(), "delta": 1e-6}
    reserve = reserve_for(schema, leakage=1, columns=["state = 'ill'"], **terms)
    planned = plan(schema, monthly(schema, [2]), leakage="0.5", reserve=reserve, **terms)
    price = planned.promise.price({part.key: part for part in planned.charged})
    assert price.leakage[CHAIN] < price.leakage[WHOLE] == pytest.approx(1, rel=1e-5)
    assert price.leakage[WHOLE] <= 1


REFUSED = {
    "other series": (
        schema_of(),
        Declared(MarkovChain(3, Box.exact(STICKY)), by="state", order="month", panel=True),
        "Name the panel by 'who'",
    ),
    "fewer rows than steps": (schema_of(most=2), panel(), "Declare most = 3"),
    "no end": (
        schema_of(),
        Declared(EndlessChain(Box.exact(STICKY)), by="who", order="month", columns=("state",)),
        "adds up for ever",
    ),
    "a series of rows": (schema_of(), panel(panel=False), "declare the series as a panel"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_promised_of_persons_is_refused_with_what_to_do(case):
    schema, given, why = REFUSED[case]
    with pytest.raises(Refused, match=why):
        Promise.of(schema, [given])


def test_losses_do_not_go_over_to_persons_without_steps():
    schema = schema_of()
    planned = plan(schema, ill(schema), loss=1, dependence=panel())
    totals = {part.key: part for part in planned.charged}
    for other in ([], [Declared(Groups(3), by="who")]):
        with pytest.raises(Refused, match="picking of rows"):
            carried(planned.promise.document, Promise.of(schema, other).document, totals)


@pytest.mark.parametrize("unit", [Person("who", 3), Rows()])
def test_attacks_of_a_panel_are_staged_at_the_steps_that_are_read(unit):
    """A count of one month moves with that month alone, so no made-up people gain more than is certified."""
    schema = Schema(schema_of().columns, unit=unit, most_rows=10_000).approve()
    asked = (Question("ill", ill(schema, "month = 2"), ""),)
    wanted = Request("t.csv", schema, "l.sqlite", asked, dependence=(panel(),), leakage=Fraction(1))
    for stage in staged_release(wanted):
        (vector,) = stage.kept.shown
        moved = [int(np.ptp(addend.numbers)) for addend in vector.addends]
        assert moved == ([1] * len(moved) if stage.name == WHOLE else [0, 1, 0])


def test_the_tables_of_an_audit_differ_in_one_row_a_step():
    """All rows of the person that is changed are at steps of their own, and move the counts by all that is charged."""
    schema = schema_of()
    planned = plan(schema, monthly(schema, [1, 2, 3]), loss="0.5", dependence=panel())
    rows = [RowAdds(rows) for rows in neighbouring(planned)]
    moved = [
        abs(int(here.sum() - there.sum())) / float(one.law.scale)
        for one in planned.statistics
        for here, there in [[each.to(one.statistic.aggregate) for each in rows]]
    ]
    assert sum(moved) == pytest.approx(float(planned.price.nominal))
