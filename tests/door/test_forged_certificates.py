"""Whoever forges a certificate, and all of its digests with it, is found out: nothing in it is believed."""

import copy
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds.certificate import digest
from entwined.bounds.choose import named
from entwined.bounds.guarantee import KNOWS
from entwined.canonical import fraction_text
from entwined.dependence import BayesNet, Box, Forms, Groups, Independent, MarkovChain, Variable
from entwined.dependence.families import equal_correlation
from entwined.door.certificate import certificate, opened, sealed
from entwined.ledger import Ledger, Mark, Standing
from entwined.mechanisms.batch import Batch
from entwined.promise.declared import Declared
from entwined.promise.measure import PURE, Concentrated
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.promise import Promise
from entwined.queries import Count, Histogram, Mean, Median, Sampling, everything, parse
from entwined.request.history import one_history, wrong_in_ledger
from entwined.request.verbs import plan, release
from entwined.request.verification import declared_from, verify
from entwined.schema import Categorical, Cells, Person, Schema
from support.memory_table import PEOPLE, ROWS, MemoryTable

ROWS_SCHEMA = Schema(PEOPLE, most_rows=40).approve()
SAYS_NOTHING = {"columns": ("gender",), "missing_says_nothing": ("gender",)}
STEP = [[0.8, 0.2], [0.3, 0.7]]
COPY = [[0.95, 0.05], [0.05, 0.95]]
NET = BayesNet.of(
    [
        Variable("q0", ("0", "1"), (), [[0.5, 0.5]]),
        Variable("q1", ("0", "1"), ("q0",), COPY),
        Variable("q2", ("0", "1"), ("q0",), COPY),
    ]
)
ANSWERS = [{"q0": "0", "q1": "1", "q2": "0"}, {"q0": "1", "q1": "1", "q2": "1"}]
ANSWERS_SCHEMA = Schema(
    tuple(Categorical(name, ("0", "1"), missing="value") for name in NET.names), unit=Cells(), rows=2
).approve()
SHEETS = Forms.of(NET, "sheet", [["q0", "q1"], ["q0", "q2"]])
SHEETS_SCHEMA = Schema(
    (
        Categorical("q0", ("0", "1"), missing="value"),
        *(Categorical(name, ("0", "1", "-7"), missing="value") for name in ("q1", "q2")),
        Categorical("sheet", ("A", "B"), missing="value"),
    ),
    unit=Cells(),
    rows=2,
).approve()
FILLED = [
    {"q0": "0", "q1": "1", "q2": "-7", "sheet": "A"},
    {"q0": "1", "q1": "-7", "q2": "1", "sheet": "B"},
]
DELTA = Fraction(1, 10**6)


def made(place, schema, rows, queries, models=(), measure=PURE, knowledge="any", **terms):
    """Release twice under one ledger, and give the second release as it would be published."""
    accountant = Promise.of(schema, models, knowledge, measure)
    delta = {"delta": measure.delta} if isinstance(measure, Concentrated) else {}
    with Ledger.create(place / "l.db", Fraction(9), accountant, anchor=place / "a") as ledger:
        for leakage in (1, 2):
            found = release(
                MemoryTable(schema, rows), queries, leakage=leakage, dependence=models, knowledge=knowledge,
                ledger=ledger, **delta, **terms,
            )  # fmt: skip
    return schema, json.loads(json.dumps(found.document()))


def people(place, schema=ROWS_SCHEMA, models=(), **terms):
    queries = [Histogram("gender"), Mean("age"), Median("age")]
    return made(place, schema, ROWS, queries, models, shares=[1, 2, 1], **terms)


KINDS = {
    "rows": lambda place: people(
        place, models=[Declared(MarkovChain(40, Box.exact(STEP)), **SAYS_NOTHING), Declared(Groups(3), by="home", name="families")]
    ),
    "rows that come and go": lambda place: people(
        place, Schema(PEOPLE, neighbours="add_remove", most_rows=40).approve(), models=[Groups(2)]
    ),
    "no model": people,
    "persons, Gaussian": lambda place: people(
        place,
        Schema(PEOPLE, unit=Person("home", 2), neighbours="add_remove", most_rows=40).approve(),
        models=[Groups(2), Independent(1)],
        measure=Concentrated(DELTA),
    ),
    "cells of a network": lambda place: made(
        place, ANSWERS_SCHEMA, ANSWERS, [Histogram("q1"), Count(where=parse("q0 = '1'", ANSWERS_SCHEMA))],
        [Declared(NET, name="pilot", missing_says_nothing=NET.names), Groups(3)],
    ),
    "values that vary together": lambda place: made(
        place, ROWS_SCHEMA, ROWS, [Mean("age")],
        [Declared(equal_correlation(2, 0.4), by="home", columns=("age",), missing_says_nothing=("age",))], measure=Concentrated(DELTA),
    ),
    "only the model known": lambda place: people(
        place, models=[Declared(MarkovChain(40, Box.exact(STEP), np.array([0.6, 0.4])), **SAYS_NOTHING)], knowledge="model"
    ),
    "weights": lambda place: made(
        place, ROWS_SCHEMA, ROWS,
        [Histogram("gender", weight="age"), Sampling(weight="age", strata="gender")],
    ),
    "forms": lambda place: made(
        place, SHEETS_SCHEMA, FILLED,
        [Histogram("q0"), Histogram("q1", where=parse("sheet = 'A'", SHEETS_SCHEMA))], [Declared(SHEETS, missing_says_nothing=NET.names)],
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=KINDS)
def published(request, tmp_path_factory):
    return KINDS[request.param](tmp_path_factory.mktemp("release"))


def places(value, path=()):
    """Every place in a document, the document itself included."""
    yield path, value
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def forgeries(value):
    """What a forger would write instead."""
    match value:
        case bool():
            return [not value]
        case int() | float():
            return [value * 2 + 1, value / 2, -value - 1]
        case str() if "/" in value and all(part.isdigit() for part in value.split("/")):
            half, twice = Fraction(value) / 2, Fraction(value) * 2
            return [f"{one.numerator}/{one.denominator}" for one in (half, twice)]
        case str():
            return [value + " x", "", "any" if value == "model" else "model"]
        case dict():
            return [{**value, "note": "trust me"}]
        case list():
            return [[*value, "x"], [*value, *value[-1:]], value[:-1]]
    return [0]


def at(document, path, value):
    """The document with another value at a place."""
    if not path:
        return value
    changed = copy.copy(document)
    changed[path[0]] = at(document[path[0]], path[1:], value)
    return changed


def resealed(given):
    """Forge every digest inside, and that of the whole."""
    models = given.get("models")
    if isinstance(models, list):
        models = [
            one | {"certificate": sealed(opened(one["certificate"]))}
            if isinstance(one, dict) and "digest" in one.get("certificate", {})
            else one
            for one in models
        ]
        given = {**given, "models": models}
    return sealed(opened(given))


def judged(given, schema, document):
    """The verdict on a forged certificate that also replaced the one in the published numbers."""
    return verify(given, schema, release=document | {"certificate": given})


def cannot_mislead(path, value):
    """What no verifier could know without the ledger, and what is no part of the promise."""
    match path:
        case ("ledger", "position"):
            return True  # which entry: `one_history` and the ledger itself tell
        case ("total", "cap"):
            return True  # above the total, it is the holder's word: the ledger tells
        case ("models", _, "certificate", "versions", _):
            return True  # of the libraries
    return False


def same_total(given, schema):
    """Whether the losses so far, as they are given, amount to what is stated."""
    parts = [Part.from_row(tuple(row)) for row in given["losses_so_far"]]
    price = promise_of(given, schema).price({part.key: part for part in parts})
    return price.document | {"cap": given["total"]["cap"]} == given["total"]


def promise_of(given, schema):
    measure = Concentrated(Fraction(given["delta"])) if "delta" in given else PURE
    models = tuple(declared_from(one["declared"], None) for one in given["models"])
    return Promise(schema, models, given["knowledge"], measure)


def test_no_single_change_of_a_certificate_is_taken(published):
    schema, document = published
    sound = document["certificate"]
    assert judged(sound, schema, document).valid
    tried = 0
    for path, value in places(opened(sound)):
        if path in ((), ("format",)) or path[-1] == "digest":  # of another format, and forged anyway
            continue
        some = [one for one in forgeries(value) if one != value and not cannot_mislead(path, one)]
        for forged in some[tried % len(some) :][:1] if some else ():  # one of them, by turns
            changed = resealed(at(sound, path, forged))
            if path[0] == "losses_so_far" and path[2:] in ((1,), (2,)) and same_total(changed, schema):
                continue  # it does not count in the worst total: only the ledger knows, as is shown below
            assert not judged(changed, schema, document).valid, (path, value, forged)
            tried += 1
    assert tried > 60
    for changed in ({**sound, "note": "trust me"}, at(sound, ("total", "cap"), "1/1")):
        assert not judged(resealed(changed), schema, document).valid


def test_no_change_of_the_published_numbers_is_taken(published):
    schema, document = published
    sound = document["certificate"]
    numbers = {key: value for key, value in document.items() if key != "certificate"}
    for path, value in places(numbers):
        for forged in forgeries(value):
            changed = at(numbers, path, forged)
            assert forged == value or not judged(sound, schema, changed).valid, (path, value, forged)
    assert not judged(resealed({**sound, "released": "0" * 64}), schema, document).valid


def test_divided_losses_do_not_fit_the_published_noise(published):
    """Every loss, total and leakage a tenth of what it was, all of it consistent: the noise gives it away."""
    schema, document = published
    sound = document["certificate"]
    each = Fraction(sound["mechanism"]["loss_of_each_statistic"]) / 10
    promise = promise_of(sound, schema)
    divided = {**sound["mechanism"], "loss_of_each_statistic": fraction_text(each)}
    batch = Batch.from_document(divided, promise)
    rows = tuple(part.row for part in batch.charged)
    price = promise.price({part.key: part for part in batch.charged})
    standing = Standing(sound["ledger"]["id"], Mark(5, "0" * 64), Fraction(9), rows, price)
    forged = json.loads(
        json.dumps(certificate(promise, batch.document, batch.charged, standing, sound["released"]))
    )
    assert verify(forged, schema).valid  # so it is as good as a true one, but for the noise
    verdict = judged(forged, schema, document)
    assert not verdict.valid
    assert "other noise" in verdict.why


def test_a_theorem_about_a_weaker_adversary_proves_nothing(tmp_path):
    """Knowledge any, proved by a theorem for those who know no values; and an inner model in an outer any."""
    schema, document = KINDS["only the model known"](tmp_path)
    sound = document["certificate"]
    forged = copy.deepcopy(sound)
    assert not any(named(one["certificate"]["theorem"]["name"]).covers("any") for one in sound["models"])
    forged["knowledge"] = "any"
    assert not judged(resealed(forged), schema, document).valid  # the outer alone
    for model in forged["models"]:
        inner = model["certificate"]
        inner["knowledge"] = "any"
        inner["guarantee"] = inner["guarantee"].replace(KNOWS["model"], KNOWS["any"])
        assert KNOWS["any"] in inner["guarantee"]
    assert not judged(resealed(forged), schema, document).valid  # and both


# one history


def release_of(ledger, leakage, where="age < 50"):
    found = release(
        MemoryTable(ROWS_SCHEMA, ROWS), Count(where=parse(where, ROWS_SCHEMA)), leakage=leakage,
        dependence=[Groups(2)], ledger=ledger,
    )  # fmt: skip
    return json.loads(json.dumps(found.certificate))


def ledger_at(place, name="l"):
    return Ledger.create(
        place / f"{name}.db", Fraction(9), Promise.of(ROWS_SCHEMA, [Groups(2)]), anchor=place / f"{name}.a"
    )


def test_certificates_of_one_history_agree_and_the_last_total_holds_for_all(tmp_path):
    with ledger_at(tmp_path) as ledger:
        some = [release_of(ledger, 1), release_of(ledger, 2), release_of(ledger, 1, "age > 70")]
        again = release_of(ledger, 1)
        assert again["ledger"] == some[-1]["ledger"]  # the same answer, and what everything amounts to by now
        for one in [*some, again]:
            assert verify(one, ROWS_SCHEMA).valid
            assert wrong_in_ledger(one, ledger.book) is None
        verdict = one_history([*reversed(some), again])
        assert verdict.valid, verdict.why
        totals = [one["total"]["leakage"]["groups"] for one in some]
        assert totals[0] < totals[1] <= totals[2]


def test_two_ledgers_of_one_table_contradict_each_other(tmp_path):
    with ledger_at(tmp_path, "one") as one, ledger_at(tmp_path, "two") as two:
        verdict = one_history([release_of(one, 1), release_of(two, 1)])
    assert not verdict.valid
    assert "2 ledgers" in verdict.why


def test_a_ledger_put_back_contradicts_what_was_certified_before(tmp_path):
    with ledger_at(tmp_path) as ledger:
        release_of(ledger, 1)
    kept = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with Ledger.open(tmp_path / "l.db", Fraction(9), ledger._accountant, anchor=tmp_path / "l.a") as ledger:
        before = release_of(ledger, 2)
        later = release_of(ledger, 1, "age > 70")
    for path in tmp_path.iterdir():
        path.unlink()
    for path, data in kept.items():
        path.write_bytes(data)
    with Ledger.open(tmp_path / "l.db", Fraction(9), ledger._accountant, anchor=tmp_path / "l.a") as ledger:
        after = release_of(ledger, 2, "age < 20")
    assert all(verify(one, ROWS_SCHEMA).valid for one in (before, later, after))
    for pair in ([before, after], [later, after], [after, before]):
        verdict = one_history(pair)
        assert not verdict.valid
        assert "two histories" in verdict.why


def test_a_condition_may_be_given_up_for_all_rows_under_another_schema_but_no_loss_is_dropped(tmp_path):
    with ledger_at(tmp_path) as ledger:
        before = release_of(ledger, 1)
        after = release_of(ledger, 2)
    most = max(Fraction(amount) for amount in before["losses"][0][1:])

    def carried(loss, schema="0" * 64):
        amount = f"{loss.numerator}/{loss.denominator}"
        row = [key_of(everything(), None), amount, amount]
        return {**after, "schema": schema, "losses_so_far": [row]}

    assert one_history([before, carried(most)]).valid
    assert not one_history([before, carried(most * Fraction(9, 10))]).valid
    assert not one_history([before, carried(most, before["schema"])]).valid
    resized = {**carried(most, before["schema"]), "models": [{"declared": {"model": {"kind": "groups"}}}]}
    assert one_history([before, resized]).valid, (
        "a migration to another size of groups gives conditions up, too"
    )
    assert not one_history([before, {**after, "losses_so_far": []}]).valid


def test_what_only_the_ledger_knows_is_seen_in_the_ledger(tmp_path):
    """Another cap, another entry, an older loss that does not count in the worst total."""
    with ledger_at(tmp_path) as ledger:
        (small,) = release_of(ledger, "0.1", "age > 70")["losses"]
        release_of(ledger, 1, "age in (30, 31)")
        sound = release_of(ledger, 2, "age < 20")
        place = sound["losses_so_far"].index(small)
        for path, forged in (
            (("total", "cap"), "10/1"),
            (("ledger", "position"), 2),
            (("ledger", "position"), 99),
            (("ledger", "hash"), "0" * 64),
            (("ledger", "id"), "0" * 32),
            (("losses_so_far", place, 1), "1/1000000"),
        ):
            changed = resealed(at(sound, path, forged))
            assert verify(changed, ROWS_SCHEMA).valid
            assert wrong_in_ledger(changed, ledger.book), path


def test_a_long_history_stays_small_enough_to_publish(tmp_path):
    """10,000 parts: their names and losses, once."""
    schema = ROWS_SCHEMA
    planned = plan(schema, Count(where=parse("age < 50", schema)), leakage=1, dependence=[Groups(2)])
    row = list(planned.charged[0].row)
    size = len(json.dumps([row] * 10_000, indent=1))
    assert size < 4_000_000
    assert digest({"rows": [row] * 10_000})


def test_a_question_that_was_never_charged_is_seen_in_the_ledger(tmp_path):
    """A tenth of the losses, everything else derived anew and the true total beside it: only the charge tells."""
    with ledger_at(tmp_path) as ledger:
        sound = release_of(ledger, 1)
        promise, mechanism = promise_of(sound, ROWS_SCHEMA), sound["mechanism"]
        each = fraction_text(Fraction(mechanism["loss_of_each_statistic"]) / 10)
        batch = Batch.from_document({**mechanism, "loss_of_each_statistic": each}, promise)
        less = certificate(promise, batch.document, batch.charged, ledger.standing(), sound["released"])
        forged = json.loads(json.dumps(less))
        assert verify(forged, ROWS_SCHEMA).valid
        assert wrong_in_ledger(sound, ledger.book) is None
        assert "no charge" in wrong_in_ledger(forged, ledger.book)


def test_a_promise_that_was_never_made_is_seen_in_the_ledger(tmp_path):
    """The same question beside a weaker model, or for an adversary who knows less: it verifies by itself."""
    with ledger_at(tmp_path) as ledger:
        sound = release_of(ledger, 1)
        assert wrong_in_ledger(sound, ledger.book) is None
        for other in (Promise.of(ROWS_SCHEMA, [Groups(1)]), Promise.of(ROWS_SCHEMA, [Groups(2)], "model")):
            batch = Batch.from_document(sound["mechanism"], other)
            standing = replace(
                ledger.standing(), price=other.price({part.key: part for part in batch.charged})
            )
            made = certificate(other, batch.document, batch.charged, standing, sound["released"])
            forged = json.loads(json.dumps(made))
            assert verify(forged, ROWS_SCHEMA).valid
            assert "another promise" in wrong_in_ledger(forged, ledger.book)
