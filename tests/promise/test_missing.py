"""That an answer is missing may say as much as the answer: it is learned, priced, or confirmed to say nothing."""

import itertools
import random

import numpy as np
import pytest

from entwined.dependence import BayesNet, Variable
from entwined.errors import BadInput, BadModel
from entwined.learning import Codes, learn, pair_counts
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Histogram
from entwined.request.verbs import plan
from entwined.schema import Categorical, Cells, Schema
from entwined.survey.asking import request_text
from entwined.survey.proposals import Proposals
from entwined.survey.sense import Blank, Form, missing_values
from entwined.survey.survey import Survey, plan_survey
from support.adversary import gain, log_likelihoods
from support.memory_table import MemoryTable

FOLLOW_UPS = [f"f{n}" for n in range(20)]
NAMES = ("own", "rural", *FOLLOW_UPS)
YES_NO = ("yes", "no")
RURAL = {"yes": 0.8, "no": 0.2}  # by who owns
SCHEMA = Schema(
    tuple(Categorical(name, YES_NO, missing="drop") for name in NAMES), unit=Cells(), rows=1, most_rows=1
).approve()


@pytest.fixture(scope="module")
def proposals(tmp_path_factory):
    """Follow-ups that only owners are asked."""
    draw = random.Random(5)
    lines = [",".join(NAMES)]
    for _ in range(800):
        own = draw.choice(YES_NO)
        answers = [draw.choice(YES_NO) if own == "yes" else "" for _ in FOLLOW_UPS]
        lines.append(",".join([own, "yes" if draw.random() < RURAL[own] else "no", *answers]))
    pilot = tmp_path_factory.mktemp("pilot") / "pilot.csv"
    pilot.write_text("\n".join(lines) + "\n")
    return Proposals.of(pilot, SCHEMA)


def confirmed(proposals, *columns):
    return proposals.confirmed({"missing": [{"column": name, "confirmed": True} for name in columns]})


def planned(survey):
    """The survey's request as the door takes it."""
    shared = plan_survey(survey, 1.0, "any", 1, at_the_door=True)
    queries, shares = shared.questions(SCHEMA)
    declared = Declared(shared.model, missing_says_nothing=survey.unsaid)
    return plan(SCHEMA, queries, leakage=1, dependence=[declared], shares=shares)


def law_of(name, own):
    """The chances of yes, no and missing."""
    if name == "own":
        return [own == "yes", own == "no", 0]
    if name == "rural":
        return [RURAL[own], 1 - RURAL[own], 0]
    return [0.5, 0.5, 0] if own == "yes" else [0, 0, 1]


def leakage_about_owning(found):
    """What all histograms together tell of yes against no, exactly.

    Given either, the other answers are independent of each other, and so is the noise of their histograms: the worst
    output is the worst of each histogram.
    """
    total = 0.0
    for query, asked in zip(found.queries, found.statistics, strict=True):
        tables = [
            MemoryTable(SCHEMA, [{**dict.fromkeys(NAMES), query.column: one}]) for one in (*YES_NO, None)
        ]
        unit = plan(SCHEMA, query, loss=1)
        logs = log_likelihoods(unit, tables) * float(unit.statistics[0].law.scale / asked.law.scale)
        owner, other = (np.log(np.exp(logs) @ np.array(law_of(query.column, own))) for own in YES_NO)
        total += float((owner - other).max())
    return total


def test_follow_ups_that_only_owners_are_asked_tell_no_more_than_is_certified(proposals):
    found = planned(confirmed(proposals))
    assert found.promise.declared[0].missing_says_nothing == ()
    truth = leakage_about_owning(found)
    assert 0.3 < truth <= max(found.price.leakage.values()) <= 1


def test_if_missing_is_confirmed_to_say_nothing_and_says_much_the_promise_breaks(proposals):
    """What was assumed in silence once: certified 1, and the missing answers tell who owns."""
    found = planned(confirmed(proposals, *NAMES))
    assert max(found.price.leakage.values()) <= 1
    assert leakage_about_owning(found) > 8
    (said,) = [line for line in found.promise.trusted if "missing" in line]
    assert said.startswith("Whether a value is missing says nothing about anything")
    assert all(repr(name) in said for name in NAMES)


def test_a_model_without_missing_is_refused_unless_it_is_confirmed_column_by_column(proposals):
    survey = confirmed(proposals, *NAMES)
    model = plan_survey(survey, 1.0, "any", 1, at_the_door=True).model
    for said in ((), NAMES[:-1]):
        wanted = (
            r"2 values for the column '(own|f19)', .* 2 values and missing: 3 in all.* missing_says_nothing"
        )
        with pytest.raises(BadModel, match=wanted):
            Promise.of(SCHEMA, [Declared(model, missing_says_nothing=said)])
    Promise.of(SCHEMA, [Declared(model, missing_says_nothing=NAMES)])


def test_the_pilot_shows_what_missing_tells(proposals):
    text = proposals.text("pilot.csv", "schema.toml")
    assert text.count("[[missing]]") == len(NAMES)
    assert "confirmed = true\n" not in text
    shown = {one.column: one for one in proposals.missing}
    assert shown["own"].respondents == 0
    assert "nothing can be seen" in shown["own"].words(SCHEMA)
    assert shown["f3"].about == "own"
    owners = int((proposals.pilot.values[:, 0] == 0).sum())
    assert shown["f3"].respondents == 800 - owners
    share = owners / 800
    entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert shown["f3"].information == pytest.approx(entropy)  # all there is to know about owning
    assert f"tells {entropy:.3f} nats about 'own'" in shown["f3"].words(SCHEMA)
    with pytest.raises(BadInput, match="'nobody' is missing is not among the proposals"):
        confirmed(proposals, "nobody")
    codes = Codes.of({"a": 3, "b": 2}, [[2, 0], [2, 1], [0, 0], [1, 1]])
    assert missing_values(pair_counts(codes), "a").information == pytest.approx(0)


def test_what_is_confirmed_stands_in_the_request(proposals):
    survey = confirmed(proposals, "f0", "own")
    text = request_text(
        plan_survey(survey, 1.0, "any", 1, at_the_door=True), SCHEMA, ["m.json"],
        table="t.csv", schema="s.toml", ledger="l.db", cap="3",
    )  # fmt: skip
    assert 'missing_says_nothing = ["f0", "own"]' in text
    sizes = dict(zip(survey.learned.model.names, map(len, survey.learned.model.values), strict=True))
    assert (sizes["own"], sizes["f0"], sizes["f1"]) == (2, 2, 3)


def test_where_a_form_leaves_a_blank_missing_says_something():
    pilot = Codes.of({"form": 3, "a": 3}, [[0, 0], [0, 1], [1, 2], [1, 2]] * 20)
    form = Form("form", (Blank("a", 2, "form", (0,)),), 0.0)
    assert Survey(pilot, "pilot", form=form).learned.model.values == (("0", "1"),)
    with pytest.raises(BadInput, match="'a' is missing the form did not ask it"):
        Survey(pilot, "pilot", form=form, missing_says_nothing=("a",))
    Survey(pilot, "pilot", form=form, missing_says_nothing=("form",))  # the form is no question


def erased(law, chances):
    """The law of cells that go missing by draws of their own."""
    for axis, chance in enumerate(chances):
        law = np.moveaxis(law, axis, -1)
        law = np.concatenate([law * (1 - chance), law.sum(axis=-1, keepdims=True) * chance], axis=-1)
        law = np.moveaxis(law, -1, axis)
    return law


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_where_missing_says_nothing_a_model_without_it_holds(knowledge):
    """Every cell may be missing, each by a draw of its own: no cell, missing or not, is told more about."""
    rng = np.random.default_rng(4)
    schema = Schema(
        tuple(Categorical(name, ("0", "1"), missing="drop") for name in "abc"), unit=Cells(), rows=1
    ).approve()
    tables = [
        MemoryTable(schema, [dict(zip("abc", cells, strict=True))])
        for cells in itertools.product(("0", "1", None), repeat=3)
    ]
    for _ in range(6):
        rows = [rng.dirichlet([0.4, 0.4], 1), *(rng.dirichlet([0.4, 0.4], 2) for _ in "bc")]
        tree = BayesNet.of(
            [
                Variable(name, ("0", "1"), parents, (0.96 * table + 0.02).tolist())
                for name, parents, table in zip("abc", ((), ("a",), ("a",)), rows, strict=True)
            ]
        )
        first, second, third = (0.96 * table + 0.02 for table in rows)
        law = np.einsum("a,ab,ac->abc", first[0], second, third)
        declared = Declared(tree, missing_says_nothing=tuple("abc"))
        queries = [Histogram(name) for name in "abc"]
        found = plan(schema, queries, leakage=1, dependence=[declared], knowledge=knowledge)
        truth = gain(erased(law, rng.uniform(0.05, 0.6, 3)), log_likelihoods(found, tables), knowledge)
        assert 0.3 < truth <= max(found.price.leakage.values()) <= 1


def test_missing_may_be_learned_as_a_value_and_goes_by_any_last_name():
    schema = Schema(
        (Categorical("a", ("x", "y")), Categorical("b", ("x", "y"))), unit=Cells(), rows=9
    ).approve()
    codes = Codes.of({"a": 3, "b": 3}, np.random.default_rng(1).integers(0, 3, (90, 2)))
    Promise.of(schema, [learn(codes, "pilot").model])
    for names in (("x", "y", "gone"), ("0", "1", "2")):
        Promise.of(schema, [_pair(names)])
    with pytest.raises(BadModel, match="the values of 'a' are 'y', 'x', 'gone'"):
        Promise.of(schema, [_pair(("y", "x", "gone"))])


def _pair(names):
    third = [1 / 3] * 3
    return BayesNet.of(
        [
            Variable("a", names, (), [[0.2, 0.3, 0.5]]),
            Variable("b", ("0", "1", "2"), ("a",), [third, third, [0.2, 0.3, 0.5]]),
        ]
    )
