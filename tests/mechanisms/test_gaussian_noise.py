"""Gaussian noise at the door: what it is charged, what it promises for groups, and what is refused."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from entwined.audit import audit
from entwined.bounds.certificate import digest
from entwined.bounds.profiles.gaussian import gaussian_epsilon
from entwined.dependence import Groups
from entwined.errors import BadLedger, EntwinedError, OverBudget, Refused
from entwined.ledger import Ledger
from entwined.mechanisms.draws import noisy
from entwined.noise import DiscreteGaussian
from entwined.noise.dominated import SMOOTHED
from entwined.promise.measure import Concentrated
from entwined.promise.promise import Promise
from entwined.queries import Count, GroupBy, Histogram, Marginal, Mean, Median, Total, Variance, parse
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Cells, Integer, Person, Schema, Text
from support.memory_table import MemoryTable

DELTA = Fraction(1, 10**6)
COLUMNS = (Text("who", compare="exact"), Categorical("place", ("a", "b", "c")), Integer("age", -3, 6))
SCHEMAS = {
    "add_remove": Schema(COLUMNS, neighbours="add_remove", most_rows=100).approve(),
    "replace": Schema(COLUMNS, most_rows=100).approve(),
    "person": Schema(COLUMNS, unit=Person("who", 2), neighbours="add_remove", most_rows=100).approve(),
}
QUERIES = {
    "count": lambda schema: Count(where=parse("age > 0", schema)),
    "histogram": lambda _: Histogram("place"),
    "marginal": lambda _: Marginal(("place", "age")),
    "total": lambda _: Total("age"),
    "mean": lambda _: Mean("age"),
    "variance": lambda _: Variance("age"),
    "totals": lambda _: GroupBy(("place",), "age"),
}


def ledger_at(folder, schema, models=(), cap=10):
    accountant = Promise.of(schema, models, measure=Concentrated(DELTA))
    return Ledger.create(folder / "l.db", Fraction(cap), accountant, anchor=folder / "a")


def rows_of_one():
    for place, age in product(("a", "c", None), (-3, 0, 6, None)):
        yield {"who": "x", "place": place, "age": age}


def neighbours(relation):
    """Units that are taken away, put in or replaced; a person has up to two rows."""
    rows = list(rows_of_one())
    if relation == "person":
        units = [[], *([row] for row in rows), *([row, row] for row in rows)]
        return [(unit, []) for unit in units]
    if relation == "add_remove":
        return [([row], []) for row in rows]
    return [([one], [other]) for one in rows for other in rows]


@pytest.mark.parametrize("relation", SCHEMAS)
@pytest.mark.parametrize("name", QUERIES)
def test_the_charge_is_the_divergence_of_the_worst_neighbours(name, relation):
    """Σ change² / 2 over the variance but for what smooths integers, over all of them: never above ρ, and reached."""
    schema = SCHEMAS[relation]
    planned = plan(schema, QUERIES[name](schema), loss=1, delta=DELTA)
    rho = planned.promise.base(planned.charged).nominal
    assert gaussian_epsilon(rho, DELTA) == pytest.approx(1, rel=1e-6)
    worst = 0.0
    for here, there in neighbours(relation):
        answers = [MemoryTable(schema, rows).answer(planned.needs(planned.schema)) for rows in (here, there)]
        worst = max(
            worst,
            sum(
                (np.subtract(a, b) ** 2).sum() / (2 * float(one.law.scale**2 - SMOOTHED))
                for one, a, b in zip(planned.statistics, *answers, strict=True)
            ),
        )
    assert worst <= float(rho) * (1 + 1e-9)
    if name != "totals" or relation != "replace":  # there the square of the L1 change is charged
        assert worst == pytest.approx(float(rho), rel=1e-3)


def hockey_stick(scale, moved, epsilon):
    """The exact δ of integers that move by so much: Σ max(P − e^ε·P', 0)."""
    noise = DiscreteGaussian(scale)
    reach = math.ceil(40 * float(scale)) + moved
    steps = np.arange(-reach, reach + 1)
    weights = np.exp(-0.5 * (steps / float(noise.scale)) ** 2)
    shifted = np.exp(-0.5 * ((steps - moved) / float(noise.scale)) ** 2)
    return float(np.maximum(weights - math.exp(epsilon) * shifted, 0).sum() / weights.sum())


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_group_of_copies_learns_no_more_than_the_certificate(tmp_path, size):
    """All of a group have one value: the count moves by all of them at once, and nothing hides them."""
    schema = SCHEMAS["replace"]
    with ledger_at(tmp_path, schema, [Groups(size)]) as ledger:
        table = MemoryTable(schema, [{"who": "x", "place": "a", "age": 1}] * size)
        given = release(
            table,
            Count(where=parse("place = 'a'", schema)),
            leakage=1,
            delta=DELTA,
            dependence=[Groups(size)],
            ledger=ledger,
        )
    assert given.certificate["models"][0]["certificate"]["leakage"] <= 1
    scale = given.answers[0].noise[0].scale
    assert hockey_stick(scale, size, 1) <= DELTA
    assert hockey_stick(scale * Fraction(7, 10), size, 1) > DELTA  # less noise would break the promise


def test_losses_add_up_as_squares(tmp_path):
    """Four releases of ε = 0.2 amount to about twice that, where pure losses would to four times."""
    schema = SCHEMAS["add_remove"]
    with ledger_at(tmp_path, schema, cap="1/2") as ledger:
        table = MemoryTable(schema, [])
        for turn in range(4):
            query = Count(where=parse(f"age > {turn}", schema))
            release(table, query, loss="0.2", delta=DELTA, ledger=ledger)
        assert 0.39 < ledger.spent().price.nominal < 0.45
        with pytest.raises(OverBudget):
            release(table, Histogram("age"), loss="0.4", delta=DELTA, ledger=ledger)


def test_the_certificate_is_derived_again_and_changes_are_seen(tmp_path):
    schema = SCHEMAS["replace"]
    queries = [Histogram("place"), Mean("age"), Median("age")]
    with ledger_at(tmp_path, schema, [Groups(3)]) as ledger:
        terms = {"leakage": 1, "dependence": [Groups(3)], "ledger": ledger}
        table = MemoryTable(schema, list(rows_of_one()))
        given = release(table, queries, delta=DELTA, **terms)
        with pytest.raises(BadLedger):
            release(table, queries, **terms)
    certificate = json.loads(json.dumps(given.certificate))
    found = verify(certificate, schema)
    assert found.valid
    assert "but for a chance of 1e-06" in found.why
    assert all("Gaussian" in str(law) for answer in given.answers[:2] for law in answer.noise)
    flattered = json.loads(json.dumps(certificate["models"]))
    flattered[0]["certificate"]["leakage"] = 0.5
    for key, value in (("delta", "1/1000"), ("nominal", "1/5"), ("models", flattered)):
        changed = {**certificate, key: value}
        del changed["digest"]
        assert not verify({**changed, "digest": digest(changed)}, schema).valid


@pytest.mark.parametrize("name", QUERIES)
def test_intervals_hold_the_truth(name, tmp_path):
    schema = Schema(COLUMNS, neighbours="add_remove", most_rows=10_000).approve()
    rng = np.random.default_rng(11)
    rows = [
        {"who": "x", "place": "abc"[rng.integers(3)], "age": int(rng.integers(-3, 7))} for _ in range(2000)
    ]
    table, query = MemoryTable(schema, rows), QUERIES[name](schema)
    truth = query.answer(schema, table.answer([one.aggregate for one in query.statistics(schema)]))
    held = cells = 0
    with ledger_at(tmp_path, schema, cap=10**6) as ledger:
        for turn in range(15):
            given = release(table, query, loss=1 + Fraction(turn, 1000), delta=DELTA, ledger=ledger)
            low, high = given.intervals[0]
            for a, x, b in zip(
                *(one if isinstance(one, tuple) else (one,) for one in (low, truth, high)), strict=True
            ):
                held, cells = held + (a <= x <= b), cells + 1
    assert held / cells > 0.5  # fifteen numbers at least: not more once in 10⁶ times


def test_an_audit_sees_less_noise_and_passes_ours():
    schema, samples = SCHEMAS["add_remove"], 30_000
    planned = plan(schema, QUERIES["count"](schema), loss=1, delta=DELTA)
    one = planned.statistics[0]
    ours = [noisy(one, np.full((samples, 1), exact))[:, 0] for exact in (0, 1)]
    assert not audit(*ours, delta=float(DELTA), false_alarm=1e-6).refutes(1.0)
    fifth = replace(one, law=DiscreteGaussian(one.law.scale / 5))
    bug = [noisy(fifth, np.full((samples // 5, 1), exact))[:, 0] for exact in (0, 1)]
    assert audit(*bug, delta=float(DELTA), false_alarm=1e-6).refutes(1.0)


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (Refused, {"delta": "0.5"}),
        (EntwinedError, {"delta": 0}),
        (EntwinedError, {"delta": -1}),
        (EntwinedError, {"delta": float("nan")}),
    ],
)
def test_what_no_theorem_covers_is_refused(error, options):
    with pytest.raises(error):
        plan(SCHEMAS["replace"], Count(where=parse("age > 0", SCHEMAS["replace"])), **{"loss": 1, **options})


def test_cells_are_charged_by_column():
    schema = Schema(COLUMNS, unit=Cells(), most_rows=100).approve()
    planned = plan(schema, [Histogram("place"), Histogram("age")], loss=1, delta=DELTA)
    base = planned.promise.base(planned.charged)
    assert base.columns["place"] == base.columns["age"] == base.nominal
    assert {float(one.law.scale) for one in planned.statistics} == {float(planned.statistics[0].law.scale)}


def test_shares_split_the_loss():
    """A query of a third of the share gets three times the noise, and together they cost what is allowed."""
    schema = SCHEMAS["add_remove"]
    queries = [Histogram("place"), Histogram("age")]
    planned = plan(schema, queries, loss=1, shares=[1, 3])
    scales = {one.statistic.aggregate.axes[0].column: one.law.scale for one in planned.statistics}
    assert float(scales["place"]) == pytest.approx(4)
    assert float(scales["age"]) == pytest.approx(4 / 3)
    assert planned.price.nominal == 1
    with pytest.raises(EntwinedError, match="one each"):
        plan(schema, queries, loss=1, shares=[1])
    with pytest.raises(EntwinedError):
        plan(schema, queries, loss=1, shares=[1, 0])
