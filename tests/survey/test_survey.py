"""Survey sense, forms, and the sharing of a leakage: proposals, and theorems against enumeration."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from entwined.bounds import bound
from entwined.bounds.allocate import share, within
from entwined.bounds.choose import named
from entwined.bounds.filled_blanks import FilledBlanks, blanks_filled_bound, laws_of_columns
from entwined.bounds.forms import blanks_left_out_bound, blanks_left_out_without_knowledge_bound
from entwined.dependence import BayesNet, Forms, Variable
from entwined.errors import BadInput, BadLoss, BadModel, DoesNotApply, EntwinedError, Refused
from entwined.learning import Codes, learn, pair_counts
from entwined.ledger import Ledger
from entwined.loss import Loss
from entwined.promise.promise import Promise
from entwined.request.verbs import release
from entwined.schema import Categorical, Cells, Schema
from entwined.survey.proposals import Proposals
from entwined.survey.sense import Form, blank_codes, decided_columns, forms, mixed_with_blanks
from entwined.survey.sharing import OnForms, OnTree
from entwined.survey.survey import Survey, SurveyPlan, forms_of, plan_survey
from support.joints import joint_of
from support.memory_table import MemoryTable

FORMS = np.array([[True, True, False], [True, False, True]])


def questionnaire(seed=1, rows=900):
    """Two random forms; a question of each form, one of all, a coarser copy of it, and a follow-up."""
    rng = np.random.default_rng(seed)
    form = rng.integers(0, 2, rows)
    mood = rng.integers(0, 4, rows)
    lean = np.where(rng.random(rows) < 0.7, mood // 2, rng.integers(0, 2, rows))
    first = np.where(form == 0, np.where(rng.random(rows) < 0.6, mood % 3, rng.integers(0, 3, rows)), 3)
    second = np.where(form == 1, rng.integers(0, 2, rows), 2)
    voted = rng.integers(0, 2, rows)
    whom = np.where(voted == 1, rng.integers(0, 3, rows), 3)
    names = {"form": 2, "mood": 4, "good": 2, "lean": 2, "first": 4, "second": 3, "voted": 2, "whom": 4}
    return Codes.of(names, np.column_stack([form, mood, mood // 2, lean, first, second, voted, whom]))


def test_a_column_that_another_decides_is_proposed_with_its_answers():
    found = {one.column: one for one in decided_columns(pair_counts(questionnaire()), kept=("form",))}
    assert found["good"].by == "mood"
    assert found["good"].answers == (0, 0, 1, 1)
    assert found["voted"].by == "whom"
    assert set(found) == {"good", "voted"}  # the form is kept, though a question of one form decides it
    assert "form" in {one.column for one in decided_columns(pair_counts(questionnaire()))}
    counts = [5, 6, 7, 8]
    answers = found["good"].answers
    assert [sum(n for n, a in zip(counts, answers, strict=True) if a == code) for code in (0, 1)] == [11, 15]


def test_copies_leave_one_and_nothing_is_worked_out_from_what_is_not_released():
    rng = np.random.default_rng(2)
    one = rng.integers(0, 3, 300)
    codes = Codes.of({"a": 3, "b": 3, "c": 2}, np.column_stack([one, (one + 1) % 3, one == 0]))
    found = decided_columns(pair_counts(codes))
    assert {(each.column, each.by) for each in found} == {("b", "a"), ("c", "a")}


def test_one_exception_is_enough_to_decide_nothing():
    codes = questionnaire()
    values = codes.values.copy()
    values[0, 2] = 1 - values[0, 2]
    found = decided_columns(pair_counts(Codes(codes.names, codes.sizes, values)), kept=("form",))
    assert "good" not in {one.column for one in found}
    near = decided_columns(pair_counts(Codes(codes.names, codes.sizes, values)), ("form",), exceptions=0.02)
    (good,) = [one for one in near if one.column == "good"]
    assert (good.by, good.exceptions) == ("mood", 1)


def test_a_rare_answer_is_not_taken_for_an_exception():
    """Nearly everybody says no, so that anything decides the column but for those few."""
    rng = np.random.default_rng(5)
    codes = Codes.of({"a": 3, "rare": 2}, np.column_stack([rng.integers(0, 3, 500), rng.random(500) < 0.01]))
    assert codes.values[:, 1].sum() > 0
    assert decided_columns(pair_counts(codes), exceptions=0.05) == ()


def test_blanks_are_found_with_the_answer_that_decides_them():
    found = {one.column: one for one in blank_codes(pair_counts(questionnaire()))}
    assert (found["whom"].code, found["whom"].by, found["whom"].asked) == (3, "voted", (1,))
    assert (found["first"].code, found["first"].by, found["first"].asked) == (3, "form", (0,))
    assert (found["second"].code, found["second"].by, found["second"].asked) == (2, "form", (1,))


def test_forms_are_found_and_look_random():
    pairs = pair_counts(questionnaire())
    (form,) = forms(pairs, blank_codes(pairs))
    assert form.column == "form"
    assert {one.column for one in form.blanks} == {"first", "second"}
    assert form.information < 0.01


def test_a_column_that_mixes_blanks_with_answers_is_refused_with_the_form():
    """It is 0 for some who said so and for all who were not asked, so that it depends on answer and form at once."""
    draw = np.random.default_rng(3)
    form, answers = draw.integers(0, 2, 600), draw.integers(0, 2, (600, 2))
    cells = np.where(form[:, None] == 1, 2, answers)
    rare = (draw.random(600) < 0.1) & (form == 0)
    cells[:, 0] = np.where(rare, 1, np.where(form == 1, 2, 0))
    rows = np.column_stack([form, cells, cells[:, 0] == 1])
    codes = Codes.of({"form": 3, "a": 4, "b": 4, "short": 3}, rows)
    pairs = pair_counts(codes)
    (found,) = forms(pairs, blank_codes(pairs))
    assert [(one.column, one.by) for one in mixed_with_blanks(pairs, found)] == [("short", "a")]
    columns = [Categorical("form", ("A", "B")), *(Categorical(name, ("0", "1", "-")) for name in "ab")]
    schema = Schema((*columns, Categorical("short", ("0", "1"))), unit=Cells(), most_rows=600)
    (short,) = (one for one in decided_columns(pairs, ("form",)) if one.column == "short")
    proposed = Proposals(
        "pilot", schema, codes, (short,), (found,), mixed={"form": mixed_with_blanks(pairs, found)}
    )
    secret = {"form": [{"column": "form", "public": False, "confirmed": True}]}
    decided = {"decided": [{"column": "short", "by": "a", "confirmed": True}]}
    for fields in (secret, secret | decided):
        with pytest.raises(BadInput, match="tells of the answer and of the form at once"):
            proposed.confirmed(fields)
    known = {"form": [{"column": "form", "public": True, "confirmed": True}]}
    assert proposed.confirmed(known | decided).public_form
    assert proposed.confirmed(decided).form is None


def test_several_independent_forms_are_proposed_at_once_and_the_largest_is_used():
    draw = np.random.default_rng(4)
    sheet, order = draw.integers(0, 2, 500), draw.integers(0, 2, 500)
    answers = draw.integers(0, 2, (500, 5))
    gates = np.column_stack([sheet, sheet, order, order, order])
    cells = np.column_stack([sheet, order, np.where(gates == 1, 2, answers)])
    names = ("sheet", "order", "a", "b", "c", "d", "e")
    codes = Codes.of(dict(zip(names, (3, 3, 4, 4, 4, 4, 4), strict=True)), cells)
    columns = [Categorical(name, ("A", "B") if at < 2 else ("0", "1", "-")) for at, name in enumerate(names)]
    pairs = pair_counts(codes)
    found = forms(pairs, blank_codes(pairs))
    assert {one.column: len(one.blanks) for one in found} == {"order": 3, "sheet": 2}
    schema = Schema(tuple(columns), unit=Cells(), most_rows=500)
    proposed = Proposals("pilot", schema, codes, (), found)
    assert "more than one may be confirmed" in proposed.text("pilot", "schema")
    given = [{"column": name, "public": name == "order", "confirmed": True} for name in ("sheet", "order")]
    taken = proposed.confirmed({"form": given})
    assert (taken.form.column, taken.public_form) == ("order", True)
    assert {"sheet", "a", "b"} <= set(taken.answered.names)
    with pytest.raises(BadInput, match="'a' decides the blanks of no questions"):
        proposed.confirmed({"form": [{"column": "a", "public": False, "confirmed": True}]})


def test_proposals_speak_in_the_words_of_the_schema():
    schema = Schema(
        (
            Categorical("form", ("A", "B"), label="Questionnaire"),
            Categorical("first", ("1", "2", "3", "-7")),
            Categorical("second", ("1", "2", "-7")),
            Categorical("mood", ("1", "2", "3", "4")),
            Categorical("good", ("0", "1")),
        )
    )
    pairs = pair_counts(questionnaire().only(["form", "mood", "good", "first", "second"]))
    found = blank_codes(pairs)
    first = next(one for one in found if one.column == "first")
    assert first.words(schema) == (
        "'first' is asked only where 'form' (Questionnaire) is A; its answer '-7' means that it was not asked; 898 rows "
        "of the pilot confirm it, 437 the answer with the fewest, 0 contradict it; with 95 % at most 0.8% of "
        "respondents do (75 rules tried)"
    )
    assert "decides which of 2 questions" in forms(pairs, found)[0].words(schema)
    decided = next(one for one in decided_columns(pairs, ("form",)) if one.column == "good")
    assert decided.words(schema).startswith("'good' is decided by 'mood'")


def small_answers(seed, sizes=(2, 2, 3)):
    """A law of three answers, as a tree in some order."""
    rng = np.random.default_rng([3, seed])
    order = rng.permutation(3).tolist()
    variables = {}
    for at, j in enumerate(order):
        above = () if at == 0 else (order[int(rng.integers(at))],)
        rows = 1 if not above else sizes[above[0]]
        table = np.exp(rng.normal(0, rng.choice([0.5, 1.5, 3.0]), (rows, sizes[j])))
        law = (table / table.sum(1, keepdims=True)).tolist()
        variables[j] = Variable(f"q{j}", tuple(map(str, range(sizes[j]))), tuple(f"q{k}" for k in above), law)
    return BayesNet.of([variables[j] for j in range(3)])


def worst_mechanism(p, q, distance):
    """The largest log p·f / q·f over f with f(x) ≤ e^d(x,y) f(y), by the linear program itself."""
    size = len(p)
    rows = []
    for x, y in itertools.permutations(range(size), 2):
        row = np.zeros(size)
        row[x], row[y] = 1.0, -np.exp(distance[x, y])
        rows.append(row)
    answer = linprog(-p, A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=q[None], b_eq=[1.0])
    assert answer.status == 0
    return float(np.log(-answer.fun))


def cell_laws(joint, asked):
    """For every form and answers to all questions: the chance, and what the cells show (−1 is blank)."""
    points = [(s, *y) for s in range(len(asked)) for y in np.ndindex(*joint.shape)]
    chance = np.array([joint[point[1:]] / len(asked) for point in points])
    shown = np.array(
        [[point[0], *(y if asked[point[0], j] else -1 for j, y in enumerate(point[1:]))] for point in points]
    )
    return points, chance, shown


def left_out_distance(points, losses, own, asked):
    """What a mechanism that reads a question only where its form asks it may do between two points."""
    count = len(points)
    distance = np.full((count, count), np.inf)
    for x, y in itertools.product(range(count), repeat=2):
        (s, *a), (t, *b) = points[x], points[y]
        differ = [j for j in range(len(a)) if a[j] != b[j]]
        if s == t:
            distance[x, y] = sum(losses[j] for j in differ if asked[s, j])
        elif not differ:
            distance[x, y] = own
    for middle in range(count):  # the shortest way, through other points
        distance = np.minimum(distance, distance[:, middle, None] + distance[None, middle, :])
    return distance


def truth_left_out(joint, asked, losses, own, knowledge):
    points, chance, shown = cell_laws(joint, asked)
    distance = left_out_distance(points, losses, own, asked)
    units = joint.ndim
    found = np.full(units + 1, -np.inf)
    for cell in range(units + 1):
        others = [one for one in range(units + 1) if one != cell]
        known_sets = itertools.chain.from_iterable(
            itertools.combinations(others, r) for r in range(units + 1)
        )
        for known in known_sets if knowledge == "any" else [()]:
            for values in {tuple(row) for row in shown[:, list(known)].tolist()}:
                there = chance * (shown[:, list(known)] == np.array(values)).all(axis=1)
                for a, b in itertools.permutations(sorted(set(shown[there > 0, cell].tolist())), 2):
                    p, q = (there * (shown[:, cell] == value) for value in (a, b))
                    found[cell] = max(found[cell], worst_mechanism(p / p.sum(), q / q.sum(), distance))
    return np.append(found[1:], found[0])  # the form last


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("knowledge", ["model", "any"])
def test_blanks_left_out_leak_no_more_than_the_theorem_says(seed, knowledge):
    answers = small_answers(seed, (2, 2, 2))
    losses, own = np.random.default_rng([4, seed]).uniform(0.2, 1.0, 3), 0.7
    theorem = blanks_left_out_bound if knowledge == "any" else blanks_left_out_without_knowledge_bound
    found = theorem(Loss.of([*losses, own]), Forms(answers, "form", FORMS)).per_unit
    truth = truth_left_out(joint_of(answers), FORMS, losses, own, knowledge)
    assert (truth <= found + 1e-7).all()
    assert found.max() <= 2 * truth.max()  # not vacuous


def tilted_left_out(joint, asked, losses, own, weights):
    """The truth for who knows something of single cells: `weights` of what the form and the questions show."""
    points, chance, shown = cell_laws(joint, asked)
    distance = left_out_distance(points, losses, own, asked)
    found = np.full(joint.ndim + 1, -np.inf)
    for cell in range(joint.ndim + 1):
        there = chance.copy()
        for other in set(weights) - {cell}:
            there *= [weights[other][code] for code in shown[:, other].tolist()]
        for a, b in itertools.permutations(sorted(set(shown[there > 0, cell].tolist())), 2):
            p, q = (there * (shown[:, cell] == value) for value in (a, b))
            found[cell] = max(found[cell], worst_mechanism(p / p.sum(), q / q.sum(), distance))
    return np.append(found[1:], found[0])  # the form last


def readings(rng, asked):
    """Of the form anything, of a question that it is blank, or that it is not and a reading of the answer."""
    weights = {0: {form: float(rng.random()) for form in range(len(asked))}}
    for question in range(asked.shape[1]):
        kind = rng.choice(["nothing", "blank", "answered", "answered"])
        if kind == "blank" and not asked[:, question].all():
            weights[question + 1] = {-1: 1.0, 0: 0.0, 1: 0.0}
        elif kind == "answered":
            answers = np.exp(rng.choice([1.0, 4.0]) * rng.standard_normal(2))
            weights[question + 1] = {-1: 0.0, 0: answers[0], 1: answers[1]}
    return weights


@pytest.mark.parametrize("seed", range(8))
def test_a_reading_of_answers_that_are_not_blank_tells_no_more_than_the_theorem_says(seed):
    rng, answers = np.random.default_rng([5, seed]), small_answers(seed, (2, 2, 2))
    losses, own = rng.uniform(0.2, 1.0, 3), 0.7
    found = blanks_left_out_bound(Loss.of([*losses, own]), Forms(answers, "form", FORMS)).per_unit
    for _ in range(3):
        truth = tilted_left_out(joint_of(answers), FORMS, losses, own, readings(rng, FORMS))
        assert (truth <= found + 1e-7).all()


def test_to_know_that_a_cell_is_blank_or_one_answer_is_not_covered():
    """The broken trust: then who answers otherwise elsewhere cannot have had the form that asks it."""
    copy = [[0.999, 0.001], [0.001, 0.999]]
    answers = BayesNet.of(
        [
            Variable("all", ("0", "1"), (), [[0.5, 0.5]]),
            Variable("some", ("0", "1"), ("all",), copy),
            Variable("others", ("0", "1"), (), [[0.5, 0.5]]),
        ]
    )
    losses, own = [0.1, 0.1, 0.1], 0.7
    found = blanks_left_out_bound(Loss.of([*losses, own]), Forms(answers, "form", FORMS)).per_unit
    truth = tilted_left_out(joint_of(answers), FORMS, losses, own, {2: {-1: 1.0, 0: 0.0, 1: 1.0}})
    assert found[0] == pytest.approx(0.2, abs=1e-3)
    assert truth[0] > 0.4
    public = Forms(answers, "form", FORMS, public=True)  # then it is known whether the cell is blank
    assert bound(public, Loss.of([*losses, own])).leakage.per_unit[0] == pytest.approx(0.2, abs=1e-3)


def truth_filled(joint, asked, filling, losses, own):
    """Each column's likelihood has two values: the ratio of means is a quotient of linear functions of each."""
    units = joint.ndim
    sides = [[np.where(list(bits), np.exp(loss), 1.0) for bits in itertools.product([0, 1], repeat=size)]
             for loss, size in zip(losses, joint.shape, strict=True)]  # fmt: skip
    forms_sides = [
        np.where(list(bits), np.exp(own), 1.0) for bits in itertools.product([0, 1], repeat=len(asked))
    ]
    found = np.zeros(units + 1)
    for likelihoods in itertools.product(*sides):
        means = np.array([filling[j] @ likelihoods[j] for j in range(units)])
        for of_form in forms_sides:
            given, every = [], []
            for s, row in enumerate(asked):
                weighed = joint.copy()
                for j in range(units):
                    lying = [-1 if k == j else 1 for k in range(units)]
                    weighed = weighed * (
                        likelihoods[j] if row[j] else np.full(joint.shape[j], means[j])
                    ).reshape(lying)
                weighed = weighed * of_form[s]
                every.append(weighed.sum())
                given.append([margin(weighed, j) / margin(joint, j) for j in range(units)])
            found[units] = max(found[units], spread(every))
            for j in range(units):
                asking = [given[s][j] for s in range(len(asked)) if asked[s, j]]
                blank = (
                    [np.mean([every[s] for s in range(len(asked)) if not asked[s, j]])]
                    if not asked[:, j].all()
                    else []
                )
                found[j] = max(found[j], spread([*np.mean(asking, axis=0), *blank]))
    return found


def margin(table, axis):
    return table.sum(axis=tuple(k for k in range(table.ndim) if k != axis))


def spread(means):
    return float(np.log(max(means) / min(means)))


@pytest.mark.parametrize("seed", range(8))
def test_filled_blanks_leak_no_more_than_the_theorem_says(seed):
    answers = small_answers(seed, (2, 2, 2) if seed % 2 else (2, 3, 2))
    losses, own = np.random.default_rng([5, seed]).uniform(0.2, 1.2, 3), 0.3
    filling = laws_of_columns(answers)
    if seed >= 6:  # filled by another law than the model's
        filling = tuple(
            np.random.default_rng([6, seed, j]).dirichlet(np.ones(len(law))) for j, law in enumerate(filling)
        )
    exposed = FilledBlanks(Loss.of([*losses, own]), filling)
    found = blanks_filled_bound(exposed, Forms(answers, "form", FORMS)).per_unit
    truth = truth_filled(joint_of(answers), FORMS, filling, losses, own)
    assert (truth <= found + 1e-9).all()
    assert found.max() <= 2 * truth.max()


def test_what_answers_say_together_about_the_form_is_not_nothing():
    """A mutant without Γ would claim the loss of the form alone, and two copies tell more."""
    pair = [[0.95, 0.05], [0.05, 0.95]]
    answers = BayesNet.of(
        [
            Variable("q0", ("0", "1"), (), [[0.5, 0.5]]),
            Variable("q1", ("0", "1"), ("q0",), pair),
            Variable("q2", ("0", "1"), ("q1",), pair),
        ]
    )
    asked = np.array([[True, True, True], [False, False, False]])
    filling, losses = laws_of_columns(answers), [1.0, 1.0, 1.0]
    truth = truth_filled(joint_of(answers), asked, filling, losses, 0.1)
    exposed = FilledBlanks(Loss.of([*losses, 0.1]), filling)
    found = blanks_filled_bound(exposed, Forms(answers, "form", asked)).per_unit
    assert 0.1 + 0.3 < truth[-1] <= found[-1]


def test_a_blank_tells_more_than_the_form_alone():
    """A mutant without L_i(s) would claim ε_S for a blank, and what is known of a relative tells more."""
    pair = [[0.95, 0.05], [0.05, 0.95]]
    answers = BayesNet.of(
        [
            Variable("q0", ("0", "1"), (), [[0.5, 0.5]]),
            Variable("q1", ("0", "1"), ("q0",), pair),
            Variable("q2", ("0", "1"), (), [[0.5, 0.5]]),
        ]
    )
    losses, own = [1.0, 0.1, 0.1], 0.2
    truth = truth_left_out(joint_of(answers), FORMS, losses, own, "model")
    found = blanks_left_out_without_knowledge_bound(
        Loss.of([*losses, own]), Forms(answers, "form", FORMS)
    ).per_unit
    assert max(0.1, own) + 0.5 < truth[1] <= found[1] + 1e-9


def test_the_law_of_a_column_is_its_margin():
    for seed in range(5):
        answers = small_answers(seed)
        for j, law in enumerate(laws_of_columns(answers)):
            assert law == pytest.approx(margin(joint_of(answers), j))


def test_filling_by_the_wrong_law_costs_first_order_and_the_bound_says_so():
    """A mutant that forgets the law would claim the same for both."""
    answers = BayesNet.of([Variable(f"q{j}", ("0", "1"), (), [[0.5, 0.5]]) for j in range(3)])
    right, wrong = ((np.array([0.5, 0.5]),) * 3, (np.array([0.9, 0.1]),) * 3)
    loss = Loss.of([0.5, 0.5, 0.5, 0.1])
    model = Forms(answers, "form", FORMS)
    worst = [blanks_filled_bound(FilledBlanks(loss, law), model).worst for law in (right, wrong)]
    truth = truth_filled(joint_of(answers), FORMS, wrong, [0.5] * 3, 0.1).max()
    assert worst[0] == pytest.approx(0.6)
    assert worst[0] < truth <= worst[1]


def test_forms_refuse_what_cannot_be():
    answers = small_answers(1)
    with pytest.raises(BadModel, match="among the questions"):
        Forms(answers, "q1", FORMS)
    with pytest.raises(BadModel, match="truth value"):
        Forms(answers, "form", FORMS.astype(int))
    with pytest.raises(BadModel, match="No form asks"):
        Forms(answers, "form", np.array([[True, True, False]]))
    for filling in ((np.ones(2),), (np.ones(2),) * 3, (np.array([1.0]),) * 3):
        with pytest.raises(EntwinedError, match=r"fills? blanks"):
            blanks_filled_bound(FilledBlanks(Loss.uniform(1, 4), filling), Forms(answers, "form", FORMS))


def test_no_release_is_certified_by_filled_blanks():
    """The door reads rows as they are: its losses are not those of a mechanism that fills blanks."""
    model = Forms(small_answers(1), "form", FORMS)
    assert named("blanks filled") is blanks_filled_bound
    with pytest.raises(DoesNotApply, match="starts from losses where blanks are filled, not from losses"):
        blanks_filled_bound(Loss.uniform(1, 4), model)
    asked = bound(model, Loss.uniform(1, 4), "model")
    assert "blanks filled" not in {said.theorem.name for said in asked.alternatives} | {asked.theorem.name}


def survey(seed=1, **changes):
    codes = questionnaire(seed)
    pairs = pair_counts(codes)
    (form,) = forms(pairs, blank_codes(pairs))
    return Survey(codes, "pilot", **({"form": form, "decided": decided_columns(pairs, ("form",))} | changes))


def test_a_survey_releases_what_nothing_else_decides():
    found = survey()
    assert found.released == ("mood", "lean", "first", "second", "whom", "form")
    assert found.learned.model.names == found.released[:-1]
    assert [len(values) for values in found.learned.model.values] == [4, 2, 3, 2, 4]  # without the blanks
    assert found.forms.asked.tolist() == [[True, True, True, False, True], [True, True, False, True, True]]
    with pytest.raises(BadInput, match="Keep it"):
        survey(decided=decided_columns(pair_counts(questionnaire())))


@pytest.mark.parametrize(("knowledge", "filled"), [("any", False), ("model", False), ("model", True)])
def test_shared_losses_are_within_the_target_and_no_worse_than_equal_ones(knowledge, filled):
    found = survey()
    terms, weights = found.terms(knowledge, filled=filled), found.weights(filled=filled)
    shared = share(terms, weights, 1.0)
    assert shared.leakage.worst <= 1.0
    assert terms.leakage(shared.losses).worst == shared.leakage.worst
    assert shared.cost <= within(terms, np.ones(terms.columns), weights, 1.0).cost
    with pytest.raises(BadLoss, match="weight"):
        share(terms, weights[:-1], 1.0)


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_no_small_change_of_the_losses_is_better(knowledge):
    """The cost of random neighbours, each brought to the target by the theorem."""
    model = learn(questionnaire().only(["mood", "lean", "voted", "whom"]), "pilot").model
    terms, weights = OnTree(model, knowledge), np.array([4.0, 2.0, 2.0, 4.0])
    best = share(terms, weights, 1.0)
    rng = np.random.default_rng(7)
    for _ in range(60):
        near = within(terms, best.losses * np.exp(rng.normal(0, 0.1, 4)), weights, 1.0)
        assert near.cost >= best.cost * (1 - 5e-3)


def test_a_column_that_tells_nothing_gets_the_whole_target():
    rng = np.random.default_rng(8)
    model = BayesNet.of([Variable(f"q{j}", ("0", "1"), (), [[0.5, 0.5]]) for j in range(3)])
    shared = share(OnTree(model, "any"), rng.uniform(1, 5, 3), 1.0)
    assert shared.losses == pytest.approx(1.0)


def test_sharing_on_a_tree_is_certified_by_the_calculus_itself():
    model = learn(questionnaire().only(["mood", "lean", "voted", "whom"]), "pilot").model
    shared = share(OnTree(model, "model"), np.ones(4), 1.0)
    assert bound(model, Loss(shared.losses), "model").leakage.worst <= 1.0


def test_where_blanks_are_left_out_the_form_pays_half_of_each():
    terms = survey().terms("any")
    losses = np.array([0.1, 0.2, 0.4, 0.8, 0.1, 0.05])
    assert terms.base(losses).per_unit == pytest.approx([0.1, 0.2, 0.4, 0.8, 0.1, 0.05 + 0.2 + 0.4])
    assert survey().terms("model", filled=True).base(losses).per_unit == pytest.approx(losses)
    with pytest.raises(DoesNotApply, match="knows no answers"):
        survey().terms("any", filled=True)


@pytest.mark.parametrize("filled", [False, True])
def test_the_expected_error_is_that_of_a_simulation(filled):
    """Release with Laplace noise many times; work out blanks and merged columns as the plan counts them."""
    found = survey()
    codes = questionnaire(2, rows=1200)
    shared = share(found.terms("model", filled=filled), found.weights(filled=filled), 1.0)
    planned = SurveyPlan(found, "model", 1.0, codes.rows, filled, shared)
    rng = np.random.default_rng(9)
    errors = [squared_error(planned, codes, rng) for _ in range(4000)]
    assert planned.squared_error == pytest.approx(np.mean(errors), rel=0.05)
    assert planned.gain > 1
    assert plan_survey(found, 1.0, "model", codes.rows).squared_error <= planned.squared_error


def squared_error(planned, codes, rng):
    found, noisy = planned.survey, {}
    exact = {
        name: np.bincount(codes.values[:, at], minlength=codes.sizes[at])
        for at, name in enumerate(codes.names)
    }
    for name in reversed(found.released):
        blank = found.blanks.get(name)
        counts = exact[name] if blank is None else np.delete(exact[name], blank.code)
        if blank is not None and planned.filled:
            counts = counts + rng.multinomial(exact[name][blank.code], found.fillings[name])
        drawn = counts + rng.laplace(0, 2 / planned.losses[name], len(counts))
        if blank is not None:
            others = np.delete(noisy[blank.by], list(blank.asked)).sum()
            drawn = drawn - (others * found.fillings[name] if planned.filled else 0)
            drawn = np.insert(drawn, blank.code, others)
        noisy[name] = drawn
    for one in found.decided:
        noisy[one.column] = np.bincount(one.answers, weights=noisy[one.by], minlength=len(exact[one.column]))
    return sum(np.sum((noisy[name] - exact[name]) ** 2) for name in codes.names)


def test_the_door_charges_what_the_plan_says(tmp_path):
    """Each question its loss, and the form half of every question that some forms leave out."""
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
    planned = plan_survey(found, 1.0, "any", len(rows))
    queries, shares = planned.questions(schema)
    with Ledger.create(tmp_path / "l.db", Fraction(10), Promise.of(schema), anchor=tmp_path / "a") as ledger:
        released = release(
            MemoryTable(schema, rows), queries, ledger=ledger, loss=max(map(float, found.terms("any").base(planned.shared.losses).per_unit)),
            shares=shares,
        )  # fmt: skip
        charged = {json.loads(part.key)["column"]: 0.0 for part in ledger.spent().parts}
        base = Promise.of(schema).base(ledger.spent().parts).columns
    expected = dict(zip(found.released, found.terms("any").base(planned.shared.losses).per_unit, strict=True))
    assert charged.keys() == expected.keys()
    assert {name: float(loss) for name, loss in base.items()} == pytest.approx(expected, rel=1e-6)
    first = released.of(queries[found.released.index("first")])
    assert len(first.value) == 4
    with pytest.raises(Refused, match="Gaussian noise alone"):
        SurveyPlan(found, "model", 1.0, 10, filled=True, shared=planned.shared).questions(schema)


def test_plain_noise_is_the_group_bound_over_all_columns():
    planned = plan_survey(survey(), 0.5, "any", 100)
    cells, columns = 23, 8
    assert planned.plain_squared_error == pytest.approx(cells * 2 * (2 * columns / 0.5) ** 2)


def test_a_form_must_be_known_to_the_codes():
    codes = questionnaire()
    answers = learn(codes.only(["mood", "lean"]), "pilot").model
    found = forms_of(answers, Form("form", (), 0.0), codes)
    assert found.asked.all()
    assert isinstance(OnForms(found, "any").leakage(np.full(3, 0.1)).worst, float)
