"""Messages in a network of which no more than so many ties of anyone say anything; which ones is left open."""

from typing import Final

import numpy as np

from entwined.bounds.contraction import contract
from entwined.bounds.loopy import TOLERANCE, TOLERANCE_OF_MANY, Messages
from entwined.bounds.theorem import theorem
from entwined.dependence import Graph
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, IntArray
from entwined.progress import report

MANY_MESSAGES: Final = 100_000  # these take a fifth of a second a turn, and every turn gives a bound
MOST_UPDATES: Final = 20_000_000
FEWEST_TURNS: Final = 12
MOST_TURNS: Final = 2_000


@theorem("any")
def capped_messages_bound(loss: Loss, model: Graph) -> Leakage:
    """Bound the leakage by messages along so many ties of each unit as may say anything, those that tell most.

    Theorem. Let the law of the units be proportional to a product of factors over edges of the graph, at most D of them
    at each unit, with log odds ratios of at most Δ_c; which edges these are is fixed and not known. Let T(L; Δ) = 4
    atanh(tanh(L/4) tanh(Δ/4)). Start all M_{j→c} at the sum of the losses in j's connected component of the graph and
    repeat F_{c→i} = T(M_{j→c}; Δ_c) for both ends i, j of every edge c, M_{j→c} = ε_j + the sum of the D − 1 largest of
    F_{c'→j} over the other edges c' of j. After every repetition, for every unit i, values a and b, whatever is known
    of other units one by one (their values, or anything that depends on one unit's value alone), and output set S:
    |log Pr[M ∈ S | x_i = a, known] − log Pr[M ∈ S | x_i = b, known]| ≤ ε_i + the sum of the D largest of F_{c→i}.

    Checked. Edges and strengths are read from the model, and every operation is rounded up.

    Trusted. The true law is a member of the class that the model describes: given everybody else, what a unit holds
    depends on no more than D of the units that it has an edge to, and who these are is not for values to say. A tie
    that is in the file beyond these says nothing of its own. What the adversary knows of several other units together,
    such as whether two of them are equal, is not covered unless it is itself a unit of the model.

    Proof. Let G be the edges that have a factor. Message passing on G bounds every repetition; call its messages M′ and
    F′. A component of G lies in one of the graph, so M′ ≤ M at the start, for every edge of G. T increases in both
    arguments, so M′ ≤ M gives F′ ≤ F. An edge c of G leaves j at most D − 1 others in G, so M′_{j→c} = ε_j + Σ F′ over
    these ≤ ε_j + the D − 1 largest F over all others of j. In the same way ε_i + Σ F′ over at most D edges of G at i is
    at most ε_i + the D largest. A bound that held once holds on, so the least of all repetitions may be kept.

    Source. New here; from message passing.
    """
    if model.most_ties is None:
        raise DoesNotApply('It is about graphs with a cap on ties ("most_ties"), and this one has none.')
    return Leakage(capped_leakage(loss.per_unit, model, model.most_ties))


def capped_leakage(losses: FloatArray, model: Graph, most: int) -> FloatArray:
    """Repeat from the group bound down until nothing moves any more, or enough work is done."""
    groups, graph = model.couplings.component_totals(losses), model.couplings.binding
    system = Messages(losses, graph)
    messages = contract(groups[graph.unit], graph.log_odds)
    many = messages.size > MANY_MESSAGES
    turns = max(FEWEST_TURNS, min(MOST_TURNS, MOST_UPDATES // max(messages.size, 1)))
    for turn in range(1, turns + 1):
        top, least = largest(messages, graph.unit, losses.size, most)
        heard = (losses + top) * system.slack
        outgoing = np.minimum(heard[graph.unit] - np.maximum(messages, least[graph.unit]), system.most)
        incoming = outgoing.reshape(-1, 2)[:, ::-1].reshape(-1)
        better = np.minimum(contract(incoming, graph.log_odds), messages)
        moved = float(np.max((messages - better) / np.maximum(better, 1e-300), initial=0.0))
        messages = better
        report("passing messages", turn, turns)
        if moved <= (TOLERANCE_OF_MANY if many else TOLERANCE):
            break
    top, _ = largest(messages, graph.unit, losses.size, most)
    return np.minimum((losses + top) * system.slack, groups)


def largest(messages: FloatArray, unit: IntArray, units: int, most: int) -> tuple[FloatArray, FloatArray]:
    """For each unit the sum of so many messages to it, the largest ones, and the least of these; 0 if it has fewer."""
    order = np.lexsort((-messages, unit))
    to, sorted_messages = unit[order], messages[order]
    rank = np.arange(to.size) - np.searchsorted(to, np.arange(units))[to]
    kept = rank < most
    top = np.bincount(to[kept], weights=sorted_messages[kept], minlength=units)
    least = np.zeros(units)
    least[to[rank == most - 1]] = sorted_messages[rank == most - 1]
    return np.asarray(top, np.float64), least
