"""Blanks that are filled at random under Gaussian noise: what is left to tell the form is how answers hang together.

A filled cell has the law of an answer, so one part alone says nothing about the form, and several do only as far as
those seen before tell of the next. Noise lets them tell little, but for a chance that is counted as a failure.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from itertools import permutations
from typing import ClassVar, Final

import numpy as np

from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.filled_blanks import (
    ANSWER_OR_BLANK,
    LAWS_ERROR,
    FilledLosses,
    laws_of_columns,
)
from entwined.bounds.kernel import Forest, Link, all_but_one
from entwined.bounds.profiles.composition import Composition
from entwined.bounds.profiles.curves import LARGEST_EPSILON, ProfileCurve, epsilon_at_delta
from entwined.bounds.profiles.passing import (
    SHORTEST,
    TOGETHER,
    Told,
    held_by,
    leakage_at,
    read_rows,
    send_swayed,
)
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.profiles.sway import Carried, TiltSway
from entwined.bounds.profiles.tails import IN_TAILS
from entwined.bounds.separable import NOTHING, known_forest, refuse_inseparable, wholes
from entwined.bounds.separable_forms import CellSecrets, answers_shown, profiles_of, rhos_of, worst_shown
from entwined.bounds.theorem import theorem
from entwined.dependence import BayesNet, Forms
from entwined.dependence.forms import Flags
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, IntArray, float_above, float_below

SHARE: Final = Fraction(1, 100)  # of δ, for histories that tell more of an answer than its swing
USUAL: Final = 0.1  # of that, for what lets one value stand for another
REACHES: Final = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # where such grids end, in ε of the largest part alone
INSIDE: Final = 0.5  # of a grid: where all swings are, a longer one is not tried
MOST_FORMS: Final = 8
TRUSTED: Final = (
    "The release is one batch of parts with independent noise, fixed before anything was seen, and each part reads "
    "one cell alone, the form or a question whose blanks are filled."
)


@dataclass(frozen=True, eq=False)
class FilledConcentrated(FilledLosses[ConcentratedLoss]):
    """Concentrated losses, blanks filled."""

    kind_of_loss = ConcentratedLoss
    plural: ClassVar[str] = "concentrated losses where blanks are filled"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FilledConcentrated) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[ConcentratedLoss, tuple[bytes, ...]]:
        return self.loss, tuple(law.tobytes() for law in self.filling)

    @property
    def separable(self) -> bool:
        """Whether each part reads one cell alone."""
        return self.loss.separable

    @property
    def released(self) -> str:
        """One batch, and every blank filled."""
        return f"{self.loss.released}, where every blank is filled by a draw"

    @property
    def believed(self) -> str:
        """What must be believed of the mechanism."""
        return (
            f"The mechanism fills every blank by a draw of its own from the stated law. {self.loss.believed}"
        )

    @property
    def delta(self) -> Fraction:
        """That of the losses."""
        return self.loss.delta


@theorem("model", secret=ANSWER_OR_BLANK, trusted=TRUSTED, needs=("separable",))
def separable_blanks_filled_bound(exposed: FilledConcentrated, model: Forms) -> Leakage:
    """Bound what a separable release shows where every blank is filled by a draw of its own, if no cell is known.

    Theorem. Let a respondent's form S be drawn independently of the answers Y to all questions, which form a tree or
    a forest with a known law, and let form s ask the questions A_s. Let the cell of a question j that is not asked
    be filled by an independent draw from a public law q_j. Let each part of the release read the form or one filled
    column, with noise of its own, and let δ_j and δ_S bound P(S) − γ Q(S) for any two laws P, Q of a part. Let
    D_i(A) be the profile that separable transport gives of Y_i where the parts of A are released, and N_j(A) the
    same without part j itself. For a chance η let r_j(s) be such that, with K answers to question j and N = N_j(A_s),
    K(K − 1) e^u T + (K − 1) N(e^u) ≤ η for some u and T = N(γ)/(1 − γ e^{−r_j(s)}) for some γ; let Δ_j(s) be r_j(s)
    and the range of the log of q_j to the law of Y_j, t(γ) = (e^{Δ/2} − √γ)²/(e^Δ − 1) below e^Δ and 0 beyond, and
    V_j(s) = S_t δ_j with it. Write A = A_s ∖ A_t and B = A_t ∖ A_s, and f + for the least f(γ') + γ' η m over
    γ' ≤ γ, with m the number of V_j in f. Then P(S) − γ Q(S) is at most, for two answers to question i, the largest
    D_i(A_s) of the forms that ask it; for two forms s and t, (δ_S ⊗ ⊗_{j∈A} V_j(s) ⊗ ⊗_{j∈B} V_j(t))+; and for a blank
    under s and an answer to i ∈ B, with W = (⊗_{j∈B∖i} V_j(t))+ and D = D_i(A_t), (δ_S ⊗ ⊗_{j∈A} V_j(s) ⊗ max(W ⊕ D,
    D ⊕ W))+, where (f ⊕ g)(γ) is the least f(γ₁) + γ₁ g(γ₂) over γ₁γ₂ = γ. The leakage is the ε of these at δ, the
    largest over all forms, and at most that of all parts as a group.

    Checked. The model is a forest of known law, with at most 8 forms; η is a hundredth of δ over the number of
    questions that some forms leave out.
    Pairs of forms of which another tells more are left out. Profiles are rounded up as for separable transport.

    Trusted. Forms are drawn at random, independently of the answers, and every respondent has one of those listed.
    A question is blank where the form does not ask it; where it asks, a blank says nothing about anything. The law
    of the answers is the model. The adversary knows no cell.

    Proof. Two answers: given the form, filled cells do not depend on Y, and what is left is separable transport;
    both sides are mixtures over forms with equal weights. Take any asked part j of form s, and let h be what other
    asked parts show and L_v the law of h given Y_j = v. L_w(L_w > e^r L_v) ≤ T, because a set where L_w > e^r L_v
    has L_w − γ L_v ≥ (1 − γ e^{−r}) L_w; and L_v(E) ≤ e^u L_w(E) + N(e^u). So but for a chance η two of the L_v(h)
    are within a factor e^r, whatever Y_j is: h is good. Given a good h the law of Y_j is the model's tilted by a
    weight of range r, so its ratio to q_j has a log of range Δ, and part j is within V_j(s) of one whose cell is
    filled. Two forms: look at the parts of A_s ∩ A_t, which have one law under both, then at those of A, those of B
    and the form's. Parts of A tell s from t by V_j(s) given a good history, those of B by V_j(t). Where a history
    is not good, let the part be drawn as if filled: that changes the law under s by η at most a part of A, and under
    t by η a part of B, so the difference by η or γη a part, and now the profiles compose whatever was seen before
    (Zhu, Dong, Wang 2022, Theorem 10). A profile falls, so the least up to γ bounds it. Blank and b: first the
    parts of A_t. Under s they are those of A_s ∩ A_t and filled ones; attaching those of B but for i, one after the
    other, is within W by the same argument; and then part i, filled, with the others, a mixture over Y_i, is within D
    of all of them given Y_i = b. The triangle inequality of E_γ gives ⊕, in either order. Then the parts of A and
    the form's: whatever the first parts show, under t they are filled, and under s within V_j(s) of that but for
    histories that are not good. Mixtures over forms are no further apart than the worst pair.

    Source. New here.
    """
    loss = exposed.loss
    refuse_inseparable(loss)
    if model.public:
        raise DoesNotApply(
            "Who had which form is public here, and need not be hidden. A public form covers it."
        )
    asked = np.unique(model.asked, axis=0)
    if len(asked) > MOST_FORMS:
        raise DoesNotApply(f"{len(asked)} forms are compared two by two; the most is {MOST_FORMS}.")
    if [law.size for law in exposed.filling] != [len(values) for values in model.answers.values]:
        raise DoesNotApply("The laws that fill blanks do not fit the questions. Give one chance an answer.")
    curves, chance = [loss.curve(rho) for rho in rhos_of(loss)], chance_of(loss, model)
    pairs = list(telling_pairs(asked))
    told = {s: swayed(exposed, model, asked[s]) for s, _ in pairs}
    worst = np.append(
        worst_shown(answers_shown(model), loss, model, known_forest),
        wholes(loss, np.zeros(1), rhos_of(loss)[-1]),
    )
    for s, t in pairs:
        swap = Swap(curves[-1], asked[s], asked[t], told[s], told[t], chance)
        worst[-1] = max(worst[-1], *leakage_at(swap.forms, loss.largest, loss.delta, TOGETHER.fine))
        if swap.blank.size:
            passed = swap.blanks(curves, model)
            found = leakage_at(passed, loss.largest, loss.delta, TOGETHER.fine)
            worst[swap.blank] = np.maximum(worst[swap.blank], found)
    each = Loss(np.array([float_above(rho) for rho in rhos_of(loss)]))
    return Leakage(np.minimum(worst, wholes(loss, model.group_totals(each))))


@dataclass(frozen=True, eq=False, slots=True)
class Swap:
    """What tells form s from form t, where V_j holds how far part j of a form is from a filled one.

    `chance` is that of a history that is not good, for each part.
    """

    form: ProfileCurve
    asked: Flags
    other: Flags
    told: Sequence[ProfileCurve]
    others_told: Sequence[ProfileCurve]
    chance: Fraction

    @property
    def blank(self) -> IntArray:
        """The questions that are blank under s and asked by t."""
        return np.flatnonzero(self.other & ~self.asked)

    def forms(self, grid: Grid) -> Told:
        """All parts that only one of the two forms asks, and the form's own."""
        parts = [*self.left(grid), *self.taken(grid)]
        shown = but_for(reduce(Composition.join, parts).profile(), self.chance * (len(parts) - 1))
        return Told([shown], np.zeros(1, np.int64))

    def blanks(self, curves: Sequence[ProfileCurve], model: Forms) -> Callable[[Grid], Told]:
        """A blank under s and an answer under t, for each question that only t asks."""
        answered = profiles_of(
            [CellSecrets(self.blank, self.other, blank=False)], curves, model, known_forest
        )

        def passed(grid: Grid) -> Told:
            left, taken = self.left(grid), self.taken(grid)
            before = reduce(Composition.join, left)
            rests = all_but_one(taken, Composition.join) if len(taken) > 1 else [Composition.nothing(grid)]
            inner = []
            for rest, own in zip(TOGETHER.reads(rests), answered(grid).profiles, strict=True):
                attached = but_for(rest, self.chance * (len(taken) - 1))
                inner.append(either_way(attached, own) if attached.deltas.any() else own)
            shown = read_rows(Composition.of(PrivacyProfile.stacked(inner)), range(len(inner)), before)
            found = [but_for(one, self.chance * (len(left) - 1)) for one in shown]
            return Told(found, np.arange(len(found)))

        return passed

    def left(self, grid: Grid) -> list[Composition]:
        """The form's own part, and those of questions that only s asks."""
        only = np.flatnonzero(self.asked & ~self.other).tolist()
        return held_by(TOGETHER, [self.form, *(self.told[j] for j in only)], grid)

    def taken(self, grid: Grid) -> list[Composition]:
        """The parts of questions that only t asks."""
        return held_by(TOGETHER, [self.others_told[j] for j in self.blank.tolist()], grid)


def telling_pairs(asked: Flags) -> Iterator[Link]:
    """Give two forms each, but for those of which another pair tells more.

    A form that asks more than one of them, but no more of what the other asks, differs from that in more parts, each
    of which tells more.
    """

    def outdone(one: int, other: int) -> bool:
        more = (asked >= asked[one]).all(axis=1)
        shared = ((asked & asked[other]) == (asked[one] & asked[other])).all(axis=1)
        return bool(np.delete(more & shared, [one, other]).any())

    yield from ((s, t) for s, t in permutations(range(len(asked)), 2) if not outdone(s, t) | outdone(t, s))


def but_for(profile: PrivacyProfile, chance: Fraction) -> PrivacyProfile:
    """A profile that holds but for a chance in either law: f(γ) + γη, the least up to γ."""
    more = float_above(chance) * (1 + profile.grid.excess) * (1 + 64 * ULP)
    return PrivacyProfile(
        profile.grid, np.minimum.accumulate(np.minimum(profile.deltas + more, 1.0) * (1 + ULP))
    )


def either_way(one: PrivacyProfile, other: PrivacyProfile) -> PrivacyProfile:
    """One change after the other, in whichever order is worse."""
    return PrivacyProfile(one.grid, np.maximum(one.beside(other).deltas, other.beside(one).deltas))


def swayed(exposed: FilledConcentrated, model: Forms, asked: Flags) -> list[ProfileCurve]:
    """V_j: how far each part of a form that others leave out is from one whose cell is filled."""
    loss = exposed.loss
    curves = [
        loss.curve(rho) if there else NOTHING
        for rho, there in zip(rhos_of(loss)[:-1], asked.tolist(), strict=True)
    ]
    compared = np.flatnonzero(asked & model.gated)  # of others nothing is ever compared
    if not compared.size:
        return curves
    values = [len(model.answers.values[j]) for j in compared.tolist()]
    told = told_by_others(curves, model.answers, compared)
    least = swings(told, values, chance_of(loss, model), loss.largest)
    laws = laws_of_columns(model.answers)
    for j, swing_of in zip(compared.tolist(), least.tolist(), strict=True):
        off = range_of_ratio(exposed.filling[j], laws[j])
        curves[j] = Carried(curves[j], TiltSway(swing_of + off))
    return curves


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
    """The least r of the grid for which K(K − 1) e^u T + (K − 1) N(e^u) is within the chance; infinite if none."""
    deltas, grid = profile.deltas, profile.grid
    if values == 1 or not deltas.any():
        return 0.0
    allowed = float_below(Fraction(chance)) * (1 - 4 * ULP)
    usual = np.flatnonzero((values - 1) * deltas <= USUAL * allowed)
    if usual.size == 0:
        return math.inf
    times = values * (values - 1) * math.exp(usual[0] * grid.step) * (1 + 64 * ULP)
    tails, back = np.full(grid.size + 1, np.inf), 1
    while back <= grid.size:
        short = -np.expm1(-back * grid.step) * (1 - 64 * ULP)
        tails[back:] = np.minimum(tails[back:], deltas[:-back] / short)
        back *= 2
    within = np.flatnonzero(times * tails <= (1 - USUAL) * allowed)
    return float(within[0] * grid.step * (1 + 4 * ULP)) if within.size else math.inf


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
