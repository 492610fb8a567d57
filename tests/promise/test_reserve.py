"""A reserve: batches chosen by what was seen stay inside what was priced before, and show no more than it."""

import json
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from entwined.bounds.certificate import digest
from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.separable import separable_messages_bound, separable_transport_bound
from entwined.canonical import fraction_text
from entwined.dependence import BayesNet, Box, Groups, MarkovChain
from entwined.door.door import Door
from entwined.errors import BadInput, OverBudget, Refused
from entwined.ledger import Ledger
from entwined.mechanisms.batch import plan_batch
from entwined.noise.dominated import rho_of
from entwined.promise.declared import Declared
from entwined.promise.promise import promise_of
from entwined.promise.reserve import left_of
from entwined.queries import Count, Histogram, Marginal, Median, Total, parse
from entwined.request.reserving import reserve_for, reserving
from entwined.request.verbs import release
from entwined.request.verification import verify
from entwined.schema import Boolean, Categorical, Cells, Integer, Schema, Text
from support.hockey_sticks import cell_chances, mechanism_sticks
from support.memory_table import MemoryTable

DELTA = Fraction(1, 10**6)
NAMES = ("a", "b", "c")
LETTERS = ("x", "y", "z", "w")
SCHEMA = Schema(tuple(Categorical(name, LETTERS) for name in NAMES), unit=Cells(), rows=3).approve()
TABLES = [
    [[0.4, 0.3, 0.2, 0.1]],
    [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.7, 0.1], [0.1, 0.1, 0.1, 0.7]],
    [[0.4, 0.2, 0.2, 0.2], [0.2, 0.4, 0.2, 0.2], [0.2, 0.2, 0.4, 0.2], [0.2, 0.2, 0.2, 0.4]],
]
TREE = Declared(
    BayesNet.of_columns(NAMES, (LETTERS,) * 3, ((), ("a",), ("b",)), TABLES), missing_says_nothing=NAMES
)
ROWS = [{"a": "x", "b": "y", "c": "x"}, {"a": "z", "b": "z", "c": "w"}, {"a": "x", "b": "x", "c": "x"}]
TERMS = {"delta": DELTA, "dependence": TREE}
BINS = 9


@pytest.mark.parametrize("wrong", ["p = 'x'", "zone"])
@pytest.mark.parametrize("name", ["a", "z"])
def test_every_column_that_a_reserve_names_is_checked(wrong, name):
    """Whether it comes first or last: a public column, or a condition on one, takes no reserve."""
    columns = (*(Categorical(each, LETTERS) for each in ("a", "z")), Categorical("p", LETTERS, public=True))
    zone = Categorical("zone", LETTERS, public=True)
    schema = Schema((*columns, zone), unit=Cells(), rows=3).approve()
    model = Declared(
        BayesNet.of_columns(("a", "z"), (LETTERS,) * 2, ((), ("a",)), TABLES[:2]), missing_says_nothing="az"
    )
    promise_of(schema, model, delta=DELTA, reserve={"a": "0.01", "z": "0.02"})
    with pytest.raises(BadInput, match=f"reserve: .*{wrong[:4]}"):
        promise_of(schema, model, delta=DELTA, reserve={name: "0.01", wrong: "0.02"})


class Adversary:
    """Asks how many more rows have one code than another, of some column, chosen with its noise by all that was seen.

    Everything here is worked out anew: A = (1, −1) has ‖A‖² = 2, so with variance v it takes 2/v of both codes. The last
    question takes all that is left of them.
    """

    def __init__(self, rng, sizes, rhos, rounds):
        self.rng, self.sizes, self.rhos, self.rounds = rng, sizes, rhos, rounds

    def likelihood(self):
        """The chance of everything that may be seen (last axis), for all values of the units."""
        fresh = [np.full(size, rho) for size, rho in zip(self.sizes, self.rhos, strict=True)]
        return self._asked(fresh, self.rounds)

    def _asked(self, left, rounds):
        if not rounds:
            return np.ones((*self.sizes, 1))
        column = int(self.rng.integers(len(self.sizes)))
        pair = self.rng.permutation(self.sizes[column])[:2]
        taken = (1.0 if rounds == 1 else self.rng.uniform(0.3, 1.0)) * left[column][pair].min()
        if taken <= 1e-9:
            return self._asked(left, rounds - 1)
        deviation = math.sqrt(2 / taken)
        rest = [each.copy() for each in left]
        rest[column][pair] -= taken
        moved = np.zeros(self.sizes[column])
        moved[pair] = 1, -1
        edges = np.concatenate([[-np.inf], np.linspace(-2.2, 2.2, BINS - 1) * deviation, [np.inf]])
        chances = cell_chances((edges - moved[:, None]) / deviation)
        shape = [size if unit == column else 1 for unit, size in enumerate(self.sizes)]
        seen = [chances[:, at].reshape(*shape, 1) * self._asked(rest, rounds - 1) for at in range(BINS)]
        return np.concatenate(seen, axis=-1)


def law_of(tables):
    joint = np.asarray(tables[0])[0]
    for table in tables[1:]:
        joint = joint[..., None] * np.asarray(table)
    return joint


@pytest.mark.parametrize("knowledge", ["any", "model"])
@pytest.mark.parametrize("seed", range(4))
def test_who_chooses_by_what_was_seen_learns_no_more_than_the_reserve_leaks(seed, knowledge):
    rng = np.random.default_rng([11, seed])
    sizes = [int(size) for size in rng.integers(2, 4, 3)]
    tables = [rng.dirichlet(np.full(sizes[0], 2.0), 1)]
    tables += [rng.dirichlet(np.full(sizes[at], 0.8), sizes[at - 1]) + 0.02 for at in (1, 2)]
    tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
    values = tuple(tuple(map(str, range(size))) for size in sizes)
    model = BayesNet.of_columns(NAMES, values, ((), ("a",), ("b",)), [table.tolist() for table in tables])
    rhos = rng.uniform(0.1, 0.8, 3)
    sticks = Adversary(rng, sizes, rhos, rounds=3).likelihood()
    assert np.allclose(sticks.sum(axis=-1), 1)
    bound = separable_messages_bound if knowledge == "any" else separable_transport_bound
    closest = 0.0
    for delta in ("0.2", "0.05", "0.01"):
        box = ConcentratedLoss.of(rhos.tolist(), delta, gaussian=True, separable=True)
        found = bound(box, model).per_unit
        gammas = np.exp(np.unique(found))
        for unit, seen in mechanism_sticks(law_of(tables), sticks, gammas, knowledge):
            at = int(np.argmin(np.abs(np.log(gammas) - found[unit])))
            assert seen[at] <= float(delta) * (1 + 1e-9)
            closest = max(closest, seen[at] / float(delta))
    assert closest > 0.1  # no empty comparison


def test_all_of_a_reserve_can_be_used_up_and_the_price_is_reached():
    """Two codes, each counted with all that is reserved: a number that moves by √2 deviations of both."""
    rho, delta = 0.5, 0.05
    deviation = 1 / math.sqrt(rho)
    edges = np.concatenate([[-np.inf], np.linspace(-6, 7, 260) * deviation, [np.inf]])
    zero, one = (cell_chances(((edges - value) / deviation)[None])[0] for value in (0, 1))
    first, second = (np.outer(p, q).ravel() for p, q in ((zero, one), (one, zero)))
    box = ConcentratedLoss.of([rho], str(delta), gaussian=True, separable=True)
    model = BayesNet.of_columns(("a",), (("0", "1"),), ((),), [[[0.5, 0.5]]])
    (epsilon,) = separable_messages_bound(box, model).per_unit
    reached = np.maximum(first - math.exp(epsilon) * second, 0).sum()
    assert 0.98 * delta < reached <= delta
    narrow = (cell_chances(((edges - value) / (0.8 * deviation))[None])[0] for value in (0, 1))
    zero, one = narrow
    first, second = (np.outer(p, q).ravel() for p, q in ((zero, one), (one, zero)))
    assert (
        np.maximum(first - math.exp(epsilon) * second, 0).sum() > delta
    )  # four fifths of the noise are seen


QUESTIONS = (
    Histogram("a"),
    Count(where=parse("a = 'x'", SCHEMA)),
    Count(where=parse("a in ('x', 'y')", SCHEMA)),
    Count(where=parse("a != 'x'", SCHEMA)),
    Count(where=parse("a is not null", SCHEMA)),
    Histogram("a", where=parse("a in ('z', 'w')", SCHEMA)),
    Histogram("b"),
    Count(where=parse("b in ('x', 'z')", SCHEMA)),
)


@pytest.mark.parametrize("asked", [*((one,) for one in QUESTIONS), QUESTIONS], ids=str)
def test_what_is_taken_bounds_the_precision_of_the_answers(asked):
    """The matrix of everything an answer says of the indicator of a cell, but for a constant, is below what was taken."""
    promise = promise_of(SCHEMA, TREE, delta=DELTA, reserve={"a": 1, "b": 1})
    batch = plan_batch(promise, asked, loss=1)
    for name, (used,) in promise.reserve.used(batch.charged, None).items():
        column = SCHEMA.coded(name)
        precision = np.zeros((column.size, column.size))
        for one in batch.statistics:
            aggregate = one.statistic.aggregate
            if name not in aggregate.reads:
                continue
            rows = [
                [
                    float(
                        aggregate.where.holds({name: code})
                        and all(side.cell(code) == at for side in aggregate.sides)
                    )
                    for code in range(column.size)
                ]
                for at in range(aggregate.cells)
            ]
            moved = np.array(rows)
            moved -= moved.mean(axis=1, keepdims=True)
            precision += moved.T @ moved * float(2 * rho_of(one.law.scale**2, Fraction(1)))
        assert np.linalg.eigvalsh(precision)[-1] <= float(used) * (1 + 1e-9)


def begun(folder, reserve, cap=1):
    return Ledger.create(
        folder / "l.db", Fraction(cap), promise_of(SCHEMA, TREE, delta=DELTA, reserve=reserve), folder / "a"
    )


def test_several_batches_cost_what_was_reserved_and_no_more(tmp_path):
    reserve = reserve_for(SCHEMA, leakage=1, **TERMS)
    assert set(reserve) == set(NAMES)
    table = MemoryTable(SCHEMA, ROWS)
    with begun(tmp_path, reserve) as ledger:
        prices = []
        for query in (*QUESTIONS[:2], Histogram("c"), QUESTIONS[-1]):
            given = release(table, query, leakage="0.25", ledger=ledger, reserve=reserve, **TERMS)
            prices.append(ledger.spent().price.worst)
            assert verify(given.certificate, SCHEMA).valid
        assert len(set(prices)) == 1
        assert 0.999 < prices[0] <= 1
        left = left_of(ledger.book.promised(), ledger.spent().parts)
        assert left["a"][0] < left["c"][0] < 1
        assert left["b"][0] < left["c"][0] * (1 + 1e-12)
        entries = ledger.spent().entries
        again = release(table, QUESTIONS[0], leakage="0.25", ledger=ledger, reserve=reserve, **TERMS)
        with pytest.raises(OverBudget, match="of 'a' more would be shown than is reserved"):
            release(table, Histogram("a"), leakage="0.99", ledger=ledger, reserve=reserve, **TERMS)
        assert ledger.spent().entries == entries
        assert "all that is ever released within the reserve" in again.certificate["says"]


def test_the_reserve_leaks_as_one_batch_does():
    """Of the same histograms in one batch, but for the little that whole numbers cost."""
    found = reserving(promise_of(SCHEMA, TREE, delta=DELTA), 1, {"a": 1, "b": 2, "c": 1})
    rhos = dict(found.reserve.each)
    assert rhos["b"] == 2 * rhos["a"]
    one = plan_batch(
        promise_of(SCHEMA, TREE, delta=DELTA),
        [Histogram(name) for name in NAMES],
        leakage=1,
        shares=(1, 2, 1),
    )
    columns = one.promise.base(one.charged).columns
    assert float(rhos["a"]) == pytest.approx(float(columns["a"]), rel=1e-4)


def forged(certificate, **changed):
    inside = {
        key: value for key, value in json.loads(json.dumps(certificate)).items() if key != "digest"
    } | changed
    return {**inside, "digest": digest(inside)}


def test_a_certificate_with_another_reserve_or_more_than_it_is_refused(tmp_path):
    reserve = {"a": "0.002", "b": "0.002"}
    with begun(tmp_path, reserve) as ledger:
        given = release(
            MemoryTable(SCHEMA, ROWS), Histogram("a"), leakage="0.2", ledger=ledger, reserve=reserve, **TERMS
        ).certificate
    assert verify(given, SCHEMA).valid
    assert not verify(forged(given, reserve={"a": "1/1000", "b": "1/500"}), SCHEMA).valid
    assert not verify(forged(given, reserve={"a": "1/500", "b": "1/500", "c": "1/500"}), SCHEMA).valid
    rows = [
        [key, *(fraction_text(3 * Fraction(loss)) for loss in losses)]
        for key, *losses in given["losses_so_far"]
    ]
    found = verify(forged(given, losses_so_far=rows), SCHEMA)
    assert not found.valid
    assert "more than was reserved" in found.why


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (Marginal(("a", "b")), "reads the columns 'a' and 'b'"),
        (Count(where=parse("a = 'x' and b = 'y'", SCHEMA)), "reads the columns"),
        (Histogram("c"), "nothing is reserved for it"),
    ],
)
def test_what_is_not_proved_within_a_reserve_is_refused(query, why):
    promise = promise_of(SCHEMA, TREE, delta=DELTA, reserve={"a": "0.01", "b": "0.01"})
    with pytest.raises(Refused, match=why):
        plan_batch(promise, query, loss=1)


def test_sums_and_choices_take_no_reserve():
    schema = Schema((Integer("n", 0, 5), Boolean("m")), unit=Cells(), rows=3).approve()
    model = BayesNet.of_columns(
        ("n", "m"),
        (tuple(map(str, range(6))), ("false", "true")),
        ((), ("n",)),
        [[[1 / 6] * 6], [[0.5, 0.5]] * 6],
    )
    declared = Declared(model, missing_says_nothing=("n", "m"))
    promise = promise_of(schema, declared, delta=DELTA, reserve={"n": "0.01"})
    for query in (Total("n"), Median("n")):
        with pytest.raises(Refused, match="no count and no histogram"):
            plan_batch(promise, query, loss=1)


def test_a_reserve_has_its_place():
    within = promise_of(SCHEMA, TREE, delta=DELTA, reserve={"a": 1})
    with pytest.raises(Refused, match="Within a reserve answers have Gaussian noise"):
        plan_batch(within, Histogram("a"), leakage=1, noise="laplace")
    with pytest.raises(BadInput, match="as many batches as its cap allows"):
        promise_of(SCHEMA, Groups(3), delta=DELTA, reserve={"a": 1})
    for wrong in ("a = 'x' and b = 'y'", "a = 'x' or a != 'x' or a is null"):
        with pytest.raises(BadInput, match="neither a column that is protected nor a condition on one"):
            promise_of(SCHEMA, TREE, delta=DELTA, reserve={wrong: 1})
    with pytest.raises(BadInput, match="Gaussian noise"):
        promise_of(SCHEMA, TREE, reserve={"a": 1})
    with pytest.raises(BadInput, match="Give ρ for each column"):
        promise_of(SCHEMA, TREE, delta=DELTA, reserve={})
    with pytest.raises(Refused, match="too small for a reserve"):
        promise_of(SCHEMA, TREE, delta="1e-13", reserve={"a": 1})


def test_a_reserve_cannot_be_enlarged_and_other_computations_do_not_pass(tmp_path):
    reserve = {"a": "0.01", "b": "0.01"}
    with begun(tmp_path, reserve) as ledger:
        table = MemoryTable(SCHEMA, ROWS)
        release(table, Histogram("a"), leakage="0.2", ledger=ledger, reserve=reserve, **TERMS)
        for other in ({"a": "0.02", "b": "0.01"}, None):
            with pytest.raises(Refused, match="reserve is another one"):
                ledger.migrate(promise_of(SCHEMA, TREE, delta=DELTA, reserve=other), Fraction(1))
        promise = promise_of(SCHEMA, TREE, delta=DELTA, reserve=reserve)
        plain = plan_batch(promise_of(SCHEMA, TREE, delta=DELTA), Histogram("a"), leakage="0.1")
        with pytest.raises(Refused, match="nothing is proved there"):
            promise.base(plain.charged)
        assert Door(table, promise, ledger).ledger is ledger


STICKY = np.array([[0.9, 0.1], [0.3, 0.7]])
STATES = ("well", "ill")
PANEL = Schema(
    (Text("who", compare="exact"), Integer("month", 1, 6), Categorical("state", STATES)), most_rows=10_000
).approve()
MONTHLY = Declared(
    MarkovChain(6, Box.exact(STICKY)),
    by="who",
    order="month",
    missing_says_nothing=("state",),
    panel=True,
)


def test_a_panel_is_asked_month_by_month(tmp_path):
    schema, model = PANEL, MONTHLY
    terms = {"dependence": model, "delta": DELTA}
    reserve = reserve_for(schema, leakage=1, columns=["state"], **terms)
    promise = promise_of(schema, model, delta=DELTA, reserve=reserve)
    rows = [
        {"who": who, "month": month, "state": STATES[month % 2]} for who, month in product("uvw", range(1, 7))
    ]
    ill = [Count(where=parse(f"state = 'ill' and month = {month}", schema)) for month in range(1, 7)]
    with Ledger.create(tmp_path / "l.db", Fraction(1), promise, tmp_path / "a") as ledger:
        for query in ill:
            given = release(
                MemoryTable(schema, rows), query, leakage="0.3", ledger=ledger, reserve=reserve, **terms
            )
        assert verify(given.certificate, schema).valid
        assert 0.99 < ledger.spent().price.worst <= 1
        left = left_of(ledger.book.promised(), ledger.spent().parts)["state"]
        assert len(left) == 6
        assert 0 < min(left) <= max(left) < 1
        with pytest.raises(OverBudget, match="at step 3 more would be shown"):
            release(
                MemoryTable(schema, rows), ill[2], leakage="0.95", ledger=ledger, reserve=reserve, **terms
            )
    whole = plan_batch(promise, Count(where=parse("state = 'ill'", schema)), loss="0.1")
    one = plan_batch(promise, ill[0], loss="0.1")
    taken = [promise.reserve.used(batch.charged, promise.steps)["state"] for batch in (whole, one)]
    assert [sum(each > 0 for each in steps) for steps in taken] == [6, 1]
    ratio = Fraction(whole.statistics[0].law.scale ** 2 - 3) / (one.statistics[0].law.scale ** 2 - 3)
    assert float(ratio * taken[0][0] / taken[1][0]) == pytest.approx(6, rel=1e-6)  # six steps share one noise


def test_counts_of_a_named_condition_have_a_reserve_of_their_own(tmp_path):
    """They are all in one direction, so they cost what they do in one batch: half of what a histogram of one does."""
    ill = "a = 'x'"
    reserve = reserve_for(SCHEMA, leakage=1, columns=[ill, "b"], **TERMS)
    promise = promise_of(SCHEMA, TREE, delta=DELTA, reserve=reserve)
    asked = [Count(where=parse(ill, SCHEMA)), Histogram("b")]
    one = plan_batch(promise_of(SCHEMA, TREE, delta=DELTA), asked, leakage=1)
    taken = one.promise.base(one.charged).columns
    assert float(reserve[ill]) == pytest.approx(float(taken["a"]), rel=1e-4)
    batch = plan_batch(promise, asked[0], leakage="0.2")
    used = promise.reserve.used(batch.charged, None)
    assert used["b"] == (0,)
    assert float(used[ill][0]) == pytest.approx(
        float(rho_of(batch.statistics[0].law.scale ** 2, Fraction(1))), rel=1e-9
    )
    with pytest.raises(Refused, match="nothing is reserved for it, or for a condition alone"):
        plan_batch(promise, Count(where=parse("a = 'y'", SCHEMA)), leakage="0.2")
    with begun(tmp_path, reserve) as ledger:
        for leakage in ("0.2", "0.3", "0.4"):
            given = release(
                MemoryTable(SCHEMA, ROWS), asked[0], leakage=leakage, ledger=ledger, reserve=reserve, **TERMS
            )
            assert verify(given.certificate, SCHEMA).valid
        with pytest.raises(OverBudget, match="of \"a = 'x'\" more would be shown"):
            release(
                MemoryTable(SCHEMA, ROWS), asked[0], leakage="0.99", ledger=ledger, reserve=reserve, **TERMS
            )


def test_a_condition_counted_over_several_steps_takes_of_each():
    schema, model = PANEL, MONTHLY
    promise = promise_of(schema, model, delta=DELTA, reserve={"state = 'ill'": "0.01"})
    for months, steps in (("month = 2", 1), ("month between 2 and 5", 4)):
        batch = plan_batch(promise, Count(where=parse(f"state = 'ill' and {months}", schema)), loss="0.1")
        used = promise.reserve.used(batch.charged, promise.steps)["state = 'ill'"]
        assert sum(each > 0 for each in used) == steps
        exact = steps * rho_of(batch.statistics[0].law.scale ** 2, Fraction(1))
        assert float(max(used)) == pytest.approx(float(exact), rel=1e-9)
        (found,) = promise.bounds(promise.certified(batch.charged)).values()
        assert found.theorem.name.startswith("separable")
    with pytest.raises(Refused, match="counts who is there"):
        plan_batch(promise, Count(where=parse("month = 2", schema)), loss=1)
