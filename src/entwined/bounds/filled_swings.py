"""How far parts of a filled questionnaire are from ones whose cells are filled, by what others tell of the answers."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np

from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.filled_blanks import LAWS_ERROR, FilledLosses, laws_of_columns
from entwined.bounds.forests import known_forest
from entwined.bounds.kernel import Forest
from entwined.bounds.profiles.curves import LARGEST_EPSILON, ProfileCurve, epsilon_at_delta
from entwined.bounds.profiles.passing import SHORTEST, held_by, send_swayed
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.profiles.sway import Carried, TiltSway
from entwined.bounds.profiles.tails import IN_TAILS
from entwined.bounds.separable import NOTHING
from entwined.bounds.separable_forms import rhos_of
from entwined.dependence import BayesNet, Forms
from entwined.dependence.forms import Flags
from entwined.numbers import ULP, FloatArray, IntArray, float_below

SHARE: Final = Fraction(1, 100)  # of δ, for histories that tell more of an answer than its swing
USUAL: Final = 0.1  # of that, for what lets one value stand for another
REACHES: Final = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # where such grids end, in ε of the largest part alone
INSIDE: Final = 0.5  # of a grid: where all swings are, a longer one is not tried


def swayed(exposed: FilledLosses[ConcentratedLoss], model: Forms, asked: Flags) -> dict[int, Carried]:
    """V_j: how far each part of a form that others leave out is from one whose cell is filled, by question."""
    compared = np.flatnonzero(asked & model.gated)  # of others nothing is ever compared
    if not compared.size:
        return {}
    loss = exposed.loss
    curves = [
        loss.curve(rho) if there else NOTHING
        for rho, there in zip(rhos_of(loss)[:-1], asked.tolist(), strict=True)
    ]
    values = [len(model.answers.values[j]) for j in compared.tolist()]
    told = told_by_others(curves, model.answers, compared)
    least = swings(told, values, chance_of(loss, model), loss.largest)
    laws = laws_of_columns(model.answers)
    found = {}
    for j, swing_of in zip(compared.tolist(), least.tolist(), strict=True):
        off = range_of_ratio(exposed.filling[j], laws[j])
        found[j] = Carried(curves[j], TiltSway(swing_of + off))
    return found


def chance_of(loss: ConcentratedLoss, model: Forms) -> Fraction:
    """η: the chance of a history that is not good, for each question that some forms leave out."""
    return loss.delta * SHARE / max(int(model.gated.sum()), 1)


def range_of_ratio(filling: FloatArray, law: FloatArray) -> float:
    """The range of the log of two laws; infinite where only one of them has a value."""
    if ((filling > 0) != (law > 0)).any():
        return math.inf
    ratio = np.log(filling[law > 0] / law[law > 0])
    return float(np.ptp(ratio)) + 4 * LAWS_ERROR


def swings(
    told: Callable[[Grid], list[PrivacyProfile]],
    values: Sequence[int],
    chance: Fraction,
    largest: ProfileCurve,
) -> FloatArray:
    """r_j of each question, by short grids first: they are the finest, and longer ones help where they cut off much."""
    alone = min(max(epsilon_at_delta(largest, chance), SHORTEST), LARGEST_EPSILON / REACHES[-1])
    least = np.full(len(values), np.inf)
    for reach in REACHES:
        grid = Grid.up_to(reach * alone, IN_TAILS.fine)
        found = [swing(profile, many, chance) for profile, many in zip(told(grid), values, strict=True)]
        least = np.minimum(least, found)
        if least.max() <= INSIDE * grid.reach:
            break
    return least


def swing(profile: PrivacyProfile, values: int, chance: Fraction | float) -> float:
    """The least r that is found for which K(K − 1) e^u T + (K − 1) N(e^u) is within the chance; infinite if none.

    T = N(γ)/(1 − γ e^{−r}) is within a share of it, 1/c, where r is ln γ − ln(1 − c N(γ)) or more.
    """
    deltas, grid = profile.deltas, profile.grid
    if values == 1 or not deltas.any():
        return 0.0
    allowed = float_below(Fraction(chance)) * (1 - 4 * ULP)
    usual = np.flatnonzero((values - 1) * deltas <= USUAL * allowed)
    if usual.size == 0:
        return math.inf
    times = values * (values - 1) * math.exp(usual[0] * grid.step) * (1 + 64 * ULP)
    share = times * deltas / ((1 - USUAL) * allowed) * (1 + 64 * ULP)
    found = np.flatnonzero(share < 1)
    least = np.min(found * grid.step - np.log1p(-share[found]), initial=math.inf)
    return float(least) * (1 + 64 * ULP) + 64 * ULP


def told_by_others(
    curves: Sequence[ProfileCurve], answers: BayesNet, wanted: IntArray
) -> Callable[[Grid], list[PrivacyProfile]]:
    """N_j: what all parts but its own show of each unit wanted; own parts hang from their units as leaves."""
    forest, sways = known_forest(answers)
    units = answers.units
    leaves = range(units, 2 * units)
    whole = Forest((*forest.order, *leaves), (*forest.parent, *range(units)), (), {}, 0.0)

    def passed(grid: Grid) -> list[PrivacyProfile]:
        own = held_by(IN_TAILS, [*[NOTHING] * units, *curves], grid)
        heard = whole.heard(
            own, partial(send_swayed, IN_TAILS, sways), IN_TAILS.join, (units + wanted).tolist()
        )
        return IN_TAILS.reads([heard[units + unit][unit] for unit in wanted.tolist()])

    return passed
