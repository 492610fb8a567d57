"""Where people are: what leaks for each unit of distance, where log odds over a whole city would say nothing."""

from typing import Final

import numpy as np

from entwined.bounds.carried import carried
from entwined.bounds.contraction import contract
from entwined.bounds.distance_loss import DistanceLoss
from entwined.bounds.loopy import settled_messages
from entwined.bounds.street_odds import street_odds
from entwined.bounds.theorem import Secret, theorem
from entwined.bounds.trees import rooted
from entwined.dependence import Couplings
from entwined.dependence.city import City
from entwined.errors import DoesNotApply
from entwined.loss import Leakage
from entwined.numbers import ULP, FloatArray, round_up

A_DISTANCE_APART: Final = Secret(
    between="any two places of any one unit",
    per=" for each unit of distance between the two places",
    trusted="Distances are along the streets of the grid, between the middles of its cells: two places in one cell "
    "are one.",
)
MOST_REPEATS: Final = 40
HARDLY: Final = 1e-6
STREETS: Final = 800  # ways in which two places of a city can lie to each other, or so
MOST_WORK: Final = 40_000_000  # messages times such ways, for which rates are worked out


@theorem("any", secret=A_DISTANCE_APART)
def places_messages_bound(loss: DistanceLoss, model: City) -> Leakage:
    """Bound what places leak for each unit of distance by messages whose last step is a short one.

    Theorem. Let the law of people's cells be proportional to a product of factors over ties, and let the mechanism
    lose λ_j for each unit of distance of unit j. Let D be the longest distance of the city, Δ the log odds of a tie
    between any two cells, and M_{j→i} the messages of message passing for losses λ_j D and log odds Δ. Let Δ_s(r) be
    the largest log odds of a tie between two neighbouring cells of one, a step of length s apart, and two cells of the
    other at distance r. Start all Λ_{j→i} at ∞ and repeat F_{j→i} = max_{s, r} T(min(M_{j→i}, Λ_{j→i} r); Δ_s(r))/s, T
    as for message passing, Λ_{j→i} = λ_j + Σ F_{k→j} over all k tied to j but i. After every repetition, for two cells
    of unit i at distance d, whatever is known of other units one by one, the leakage is at most d (λ_i + Σ_{j tied to
    i} F_{j→i}).

    Checked. All log odds are worked out from the kernel, and every operation is rounded up. Repetitions stop where they
    hardly help.

    Trusted. The true law is the model. What the adversary knows of several other units together, such as whether two of
    them are at the same place, is not covered.

    Proof. Walk from one cell to the other in steps to neighbouring cells: their lengths add up to d, and leakages of
    the steps add up at most. For one step, move unit i in the mechanism (λ_i s) and then in one factor at a time. By
    the proof of message passing, moving it in the factor of a tie to j tilts the law q of x_j by v = e^g, and the
    likelihood of the output, averaged over all that is behind, is a function h of x_j whose log has a range of at most
    M_{j→i}, because λ_j D bounds the loss of any two cells of unit j, and changes by at most Λ_{j→i} for each unit of
    distance, which is this theorem for j with x_i known, by induction as there. The tilt changes the average of h by a
    factor of E[hv]/(E[h] E[v]), E over q. Let q be where it is largest, and it above 1. There hv/E[hv] − h/E[h] −
    v/E[v] is the same for all cells of positive chance: their points (h, v) lie on a hyperbola. Along η with Σ η = 0
    the second derivative of the log is −2 (Σ η h/E[h]) (Σ η v/E[v]), so the two sums have the same sign for all such
    η, and the points lie on a line: there are two of them. For two cells y, y' the factor is at most exp T(|log
    h(y)/h(y')|; |g(y) − g(y')|).

    Source. New here; messages as in message passing, steps as in geo-indistinguishability (Andrés et al. 2013).
    """
    longest = float(model.grid.distances().max())
    system, messages = settled_messages(round_up(loss.each.per_unit * longest, 2), model.couplings)
    graph = system.graph
    heard = _swapped(np.minimum(system.leakage(messages)[graph.unit] - messages, system.most))
    told = _told(heard, np.full(heard.size, np.inf), model)
    for _ in range(MOST_REPEATS if told.size * STREETS <= MOST_WORK else 0):
        leaked = _leaked(loss, told, graph)
        rates = _swapped(np.maximum(leaked[graph.unit] - told, loss.each.per_unit[graph.unit]))
        better = np.minimum(_told(heard, rates, model), told)
        told, moved = better, float(np.max(told - better, initial=0.0))
        if moved <= HARDLY * float(np.max(better, initial=0.0)):
            break
    return Leakage(_leaked(loss, told, graph))


def _leaked(loss: DistanceLoss, told: FloatArray, graph: Couplings) -> FloatArray:
    """λ_i + Σ_j F_{j→i}."""
    added = np.bincount(graph.unit, weights=told, minlength=graph.units)
    ties = np.bincount(graph.unit, minlength=graph.units)
    return (loss.each.per_unit + added) * (1 + ULP * (ties + 8.0))


def _swapped(sent: FloatArray) -> FloatArray:
    """What each end of a tie hears of the other."""
    return sent.reshape(-1, 2)[:, ::-1].reshape(-1)


def _told(ranges: FloatArray, rates: FloatArray, city: City) -> FloatArray:
    """F for messages of these ranges and rates, for each unit of distance, rounded up."""
    pairs, place = np.unique(np.stack([ranges, rates]), axis=1, return_inverse=True)
    found = np.zeros(pairs.shape[1])
    for odds in street_odds(city):
        ways = zip(odds.distances.tolist(), odds.log_odds.tolist(), strict=True)
        if np.isinf(rates).all():  # then the range alone counts, whatever the way
            ways = zip([1.0], [float(odds.log_odds.max())], strict=True)
        for apart, log_odds in ways:
            logs = np.minimum(pairs[0], pairs[1] * apart)
            found = np.maximum(found, contract(logs, np.full(logs.size, log_odds)) / odds.length)
    return round_up(found)[place.reshape(-1)]


@theorem("model", secret=A_DISTANCE_APART)
def places_transport_bound(loss: DistanceLoss, model: City) -> Leakage:
    """Bound what places leak for each unit of distance by what a kernel carries on of Lipschitz likelihoods.

    Theorem. Let ties be a forest, let P(· | a) be the law of someone's cell given the cell a of one tied to them, in
    both directions of every tie, and let the mechanism lose λ_j for each unit of distance of unit j. Let c(Λ) be the
    largest log Σ_y P(y | a) f(y) / Σ_y P(y | b) f(y), divided by the length of the step from a to b, over all pairs of
    neighbouring cells and all f ≥ 0 that no step of length s changes by more than a factor of e^{Λs}. With Λ_{j→i} =
    λ_j + Σ c(Λ_{k→j}) over all k tied to j but i, the leakage of two cells of unit i at distance d, to one who knows
    no places, is at most d (λ_i + Σ_{j tied to i} c(Λ_{j→i})). For a unit whose tied ones are tied to no one else no
    smaller c holds for every such mechanism.

    Checked. Ties are a forest. c is proved by numbers that any linear program may have suggested, as `carried` says;
    rates are rounded up by at most a sixteenth of a factor of two, and figures to six digits.

    Trusted. The adversary knows nobody's place: one who does can learn more. The true law is the model: along every tie
    places follow the kernel in both directions, which holds where people are in a cell in proportion to the sum of its
    factors.

    Proof. Let h_j(y) be the likelihood of the output in the part of the forest behind j as seen from i, given x_j = y.
    By induction no step of length s changes h_j by more than e^{Λ_{j→i} s}: the mechanism's part changes by at most
    e^{λ_j s}, and each part behind is Σ_z P(z | y) h_k(z), which one step of y changes by at most e^{c(Λ_{k→j}) s}.
    Parts behind different units are independent given x_j, so factors multiply and logs add. The same step for unit i
    gives the theorem, and steps add up to d. That c is the largest log ratio of all likelihoods is its definition, and
    any f with values in 0 … 1 is the chance of an output of some mechanism.

    Source. New here; for small Λ it is the contraction of Wasserstein's distance by a kernel (Dobrushin 1970), for
    which c(Λ) ≤ Λ W₁ e^{ΛD}.
    """
    couplings = model.couplings
    if not couplings.acyclic:
        raise DoesNotApply(
            "The ties go round in circles; what is told twice is not bounded by a walk down a tree."
        )
    forest = rooted(couplings)
    own, parent = np.append(loss.each.per_unit, 0.0)[forest.order].tolist(), forest.parent.tolist()
    tied = (forest.log_odds > 0).tolist()
    found = np.empty(len(own))
    found[forest.order] = _swept(own, parent, tied, model)
    return Leakage(found[:-1])


def _swept(own: list[float], parent: list[int], tied: list[bool], model: City) -> FloatArray:
    """Pass rates up to the roots and back down; the added root is tied to no one."""
    slack = 1 + 4 * (len(own) + 4) * ULP
    collected, upward, downward = own.copy(), [0.0] * len(own), [0.0] * len(own)
    for node in range(len(own) - 1, 0, -1):
        upward[node] = carried(model, collected[node] * slack) if tied[node] else 0.0
        collected[parent[node]] += upward[node]
    for node in range(1, len(own)):
        above = parent[node]
        rate = (collected[above] + downward[above]) * slack - upward[node]
        downward[node] = carried(model, rate) if tied[node] else 0.0
    return round_up(np.array(collected) + np.array(downward), 4.0 * (len(own) + 4))
