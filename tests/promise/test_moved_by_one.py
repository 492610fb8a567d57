"""Counts with Laplace noise under a δ are priced by their own profile where one batch is all there is."""

import json
from fractions import Fraction

import pytest

from entwined.dependence import BayesNet, Independent
from entwined.errors import Refused
from entwined.ledger import Ledger
from entwined.mechanisms.batch import plan_batch
from entwined.promise.declared import Declared
from entwined.promise.moved_by_one import MovedByOne, bits_of
from entwined.promise.part import Part
from entwined.promise.places import place_of
from entwined.promise.promise import promise_of
from entwined.queries import Count, Histogram, Median, Total, parse
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Cells, Integer, Schema
from support.memory_table import MemoryTable

NAMES = ("a", "b", "c")
SCHEMA = Schema(
    (*(Categorical(name, ("x", "y")) for name in NAMES), Integer("n", 0, 3)), unit=Cells(), rows=40
).approve()
STEP = [[0.8, 0.2], [0.3, 0.7]]
TREE = Declared(
    BayesNet.of_columns(
        (*NAMES, "n"),
        (("x", "y"),) * 3 + (("0", "1", "2", "3"),),
        ((), ("a",), ("a",), ()),
        ([[0.4, 0.6]], STEP, STEP, [[0.25] * 4]),
    ),
    missing_says_nothing=(*NAMES, "n"),
)
TERMS = {"delta": Fraction(1, 10**6), "dependence": TREE}
ASKED = [Histogram(name) for name in NAMES]
ROWS = [{"a": "xy"[k % 2], "b": "yx"[k % 3 == 0], "c": "yx"[k % 5 == 0], "n": k % 4} for k in range(40)]


def base_of(asked, **terms):
    given = TERMS | {"noise": "laplace"} | terms
    planned = plan(SCHEMA, asked, leakage=1, **given)
    return planned.promise.base(planned.charged)


def test_a_few_histograms_have_far_less_noise_than_the_gaussian_of_their_charge_would():
    gaussian, laplace = (plan(SCHEMA, ASKED, leakage=1, noise=noise, **TERMS) for noise in ("", "laplace"))
    pure = plan(SCHEMA, ASKED, leakage=1, dependence=TREE)
    spreads = [one.statistics[0].spread for one in (laplace, gaussian, pure)]
    assert spreads[0] < 0.9 * spreads[1]
    assert spreads[0] <= spreads[2] * (1 + 1e-3)  # a chance to fail never asks for more
    assert 0.999 < laplace.price.worst <= 1
    assert laplace.price.nominal < laplace.price.worst
    charged = laplace.promise.base(laplace.charged)
    assert charged.bits.keys() == set(NAMES)
    assert all(many == 2 for ((_, many),) in charged.bits.values())  # one cell loses what another one gains


def test_it_is_released_certified_and_derived_again(tmp_path):
    promise = promise_of(SCHEMA, TREE, delta=TERMS["delta"])
    table = MemoryTable(SCHEMA, ROWS)
    with Ledger.create(tmp_path / "l.db", Fraction(2), promise, tmp_path / "a") as ledger:
        found = release(table, ASKED, leakage=1, ledger=ledger, noise="laplace", **TERMS)
        assert 0.999 < ledger.spent().price.worst <= 1
        with pytest.raises(Refused):
            release(table, [Histogram("n")], leakage="0.5", ledger=ledger, noise="laplace", **TERMS)
    assert verify(found.certificate, SCHEMA, release=found.document()).valid
    inputs = found.certificate["models"][0]["certificate"]["inputs"]["loss"]
    assert len(inputs["bits"]) == 4
    assert inputs["bits"][3] == []
    for row in found.certificate["losses"]:
        claimed = place_of(row[0]).counts
        wrong = json.loads(json.dumps(found.certificate))
        wrong["losses"] = [
            [one[0].replace(f'"scale":"{claimed.document["scale"]}"', '"scale":"99"'), *one[1:]]
            for one in wrong["losses"]
        ]
        assert not verify(wrong, SCHEMA).valid


def test_what_was_charged_several_times_shows_as_often():
    counts = MovedByOne(Fraction(3), 2, (Fraction(1, 9), Fraction(2, 9)))
    assert bits_of([("a", Part("x", *counts.once), counts)]) == {"a": ((Fraction(1, 3), 2),)}
    twice = Part("x", Fraction(2, 9), Fraction(4, 9))
    assert bits_of([("a", twice, counts)]) == {"a": ((Fraction(1, 3), 4),)}
    for other in (Part("x", Fraction(1, 9), Fraction(1, 3)), Part("x", Fraction(1, 6), Fraction(1, 3))):
        assert bits_of([("a", other, counts)]) == {}  # no whole number of draws
    assert bits_of([("a", twice, counts), ("b", twice, None)]) == {}
    assert MovedByOne.from_document(counts.document) == counts


@pytest.mark.parametrize(
    ("asked", "terms"),
    [
        ([Histogram("a", where=parse("b = 'y'", SCHEMA))], {}),  # a change of b moves the same counts
        ([Histogram("a"), Total("n")], {}),  # a sum moves by more than one
        ([Histogram("a"), Median("n")], {}),  # a choice is no count
        (ASKED, {"noise": ""}),
        (ASKED, {"dependence": Independent(4)}),  # several batches may follow
    ],
    ids=["two columns", "sum", "choice", "Gaussian", "several batches"],
)
def test_elsewhere_the_charge_decides(asked, terms):
    assert base_of(asked, **terms).bits == {}


def test_a_batch_that_was_charged_twice_leaks_as_two_draws():
    planned = plan(SCHEMA, ASKED, leakage=1, noise="laplace", **TERMS)
    twice = {part.key: part + part for part in planned.charged}
    assert planned.promise.price(twice).worst > 1.5 * float(planned.price.worst)


def test_a_count_of_one_answer_moves_one_number():
    asked = [Count(where=parse("a = 'y'", SCHEMA))]
    promise = promise_of(SCHEMA, TREE, delta=TERMS["delta"])
    planned = plan_batch(promise, asked, leakage=1, noise="laplace")
    ((_, many),) = promise.base(planned.charged).bits["a"]
    assert many == 1
    assert float(1 / planned.statistics[0].law.scale) == pytest.approx(
        1.0, rel=2e-3
    )  # all of it, in pure loss


def test_under_terms_that_let_batches_follow_elsewhere_the_charge_of_the_same_counts_decides():
    """What was charged under a promise for one batch may be carried to one for several."""
    planned = plan(SCHEMA, ASKED, leakage=1, noise="laplace", **TERMS)
    several = promise_of(SCHEMA, Independent(4), delta=TERMS["delta"])
    assert several.base(planned.charged).bits == {}
    assert several.nominal(several.base(planned.charged)) > planned.price.nominal
