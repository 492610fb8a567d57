"""What the histograms of a survey leak, as a function of one loss each: more loss for those that tell little.

A bound on a tree is a sweep of messages; with the share of each message that gets through held fixed the leakage is
linear in the losses, which is what sharing a leakage among them starts from.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np

from entwined.bounds import Knowledge
from entwined.bounds.allocate import Pressure, Shared, share
from entwined.bounds.calibrate import CLOSE
from entwined.bounds.concentrated_loss import ConcentratedLoss
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
from entwined.bounds.noise_sketch import Histograms, NoiseSketch
from entwined.bounds.pair_messages import PairsTold, pair_messages_bound, tells_apart
from entwined.bounds.separable import separable_messages_bound, separable_transport_bound
from entwined.bounds.separable_filled import FilledConcentrated, separable_blanks_filled_bound
from entwined.bounds.separable_forms import (
    CellSecrets,
    answers_shown,
    blanks_shown,
    separable_blanks_left_out_bound,
    separable_blanks_left_out_without_knowledge_bound,
    separable_public_form_bound,
    separable_public_form_without_knowledge_bound,
)
from entwined.bounds.sketched import foretold, share_by_sketches
from entwined.bounds.theorem import Theorem
from entwined.bounds.transport import add, transport_bound
from entwined.dependence import BayesNet, Forms
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, round_up

BLANK_SHARE: Final = 0.5  # leaving a respondent out moves one cell, changing an answer two

Shares: TypeAlias = dict[Link, float]


@dataclass(frozen=True, eq=False)
class OnTree:
    """Histograms of all columns of a tree."""

    model: BayesNet
    knowledge: Knowledge
    power: int = 2
    close: float = CLOSE

    @property
    def columns(self) -> int:
        """One histogram a column."""
        return self.model.units

    @property
    def start(self) -> FloatArray:
        """The same loss for every histogram."""
        return np.ones(self.columns)

    @property
    def secret_form(self) -> bool:
        """There is no form."""
        return False

    @property
    def filled(self) -> bool:
        """No cell is blank."""
        return False

    @property
    def answers(self) -> BayesNet:
        """The law of the answers."""
        return self.model

    @property
    def charged(self) -> FloatArray:
        """A histogram's loss is its column's."""
        return np.eye(self.columns)

    @property
    def secrets(self) -> tuple[CellSecrets, ...]:
        """All parts tell of each answer."""
        return (CellSecrets(np.arange(self.columns), np.ones(self.columns, dtype=bool), blank=False),)

    @property
    def theorem(self) -> Theorem:
        """The theorem that holds the bound."""
        if self.knowledge == "model":
            return transport_bound
        return pair_messages_bound if tells_apart(self.model) else message_passing_bound

    @property
    def noise_theorem(self) -> Theorem:
        """The theorem that holds the bound of Gaussian noise."""
        return separable_transport_bound if self.knowledge == "model" else separable_messages_bound

    def base(self, losses: FloatArray) -> Loss:
        """Give the base loss of every unit."""
        return Loss(losses)

    def leakage(self, losses: FloatArray) -> Leakage:
        """Bound the leakage about every answer."""
        return self.theorem(self.base(losses), self.model)

    def exposed(self, base: ConcentratedLoss) -> ConcentratedLoss:
        """What Gaussian noise of these ρ shows."""
        return base

    def shared(self, weights: FloatArray, leakage: float) -> Shared:
        """Share a leakage among the histograms."""
        return share(self, weights, leakage)

    def foretold(self, weights: FloatArray, leakage: float) -> Shared:
        """The same, which takes no time."""
        return self.shared(weights, leakage)

    def with_answers(self, model: BayesNet) -> "OnTree":
        """Say what the same histograms leak under another law of the answers."""
        return replace(self, model=model)

    def pressure(self, losses: FloatArray, ceiling: float) -> Pressure:
        """Give each answer's leakage as a sum over the losses."""
        slopes = slopes_on_tree(self.model, losses, self.knowledge)
        return Pressure(slopes, np.full(len(slopes), ceiling))


@dataclass(frozen=True, eq=False)
class OnForms:
    """Histograms of all questions of a questionnaire in forms, and of the form itself, which comes last.

    Blanks are left out of the histograms; where `filling` says by which laws, they are filled, which helps only
    against who knows no answers.
    """

    model: Forms
    knowledge: Knowledge
    filling: tuple[FloatArray, ...] = ()
    power: int = 2
    close: float = CLOSE

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
    def start(self) -> FloatArray:
        """The same loss for every histogram."""
        return np.ones(self.columns)

    @property
    def theorem(self) -> Theorem:
        """The theorem that holds the bound."""
        if self.filled:
            return blanks_filled_bound
        if self.model.public:
            return public_form_without_knowledge_bound if self.knowledge == "model" else public_form_bound
        return blanks_left_out_without_knowledge_bound if self.knowledge == "model" else blanks_left_out_bound

    @property
    def noise_theorem(self) -> Theorem:
        """The theorem that holds the bound of Gaussian noise."""
        known = self.knowledge == "model"
        if self.filled:
            return separable_blanks_filled_bound
        if self.model.public:
            return separable_public_form_without_knowledge_bound if known else separable_public_form_bound
        return separable_blanks_left_out_without_knowledge_bound if known else separable_blanks_left_out_bound

    @property
    def secret_form(self) -> bool:
        """Whether it is hidden who had which form."""
        return not self.model.public

    @property
    def answers(self) -> BayesNet:
        """The law of the answers."""
        return self.model.answers

    @property
    def charged(self) -> FloatArray:
        """Where blanks are left out, the form moves every histogram that some forms do not have."""
        found = np.eye(self.columns)
        found[-1, :-1] = 0.0 if self.filled else BLANK_SHARE * self.model.gated
        return found

    @property
    def secrets(self) -> tuple[CellSecrets, ...]:
        """By each form two answers; by what two forms share also a blank, filled ones by the form that asks."""
        answers = tuple(answers_shown(self.model))
        if self.model.public:
            return answers
        if not self.filled:
            return (*answers, *blanks_shown(self.model))
        gated = self.model.gated
        return (
            *answers,
            *(CellSecrets(np.flatnonzero(one.read & gated), one.read, blank=True) for one in answers),
        )

    def base(self, losses: FloatArray) -> Loss:
        """Give the base loss of every unit."""
        return Loss(round_up(self.charged @ losses, self.columns))

    def leakage(self, losses: FloatArray) -> Leakage:
        """Bound the leakage about every answer and the form."""
        base = self.base(losses)
        return self.theorem(FilledBlanks(base, self.filling) if self.filled else base, self.model)

    def exposed(self, base: ConcentratedLoss) -> ConcentratedLoss | FilledConcentrated:
        """What Gaussian noise of these ρ shows."""
        return FilledConcentrated(base, self.filling) if self.filled else base

    def with_answers(self, model: BayesNet) -> "OnForms":
        """Say what the same histograms leak under another law of the answers."""
        return replace(self, model=replace(self.model, answers=model))

    def shared(self, weights: FloatArray, leakage: float) -> Shared:
        """Share a leakage among the histograms."""
        return share(self, weights, leakage)

    def foretold(self, weights: FloatArray, leakage: float) -> Shared:
        """The same, which takes no time."""
        return self.shared(weights, leakage)

    def pressure(self, losses: FloatArray, ceiling: float) -> Pressure:
        """Give each answer's leakage as a sum over the losses; what filled blanks tell together is left out."""
        own = np.append(np.zeros(self.columns - 1), 1.0)
        rows = []
        for asked in self.model.asked:
            found = slopes_on_tree(self.model.answers, np.where(asked, losses[:-1], 0.0), self.knowledge)
            inside = np.hstack([found * asked, np.zeros((len(found), 1))])
            rows.append(inside[asked])
            if not self.filled and not self.model.public:
                rows.append(inside[~asked] + self.charged[-1])
        slopes = np.vstack([*rows, own])
        return Pressure(slopes, np.full(len(slopes), ceiling))


@dataclass(frozen=True, eq=False)
class UnderNoise:
    """The same histograms with Gaussian noise: a ρ each, and the ε of each answer at δ.

    Noise of variance σ² in a histogram, of which a change of an answer moves two cells by one, has ρ = 1/σ².
    """

    terms: OnTree | OnForms
    delta: Fraction
    power: int = 1
    close: float = 5e-7  # nearer than a plan asks for, so that it begins where it ends

    @property
    def columns(self) -> int:
        """One histogram a column."""
        return self.terms.columns

    @property
    def start(self) -> FloatArray:
        """The same loss for every histogram."""
        return self.terms.start

    @property
    def theorem(self) -> Theorem:
        """The theorem that holds the bound."""
        return self.terms.noise_theorem

    def base(self, losses: FloatArray) -> ConcentratedLoss:
        """Give the ρ of every unit."""
        rhos = tuple(map(Fraction, round_up(self.terms.charged @ losses, self.columns).tolist()))
        return ConcentratedLoss(rhos, len(rhos), self.delta, gaussian=True, separable=True)

    def leakage(self, losses: FloatArray) -> Leakage:
        """Bound the ε at δ of every unit."""
        return self.theorem(self.terms.exposed(self.base(losses)), self.terms.model)

    def with_answers(self, model: BayesNet) -> "UnderNoise":
        """Say what the same histograms leak under another law of the answers."""
        return replace(self, terms=self.terms.with_answers(model))

    def pressure(self, losses: FloatArray, ceiling: float) -> Pressure:
        """By the sketch."""
        return self.sketch(ceiling).pressure(losses, ceiling)

    def shared(self, weights: FloatArray, leakage: float) -> Shared:
        """Share a leakage among the histograms."""
        return share_by_sketches(self, weights, leakage)

    def foretold(self, weights: FloatArray, leakage: float) -> Shared:
        """About the same, by a first sketch."""
        return foretold(self, weights, leakage)[1]

    def sketch(self, ceiling: float, losses: FloatArray | None = None) -> NoiseSketch:
        """Pass profiles on a coarse grid near some losses, and hold them against what the theorem says of those."""
        terms = self.terms
        about = Histograms(
            terms.answers,
            terms.knowledge,
            terms.secrets,
            terms.charged,
            self.delta,
            ceiling,
            terms.secret_form,
        )
        near = about.start if losses is None else losses
        if not terms.filled:
            return about.near(near)
        if losses is None:
            near = near * (ceiling / self.leakage(near).worst) ** 2
        return about.near(near, self.leakage(near))


def slopes_on_tree(model: BayesNet, losses: FloatArray, knowledge: Knowledge) -> FloatArray:
    """Give the leakage about each unit of a tree as a sum over the losses, by the messages at these losses."""
    if knowledge != "model" and tells_apart(model):
        return PairsTold.of(losses, model).slopes
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
