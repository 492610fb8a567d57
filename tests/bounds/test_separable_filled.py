"""Blanks that are filled under Gaussian noise: exact hockey sticks of small questionnaires, and what filling saves."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from entwined.bounds import ConcentratedLoss, bound, calibrate, certify, verify
from entwined.bounds.filled_blanks import laws_of_columns
from entwined.bounds.filled_swings import swing, told_by_others
from entwined.bounds.forests import known_forest
from entwined.bounds.pairs import KNOWN
from entwined.bounds.profiles.curves import GaussianCurve, epsilon_at_delta
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.separable_filled import (
    FilledConcentrated,
    FilledSecrets,
    separable_blanks_filled_bound,
    telling_pairs,
)
from entwined.bounds.separable_forms import (
    separable_blanks_left_out_without_knowledge_bound,
    separable_public_form_without_knowledge_bound,
)
from entwined.dependence import BayesNet, Forms, Variable
from entwined.errors import BadLoss, DoesNotApply
from support.form_sticks import Questionnaire, channel_curve
from support.joints import joint_of
from support.sheets import APART, HALF, PART, THREE, answers, copies

DELTA = Fraction(1, 10**6)
CLOSER = Fraction(1, 10**4)
MANY = np.array(
    [np.roll([True, True, True, False, False, False], k) for k in range(6)]
    + [np.arange(6) % k > 0 for k in (2, 3, 4)]
)


@dataclass(frozen=True, eq=False)
class ChannelLoss:
    """Losses of channels: ρ_j is the place of a channel."""

    curves: tuple
    delta: Fraction = CLOSER
    separable: bool = True

    @property
    def rhos(self):
        return tuple(range(len(self.curves)))

    @property
    def units(self):
        return len(self.curves)

    @property
    def largest(self):
        return GaussianCurve(3.0)

    def curve(self, rho):
        return self.curves[rho]


def claims(exposed, model, grid, epsilons):
    """The largest profile of each cell over its secrets."""
    secrets = FilledSecrets.of(exposed, model, np.unique(model.asked, axis=0))
    found = np.array([profile.at(np.expm1(epsilons)) for profile in secrets.told(KNOWN.apart, grid).profiles])
    claimed = np.zeros((model.units, epsilons.size))
    np.maximum.at(claimed, secrets.cells, found)
    return claimed


def compared(seed, models, gammas=10):
    """Hold the profiles against random channels; give how many comparisons and the ratios."""
    rng, count, ratios = np.random.default_rng(seed), 0, []
    for turn in range(models):
        asked = (HALF, PART, APART, THREE)[turn % 4]
        model = Forms(answers(rng, [int(rng.integers(2, 4)) for _ in range(3)]), "s", asked.copy())
        rows = [*(len(values) + 1 for values in model.answers.values), len(asked)]
        channels = [rng.dirichlet(np.full(3, rng.choice([2.0, 8.0, 80.0])), size=size) for size in rows]
        filling = laws_of_columns(model.answers)
        if turn % 5 == 4:
            filling = tuple(rng.dirichlet(60 * law) for law in filling)
        true = Questionnaire(
            joint_of(model.answers), asked, rng.dirichlet(np.ones(len(asked))), channels, list(filling)
        )
        parts = [*(channel_curve(one[:-1]) for one in channels[:-1]), channel_curve(channels[-1])]
        span = min(sum(float(np.ptp(np.log(one), axis=0).max()) for one in channels), 20.0)
        epsilons = np.append(0.0, rng.uniform(0, 0.4 * span, gammas - 1))
        exposed = FilledConcentrated(ChannelLoss(tuple(parts)), filling)
        claimed = claims(exposed, model, Grid.up_to(1.02 * span, 256), epsilons)
        worst = np.zeros(claimed.shape)
        for cell, truth in true.sticks(np.exp(epsilons), "model"):
            assert (claimed[cell] >= truth * (1 - 1e-11)).all(), (turn, cell)
            worst[cell] = np.maximum(worst[cell], truth)
            count += gammas
        seen = worst > 1e-3
        ratios.extend((claimed[seen] / worst[seen]).tolist())
    return count, ratios


def test_no_filled_questionnaire_shows_more_than_the_theorem_says():
    count, ratios = compared(91, 12)
    assert count > 2_000
    assert np.median(ratios) < 1.5


@pytest.mark.slow
def test_no_one_of_many_filled_questionnaires_shows_more_than_the_theorem_says():
    count, ratios = compared(92, 250)
    print(f"{count:,} comparisons, δ {np.median(ratios):.3f} × the truth in the median")
    assert count > 50_000
    assert np.median(ratios) < 1.3


# Gaussian noise


def filled(rhos, model, filling=None, **facts):
    told = {"gaussian": True, "separable": True, **facts}
    loss = ConcentratedLoss(tuple(map(Fraction, rhos)), len(rhos), DELTA, **told)
    return FilledConcentrated(loss, laws_of_columns(model.answers) if filling is None else filling)


def epsilon(rho):
    return epsilon_at_delta(GaussianCurve(math.sqrt(2 * rho)), DELTA)


def test_where_nothing_is_shared_the_bound_is_that_of_each_part():
    """Independent answers: a filled blank tells nothing of the form, so only its own histogram does."""
    model = Forms(copies(3, 0.5), "s", HALF.copy())
    found = separable_blanks_filled_bound(filled(["0.02", "0.03", "0.01", "0.025"], model), model).per_unit
    assert found == pytest.approx([epsilon(rho) for rho in (0.02, 0.055, 0.035, 0.025)], rel=3e-3)


def sheets(count, flip):
    """A tree of bits, a third of the questions in each of two forms alone."""
    step = [[1 - flip, flip], [flip, 1 - flip]]
    net = BayesNet.of(
        [Variable("q0", ("0", "1"), (), [[0.5, 0.5]])]
        + [Variable(f"q{j}", ("0", "1"), (f"q{(j - 1) // 2}",), step) for j in range(1, count)]
    )
    third = np.arange(count) % 3
    return Forms(net, "s", np.array([third != 1, third != 2]))


def test_filling_hides_the_form_for_a_fraction_of_what_leaving_out_costs():
    model, rho = sheets(30, 0.3), 0.001
    moved = rho * (1 + 0.5 * int(model.gated.sum()))
    left_out = ConcentratedLoss.of([rho] * 30 + [moved], DELTA, gaussian=True, separable=True)
    without = separable_blanks_left_out_without_knowledge_bound(left_out, model).per_unit
    within = separable_blanks_filled_bound(filled([rho] * 31, model), model).per_unit
    assert within[-1] < 1.1 * epsilon(rho) < 0.4 * without[-1]
    assert within.max() < 0.65 * without.max()
    public = separable_public_form_without_knowledge_bound(left_out, replace(model, public=True)).per_unit
    assert (within[:-1] >= public[:-1] * (1 - 1e-5)).all()


def test_what_others_tell_is_the_same_whoever_else_is_asked_about():
    """It is passed down only to where it is asked for; what a leaf's own unit holds of other leaves is all there is."""
    model, grid = sheets(12, 0.2), Grid.up_to(2.0, 160)
    curves = [GaussianCurve(0.02 * (1 + j % 4)) for j in range(12)]
    everyone = told_by_others(curves, model.answers, np.arange(12))(grid)
    some = np.array([11, 0, 5])
    for unit, profile in zip(some, told_by_others(curves, model.answers, some)(grid), strict=True):
        assert profile.deltas == pytest.approx(everyone[unit].deltas, rel=1e-12)
    alone = [curves[j] if j == 1 else GaussianCurve(0.0) for j in range(12)]
    (told,) = told_by_others(alone, model.answers, np.array([0]))(grid)
    (sway,) = (sways[1, 0] for _, sways in [known_forest(model.answers)])
    assert told.deltas == pytest.approx(
        PrivacyProfile.of(curves[1], grid).through(sway).deltas, rel=1e-6, abs=1e-13
    )


def test_a_swing_is_the_least_that_the_chance_allows():
    """By exact sums: K(K − 1) e^u T + (K − 1) N(e^u) is within the chance at r, and over it a little below."""
    grid, chance, values = Grid.up_to(0.6, 160), 1e-9, 4
    for shift in (0.02, 0.05):
        profile = PrivacyProfile.of(GaussianCurve(shift), grid)
        found, shown = swing(profile, values, chance), profile.deltas.tolist()
        u = min(k for k, one in enumerate(shown) if (values - 1) * one <= 0.1 * chance)

        def spent(r, shown=shown, u=u):
            tails = [
                one / (1 - math.exp(k * grid.step - r)) for k, one in enumerate(shown) if k * grid.step < r
            ]
            return values * (values - 1) * math.exp(u * grid.step) * min(tails) + (values - 1) * shown[u]

        assert spent(found) <= chance < spent(found * (1 - 1e-3)) + 0.1 * chance
    assert swing(PrivacyProfile.of(GaussianCurve(3.0), grid), values, chance) == math.inf
    assert swing(profile, 1, chance) == 0


def test_a_law_that_is_not_that_of_the_answers_tells_the_form():
    model = sheets(12, 0.3)
    off = (np.array([0.6, 0.4]),) * 12
    loss = ["0.001"] * 13
    true, other = (separable_blanks_filled_bound(filled(loss, model, law), model) for law in (None, off))
    assert other.per_unit[-1] > 1.02 * true.per_unit[-1]
    never = (np.array([1.0, 0.0]),) * 12
    worst = separable_blanks_filled_bound(filled(loss, model, never), model).per_unit[-1]
    assert worst == pytest.approx(epsilon(0.001 * 9), rel=1e-2)  # all gated parts and the form


def test_it_is_chosen_certified_verified_and_inverted():
    model = sheets(6, 0.3)
    exposed = filled(["0.005"] * 7, model)
    proved = bound(model, exposed, "model")
    assert proved.theorem == separable_blanks_filled_bound
    document = certify(proved).document
    assert verify(document).valid
    assert "every blank is filled by a draw" in document["guarantee"]
    assert len(document["inputs"]["loss"]["filling"]) == 6
    small = sheets(3, 0.3)
    reached = calibrate(small, 1.0, "model", filled(["0.005"] * 4, small))
    assert 0.999 < reached.leakage.worst <= 1


def test_what_is_not_covered_is_refused():
    model = sheets(6, 0.3)
    exposed = filled(["0.005"] * 7, model)
    for wrong, given, why in (
        (replace(model, public=True), exposed, "public here"),
        (model, filled(["0.005"] * 7, model, separable=False), "reads one unit alone"),
        (model, filled(["0.005"] * 7, model, (np.full(3, 1 / 3),) * 6), "do not fit"),
        (Forms(model.answers, "s", MANY.copy()), exposed, "most is 8"),
    ):
        with pytest.raises(DoesNotApply, match=why):
            separable_blanks_filled_bound(given, wrong)
    with pytest.raises(BadLoss, match="one law a question"):
        filled(["0.005"] * 7, model, (np.full(2, 0.5),) * 5)
    with pytest.raises(BadLoss, match="as many units"):
        exposed.widened(9)


def test_forms_that_tell_less_than_others_are_left_out_and_change_nothing():
    model = sheets(6, 0.3)
    short = model.asked.all(axis=0)
    more = Forms(model.answers, "s", np.vstack([model.asked, short, short]))
    assert len(list(telling_pairs(np.unique(more.asked, axis=0)))) == 2
    loss = ["0.005"] * 7
    few, all_ = (separable_blanks_filled_bound(filled(loss, one), one).per_unit for one in (model, more))
    assert all_ == pytest.approx(few, rel=1e-6)
