"""Mechanisms of different shape through one door: charged once, the same bytes again, and proved without the data."""

import copy
import json
from fractions import Fraction

import numpy as np
import pytest

from entwined.dependence import Groups
from entwined.door.certificate import opened, sealed
from entwined.door.door import Door
from entwined.errors import BadInput, BadQuery, OverBudget, Refused, Unreadable
from entwined.ledger import Kind, Ledger
from entwined.mechanisms.batch import plan_batch
from entwined.mechanisms.classifiers.regression import LinearSVM, LogisticRegression
from entwined.mechanisms.degrees import Degrees
from entwined.mechanisms.k_means import KMeans
from entwined.mechanisms.marginals.adaptive import Adaptive
from entwined.mechanisms.marginals.domain import Domain
from entwined.mechanisms.marginals.synthesis import Synthesis
from entwined.mechanisms.structure_search import StructureSearch
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Count, Histogram, Median, parse
from entwined.request.verification import verify
from entwined.schema import Boolean, Integer, Schema
from support.memory_table import MemoryTable

SCHEMA = Schema((Integer("home", 0, 39), Integer("age", 0, 99), Boolean("member")), most_rows=400).approve()
FAMILIES = Declared(Groups(4), by="home")


def rows(count=240):
    rng = np.random.default_rng(5)
    ages = np.where(rng.random(count) < 0.5, rng.normal(25, 4, count), rng.normal(70, 5, count))
    return [
        {"home": at % 60, "age": int(age), "member": bool(age > 50)}
        for at, age in enumerate(np.clip(ages, 0, 99))
    ]


def batch(promise):
    return plan_batch(
        promise, [Count(where=parse("age > 20", SCHEMA)), Histogram("age", 5), Median("age")], leakage=1
    )


def search(promise):
    return StructureSearch.of(promise, 1, Fraction(1, 4), Fraction(8))


def k_means(promise):
    return KMeans.of(promise, "age", 2, 5, Fraction(1, 2))


def degrees(promise):
    return Degrees.of(promise, ["home"], 9, Fraction(1, 2))


def regression(promise):
    return LogisticRegression.of(promise, "member", Fraction(1, 2), method="descent", rounds=2)


def machine(promise):
    return LinearSVM.of(promise, "age > 50", Fraction(1, 2), columns=["member"])


def synthesis(promise):
    return Synthesis.of(promise, Domain.of(SCHEMA, bins={"age": 5}), Adaptive(rounds=1), Fraction(1, 2))


MECHANISMS = [batch, search, k_means, degrees, regression, machine, synthesis]


class Counting(MemoryTable):
    identity = "the rows"


@pytest.fixture
def door(tmp_path):
    promise = Promise.of(SCHEMA, [FAMILIES])
    with Ledger.create(tmp_path / "l.db", Fraction(40), promise, anchor=tmp_path / "anchor") as ledger:
        yield Door(Counting(SCHEMA, rows()), promise, ledger)


def charges(ledger):
    return [entry for entry in ledger.book.history() if entry.kind is Kind.CHARGE]


@pytest.mark.parametrize("make", MECHANISMS)
def test_asked_twice_it_is_charged_once_and_gives_the_same(door, make):
    first = door.admit(make(door.promise))
    spent = door.ledger.spent().price
    stored = door.ledger.stored(charges(door.ledger)[0].fields["fingerprint"])
    again = door.admit(make(door.promise), analyst="somebody else")
    assert again.output == first.output
    assert again.certificate == first.certificate
    assert door.ledger.spent().price == spent == first.price
    assert len(charges(door.ledger)) == 1
    assert door.ledger.stored(charges(door.ledger)[0].fields["fingerprint"]) == stored


@pytest.mark.parametrize("make", MECHANISMS)
def test_the_charge_is_what_the_mechanism_says(door, make):
    mechanism = make(door.promise)
    door.admit(mechanism)
    (charge,) = charges(door.ledger)
    assert charge.parts == mechanism.parts(door.promise)
    assert charge.fields["document"] == json.loads(json.dumps(mechanism.document))


def leaves(document, path=()):
    if isinstance(document, dict | list):
        items = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in items:
            yield from leaves(value, (*path, key))
    else:
        yield path, document


def changed(document, path, value):
    other = copy.deepcopy(document)
    place = other
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return other


def other_than(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value / 2 if value else 1
    above, _, below = str(value).partition("/")
    if below.isdigit():
        return f"{int(above)}/{2 * int(below)}"
    return f"{value}x"


@pytest.mark.parametrize("make", MECHANISMS)
def test_a_certificate_verifies_without_data_and_no_change_of_it_does(door, make):
    """Every number and text in it in turn, its digest made anew: what leads nowhere else than to itself is refused.

    What nobody can derive without the ledger or the numbers at hand is said to be so: which ledger, how far it had
    come, its cap, what was released, and the versions of the libraries.
    """
    certificate = json.loads(json.dumps(dict(door.admit(make(door.promise)).certificate)))
    assert verify(certificate, SCHEMA).valid
    assert not verify({**certificate, "digest": "0" * 64}, SCHEMA).valid
    content = opened(certificate)
    tried = 0
    for path, value in leaves(content):
        if path[0] in ("ledger", "released") or path == ("total", "cap") or "versions" in path:
            continue
        tried += 1
        forged = sealed(changed(content, path, other_than(value)))
        try:
            valid = verify(forged, SCHEMA).valid
        except BadInput:
            valid = False
        assert not valid, (path, value)
    assert tried > 25


def test_what_is_divided_throughout_is_another_mechanism(door):
    """A smaller loss with all that follows from it verifies, as it must: it is then not what the ledger holds."""
    passed = door.admit(k_means(door.promise))
    smaller = KMeans.of(door.promise, "age", 2, 5, Fraction(1, 4))
    assert smaller.document != passed.certificate["mechanism"]
    assert smaller.parts(door.promise) != k_means(door.promise).parts(door.promise)


def test_rows_are_lent_for_the_run_alone(door):
    kept = []

    class Keeping(type(batch(door.promise))):
        def run(self, read, schema):
            kept.append(read)
            return super().run(read, schema)

    honest = batch(door.promise)
    door.admit(Keeping(*(getattr(honest, name) for name in honest.__slots__)))
    with pytest.raises(Refused, match="given back"):
        kept[0](honest.needs(SCHEMA))


def test_another_promise_is_refused_before_the_charge(door):
    other = Promise.of(SCHEMA, [Declared(Groups(2), by="home")])
    with pytest.raises(BadQuery, match="another promise"):
        door.admit(batch(other))
    assert not charges(door.ledger)


def test_what_is_over_the_cap_reads_no_row(door):
    with pytest.raises(OverBudget):
        door.admit(KMeans.of(door.promise, "age", 2, 5, Fraction(50)))
    assert door.table.reads == 0
    assert not charges(door.ledger)


@pytest.mark.parametrize("how", [ValueError("38 rows"), KeyboardInterrupt(), SystemExit(3)])
def test_a_mechanism_that_ends_badly_keeps_its_charge_and_leaves_no_lease(door, how, monkeypatch):
    mechanism = k_means(door.promise)

    class Bad(KMeans):
        def run(self, read, schema):
            read(self.needs(schema))
            raise how

    bad = Bad(*(getattr(mechanism, name) for name in KMeans.__slots__))
    monkeypatch.setattr(Bad, "parts", lambda _, promise: mechanism.parts(promise))
    with pytest.raises(Unreadable if isinstance(how, ValueError) else type(how)) as told:
        door.admit(bad)
    assert "38" not in str(told.value)
    assert [entry.kind for entry in door.ledger.book.history()][-1] is Kind.FAILED
    assert not door.ledger._leases
    assert door.ledger.spent().price.worst > 0


def test_clusters_are_found_when_the_loss_allows(tmp_path):
    promise = Promise.of(SCHEMA)
    with Ledger.create(tmp_path / "l.db", Fraction(100), promise, anchor=tmp_path / "anchor") as ledger:
        found = Door(Counting(SCHEMA, rows()), promise, ledger).admit(
            KMeans.of(promise, "age", 2, 6, Fraction(30))
        )
    low, high = (float(one) for (one,) in found.output.centres)
    assert abs(low - 25) < 4
    assert abs(high - 70) < 4
    assert abs(sum(found.output.sizes) - 240) < 2 * found.output.reach + 5


def test_the_rounds_lose_no_more_than_is_charged():
    """The exact law of the noise in every round, for all pairs of rows: sums of |moves| / scale add up to the loss."""
    promise = Promise.of(Schema((Integer("x", 0, 5),), neighbours="add_remove").approve())
    rounds = KMeans.of(promise, "x", 3, 4, Fraction(1))
    (fold,) = rounds.needs(promise.schema)
    counted = fold.vectors(np.arange(7, dtype=np.int64)[:, None]).reshape(7, 3, -1)
    vectors = np.array([rounds.space.summed(one, rounds.weight).reshape(-1) for one in counted])
    scale = float(rounds.noise.scale)
    alone = np.abs(vectors).sum(axis=1).max() / scale
    assert 4 * alone <= float(promise.base(rounds.parts(promise)).nominal) + 1e-12
    pairs = np.abs(vectors[:, None] - vectors[None]).sum(axis=2).max() / scale
    assert 4 * pairs <= float(promise.base(rounds.parts(promise)).replace) + 1e-12
    assert 4 * alone > 0.9
