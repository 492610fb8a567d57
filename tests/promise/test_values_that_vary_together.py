"""Gaussian models at the door: what is planned leaks no more than its price, and what is not proportional pays in full."""

import json
from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds.certificate import digest
from entwined.dependence import Gaussian, Groups, MaxCorrelation
from entwined.errors import BadModel, BadQuery, Refused
from entwined.ledger import Ledger
from entwined.promise.declared import Declared
from entwined.promise.part import Part
from entwined.promise.places import place_of
from entwined.promise.promise import promise_of
from entwined.queries import Count, Histogram, Mean, Median, Total, Variance, parse
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Cells, Integer, Person, Real, Schema, Text
from support.clipped_sticks import gaussian, hockey_stick, laplace, log_ratio, noisy, sum_law
from support.gaussian_laws import equicorrelated
from support.memory_table import MemoryTable

DELTA = Fraction(1, 10**3)
COLUMNS = (
    Text("family", compare="exact"),
    Real("height", "-20", "20", "2"),  # above or below what is usual
    Integer("weight", 40, 120),
    Categorical("sex", ("f", "m")),
)
SCHEMA = Schema(COLUMNS, rows=60).approve()
LAW = equicorrelated(3, 0.6) * 49
HEIGHTS = {"columns": ("height",), "missing_says_nothing": ("height",)}
KIN = Declared(Gaussian.of(LAW), by="family", **HEIGHTS)
FAMILIES = Declared(Groups(3), by="family")
ROWS = [
    {"family": f"f{n // 3}", "height": n % 23 - 10, "weight": 50 + n, "sex": "fm"[n % 2]} for n in range(60)
]
TOTAL = Total("height")


def bound_of(planned, name="gaussian by family"):
    return planned.promise.bounds(planned.promise.base(planned.charged))[name]


@pytest.mark.parametrize("delta", [None, DELTA], ids=["Laplace", "Gaussian"])
def test_a_planned_total_leaks_no_more_than_its_price(delta):
    """The exact law of the noisy total of one family of three, means anywhere, none or one or two of them known."""
    planned = plan(SCHEMA, TOTAL, leakage=1, dependence=KIN, delta=delta)
    (one,) = planned.statistics
    unit = one.statistic.row.both / 20  # of the total's integers, for each code
    noise = (gaussian if delta else laplace)(float(one.law.scale / unit))
    rng, grid, worst = np.random.default_rng(3), (-20.0, 20.0, 2.0), 0.0
    for known in ({}, {1: 1.0}, {1: -30.0, 2: 18.0}):
        for means in ([0.0] * 3, rng.uniform(-30, 30, 3)):
            laws = [sum_law(LAW, means, {0: value}, known, grid) for value in (-20.0, 20.0)]
            seen = [noisy(*law, noise, 400 if delta else 60) for law in laws]
            worst = max(worst, hockey_stick(*seen, 1.0) if delta else log_ratio(*seen))
    most = float(DELTA) if delta else 1.0
    assert most / 10 < worst <= most


@pytest.mark.parametrize("delta", [None, DELTA], ids=["Laplace", "Gaussian"])
def test_it_costs_less_than_a_group_and_more_than_nothing(delta):
    found = {
        name: float(plan(SCHEMA, TOTAL, leakage=1, dependence=model, delta=delta).statistics[0].law.scale)
        for name, model in {"alone": (), "kin": KIN, "families": FAMILIES}.items()
    }
    assert found["kin"] == pytest.approx((1 + 2 * 0.6 + 2 * 2 / 40) * found["alone"], rel=0.01)
    assert found["families"] == pytest.approx(3 * found["alone"], rel=0.01)


def test_the_number_of_values_costs_the_others_nothing():
    """Which values are missing says nothing, so of a mean the others of a family move the sum alone."""
    planned = plan(SCHEMA, Mean("height"), leakage=1, dependence=KIN)
    shown = bound_of(planned).exposure
    assert shown.besides == 0
    assert shown.own == Fraction(3, 2) * shown.moved  # a value that goes missing leaves the count too
    assert float(planned.statistics[0].law.scale) < 0.65 * float(
        plan(SCHEMA, Mean("height"), leakage=1, dependence=FAMILIES).statistics[0].law.scale
    )


@pytest.mark.parametrize(
    "query",
    [
        Total("height", where=parse("sex = 'f'", SCHEMA)),
        Total("height", where=parse("height > 4", SCHEMA)),
        Total("height", weight="weight"),
        Total("weight"),
        Count(where=parse("height > 4", SCHEMA)),
        Histogram("height"),
        Histogram("sex"),
        Median("height"),
    ],
    ids=lambda query: query.kind,
)
def test_what_is_not_proportional_to_a_distance_is_charged_as_a_group(query):
    planned = plan(SCHEMA, query, leakage=1, dependence=KIN)
    shown = bound_of(planned).exposure
    assert shown.moved == 0
    assert shown.besides == shown.own
    alike = plan(SCHEMA, query, leakage=1, dependence=FAMILIES)
    assert float(planned.loss) == pytest.approx(float(alike.loss), rel=1e-5)


def test_a_variance_pays_for_its_squares_as_a_group():
    shown = bound_of(plan(SCHEMA, Variance("height"), leakage=1, dependence=KIN)).exposure
    assert 0 < shown.moved < shown.own
    assert shown.besides > 0


def test_parts_are_marked_only_where_a_model_speaks_of_distances():
    marks = {
        model.title: [
            place_of(part.key).distance for part in plan(SCHEMA, TOTAL, leakage=1, dependence=model).charged
        ]
        for model in (KIN, FAMILIES)
    }
    assert marks == {"gaussian by family": ["height"], "groups by family": [""]}


@pytest.mark.parametrize("delta", [None, DELTA], ids=["Laplace", "Gaussian"])
def test_from_the_door_to_a_verified_certificate(tmp_path, delta):
    """Two releases under one ledger, both models declared; losses of both kinds add up before they leak."""
    models = [Declared(Gaussian.of(LAW), **HEIGHTS), FAMILIES]
    table, promise = MemoryTable(SCHEMA, ROWS), promise_of(SCHEMA, models, delta=delta)
    terms = {"dependence": models, "delta": delta}
    with Ledger.create(tmp_path / "l.db", Fraction(3), promise, tmp_path / "a") as ledger:
        asked = [Mean("height"), Count(where=parse("sex = 'f'", SCHEMA))]
        first = release(table, asked, leakage=1, ledger=ledger, **terms)
        second = release(table, TOTAL, leakage=1, ledger=ledger, **terms)
    assert verify(first.certificate, SCHEMA).valid
    assert verify(second.certificate, SCHEMA).valid
    totals = {row[0]: Part.from_row(tuple(row)) for row in second.certificate["losses_so_far"]}
    price = promise.price(totals).leakage
    assert 1 < price["gaussian"] < price["groups by family"] <= 2
    assert {name: float(leaked) for name, leaked in price.items()} == pytest.approx(
        second.certificate["total"]["leakage"]
    )
    said = "\n".join(second.certificate["trusted"])
    assert "one group of the gaussian model, with no more than 3 rows in it" in said
    assert "clipped to -20 … 20" in second.certificate["models"][0]["certificate"]["guarantee"]


def test_a_forged_mark_is_refused(tmp_path):
    """A count that claims to move with heights would be cheaper; its losses do not follow from what was asked."""
    with Ledger.create(tmp_path / "l.db", Fraction(3), promise_of(SCHEMA, KIN), tmp_path / "a") as ledger:
        given = release(MemoryTable(SCHEMA, ROWS), Histogram("sex"), leakage=1, ledger=ledger, dependence=KIN)
    forged = json.loads(json.dumps(given.certificate))
    for name in ("losses", "losses_so_far"):
        for row in forged[name]:
            row[0] = json.dumps(
                json.loads(row[0]) | {"distance": "height"}, sort_keys=True, separators=(",", ":")
            )
    del forged["digest"]
    assert not verify({**forged, "digest": digest(forged)}, SCHEMA).valid


def test_other_terms_keep_what_was_spent(tmp_path):
    """Marks stay where the column's codes do; without them, or for more rows of a family, nothing is taken on trust."""
    promise = promise_of(SCHEMA, KIN)
    parts = {part.key: part for part in plan(SCHEMA, TOTAL, leakage=1, dependence=KIN).charged}
    for model in (Declared(Gaussian.of(equicorrelated(3, 0.3)), by="family", **HEIGHTS), KIN):
        now = promise_of(SCHEMA, model)
        assert now.carried(promise.document, parts) == parts
    wider = Schema((COLUMNS[0], Real("height", "-20", "30", "2"), *COLUMNS[2:]), rows=60).approve()
    (carried,) = promise_of(wider, KIN).carried(promise.document, parts).values()
    assert not place_of(carried.key).distance
    for other in (Declared(Gaussian.of(equicorrelated(2, 0.6)), by="family", **HEIGHTS), FAMILIES):
        with pytest.raises(Refused, match="picking of rows"):
            promise_of(SCHEMA, other).carried(promise.document, parts)


LAWS = Gaussian.of(LAW)
WRONG = {
    "no column": (Declared(LAWS), SCHEMA, "which one"),
    "two columns": (Declared(LAWS, columns=("height", "weight")), SCHEMA, "which one"),
    "no number": (Declared(LAWS, columns=("sex",)), SCHEMA, "distances"),
    "missing values": (Declared(LAWS, columns=("height",)), SCHEMA, "missing_says_nothing"),
    "dropped outside": (
        Declared(LAWS, **HEIGHTS),
        Schema((Real("height", "-20", "20", "2", outside="missing"),), rows=60).approve(),
        "clamp",
    ),
    "one value": (
        Declared(LAWS, **HEIGHTS),
        Schema((Integer("height", 5, 5),), rows=60).approve(),
        "two bounds",
    ),
    "several rows a person": (
        Declared(LAWS, **HEIGHTS),
        Schema(COLUMNS, unit=Person("family", 2), most_rows=60).approve(),
        "one row a person",
    ),
    "cells": (Declared(LAWS, **HEIGHTS), Schema(COLUMNS, unit=Cells(), rows=60).approve(), "protects cells"),
    "an unknown column": (
        Declared(LAWS, columns=("length",), missing_says_nothing=("length",)),
        SCHEMA,
        "no column",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_the_theorem_does_not_cover_is_refused(name):
    model, schema, words = WRONG[name]
    with pytest.raises((BadModel, BadQuery), match=words):
        promise_of(schema, model)


def test_a_bound_on_all_correlations_will_do():
    planned = plan(
        SCHEMA, TOTAL, leakage=1, dependence=Declared(MaxCorrelation(3, 0.4), by="family", **HEIGHTS)
    )
    assert bound_of(planned).leakage.worst == pytest.approx(1, rel=1e-5)
    assert float(planned.price.nominal) == pytest.approx(1 / (1.8 + 0.1), rel=1e-5)
