"""The certificate of a release can be derived again by anyone who has the schema, and by nobody else's word."""

import copy
import json
from fractions import Fraction
from pathlib import Path

import pytest

from entwined.bounds.certificate import digest
from entwined.dependence import Box, Edge, Groups, Independent, MarkovChain, RandomField
from entwined.door.certificate import _trusted
from entwined.errors import BadCertificate, BadInput
from entwined.estimate.answers import Release
from entwined.ledger import Ledger
from entwined.promise.declared import Declared
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import Histogram, Mean, Median
from entwined.request.verbs import release
from entwined.request.verification import declared_from, verify
from entwined.schema import Cells, Schema
from support.memory_table import PEOPLE, ROWS, MemoryTable

ROWS_SCHEMA = Schema(PEOPLE, most_rows=40).approve()
CELLS_SCHEMA = Schema(PEOPLE, unit=Cells(), most_rows=40).approve()
CHAIN = MarkovChain(40, Box.exact([[0.8, 0.2], [0.3, 0.7]]))
FIELD = RandomField.of({"gender": 2, "age": 101}, [Edge(("gender", "age"), [[1] * 101, [1, 3] + [1] * 99])])
SAYS_NOTHING = {"columns": ("gender",), "missing_says_nothing": ("gender",)}
MODELS = {
    "rows": (
        ROWS_SCHEMA,
        [Declared(CHAIN, **SAYS_NOTHING), Declared(Groups(3), by="home", name="families"), Independent(1)],
    ),
    "no model": (ROWS_SCHEMA, []),
    "cells": (CELLS_SCHEMA, [Declared(FIELD, missing_says_nothing=("gender",)), Groups(2), Independent(2)]),
}


@pytest.fixture(params=MODELS)
def given(request, tmp_path):
    schema, models = MODELS[request.param]
    with Ledger.create(
        tmp_path / "l.db", Fraction(9), Promise.of(schema, models), anchor=tmp_path / "a"
    ) as ledger:
        queries = [Histogram("gender"), Mean("age"), Median("age")]
        found = release(MemoryTable(schema, ROWS), queries, leakage=1, dependence=models, ledger=ledger)
    return schema, json.loads(json.dumps(found.certificate))


def resealed(certificate):
    content = {key: value for key, value in certificate.items() if key != "digest"}
    return {**content, "digest": digest(content)}


def test_it_is_derived_again(given):
    schema, certificate = given
    verdict = verify(certificate, schema)
    assert verdict.valid, verdict.why
    assert Fraction(certificate["nominal"]) <= 1
    for model in certificate["models"]:
        assert model["certificate"]["leakage"] <= 1
        assert certificate["total"]["leakage"][model["name"]] >= model["certificate"]["leakage"] * (1 - 1e-9)


def test_another_schema_does_not_bear_it_out(given):
    _, certificate = given
    other = Schema(PEOPLE, neighbours="add_remove", most_rows=40).approve()
    assert not verify(certificate, other).valid


@pytest.mark.parametrize("part", ["nominal", "losses", "knowledge", "says", "trusted", "neighbours", "unit"])
def test_a_changed_part_is_seen(given, part):
    schema, certificate = given
    forged = copy.deepcopy(certificate)
    match part:
        case "nominal":
            forged["nominal"] = "1/100"
        case "losses":
            forged["losses"] = forged["losses"][:1]
        case "knowledge":
            forged["knowledge"] = "none"
        case _:
            forged[part] = "nothing"
    assert not verify(forged, schema).valid  # the digest
    assert not verify(resealed(forged), schema).valid  # and the derivation


def test_what_only_the_ledger_knows_is_under_the_digest(given):
    schema, certificate = given
    later = {**certificate["ledger"], "position": certificate["ledger"]["position"] + 1}
    assert "its digest does not match" in verify({**certificate, "ledger": later}, schema).why


def test_losses_that_are_left_out_of_the_total_are_seen(given):
    """The total is put right for what is left: all digests and derivations fit, but the batch is not in it."""
    schema, certificate = given
    models = tuple(declared_from(model["declared"], Path()) for model in certificate["models"])
    left = certificate["losses_so_far"][1:]
    price = Promise(schema, models, certificate["knowledge"]).price(
        {row[0]: Part.from_row(tuple(row)) for row in left}
    )
    total = price.document | {"cap": certificate["total"]["cap"]}
    forged = resealed({**certificate, "losses_so_far": left, "total": total})
    assert verify(forged, schema).why == "What it charges is not among the losses so far."


def test_a_model_with_another_loss_is_seen(given):
    schema, certificate = given
    for at in range(len(certificate["models"])):
        forged = copy.deepcopy(certificate)
        inner = forged["models"][at]["certificate"]
        inner["leakage"] = inner["leakage"] / 2
        assert not verify(resealed(forged), schema).valid
        inner["digest"] = digest({key: value for key, value in inner.items() if key != "digest"})
        assert not verify(resealed(forged), schema).valid
    swapped = copy.deepcopy(certificate)
    if len(swapped["models"]) > 1:
        first, second = swapped["models"][:2]
        first["certificate"], second["certificate"] = second["certificate"], first["certificate"]
        assert not verify(resealed(swapped), schema).valid


def test_a_changed_curve_is_seen(given):
    schema, certificate = given
    for at, model in enumerate(certificate["models"]):
        points = model["curve"]["points"]
        assert [point["share"] for point in points] == [0.1, 0.25, 0.5]
        assert model["certificate"]["leakage"] <= points[0]["leakage"] <= points[2]["leakage"]
        lower = [points[0] | {"leakage": points[0]["leakage"] * (1 - 1e-6)}, *points[1:]]
        for changed in (
            {"points": lower},
            {"points": points[:2]},
            {"points": [points[0] | {"why_not": "x"}, *points[1:]]},
            {"strength": "nothing"},
            {"why_not": "It takes too long."},
            {"cap": 1.0, "holds_up_to": 4.0, "and_beyond": True},
        ):
            forged = copy.deepcopy(certificate)
            forged["models"][at]["curve"] |= changed
            assert verify(resealed(forged), schema).why.endswith(
                "its curve is not what stronger dependence would leak."
            )
        del forged["models"][at]["curve"]
        assert not verify(resealed(forged), schema).valid


def test_it_says_what_must_be_believed_of_the_ledger_and_of_taking_part(given):
    _, certificate = given
    assert "Everything ever released from this table is in this ledger." in certificate["trusted"]
    assert "Whether somebody is in the table is not protected." in certificate["trusted"]
    may_leave = Schema(PEOPLE, neighbours="add_remove", most_rows=40).approve()
    said = " ".join(_trusted(Promise.of(may_leave), may_leave))
    assert "Whether somebody is in the table is protected" in said


@pytest.mark.parametrize("wrong", [None, [], {}, {"format": "entwined certificate 1"}])
def test_what_is_no_certificate_is_refused(wrong):
    with pytest.raises(BadCertificate):
        verify(wrong, ROWS_SCHEMA)


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        {},
        {"format": "entwined release 1"},
        {"format": "entwined release 2"},
        {"format": "entwined release 2", "answers": [3], "certificate": {}},
        {"format": "entwined release 2", "answers": [], "certificate": {}},
    ],
)
def test_what_is_no_release_is_refused(wrong):
    with pytest.raises(BadInput):
        Release.from_document(wrong)
