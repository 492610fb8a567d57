"""Certificates of every kind of mechanism, each number, word and flag of them changed in turn: none is taken.

Made as the door makes them, of what a mechanism says of itself; what was drawn and published stands beside those that
people ask for by name. Every digest is forged with the rest. What may be otherwise is listed: it promises nothing, or
it is what only the ledger knows.
"""

import json
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from entwined.bounds.attributes.guarded import Guarded
from entwined.bounds.attributes.linked import Linked, from_covariance
from entwined.bounds.attributes.secrets import ColumnSecret
from entwined.canonical import canonical, sha256
from entwined.dependence import BayesNet, Box, EndlessChain, Groups, MarkovChain, Variable
from entwined.door.certificate import certificate, opened, sealed
from entwined.errors import BadInput
from entwined.ledger import Mark, Standing
from entwined.mechanisms.batch import plan_batch
from entwined.mechanisms.kinds import KINDS, OFFERED
from entwined.mechanisms.moments import NoisyMoments
from entwined.mechanisms.offered import settled
from entwined.mechanisms.streams.followed import Followed
from entwined.mechanisms.streams.stream import Stream
from entwined.mechanisms.structure_search import StructureSearch
from entwined.mechanisms.transitions import TransitionCounts
from entwined.mechanisms.veiled import VeiledAnswers
from entwined.mechanisms.veiled_regression import VeiledRegression
from entwined.promise.declared import Declared
from entwined.promise.measure import PURE, Concentrated
from entwined.promise.promise import Promise, promise_of
from entwined.promise.secrets import KeptSecrets
from entwined.queries import Count, Histogram, Mean, parse
from entwined.request.task_numbers import numbers_of
from entwined.request.verification import verify
from entwined.schema import Boolean, Cells, Coded, Integer, Nodes, Person, Real, Schema, Text
from entwined.tables import open_table
from support.census import COLUMNS as CENSUS
from support.census import ROLES, census_schema

DELTA = Concentrated(Fraction(1, 10**6))
COLUMNS = Integer("home", 0, 39), Integer("age", 0, 99), Boolean("member"), Real("pay", 0, 10, "0.5")
PEOPLE = Schema(COLUMNS, most_rows=400, rows=100).approve()
COMING = Schema(COLUMNS, neighbours="add_remove", most_rows=400).approve()
IDS = Schema((Integer("who", 0, 9), Real("w", 0, 10, "0.5")), unit=Person("who", 2), most_rows=40).approve()
EDGES = Schema(
    (Integer("one", 0, 9), Integer("other", 0, 9)), unit=Nodes(("one", "other"), 3), most_rows=50
).approve()
DAYS = Schema(
    (Text("who", compare="exact"), Integer("day", 1, 4, public=True), Boolean("ill")), most_rows=40
).approve()
LINES = Schema((Boolean("ill"),), most_rows=400).approve()
ANSWERS = Schema((Boolean("a"), Boolean("b")), unit=Cells(), rows=30).approve()
HOMES = Declared(Groups(4), by="home")
STEP = Box.exact(np.array([[0.8, 0.2], [0.3, 0.7]]))
TREE = Declared(
    BayesNet.of(
        [
            Variable("a", ("false", "true"), (), [[0.5, 0.5]]),
            Variable("b", ("false", "true"), ("a",), [[0.9, 0.1], [0.2, 0.8]]),
        ]
    ),
    missing_says_nothing=("a", "b"),
)


def chain(**more):
    model = MarkovChain(4, STEP, np.array([0.6, 0.4]))
    return Declared(model, by="who", order="day", never_missing=("ill",), **more)


def offered(kind, schema=PEOPLE, models=(HOMES,), measure=PURE, **given):
    promise = Promise.of(schema, models, "any", measure)
    return promise, settled(OFFERED[kind], promise, given, loss=20)


def stream(answer, measure=PURE, knowledge="any"):
    promise = Promise.of(DAYS, [chain()], knowledge, measure)
    made = Stream.of(
        promise, Count(where=parse("ill", DAYS)), "0.5", answer=answer, horizon=4, step="day", late="drop"
    )
    return promise, Followed(made, "ward", promise)


def endless():
    model = Declared(
        EndlessChain(Box.exact(np.array([[0.9, 0.1], [0.1, 0.9]]))),
        columns=("ill",),
        missing_says_nothing=("ill",),
    )
    promise = Promise.of(LINES, [model])
    return promise, Followed(Stream.of(promise, Count(where=parse("ill", LINES)), "0.5"), "ward", promise)


def within(schema, model, reserve, *queries):
    promise = promise_of(schema, [model], "any", DELTA.delta, reserve=reserve)
    return promise, plan_batch(promise, queries, leakage="0.05")


def batch(schema, queries, models, measure=PURE, knowledge="any"):
    promise = Promise.of(schema, models, knowledge, measure)
    return promise, plan_batch(promise, queries, leakage=1)


def search():
    promise = Promise.of(PEOPLE, [HOMES])
    return promise, StructureSearch.of(promise, 1, Fraction(1, 4), Fraction(8))


def transitions():
    promise = Promise.of(DAYS, measure=DELTA)
    return promise, TransitionCounts.of(promise, "who", "day", "ill", "0.5")


def moments():
    promise = Promise.of(PEOPLE, [HOMES])
    return promise, NoisyMoments.of(promise, ["age", "pay"], "0.5")


def veiled():
    schema = Schema((Real("weight", 0, 200, step="0.1"),), rows=400).approve()
    women = ColumnSecret.of("sex", [0.25, 0.75], rows=400, epsilon=1, delta="0.001", value="f")
    secrets = KeptSecrets((Guarded(women, (Linked.of("weight", -12, 15),)),), individuals=False)
    promise = Promise(schema, secrets=secrets)
    return promise, VeiledAnswers.fitted(promise, {"weight": Mean("weight", count="public")}, None, None)


def veiled_regression():
    names, matrix = ("income", "weight", "height"), [[100, -40, 20], [-40, 225, 60], [20, 60, 64]]
    schema = Schema((Integer("weight", 0, 201), Integer("height", 0, 260)), rows=40).approve()
    income = ColumnSecret.of("income", [28, 32], rows=40, epsilon="0.5", delta="0.05", figure="mean")
    found = from_covariance("income", names, matrix)
    secrets = KeptSecrets((Guarded(income, found.columns, correlation=found.correlation),), individuals=False)
    promise = Promise(schema, secrets=secrets)
    return promise, VeiledRegression.of(promise, {"target": "weight", "columns": ["height"]})


ILL_ON = [parse(f"ill and day = {day}", DAYS) for day in (2, 3)]
CASES = {
    "k-means": lambda: offered("k_means", columns=["age", "pay"], centres=2, rounds=2),
    "k-means, δ": lambda: offered("k_means", measure=DELTA, columns=["age"], centres=2, rounds=2),
    "degrees": lambda: offered("degrees", COMING, columns=["home"], most=4),
    "degrees of nodes": lambda: offered("degrees", EDGES, (), DELTA, columns=["one", "other"], most=3),
    "identity": lambda: offered("identity", IDS, (Groups(2),), by="who", column="w"),
    "logistic": lambda: offered("logistic_regression", label="member", method="descent"),
    "logistic, objective": lambda: offered("logistic_regression", COMING, label="member", method="objective"),
    "machine": lambda: offered(
        "linear_svm", measure=DELTA, label="age > 50", columns=["member"], method="output"
    ),
    "adaptive": lambda: offered("synthesis", columns=["age", "member"], bins={"age": 5}, rounds=1),
    "correlated": lambda: offered("synthesis", mode="correlated", columns=["age", "member"], bins={"age": 5}),
    "independent": lambda: offered(
        "synthesis", measure=DELTA, mode="independent", columns=["age", "member"], tables=[["age", "member"]]
    ),
    "columns of cells": lambda: offered("synthesis", ANSWERS, (), mode="independent"),
    "households": lambda: offered(
        "households", census_schema(3, columns=CENSUS), (), columns=["relation", "region"], **ROLES
    ),
    "search": search,
    "transitions": transitions,
    "moments": moments,
    "stream": lambda: stream("each", DELTA),
    "running stream": lambda: stream("running", PURE, "model"),
    "endless stream": endless,
    "reserve of columns": lambda: within(ANSWERS, TREE, {"a": "0.01", "b": "0.02"}, Histogram("a")),
    "reserve of a panel": lambda: within(DAYS, chain(panel=True), {"ill": "0.01"}, Count(where=ILL_ON[0])),
    "panel, δ": lambda: batch(DAYS, [Count(where=one) for one in ILL_ON], [chain(panel=True)], DELTA),
    "one number": lambda: batch(DAYS, [Count(where=parse("ill", DAYS))], [chain()], knowledge="model"),
    "veiled answers": veiled,
    "veiled regression": veiled_regression,
}
ALIKE = {  # of the same price, and the numbers say nothing of it: the ledger does
    ("synthesis", "rounds"),
    ("synthesis", "parents"),
    ("structure search", "noise_scale"),
    ("followed stream", "name"),
}
DERIVED = 20  # changes at the least that have to be refused


def some_rows(schema):
    rng = np.random.default_rng(4)
    columns = {}
    for column in schema.columns:
        codes = rng.integers(column.levels if isinstance(column, Coded) else 5, size=schema.rows or 12)
        values = [column.value(int(code)) if isinstance(column, Coded) else f"h{code}" for code in codes]
        columns[column.name] = [float(one) if isinstance(one, Fraction) else one for one in values]
    return pa.table(columns)


def published(promise, mechanism):
    """What is published of it: numbers if it is asked for by name, and the certificate."""
    numbers = None
    if type(mechanism) in OFFERED.values() or isinstance(mechanism, VeiledAnswers):
        with open_table(some_rows(promise.schema), promise.schema) as table:
            drawn = mechanism.run(table.answer, promise.schema).decode()
        numbers = json.loads(canonical(numbers_of("numbers", mechanism, drawn)))
    parts = mechanism.parts(promise)
    totals = {part.key: part for part in parts}
    standing = Standing(
        "0" * 32, Mark(5, "0" * 64), Fraction(10**6), tuple(totals[key].row for key in sorted(totals)),
        promise.price(totals),
    )  # fmt: skip
    released = "a" * 64 if numbers is None else sha256(canonical(numbers))
    made = certificate(promise, mechanism.document, parts, standing, released)
    return numbers, json.loads(json.dumps(made))


def leaves(value, path=()):
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def other_than(value):
    """What a forger would write, one thing or the other."""
    match value:
        case bool():
            return [not value]
        case int() | float():
            return [2 * value + 1, value / 2 or -1]
        case str() if "/" in value and all(part.removeprefix("-").isdigit() for part in value.split("/")):
            some = Fraction(value) / 2, Fraction(value) * 2 + (value == "0/1")
            return [f"{one.numerator}/{one.denominator}" for one in some]
        case str():
            return [value + " x", "model" if value == "any" else "any"]
    return ["", 0]


def at(document, path, value):
    if not path:
        return value
    changed = dict(document) if isinstance(document, dict) else list(document)
    changed[path[0]] = at(document[path[0]], path[1:], value)
    return changed


def resealed(given):
    models = [one | {"certificate": sealed(opened(one["certificate"]))} for one in given["models"]]
    return sealed({**opened(given), "models": models})


def promises_nothing(sound, path, forged):
    """What no verifier could know without the ledger, what is trusted as it is declared, and what says nothing."""
    match path:
        case ("ledger", _) | ("total", "cap") | ("released",):
            return True
        case ("models", _, "certificate", "versions", *_) | ("secrets", "kept", *_):
            return True  # of the libraries; and laws that the same noise keeps, too, or refuses
        case ("losses_so_far", *_):
            return path[2] > 0 and Fraction(forged) > Fraction(sound[path[0]][path[1]][path[2]])
        case ("knowledge",):
            return not sound["models"]
        case ("mechanism", key):
            return (sound["mechanism"]["kind"], key) in ALIKE
    return False


def is_taken(given, schema, numbers):
    try:
        return verify(
            given, schema, release=None if numbers is None else numbers | {"certificate": given}
        ).valid
    except BadInput:
        return False


@pytest.mark.parametrize("name", CASES)
def test_no_number_word_or_flag_can_be_changed(name):
    promise, mechanism = CASES[name]()
    numbers, sound = published(promise, mechanism)
    schema, tried = promise.schema, 0
    assert is_taken(sound, schema, numbers)
    for turn, (path, value) in enumerate(leaves(opened(sound))):
        if path == ("format",) or path[-1] == "digest":
            continue
        some = [one for one in other_than(value) if one != value]
        forged = some[turn % len(some)]
        if not promises_nothing(sound, path, forged):
            assert not is_taken(resealed(at(sound, path, forged)), schema, numbers), (path, value, forged)
            tried += 1
    assert tried >= DERIVED
    for key in ("mechanism", "total", "ledger"):
        assert not is_taken(resealed({**sound, key: sound[key] | {"note": "trust me"}}), schema, numbers)
    for key in ("trusted", "losses", "losses_so_far"):
        assert not is_taken(resealed({**sound, key: sound[key][:-1]}), schema, numbers)


SAY_THEIR_NOISE = (
    "k-means", "k-means, δ", "degrees", "degrees of nodes", "identity", "adaptive", "correlated", "independent",
    "households",
)  # fmt: skip
EXACT = ["logistic", "logistic, objective", "machine", "columns of cells"]


@pytest.mark.parametrize("name", SAY_THEIR_NOISE)
def test_a_tenth_of_the_loss_does_not_fit_what_was_published(name):
    """All that follows from a smaller loss is derived anew: the noise that the numbers say they have tells."""
    forged, schema, numbers = at_a_part(name, Fraction(1, 10))
    assert is_taken(forged, schema, None)
    assert not is_taken(forged, schema, numbers)


def at_a_part(name, part):
    """What was published, under a certificate of a part of its loss."""
    promise, mechanism = CASES[name]()
    numbers, _ = published(promise, mechanism)
    document = mechanism.document
    loss = Fraction(document["loss"]) * part
    smaller = type(mechanism).from_document(
        {**document, "loss": f"{loss.numerator}/{loss.denominator}"}, promise
    )
    _, forged = published(promise, smaller)
    return resealed({**forged, "released": sha256(canonical(numbers))}), promise.schema, numbers


@pytest.mark.parametrize("name", [name for name in SAY_THEIR_NOISE if name != "adaptive"] + EXACT)
def test_nor_does_a_loss_that_is_hardly_smaller(name):
    """Half-widths and words are rounded, and those of a loss next to it can be the same: noise is told exactly."""
    forged, schema, numbers = at_a_part(name, Fraction(999_999, 10**6))
    assert is_taken(forged, schema, None)
    assert not is_taken(forged, schema, numbers)


@pytest.mark.parametrize("name", ["correlated", "independent", "columns of cells", "households"])
def test_nor_do_tables_that_had_but_a_share_of_the_loss_fit_a_little_less(name):
    """Half of a network's loss is for choices that nobody sees, so its tables alone have to add up to the other."""
    forged, schema, numbers = at_a_part(name, Fraction(99, 100))
    assert is_taken(forged, schema, None)
    assert not is_taken(forged, schema, numbers)


def test_no_column_can_be_said_to_have_had_the_loss_of_another():
    """Of cells each column has a loss of its own, which the noise of the others does not make up for."""
    promise, mechanism = CASES["columns of cells"]()
    numbers, _ = published(promise, mechanism)
    drawn = json.loads(numbers["drawn"])
    a, b = (mechanism.meter.noise(share).document for share in (Fraction(3, 2), Fraction(1, 2)))
    for one, noise in zip(drawn["tables"], (a, b), strict=True):
        one["noise"] = noise
    with pytest.raises(BadInput, match="settled before"):
        mechanism.output(canonical(drawn).encode())


def test_every_kind_is_forged():
    made = {type(CASES[name]()[1]) for name in CASES}
    assert made | {Stream} == set(KINDS)
