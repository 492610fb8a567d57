"""The smallest valid leakage over all theorems, and what each of the others says."""

from dataclasses import dataclass
from typing import Any

from entwined.bounds.elimination import elimination_bound, elimination_without_knowledge_bound
from entwined.bounds.forms import (
    blanks_left_out_bound,
    blanks_left_out_without_knowledge_bound,
    public_form_bound,
    public_form_without_knowledge_bound,
)
from entwined.bounds.gaussian import GAUSSIAN_THEOREMS
from entwined.bounds.group import group_bound
from entwined.bounds.influence import influence_matrix_bound
from entwined.bounds.markov import markov_closed_form_bound
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.pairwise import pairwise_bound, pairwise_scale_bound
from entwined.bounds.quilt import markov_quilt_bound, tree_quilt_bound
from entwined.bounds.theorem import Knowledge, Theorem
from entwined.bounds.tilted import tilted_transport_bound
from entwined.bounds.transport import transport_bound
from entwined.bounds.walks import self_avoiding_walks_bound
from entwined.dependence import Dependence
from entwined.errors import BadInput, DoesNotApply, NoTheorem
from entwined.loss import Leakage, Loss

THEOREMS: tuple[Theorem[Any], ...] = (
    message_passing_bound,
    group_bound,
    self_avoiding_walks_bound,
    influence_matrix_bound,
    tilted_transport_bound,
    transport_bound,
    markov_closed_form_bound,
    markov_quilt_bound,
    tree_quilt_bound,
    elimination_bound,
    elimination_without_knowledge_bound,
    pairwise_bound,
    pairwise_scale_bound,
    blanks_left_out_bound,
    blanks_left_out_without_knowledge_bound,
    public_form_bound,
    public_form_without_knowledge_bound,
    *GAUSSIAN_THEOREMS,
)


@dataclass(frozen=True, slots=True)
class Said:
    """What one theorem says of a model: a leakage, or why it does not apply."""

    theorem: Theorem[Any]
    leakage: Leakage | None
    why_not: str | None


@dataclass(frozen=True, slots=True)
class Bound:
    """The leakage of a loss under a model, with the theorem that proves it and what the others say."""

    model: Dependence
    loss: Loss
    knowledge: Knowledge
    theorem: Theorem[Any]
    leakage: Leakage
    alternatives: tuple[Said, ...]


def bound(model: Dependence, loss: Loss, knowledge: Knowledge = "any") -> Bound:
    """Bound what an adversary who knows the dependence learns about each unit.

    >>> from entwined.dependence import Box, MarkovChain
    >>> chain = MarkovChain(100, Box.exact([[0.9, 0.1], [0.1, 0.9]]))
    >>> found = bound(chain, Loss.uniform(0.1, units=100))
    >>> found.theorem.name, round(found.leakage.worst, 3)
    ('message passing', 0.893)
    """
    said = tuple(ask(theorem, model, loss, knowledge) for theorem in THEOREMS)
    best: Said | None = None
    for one in said:
        if one.leakage is not None and (best is None or one.leakage.worst < best_worst(best)):
            best = one
    if best is None or best.leakage is None:
        raise NoTheorem(
            f"No theorem bounds this {model.kind} model: "
            + " ".join(f"{one.theorem.name}: {one.why_not}" for one in said)
        )
    others = tuple(one for one in said if one is not best)
    return Bound(model, loss, knowledge, best.theorem, best.leakage, others)


def best_worst(said: Said) -> float:
    """The leakage of what was said."""
    return said.leakage.worst if said.leakage is not None else float("inf")


def ask(theorem: Theorem[Any], model: Dependence, loss: Loss, knowledge: Knowledge) -> Said:
    """Ask one theorem."""
    if not theorem.covers(knowledge):
        return Said(theorem, None, not_covered(theorem))
    try:
        return Said(theorem, theorem(loss, model), None)
    except DoesNotApply as reason:
        return Said(theorem, None, str(reason))


def not_covered(theorem: Theorem[Any]) -> str:
    """Say which adversary a theorem is about."""
    knows = "the values of other units or nothing of them" if theorem.knowledge == "values" else "no values"
    return f"It covers only an adversary who knows {knows}; ask with knowledge {theorem.knowledge!r}."


def named(name: str) -> Theorem[Any]:
    """Look a theorem up by its name."""
    for theorem in THEOREMS:
        if theorem.name == name:
            return theorem
    raise BadInput(
        f"There is no theorem {name!r}. The theorems are: {', '.join(known.name for known in THEOREMS)}."
    )
