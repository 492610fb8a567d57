"""Blanks filled by draws at the door: an exact adversary learns no more than the certificate says."""

import math
from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.separable_filled import FilledConcentrated, separable_blanks_filled_bound
from entwined.dependence import BayesNet, Forms, Groups, Variable
from entwined.errors import BadQuery, OverBudget, Refused
from entwined.ledger import Ledger
from entwined.noise.filling import drawn, fill
from entwined.promise.declared import Declared
from entwined.promise.places import place_of
from entwined.promise.promise import Promise
from entwined.queries import FilledHistogram, Histogram, Marginal, parse
from entwined.queries.documents import as_written, query_from, written
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Cells, Schema
from support.joints import joint_of
from support.memory_table import MemoryTable

DELTA = Fraction(1, 1000)
SHEETS = ("A", "B")
BLANK = "-7"
HALF = np.array([[True, True, False], [True, False, True], [True, False, False]])
CHANCES = (0.5, 0.4, 0.1)  # of the forms, the last that of who has none


def forms_of(seed=0, strength=0.5):
    rng = np.random.default_rng([3, seed])
    variables = []
    for j in range(3):
        above = () if j == 0 else (int(rng.integers(j)),)
        table = np.exp(rng.normal(0, strength, (2 if above else 1, 2)))
        law = (table / table.sum(1, keepdims=True)).tolist()
        variables.append(Variable(f"q{j}", ("0", "1"), tuple(f"q{k}" for k in above), law))
    return Forms(BayesNet.of(variables), "sheet", HALF)


def schema_of(model, rows=1):
    columns = [
        Categorical(name, (*values, BLANK) if some else values, missing="drop")
        for name, values, some in zip(model.answers.names, model.answers.values, model.gated, strict=True)
    ]
    return Schema((*columns, Categorical("sheet", SHEETS)), unit=Cells(), rows=rows).approve()


def says(model):
    return Declared(model, missing_says_nothing=model.answers.names)


def laws(model):
    joint = joint_of(model.answers)
    return [joint.sum(axis=tuple(k for k in range(joint.ndim) if k != j)) for j in range(joint.ndim)]


def weights_of(law):
    return (*(round(one * 10**12) for one in law), 0, 0)


def questions(model, by=None):
    found = [Histogram("sheet")]
    for name, law, gated in zip(model.answers.names, by or laws(model), model.gated, strict=True):
        found.append(FilledHistogram(name, weights_of(law)) if gated else Histogram(name))
    return found


def planned_for(model, asked=None, **rest):
    settings = {"dependence": says(model), "knowledge": "model", "delta": DELTA, "loss": "0.8"} | rest
    return plan(schema_of(model), asked or questions(model), **settings)


def bound_of(planned):
    return planned.promise.bounds(planned.promise.base(planned.charged))["forms"]


MODEL = forms_of()


def cell_laws(planned, bins=24):
    """What the difference of two noisy cells shows of who is in the first or in the second, put into bins.

    It is all that they tell, but for the bins, which only hide; of the sheet it is a part of what they tell.
    """
    found = {}
    for one in planned.statistics:
        scale = float(one.law.scale)
        reach = int(12 * scale) + 3
        at = np.arange(-reach, reach + 1)
        noise = np.exp(-0.5 * (at / scale) ** 2)
        both = np.convolve(noise, noise)
        both /= both.sum()
        ends = np.linspace(-5 * scale, 5 * scale, bins - 1)
        places = np.searchsorted(ends, np.arange(-2 * reach, 2 * reach + 1))
        found[one.statistic.aggregate.axes[0].column] = np.array(
            [np.bincount(places, np.roll(both, shift), bins) for shift in (1, -1, 0)]
        )
    return found


def adversary(model, planned, by):
    """The law of everything shown, given each form and complete answers; blanks are filled by these laws."""
    seen, joint = cell_laws(planned), joint_of(model.answers)
    names = model.answers.names
    for s, chance in enumerate(CHANCES):
        for y in np.ndindex(*joint.shape):
            each = [seen["sheet"][s]]
            for j, name in enumerate(names):
                asks = model.asked[s, j]
                each.append(seen[name][y[j]] if asks else by[j] @ seen[name][:2])
            cells = [y[j] if model.asked[s, j] else -1 for j in range(3)]
            shown = np.einsum("a,b,c,d->abcd", *each).ravel()
            yield [*cells, s], chance * joint[y], shown


def most_told(model, planned, leakage, by=None):
    """The largest hockey stick between any two secrets of any one cell."""
    points = list(adversary(model, planned, by or laws(model)))
    worst = 0.0
    for cell in range(4):
        secrets = {}
        for cells, chance, shown in points:
            total, mixed = secrets.get(cells[cell], (0.0, 0.0))
            secrets[cells[cell]] = total + chance, mixed + chance * shown
        found = [mixed / total for total, mixed in secrets.values()]
        gamma = math.exp(leakage[cell])
        worst = max(worst, *(np.maximum(one - gamma * other, 0).sum() for one in found for other in found))
    return worst


@pytest.mark.parametrize("seed", range(3))
def test_no_cell_is_told_more_about_than_the_certificate_says(seed):
    model = forms_of(seed)
    planned = planned_for(model)
    bound = bound_of(planned)
    assert bound.theorem.name == "separable blanks filled"
    assert float(planned.price.worst) == bound.leakage.worst < 2
    assert most_told(model, planned, bound.leakage.per_unit) <= DELTA


def test_blanks_filled_by_another_law_than_was_charged_for_would_break_the_promise():
    planned = planned_for(MODEL)
    skewed = [np.array([0.97, 0.03])] * 3
    assert most_told(MODEL, planned, bound_of(planned).leakage.per_unit, skewed) > DELTA
    charged = planned_for(MODEL, asked=questions(MODEL, skewed))
    assert most_told(MODEL, charged, bound_of(charged).leakage.per_unit, skewed) <= DELTA
    assert charged.price.worst > planned.price.worst * Fraction(11, 10)  # a worse law has its price


def test_what_is_charged_is_what_the_theorem_starts_from():
    planned = planned_for(MODEL)
    base = planned.promise.base(planned.charged)
    assert {place_of(part.key).column: part.both for part in planned.charged} == dict(base.columns)
    places = [place_of(part.key) for part in planned.charged]
    assert {place.column: place.filling for place in places if place.filling} == {
        one.column: one.weights for one in questions(MODEL)[2:]
    }
    rhos = [base.columns[name] for name in ("q0", "q1", "q2", "sheet")]
    assert set(rhos[:3]) == {planned.loss}
    filling = tuple(np.array(one.weights[:2]) / 1e12 for one in questions(MODEL)[2:])
    loss = ConcentratedLoss.of(rhos, DELTA, gaussian=True, separable=True)
    again = separable_blanks_filled_bound(
        FilledConcentrated(loss, (np.array(laws(MODEL)[0]), *filling)), MODEL
    )
    assert bound_of(planned).leakage.per_unit == pytest.approx(again.per_unit, rel=1e-9)


def where(text):
    return {"where": parse(text, schema_of(MODEL))}


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (lambda all_: [*all_[:3], Histogram("q2", **where("sheet = 'B'"))], "all such questions, or of none"),
        (lambda all_: [*all_, Histogram("q2", **where("sheet = 'B'"))], "all such questions, or of none"),
        (lambda all_: [*all_, FilledHistogram("q2", (1, 2, 0, 0))], "two laws"),
        (lambda all_: [*all_[:3], Histogram("q0", **where("sheet = 'A'"))], "read together"),
        (lambda all_: [*all_, Marginal(("q0", "sheet"))], "read together"),
        (lambda all_: [*all_, FilledHistogram("q0", (1, 1, 0))], "no form leaves it out"),
        (lambda _: [FilledHistogram("q1", (1, 1, 0, 1))], "do not fit the model"),
        (lambda _: [FilledHistogram("q1", (1, 1, 1, 0))], "do not fit the model"),
    ],
)
def test_what_the_bound_does_not_cover_is_refused(asked, why):
    with pytest.raises(Refused, match=why):
        planned_for(MODEL, asked=asked(questions(MODEL)))


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"delta": None}, "only with a δ"),
        ({"knowledge": "any"}, "only with a δ"),
        ({"dependence": (says(MODEL), Groups(largest=2))}, "not every model"),
        ({"dependence": ()}, "not every model"),
        ({"dependence": says(Forms(MODEL.answers, "sheet", HALF[:2]))}, "who has no form"),
    ],
)
def test_promises_that_no_bound_is_for_are_refused(settings, why):
    with pytest.raises(Refused, match=why):
        planned_for(MODEL, **settings)


def test_answers_are_told_from_the_blank_by_their_names():
    one = Variable("q1", ("no", "yes"), (), [[0.5, 0.5]])
    model = Forms(BayesNet.of([one]), "sheet", HALF[:, 1:2])
    assert planned_for(model, asked=[FilledHistogram("q1", (1, 1, 0, 0))]).price.worst > 0
    with pytest.raises(Refused, match="do not fit the model"):
        planned_for(model, asked=[FilledHistogram("q1", (1, 0, 1, 0))])


@pytest.mark.parametrize(
    "weights", [(1, 1), (0, 0, 1), (1, -1, 0), (0.5, 0.5, 0), (2**53, 1, 0), (True, 1, 0)]
)
def test_weights_that_fill_nothing_are_refused(weights):
    with pytest.raises(BadQuery):
        FilledHistogram("q1", weights)


def test_a_filled_histogram_is_read_back_and_refuses_conditions_and_rows():
    schema = schema_of(MODEL)
    asked = query_from({"query": "filled_histogram", "column": "q1", "weights": [3, 1, 0, 0]}, schema)
    assert as_written(written(asked)) == asked
    for query, unit in (
        (FilledHistogram("q1", (3, 1, 0, 0), **where("sheet = 'A'")), schema),
        (FilledHistogram("q1", (3, 1, 0)), schema),
        (asked, Schema(schema.columns, rows=1)),
    ):
        with pytest.raises(BadQuery):
            query.check(unit)


def test_draws_have_the_chances_of_the_weights():
    """By Pearson's χ² with 3 degrees of freedom: a false alarm in 10⁹; wrong weights or twice as many are caught."""
    weights, many = (1, 0, 3, 10**15, 2 * 10**15), 60_000
    found = drawn(many, weights)
    assert found.sum() == many
    assert found[:3].sum() <= 2
    found = drawn(many, (1, 2, 0, 3, 4))
    expected = many * np.array([1, 2, 3, 4]) / 10
    assert found[2] == 0
    assert (((found[[0, 1, 3, 4]] - expected) ** 2) / expected).sum() < 45


def test_only_blanks_are_filled_and_each_once():
    counts = np.array([[[5, 7, 1000, 3]], [[0, 0, 0, 0]]])
    filled = fill(counts, (1, 1, 0, 0))
    assert filled[0, 0, 2:].tolist() == [0, 0]
    assert filled.sum() == counts.sum()
    assert (filled[..., :2] >= counts[..., :2]).all()
    assert abs(int(filled[0, 0, 0]) - 5 - 501) < 200  # twelve standard deviations


def test_a_release_is_certified_and_verified_and_a_second_one_is_refused(tmp_path):
    rng = np.random.default_rng(5)
    schema = schema_of(MODEL, rows=400)
    rows = [dict(zip(("q0", "q1", "q2", "sheet"), one, strict=True)) for one in people(rng, 400)]
    promise = Promise.of(schema, [says(MODEL)], "model", planned_for(MODEL).promise.measure)
    with Ledger.create(tmp_path / "ledger.db", Fraction(2), promise, anchor=tmp_path / "anchor") as ledger:
        table = MemoryTable(schema, rows)
        settings = {"ledger": ledger, "dependence": says(MODEL), "knowledge": "model", "delta": DELTA}
        given = release(table, questions(MODEL), loss="0.8", **settings)
        with pytest.raises(OverBudget, match="one batch"):
            release(table, [Histogram("q0")], leakage="0.1", **settings)
    for answer in given.answers[2:]:
        assert abs(sum(answer.value) - 400) < 10 * 2 * float(answer.noise[0].scale)
    assert verify(given.certificate, schema).valid
    proof = given.certificate["models"][0]["certificate"]
    assert proof["theorem"]["name"] == "separable blanks filled"
    assert proof["inputs"]["loss"]["filling"][1] == pytest.approx(laws(MODEL)[1], abs=1e-9)


def people(rng, many):
    joint = joint_of(MODEL.answers)
    for at in rng.choice(joint.size, many, p=joint.ravel()).tolist():
        y, s = np.unravel_index(at, joint.shape), int(rng.choice(3, p=CHANCES))
        cells = [str(one) if asks else BLANK for one, asks in zip(y, HALF[s], strict=True)]
        yield [*cells, SHEETS[s] if s < 2 else None]
