"""How to share a leakage among histograms: more loss for columns that tell little about others.

The error of all histograms is the sum, over columns, of its weight over the square of its loss. A bound on a tree
is a sweep of messages; with the share of each message that gets through held fixed the leakage is linear in the
losses, and the best losses of that linear problem come from its dual. Round after round the shares are taken anew
and the result is brought to the target by the theorem itself, so that what is returned is always within it.
"""

from dataclasses import dataclass, replace
from typing import Final, Protocol, TypeAlias

import numpy as np

from entwined.bounds import Knowledge
from entwined.bounds.allocate import cheapest
from entwined.bounds.calibrate import invert
from entwined.bounds.contraction import contract_one
from entwined.bounds.filled_blanks import FilledBlanks, blanks_filled_bound
from entwined.bounds.forms import (
    blanks_left_out_bound,
    blanks_left_out_without_knowledge_bound,
    public_form_bound,
    public_form_without_knowledge_bound,
)
from entwined.bounds.kernel import Link, frontiers_of
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.theorem import Theorem
from entwined.bounds.transport import add, transport_bound
from entwined.dependence import BayesNet, Forms
from entwined.errors import BadLoss, DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, float_below, positive_fraction

ROUNDS: Final = 16
DAMPED: Final = 3  # from this round on only half the way is taken, in logarithms
ENOUGH: Final = 1e-3
PATIENCE: Final = 3  # rounds without a gain after which it ends
NEAR: Final = 0.6
BLANK_SHARE: Final = 0.5  # leaving a respondent out moves one cell, changing an answer two

Shares: TypeAlias = dict[Link, float]


class SharingTerms(Protocol):
    """What histograms leak, as a function of one loss each."""

    @property
    def columns(self) -> int:
        """How many histograms there are."""

    def base(self, losses: FloatArray) -> Loss:
        """Give the base loss of every unit."""

    def leakage(self, losses: FloatArray) -> Leakage:
        """Bound the leakage about every unit."""

    def slopes(self, losses: FloatArray) -> FloatArray:
        """Give the leakages as sums over the losses, the shares of messages held fixed, a row each."""


@dataclass(frozen=True, eq=False)
class OnTree:
    """Histograms of all columns of a tree."""

    model: BayesNet
    knowledge: Knowledge

    @property
    def columns(self) -> int:
        """One histogram a column."""
        return self.model.units

    @property
    def theorem(self) -> Theorem:
        """The theorem that holds the bound."""
        return transport_bound if self.knowledge == "model" else message_passing_bound

    def base(self, losses: FloatArray) -> Loss:
        """A histogram's loss is its column's."""
        return Loss(losses)

    def leakage(self, losses: FloatArray) -> Leakage:
        """Bound the leakage about every answer."""
        return self.theorem(self.base(losses), self.model)

    def with_answers(self, model: BayesNet) -> "OnTree":
        """Say what the same histograms leak under another law of the answers."""
        return replace(self, model=model)

    def slopes(self, losses: FloatArray) -> FloatArray:
        """Give each answer's leakage as a sum over the losses."""
        return slopes_on_tree(self.model, losses, self.knowledge)


@dataclass(frozen=True, eq=False)
class OnForms:
    """Histograms of all questions of a questionnaire in forms, and of the form itself, which comes last.

    Blanks are left out of the histograms; where `filling` says by which laws, they are filled, which helps only
    against who knows no answers.
    """

    model: Forms
    knowledge: Knowledge
    filling: tuple[FloatArray, ...] = ()

    def __post_init__(self) -> None:
        if self.filled and self.knowledge != "model":
            raise DoesNotApply(
                "Filled blanks are bounded only for an adversary who knows no answers. Leave them out."
            )

    @property
    def filled(self) -> bool:
        """Whether blanks are filled."""
        return bool(self.filling)

    @property
    def columns(self) -> int:
        """One histogram a question and one of the form."""
        return self.model.units

    @property
    def theorem(self) -> Theorem:
        """The theorem that holds the bound."""
        if self.filled:
            return blanks_filled_bound
        if self.model.public:
            return public_form_without_knowledge_bound if self.knowledge == "model" else public_form_bound
        return blanks_left_out_without_knowledge_bound if self.knowledge == "model" else blanks_left_out_bound

    def base(self, losses: FloatArray) -> Loss:
        """Where blanks are left out, the form moves every histogram that some forms do not have."""
        moved = 0.0 if self.filled else BLANK_SHARE * float(losses[:-1] @ self.model.gated)
        return Loss(losses) + Loss(np.append(np.zeros(self.columns - 1), moved))

    def leakage(self, losses: FloatArray) -> Leakage:
        """Bound the leakage about every answer and the form."""
        base = self.base(losses)
        return self.theorem(FilledBlanks(base, self.filling) if self.filled else base, self.model)

    def with_answers(self, model: BayesNet) -> "OnForms":
        """Say what the same histograms leak under another law of the answers."""
        return replace(self, model=replace(self.model, answers=model))

    def slopes(self, losses: FloatArray) -> FloatArray:
        """Give each answer's leakage as a sum over the losses; what filled blanks tell together is left out."""
        own = np.append(np.zeros(self.columns - 1), 1.0)
        rows = []
        for asked in self.model.asked:
            found = slopes_on_tree(self.model.answers, np.where(asked, losses[:-1], 0.0), self.knowledge)
            inside = np.hstack([found * asked, np.zeros((len(found), 1))])
            rows.append(inside[asked])
            if not self.filled and not self.model.public:
                moved = np.append(BLANK_SHARE * self.model.gated, 1.0)
                rows.append(inside[~asked] + moved)
        return np.vstack([*rows, own])


@dataclass(frozen=True, eq=False)
class Shared:
    """A loss for every histogram, what they leak together, and the weighted sum of squared noise scales."""

    losses: FloatArray
    leakage: Leakage
    cost: float


def share(terms: SharingTerms, weights: FloatArray, leakage: float | str) -> Shared:
    """Minimise Σ weight_j / loss_j² with the leakage about every unit within the target."""
    if weights.shape != (terms.columns,) or not (weights > 0).all():
        raise BadLoss(f"There are {terms.columns} histograms. Give each a weight above zero.")
    ceiling = float_below(positive_fraction(leakage, "Leakage"))
    best = within(terms, np.ones(terms.columns), weights, ceiling)
    now, idle = best, 0
    for turn in range(ROUNDS):
        slopes = pressing(terms.slopes(now.losses), now.losses)
        aim = cheapest(weights, slopes, np.full(len(slopes), ceiling))
        towards = aim if turn < DAMPED else np.sqrt(aim * now.losses)
        now = within(terms, towards, weights, ceiling)
        idle = 0 if now.cost < best.cost * (1 - ENOUGH) else idle + 1
        best = min(best, now, key=lambda one: one.cost)
        if idle == PATIENCE:
            break
    return best


def pressing(slopes: FloatArray, losses: FloatArray) -> FloatArray:
    """Keep the rows that are anywhere near the largest, and those that alone limit some loss."""
    filled = slopes @ losses
    kept = filled >= NEAR * filled.max()
    kept[np.argmax(slopes, axis=0)] = True
    return np.asarray(slopes[kept])


def within(terms: SharingTerms, shape: FloatArray, weights: FloatArray, ceiling: float) -> Shared:
    """Scale losses until they leak as much as is allowed and no more."""
    multiple = invert(lambda at: terms.leakage(shape * at).worst, ceiling)
    losses = shape * multiple
    return Shared(losses, terms.leakage(losses), float(np.sum(weights / losses**2)))


def slopes_on_tree(model: BayesNet, losses: FloatArray, knowledge: Knowledge) -> FloatArray:
    """Give the leakage about each unit of a tree as a sum over the losses, by the messages at these losses."""
    forest, frontiers = frontiers_of(model)
    odds = {} if knowledge == "model" else log_odds_of(model)
    shares: Shares = {}

    def send(j: int, i: int, held: float) -> float:
        message = contract_one(held, odds[j, i]) if odds else frontiers[j, i](held)
        shares[j, i] = message / held if held > 0 else 0.0
        return message

    forest.sweep(losses.tolist(), send, add)
    own = list(np.eye(model.units))
    return np.array(forest.sweep(own, lambda j, i, held: shares[j, i] * held, np.add))


def log_odds_of(model: BayesNet) -> dict[Link, float]:
    """Give the largest log odds ratio of each pair of neighbours, either way round."""
    graph = model.couplings.binding
    ends = graph.unit.reshape(-1, 2).tolist()
    both = zip(ends, graph.log_odds[::2].tolist(), strict=True)
    return {link: odds for (j, i), odds in both for link in ((j, i), (i, j))}
