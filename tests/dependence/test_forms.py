"""Questionnaires in forms at the door: an exact adversary never learns more than the certificate says.

Complete answers, forms and blanks are enumerated, and the likelihood of everything that the planned noise can
release is worked out exactly. A row moves a cell of a histogram between 0 and 1; below and above, the ratio of two
likelihoods no longer changes, so 0 and 1 stand for all numbers.
"""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds import bound, certify
from entwined.bounds.certificate import digest
from entwined.bounds.forms import blanks_left_out_bound
from entwined.dependence import BayesNet, Forms, Groups, Variable, read_model, write_model
from entwined.errors import BadModel, Refused
from entwined.ledger import Charge, Ledger
from entwined.loss import Loss
from entwined.promise.declared import Declared
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.promise import Promise
from entwined.queries import Count, Histogram, Marginal, Mean, Quantile, Total, parse
from entwined.report.claims import model_words
from entwined.request.verbs import plan, release
from entwined.request.verification import verify
from entwined.schema import Categorical, Cells, Integer, Person, Schema, Text
from support.joints import joint_of
from support.memory_table import MemoryTable
from support.sheets import answers, copies

SHEETS = ("A", "B")
BLANK = "-7"
TRIALS = 24


def questionnaire(model, missing="drop"):
    """Questions with their answers and a blank, and two sheets."""
    values = [tuple(map(str, range(len(one)))) for one in model.answers.values]
    gated = model.gated.tolist()
    columns = [
        Categorical(name, (*own, BLANK) if some else own, missing="drop")
        for name, own, some in zip(model.answers.names, values, gated, strict=True)
    ]
    form = Categorical("sheet", SHEETS, missing=missing)
    return Schema((*columns, form), unit=Cells(), rows=1).approve()


def says(model, **rest):
    """The model as it is declared where no answer is ever missing."""
    return Declared(model, missing_says_nothing=model.answers.names, **rest)


def asked(model, schema):
    """A histogram of every question where it is asked, and of the sheet."""
    found = [Histogram("sheet")]
    for at, name in enumerate(model.answers.names):
        sheets = [SHEETS[s] for s in np.flatnonzero(model.asked[:, at])]
        where = {} if len(sheets) == 2 else {"where": parse(f"sheet = '{sheets[0]}'", schema)}
        found.append(Histogram(name, **where))
    return found


class Population:
    """Every form with every complete answer: its chance, what its cells show, and its row."""

    def __init__(self, model, sheets=(0.5, 0.5)):
        law = joint_of(model.answers)
        self.points = [(s, *y) for s in range(len(sheets)) for y in np.ndindex(*law.shape)]
        self.chance = np.array([sheets[s] * law[tuple(y)] for s, *y in self.points])
        self.shown = np.array([[*self.cells(model, s, y), s] for s, *y in self.points])
        self.model = model

    @staticmethod
    def cells(model, s, y):
        """−1 is blank; a form that is not listed asks what all others ask."""
        there = model.asked[s] if s < len(model.asked) else ~model.gated
        return [one if ask else -1 for one, ask in zip(y, there, strict=True)]

    def tables(self, schema):
        names = (*self.model.answers.names, "sheet")
        for row in self.shown.tolist():
            texts = [BLANK if code < 0 else str(code) for code in row[:-1]]
            sheet = SHEETS[row[-1]] if row[-1] < len(SHEETS) else None
            yield MemoryTable(schema, [dict(zip(names, [*texts, sheet], strict=True))])

    def likelihoods(self, planned, schema):
        """One row a point, one column something released."""
        exact = np.array(
            [np.concatenate(table.answer(planned.needs(planned.schema))) for table in self.tables(schema)]
        )
        assert set(np.unique(exact)) <= {0, 1}
        scales = np.array(
            [float(one.law.scale) for one in planned.statistics for _ in range(one.statistic.aggregate.cells)]
        )
        moving = np.ptp(exact, axis=0) > 0
        outputs = np.array(list(itertools.product((0, 1), repeat=int(moving.sum()))))
        return np.exp(-np.abs(outputs[None] - exact[:, None, moving]) @ (1 / scales[moving]))

    def leakages(self, likelihoods, knowledge):
        """The most that anything released tells about each cell, whatever other cells are known.

        Where the form is public it is always known, and no secret.
        """
        units = self.shown.shape[1]
        found, form = np.zeros(units), (units - 1,) * self.model.public
        for cell in range(units - self.model.public):
            others = [one for one in range(units) if one != cell and one not in form]
            sets = itertools.chain.from_iterable(itertools.combinations(others, r) for r in range(units))
            for known in [(*one, *form) for one in sets] if knowledge == "any" else [form]:
                for values in {tuple(row) for row in self.shown[:, list(known)].tolist()}:
                    there = self.chance * (self.shown[:, list(known)] == np.array(values)).all(axis=1)
                    secrets = sorted(set(self.shown[there > 0, cell].tolist()))
                    each = [there * (self.shown[:, cell] == secret) for secret in secrets]
                    means = np.array([weights @ likelihoods / weights.sum() for weights in each])
                    found[cell] = max(found[cell], float(np.log(means.max(0) / means.min(0)).max()))
        return found


def certified(planned):
    return planned.promise.bounds(planned.promise.base(planned.charged))["forms"].leakage.per_unit


HALF = np.array([[True, True, False], [True, False, True]])
PART = np.array([[True, True, True], [True, False, False]])


@pytest.mark.parametrize("knowledge", ["any", "model"])
@pytest.mark.parametrize("trial", range(TRIALS))
def test_no_cell_is_told_more_about_than_the_certificate_says(trial, knowledge):
    rng = np.random.default_rng([1, trial])
    sizes = ((2, 2, 2), (2, 3, 2))[trial // 6 % 2]
    model = Forms(answers(rng, sizes), "sheet", (HALF, PART)[trial % 2].copy())
    schema = questionnaire(model, "drop" if trial % 3 else "value")
    queries = asked(model, schema)
    shares = rng.uniform(0.3, 1, len(queries)).tolist()
    planned = plan(schema, queries, leakage=1, dependence=[says(model)], knowledge=knowledge, shares=shares)
    assert max(planned.price.leakage.values()) <= 1
    sheets = ((0.5, 0.5), (0.9, 0.1), (0.6, 0.3, 0.1))[trial % 3]  # the last: some have no form
    population = Population(model, sheets)
    truth = population.leakages(population.likelihoods(planned, schema), knowledge)
    assert (truth <= certified(planned) + 1e-9).all()
    assert truth.max() > 0.4  # not vacuous


@pytest.mark.parametrize("knowledge", ["any", "model"])
@pytest.mark.parametrize("trial", range(TRIALS))
def test_where_the_form_is_public_no_answer_is_told_more_about_than_the_certificate_says(trial, knowledge):
    rng = np.random.default_rng([7, trial])
    model = Forms(answers(rng), "sheet", (HALF, PART)[trial % 2].copy(), public=True)
    schema = questionnaire(model)
    queries = asked(model, schema)
    planned = plan(schema, queries, leakage=1, dependence=[says(model)], knowledge=knowledge)
    population = Population(model, ((0.5, 0.5), (0.9, 0.1), (0.6, 0.3, 0.1))[trial % 3])
    truth = population.leakages(population.likelihoods(planned, schema), knowledge)
    assert (truth <= certified(planned) + 1e-9).all()
    assert truth.max() > 0.4
    secret = Forms(model.answers, "sheet", model.asked.copy())
    assert (
        planned.loss >= plan(schema, queries, leakage=1, dependence=[says(secret)], knowledge=knowledge).loss
    )


def test_what_need_not_be_hidden_need_not_be_paid_for_and_is_not_hidden():
    alone = BayesNet.of([Variable(f"q{j}", ("0", "1"), (), [[0.5, 0.5]]) for j in range(3)])
    public, secret = (Forms(alone, "sheet", HALF.copy(), public=one) for one in (True, False))
    schema = questionnaire(public)
    open_, hidden = (
        plan(schema, asked(model, schema), leakage=1, dependence=[says(model)]) for model in (public, secret)
    )
    assert open_.loss > 1.5 * hidden.loss
    population = Population(secret)
    assert population.leakages(population.likelihoods(open_, schema), "any").max() > 1.5


def test_a_public_form_is_written_and_said(tmp_path):
    model = Forms(copies(3), "sheet", HALF.copy(), public=True)
    write_model(model, tmp_path / "model.json")
    again = read_model(tmp_path / "model.json")
    assert again.public
    assert again.document == model.document
    found = bound(model, Loss.uniform(1, 4))
    assert found.theorem.name == "public form"
    assert "Who had which form is public" in certify(found).document["trusted"][0]


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_tables_and_counts_of_several_questions_too(knowledge):
    rng = np.random.default_rng(2)
    model = Forms(answers(rng), "sheet", PART)
    schema = questionnaire(model)
    queries = [
        Marginal(("q0", "q1"), where=parse("sheet = 'A'", schema)),
        Count(where=parse("sheet = 'A' and q1 = '1' and q2 = '0'", schema)),
        Histogram("q0", where=parse("sheet = 'A' and q2 = '1'", schema)),
        Histogram("sheet"),
    ]
    planned = plan(schema, queries, leakage=2, dependence=[says(model)], knowledge=knowledge)
    population = Population(model)
    truth = population.leakages(population.likelihoods(planned, schema), knowledge)
    assert (truth <= certified(planned) + 1e-9).all()
    assert truth.max() > 0.5


def test_with_no_form_to_tell_and_nothing_shared_the_bound_is_reached():
    """Independent answers: a cell's own loss, and for a blank the loss of the form."""
    alone = BayesNet.of([Variable(f"q{j}", ("0", "1"), (), [[0.5, 0.5]]) for j in range(3)])
    model = Forms(alone, "sheet", HALF.copy())
    schema = questionnaire(model)
    planned = plan(schema, asked(model, schema), leakage=1, dependence=[says(model)])
    population = Population(model)
    truth = population.leakages(population.likelihoods(planned, schema), "any")
    assert truth.max() == pytest.approx(1, rel=1e-6)
    assert truth == pytest.approx(certified(planned), rel=1e-6)


# what must be refused


def unconditioned(model, schema):
    """What an accountant without gates would certify for plain histograms, and what they leak."""
    queries = [Histogram(name) for name in model.answers.names]
    planned = plan(schema, queries, loss=1)
    base = planned.promise.base(planned.charged).columns
    claimed = blanks_left_out_bound(Loss.of([float(base.get(name, 0)) for name in model.names]), model)
    population = Population(model)
    return claimed.per_unit, population.leakages(population.likelihoods(planned, schema), "any")


def test_a_condition_that_is_dropped_would_break_the_promise_and_is_refused():
    alone = BayesNet.of([Variable(f"q{j}", ("0", "1"), (), [[0.5, 0.5]]) for j in range(3)])
    model = Forms(alone, "sheet", np.array([[True, True, True], [False, False, False]]))
    schema = questionnaire(model)
    claimed, truth = unconditioned(model, schema)
    assert claimed.max() == pytest.approx(1)
    assert truth.max() == pytest.approx(3)  # three blanks say three times which form it was
    for given in ({"leakage": 1}, {"loss": 1}):
        with pytest.raises(Refused, match=r"'q0' is read where the form does not ask it.* is 'A'"):
            plan(schema, [Histogram("q0")], dependence=[says(model)], **given)


@pytest.fixture
def halves():
    model = Forms(copies(3), "sheet", HALF.copy())
    return model, questionnaire(model)


@pytest.mark.parametrize(
    "condition",
    [
        "q0 = '1'",
        "sheet = 'B'",
        "sheet in ('A', 'B')",
        "sheet is null or sheet = 'A'",
        "sheet = 'A' or q0 = '1'",
        "not sheet = 'B' or q1 = '0'",
    ],
)
def test_conditions_that_let_in_another_form_are_refused(halves, condition):
    model, schema = halves
    with pytest.raises(Refused, match="'q1' is read"):
        plan(schema, Histogram("q1", where=parse(condition, schema)), leakage=1, dependence=[says(model)])
    plan(
        schema,
        Histogram("q0", where=parse("q0 = '1' or sheet = 'B'", schema)),
        leakage=1,
        dependence=[says(model)],
    )


@pytest.mark.parametrize(
    "condition", ["sheet = 'A'", "sheet <> 'B'", "sheet = 'A' and q0 = '1'", "not sheet in ('B')"]
)
def test_conditions_inside_the_forms_that_ask_are_answered(halves, condition):
    model, schema = halves
    planned = plan(
        schema, Histogram("q1", where=parse(condition, schema)), leakage=1, dependence=[says(model)]
    )
    assert planned.promise.base(planned.charged).columns["sheet"] > 0  # the form pays for the condition


def test_a_question_that_is_only_a_condition_or_one_side_of_a_table_is_guarded_too(halves):
    model, schema = halves
    inside = parse("sheet = 'A'", schema)
    for query in (
        Histogram("q0", where=parse("q1 = '1'", schema)),
        Count(where=parse(f"q1 <> '{BLANK}'", schema)),
        Count(where=parse("q1 is null", schema)),
        Marginal(("q0", "q1")),
        Marginal(("q1", "sheet")),
        Marginal(("q1", "q2"), where=inside),  # no form asks both
        Histogram("q0", where=inside & parse("q2 = '0'", schema)),
    ):
        with pytest.raises(Refused, match="where the form does not ask it"):
            plan(schema, [Histogram("sheet"), query], leakage=1, dependence=[says(model)])
    plan(schema, Marginal(("q0", "q1"), where=inside), leakage=1, dependence=[says(model)])


def test_sums_means_and_quantiles_are_guarded_too():
    model = Forms(copies(2), "sheet", np.array([[True, True], [True, False]]))
    schema = Schema(
        (Categorical("q0", ("0", "1")), Integer("q1", 0, 2), Categorical("sheet", SHEETS)),
        unit=Cells(),
        rows=9,
    ).approve()
    inside = parse("sheet = 'A'", schema)
    for kind in (Total, Mean, lambda column, **rest: Quantile(column, Fraction(1, 2), **rest)):
        plan(schema, kind("q1", where=inside), leakage=1, dependence=[says(model)])
        with pytest.raises(Refused, match="'q1' is read"):
            plan(schema, kind("q1"), leakage=1, dependence=[says(model)])


def test_a_form_for_missing_may_be_declared_and_is_none_otherwise(halves):
    _, schema = halves
    three = Forms(copies(3), "sheet", np.array([*HALF, [True, True, True]]))
    where = parse("sheet is null or sheet = 'A'", schema)
    plan(schema, Histogram("q1", where=where), leakage=1, dependence=[says(three)])
    with pytest.raises(Refused, match="is 'A' or missing"):
        plan(schema, Histogram("q1"), leakage=1, dependence=[says(three)])


def test_models_that_do_not_fit_the_schema_are_refused(halves):
    model, schema = halves
    one = [says(model)]
    for forms in (HALF[:1] | HALF[1:], np.array([*HALF, *HALF])):
        with pytest.raises(BadModel, match="forms, and the column 'sheet' has 2 values"):
            Promise.of(schema, [says(Forms(copies(3), "sheet", forms))])
    with pytest.raises(BadModel, match="names its columns itself"):
        Promise.of(schema, [Declared(model, columns=("sheet", "q0", "q1", "q2"))])
    with pytest.raises(BadModel, match="answers of one respondent"):
        Promise.of(Schema(schema.columns, rows=5).approve(), one)
    with pytest.raises(BadModel, match="answers of one respondent"):
        Promise.of(
            Schema(
                (Text("who", compare="exact"), *schema.columns), unit=Person("who", 2), most_rows=9
            ).approve(),
            one,
        )
    tight = Schema(
        tuple(Categorical(n, ("0", "1")) for n in ("q0", "q1", "q2")) + schema.columns[3:],
        unit=Cells(),
        rows=5,
    )
    with pytest.raises(BadModel, match=r"2 values for the column 'q1'.* one of them a blank.*: 1 in all"):
        Promise.of(tight.approve(), one)
    with pytest.raises(Refused, match="planning only"):
        Promise.of(schema, [Forms(copies(3, source="exploratory"), "sheet", HALF.copy())])
    with pytest.raises(BadModel, match="says nothing of it"):
        plan(
            Schema((*schema.columns, Categorical("more", ("0", "1"))), unit=Cells(), rows=1).approve(),
            Histogram("more"), leakage=1, dependence=one,
        )  # fmt: skip


def test_a_charge_past_the_plan_is_not_priced(halves, tmp_path):
    """The ledger asks the same accountant, whoever made the charge."""
    model, schema = halves
    accountant = Promise.of(schema, [says(model)])
    with Ledger.create(tmp_path / "l.db", Fraction(1), accountant, anchor=tmp_path / "a") as ledger:
        bad = Part(
            key_of(Histogram("q1").statistics(schema)[0].aggregate.where, "q1"), Fraction(0), Fraction(1, 9)
        )
        with pytest.raises(Refused, match="'q1' is read"):
            ledger.reserve(Charge("r", "f", (bad,), "holder", {}))
        assert ledger.spent().parts == ()


# from end to end


def test_a_release_is_certified_and_verified_and_a_forged_one_is_not(halves, tmp_path):
    model, schema = halves
    declared = says(model, name="two sheets")
    accountant = Promise.of(
        schema, [declared, Declared(Groups(4), columns=("q0", "q1", "q2", "sheet"))], "any"
    )
    tables = list(Population(model).tables(schema))
    queries = asked(model, schema)
    with Ledger.create(tmp_path / "l.db", Fraction(5), accountant, anchor=tmp_path / "a") as ledger:
        given = release(tables[3], queries, leakage=1, dependence=accountant.declared, ledger=ledger)
        with pytest.raises(Refused):
            release(tables[3], Histogram("q1"), leakage=1, dependence=accountant.declared, ledger=ledger)
        again = release(tables[3], queries[1], leakage=1, dependence=accountant.declared, ledger=ledger)
        assert tables[3].reads == 2
    certificate = json.loads(json.dumps(given.certificate))
    assert verify(certificate, schema).valid
    assert verify(again.certificate, schema).valid
    (sheets,) = [one for one in certificate["models"] if one["name"] == "two sheets"]
    assert sheets["certificate"]["theorem"]["name"] == "blanks left out"
    assert sheets["certificate"]["leakage"] <= 1
    said = " ".join(certificate["trusted"])
    assert "where it is 'A', 'q2'; where it is 'B', 'q1'" in said
    assert "2 forms drawn at random, named by sheet" in model_words(sheets["declared"])

    place = {"column": "q1", "where": Histogram("q1").statistics(schema)[0].aggregate.where.document}
    row = [json.dumps(place, sort_keys=True, separators=(",", ":")), "1/100", "1/100"]
    certificate["losses_so_far"] = sorted([*certificate["losses_so_far"], row])
    forged = {key: value for key, value in certificate.items() if key != "digest"}
    verdict = verify({**forged, "digest": digest(forged)}, schema)
    assert not verdict.valid
    assert "where the form does not ask it" in verdict.why


# what must be believed


def leaks_more(model, population, knowledge="any"):
    schema = questionnaire(model)
    planned = plan(schema, asked(model, schema), leakage=1, dependence=[says(model)], shares=[4, 1, 1, 1])
    truth = population.leakages(population.likelihoods(planned, schema), knowledge)
    return (truth > certified(planned) + 0.01).any()


def test_if_forms_are_not_drawn_at_random_the_promise_breaks():
    model = Forms(copies(3, 0.3), "sheet", HALF.copy())
    population = Population(model)
    assert not leaks_more(model, population)
    for at, (s, first, *_) in enumerate(population.points):  # sheet A mostly to those who would say 0
        population.chance[at] *= 0.99 if s == first else 0.01
    assert leaks_more(model, population)


def test_if_an_answer_looks_like_a_blank_the_promise_breaks():
    """Who knows that a cell looks blank then learns from the form what it stands for."""
    model = Forms(copies(3, 0.02), "sheet", HALF.copy())
    population = Population(model)
    assert not leaks_more(model, population)
    population.shown[population.shown[:, 1] == 1, 1] = -1
    assert leaks_more(model, population)
