"""Separable releases: each part reads one unit, so what is shown of several units composes."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np

from entwined.bounds.concentrated_group import epsilon_of
from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.forests import known_forest, tilted_forest
from entwined.bounds.frontier import Frontier
from entwined.bounds.kernel import Forest
from entwined.bounds.pairs import KNOWN, TILTED, ForestOf, Ways
from entwined.bounds.profiles.curves import GaussianCurve, ProfileCurve, epsilon_at_delta
from entwined.bounds.profiles.gaussian import shift_of
from entwined.bounds.profiles.passing import (
    FEW_POINTS,
    MANY,
    MOST_STEPS,
    TOGETHER,
    Algebra,
    Held,
    Sways,
    Told,
    along_chain,
    held_by,
    leakage_at,
    parts_of,
    read_rows,
    through_forest,
)
from entwined.bounds.profiles.profile import Grid
from entwined.bounds.profiles.sway import RowsSway, Sway, TiltSway
from entwined.bounds.profiles.sweeping import Sweep
from entwined.bounds.theorem import theorem
from entwined.bounds.transport import Run, passages
from entwined.dependence import Coupled, Dependence, MarkovChain
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, float_above

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
    values a, b of unit i ∈ S_c and u, v of the others in c let Δ = |log φ_c(a, u) φ_c(b, v) / φ_c(a, v) φ_c(b, u)|,
    t(γ) = (e^{Δ/2} − √γ)²/(e^Δ − 1) for γ < e^Δ and 0 beyond, and S_t δ(γ) = t(γ) δ(1 + (γ − 1)/t(γ)). With
    F_{c→i}(a, b) the largest S_t ⊗_{j∈S_c∖i} M_{j→c}(u_j, v_j) over u and v, and
    M_{j→c}(u, v) = δ_j ⊗ ⊗_{c'∋j, c'≠c} F_{c'→j}(u, v), where ⊗ composes pairs of laws that dominate,
    δ_i ⊗ ⊗_{c∋i} F_{c→i}(a, b) bounds Pr[M ∈ S | x_i = a, known] − γ Pr[M ∈ S | x_i = b, known] for all
    a, b, S and γ ≥ 1, whatever is known of other units one by one (their values, or anything that depends on one
    unit's value alone). The leakage is its ε at δ, the largest over a and b, and at most that of the group. Where
    several pairs of values are put together, the largest of theirs stands for each.

    Checked. The factors are read from the model, their graph has no cycle, zeros make Δ infinite, a class of models
    gives its largest Δ. Pairs of values are told apart in known tables of two units that are not very large; along a
    chain, in larger factors and in classes the largest Δ stands for all. Of many pairs those that hear about as much
    are put together, whatever the losses, and where very many Δ differ they are rounded up. Profiles are rounded up:
    chords between the points of a grid, and all that is cut off or lost to rounding is counted as seen. A long chain is
    followed until a ceiling holds for all that is left; one of unequal losses and over 4,000 steps is bounded with the
    largest of them everywhere.

    Trusted. The true law is the model, or a member of the class that it describes. What the adversary
    knows of several other units together, such as whether two of them are equal, is not covered unless it is
    itself a unit of the model.

    Proof. What is known of x_j alone is a weight of x_j, a factor of one unit that changes no Δ. Given x_i the
    parts behind its factors are independent of each other and of part i, so their profiles compose (Zhu, Dong,
    Wang 2022, Theorem 10, for pairs that dominate at every γ > 0; below 1 a profile follows from the other order
    of a and b, and all of these are alike in both orders). Behind φ_c the law of u = x_{S_c∖i} is p_a or p_b, in
    proportion to φ_c(a, ·) w and φ_c(b, ·) w with one weight w, and given u the parts behind the units of u are again
    independent, with profile ⊗ M_{j→c}(u_j, v_j) between u and v. For a set S, Σ (p_a − γ p_b)(u) Pr[S | u] is a
    fraction of linear functions of w less another; of all w with the same two denominators the largest is at a
    corner, where w is above zero for two values, u and v, or for one, and then the sum is 0 or less. For two its
    positive weight is t = E_γ(p_a ‖ p_b), its negative weight t + γ − 1; dividing by t, it is at most t times the
    profile between u and v at (t + γ − 1)/t, which increases with t. The largest t over such w is the one above. A
    value that a and b rule out has no weight, and one that only one of them does is the limit of positive factors.

    Source. New here. With one neighbour it is amplification by subsampling (Balle, Barthe, Gaboardi 2018).
    """
    refuse_inseparable(loss)
    if isinstance(model, MarkovChain):
        told = tilted_messages(TOGETHER, curves_of(loss, model), model)
        found = leakage_at(told, loss.largest, loss.delta, TOGETHER.fine)
    else:
        found = told_apart(loss, partial(crossed, curves_of(loss, model), model), model.units, TILTED)
    return Leakage(np.minimum(found, separable_group_bound(loss, model).per_unit))


@theorem("model", trusted=TRUSTED, needs=("separable",))
def separable_transport_bound(loss: ConcentratedLoss, model: Coupled) -> Leakage:
    """Bound what a separable release shows on a chain or tree by the exact law of each neighbour.

    Theorem. Let the units form a Markov chain, a tree or a forest with a known law, and let each part of the release
    read one unit. Let δ_j(γ) bound P(S) − γ Q(S) for any two laws P, Q of part j. For neighbours i and j, values a, b
    that x_i can take and P the law of x_j given x_i let y and z be the positive and the negative part of
    P(·|a) − γ P(·|b), and t = Σ y, so that Σ z = t + γ − 1. With M_{j→i}(u, v) = δ_j ⊗ ⊗_{k≠i} F_{k→j}(u, v), over
    the other neighbours k of j, and F_{j→i}(a, b) = Σ_{u,v} y_u z_v M_{j→i}(u, v)(1 + (γ − 1)/t) / (t + γ − 1), or the
    same for b and a where that is larger, δ_i ⊗ ⊗_j F_{j→i}(a, b) bounds Pr[M ∈ S | x_i = a] − γ Pr[M ∈ S | x_i = b]
    for all a, b that x_i can take, all S and γ ≥ 1. The leakage is its ε at δ, the largest over a and b, and at most
    that of the group. Where several pairs of values are put together, the largest of theirs stands for each.

    Checked. The model has one law, its graph has no cycle, and the kernels in both directions are computed
    from the joint law, widened by what rounding can do. Along a homogeneous chain and among over 64 units the largest t
    over all values and the largest M stand for all. Pairs are put together and profiles rounded up as for separable
    messages, and long chains are followed as there.

    Trusted. The true law is the model, its initial law included, and the adversary knows the value of no
    unit. One who knows some values may learn more than this bound says.

    Proof. As for separable messages, with the law of x_j given x_i itself in place of the worst tilt: of
    Σ (y − z)(u) Pr[S | u] let each share of y meet the same share of z, so that it is Σ y_u z_v / Σ z times
    Pr[S | u] − (Σ z / t) Pr[S | v], each within the profile between u and v. What is bounded is convex in γ, so chords
    and the largest convex curve below such bounds are bounds.

    Source. New here; with pure losses it is the transport of leakage (Cao, Yoshikawa, Xiao, Xiong 2017).
    """
    refuse_inseparable(loss)
    if isinstance(model, MarkovChain):
        told = known_messages(TOGETHER, curves_of(loss, model), model)
        found = leakage_at(told, loss.largest, loss.delta, TOGETHER.fine)
    else:
        found = told_apart(loss, partial(crossed, curves_of(loss, model), model), model.units, KNOWN)
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
    return swayed(algebra, curves, *tilted_forest(model))


def known_messages(
    algebra: Algebra[Held], curves: Sequence[ProfileCurve], model: Coupled
) -> Callable[[Grid], Told]:
    """Pass profiles along a chain or through a tree whose law is known."""
    if isinstance(model, MarkovChain):
        past, future = map(rows_of, passages(model))
        return lambda grid: along_chain(algebra, held_by(algebra, curves, grid), past, future)
    return swayed(algebra, curves, *known_forest(model))


def swayed(
    algebra: Algebra[Held], curves: Sequence[ProfileCurve], forest: Forest, sways: Sways
) -> Callable[[Grid], Told]:
    """Pass profiles through a forest, for each the worst of all values."""
    nodes = nodes_of(curves, forest)

    def passed(grid: Grid) -> Told:
        return Told(through_forest(algebra, forest, nodes, sways, grid), np.arange(len(curves)))

    return passed


def crossed(curves: Sequence[ProfileCurve], model: Coupled, forest_of: ForestOf) -> Callable[[Grid], Told]:
    """Pass profiles of pairs of values through a forest, with ⊗."""
    forest, crossings = forest_of(model)
    nodes = nodes_of(curves, forest)

    def passed(grid: Grid) -> Told:
        parts, held = parts_of([nodes], grid)
        stack, (rows,) = Sweep(forest, crossings, parts, held, [range(len(curves))]).whole()
        return Told(read_rows(stack, rows), np.arange(len(curves)))

    return passed


def rows_of(runs: Sequence[Run[Frontier]]) -> tuple[Run[Sway], ...]:
    """Give the sways of the kernels of a chain."""
    return tuple(Run(tuple(RowsSway(frontier) for frontier in run.turn), run.steps) for run in runs)


def nodes_of(curves: Sequence[ProfileCurve], forest: Forest) -> list[ProfileCurve]:
    """The curves of all nodes: the first are the units, and the others show nothing of their own."""
    return [*curves, *[NOTHING] * (len(forest.order) - len(curves))]


def told_apart(
    loss: ConcentratedLoss, told: Callable[[ForestOf], Callable[[Grid], Told]], units: int, ways: Ways
) -> FloatArray:
    """The ε of what is told; pairs of many units are told apart on a grid that the worst of all values finds."""
    whole = told(ways.of(units))
    if units <= MANY or not ways.of_many:
        return leakage_at(whole, loss.largest, loss.delta, TOGETHER.fine)
    return leakage_at(whole, loss.largest, loss.delta, FEW_POINTS, told(ways.alike))
