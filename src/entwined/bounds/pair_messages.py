"""Message passing on trees where each pair of values has a message of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from entwined.bounds.contraction import contract
from entwined.bounds.flow import Flow
from entwined.bounds.forests import tilted_forest
from entwined.bounds.kernel import Forest, Link
from entwined.bounds.pairs import pair_odds, tables_of
from entwined.bounds.theorem import theorem
from entwined.dependence import Coupled
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, IntArray, round_up


@theorem("any")
def pair_messages_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage by a message for each pair of values, whatever an adversary knows of each other unit.

    Theorem. Let the law of the units be proportional to a product of factors over single units and pairs of units
    whose graph has no cycle. For neighbours i and j, values a, b of x_i and u, v of x_j let
    Δ = |log φ(a, u) φ(b, v) / φ(a, v) φ(b, u)| and T(L; Δ) = 4 atanh(tanh(L/4) tanh(Δ/4)). With
    F_{j→i}(a, b) = max over u, v of T(M_{j→i}(u, v); Δ) and M_{j→i}(u, v) = ε_j + Σ_{k≠i} F_{k→j}(u, v), over the other
    neighbours k of j, for every unit i, values a and b, whatever is known of other units one by one (their values, or
    anything that depends on one unit's value alone), and output set S:
    |log Pr[M ∈ S | x_i = a, known] − log Pr[M ∈ S | x_i = b, known]| ≤ ε_i + Σ_j F_{j→i}(a, b).

    Checked. Every table of two units is known, their graph has no cycle, zeros make Δ infinite, and every operation is
    rounded up.

    Trusted. The true law is the model. What the adversary knows of several other units together, such as whether two of
    them are equal, is not covered unless it is itself a unit of the model.

    Proof. What is known of x_j alone is a weight of x_j. Given x_i what lies behind its neighbours is independent, so
    move x_i from a to b in the mechanism (at most ε_i) and then in one branch at a time: the likelihood of the output,
    averaged over the other branches, still changes by a factor of at most e^{ε_k} where x_k alone does. In the branch
    of j it is, averaged over all behind x_j = u, a number h(u), and log h(u)/h(v) is at most M_{j→i}(u, v) by induction
    on the size of the branch. The law of u is in proportion to φ(a, ·) w or φ(b, ·) w with one weight w, so the ratio
    of the two means of h is a fraction of linear functions of w; of all w with the same two totals it is largest at a
    corner, where w is above zero for two values u and v at most. There it is at most T(|log h(u)/h(v)|; Δ), as for
    message passing.

    Source. New here; T is Birkhoff (1957). For units of two values it is message passing.
    """
    return Leakage(PairsTold.of(loss.per_unit, model).worst)


@dataclass(frozen=True, eq=False)
class PairsTold:
    """What each pair of each unit holds in the end, and what links took and gave."""

    forest: Forest
    held: Sequence[FloatArray]
    took: Mapping[Link, FloatArray]
    gave: Mapping[Link, FloatArray]
    origin: Mapping[Link, IntArray]

    @classmethod
    def of(cls, losses: FloatArray, model: Coupled) -> "PairsTold":
        """Pass messages to the roots and back."""
        forest, odds = odds_of(model)
        took: dict[Link, FloatArray] = {}
        gave: dict[Link, FloatArray] = {}
        origin: dict[Link, IntArray] = {}

        def send(links: Sequence[Link], held: Sequence[FloatArray]) -> list[FloatArray]:
            for link, one in zip(links, held, strict=True):
                each = contract(np.broadcast_to(round_up(one), odds[link].shape), odds[link])
                origin[link] = each.argmax(axis=1)
                took[link] = np.broadcast_to(one, odds[link].shape[1:])[origin[link]]
                gave[link] = each.max(axis=1)
            return [gave[link] for link in links]

        own = [np.array([loss]) for loss in losses.tolist()]
        held = forest.sweep_levels(own, send, lambda one, other: round_up(one + other))
        return cls(forest, held, took, gave, origin)

    @property
    def worst(self) -> FloatArray:
        """The most of each unit."""
        return round_up(np.array([one.max() for one in self.held]))

    @property
    def slopes(self) -> FloatArray:
        """The most of each unit as a sum over the losses, by the share of each message that gets through here."""
        gain = {
            link: np.divide(gave, self.took[link], out=np.zeros(gave.size), where=self.took[link] > 0)
            for link, gave in self.gave.items()
        }
        loudest = np.array([int(np.argmax(one)) for one in self.held], np.int64)
        return Flow(self.forest, gain, self.origin).slopes(np.arange(loudest.size), loudest)


@lru_cache(maxsize=4)
def odds_of(model: Coupled) -> tuple[Forest, Mapping[Link, FloatArray]]:
    """The forest of a model, and the log odds of pairs of values of neighbours."""
    tables = tables_of(model)
    if max((max(table.shape) for table in tables.values()), default=0) <= 2:  # noqa: PLR2004  (one pair each)
        raise DoesNotApply(
            "It tells pairs of values apart where tables of two units are known, and here there are none or all "
            "units have two values. Message passing says as much."
        )
    forest, sways = tilted_forest(model)
    if not sways.keys() <= tables.keys():
        raise DoesNotApply(
            "Some tables hold three units, very many values or a class of laws. Message passing covers them."
        )
    return forest, {link: pair_odds(tables[link]) for link in sways}


def tells_apart(model: Coupled) -> bool:
    """Whether there is more to say of pairs of values than message passing does."""
    try:
        odds_of(model)
    except DoesNotApply:
        return False
    return True
