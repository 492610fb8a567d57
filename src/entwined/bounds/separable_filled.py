"""Blanks that are filled at random under Gaussian noise: what is left to tell the form is how answers hang together.

A filled cell has the law of an answer, so one part alone says nothing about the form, and several do only as far as
those seen before tell of the next. Noise lets them tell little, but for a chance that is counted as a failure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce
from itertools import permutations
from typing import ClassVar, Final, Self

import numpy as np

from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.filled_blanks import ANSWER_OR_BLANK, FilledLosses
from entwined.bounds.filled_swings import chance_of, swayed
from entwined.bounds.kernel import Link, all_but_one
from entwined.bounds.pairs import KNOWN, ForestOf
from entwined.bounds.profiles.composition import Composition
from entwined.bounds.profiles.curves import ProfileCurve
from entwined.bounds.profiles.either_order import in_either_order
from entwined.bounds.profiles.passing import TOGETHER, Told, held_by, leakage_at, read_rows
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.profiles.sway import Carried
from entwined.bounds.separable import refuse_inseparable, wholes
from entwined.bounds.separable_forms import CellSecrets, fullest, profiles_of, rhos_of
from entwined.bounds.theorem import theorem
from entwined.dependence import Forms
from entwined.dependence.forms import Flags
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, IntArray, float_above

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
    secrets = FilledSecrets.of(exposed, model, asked)
    told = partial(secrets.told, KNOWN.of(model.units))
    found = leakage_at(told, loss.largest, loss.delta, TOGETHER.fine)
    worst = np.append(np.zeros(model.answers.units), wholes(loss, np.zeros(1), rhos_of(loss)[-1]))
    np.maximum.at(worst, secrets.cells, np.minimum(found, secrets.groups(loss)))
    each = Loss(np.array([float_above(rho) for rho in rhos_of(loss)]))
    return Leakage(np.minimum(worst, wholes(loss, model.group_totals(each))))


@dataclass(frozen=True, eq=False, slots=True)
class Swap:
    """Two forms s and t, and the chance of a history that is not good, for each part."""

    first: int
    second: int
    asked: Flags
    other: Flags
    chance: Fraction

    @property
    def left(self) -> IntArray:
        """The questions that only s asks."""
        return np.flatnonzero(self.asked & ~self.other)

    @property
    def blank(self) -> IntArray:
        """The questions that are blank under s and asked by t."""
        return np.flatnonzero(self.other & ~self.asked)

    def forms(self, left: Sequence[Composition], taken: Sequence[Composition]) -> PrivacyProfile:
        """All parts that only one of the two forms asks, and the form's own, which is the first of what is left."""
        parts = [*left, *taken]
        return but_for(reduce(Composition.join, parts).profile(), self.chance * (len(parts) - 1))

    def blanks(
        self, left: Sequence[Composition], taken: Sequence[Composition], answered: PrivacyProfile
    ) -> PrivacyProfile:
        """A blank under s and an answer under t, for each question that only t asks."""
        grid = answered.grid
        rests = all_but_one(list(taken), Composition.join) if len(taken) > 1 else [Composition.nothing(grid)]
        attached = but_for(PrivacyProfile.stacked(TOGETHER.reads(rests)), self.chance * (len(taken) - 1))
        inner = in_either_order(attached, answered) if attached.deltas.any() else answered
        before = reduce(Composition.join, left)
        shown = read_rows(Composition.of(inner), range(len(inner.deltas)), before)
        return but_for(PrivacyProfile.stacked(shown), self.chance * (len(left) - 1))


@dataclass(frozen=True, eq=False, slots=True)
class FilledSecrets:
    """All secrets of a filled questionnaire: two answers to a question, two forms, and a blank and an answer.

    `curves` has what each part shows, the form's last, `answers` by form the parts that tell of answers, `alone` the
    forms by which two answers are told apart, and `apart` by form V_j of each part that another form leaves out.
    """

    model: Forms
    curves: Sequence[ProfileCurve]
    answers: Mapping[int, CellSecrets]
    alone: Sequence[int]
    apart: Mapping[int, Mapping[int, Carried]]
    swaps: Sequence[Swap]

    @classmethod
    def of(cls, exposed: FilledConcentrated, model: Forms, asked: Flags) -> Self:
        """Compare different forms two by two."""
        loss, alone, pairs = exposed.loss, fullest(asked), list(telling_pairs(asked))
        chance, needed = chance_of(loss, model), {*alone, *(t for _, t in pairs)}
        return cls(
            model,
            [loss.curve(rho) for rho in rhos_of(loss)],
            {t: CellSecrets(np.flatnonzero(asked[t]), asked[t], blank=False) for t in sorted(needed)},
            alone,
            {s: swayed(exposed, model, asked[s]) for s, _ in pairs},
            [Swap(s, t, asked[s], asked[t], chance) for s, t in pairs],
        )

    @property
    def cells(self) -> IntArray:
        """The cell that each secret is about; the form is the last."""
        found = [self.answers[form].questions for form in self.alone]
        for swap in self.swaps:
            found += [np.array([self.model.answers.units]), swap.blank]
        return np.concatenate(found)

    def groups(self, loss: ConcentratedLoss) -> FloatArray:
        """What two answers show at most with all parts as a group; of other secrets nothing is said here."""
        own = [self.answers[form].group(loss, self.model) for form in self.alone]
        others = self.cells.size - sum(found.size for found in own)
        return np.concatenate([*own, np.full(others, np.inf)])

    def told(self, forest_of: ForestOf, grid: Grid) -> Told:
        """What tells each secret, all of them on one grid: what several have alike is worked out once."""
        answers = profiles_of(list(self.answers.values()), self.curves, self.model, forest_of)
        cases = answers(grid).profiles
        ends = np.cumsum([case.questions.size for case in self.answers.values()]).tolist()
        answered = {
            form: cases[end - case.questions.size : end]
            for (form, case), end in zip(self.answers.items(), ends, strict=True)
        }
        (own,) = held_by(TOGETHER, self.curves[-1:], grid)
        held = {form: held_apart(curves, grid) for form, curves in self.apart.items()}
        found = [profile for form in self.alone for profile in answered[form]]
        for swap in self.swaps:
            left = [own, *(held[swap.first][j] for j in swap.left.tolist())]
            taken = [held[swap.second][j] for j in swap.blank.tolist()]
            found.append(swap.forms(left, taken))
            if taken:
                row = dict(
                    zip(self.answers[swap.second].questions.tolist(), answered[swap.second], strict=True)
                )
                mine = PrivacyProfile.stacked([row[j] for j in swap.blank.tolist()])
                found += swap.blanks(left, taken, mine).split()
        return Told(found, np.arange(len(found)))


def held_apart(curves: Mapping[int, Carried], grid: Grid) -> dict[int, Composition]:
    """What V_j shows, by question."""
    held = Composition.of(PrivacyProfile.of_each(list(curves.values()), grid)).split() if curves else []
    return dict(zip(curves, held, strict=True))


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
        profile.grid, np.minimum.accumulate(np.minimum(profile.deltas + more, 1.0) * (1 + ULP), axis=-1)
    )
