"""Gaussian noise in any mechanism: profiles travel through factor graphs as messages do."""

from collections.abc import Callable

import numpy as np

from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.profiles.curves import GaussianCurve, epsilon_at_delta
from entwined.bounds.profiles.gaussian import shift_of
from entwined.bounds.profiles.loops import Loops
from entwined.bounds.profiles.passing import IN_TURN, Told, held_by, leakage_at
from entwined.bounds.profiles.profile import Grid
from entwined.bounds.separable import curves_of, known_messages, tilted_messages
from entwined.bounds.theorem import theorem
from entwined.dependence import Coupled, Dependence, MarkovChain
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import FloatArray, round_up_float

TRUSTED = (
    "Whatever is known of the other units, replacing unit j shows no more than Gaussian noise does of a number that "
    "moves by √(2ρ_j) standard deviations."
)


@theorem("any", trusted=TRUSTED, needs=("gaussian",))
def gaussian_group_bound(loss: ConcentratedLoss, model: Dependence) -> Leakage:
    """Bound what Gaussian noise shows of a unit by moving its whole group at once.

    Theorem. Let replacing unit j show no more than Gaussian noise with shift μ_j = √(2ρ_j), and let units have a
    bearing on each other only inside groups that are independent of each other. Then for every unit i, values a
    and b, whatever is known of other units one by one, and every event S:
    Pr[M ∈ S | x_i = a, known] ≤ exp(ε) · Pr[M ∈ S | x_i = b, known] + δ, where ε is exactly that of Gaussian noise
    with μ = Σ μ_j over i's group at δ.

    Checked. The groups are the connected components of the model, or the declared largest size with the largest
    losses in it; ε is rounded up.

    Trusted. Units in different groups are independent, and no group is larger than declared.

    Proof. Both laws of M are mixtures of output laws that are one replacement of each unit of the group apart. One
    replacement after another, P(S) ≤ Φ(Φ⁻¹(Q(S)) + μ_j), so over the group P(S) ≤ Φ(Φ⁻¹(Q(S)) + Σ μ_j), which
    is the profile of that shift. Mixtures are no further apart.

    Source. Group privacy of Dong, Roth and Su (2022, Theorem 2.14); new here as a statement about dependence.
    """
    refuse_other_noise(loss)
    totals, place = np.unique(group_shifts(loss, model), return_inverse=True)
    found = [epsilon_at_delta(GaussianCurve(shift), loss.delta) for shift in totals.tolist()]
    return Leakage(np.array(found)[place])


@theorem("any", trusted=TRUSTED, needs=("gaussian",))
def gaussian_messages_bound(loss: ConcentratedLoss, model: Coupled) -> Leakage:
    """Bound what Gaussian noise shows by messages of profiles on any factor graph, for any mechanism.

    Theorem. Let the law of the units be proportional to a product of factors φ_c over sets S_c of units, and let
    replacing unit j move any output law P to a Q with P(S) − γ Q(S) ≤ δ_j(γ), the profile of Gaussian noise with
    shift √(2ρ_j). Let Δ_{c,i} be as for message passing, t(γ) = (e^{Δ/2} − √γ)²/(e^Δ − 1) for γ < e^Δ and 0
    beyond, S_t δ(γ) = t(γ) δ(1 + (γ − 1)/t(γ)) and (f ⊕ g)(γ) = inf f(γ₁) + γ₁ g(γ₂) over γ₁γ₂ = γ. Start all
    M_{j→c} at the profile of j's connected component and repeat F_{c→i} = S_t ⊕_{j∈S_c∖i} M_{j→c},
    M_{j→c} = δ_j ⊕ ⊕_{c'∋j, c'≠c} F_{c'→j}. After every repetition δ_i ⊕ ⊕_{c∋i} F_{c→i} bounds
    Pr[M ∈ S | x_i = a, known] − γ Pr[M ∈ S | x_i = b, known] for all a, b, S and γ ≥ 1, whatever is known of other
    units one by one. The leakage is its ε at δ, and at most that of the group.

    Checked. The factors are read from the model, zeros make Δ infinite, a class of models gives its largest Δ.
    Profiles are rounded up: chords between the points of a grid, its last value ever after. Long chains are
    followed as for separable messages.

    Trusted. The true law is the model, or a member of the class that it describes. What the adversary
    knows of several other units together, such as whether two of them are equal, is not covered unless it is
    itself a unit of the model.

    Proof. That of message passing, with profiles. Move x_i from a to b in the mechanism (δ_i) and then in one
    factor at a time; laws P, R, Q have P − γ₁γ₂Q = (P − γ₁R) + γ₁(R − γ₂Q), so the steps add by ⊕. Moving x_i in
    φ_c tilts the law of u = x_{S_c∖i} by a function whose log has range at most Δ, and changing one j in u at a time
    while the rest of S_c is held fixed shows that the output laws given any two u are within ⊕_j M_{j→c} of each
    other, by induction on the number of unknown units. The tilt passes on S_t of that: see separable messages. The
    group starts the induction, and S_t and ⊕ increase, so each repetition turns bounds into bounds.

    Source. New here; the triangle inequality of E_γ is folklore.
    """
    refuse_other_noise(loss)
    found = leakage_at(any_messages(loss, model), loss.largest, loss.delta, IN_TURN.fine)
    return Leakage(np.minimum(found, gaussian_group_bound(loss, model).per_unit))


@theorem("model", trusted=TRUSTED, needs=("gaussian",))
def gaussian_transport_bound(loss: ConcentratedLoss, model: Coupled) -> Leakage:
    """Bound what Gaussian noise in any mechanism shows on a chain or tree by the exact law of each neighbour.

    Theorem. Let the units form a Markov chain, a tree or a forest with a known law, and let replacing unit j move any
    output law P to a Q with P(S) − γ Q(S) ≤ δ_j(γ), the profile of Gaussian noise with shift √(2ρ_j). With t and
    S_t as for separable transport, ⊕ as for Gaussian messages and F_{j→i} = S_t (δ_j ⊕ ⊕_{k≠i} F_{k→j}),
    δ_i ⊕ ⊕_j F_{j→i} bounds Pr[M ∈ S | x_i = a] − γ Pr[M ∈ S | x_i = b] for all a, b that x_i can take, all S and
    γ ≥ 1. The leakage is its ε at δ, and at most that of the group.

    Checked. The model has one law, its graph has no cycle, and the kernels in both directions are computed
    from the joint law, widened by what rounding can do. Profiles are rounded up as for Gaussian messages.

    Trusted. The true law is the model, its initial law included, and the adversary knows the value of no
    unit. One who knows some values may learn more than this bound says.

    Proof. Given x_i the subtrees behind its neighbours are independent. Move x_i from a to b in the mechanism and
    then in the law of one subtree at a time, by ⊕. Averaged over the other subtrees, whose law stays, a mechanism
    keeps the profile of every unit. By induction the output laws given two values of x_j, averaged over all that is
    behind j, are within δ_j ⊕ ⊕_{k≠i} F_{k→j}, and the law of x_j given x_i passes on S_t of that.

    Source. New here; with pure losses it is the transport of leakage (Cao, Yoshikawa, Xiao, Xiong 2017).
    """
    refuse_other_noise(loss)
    told = known_messages(IN_TURN, curves_of(loss, model), model)
    found = leakage_at(told, loss.largest, loss.delta, IN_TURN.fine)
    return Leakage(np.minimum(found, gaussian_group_bound(loss, model).per_unit))


def refuse_other_noise(loss: ConcentratedLoss) -> None:
    """Refuse losses of which nothing says that they come from Gaussian noise."""
    if not loss.gaussian:
        raise DoesNotApply("Of these losses only ρ is known, and this bound is about Gaussian noise.")


def group_shifts(loss: ConcentratedLoss, model: Dependence) -> FloatArray:
    """Σ μ_j over each unit's group, rounded up."""
    if loss.common is not None:
        return model.group_totals(Loss(np.broadcast_to(np.float64(shift_of(loss.common)), (loss.units,))))
    return model.group_totals(Loss(np.array([shift_of(rho) for rho in loss.rhos])))


def any_messages(loss: ConcentratedLoss, model: Coupled) -> Callable[[Grid], Told]:
    """Pass profiles once where no factors form a loop, else repeat."""
    if isinstance(model, MarkovChain) or model.couplings.acyclic:
        return tilted_messages(IN_TURN, curves_of(loss, model), model)
    curves = curves_of(loss, model)
    groups = [GaussianCurve(round_up_float(shift)) for shift in group_shifts(loss, model).tolist()]

    def passed(grid: Grid) -> Told:
        own, group = held_by(IN_TURN, curves, grid), held_by(IN_TURN, groups, grid)
        return Loops(model.couplings.binding, own, group).settled()

    return passed
