"""Gaussian noise shared among histograms: within the target by the theorems themselves, and as little as can be."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds import bound
from entwined.bounds.allocate import Shared, searched, within
from entwined.bounds.profiles.curves import largest_shift
from entwined.dependence import BayesNet, Variable
from entwined.errors import EntwinedError, Refused
from entwined.estimate.as_drawn import as_drawn
from entwined.learning import Codes, learn, pair_counts
from entwined.ledger import Ledger
from entwined.loss import Leakage
from entwined.mechanisms.batch import plan_batch
from entwined.mechanisms.draws import draw
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise, promise_of
from entwined.request.verbs import release
from entwined.schema import Categorical, Cells, Schema
from entwined.survey.sense import blank_codes, decided_columns, forms
from entwined.survey.sharing import OnTree, UnderNoise
from entwined.survey.survey import Survey, SurveyPlan, plan_survey
from entwined.survey.working_out import worked_out
from support.memory_table import MemoryTable

DELTA = Fraction(1, 10**6)


def questionnaire(seed=1, rows=900):
    """Two random forms; questions of each form and of both that hang on one mood, and a coarser copy of it."""
    rng = np.random.default_rng([11, seed])
    form, mood = rng.integers(0, 2, rows), rng.integers(0, 4, rows)
    answers = [
        np.where(rng.random(rows) < keep, mood % size, rng.integers(0, size, rows))
        for keep, size in ((0.8, 3), (0.5, 2), (0.3, 4), (0.6, 3), (0.7, 2))
    ]
    first, second = (np.where(form == k, answers[k], (3, 2)[k]) for k in (0, 1))
    names = {"form": 2, "mood": 4, "good": 2, "first": 4, "second": 3, "third": 4, "fourth": 3, "fifth": 2}
    return Codes.of(names, np.column_stack([form, mood, mood // 2, first, second, *answers[2:]]))


def survey(**changes):
    codes = questionnaire()
    pairs = pair_counts(codes)
    (form,) = forms(pairs, blank_codes(pairs))
    return Survey(codes, "pilot", **({"form": form, "decided": decided_columns(pairs, ("form",))} | changes))


def trees():
    return learn(questionnaire().only(["mood", "third", "fourth", "fifth"]), "pilot").model


SURVEYS = {
    "forms": survey(),
    "public form": survey(public_form=True),
    "tree": Survey(questionnaire().only(["mood", "third", "fourth", "fifth"]), "pilot"),
}


@pytest.mark.parametrize(
    ("kind", "knowledge", "target"),
    [("forms", "any", 0.3), ("forms", "model", 3.0), ("public form", "model", 1.0), ("tree", "any", 12.0)],
)
def test_shared_noise_is_within_the_target_and_no_worse_than_equal_noise(kind, knowledge, target):
    found = SURVEYS[kind]
    terms, weights = UnderNoise(found.terms(knowledge), DELTA), found.weights()
    shared = terms.shared(weights, target)
    proved = bound(terms.terms.model, terms.base(shared.losses), knowledge)
    assert target * (1 - 1e-4) <= shared.leakage.worst <= target
    assert terms.leakage(shared.losses).worst <= target
    assert proved.leakage.worst <= target  # the calculus itself says so
    assert shared.cost <= within(terms, 1e-3 * terms.start, weights, target).cost * (1 - 1e-3)


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_no_small_change_of_the_noise_is_better(knowledge):
    """The cost of random neighbours, each brought to the target by the theorem."""
    terms, weights = UnderNoise(OnTree(trees(), knowledge), DELTA, close=1e-4), np.array([4.0, 4.0, 3.0, 2.0])
    best = terms.shared(weights, 1.0)
    rng = np.random.default_rng(12)
    for _ in range(12):
        near = within(terms, best.losses * np.exp(rng.normal(0, 0.15, 4)), weights, 1.0)
        assert near.cost >= best.cost * (1 - 5e-3)


def test_histograms_that_tell_nothing_of_each_other_get_the_whole_target():
    model = BayesNet.of([Variable(f"q{j}", ("0", "1"), (), [[0.5, 0.5]]) for j in range(3)])
    shared = UnderNoise(OnTree(model, "any"), DELTA).shared(np.array([1.0, 2.0, 5.0]), 1.0)
    assert shared.losses == pytest.approx(largest_shift(Fraction(1), DELTA) ** 2 / 2, rel=1e-4)


def test_a_fitted_sketch_says_what_the_theorem_says_and_leaves_no_answer_short_of_the_target():
    found = SURVEYS["tree"]
    terms, weights = UnderNoise(found.terms("model"), DELTA), found.weights()
    rough = terms.sketch(1.0)
    losses = searched(rough, rough.start, weights, 1.0).losses
    near, said = terms.sketch(1.0, losses), terms.leakage(losses).per_unit
    assert near.leakage(losses).per_unit == pytest.approx(said, rel=0.03)
    assert rough.leakage(losses).per_unit != pytest.approx(said, rel=1e-4)
    shared = terms.shared(weights, 1.0)
    assert shared.cost < within(terms, losses, weights, 1.0).cost * 1.003


def test_the_sketch_is_near_the_theorem_and_knows_its_slopes():
    """By differences of the sketch itself, one histogram at a time."""
    found = SURVEYS["forms"]
    terms, weights = UnderNoise(found.terms("model"), DELTA), found.weights()
    best = terms.shared(weights, 1.0)
    sketch = terms.sketch(1.0, best.losses)
    rough = sketch.leakage(best.losses).per_unit
    assert rough == pytest.approx(best.leakage.per_unit, rel=0.05)
    assert (rough >= best.leakage.per_unit * (1 - 1e-3)).all()  # a coarse grid is valid too
    about, (seen,) = sketch.about, sketch.seen
    for one in seen.cases:
        slopes, now = one.slopes(about.charged @ best.losses, about.charged)
        for column in range(terms.columns):
            more = best.losses.copy()
            more[column] *= 1.02
            then = one.told(about.charged @ more)
            assert slopes[:, column] == pytest.approx(
                (then - now) / (0.02 * best.losses[column]), rel=0.1, abs=0.02
            )


def test_the_sketch_moves_as_the_theorem_does():
    """Losses that are each larger or smaller by a tenth, more or less."""
    found = SURVEYS["forms"]
    terms = UnderNoise(found.terms("model"), DELTA)
    losses = terms.shared(found.weights(), 1.0).losses
    sketch, rng = terms.sketch(1.0, losses), np.random.default_rng(5)
    for _ in range(3):
        moved = losses * np.exp(0.1 * rng.normal(size=losses.size))
        assert sketch.leakage(moved).per_unit == pytest.approx(terms.leakage(moved).per_unit, rel=0.06)


def test_filled_blanks_are_shared_within_the_target_by_their_theorem():
    found = survey()
    terms = UnderNoise(found.terms("model", filled=True), DELTA, close=1e-3)
    shared = terms.shared(found.weights(filled=True), 1.0)
    fitted = terms.sketch(1.0, shared.losses)
    assert fitted.leakage(shared.losses).per_unit == pytest.approx(shared.leakage.per_unit, rel=0.1, abs=0.02)
    assert 0.99 < shared.leakage.worst <= 1
    proved = bound(terms.terms.model, terms.terms.exposed(terms.base(shared.losses)), "model")
    assert proved.theorem.name == "separable blanks filled"
    assert proved.leakage.worst <= 1
    assert terms.base(shared.losses).rhos[-1] == pytest.approx(shared.losses[-1])  # no blank moves the form


def six_questions(rows=900, size=3):
    """Six questions that two forms share out; with a size of 4 missing is a value that nobody has."""
    rng = np.random.default_rng(14)
    form, mood = rng.integers(0, 2, rows), rng.integers(0, 2, rows)
    drawn = np.where(rng.random((rows, 6)) < 0.2, mood[:, None], rng.integers(0, 2, (rows, 6)))
    values = np.where(form[:, None] == np.arange(6) % 2, drawn, 2)
    names = {"form": size - 1} | {f"q{j}": size for j in range(6)}
    codes = Codes.of(names, np.column_stack([form, values]))
    (sheet,) = forms(pair_counts(codes), blank_codes(pair_counts(codes)))
    unsaid = tuple(f"q{j}" for j in range(6)) if size == 4 else ()
    return Survey(codes, "pilot", form=sheet, missing_says_nothing=unsaid, dropped=unsaid)


def test_blanks_are_filled_where_that_is_better_and_at_the_door_with_a_delta():
    """The draws are an error themselves, the larger the more rows."""
    found = six_questions()
    few = plan_survey(found, 1.0, "model", 10, delta="1e-4", at_the_door=True)
    pure = plan_survey(found, 1.0, "model", 10, at_the_door=True)
    assert (few.filled, pure.filled) == (True, False)
    left_out = UnderNoise(found.terms("model"), Fraction(1, 10**4)).shared(found.weights(), 1.0).cost
    assert few.squared_error < 0.95 * left_out < replace(few, rows=10**9).squared_error
    with pytest.raises(Refused, match="Gaussian noise alone"):
        replace(few, delta=None).questions(
            Schema((Categorical("form", ("0", "1")), *QUESTIONS), unit=Cells())
        )


QUESTIONS = tuple(Categorical(f"q{j}", ("0", "1", "-7"), missing="drop") for j in range(6))


def test_what_was_filled_is_taken_off_again_and_intervals_cover():
    """By 60 releases with real draws of 18 cells each that are worked out; the form is in all of them."""
    found, rows = six_questions(size=4), 900
    schema = Schema((Categorical("form", ("0", "1")), *QUESTIONS), unit=Cells(), rows=rows).approve()
    shared = Shared(np.full(7, 0.05), Leakage(np.ones(7)), 1.0)
    planned = SurveyPlan(found, "model", 1.0, rows, filled=True, shared=shared, delta=DELTA)
    queries, shares = planned.questions(schema)
    assert [one.kind for one in queries] == ["filled_histogram"] * 6 + ["histogram"]
    assert all(one.weights[2:] == (0, 0) and abs(sum(one.weights) - 10**12) < 3 for one in queries[:6])
    declared = Declared(planned.model, missing_says_nothing=found.unsaid)
    batch = plan_batch(promise_of(schema, [declared], "model", DELTA), queries, loss=1, shares=shares)
    names, values = found.pilot.names, found.pilot.values.tolist()
    texts = {"form": ("0", "1")} | {f"q{j}": ("0", "1", "-7") for j in range(6)}
    people = [{name: texts[name][code] for name, code in zip(names, row, strict=True)} for row in values]
    exact = MemoryTable(schema, people).answer(batch.needs(schema))
    truth = {
        (name, text): sum(one[name] == text for one in people) for name in names[1:] for text in texts[name]
    }
    errors, inside, lengths = [], [], []
    for _ in range(60):
        told = worked_out(found, schema, as_drawn(batch, draw(batch.statistics, exact)))
        assert {(one.column, one.answer) for one in told} == truth.keys()
        errors.append([one.value - truth[one.column, one.answer] for one in told])
        inside.append([one.low <= truth[one.column, one.answer] <= one.high for one in told])
        lengths.append([one.high - one.low for one in told])
    assert np.mean(inside) > 0.91  # 0.962 with a deviation of 0.0095 between runs
    assert np.mean(np.mean(lengths, axis=0) / np.std(errors, axis=0)) < 5  # 4 would be 95 % exactly
    spread = np.std(errors, axis=0) / 60**0.5
    assert (np.abs(np.mean(errors, axis=0)) < 5.5 * spread + 0.5).all()
    narrow = [one.law.half_width("0.95") for one in batch.statistics]
    assert max(narrow) < np.mean(lengths) / 2  # noise alone would not cover


@pytest.mark.parametrize("delta", ["0", "1", "-1e-6", "x"])
def test_a_delta_that_is_no_small_chance_is_refused(delta):
    with pytest.raises(EntwinedError, match="δ"):
        plan_survey(survey(), 1.0, "any", 900, delta=delta)


def test_the_expected_error_is_that_of_a_simulation():
    """Release with Gaussian noise many times; work out blanks and merged columns as the plan counts them."""
    planned, codes = plan_survey(survey(), 1.0, "any", 900, delta=DELTA), questionnaire(2)
    rng = np.random.default_rng(13)
    errors = [squared_error(planned, codes, rng) for _ in range(1500)]
    assert planned.squared_error == pytest.approx(np.mean(errors), rel=0.06)


def squared_error(planned, codes, rng):
    found, noisy = planned.survey, {}
    exact = {
        name: np.bincount(codes.values[:, at], minlength=codes.sizes[at])
        for at, name in enumerate(codes.names)
    }
    for name in reversed(found.released):
        blank = found.blanks.get(name)
        counts = exact[name] if blank is None else np.delete(exact[name], blank.code)
        drawn = counts + rng.normal(0, planned.losses[name] ** -0.5, len(counts))
        if blank is not None:
            drawn = np.insert(drawn, blank.code, np.delete(noisy[blank.by], list(blank.asked)).sum())
        noisy[name] = drawn
    for one in found.decided:
        noisy[one.column] = np.bincount(one.answers, weights=noisy[one.by], minlength=len(exact[one.column]))
    return sum(np.sum((noisy[name] - exact[name]) ** 2) for name in codes.names)


def test_plain_gaussian_noise_moves_two_cells_of_every_histogram():
    planned = plan_survey(survey(public_form=True), 1.0, "model", 900, delta=DELTA, at_the_door=True)
    cells, columns, deviations = 24, 8, 4.225  # of one number that moves by one, at ε 1 and δ 10⁻⁶
    assert planned.plain_errors["plain Gaussian noise"] == pytest.approx(
        cells * 2 * columns * deviations**2, rel=1e-3
    )
    assert planned.plain_noise == "plain Gaussian noise"
    assert planned.squared_error < min(planned.plain_errors.values())
    loose = plan_survey(survey(public_form=True), 20.0, "model", 900, delta=DELTA, at_the_door=True)
    assert loose.plain_noise == "plain Laplace noise"
    pure = plan_survey(survey(), 1.0, "model", 900)
    assert list(pure.plain_errors) == ["plain Laplace noise"]
    assert pure.delta is None


def test_the_door_charges_what_the_plan_says(tmp_path):
    """Each question its ρ, and the form half of every question that some forms leave out."""
    found = survey()
    columns = [
        Categorical(name, tuple(map(str, range(size))), missing="drop")
        for name, size in zip(found.pilot.names, found.pilot.sizes, strict=True)
    ]
    schema = Schema(tuple(columns), unit=Cells(), rows=found.pilot.rows).approve()
    rows = [
        {name: str(code) for name, code in zip(found.pilot.names, row, strict=True)}
        for row in found.pilot.values.tolist()
    ]
    planned = plan_survey(found, 1.0, "any", len(rows), delta=DELTA)
    queries, shares = planned.questions(schema)
    promise: Promise = promise_of(schema, (), "any", DELTA)
    with Ledger.create(tmp_path / "l.db", Fraction(10), promise, anchor=tmp_path / "a") as ledger:
        release(MemoryTable(schema, rows), queries, ledger=ledger, leakage=1, shares=shares, delta=DELTA)
        base = promise.base(ledger.spent().parts).columns
    rhos = UnderNoise(found.terms("any"), DELTA).base(planned.shared.losses).rhos
    expected = {name: float(rho) for name, rho in zip(found.released, rhos, strict=True)}
    assert base.keys() == expected.keys()
    times = float(base["mood"]) / expected["mood"]  # the door fits the multiple of the shares itself
    assert {name: float(rho) / times for name, rho in base.items()} == pytest.approx(expected, rel=1e-6)


def test_a_stronger_law_of_the_answers_leaks_more():
    planned = plan_survey(SURVEYS["tree"], 1.0, "any", 900, delta=DELTA)
    terms = UnderNoise(planned.survey.terms("any"), DELTA)
    stronger = terms.with_answers(planned.survey.learned.model.stronger(0.25))
    assert stronger.leakage(planned.shared.losses).worst > 1.001
    assert replace(terms, delta=Fraction(1, 100)).leakage(planned.shared.losses).worst < 0.9
