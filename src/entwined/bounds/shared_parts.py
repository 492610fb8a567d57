"""Releases of which some parts read several units that depend on each other, such as a table of two questions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.forests import known_forest, tilted_forest
from entwined.bounds.kernel import ROOT, Forest, Link, breadth_first
from entwined.bounds.profiles.across import across
from entwined.bounds.profiles.composition import Composition
from entwined.bounds.profiles.curves import GaussianCurve, ProfileCurve
from entwined.bounds.profiles.passing import TOGETHER, Sways, Told, held_by, leakage_at
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.profiles.sway import Sway, TiltSway
from entwined.bounds.separable import wholes
from entwined.bounds.theorem import theorem
from entwined.dependence import Coupled, Dependence
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import float_above

TRUSTED = (
    "The release is one batch of parts with independent noise, fixed before anything was seen, and each part reads one "
    "unit alone, or the units that are named for it."
)
PAIR = 2


@theorem("any", trusted=TRUSTED, needs=("shared",))
def shared_group_bound(loss: ConcentratedLoss, model: Dependence) -> Leakage:
    """Bound what parts of one or more units show of a unit by all parts that read its group.

    Theorem. Let units have a bearing on each other only inside groups that are independent of each other, and let
    each part of the release be ρ-zCDP (or Gaussian noise of that ρ) whichever of the units that it reads change. Then
    for every unit i, values a and b, whatever is known of other units one by one, and every event S:
    Pr[M ∈ S | x_i = a, known] ≤ exp(ε) · Pr[M ∈ S | x_i = b, known] + δ, where ε is that of the sum of ρ over all parts
    that read a unit of i's group, at δ: of ρ-zCDP, or exactly of Gaussian noise with μ = √(2ρ).

    Checked. The groups are the connected components of the model, or the declared largest size with the largest
    losses in it; then all parts of several units count for each group. ε is rounded up.

    Trusted. Units in different groups are independent, and no group is larger than declared.

    Proof. As for the separable group: given what the group's units are, and everything else, the parts are
    independent, and only those that read the group change.

    Source. New here as a statement about dependence.
    """
    refuse_nothing_shared(loss)
    own = Loss(np.array([float_above(rho) for rho in loss.own]))
    if not isinstance(model, Coupled):
        return Leakage(
            wholes(loss, model.group_totals(own), sum((part.rho for part in loss.shared), Fraction(0)))
        )
    labels = model.couplings.components
    extra = np.zeros(int(labels.max()) + 1)
    for part in loss.shared:
        touched = np.unique(labels[list(part.units)])
        extra[touched] = (extra[touched] + float_above(part.rho)) * (1 + 4e-16)
    return Leakage(wholes(loss, (model.group_totals(own) + extra[labels]) * (1 + 4e-16)))


@theorem("any", trusted=TRUSTED, needs=("shared",))
def shared_messages_bound(loss: ConcentratedLoss, model: Coupled) -> Leakage:
    """Bound what parts of one or more units show by messages of profiles, whatever is known of each other unit.

    Theorem. Let the law of the units be proportional to a product of factors φ_c whose graph has no cycle, and let
    each part of the release read one unit, or units that all lie in one factor; a constant factor may be added for
    it as long as there is no cycle. Let δ_j bound the parts of unit j alone as for separable messages, o_{c,i} the
    parts on c if x_i alone changes, and w_c the parts on c whatever changes. With t of Δ_{c,i} as there, taken at γ',
    F_{c→i}(γ) = min over 1 ≤ γ' ≤ γ of (1 − t) o_{c,i}(γ/γ') + t W(γ/γ' · (1 + (γ' − 1)/t)), where
    W = w_c ⊗ ⊗_{j∈S_c∖i} M_{j→c}, and M_{j→c} = δ_j ⊗ ⊗_{c'∋j, c'≠c} F_{c'→j}, δ_i ⊗ ⊗_{c∋i} F_{c→i} bounds
    Pr[M ∈ S | x_i = a, known] − γ Pr[M ∈ S | x_i = b, known] for all a, b, S and γ ≥ 1, whatever is known of other
    units one by one. The leakage is its ε at δ, and at most that of the group.

    Checked. Factors, cycles, classes and rounding as for separable messages; each part is put on a factor that holds
    all its units, or on a constant one of its own. A few γ' are tried, each of which is valid.

    Trusted. The true law is the model, or a member of the class that it describes. What the adversary
    knows of several other units together, such as whether two of them are equal, is not covered unless it is
    itself a unit of the model.

    Proof. As for separable messages, but behind φ_c the outputs given x_i = a are the mixture over u = x_{S_c∖i} of
    the parts on c at (a, u) and of what is behind u, all independent given u. Let m = min(p_a, γ' p_b), made smaller to
    have weight 1 − t: m is a part of p_a and m/γ' of p_b. Where u comes from m, the pairs differ in x_i alone: they are
    within o at γ/γ'. The rest is t of P against γ − (1 − t)γ/γ' of γQ, pairs in which anything may have changed: within
    W at (γ/γ')(γ' − 1 + t)/t. E_γ is jointly convex, so the mixtures are within the sum. That holds for every
    t ≥ E_γ'(p_a ‖ p_b), so for the largest over tilts, and for u that is known (t = 0).

    Source. New here. With γ' = 1 it is the maximal coupling; with no part on c and γ' = γ, separable messages.
    """
    refuse_nothing_shared(loss)
    told = passed_with(loss, *tilted_forest(model), model.units)
    found = leakage_at(told, loss.largest, loss.delta, TOGETHER.fine)
    return Leakage(np.minimum(found, shared_group_bound(loss, model).per_unit))


@theorem("model", trusted=TRUSTED, needs=("shared",))
def shared_transport_bound(loss: ConcentratedLoss, model: Coupled) -> Leakage:
    """Bound what parts of one or two units show on a chain or tree by the exact law of each neighbour.

    Theorem. Let the units form a Markov chain, a tree or a forest with a known law, and let each part of the release
    read one unit, two neighbours, or two units of different trees, without a cycle. With t as for separable transport
    (0 between trees) and F as for shared messages, δ_i ⊗ ⊗_j F_{j→i} bounds
    Pr[M ∈ S | x_i = a] − γ Pr[M ∈ S | x_i = b] for all a, b that x_i can take, all S and γ ≥ 1. The leakage is its ε
    at δ, and at most that of the group.

    Checked. The law and rounding as for separable transport, the parts as for shared messages.

    Trusted. The true law is the model, its initial law included, and the adversary knows the value of no
    unit. One who knows some values may learn more than this bound says.

    Proof. As for shared messages, with the law of x_j given x_i itself in place of the worst tilt.

    Source. New here.
    """
    refuse_nothing_shared(loss)
    told = passed_with(loss, *known_forest(model), model.units)
    found = leakage_at(told, loss.largest, loss.delta, TOGETHER.fine)
    return Leakage(np.minimum(found, shared_group_bound(loss, model).per_unit))


def refuse_nothing_shared(loss: ConcentratedLoss) -> None:
    """Refuse a release of which nothing says that some parts read several units and all others one."""
    if not loss.shared:
        raise DoesNotApply(
            "Nothing says which parts of the release read several units, and that all others read one."
        )


@dataclass(frozen=True, slots=True)
class Attached:
    """A part of several units: what it shows when one of them changes alone, in their order, and when all may."""

    units: tuple[int, ...]
    alone: tuple[ProfileCurve, ...]
    together: ProfileCurve


def passed_with(loss: ConcentratedLoss, forest: Forest, sways: Sways, units: int) -> Callable[[Grid], Told]:
    """Pass the profiles of a release with shared parts."""
    parts = [
        Attached(part.units, tuple(map(loss.curve, part.each)), loss.curve(part.rho)) for part in loss.shared
    ]
    return messages_with(list(map(loss.curve, loss.own)), parts, *joined_by(forest, sways, parts, units))


def joined_by(
    forest: Forest, sways: Sways, parts: Sequence[Attached], units: int
) -> tuple[Forest, Sways, Mapping[Link, list[Attached]]]:
    """Find for each part the links that it lies on; one whose units no factor holds gets a constant factor."""
    beside: dict[int, set[int]] = {node: set() for node in range(len(forest.order))}
    for node, above in enumerate(forest.parent):
        if above != ROOT:
            beside[node].add(above)
            beside[above].add(node)
    tilts: dict[Link, Sway] = dict(sways)
    on: dict[Link, list[Attached]] = {}
    for part in parts:
        links = links_of(part.units, beside, units)
        if not links:
            links = new_links(part.units, len(beside))
            for source, target in links:
                tilts[source, target] = TiltSway(0.0)
                beside.setdefault(source, set()).add(target)
                beside.setdefault(target, set()).add(source)
        for link in links:
            on.setdefault(link, []).append(part)
    every = [(one, other) for one, others in beside.items() for other in others if one < other]
    order, parent = breadth_first(len(beside), every)
    if len(every) > sum(above != ROOT for above in parent):
        raise DoesNotApply(
            "A part of the release reads units that depend on each other only through others, so that they form a "
            "cycle. These messages need a forest; those of Gaussian noise cover it."
        )
    return replace(forest, order=order, parent=parent), tilts, on


def links_of(read: tuple[int, ...], beside: Mapping[int, set[int]], units: int) -> list[Link]:
    """The links of a pair, both ways, or those from the factor that holds all to each of its units."""
    first, *others = read
    if len(read) == PAIR and others[0] in beside[first]:
        return [(first, others[0]), (others[0], first)]
    held = [node for node in beside[first] if node >= units and beside[node].issuperset(read)]
    return [(held[0], unit) for unit in sorted(beside[held[0]])] if held else []


def new_links(read: tuple[int, ...], node: int) -> list[Link]:
    """The links of a constant factor."""
    return [read, read[::-1]] if len(read) == PAIR else [(node, unit) for unit in read]  # type: ignore[list-item]  # a pair


def messages_with(
    curves: Sequence[ProfileCurve],
    parts: Sequence[Attached],
    forest: Forest,
    sways: Sways,
    on: Mapping[Link, list[Attached]],
) -> Callable[[Grid], Told]:
    """Pass profiles through a forest whose first nodes are the units, with parts that lie on its links."""

    def passed(grid: Grid) -> Told:
        silent = [GaussianCurve(0.0)] * (len(forest.order) - len(curves))
        own = held_by(TOGETHER, [*curves, *silent], grid)
        whole = dict(
            zip(map(id, parts), held_by(TOGETHER, [part.together for part in parts], grid), strict=True)
        )

        def alone(link: Link) -> PrivacyProfile:
            read = [dict(zip(part.units, part.alone, strict=True)).get(link[1]) for part in on[link]]
            held = Composition.nothing(grid)
            for curve in filter(None, read):
                held = held.join(Composition.of(PrivacyProfile.of(curve, grid)))
            return held.profile()

        def send(source: int, target: int, held: Composition) -> Composition:
            sway = sways.get((source, target))
            if sway is None:
                return held
            if (source, target) not in on:
                return TOGETHER.send([held], [sway])[0]
            for part in on[source, target]:
                held = held.join(whole[id(part)])
            return Composition.of(across(alone((source, target)), held.profile(), sway))

        told = forest.sweep(own, send, Composition.join)
        return Told(TOGETHER.reads(told[: len(curves)]), np.arange(len(curves)))

    return passed
