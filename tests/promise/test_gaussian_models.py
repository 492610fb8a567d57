"""Gaussian noise under models: what a release leaks exactly is below its price, and one batch is all there is."""

import json
import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest

from entwined.bounds.certificate import digest
from entwined.canonical import fraction_text
from entwined.dependence import BayesNet, Box, Forms, Graph, Groups, MarkovChain
from entwined.door.door import Door
from entwined.errors import OverBudget, Refused
from entwined.learning.private import Budget, learn_privately
from entwined.ledger import Ledger
from entwined.mechanisms.batch import plan_batch
from entwined.promise.declared import Declared
from entwined.promise.part import Part
from entwined.promise.promise import promise_of
from entwined.queries import Count, Histogram, Marginal, parse
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Boolean, Categorical, Cells, Schema
from support.memory_table import MemoryTable

DELTA = Fraction(1, 10**4)
STEP = np.array([[0.85, 0.15], [0.3, 0.7]])
NAMES = ("a", "b", "c")
CELLS = Schema(tuple(Boolean(name) for name in NAMES), unit=Cells(), rows=1).approve()
VALUES = ("false", "true")
TABLES = ([[0.4, 0.6]], [[0.8, 0.2], [0.3, 0.7]], [[0.9, 0.1], [0.25, 0.75]])
TREE = Declared(
    BayesNet.of_columns(NAMES, (VALUES,) * 3, ((), ("a",), ("b",)), TABLES),
    missing_says_nothing=NAMES,
)
ROW = {"a": False, "b": True, "c": False}


def hockey_stick(first, second, epsilon):
    """Σ (P − e^ε Q)₊, both ways round."""
    gamma = math.exp(epsilon)
    return max(np.maximum(first - gamma * second, 0).sum(), np.maximum(second - gamma * first, 0).sum())


def noise_on(exact, scale, reach):
    """The law of a whole number with discrete Gaussian noise, on −reach … reach."""
    weights = np.exp(-0.5 * ((np.arange(-reach, reach + 1) - exact) / scale) ** 2)
    return weights / weights.sum()


def test_a_count_over_a_chain_leaks_no_more_than_its_price():
    """Five binary steps: every secret step, every set of known ones, at the δ of the promise."""
    schema = Schema((Boolean("ill"),), rows=5).approve()
    chain = Declared(MarkovChain(5, Box.exact(STEP)), missing_says_nothing=("ill",))
    planned = plan(schema, Count(where=parse("ill", schema)), leakage=2, delta=DELTA, dependence=chain)
    (one,) = planned.statistics
    assert float(planned.price.leakage["markov_chain"]) == pytest.approx(2, rel=1e-6)
    laws = {count: noise_on(count, float(one.law.scale), 60) for count in range(6)}
    worst = 0.0
    for secret in range(5):
        others = [step for step in range(5) if step != secret]
        for known in product((None, 0, 1), repeat=4):
            sides = [_mixed(laws, secret, value, dict(zip(others, known, strict=True))) for value in (0, 1)]
            worst = max(worst, hockey_stick(*sides, 2.0))
    assert DELTA / 50 < worst <= DELTA


def _mixed(laws, secret, value, known):
    """The law of the noisy count given one step and what is known of others."""
    total, mixed = 0.0, 0.0
    for steps in product((0, 1), repeat=5):
        if steps[secret] != value or any(
            there is not None and steps[at] != there for at, there in known.items()
        ):
            continue
        chance = math.prod(STEP[a, b] for a, b in pairwise(steps)) / 2
        total, mixed = total + chance, mixed + chance * laws[sum(steps)]
    return mixed / total


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_counts_of_each_column_leak_no_more_than_their_price(knowledge):
    asked = [Count(where=parse(name, CELLS)) for name in NAMES]
    planned = plan(
        CELLS, asked, leakage="0.5", delta="0.01", dependence=TREE, knowledge=knowledge, shares=[1, 2, 3]
    )
    promise = planned.promise
    assert promise.base(planned.charged).separable
    bound = promise.bounds(promise.base(planned.charged))["bayes_net"]
    assert bound.theorem.name == ("separable messages" if knowledge == "any" else "separable transport")
    scales = {one.statistic.aggregate.where.columns[0]: float(one.law.scale) for one in planned.statistics}
    laws = {name: [noise_on(value, scales[name], 30) for value in (0, 1)] for name in NAMES}
    worst = 0.0
    for secret in NAMES:
        others = [name for name in NAMES if name != secret]
        for known in product((None, 0, 1), repeat=2) if knowledge == "any" else [(None, None)]:
            sides = [
                _joint(laws, {secret: value, **dict(zip(others, known, strict=True))}) for value in (0, 1)
            ]
            worst = max(worst, hockey_stick(*sides, 0.5))
    assert 0.004 < worst <= 0.01


def test_a_hidden_variable_of_a_model_costs_nothing_of_its_own_and_is_no_secret():
    """Three columns with a common cause that no table has: its own leakage is above the price."""
    tables = ([[0.5, 0.5]], *[[[0.9, 0.1], [0.15, 0.85]]] * 3)
    net = BayesNet.of_columns(("cause", *NAMES), (VALUES,) * 4, ((), *[("cause",)] * 3), tables)
    asked = [Count(where=parse(name, CELLS)) for name in NAMES]
    for model, above in ((net.hiding(["cause"]), True), (net, False)):
        declared = Declared(model, missing_says_nothing=NAMES)
        planned = plan(CELLS, asked, leakage="0.5", delta="0.01", dependence=declared)
        bound = planned.promise.bounds(planned.promise.base(planned.charged))["bayes_net"]
        assert bound.exposure.rhos[0] == 0
        assert bound.leakage.worst == pytest.approx(0.5, rel=1e-6)
        assert bool(bound.leakage.per_unit[0] > 0.5001) is above


def _joint(laws, known):
    return _mean_of(
        known, lambda *row: np.einsum("i,j,k->ijk", *(laws[n][v] for n, v in zip(NAMES, row, strict=True)))
    )


def _mean_of(known, law):
    """The law of what is released given what is known of the row."""
    total, mixed = 0.0, 0.0
    for values in product((0, 1), repeat=3):
        row = dict(zip(NAMES, values, strict=True))
        if any(there is not None and row[name] != there for name, there in known.items()):
            continue
        a, b, c = values
        chance = TABLES[0][0][a] * TABLES[1][a][b] * TABLES[2][b][c]
        total, mixed = total + chance, mixed + chance * law(*values)
    return mixed / total


def test_what_reads_two_columns_is_not_taken_apart():
    """A table of two columns is bounded as one part of both where the model joins them, else with all it may tell of."""
    found = []
    for query in (
        [Histogram("a"), Histogram("b")],
        [Marginal(("a", "b"))],
        [Marginal(("a", "c"))],
        [Histogram("a", where=parse("b", CELLS))],
    ):
        planned = plan(CELLS, query, leakage=1, delta=DELTA, dependence=TREE)
        base = planned.promise.base(planned.charged)
        name = planned.promise.bounds(base)["bayes_net"].theorem.name
        found.append((base.separable, tuple(base.shared), name))
    assert found == [
        (True, (), "separable messages"),
        (False, (("a", "b"),), "shared messages"),
        (False, (("a", "c"),), "shared group"),
        (False, (("a", "b"),), "shared messages"),
    ]


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_a_count_of_two_columns_leaks_no_more_than_its_price(knowledge):
    asked = [Count(where=parse("a and b", CELLS)), Count(where=parse("c", CELLS))]
    planned = plan(CELLS, asked, leakage="0.5", delta="0.01", dependence=TREE, knowledge=knowledge)
    scales = {one.statistic.aggregate.where.columns: float(one.law.scale) for one in planned.statistics}
    both = [noise_on(value, scales["a", "b"], 40) for value in (0, 1)]
    last = [noise_on(value, scales["c",], 40) for value in (0, 1)]
    worst = 0.0
    for secret in NAMES:
        others = [name for name in NAMES if name != secret]
        for known in product((None, 0, 1), repeat=2) if knowledge == "any" else [(None, None)]:
            given = dict(zip(others, known, strict=True))
            sides = [
                _mean_of({secret: value, **given}, lambda a, b, c: np.outer(both[a and b], last[c]))
                for value in (0, 1)
            ]
            worst = max(worst, hockey_stick(*sides, 0.5))
    assert 0.001 < worst <= 0.01


def ledger_at(folder, models=TREE, cap=2, delta=DELTA):
    return Ledger.create(folder / "l.db", Fraction(cap), promise_of(CELLS, models, delta=delta), folder / "a")


def test_one_batch_is_all_there_is(tmp_path):
    table, terms = MemoryTable(CELLS, [ROW]), {"delta": DELTA, "dependence": TREE}
    with ledger_at(tmp_path) as ledger:
        first = release(table, Histogram("a"), leakage=1, ledger=ledger, **terms)
        again = release(table, Histogram("a"), leakage=1, ledger=ledger, **terms)
        assert first.answers == again.answers
        with pytest.raises(OverBudget, match="fixed before anything is seen"):
            release(table, Histogram("b"), leakage="0.1", ledger=ledger, **terms)
        assert len(list(ledger.book.history())) == 3  # begun, charged, answered
    assert verify(first.certificate, CELLS).valid


def test_a_batch_that_failed_is_charged_again(tmp_path):
    class Broken(MemoryTable):
        def answer(self, aggregates):  # noqa: ARG002
            raise OSError

    terms = {"delta": DELTA, "dependence": TREE, "leakage": "0.1"}
    with ledger_at(tmp_path) as ledger:
        with pytest.raises(Exception, match="could not be read"):
            release(Broken(CELLS, [ROW]), Histogram("a"), ledger=ledger, **terms)
        given = release(MemoryTable(CELLS, [ROW]), Histogram("a"), ledger=ledger, **terms)
        once, so_far = (given.certificate[name][0][2] for name in ("losses", "losses_so_far"))
        assert Fraction(so_far) == 2 * Fraction(once)
    assert verify(given.certificate, CELLS).valid


def test_a_certificate_with_another_batch_before_it_is_refused(tmp_path):
    with ledger_at(tmp_path) as ledger:
        given = release(
            MemoryTable(CELLS, [ROW]), Histogram("a"), leakage=1, ledger=ledger, delta=DELTA, dependence=TREE
        )
    forged = json.loads(json.dumps(given.certificate))
    for row in forged["losses_so_far"]:
        row[2] = fraction_text(Fraction(row[2]) * Fraction(3, 2))
    promise = promise_of(CELLS, TREE, delta=DELTA)
    price = promise.price({row[0]: Part.from_row(row) for row in forged["losses_so_far"]})
    forged["total"] = price.document | {"cap": "5/1"}
    del forged["digest"]
    found = verify({**forged, "digest": digest(forged)}, CELLS)
    assert not found.valid
    assert "one batch alone" in found.why


def test_losses_that_may_have_been_chosen_as_one_went_are_not_carried_over(tmp_path):
    """Several batches under independence, then a model over columns: their losses were not fixed together."""
    table = MemoryTable(CELLS, [ROW])
    with ledger_at(tmp_path, Groups(1)) as ledger:
        for name in NAMES:
            release(table, Histogram(name), leakage="0.1", ledger=ledger, delta=DELTA, dependence=Groups(1))
        with pytest.raises(Refused, match="fixed before anything is seen"):
            ledger.migrate(promise_of(CELLS, TREE, delta=DELTA), Fraction(3))


def test_rows_may_be_asked_about_as_one_goes(tmp_path):
    """One loss is capped for all rows, so that what is asked may depend on what was seen."""
    schema = Schema((Boolean("ill"),), rows=6).approve()
    graph = Graph(6, np.array([(0, 1), (1, 2), (2, 0), (3, 4)]), np.full(4, 0.3))
    promise = promise_of(schema, graph, delta=DELTA)
    assert not promise.is_for_one_batch
    with Ledger.create(tmp_path / "l.db", Fraction(2), promise, tmp_path / "a") as ledger:
        table, prices = MemoryTable(schema, [{"ill": True}] * 6), []
        for turn in range(1, 4):
            query = Count(where=parse("ill", schema))
            release(table, query, leakage=Fraction(turn, 4), ledger=ledger, delta=DELTA, dependence=graph)
            prices.append(float(ledger.spent().price.worst))
    assert prices == sorted(prices)
    assert prices[-1] < 0.25 + 0.5 + 0.75  # squares add up, not losses
    alone = plan_batch(promise, Count(where=parse("ill", schema)), leakage=1)
    plain = plan_batch(promise_of(schema, delta=DELTA), Count(where=parse("ill", schema)), leakage=1)
    group = plan_batch(
        promise_of(schema, Groups(3), delta=DELTA), Count(where=parse("ill", schema)), leakage=1
    )
    scales = [float(one.statistics[0].law.scale) for one in (plain, alone, group)]
    assert scales == sorted(scales)


QUESTIONS = BayesNet.of_columns(
    ("p", "q", "r"),
    (("0", "1"),) * 3,
    ((), ("p",), ("q",)),
    ([[0.5, 0.5]], [[0.8, 0.2], [0.3, 0.7]], [[0.7, 0.3], [0.4, 0.6]]),
)
SHEETS = Declared(
    Forms(QUESTIONS, "sheet", np.array([[True, True, False], [True, False, True]])),
    missing_says_nothing=("p", "q", "r"),
)
ASKED_BY = {"q": "A", "r": "B"}
FORMS = Schema(
    (
        Categorical("p", ("0", "1"), missing="drop"),
        *(Categorical(name, ("0", "1", "-7"), missing="drop") for name in ASKED_BY),
        Categorical("sheet", ("A", "B"), missing="drop"),
    ),
    unit=Cells(),
    rows=1,
).approve()


def test_a_question_read_where_its_form_asks_it_is_a_part_of_its_own():
    gated = [Histogram(name, where=parse(f"sheet = '{sheet}'", FORMS)) for name, sheet in ASKED_BY.items()]
    asked = [Histogram("p"), Histogram("sheet"), *gated]
    planned = plan(FORMS, asked, leakage=1, delta=DELTA, dependence=SHEETS)
    base = planned.promise.base(planned.charged)
    assert base.separable
    assert planned.promise.bounds(base)["forms"].theorem.name == "separable blanks left out"
    # a change of form moves its own histogram, and half as much in each of the two that only one form has
    assert base.columns["sheet"] == base.columns["p"] + (base.columns["q"] + base.columns["r"]) / 2
    pure = plan(FORMS, asked, leakage=1, dependence=SHEETS)
    assert not pure.promise.base(pure.charged).separable


def test_a_condition_on_an_answer_is_no_form():
    both = Marginal(("p", "q"), where=parse("sheet = 'A'", FORMS))
    found = plan(FORMS, both, leakage=1, delta=DELTA, dependence=SHEETS)
    assert not found.promise.base(found.charged).separable


def test_a_condition_within_a_form_is_not_the_form():
    """Three sheets, two of which ask a question: read of one of them alone it tells the sheet too."""
    forms = Forms(
        QUESTIONS, "sheet", np.array([[True, True, True], [True, True, False], [True, False, True]])
    )
    sheets = Categorical("sheet", ("A", "B", "C"), missing="drop")
    schema = Schema((*FORMS.columns[:3], sheets), unit=Cells(), rows=1).approve()
    model = Declared(forms, missing_says_nothing=("p", "q", "r"))
    for where, alone in (("sheet in ('A', 'B')", True), ("sheet = 'A'", False)):
        found = plan(
            schema, Histogram("q", where=parse(where, schema)), loss=1, delta=DELTA, dependence=model
        )
        assert found.promise.base(found.charged).separable is alone


def test_learning_under_such_a_promise_is_refused_before_it_is_charged(tmp_path):
    with ledger_at(tmp_path) as ledger:
        door = Door(MemoryTable(CELLS, [ROW]), promise_of(CELLS, TREE, delta=DELTA), ledger)
        with pytest.raises(Refused, match="one batch"):
            learn_privately(door, Budget(1, 1))
        assert ledger.spent().price.worst == 0
