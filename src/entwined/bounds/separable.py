"""Separable releases: each part reads one unit, so what is shown of several units composes."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from entwined.bounds.concentrated_group import epsilon_of
from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.frontier import Frontier
from entwined.bounds.kernel import Forest, Link, breadth_first, frontiers_of
from entwined.bounds.profiles.curves import GaussianCurve, ProfileCurve, epsilon_at_delta
from entwined.bounds.profiles.gaussian import shift_of
from entwined.bounds.profiles.passing import (
    MOST_STEPS,
    TOGETHER,
    Algebra,
    Held,
    Sways,
    Told,
    along_chain,
    held_by,
    leakage_at,
    through_forest,
)
from entwined.bounds.profiles.profile import Grid
from entwined.bounds.profiles.sway import RowsSway, Sway, TiltSway
from entwined.bounds.theorem import theorem
from entwined.bounds.transport import Run, passages
from entwined.dependence import Coupled, Couplings, Dependence, MarkovChain
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, float_above

MOST_ENTRIES = 20_000
NOTHING: Final = GaussianCurve(0.0)
TRUSTED = (
    "The release is one batch of parts with independent noise, fixed before anything was seen, and each part "
    "reads one unit alone."
)


@theorem("any", trusted="Each part of the release reads one unit alone.", needs=("separable",))
def separable_group_bound(loss: ConcentratedLoss, model: Dependence) -> Leakage:
    """Bound what a separable release shows of a unit by all parts that read its group.

    Theorem. Let units have a bearing on each other only inside groups that are independent of each other, and let
    each part of the release read one unit, and be ρ-zCDP (or Gaussian noise of that ρ) whatever was seen before; which
    parts there are may depend on what was seen, but for each unit j their ρ never add up to more than ρ_j. Then for
    every unit i, values a and b, whatever is known of other units one by one, and every event S:
    Pr[M ∈ S | x_i = a, known] ≤ exp(ε) · Pr[M ∈ S | x_i = b, known] + δ, where ε is that of ρ = Σ ρ_j over i's
    group at δ: of ρ-zCDP, or exactly of Gaussian noise with μ = √(2ρ). It is enough that the ρ of all parts of a group
    together never add up to more than that.

    Checked. The groups are the connected components of the model, or the declared largest size with the largest
    losses in it; ε is rounded up.

    Trusted. Units in different groups are independent, and no group is larger than declared.

    Proof. Given x_i and what is known of single units, only the rest of the group has a law that depends on x_i.
    Both laws of M are mixtures over the values of the group. For any two of these each part shows what its unit's
    change makes it show, and parts compose, also if they are chosen as one goes within a fixed total: zCDP (Feldman,
    Zrnic 2021) and Gaussian noise (Smith, Thakurta 2022). Mixtures are no further apart.

    Source. New here as a statement about dependence; composition is Bun and Steinke's (2016), the Gaussian profile
    Balle and Wang's (2018).
    """
    refuse_inseparable(loss)
    if loss.common is not None:
        each = Loss(np.broadcast_to(np.float64(float_above(loss.common)), (loss.units,)))
    else:
        each = Loss(np.array([float_above(rho) for rho in loss.rhos]))
    return Leakage(wholes(loss, model.group_totals(each)))


@theorem("any", trusted=TRUSTED, needs=("separable",))
def separable_messages_bound(loss: ConcentratedLoss, model: Coupled) -> Leakage:
    """Bound what a separable release shows by messages of profiles, whatever is known of each other unit.

    Theorem. Let the law of the units be proportional to a product of factors φ_c whose graph has no cycle, and let
    each part of the release read one unit. Let δ_j(γ) bound P(S) − γ Q(S) for any two laws P, Q of part j. For
    i ∈ S_c let Δ_{c,i} be the largest range, over the other units of c, of log φ_c(a, ·) − log φ_c(b, ·), let
    t(γ) = (e^{Δ/2} − √γ)²/(e^Δ − 1) for γ < e^Δ and 0 beyond, and S_t δ(γ) = t(γ) δ(1 + (γ − 1)/t(γ)). With
    F_{c→i} = S_t ⊗_{j∈S_c∖i} M_{j→c} and M_{j→c} = δ_j ⊗ ⊗_{c'∋j, c'≠c} F_{c'→j}, where ⊗ composes pairs of laws
    that dominate, δ_i ⊗ ⊗_{c∋i} F_{c→i} bounds Pr[M ∈ S | x_i = a, known] − γ Pr[M ∈ S | x_i = b, known] for all
    a, b, S and γ ≥ 1, whatever is known of other units one by one (their values, or anything that depends on one
    unit's value alone). The leakage is its ε at δ, and at most that of the group.

    Checked. The factors are read from the model, their graph has no cycle, zeros make Δ infinite, a class of models
    gives its largest Δ. Profiles are rounded up: chords between the points of a grid, and all that is cut off or
    lost to rounding is counted as seen. A long chain is followed until a ceiling holds for all that is left; one of
    unequal losses and over 4,000 steps is bounded with the largest of them everywhere.

    Trusted. The true law is the model, or a member of the class that it describes. What the adversary
    knows of several other units together, such as whether two of them are equal, is not covered unless it is
    itself a unit of the model.

    Proof. What is known of x_j alone is a weight of x_j, a factor of one unit that changes no Δ. Given x_i the
    parts behind its factors are independent of each other and of part i, so their profiles compose (Zhu, Dong,
    Wang 2022, Theorem 10, for pairs that dominate at every γ > 0; below 1 a profile follows from the other order
    of a and b). Behind φ_c the law of u = x_{S_c∖i} is p_a or p_b, whose ratio has a log of range at most Δ, and
    given u the parts behind the units of u are again independent, with profile ⊗ M_{j→c} between any two u.
    Σ (p_a − γ p_b)(u) Pr[S | u] has positive weight t = E_γ(p_a ‖ p_b) and negative weight t + γ − 1; dividing by
    t, it is at most t times the profile at (t + γ − 1)/t, which increases with t. The largest t over such ratios
    has two values, r and r e^{−Δ}, and is the t above. Zeros follow as limits of positive factors.

    Source. New here. With one neighbour it is amplification by subsampling (Balle, Barthe, Gaboardi 2018).
    """
    refuse_inseparable(loss)
    told = tilted_messages(TOGETHER, curves_of(loss, model), model)
    found = leakage_at(told, loss.largest, loss.delta, TOGETHER.fine)
    return Leakage(np.minimum(found, separable_group_bound(loss, model).per_unit))


@theorem("model", trusted=TRUSTED, needs=("separable",))
def separable_transport_bound(loss: ConcentratedLoss, model: Coupled) -> Leakage:
    """Bound what a separable release shows on a chain or tree by the exact law of each neighbour.

    Theorem. Let the units form a Markov chain, a tree or a forest with a known law, and let each part of the release
    read one unit. Let δ_j(γ) bound P(S) − γ Q(S) for any two laws P, Q of part j. For neighbours i and j let
    t(γ) be the largest Σ_v (P(v|a) − γ P(v|b))₊ over values a, b that x_i can take, P the law of x_j given x_i,
    and S_t δ(γ) = t(γ) δ(1 + (γ − 1)/t(γ)). With F_{j→i} = S_t (δ_j ⊗ ⊗_{k≠i} F_{k→j}), over the other neighbours
    k of j, δ_i ⊗ ⊗_j F_{j→i} bounds Pr[M ∈ S | x_i = a] − γ Pr[M ∈ S | x_i = b] for all a, b that x_i can take,
    all S and γ ≥ 1. The leakage is its ε at δ, and at most that of the group.

    Checked. The model has one law, its graph has no cycle, and the kernels in both directions are computed
    from the joint law, widened by what rounding can do. Profiles are rounded up as for separable messages, and long
    chains are followed as there.

    Trusted. The true law is the model, its initial law included, and the adversary knows the value of no
    unit. One who knows some values may learn more than this bound says.

    Proof. As for separable messages, with the law of x_j given x_i itself in place of the worst tilt.

    Source. New here; with pure losses it is the transport of leakage (Cao, Yoshikawa, Xiao, Xiong 2017).
    """
    refuse_inseparable(loss)
    told = known_messages(TOGETHER, curves_of(loss, model), model)
    found = leakage_at(told, loss.largest, loss.delta, TOGETHER.fine)
    return Leakage(np.minimum(found, separable_group_bound(loss, model).per_unit))


def refuse_inseparable(loss: ConcentratedLoss) -> None:
    """Refuse a release of which nothing says that each part reads one unit."""
    if not loss.separable:
        raise DoesNotApply(
            "Nothing says that each part of the release reads one unit alone. Say so if it is so (--separable)."
        )


def wholes(loss: ConcentratedLoss, totals: FloatArray, more: Fraction = Fraction(0)) -> FloatArray:
    """The ε at δ of groups with these losses in all, and what each of them has beside."""
    found, place = np.unique(totals, return_inverse=True)
    return np.array([whole(loss, Fraction(rho) + more) for rho in found.tolist()])[place]


def whole(loss: ConcentratedLoss, rho: Fraction) -> float:
    """The ε of all parts of a group at δ."""
    if loss.gaussian:
        return epsilon_at_delta(GaussianCurve(shift_of(rho)), loss.delta)
    return epsilon_of(rho, loss.delta)


def curves_of(loss: ConcentratedLoss, model: Coupled) -> list[ProfileCurve]:
    """Give one curve a unit; on a very long chain of unequal losses the largest everywhere."""
    if len(loss.curves) == model.units <= MOST_STEPS or not isinstance(model, MarkovChain):
        return list(loss.curves) * (1 if len(loss.curves) == model.units else model.units)
    return [loss.curve(max(loss.rhos))] * model.units


def tilted_messages(
    algebra: Algebra[Held], curves: Sequence[ProfileCurve], model: Coupled
) -> Callable[[Grid], Told]:
    """Pass profiles along a chain or through a forest of factors, each tilted as far as its log odds allow."""
    if isinstance(model, MarkovChain):
        step: Sway = TiltSway(model.log_odds)
        runs = (Run((step,), model.length - 1),)
        return lambda grid: along_chain(algebra, held_by(algebra, curves, grid), runs, runs)
    return swayed_messages(algebra, curves, *tilted_forest(model))


def known_messages(
    algebra: Algebra[Held], curves: Sequence[ProfileCurve], model: Coupled
) -> Callable[[Grid], Told]:
    """Pass profiles along a chain or through a tree whose law is known."""
    if isinstance(model, MarkovChain):
        past, future = map(rows_of, passages(model))
        return lambda grid: along_chain(algebra, held_by(algebra, curves, grid), past, future)
    return swayed_messages(algebra, curves, *known_forest(model))


def swayed_messages(
    algebra: Algebra[Held], curves: Sequence[ProfileCurve], forest: Forest, sways: Sways
) -> Callable[[Grid], Told]:
    """Pass profiles through a forest whose first nodes are the units; the others show nothing of their own."""
    nodes = [*curves, *[NOTHING] * (len(forest.order) - len(curves))]

    def passed(grid: Grid) -> Told:
        return Told(through_forest(algebra, forest, nodes, sways, grid), np.arange(len(curves)))

    return passed


def tilted_forest(model: Coupled) -> tuple[Forest, Sways]:
    """The forest of a model and how far each neighbour is tilted at most."""
    if not model.couplings.acyclic:
        raise DoesNotApply(
            "Units depend on each other in a cycle, and these messages need a forest of factors."
        )
    return factor_forest(model.couplings.binding)


def known_forest(model: Coupled) -> tuple[Forest, Sways]:
    """The tree of a model and the law of each neighbour."""
    forest, frontiers = frontiers_of(model)
    return forest, {link: RowsSway(frontier) for link, frontier in frontiers.items()}


def rows_of(runs: Sequence[Run[Frontier]]) -> tuple[Run[Sway], ...]:
    """Give the sways of the kernels of a chain."""
    return tuple(Run(tuple(RowsSway(frontier) for frontier in run.turn), run.steps) for run in runs)


def factor_forest(graph: Couplings) -> tuple[Forest, Sways]:
    """Units and, after them, factors of three units or more as the nodes; what a factor passes on is tilted."""
    if graph.unit.size > MOST_ENTRIES:
        raise DoesNotApply(f"{graph.unit.size:,} units in factors take long; the most is {MOST_ENTRIES:,}.")
    inside: dict[int, list[tuple[int, float]]] = {}
    for unit, factor, odds in zip(
        graph.unit.tolist(), graph.factor.tolist(), graph.log_odds.tolist(), strict=True
    ):
        inside.setdefault(factor, []).append((unit, odds))
    links: list[Link] = []
    sways: dict[Link, Sway] = {}
    nodes = graph.units
    for entries in inside.values():
        if len(entries) == 2:  # noqa: PLR2004  (a pair needs no node between)
            (one, mine), (other, its) = entries
            links.append((one, other))
            sways |= {(other, one): TiltSway(mine), (one, other): TiltSway(its)}
        else:
            links += [(unit, nodes) for unit, _ in entries]
            sways |= {(nodes, unit): TiltSway(odds) for unit, odds in entries}
            nodes += 1
    order, parent = breadth_first(nodes, links)
    return Forest(order, parent, (), {}, 0.0), sways
