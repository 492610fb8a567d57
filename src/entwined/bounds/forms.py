"""Questionnaires in several forms, drawn at random: who got which form must not be paid for question by question.

Half of the respondents are asked some questions, the other half others. In every histogram of such a question the
blank cell says which form a respondent had, so a hundred histograms say it a hundred times. Where blanks are left
out instead, so that a question is read only of those whose form asks it, a change of form moves each histogram by
one row, and the blank itself is never seen.
"""

from collections.abc import Callable

import numpy as np

from entwined.bounds.messages import message_passing_bound
from entwined.bounds.pair_messages import pair_messages_bound
from entwined.bounds.theorem import theorem
from entwined.bounds.transport import transport_bound
from entwined.dependence import BayesNet, Forms
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, round_up


@theorem("any")
def blanks_left_out_bound(loss: Loss, model: Forms) -> Leakage:
    """Bound the leakage where a question is read only of those whose form asks it.

    Theorem. Let a respondent's form S be drawn independently of the answers Y to all questions, let form s
    ask the questions A_s, and let the cell of a question be blank if and only if it is not asked. Let the
    mechanism read a question only where the form asks it, and have base loss ε_j for the cell of question j
    and ε_S for the cell of the form. Let L_i(s) bound the leakage about Y_i, whatever is known of single
    other answers, of a mechanism with losses ε_j for j in A_s and 0 for the others. Then the leakage about
    the cell of question i is at most the largest L_i(s) of the forms that ask it, and, if some do not, at
    most ε_S + L_i(s) for those: whatever is known of the form, and if of every other cell either nothing is
    known, or that it is blank, or that it is not blank and anything that depends on its answer alone. About
    the form it is ε_S. All this holds as well if some respondents have a form that is not listed and asks
    what all others ask and perhaps more, of which nothing more is read.

    Checked. L_i(s) is what pair messages say, or message passing where they do not apply.

    Trusted. Forms are drawn at random, independently of the answers. The law of the answers is the model. A
    blank stands where the form does not ask, and nowhere else. A question is read only where the form asks it,
    which the door checks of its own releases. Of a cell the adversary does not know something that leaves open
    whether it is blank and yet tells of its answer, such as that it is blank or one certain answer: who does may
    learn more, about the form too. What the adversary knows of several other cells together is not covered.

    Proof. Write f(s, y) for the likelihood of the output; it depends on y through A_s alone, so it may be
    taken at the answers to all questions, and has losses ε_j for j in A_s and 0 for the others. Secrets a and
    b of an asked cell: given the form, the law of Y is the model's, so the ratio is within L_i(s). If the
    form is not known, both sides are mixtures over forms with the same weights: a form is possible or not by
    the blanks, what is known of answers has the same chance under all forms that are possible, and S is
    independent of Y. Secrets blank and b: the blank comes from forms s that do not ask i, b from forms t that
    do. Cells of which something is known are blank in both s and t, or asked by both. Then E[f(t, Y) | Y_i =
    b, known] ≤ e^{ε_S} E[f(s, Y) | Y_i = b, known], as only the cell of the form changes, and this is within
    L_i(s) of E[f(s, Y) | known], a mixture over the values of Y_i. The other direction is the same. Mixtures
    over s and t have ratios within the worst pair. Secrets s and t: E[f(t, Y) | known] ≤ e^{ε_S} E[f(s, Y) |
    known]. Of a form that is not listed no more is read than of any other, so that L_i(s) of any other bounds
    what it says, and ε_S is for changes to it too: wherever it is one of a pair, a listed form bounds it in
    its place.

    Source. New here.
    """
    return Leakage(_left_out(loss, model, by_messages))


@theorem("model")
def blanks_left_out_without_knowledge_bound(loss: Loss, model: Forms) -> Leakage:
    """Bound the leakage where a question is read only of those whose form asks it, if no cell is known.

    Theorem. As for blanks left out, with L_i(s) a bound on the leakage about Y_i where nothing is known but the
    law.

    Checked. L_i(s) is the smaller of what transport and pair messages (or message passing) say.

    Trusted. Forms are drawn at random, independently of the answers. The law of the answers is the model. A
    blank stands where the form does not ask, and nowhere else. A question is read only where the form asks it,
    which the door checks of its own releases. The adversary knows no cell.

    Proof. As for blanks left out, with nothing known.

    Source. New here.
    """
    return Leakage(_left_out(loss, model, knowing_law))


@theorem("any")
def public_form_bound(loss: Loss, model: Forms) -> Leakage:
    """Bound the leakage about answers where everybody knows who had which form.

    Theorem. Let a respondent's form S be public and drawn independently of the answers Y to all questions,
    let form s ask the questions A_s, and let the cell of a question be blank if and only if it is not asked.
    Let the mechanism have base loss ε_j for the cell of question j. Let L_i(s) bound the leakage about Y_i,
    whatever is known of single other answers, of a mechanism with losses ε_j for j in A_s and 0 for the
    others. Then the leakage about the answer to question i, given the form and whatever is known of single
    other cells, is at most the largest L_i(s) of the forms that ask it. The form itself is no secret. A form
    that is not listed asks what all others ask and perhaps more, of which nothing more is read.

    Checked. L_i(s) is what pair messages say, or message passing where they do not apply.

    Trusted. Who had which form is public: neither the form nor whether a question was asked is protected.
    Forms are drawn at random, independently of the answers. The law of the answers is the model. A blank
    stands where the form does not ask, and nowhere else. A question is read only where the form asks it,
    which the door checks of its own releases. What the adversary knows of several other answers together is
    not covered.

    Proof. The form is known to be s, and says nothing about Y. The likelihood of the output depends on Y
    through the cells of A_s alone, the others being blank, so it has losses ε_j for j in A_s and 0 for the
    others, and given s the law of Y is the model's. Of a form that is not listed less is read than of any
    other, so its bound is below.

    Source. New here.
    """
    return Leakage(_public(loss, model, by_messages))


@theorem("model")
def public_form_without_knowledge_bound(loss: Loss, model: Forms) -> Leakage:
    """Bound the leakage about answers where the form is public and no answer is known.

    Theorem. As for a public form, with L_i(s) a bound on the leakage about Y_i where nothing is known but the
    law and the form.

    Checked. L_i(s) is the smaller of what transport and pair messages (or message passing) say.

    Trusted. Who had which form is public: neither the form nor whether a question was asked is protected.
    Forms are drawn at random, independently of the answers. The law of the answers is the model. A blank
    stands where the form does not ask, and nowhere else. A question is read only where the form asks it,
    which the door checks of its own releases. The adversary knows no answer.

    Proof. As for a public form, with no answer known.

    Source. New here.
    """
    return Leakage(_public(loss, model, knowing_law))


def _public(loss: Loss, model: Forms, inner: Callable[[Loss, BayesNet], Leakage]) -> FloatArray:
    if not model.public:
        raise DoesNotApply("Who had which form is a secret here. Blanks left out cover it.")
    return np.append(np.max(np.where(model.asked, _each(loss, model, inner), 0.0), axis=0), 0.0)


def _each(loss: Loss, model: Forms, inner: Callable[[Loss, BayesNet], Leakage]) -> FloatArray:
    """Bound the leakage about each answer by the questions of each form alone."""
    losses = loss.per_unit[:-1]
    return np.array([inner(Loss(np.where(row, losses, 0.0)), model.answers).per_unit for row in model.asked])


def _left_out(loss: Loss, model: Forms, inner: Callable[[Loss, BayesNet], Leakage]) -> FloatArray:
    if model.public:
        raise DoesNotApply(
            "Who had which form is public here, and need not be hidden. A public form covers it."
        )
    own, each = float(loss.per_unit[-1]), _each(loss, model, inner)
    there = np.max(np.where(model.asked, each, 0.0), axis=0)
    blank = np.max(np.where(model.asked, 0.0, round_up(own + each)), axis=0)
    return np.append(np.maximum(there, blank), own)


def by_messages(loss: Loss, answers: BayesNet) -> Leakage:
    """Bound what is learned about answers by whom others' may be known, pairs of values told apart where it helps."""
    try:
        return pair_messages_bound(loss, answers)
    except DoesNotApply:
        return message_passing_bound(loss, answers)


def knowing_law(loss: Loss, answers: BayesNet) -> Leakage:
    """Bound what an adversary learns about answers who knows their law alone: message passing always does."""
    messages = by_messages(loss, answers)
    try:
        return Leakage(np.minimum(messages.per_unit, transport_bound(loss, answers).per_unit))
    except DoesNotApply:
        return messages
