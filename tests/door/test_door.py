"""The door: what is charged, read, handed out and refused, and in which order."""

import json
import threading
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from entwined.dependence import BayesNet, Box, Gaussian, Graph, Groups, Independent, MarkovChain, Variable
from entwined.errors import (
    BadCharge,
    BadInput,
    BadLedger,
    BadLoss,
    BadModel,
    BadNoise,
    BadQuery,
    ChargeClosed,
    EntwinedError,
    OverBudget,
    Refused,
    Unapproved,
    Unreachable,
    Unreadable,
)
from entwined.estimate.answers import Release
from entwined.ledger import Kind, Ledger
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import (
    Count,
    GroupBy,
    Histogram,
    Marginal,
    Mean,
    Median,
    Quantile,
    Total,
    Variance,
    parse,
)
from entwined.request.verbs import plan, release
from entwined.schema import Boolean, Categorical, Cells, Integer, Moment, Person, Real, Schema, Text
from support.memory_table import PEOPLE, ROWS, MemoryTable

ADD_REMOVE = Schema(PEOPLE, neighbours="add_remove", most_rows=10_000).approve()
REPLACE = Schema(PEOPLE, most_rows=10_000).approve()
CELLS = Schema(PEOPLE, unit=Cells(), most_rows=10_000).approve()
EVERY = [
    Count(),
    Count(where=parse("age > 20", ADD_REMOVE)),
    Total("age"),
    Mean("age"),
    Variance("age"),
    Quantile("age", Fraction(1, 10)),
    Median("age"),
    Quantile("age", Fraction(1, 20)),
    Quantile("age", Fraction(19, 20)),
    Histogram("gender"),
    Histogram("age", 5),
    Marginal(("gender", "age")),
    GroupBy(("gender",)),
    GroupBy(("gender",), "age", where=parse("age between 10 and 60", ADD_REMOVE)),
]


@pytest.fixture
def ledger_of(tmp_path):
    """Make real ledgers in files; all are closed at the end."""
    made = []

    def make(schema, dependence=(), cap=Fraction(10), knowledge="any"):
        at = tmp_path / f"{len(made)}.db"
        accountant = Promise.of(schema, dependence, knowledge)
        made.append(Ledger.create(at, cap, accountant, anchor=tmp_path / f"{len(made)}.anchor"))
        return made[-1]

    yield make
    for ledger in made:
        ledger.close()


def charges(ledger):
    return [entry for entry in ledger.book.history() if entry.kind is Kind.CHARGE]


# what is charged


def golden(schema):
    return [
        (Count(), "0.5"),
        (Count(where=parse("gender = 'male'", schema)), "0.2"),
        (Count(where=parse("gender = 'female'", schema)), "0.25"),
        (Count(where=parse("age > 20", schema)), "0.25"),
    ]


def test_golden_composition(ledger_of):
    """0.5, then two disjoint parts at 0.2 and 0.25, then 0.25: 1.2 in sequence, 1.0 in truth."""
    ledger = ledger_of(ADD_REMOVE, cap=Fraction(1))
    table = MemoryTable(ADD_REMOVE, ROWS)
    nominal = [
        (release(table, query, loss=loss, ledger=ledger), ledger.spent().price.nominal)[1]
        for query, loss in golden(ADD_REMOVE)
    ]
    assert nominal == [Fraction("0.5"), Fraction("0.7"), Fraction("0.75"), Fraction(1)]
    assert sum(Fraction(loss) for _, loss in golden(ADD_REMOVE)) == Fraction("1.2")
    with pytest.raises(OverBudget):
        release(table, Count(where=parse("age > 50", ADD_REMOVE)), loss="0.001", ledger=ledger)
    release(table, Count(where=parse("gender = 'male' and age <= 20", ADD_REMOVE)), loss="0.3", ledger=ledger)
    assert ledger.spent().price.nominal == 1  # a boy had 0.7 so far


@pytest.mark.parametrize(("model", "leakage"), [(Independent(1), 1.0), (Groups(3), 3.0)])
def test_golden_composition_with_dependence_across_the_parts(ledger_of, model, leakage):
    ledger = ledger_of(ADD_REMOVE, [model])
    for query, loss in golden(ADD_REMOVE):
        release(MemoryTable(ADD_REMOVE, ROWS), query, loss=loss, dependence=[model], ledger=ledger)
    assert ledger.spent().price.leakage == {model.kind: pytest.approx(leakage, rel=1e-12)}
    assert ledger.spent().price.leakage[model.kind] >= leakage


def test_a_batch_is_charged_as_one_and_reaches_its_target():
    """Each statistic gets the same loss; two halves of the table together cost no more than one."""
    male, female = (Count(where=parse(f"gender = '{one}'", ADD_REMOVE)) for one in ("male", "female"))
    assert plan(ADD_REMOVE, [male, female], loss=1).loss == 1
    assert plan(ADD_REMOVE, [male, female, Count()], loss=1).loss == Fraction(1, 2)
    assert plan(REPLACE, [male, female], loss=1).loss == Fraction(1, 2)  # a man may turn into a woman
    assert plan(REPLACE, [Histogram("gender")], loss=1).statistics[0].law.scale == 2
    assert plan(ADD_REMOVE, [Histogram("gender")], loss=1).statistics[0].law.scale == 1


def test_a_statistic_that_several_queries_need_is_charged_once(ledger_of):
    both = plan(ADD_REMOVE, [Mean("age"), Variance("age"), Mean("age")], loss=1)
    assert len(both.queries) == 2
    assert len(both.statistics) == 3
    assert both.loss == Fraction("0.333333333333")
    table = MemoryTable(ADD_REMOVE, ROWS)
    given = release(table, [Mean("age"), Variance("age"), Mean("age")], loss=1, ledger=ledger_of(ADD_REMOVE))
    mean, variance, again = given.answers
    assert mean == again
    assert (mean.numbers[0], mean.numbers[1]) == (variance.numbers[0], variance.numbers[2])


def test_charges_stay_short_and_never_below_the_noise():
    """A third is charged as a few digits, rounded up, and the noise is no smaller than it says."""
    for query in EVERY:
        planned = plan(ADD_REMOVE, query, loss=Fraction(1, 3))
        assert planned.price.nominal <= Fraction(1, 3)
        assert planned.price.nominal > Fraction(1, 3) * (1 - Fraction(1, 10**11))
        for part in planned.charged:
            assert 10**18 % part.one.denominator == 0
            assert 10**18 % part.both.denominator == 0
        for one in planned.statistics:
            assert one.law.loss(one.statistic.worst(ADD_REMOVE)) <= planned.loss


@pytest.mark.parametrize("schema", [ADD_REMOVE, REPLACE, CELLS], ids=["add_remove", "replace", "cells"])
def test_every_query_is_released(ledger_of, schema):
    queries = [query for query in EVERY if schema is ADD_REMOVE or query != Count()]
    table = MemoryTable(schema, ROWS)
    given = release(table, queries, loss=2, ledger=ledger_of(schema))
    assert table.reads == 1
    for query, answer in zip(queries, given.answers, strict=True):
        assert given.of(query) is answer
        assert answer.asked == query.fingerprint
    again = Release.from_document(json.loads(json.dumps(given.document())))
    assert again.ordered(queries) == given
    assert again.content == given.content


def test_values_and_intervals_keep_their_kinds(ledger_of):
    from datetime import datetime

    schema = Schema(
        (
            Real("height", Fraction(1), Fraction(2), Fraction(1, 100)),
            Moment("born", datetime(2000, 1, 1), datetime(2000, 12, 31)),
            Boolean("well"),
            Text("name"),
        ),
        rows=100,
        most_rows=100,
    ).approve()
    rows = [{"height": 1.5, "born": "2000-06-01", "well": True, "name": f"n{at}"} for at in range(100)]
    queries = [
        Mean("height"),
        Mean("born"),
        Median("born"),
        Median("height"),
        Mean("well", count="public"),
        Total("height"),
        Variance("height"),
        Histogram("well"),
    ]
    given = release(MemoryTable(schema, rows), queries, loss=50, ledger=ledger_of(schema, cap=Fraction(100)))
    kinds = [type(value) for value in given.values]
    assert kinds == [Fraction, datetime, datetime, Fraction, Fraction, Fraction, Fraction, tuple]
    assert Release.from_document(json.loads(given.content)).ordered(queries) == given
    for answer in given.answers[:1] + given.answers[4:7]:
        low, high = answer.interval
        assert low <= answer.value <= high
    assert given.intervals[2] is None
    assert abs(given.values[0] - Fraction(3, 2)) < Fraction(1, 10)


def test_ratios_lie_on_a_public_grid(ledger_of):
    """Every released number is a whole multiple of a step that was known before the rows were."""
    ledger = ledger_of(ADD_REMOVE, cap=Fraction(1000))
    table = MemoryTable(ADD_REMOVE, ROWS * 100)
    for loss in ("2.9", "17", "30"):
        given = release(table, EVERY, loss=loss, ledger=ledger)
        for query, value in zip(EVERY, given.values, strict=True):
            step = Fraction(1, 10**6 if isinstance(query, Mean | Variance) else 10**4)
            for one in value if isinstance(value, tuple) else [value]:
                assert (one / Fraction(step)).denominator == 1


# what is read, and when


def test_the_charge_is_written_before_a_row_is_read(ledger_of):
    ledger, seen = ledger_of(ADD_REMOVE), []

    class Watching(MemoryTable):
        def answer(self, aggregates):
            seen.append((len(charges(ledger)), ledger.spent().price.nominal))
            return super().answer(aggregates)

    table = Watching(ADD_REMOVE, ROWS)
    release(table, [Count(), Histogram("age")], loss=1, ledger=ledger)
    assert seen == [(1, 1)]
    assert table.reads == 1
    assert [entry.kind.value for entry in ledger.book.history()] == ["created", "charge", "answered"]


def test_what_is_handed_out_is_what_was_stored(ledger_of):
    ledger = ledger_of(ADD_REMOVE)
    given = release(MemoryTable(ADD_REMOVE, ROWS), Mean("age"), loss=1, ledger=ledger)
    stored = ledger.stored(charges(ledger)[0].fields["fingerprint"])
    assert json.loads(stored) == [list(numbers) for numbers in given.answers[0].numbers]
    assert ledger.book.check() == 3


SAME = [
    "gender = 'male' and age > 20",
    "age > 20 and gender = 'male'",
    "not (gender <> 'male' or gender is null or age <= 20 or age is null)",
    "age >= 21 and gender in ('male')",
    "gender = 'male' and age between 21 and 99",
]


def test_the_same_question_is_answered_from_store(ledger_of):
    """By text, reordered, as alias, by another analyst, under another request id: one charge, the same bytes."""
    ledger, table = ledger_of(ADD_REMOVE), MemoryTable(ADD_REMOVE, ROWS)
    contents = set()
    for turn, text in enumerate(SAME):
        queries = [Count(where=parse(text, ADD_REMOVE)), Median("age"), Histogram("age")]
        queries = queries[turn % 3 :] + queries[: turn % 3]
        if turn == 4:
            queries.append(Quantile("age", Fraction("0.5")))
        given = release(
            table, queries, loss="0.7", ledger=ledger, analyst=f"analyst {turn}", request=f"r{turn}"
        )
        assert [answer.asked for answer in given.answers] == [query.fingerprint for query in queries]
        contents.add(given.content)
    assert len(contents) == len(charges(ledger)) == table.reads == 1
    release(table, queries, loss="0.70001", ledger=ledger)
    assert len(charges(ledger)) == 2


def test_a_retry_is_charged_once(ledger_of):
    """One request id, a hundred times, eight at once."""
    ledger, table = ledger_of(ADD_REMOVE), MemoryTable(ADD_REMOVE, ROWS)
    contents = []

    def ask():
        for _ in range(13):
            given = release(table, Mean("age"), leakage="0.5", ledger=ledger, request="the one")
            contents.append(given.content)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(contents) == 104
    assert len(set(contents)) == len(charges(ledger)) == table.reads == 1
    with pytest.raises(BadCharge, match="stands for another question"):
        release(table, Median("age"), loss=1, ledger=ledger, request="the one")


# what goes wrong


class Failing(MemoryTable):
    """An engine that fails as engines do: with the cell in its words."""

    error = ValueError

    def answer(self, aggregates):
        super().answer(aggregates)
        raise self.error(f"Conversion Error: could not cast {self.rows[0]!r}")


def test_a_failure_after_reading_keeps_the_charge_and_says_nothing(ledger_of):
    ledger = ledger_of(ADD_REMOVE, cap=Fraction(1))
    with pytest.raises(Unreadable) as failed:
        release(Failing(ADD_REMOVE, ROWS), Count(), loss="0.5", ledger=ledger, request="r")
    assert failed.value.__cause__ is failed.value.__context__ is None
    assert "h1" not in str(failed.value)
    assert [entry.kind.value for entry in ledger.book.history()] == ["created", "charge", "failed"]
    assert ledger.spent().price.nominal == Fraction(1, 2)
    assert "h1" not in "".join(json.dumps(dict(entry.fields)) for entry in ledger.book.history())
    with pytest.raises(ChargeClosed):
        release(MemoryTable(ADD_REMOVE, ROWS), Count(), loss="0.5", ledger=ledger, request="r")
    release(MemoryTable(ADD_REMOVE, ROWS), Count(), loss="0.5", ledger=ledger, request="r2")
    with pytest.raises(OverBudget):
        release(MemoryTable(ADD_REMOVE, ROWS), Count(), loss="0.4", ledger=ledger)


@pytest.mark.parametrize(
    "error", [ValueError, OverflowError, ZeroDivisionError, MemoryError, EntwinedError, KeyError]
)
def test_all_failures_have_the_same_words(ledger_of, error):
    table = Failing(ADD_REMOVE, ROWS)
    table.error = error
    with pytest.raises(Unreadable) as failed:
        release(table, Count(), loss="0.5", ledger=ledger_of(ADD_REMOVE))
    assert str(failed.value).startswith("The rows could not be read, and no answer comes from this request.")


def test_being_stopped_keeps_the_charge(ledger_of):
    table, ledger = Failing(ADD_REMOVE, ROWS), ledger_of(ADD_REMOVE)
    table.error = KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        release(table, Count(), loss="0.5", ledger=ledger)
    assert ledger.spent().price.nominal == Fraction(1, 2)


@pytest.mark.parametrize(
    "wrong", [[], [[1, 2]], [[1], [1]], [[1.5]], [["1"]], [[None]], [[True, 2]]], ids=repr
)
def test_an_engine_that_gives_something_else_is_not_believed(ledger_of, wrong):
    class Wrong(MemoryTable):
        def answer(self, _):
            return wrong

    with pytest.raises(Unreadable):
        release(Wrong(ADD_REMOVE, ROWS), Count(), loss="0.5", ledger=ledger_of(ADD_REMOVE))


NET = BayesNet.of(
    [
        Variable("gender", ("male", "female", "not said"), (), [[0.5, 0.4, 0.1]]),
        Variable("hair", ("long", "short"), ("gender",), [[0.2, 0.8], [0.8, 0.2], [0.5, 0.5]]),
    ]
)
REFUSED = {
    "no question": (BadQuery, ADD_REMOVE, [], {"loss": 1}),
    "no query": (BadQuery, ADD_REMOVE, ["count"], {"loss": 1}),
    "a column that is not there": (BadQuery, ADD_REMOVE, [Mean("wage")], {"loss": 1}),
    "free text": (BadQuery, ADD_REMOVE, [Histogram("home")], {"loss": 1}),
    "a category's mean": (BadQuery, ADD_REMOVE, [Mean("gender")], {"loss": 1}),
    "what is public": (BadQuery, REPLACE, [Count()], {"loss": 1}),
    "neither leakage nor loss": (BadQuery, ADD_REMOVE, [Count()], {}),
    "both leakage and loss": (BadQuery, ADD_REMOVE, [Count()], {"loss": 1, "leakage": 1}),
    "loss 0": (BadLoss, ADD_REMOVE, [Count()], {"loss": 0}),
    "loss below 0": (BadLoss, ADD_REMOVE, [Count()], {"loss": -1}),
    "loss nan": (BadLoss, ADD_REMOVE, [Count()], {"loss": float("nan")}),
    "loss inf": (BadLoss, ADD_REMOVE, [Count()], {"leakage": float("inf")}),
    "loss 1e-320": (BadLoss, ADD_REMOVE, [Count()], {"loss": 1e-320}),
    "loss 1e308": (BadLoss, ADD_REMOVE, [Count()], {"loss": 1e308}),
    "loss 1e-100": (Unreachable, ADD_REMOVE, [Count()], {"loss": "1e-100"}),
    "loss 1e9": (BadNoise, ADD_REMOVE, [Count()], {"loss": "1e9"}),
    "more than the cap": (OverBudget, ADD_REMOVE, [Count()], {"loss": "10.000001"}),
    "unknown knowledge": (BadInput, ADD_REMOVE, [Count()], {"loss": 1, "knowledge": "none"}),
    "a column outside the net": (BadModel, CELLS, [Histogram("age")], {"loss": 1, "dependence": [NET]}),
    "an empty condition": (
        BadQuery,
        ADD_REMOVE,
        [Count(where=parse("age > 20 and age < 10", ADD_REMOVE))],
        {"loss": 1},
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_come_before_any_charge_or_read(ledger_of, name):
    error, schema, queries, options = REFUSED[name]
    table, ledger = MemoryTable(schema, ROWS), ledger_of(schema, options.get("dependence", ()))
    with pytest.raises(error):
        release(table, queries, ledger=ledger, **options)
    assert table.reads == 0
    assert not charges(ledger)


def test_nothing_leaves_under_a_schema_that_is_not_approved(ledger_of):
    schema = Schema(PEOPLE, neighbours="add_remove", most_rows=10_000)
    with pytest.raises(Unapproved):
        release(MemoryTable(schema, ROWS), Count(), loss=1, ledger=ledger_of(ADD_REMOVE))


def test_a_ledger_of_other_models_is_refused(ledger_of):
    table, plain = MemoryTable(ADD_REMOVE, ROWS), ledger_of(ADD_REMOVE)
    for options, said in (
        ({"dependence": [Groups(2)]}, "model added: 'groups'"),
        ({"knowledge": "model"}, "knowledge was any and is model"),
    ):
        with pytest.raises(BadLedger, match=said):
            release(table, Count(), loss=1, ledger=plain, **options)
    with pytest.raises(BadLedger):
        release(MemoryTable(REPLACE, ROWS), Median("age"), loss=1, ledger=plain)
    assert not charges(plain)


# what cannot be told apart from outside


def shape(given):
    """Everything in a release that is not a noisy number, or told from noisy numbers as whether they are of use."""

    def blank(part):
        if isinstance(part, dict):
            hidden = {
                "value",
                "numbers",
                "interval",
                "released",
                "digest",
                "id",
                "hash",
            }  # and digests of them
            return {
                key: (len(value) if isinstance(value, list) else 0) if key in hidden else blank(value)
                for key, value in part.items()
                if key not in {"quality", "relative_error", "reason", "caveat", "warnings"}
            }
        return [blank(one) for one in part] if isinstance(part, list) else part

    return json.dumps(blank(given.document()))


NEIGHBOURS = {
    "no row and one": ([], ROWS[:1]),
    "a rare category": (ROWS, [*ROWS, {"home": "h9", "gender": "other", "age": 5}]),
    "a value far outside": (ROWS, [*ROWS, {"home": "h9", "gender": "male", "age": 10**400}]),
    "no number at all": (ROWS, [*ROWS, {"home": "h9", "gender": 7, "age": "x"}]),
    "NaN": (ROWS, [*ROWS, {"home": "h9", "gender": float("nan"), "age": float("nan")}]),
    "None": (ROWS, [*ROWS, {"home": None, "gender": None, "age": None}]),
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbouring_tables_give_the_same_shapes_orders_and_metadata(ledger_of, name):
    here, there = (
        release(MemoryTable(ADD_REMOVE, rows), EVERY, loss=1, ledger=ledger_of(ADD_REMOVE))
        for rows in NEIGHBOURS[name]
    )
    assert shape(here) == shape(there)
    # where values are exactly known to be a list, lengths are those of the declared domains
    assert len(here.of(Histogram("gender")).value) == len(there.of(Histogram("gender")).value) == 3


def test_errors_are_the_same_on_neighbouring_tables(ledger_of):
    said = []
    for rows in NEIGHBOURS["a rare category"]:
        words = []
        for name, (_, schema, queries, options) in REFUSED.items():
            with pytest.raises(EntwinedError) as refused:
                release(
                    MemoryTable(schema, rows),
                    queries,
                    ledger=ledger_of(schema, options.get("dependence", ())),
                    request=name,
                    **options,
                )
            words.append((type(refused.value), str(refused.value)))
        with pytest.raises(Unreadable) as failed:
            release(Failing(ADD_REMOVE, rows), Count(), loss=1, ledger=ledger_of(ADD_REMOVE))
        said.append([*words, str(failed.value)])
    assert said[0] == said[1]


def test_a_plan_needs_no_table():
    """What a release would cost is known from public things alone."""
    assert plan(ADD_REMOVE, EVERY, leakage=1).price.nominal <= 1


# which models can be promised

CHAIN = MarkovChain(50, Box.exact([[0.9, 0.1], [0.1, 0.9]]))
SERIES = Schema(
    (Text("who", compare="exact"), Integer("day", 0, 99), Categorical("state", ("well", "ill"))), most_rows=50
).approve()
MODELS = {
    "exploratory": (Refused, "without a budget", ADD_REMOVE, Groups(2, "exploratory")),
    "gaussian": (BadModel, "which one its values are in", ADD_REMOVE, Gaussian.of([[1.0, 0.5], [0.5, 1.0]])),
    "a chain shorter than the table": (Refused, "most_rows", ADD_REMOVE, CHAIN),
    "a series without an order": (BadModel, "no order", SERIES, Declared(CHAIN, by="who")),
    "an order without a series": (BadModel, "no series", SERIES, Declared(CHAIN, order="day")),
    "an order that is none": (BadModel, "no order", SERIES, Declared(CHAIN, by="who", order="state")),
    "an unknown column of groups": (BadQuery, "no column", ADD_REMOVE, Declared(Groups(2), by="house")),
    "groups of independent rows": (
        BadModel,
        "Leave `by` out",
        ADD_REMOVE,
        Declared(Independent(1), by="home"),
    ),
    "columns of rows": (BadModel, "protects rows", ADD_REMOVE, Declared(Groups(2), columns=("age",))),
    "groups of cells": (BadModel, "cells of a row", CELLS, Declared(Groups(2), by="home")),
    "a column twice": (BadModel, "each column once", CELLS, Declared(CHAIN, columns=("age", "age"))),
    "too few columns": (BadModel, "2 columns", CELLS, Declared(CHAIN, columns=("age", "gender"))),
    "a panel of persons": (
        Refused,
        "protects persons",
        Schema(PEOPLE, unit=Person("home", 2)).approve(),
        Declared(CHAIN, by="gender", order="age", panel=True),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_cannot_be_promised_is_refused(name):
    error, words, schema, model = MODELS[name]
    with pytest.raises(error, match=words):
        Promise.of(schema, [model])


def test_two_ways_to_pick_rows_are_refused():
    with pytest.raises(BadModel, match="undo"):
        Promise.of(ADD_REMOVE, [Declared(Groups(2), by="home"), Declared(Groups(3), by="gender")])


def test_a_table_that_cannot_pick_is_refused_before_the_charge(ledger_of):
    declared = Declared(Groups(2), by="home")
    ledger = ledger_of(ADD_REMOVE, [declared])
    table = SimpleNamespace(schema=ADD_REMOVE, answer=pytest.fail)
    with pytest.raises(Refused, match="cannot pick"):
        release(table, Count(), loss=1, dependence=[declared], ledger=ledger)
    assert not charges(ledger)


def test_picking_rows_makes_a_removal_as_dear_as_a_replacement():
    """Who leaves a full house lets another one in."""
    histogram = Histogram("gender")
    assert plan(ADD_REMOVE, histogram, loss=1).loss == 1
    assert plan(ADD_REMOVE, histogram, loss=1, dependence=[Groups(2)]).loss == 1
    assert plan(ADD_REMOVE, histogram, loss=1, dependence=[Declared(Groups(2), by="home")]).loss == Fraction(
        1, 2
    )


def test_a_graph_keeps_one_row_a_node():
    graph = Graph(30, np.array([[0, 1], [1, 2]]), np.array([0.4, 0.4]))
    planned = plan(REPLACE, Median("age"), leakage=1, dependence=[Declared(graph, by="home")])
    assert planned.promise.kept.most == 1
    assert 0.999 < planned.price.worst <= 1
    assert planned.price.nominal < Fraction(9, 10)


def test_a_mean_by_a_public_count_is_refused_where_rows_are_left_out():
    schema = Schema(PEOPLE, rows=5, most_rows=5).approve()
    mean = Mean("age", count="public")
    assert plan(schema, mean, loss=1).loss == 1
    with pytest.raises(BadQuery, match="left out"):
        plan(schema, mean, loss=1, dependence=[Declared(Groups(2), by="home")])


def test_under_a_model_removing_is_replacing():
    """A histogram at ε under adding and removing moves by 2ε when a row changes, and so do its dependents."""
    histogram, model = Histogram("gender"), Groups(3)
    price = plan(ADD_REMOVE, histogram, loss=1, dependence=[model]).price
    assert price.nominal == 1
    assert price.leakage["groups"] == pytest.approx(6)
    assert float(plan(ADD_REMOVE, histogram, leakage=1, dependence=[model]).loss) == pytest.approx(
        1 / 6, rel=1e-8
    )


def test_the_door_has_groups_kept_small(ledger_of):
    """With hardly any noise: of five rows of a house three are counted."""
    rows = [{"home": "h", "gender": "male", "age": age} for age in (1, 2, 3, 4, 5)]
    men = Count(where=parse("gender = 'male'", ADD_REMOVE))
    for models, count in (([Declared(Groups(3), by="home")], 3), ([Groups(3)], 5)):
        ledger = ledger_of(ADD_REMOVE, models, cap=Fraction(3000))
        given = release(MemoryTable(ADD_REMOVE, rows), men, leakage=1500, dependence=models, ledger=ledger)
        assert given.values == (count,)


def test_the_door_has_series_cut_by_their_order(ledger_of):
    schema = Schema(
        (Text("who", compare="exact"), Categorical("state", ("well", "ill")), Integer("day", 0, 99)),
        most_rows=50,
    ).approve()
    rows = [{"who": "w", "state": state, "day": day} for day, state in ((9, "well"), (2, "ill"), (1, "ill"))]
    chain = MarkovChain(2, CHAIN.transition)
    models = [Declared(chain, by="who", order="day", missing_says_nothing=("state",))]
    ledger = ledger_of(schema, models, cap=Fraction(1000))
    ill = Count(where=parse("state = 'ill'", schema))
    assert release(MemoryTable(schema, rows), ill, loss=300, dependence=models, ledger=ledger).values == (2,)


def test_models_are_priced_by_name(ledger_of):
    models = [Groups(2), Groups(5), Declared(Groups(3), by="home", name="families"), Independent(7)]
    price = plan(REPLACE, Median("age"), loss=1, dependence=models).price
    assert {name: round(leakage, 9) for name, leakage in price.leakage.items()} == {
        "groups": 2.0,
        "groups 2": 5.0,
        "families": 3.0,
        "independent": 1.0,
    }
    assert round(plan(REPLACE, Median("age"), leakage=1, dependence=models).price.worst, 6) == 1
    ledger = ledger_of(REPLACE, models, cap=Fraction(4))
    with pytest.raises(OverBudget):
        release(MemoryTable(REPLACE, ROWS), Median("age"), loss=1, dependence=models, ledger=ledger)
