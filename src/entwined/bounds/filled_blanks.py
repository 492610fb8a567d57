"""Blanks that are filled at random by the public law of the answers, so that they say nothing about the form.

It takes a mechanism that the door does not have: it reads rows as they are and fills nothing. So this bound is for
plans and simulations: nothing that the door releases is an exposure of this kind.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Final, Generic, Self, TypeVar

import numpy as np

from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.contraction import contract_one
from entwined.bounds.forms import knowing_law
from entwined.bounds.frontier import Frontier
from entwined.bounds.kernel import ROOT, frontiers_of
from entwined.bounds.theorem import Secret, theorem
from entwined.bounds.transport import add
from entwined.canonical import Document
from entwined.dependence import BayesNet, Forms
from entwined.errors import BadLoss, DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, round_up

LAWS_ERROR: Final = 1e-12  # far above the rounding of a law worked out along a tree
ANSWER_OR_BLANK: Final = Secret(
    "any two answers of any one cell, that it was not asked among them, and between any two forms"
)


Losses = TypeVar("Losses", Loss, ConcentratedLoss)


@dataclass(frozen=True, eq=False)
class FilledLosses(Generic[Losses]):
    """Losses of a mechanism that fills the blanks of question j by draws from `filling[j]` before it looks."""

    loss: Losses
    filling: tuple[FloatArray, ...]
    kind_of_loss: ClassVar[type[Loss] | type[ConcentratedLoss]]

    def __post_init__(self) -> None:
        check_filling(self.filling, self.units - 1)

    @property
    def units(self) -> int:
        """The questions and the form."""
        return self.loss.units

    @property
    def document(self) -> Document:
        """The losses, and the laws that fill blanks."""
        return {**self.loss.document, "filling": [law.tolist() for law in self.filling]}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read losses and laws back."""
        losses = {key: value for key, value in document.items() if key != "filling"}
        loss: Any = cls.kind_of_loss.from_document(losses)
        return cls(loss, filling_laws(document["filling"]))

    def own_loss(self, knowledge: str) -> FloatArray:
        """Give that of the losses: a filled cell shows no more of an answer than one that is read."""
        return self.loss.own_loss(knowledge)

    def widened(self, units: int) -> Self:
        """Refuse: no model of questions has more of them for being stronger."""
        if units > self.units:
            raise BadLoss(f"There are {self.units} units, not {units}. Give one of as many units.")
        return self

    def __mul__(self, factor: float) -> Self:
        """The same mechanism, this many times."""
        return type(self)(self.loss * factor, self.filling)


@dataclass(frozen=True, eq=False)
class FilledBlanks(FilledLosses[Loss]):
    """Pure losses, blanks filled."""

    kind_of_loss = Loss
    plural: ClassVar[str] = "losses where blanks are filled"
    released: ClassVar[str] = "anything released with these losses where every blank is filled by a draw"
    believed: ClassVar[str] = (
        "The mechanism fills every blank by a draw of its own from the stated law, and has the stated base loss for "
        "each unit."
    )
    delta: ClassVar[Fraction] = Fraction(0)


def check_filling(filling: tuple[FloatArray, ...], questions: int) -> None:
    """Refuse what is not one law a question."""
    if len(filling) != questions:
        raise BadLoss(f"{len(filling)} laws fill blanks of {questions} questions. Give one law a question.")
    for law in filling:
        if law.ndim != 1 or not (law >= 0).all() or abs(law.sum() - 1) > LAWS_ERROR:
            raise BadLoss("A law that fills blanks has no chances that sum to 1. Give one chance an answer.")


def filling_laws(laws: Sequence[Sequence[float]]) -> tuple[FloatArray, ...]:
    """Read the laws that fill blanks."""
    return tuple(np.array(law, dtype=np.float64) for law in laws)


@theorem("model", secret=ANSWER_OR_BLANK)
def blanks_filled_bound(exposed: FilledBlanks, model: Forms) -> Leakage:
    """Bound the leakage where every blank is filled by a draw of its own, if no cell is known.

    Theorem. Let a respondent's form S be drawn independently of the answers Y to all questions. Let the cell of
    a question that is not asked be filled by an independent draw from a public law q_j. Let every statistic be
    about one column, its noise independent of the others', with a loss of ε_j in all for column j, and ε_S for
    the form. Let L_i(s) bound the leakage about Y_i, where nothing is known but the law, of losses ε_j for the
    questions that form s asks and 0 for the others. Root the tree of the model; with these losses let R_c be ε_c
    plus the r_k of c's children k, where r_k = T_P(R_k) by the law of x_k given x_c, and let Γ(s) be the sum,
    over all columns c and their children k in some order, of T(ε_c + what came before; r_k), where
    T(L; Δ) = 4 atanh(tanh(L/4) tanh(Δ/4)). Let δ_j = T_Q(ε_j) by the kernel Q with the two rows q_j and the law of
    Y_j, and D(s, t) = ε_S + Γ(s) + Γ(t) + the sum of the δ_j of questions that only one of the two forms asks.
    Then the leakage about the cell of question i is at most the largest L_i(s) of the forms that ask it, and, if
    some do not, at most the largest D(s, t) + L_i(t) of a form s that does not and a form t that does. About the
    form it is the largest D(s, t).

    Checked. The model is a tree of known law. L_i(s) is the smaller of what transport and message passing say.

    Trusted. Forms are drawn at random, independently of the answers. The law of the answers is the model. The
    adversary knows no cell. No statistic reads two columns at once.

    Proof. The likelihood of the output is f_S(s) Π_j f_j(x_j), x the filled row, and log f_j has range ε_j.
    Secrets a and b of an asked cell: given the form, the fillings average out, what is left has losses ε_j for
    the questions asked, and Y has the model's law; without it both sides are mixtures with equal weights. For
    the rest let g_j = E f_j(Y_j). A filled cell contributes its mean under q_j, independently, and the log of
    that is within δ_j of log g_j by transport. For the asked ones let u_c = f_c Π_k m_k, m_k(x_c) = E[u_k | x_c],
    over the children k of c. Then log m_k has range r_k by transport. E[g m] / E[m] is the mean of g under the
    law tilted by m, whose distance from the law itself is the range of log m, so
    |log E[g m] − log E[g] − log E[m]| ≤ T(range of log g; range of log m). As E[m_k(x_c)] = E[u_k], joining
    children one at a time and going down the tree gives |log E[Π f_j(Y_j)] − Σ log g_j| ≤ Γ(s), the sum over the
    asked j. What neither form asks is filled alike. Hence log E[f | s] and log E[f | t] differ by at most D(s, t),
    and E[f | t, Y_i = b] is within L_i(t) of E[f | t].

    Source. New here.
    """
    if model.public:
        raise DoesNotApply(
            "Who had which form is public here, and need not be hidden. A public form covers it."
        )
    losses, own = exposed.loss.per_unit[:-1], float(exposed.loss.per_unit[-1])
    if [law.size for law in exposed.filling] != [len(values) for values in model.answers.values]:
        raise DoesNotApply("The laws that fill blanks do not fit the questions. Give one chance an answer.")
    each = [knowing_law(Loss(np.where(row, losses, 0.0)), model.answers).per_unit for row in model.asked]
    joins = [_joined(np.where(row, losses, 0.0), model.answers) for row in model.asked]
    off = np.array(list(map(_off, losses.tolist(), exposed.filling, laws_of_columns(model.answers))))
    leakage = np.max(np.where(model.asked, each, 0.0), axis=0)
    worst = own
    for s, t in np.argwhere(~np.eye(len(joins), dtype=bool)).tolist():
        apart = (own + joins[s] + joins[t] + off @ (model.asked[s] ^ model.asked[t])) * (1 + len(off) * ULP)
        worst = max(worst, apart)
        secret = ~model.asked[s] & model.asked[t]
        leakage = np.where(secret, np.maximum(leakage, round_up(apart + each[t])), leakage)
    return Leakage(np.append(leakage, worst))


def _joined(losses: FloatArray, answers: BayesNet) -> float:
    """Γ: how far the mean of a product of likelihoods is from the product of their means, rounded up."""
    forest, frontiers = frontiers_of(answers)
    held, total = losses.tolist(), 0.0
    for unit in reversed(forest.order):
        above = forest.parent[unit]
        if above == ROOT or held[unit] == 0:
            continue
        range_of_mean = frontiers[unit, above](held[unit])
        if held[above] > 0 and range_of_mean > 0:
            total = add(total, contract_one(held[above], range_of_mean))
        held[above] = add(held[above], range_of_mean)
    return total


def _off(loss: float, filling: FloatArray, law: FloatArray) -> float:
    """δ: how far a filled cell is from an asked one, by its law alone."""
    return Frontier.of(np.stack([filling, law]), LAWS_ERROR)(loss)


def laws_of_columns(answers: BayesNet) -> tuple[FloatArray, ...]:
    """Give the law of each column of a tree."""
    tables: dict[int, FloatArray] = {}
    for block in answers.blocks:
        if block.scope.shape[1] > 2 or not block.table.is_exact:  # noqa: PLR2004  (a parent and its child)
            raise DoesNotApply(
                "Filling needs a tree whose chances are known. Learn one, or leave blanks out."
            )
        tables.update(zip(block.scope[:, -1].tolist(), block.table.low, strict=True))
    laws: dict[int, FloatArray] = {}
    for unit in range(answers.units):
        path = [unit]
        while path[-1] not in laws and answers.parents[path[-1]]:
            path.append(answers.parents[path[-1]][0])
        laws.setdefault(path[-1], tables[path[-1]])
        for above, below in pairwise(reversed(path)):
            laws[below] = laws[above] @ tables[below]
    return tuple(laws[unit] for unit in range(answers.units))
