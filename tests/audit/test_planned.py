"""Stages: planned releases and models become generated people, and what is shown of them costs what was charged."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import entwined as ew
from entwined.audit.comparison import attack_document, compare
from entwined.audit.family import FAMILY, TARGET, family_model, family_stage, inherited, relatives_say
from entwined.audit.neighbours import neighbouring
from entwined.audit.planned import staged_release
from entwined.audit.row_adds import RowAdds
from entwined.audit.staging import staged_model
from entwined.dependence import BayesNet, Box, Forms, Graph, Groups, Independent, MarkovChain, Variable
from entwined.errors import BadInput, BadLoss, DoesNotApply, Refused
from entwined.queries import Count, GroupBy, Histogram, Marginal, Median, Total
from entwined.request.request import Question, Request
from entwined.schema import Boolean, Cells, Integer, Person, Schema, Text
from support.exact_answers import exact_answer

COLUMNS = (Text("home", compare="exact"), Boolean("well"), Integer("age", 0, 30))
TIED = BayesNet.of(
    [
        Variable("well", ("0", "1", "2"), (), [[0.3, 0.6, 0.1]]),
        Variable(
            "age",
            tuple(map(str, range(4))),
            ("well",),
            [[0.7, 0.1, 0.1, 0.1], [0.1, 0.4, 0.4, 0.1], [0.25] * 4],
        ),
    ]
)
SMALL = (Text("home", compare="exact"), Boolean("well"), Integer("age", 0, 2))


def request(schema, queries, dependence=(), **terms):
    asked = tuple(Question(str(at), query.bound(schema), "") for at, query in enumerate(queries))
    given = terms or {"leakage": Fraction(1)}
    return Request("t.csv", schema, "l.sqlite", asked, dependence=tuple(dependence), **given)


def schema_of(columns=COLUMNS, **more):
    return Schema(columns, most_rows=1000, **more).approve()


@pytest.mark.parametrize(
    "query",
    [
        Count(where="age > 1"),
        Total("age"),
        Histogram("age"),
        GroupBy(("well",), "age"),
        Marginal(("well", "age")),
    ],
)
def test_rows_add_what_the_exact_answer_of_a_table_of_one_row_is(query):
    schema = schema_of(SMALL)
    rows = [{"well": well, "age": age} for well, age in itertools.product(range(3), range(4))]
    for statistic in query.bound(schema).statistics(schema):
        found = RowAdds(rows).to(statistic.aggregate)
        assert found.tolist() == [exact_answer(statistic.aggregate, [row]) for row in rows]


STAGES = {
    "rows": ({}, Groups(3), "home"),
    "rows that may be absent": ({"neighbours": "add_remove"}, Groups(3), "home"),
    "persons": ({"unit": Person("home", 2)}, Groups(2), None),
    "cells": ({"unit": Cells()}, TIED, None),
}


@pytest.mark.parametrize("name", STAGES)
def test_a_planned_release_shows_of_a_unit_what_was_charged_and_no_more(name):
    more, model, by = STAGES[name]
    schema = schema_of(SMALL, **more)
    given = ew.Declared(model, by=by)
    queries = [Histogram("well"), Count(where="age >= 1"), Histogram("age")]
    (stage,) = staged_release(request(schema, queries, [given]))
    for noised, kept in ((stage.plain, False), (stage.kept, True)):
        losses = [
            sum(one.largest_change(unit) / float(one.noise.scale) for one in noised.shown)
            for unit in stage.law.people
        ]
        assert max(losses) <= (stage.promised if not kept else noised.certified) + 1e-9
        assert max(losses) > 0.3 * stage.promised / (3 if kept else 1)
    assert stage.kept.certified <= stage.promised + 1e-9 < stage.plain.certified


def test_people_of_a_release_are_attacked_and_plain_noise_fails_where_certified_noise_holds():
    schema = schema_of(neighbours="add_remove")
    (stage,) = staged_release(
        request(schema, [Count(where="age > 10")], [ew.Declared(Groups(12), by="home")])
    )
    assert stage.values[0][0] == "not in the table"
    found = compare(stage, shares=(0, 1), releases=60, generator=np.random.default_rng(1))
    assert found.most_added > 2 * stage.promised
    assert found.most_kept <= stage.promised
    document = attack_document([found])["models"][0]
    assert document["plain_breaks_its_promise"]
    assert document["attacks"][1]["plain"]["added"]["largest_log_odds_at_any_answer"] <= 1 + 1e-9
    same = {
        one[way]["ordinary_release"]["truth"]
        for one in document["attacks"][:1]
        for way in ("plain", "certified", "believes_independence")
    }
    assert len(same) == 1


def test_a_series_has_its_states_and_a_release_without_models_is_of_independent_rows():
    schema = Schema(
        (Text("who", compare="exact"), Integer("day", 0, 50), Boolean("ill", missing="drop")), most_rows=50
    ).approve()
    chain = MarkovChain(8, Box.exact(np.full((3, 3), 0.05) + 0.85 * np.eye(3)))
    given = ew.Declared(chain, by="who", order="day", columns=("ill",))
    (stage,) = staged_release(request(schema, [Count(where="ill")], [given]))
    assert stage.values[0] == ("ill = False", "ill = True", "ill = missing")
    assert stage.target not in (0, 7)  # in the middle most leaks
    (alone,) = staged_release(request(schema, [Count(where="ill")], loss=Fraction(1)))
    assert alone.model.kind == "independent"
    assert compare(alone, shares=(0.0,), releases=30).most_added <= 1 + 1e-9


def test_what_is_chosen_is_named_and_not_looked_at():
    schema = schema_of()
    (stage,) = staged_release(
        request(schema, [Count(where="well"), Median("age")], [ew.Declared(Groups(3), by="home")])
    )
    assert stage.left_out == ("chosen by age",)
    with pytest.raises(Refused, match="nothing to attack"):
        staged_release(request(schema, [Median("age")]))


def test_only_those_who_have_a_bearing_on_the_target_are_met():
    pairs = Graph(1000, np.arange(1000).reshape(-1, 2), np.array([2.0]))
    stage = staged_model(pairs, 1, target="node 501")
    assert (stage.law.units, stage.target, stage.units) == (2, 1, ("node 500", "node 501"))
    alone = staged_model(Independent(1000), 1, target="40")
    assert alone.units[alone.target] == "unit 40"
    with pytest.raises(Refused, match="2,000"):
        staged_model(MarkovChain(3000, Box.exact([[0.9, 0.1], [0.1, 0.9]])), 1)
    schema = schema_of(SMALL, unit=Cells())
    open_values = ew.Declared(Groups(2), columns=("well", "age"))
    (cells,) = staged_release(request(schema, [Histogram("well"), Histogram("age")], [open_values]))
    assert cells.values == (("False", "True"), ("0", "2"))


def test_models_are_staged_alone():
    stage = staged_model(Groups(5), "0.5", publish="histogram")
    assert [one.largest_change(0) / float(one.noise.scale) for one in stage.plain.shown] == [
        pytest.approx(0.5)
    ]
    assert stage.plain.certified == pytest.approx(2.5)
    assert staged_model(Groups(5), 1, target="3").target == 3
    assert staged_model(TIED, 1, target="age").target == 1
    assert staged_model(Independent(3), 1, publish="each", values=4).law.sizes == (4, 4, 4)
    with pytest.raises(BadInput, match="no unit"):
        staged_model(Groups(5), 1, target="Ada")
    with pytest.raises(Refused, match="300,000"):
        staged_model(Independent(500_000), 1)
    with pytest.raises(BadLoss):
        staged_model(Groups(5), "-1")
    with pytest.raises(DoesNotApply):
        staged_model(Forms.of(TIED, "form", [["well", "age"]]), 1)


def test_neighbouring_tables_differ_in_one_unit():
    for more, _, _ in STAGES.values():
        schema = schema_of(SMALL, **more)
        batch = request(schema, [Histogram("well"), Count(where="age >= 1")]).plan()
        here, there = neighbouring(batch)
        gone = [row for row in here if here.count(row) > there.count(row)]
        come = [row for row in there if there.count(row) > here.count(row)]
        assert 1 <= len(gone) + len(come) <= 2 * schema.unit.most_rows + 2 * len(here)
        if schema.unit.by_column:
            differing = [name for name in here[-1] if here[-1][name] != there[-1][name]]
            assert len(differing) == 1
        if schema.neighbours == "add_remove":
            assert len(there) == len(here) + 1


def test_among_many_columns_the_tables_are_as_far_apart_as_was_charged():
    columns = tuple(Integer(f"c{at}", 0, 40) for at in range(7))
    schema = Schema(columns, most_rows=1000).approve()
    queries = [Total(f"c{at}") for at in range(5)] + [
        Count(where="c5 > 30 and c6 between 10 and 12"),
        Histogram("c0"),
    ]
    batch = request(schema, queries).plan()
    here, there = (
        [RowAdds(rows).to(one.statistic.aggregate).sum(axis=0) for one in batch.statistics]
        for rows in neighbouring(batch)
    )
    apart = sum(
        np.abs(one - other).sum() / float(asked.law.scale)
        for one, other, asked in zip(here, there, batch.statistics, strict=True)
    )
    assert apart == pytest.approx(float(batch.price.nominal))


def test_the_family_follows_mendel():
    law = family_model().member()
    assert inherited(1, 1).tolist() == [0.25, 0.5, 0.25]
    assert all(law.marginal(unit) == pytest.approx([0.81, 0.18, 0.01]) for unit in law.people)
    target = [one.name for one in FAMILY].index(TARGET)
    said = {one["relation"]: one for one in relatives_say(law, target)}
    assert said["mother"]["if_carrier"] == pytest.approx(said["father"]["if_carrier"])
    assert said["mother"]["if_carrier"] > said["grandmother"]["if_carrier"] > 0.19 > said["mother"]["if_not"]
    found = compare(family_stage(1), shares=(0,), releases=40, generator=np.random.default_rng(2))
    assert 2 < found.most_added <= found.stage.plain.certified
    assert found.most_kept <= 1
