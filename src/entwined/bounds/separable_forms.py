"""Questionnaires in forms under Gaussian noise: a histogram of each question where the form asks it, and of the form.

A blank tells what a change of form moves in all parts together, ρ_S, beside what the questions that both forms ask
tell of the answer. The two compose: given the parts that both forms have, the others are as far apart as a change of
form can take them, whatever law their answers have.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain, combinations
from typing import Final

import numpy as np

from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.pairs import KNOWN, TILTED, ForestOf, Ways
from entwined.bounds.profiles.composition import Composition
from entwined.bounds.profiles.curves import ProfileCurve
from entwined.bounds.profiles.passing import Told, parts_of, read_rows
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.profiles.sweeping import Sweep
from entwined.bounds.separable import NOTHING, refuse_inseparable, told_apart, wholes
from entwined.bounds.theorem import theorem
from entwined.dependence import Forms
from entwined.dependence.forms import Flags
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, IntArray, float_above

MOST_MEETINGS: Final = 24  # sets of questions that two forms share, each of which takes a sweep
TRUSTED: Final = (
    "The release is one batch of parts with independent noise, fixed before anything was seen, and each part reads "
    "one cell alone: the form, or a question where the form asks it. The loss of the form is for all that a change "
    "of form moves in all parts together."
)
DRAWN: Final = (
    "Forms are drawn at random, independently of the answers. The law of the answers is the model. A blank stands "
    "where the form does not ask, and nowhere else. A question is read only where the form asks it."
)


@theorem("any", trusted=f"{TRUSTED} {DRAWN}", needs=("separable",))
def separable_blanks_left_out_bound(loss: ConcentratedLoss, model: Forms) -> Leakage:
    """Bound what a separable release shows where a question is read only of those whose form asks it.

    Theorem. Let a respondent's form S be drawn independently of the answers Y to all questions, let form s ask the
    questions A_s, and let the cell of a question be blank if and only if it is not asked. Let each part of the
    release read the form, or one question where the form asks it, with noise of its own. Let δ_j(γ) bound
    P(S) − γ Q(S) for any two laws P, Q of part j where j is asked, and δ_S(γ) that of all parts together for any
    two forms with the same answers to all questions. Let D_i(A) be the profile that separable messages give of
    Y_i where the parts of A are released and no others. Then Pr[M ∈ S | x_i = a, known] −
    γ Pr[M ∈ S | x_i = b, known] is, for all S and γ ≥ 1, at most the largest D_i(A_s) of the forms s that ask
    question i if a and b are answers, and the largest (δ_S ⊗ D_i(A_s ∩ A_t)) of the forms s that do not ask it and
    t that do if one of them is the blank: whatever is known of the form, and if of every other cell either nothing
    is known, or that it is blank, or that it is not blank and anything that depends on its answer alone. For two
    forms it is at most δ_S. The leakage is the ε of these at δ, and at most that of all those parts as a group. All
    this holds as well if some respondents have a form that is not listed and asks what all others ask and perhaps
    more, of which nothing more is read.

    Checked. D_i is what separable messages say, on a forest of factors and rounded up as there. Where over 24
    different sets of questions are shared by two forms, A_s stands for A_s ∩ A_t.

    Trusted. Of a cell the adversary does not know something that leaves open whether it is blank and yet tells of
    its answer. What the adversary knows of several other cells together is not covered.

    Proof. Forms that are possible by the blanks that are known ask the same of the other cells of which something
    is known, so that this weighs the answers alone, by weights of single answers and alike under all of them.
    Answers a and b: both laws of the output are mixtures over forms with the same weights, S being independent of
    Y; P(S) − γ Q(S) is largest for one form; and given it, parts outside A_s do not depend on Y. Blank and b: the
    blank comes from forms s that do not ask i, b from forms t that do, and mixtures over s and t are no further
    apart than the worst pair. Look at the parts of A_s ∩ A_t first: under s they are a mixture over the values of
    Y_i, so within D_i(A_s ∩ A_t) of those under t given Y_i = b. Given what they show, all others are under s a
    mixture over answers y to A_s ∖ A_t, blank in A_t ∖ A_s, and under t a mixture over answers y' to A_t ∖ A_s, blank
    in A_s ∖ A_t. Any y and y' together are answers to all questions, the same under both forms, so each such pair is
    within δ_S, and so are mixtures of them. That holds whatever the first parts show, so the two profiles compose
    (Zhu, Dong, Wang 2022, Theorem 10). Two forms: Y has the same law under both, so a mixture of pairs within δ_S.
    Of a form that is not listed no more is read than what all others share, so it adds no part to A_s ∩ A_t, and
    δ_S is for changes to it too.

    Source. New here.
    """
    return _left_out(loss, model, TILTED)


@theorem("model", trusted=f"{TRUSTED} {DRAWN}", needs=("separable",))
def separable_blanks_left_out_without_knowledge_bound(loss: ConcentratedLoss, model: Forms) -> Leakage:
    """Bound what a separable release shows where a question is read only where asked, if no cell is known.

    Theorem. As for separable blanks left out, with D_i(A) the profile of Y_i where nothing is known but the law.

    Checked. D_i is what separable transport says, or separable messages where it does not apply.

    Trusted. The adversary knows no cell.

    Proof. As for separable blanks left out, with nothing known.

    Source. New here.
    """
    return _left_out(loss, model, ways_of_law(model))


@theorem("any", trusted=f"{TRUSTED} {DRAWN}", needs=("separable",))
def separable_public_form_bound(loss: ConcentratedLoss, model: Forms) -> Leakage:
    """Bound what a separable release shows of answers where everybody knows who had which form.

    Theorem. Let a respondent's form S be public and drawn independently of the answers Y to all questions, let form
    s ask the questions A_s, and let the cell of a question be blank if and only if it is not asked. Let each part
    of the release read the form, or one question where the form asks it, with noise of its own. Then for answers
    a and b to question i, given the form and whatever is known of single other cells, Pr[M ∈ S | x_i = a, known] −
    γ Pr[M ∈ S | x_i = b, known] is at most the largest D_i(A_s) of the forms that ask it, the profile that separable
    messages give of Y_i where the parts of A_s are released and no others. The leakage is its ε at δ. The form
    itself is no secret. A form that is not listed asks what all others ask and perhaps more, of which nothing more
    is read.

    Checked. D_i is what separable messages say, on a forest of factors and rounded up as there.

    Trusted. Who had which form is public: neither the form nor whether a question was asked is protected. What the
    adversary knows of several other answers together is not covered.

    Proof. The form is known to be s and says nothing about Y, so given it Y has the model's law, and what is known of
    single cells weighs single answers. Parts outside A_s do not depend on Y. Of a form that is not listed less is
    read than of any other.

    Source. New here.
    """
    return _public(loss, model, TILTED)


@theorem("model", trusted=f"{TRUSTED} {DRAWN}", needs=("separable",))
def separable_public_form_without_knowledge_bound(loss: ConcentratedLoss, model: Forms) -> Leakage:
    """Bound what a separable release shows of answers where the form is public and no answer is known.

    Theorem. As for a separable public form, with D_i(A) the profile of Y_i where nothing is known but the law and the
    form.

    Checked. D_i is what separable transport says, or separable messages where it does not apply.

    Trusted. Who had which form is public: neither the form nor whether a question was asked is protected. The
    adversary knows no answer.

    Proof. As for a separable public form, with no answer known.

    Source. New here.
    """
    return _public(loss, model, ways_of_law(model))


@dataclass(frozen=True, eq=False, slots=True)
class CellSecrets:
    """Secrets of some questions: the parts that tell of them, and whether a change of form does too."""

    questions: IntArray
    read: Flags
    blank: bool

    def parts(self, curves: Sequence[ProfileCurve]) -> list[ProfileCurve]:
        """The curves of the parts that are read; the form's is the last, and none of them."""
        return [
            curve if there else NOTHING for curve, there in zip(curves[:-1], self.read.tolist(), strict=True)
        ]

    def group(self, loss: ConcentratedLoss, model: Forms) -> FloatArray:
        """The ε of all those parts, as far as answers have a bearing on each other."""
        rhos = np.array([float_above(rho) for rho in rhos_of(loss)])
        totals = model.answers.group_totals(Loss(np.where(self.read, rhos[:-1], 0.0)))[self.questions]
        return wholes(loss, totals, rhos_of(loss)[-1] if self.blank else Fraction(0))


def answers_shown(model: Forms) -> Iterator[CellSecrets]:
    """Two answers to a question, by each form that asks it; one that asks less than another tells less."""
    different = np.unique(model.asked, axis=0)
    for read in different[fullest(different)]:
        yield CellSecrets(np.flatnonzero(read), read, blank=False)


def fullest(asked: Flags) -> list[int]:
    """Which of different forms ask something that no form with all their other questions does."""
    return [at for at, read in enumerate(asked) if ((asked & read) == read).all(axis=1).sum() == 1]


def blanks_shown(model: Forms) -> Iterator[CellSecrets]:
    """A blank and an answer, by each set of questions that two forms share, of which only one asks it."""
    shared: dict[bytes, Flags] = {}
    secret: dict[bytes, Flags] = {}
    for one, other in combinations(np.unique(model.asked, axis=0), 2):
        read = one & other
        shared[read.tobytes()] = read
        secret[read.tobytes()] = secret.get(read.tobytes(), np.zeros_like(read)) | (one ^ other)
    if len(shared) <= MOST_MEETINGS:
        yield from (CellSecrets(np.flatnonzero(secret[key]), shared[key], blank=True) for key in shared)
        return
    for read in np.unique(model.asked, axis=0):
        yield CellSecrets(np.flatnonzero(~read), read, blank=True)


def profiles_of(
    cases: Sequence[CellSecrets], curves: Sequence[ProfileCurve], model: Forms, forest_of: ForestOf
) -> Callable[[Grid], Told]:
    """D_i of the parts that each case reads, with δ_S where a secret is a blank; the form's curve is the last."""
    forest, crossings = forest_of(model.answers)
    silent = [NOTHING] * (len(forest.order) - model.answers.units)

    def told(grid: Grid) -> Told:
        parts, held = parts_of([[*case.parts(curves), *silent] for case in cases], grid)
        stack, rows = Sweep(
            forest, crossings, parts, held, [case.questions.tolist() for case in cases]
        ).whole()
        moved = Composition.of(PrivacyProfile.of(curves[-1], grid))
        found = [
            profile
            for case, mine in zip(cases, rows, strict=True)
            for profile in read_rows(stack, mine, moved if case.blank else None)
        ]
        return Told(found, np.arange(len(found)))

    return told


def ways_of_law(model: Forms) -> Ways:
    """By the law of the answers; by their log odds where it is no one forest."""
    try:
        KNOWN.apart(model.answers)
    except DoesNotApply:
        return TILTED
    return KNOWN


def rhos_of(loss: ConcentratedLoss) -> tuple[Fraction, ...]:
    """One loss a unit."""
    return loss.rhos * (loss.units if len(loss.rhos) == 1 else 1)


def worst_shown(
    secrets: Iterable[CellSecrets], loss: ConcentratedLoss, model: Forms, ways: Ways
) -> FloatArray:
    """The largest ε of each question over all its secrets."""
    worst = np.zeros(model.answers.units)
    cases = [case for case in secrets if case.questions.size]
    if not cases:
        return worst
    told = partial(profiles_of, cases, [loss.curve(rho) for rho in rhos_of(loss)], model)
    found = told_apart(loss, told, model.units, ways)
    ends = np.cumsum([case.questions.size for case in cases])
    for case, shown in zip(cases, np.split(found, ends[:-1]), strict=True):
        each = np.minimum(shown, case.group(loss, model))
        worst[case.questions] = np.maximum(worst[case.questions], each)
    return worst


def _left_out(loss: ConcentratedLoss, model: Forms, ways: Ways) -> Leakage:
    refuse_inseparable(loss)
    if model.public:
        raise DoesNotApply(
            "Who had which form is public here, and need not be hidden. A public form covers it."
        )
    secrets = chain(answers_shown(model), blanks_shown(model))
    form = wholes(loss, np.zeros(1), rhos_of(loss)[-1])
    return Leakage(np.append(worst_shown(secrets, loss, model, ways), form))


def _public(loss: ConcentratedLoss, model: Forms, ways: Ways) -> Leakage:
    refuse_inseparable(loss)
    if not model.public:
        raise DoesNotApply("Who had which form is a secret here. Blanks left out cover it.")
    return Leakage(np.append(worst_shown(answers_shown(model), loss, model, ways), 0.0))
