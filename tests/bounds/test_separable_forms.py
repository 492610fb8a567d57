"""Questionnaires in forms under Gaussian noise: exact hockey sticks of small ones, tight cases, and refusals."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, bound, calibrate, certify, verify
from entwined.bounds.pairs import KNOWN, TILTED
from entwined.bounds.profiles.curves import GaussianCurve, epsilon_at_delta
from entwined.bounds.profiles.profile import Grid
from entwined.bounds.separable import separable_messages_bound
from entwined.bounds.separable_forms import (
    answers_shown,
    blanks_shown,
    profiles_of,
    separable_blanks_left_out_bound,
    separable_blanks_left_out_without_knowledge_bound,
    separable_public_form_bound,
    separable_public_form_without_knowledge_bound,
)
from entwined.dependence import Forms
from entwined.errors import DoesNotApply
from support.form_sticks import Questionnaire, Worst, channel_curve
from support.joints import joint_of
from support.sheets import APART, HALF, PART, THREE, answers, copies

DELTA = "1e-6"
FORESTS = {"any": TILTED.apart, "model": KNOWN.apart}
LEFT_OUT = {
    "any": separable_blanks_left_out_bound,
    "model": separable_blanks_left_out_without_knowledge_bound,
}
PUBLIC = {"any": separable_public_form_bound, "model": separable_public_form_without_knowledge_bound}


def claims(cases, curves, model, forest_of, grid, epsilons):
    """The largest profile of each question over its secrets."""
    claimed = np.zeros((model.units, epsilons.size))
    claimed[-1] = curves[-1].at(np.expm1(epsilons))
    cases = [case for case in cases if case.questions.size]
    told = profiles_of(cases, curves, model, forest_of)(grid)
    found = np.array([profile.at(np.expm1(epsilons)) for profile in told.profiles])
    ends = np.cumsum([case.questions.size for case in cases])
    for case, mine in zip(cases, np.split(found, ends[:-1]), strict=True):
        claimed[case.questions] = np.maximum(claimed[case.questions], mine)
    return claimed


def drawn(rng, turn, *, public):
    """A small questionnaire with random channels, and its exact adversary; some respondents have a form not listed."""
    asked = (HALF, PART, APART, THREE)[turn % 4]
    sizes = [int(rng.integers(2, 4)) for _ in range(3)]
    model = Forms(answers(rng, sizes), "s", asked.copy(), public=public)
    there, read = asked, asked
    if turn % 3 == 0:
        common = asked.all(axis=0)
        there, read = np.vstack([asked, common | (rng.random(3) < 0.3)]), np.vstack([asked, common])
    rows = [*(size + 1 for size in sizes), len(there)]
    channels = [rng.dirichlet(np.full(3, rng.choice([0.5, 2.0, 8.0])), size=size) for size in rows]
    forms = rng.dirichlet(np.ones(len(there)))
    return model, Questionnaire(joint_of(model.answers), there, forms, channels, read=read)


def compared(seed, models, *, public, gammas=10):
    """Hold the profiles of both theorems against random channels; give how many comparisons and the ratios."""
    rng, count, ratios = np.random.default_rng(seed), 0, []
    for turn in range(models):
        model, true = drawn(rng, turn, public=public)
        curves = [channel_curve(one[:-1]) for one in true.channels[:-1]] + [Worst(true.moved)]
        span = min(sum(float(np.ptp(np.log(one), axis=0).max()) for one in true.channels), 20.0)
        grid = Grid.up_to(1.02 * span, 384)
        epsilons = np.append(0.0, rng.uniform(0, 0.6 * span, gammas - 1))
        cases = [*answers_shown(model), *([] if public else blanks_shown(model))]
        for knowledge, messages in FORESTS.items():
            claimed = claims(cases, curves, model, messages, grid, epsilons)
            worst = np.zeros(claimed.shape)
            for cell, truth in true.sticks(np.exp(epsilons), knowledge, public, rng):
                assert (claimed[cell] >= truth * (1 - 1e-11)).all(), (turn, knowledge, cell)
                worst[cell] = np.maximum(worst[cell], truth)
                count += gammas
            seen = worst > 1e-4
            ratios.extend((claimed[seen] / worst[seen]).tolist())
    return count, ratios


@pytest.mark.parametrize("public", [False, True])
def test_no_questionnaire_shows_more_than_the_theorems_say(public):
    count, ratios = compared([81, public], 8, public=public)
    assert count > 5_000
    assert np.median(ratios) < 1.3


@pytest.mark.slow
@pytest.mark.parametrize("public", [False, True])
def test_no_one_of_many_questionnaires_shows_more_than_the_theorems_say(public):
    count, ratios = compared([82, public], 160, public=public)
    print(f"{count:,} comparisons, δ {np.median(ratios):.3f} × the truth in the median")
    assert count > 100_000
    assert np.median(ratios) < 1.3


def test_if_forms_are_not_drawn_at_random_more_is_shown():
    rng = np.random.default_rng(83)
    model = Forms(copies(3, 0.3), "s", HALF.copy())
    channels = [rng.dirichlet([2.0] * 3, size=3) for _ in range(3)] + [rng.dirichlet([2.0] * 3, size=2)]
    true = Questionnaire(joint_of(model.answers), HALF, np.full(2, 0.5), channels)
    curves = [channel_curve(one[:-1]) for one in channels[:-1]] + [Worst(true.moved)]
    epsilons, cases = np.linspace(0, 2, 9), [*answers_shown(model), *blanks_shown(model)]
    claimed = claims(cases, curves, model, TILTED.apart, Grid.up_to(12.0, 384), epsilons)

    def broken():
        return any((claimed[cell] < truth).any() for cell, truth in true.sticks(np.exp(epsilons)))

    assert not broken()
    for at, (form, (first, *_)) in enumerate(true.points):  # one form mostly to those who would say 0
        true.chance[at] *= 0.99 if form == first else 0.01
    assert broken()


# Gaussian noise


def gaussian(rhos, **facts):
    return ConcentratedLoss(
        tuple(map(Fraction, rhos)),
        len(rhos),
        Fraction(DELTA),
        **{"gaussian": True, "separable": True, **facts},
    )


def epsilon(rho):
    return epsilon_at_delta(GaussianCurve(math.sqrt(2 * rho)), Fraction(DELTA))


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_where_nothing_is_shared_the_bounds_are_reached(knowledge):
    """Independent answers: a cell's own loss, and for a blank the loss of the form."""
    secret = Forms(copies(3, 0.5), "s", HALF.copy())
    loss = gaussian(["0.02", "0.03", "0.01", "0.025"])
    expected = [epsilon(rho) for rho in (0.02, 0.03, 0.025, 0.025)]
    assert LEFT_OUT[knowledge](loss, secret).per_unit == pytest.approx(expected, rel=1e-4)
    public = PUBLIC[knowledge](loss, replace(secret, public=True)).per_unit
    assert public == pytest.approx([*(epsilon(rho) for rho in (0.02, 0.03, 0.01)), 0.0], rel=1e-4)


@pytest.mark.parametrize("knowledge", ["any", "model"])
def test_a_blank_costs_the_form_and_only_what_both_forms_ask(knowledge):
    """The shift of a blank is that of the form and of what is shared, in squares; they do not add."""
    model = Forms(copies(3, 1e-12), "s", HALF.copy())
    loss = gaussian(["0.02", "0.03", "0.01", "0.025"])
    found = LEFT_OUT[knowledge](loss, model).per_unit
    assert found[1] == pytest.approx(epsilon(0.02 + 0.03), rel=1e-3)  # by its own form
    assert found[2] == pytest.approx(epsilon(0.02 + 0.025), rel=1e-3)  # blank: q0 and the form, but not q1
    assert found[2] < 0.8 * (epsilon(0.02) + epsilon(0.025))


def test_a_form_that_asks_less_shows_less():
    model = Forms(copies(3, 0.1), "s", HALF.copy(), public=True)
    loss = gaussian(["0.02"] * 4)
    found, whole = (
        separable_public_form_bound(loss, model).per_unit,
        separable_messages_bound(gaussian(["0.02"] * 3), model.answers).per_unit,
    )
    assert (found[:3] < 0.97 * whole).all()


def test_many_forms_take_what_each_asks_for_what_two_share():
    """Ten forms of ten questions share forty-five sets of questions."""
    asked = ~np.eye(10, dtype=bool)
    asked[:, 0] = True
    model = Forms(copies(10, 0.2), "s", asked)
    assert len(list(blanks_shown(model))) == len(np.unique(asked, axis=0)) == 10
    loss = gaussian(["0.005"] * 11)
    few = Forms(model.answers, "s", asked[:3])
    all_, some = (separable_blanks_left_out_bound(loss, one).worst for one in (model, few))
    assert all_ >= some * (1 - 1e-9)  # but for what transforms lose


@pytest.mark.parametrize("knowledge", ["any", "model"])
@pytest.mark.parametrize("public", [False, True])
def test_they_are_chosen_certified_verified_and_inverted(knowledge, public):
    model = Forms(copies(3, 0.1), "s", HALF.copy(), public=public)
    proved = bound(model, gaussian(["0.005", "0.005", "0.005", "0.01"]), knowledge)
    own = (PUBLIC if public else LEFT_OUT)[knowledge]
    assert proved.theorem == own
    document = certify(proved).document
    assert verify(document).valid
    assert "change of form moves in all parts together" in document["trusted"][0]
    forged = {**document["inputs"]["loss"], "delta": "1/100"}
    assert not verify({**document, "inputs": {**document["inputs"], "loss": forged}}).valid
    reached = calibrate(model, 1.0, knowledge, gaussian(["1", "1", "1", "1"]))
    assert reached.theorem == own
    assert 0.999 < reached.leakage.worst <= 1


def test_what_is_not_covered_is_refused():
    secret = Forms(copies(3, 0.1), "s", HALF.copy())
    loss = gaussian(["0.005"] * 4)
    for theorem in LEFT_OUT.values():
        with pytest.raises(DoesNotApply, match="public here"):
            theorem(loss, replace(secret, public=True))
    for theorem in PUBLIC.values():
        with pytest.raises(DoesNotApply, match="secret here"):
            theorem(loss, secret)
    for theorem in LEFT_OUT.values():
        with pytest.raises(DoesNotApply, match="reads one unit alone"):
            theorem(replace(loss, separable=False), secret)


def test_losses_of_which_only_rho_is_known_cost_more():
    model, loss = Forms(copies(3, 0.1), "s", HALF.copy()), gaussian(["0.005"] * 4)
    known, only = (
        separable_blanks_left_out_bound(one, model).worst for one in (loss, replace(loss, gaussian=False))
    )
    assert known < only < 1.5 * known
    nothing = gaussian(["0.005", "0.005", "0.005", "0"], gaussian=False)
    assert separable_blanks_left_out_bound(nothing, model).per_unit[-1] == 0
