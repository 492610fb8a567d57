"""Hidden variables and checks of models in files, promises, certificates, plans and reports."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from entwined.bounds.forms import blanks_left_out_bound, public_form_bound
from entwined.bounds.messages import message_passing_bound
from entwined.dependence import (
    BayesNet,
    Forms,
    ModelCheck,
    TriedLaw,
    Variable,
    model_from,
    read_model,
    write_model,
)
from entwined.dependence.model_check import failures
from entwined.errors import BadModel
from entwined.loss import Loss
from entwined.mechanisms.batch import plan_batch
from entwined.promise.declared import Declared
from entwined.promise.promise import Promise
from entwined.queries import Histogram
from entwined.report.model_checks import checks_in, checks_of, failed_in
from entwined.report.shown import to_text
from entwined.schema import Categorical, Cells, Schema

BITS = ("0", "1")
SCHEMA = Schema(
    tuple(Categorical(name, ("x",), missing="value") for name in "ab"), unit=Cells(), rows=50
).approve()
TREE = BayesNet.of(
    [Variable("a", BITS, (), [[0.5, 0.5]]), Variable("b", BITS, ("a",), [[0.8, 0.2], [0.3, 0.7]])], "proxy"
)
LATENT = BayesNet.of(
    [
        Variable("a", BITS, ("c",), [[0.8, 0.2], [0.3, 0.7]]),
        Variable("b", BITS, ("c",), [[0.8, 0.2], [0.3, 0.7]]),
        Variable("c", BITS, (), [[0.5, 0.5]]),
    ],
    "proxy",
).hiding(["c"])
CHECK = ModelCheck(
    law="a tree",
    rows=300,
    knowledge="any",
    claimed=1.0,
    laws=(
        TriedLaw("a tree", 0.6, 1.2, 1.0, "message passing"),
        TriedLaw("2 latent classes", 0.5, 1.1, 1.4, "message passing"),
        TriedLaw("boosted trees", 0.45),
    ),
    needed=("2 latent classes",),
    price=1.4,
    price_of_all=1.4,
    answers={"a": (0.6, 0.45)},
    questions=2,
)
PASSED = replace(CHECK, needed=(), price=1.0)
FAILED = Declared(replace(TREE, check=CHECK), name="the tree")
COVERING = Declared(replace(LATENT, check=replace(CHECK, law="2 latent classes")), name="the classes")


@pytest.mark.parametrize("suffix", ["json", "toml"])
def test_hidden_variables_and_checks_are_read_back(tmp_path, suffix):
    for model in (FAILED.model, COVERING.model):
        write_model(model, tmp_path / f"m.{suffix}")
        found = read_model(tmp_path / f"m.{suffix}")
        assert found.document == model.document
        assert (found.hidden, found.check) == (model.hidden, model.check)
    forms = Forms.of(COVERING.model, "form", [["a", "b"], ["a"]])
    again = model_from(forms.document, Path())
    assert again.document == forms.document
    assert (again.hidden, again.check) == (forms.hidden, forms.check) == ((2,), COVERING.model.check)
    assert again.asked[:, 2].all()
    with pytest.raises(BadModel, match=r"\.bif"):
        write_model(LATENT, tmp_path / "m.bif")
    with pytest.raises(BadModel, match=r"\.bif"):
        write_model(FAILED.model, tmp_path / "m.bif")


@pytest.mark.parametrize(
    "change",
    [
        {"law": "another"},
        {"needed": ["another"]},
        {"claimed": "1"},
        {"price": -1.0},
        {"more": 1},
        {"laws": []},
        {"knowledge": "values"},
        {"answers": {"a": [0.1]}},
    ],
)
def test_a_check_that_nobody_wrote_is_refused(change):
    with pytest.raises(BadModel, match="check"):
        model_from(FAILED.model.document | {"check": CHECK.document | change}, Path())


def test_a_form_neither_asks_nor_leaves_out_what_is_hidden():
    with pytest.raises(BadModel, match="hidden"):
        Forms.of(LATENT, "form", [["a", "b", "c"]])
    with pytest.raises(BadModel, match="hidden"):
        Forms(LATENT, "form", np.array([[True, True, False]]))
    assert not Forms.of(LATENT, "form", [["a", "b"], ["a"]]).gated[2]


def test_a_hidden_class_ties_columns_at_the_door_and_leaks_nothing_of_its_own():
    for delta in (None, "1e-6"):
        promise = promise_with(delta, LATENT)
        alone = promise_with(delta, BayesNet.of([Variable(name, BITS, (), [[0.5, 0.5]]) for name in "ab"]))
        found = [one.price.worst for one in map(planned, (promise, alone))]
        assert found[0] > found[1] * 1.01


def promise_with(delta, model):
    from entwined.promise.promise import promise_of

    return promise_of(SCHEMA, [Declared(model)], "any", delta)


def planned(promise, **asked):
    return plan_batch(promise, [Histogram("a"), Histogram("b")], **(asked or {"loss": "0.2"}))


def test_a_model_that_failed_says_so_first_unless_what_covers_it_is_declared():
    failed = Promise.of(SCHEMA, [FAILED])
    (said,) = failed.failures
    assert said.startswith("THE MODEL FAILED ITS CHECK: noise that leaks 1 under the tree leaks up to 1.4")
    assert to_text(planned(failed)).startswith(said)
    assert any("did in its check" in line for line in failed.trusted)
    assert Promise.of(SCHEMA, [FAILED, COVERING]).failures == ()
    assert Promise.of(SCHEMA, [Declared(replace(TREE, check=PASSED))]).failures == ()
    assert Promise.of(SCHEMA, [Declared(TREE)]).failures == ()
    assert to_text(planned(Promise.of(SCHEMA, [FAILED, COVERING]))).startswith("Planned")
    other = replace(CHECK, law="2 latent classes")
    assert failures([("t", "pilot", CHECK), ("c", "another pilot", other)])  # it covers another table's tree


def test_prices_do_not_depend_on_a_check():
    prices = {
        float(planned(Promise.of(SCHEMA, [Declared(replace(TREE, check=check))])).price.worst)
        for check in (None, CHECK, PASSED)
    }
    assert len(prices) == 1


def test_the_figures_are_shown_in_words_lines_and_a_chart():
    told = [{"name": one.title, "declared": one.document} for one in (FAILED, COVERING)]
    assert failed_in(told[:1])
    assert not failed_in(told)
    (shown,) = checks_of(told)
    assert [line["needed"] for line in shown.lines] == [False, True, False]
    assert [line["better"] for line in shown.lines] == [False, True, True]
    assert shown.drawing.svg.count("latent classes") >= 1
    assert any("nats beyond the model" in sentence for sentence in shown.words)
    document = {"models": [{"name": "the tree", "check": json.loads(json.dumps(CHECK.document))}]}
    assert checks_in(document)[0].check == CHECK


@pytest.mark.parametrize("public", [False, True])
def test_a_hidden_class_behind_the_answers_to_a_form(public):
    """What is read of each form leaks what the class of its questions says."""
    forms = Forms.of(LATENT, "form", [["a", "b"], ["a"]], public=public)
    theorem = public_form_bound if public else blanks_left_out_bound
    found = theorem(Loss.of([0.5, 0.4, 0.0, 0.2]), forms)
    inside = message_passing_bound(Loss.of([0.5, 0.4, 0.0]), LATENT).per_unit
    assert found.per_unit[0] == pytest.approx(inside[0])
    assert found.per_unit[1] >= inside[1]
    assert found.worst == pytest.approx(float(np.delete(found.per_unit, 2).max()))
