"""Self-avoiding walks: the messages of a small graph without what comes back to where it was."""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from entwined.bounds.contraction import contract_one
from entwined.bounds.loopy import settled_messages
from entwined.bounds.theorem import theorem
from entwined.dependence import Coupled, Couplings, MarkovChain
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray

MOST_STATES = 15_000


@dataclass(eq=False)
class Walks:
    """Leakage of a unit given that a set of units is known, remembered for each set."""

    losses: list[float]
    around: list[
        list[tuple[float, list[int], list[float]]]
    ]  # a unit's factors: Δ, the others in it, their messages
    depth: int
    remembered: dict[tuple[int, int, int], float] = field(default_factory=dict)

    def leakage(self, unit: int, known: int, depth: int) -> float:
        """ε_i + Σ_c T(Σ_j M_j; Δ_{c,i}), over unknown j in c, seen with i and the rest of c known."""
        key = (unit, known, depth)
        if key in self.remembered:
            return self.remembered[key]
        if len(self.remembered) > MOST_STATES:
            raise DoesNotApply("The graph has too many self-avoiding walks to follow.")
        total, here = self.losses[unit], known | 1 << unit
        for log_odds, others, messages in self.around[unit]:
            inside = here
            for other in others:
                inside |= 1 << other
            gathered = 0.0
            for other, message in zip(others, messages, strict=True):
                if known >> other & 1:
                    continue
                gathered += (
                    min(message, self.leakage(other, inside & ~(1 << other), depth - 1)) if depth else message
                )
            if gathered:
                total += contract_one(gathered * (1 + 4 * ULP * len(others)), log_odds)
        total = self.within_group(unit, known, total * (1 + 4 * ULP * (1 + len(self.around[unit]))))
        self.remembered[key] = total
        return total

    def within_group(self, unit: int, known: int, most: float) -> float:
        """Lower a bound to the losses of all units that can be reached from here past no known one.

        It stops as soon as they add up to the bound: most often after a few units.
        """
        reached, ahead, total = known | 1 << unit, [unit], 0.0
        while ahead:
            here = ahead.pop()
            total += self.losses[here]
            if total >= most:
                return most
            for _, others, _ in self.around[here]:
                for other in others:
                    if not reached >> other & 1:
                        reached |= 1 << other
                        ahead.append(other)
        return min(most, total * (1 + ULP * len(self.losses)))


@theorem("any")
def self_avoiding_walks_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage by messages along walks that never return, for small graphs with loops.

    Theorem. Let M(j | K) = ε_j + Σ_{c∋j} T(Σ_{k∈S_c∖j, k∉K} M(k | K ∪ S_c ∖ k); Δ_{c,j}), the sum over the
    factors of j. Then M(i | ∅) bounds the leakage of unit i, whatever the adversary knows of each other unit.
    Where a walk is cut short, the settled message of message passing stands for what is behind.

    Checked. The factors are read from the model; walks are followed as deep as their number allows.

    Trusted. The true law is the model, or a member of the class that it describes. What the adversary
    knows of several other units together, such as whether two of them are equal, is not covered unless it is
    itself a unit of the model.

    Proof. It is the induction of message passing with its known units remembered. When j is moved inside
    the factor c, all others of c are held fixed, and so are the units through which the walk came; a
    factor whose other units are all known contributes nothing. M(j | K) is also at most the losses of all
    units that j can reach without passing through K, by the group bound. It falls as K grows, so the
    bound also holds for an adversary who knows more.

    Source. New here; walks as in Weitz (2006).
    """
    couplings = model.couplings
    if isinstance(model, MarkovChain) or couplings.acyclic:
        raise DoesNotApply("The graph has no loops: message passing already follows every walk once.")
    return Leakage(walk_leakage(loss.per_unit, couplings, followed(couplings)))


@lru_cache(maxsize=8)
def followed(couplings: Couplings) -> int:
    """How deep the walks can be followed: their number is the same whatever the losses are, so none are tried."""
    for depth in (couplings.units, 6, 4, 3, 2):
        try:
            walk_leakage(np.zeros(couplings.units), couplings, depth)
        except DoesNotApply:
            continue
        return depth
    raise DoesNotApply("The graph has too many self-avoiding walks to follow; message passing covers it.")


def walk_leakage(losses: FloatArray, couplings: Couplings, depth: int) -> FloatArray:
    """Follow the walks from every unit to the given depth."""
    if couplings.units > MOST_STATES // 50:
        raise DoesNotApply("The graph is too large.")
    system, settled = settled_messages(losses, couplings)
    graph = system.graph
    outgoing = system.leakage(settled)[graph.unit] - settled
    members = np.split(np.arange(graph.unit.size), system.starts[1:])
    around: list[list[tuple[float, list[int], list[float]]]] = [[] for _ in range(couplings.units)]
    for entries in members:
        for entry in entries.tolist():
            others = entries[entries != entry]
            around[graph.unit[entry]].append(
                (float(graph.log_odds[entry]), graph.unit[others].tolist(), outgoing[others].tolist())
            )
    walks = Walks(losses.tolist(), around, depth)
    return np.array([walks.leakage(unit, 0, depth) for unit in range(couplings.units)])
