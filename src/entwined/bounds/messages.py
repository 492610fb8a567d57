"""The core theorem: leakage message passing on any factor graph."""

from entwined.bounds.chains import chain_leakage
from entwined.bounds.loopy import loopy_leakage
from entwined.bounds.theorem import theorem
from entwined.bounds.trees import tree_leakage
from entwined.dependence import Coupled, MarkovChain
from entwined.loss import Leakage, Loss


@theorem("any", yields_to=("transport", "block messages", "block transport"))
def message_passing_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage by messages between units and factors, whatever an adversary knows of each other unit.

    Theorem. Let the law of the units be proportional to a product of factors φ_c over sets S_c of units. For
    i ∈ S_c let Δ_{c,i} be the largest range, over the other units of c, of log φ_c(a, ·) − log φ_c(b, ·), and
    let T(L; Δ) = 4 atanh(tanh(L/4) tanh(Δ/4)). Start all M_{j→c} at the sum of the losses in j's connected
    component and repeat F_{c→i} = T(Σ_{j∈S_c∖i} M_{j→c}; Δ_{c,i}), M_{j→c} = ε_j + Σ_{c'∋j, c'≠c} F_{c'→j}.
    After every repetition, for every unit i, values a and b, whatever is known of other units one by one
    (their values, or anything that depends on one unit's value alone), and output set S: |log Pr[M ∈ S | x_i
    = a, known] − log Pr[M ∈ S | x_i = b, known]| ≤ ε_i + Σ_{c∋i} F_{c→i}.

    Checked. The factors are read from the model, zeros make Δ infinite, a class of models gives its
    largest Δ, and every operation is rounded up. On chains and forests the messages are passed once each
    way, which is where they settle.

    Trusted. The true law is the model, or a member of the class that it describes. What the adversary
    knows of several other units together, such as whether two of them are equal, is not covered unless it is
    itself a unit of the model.

    Proof. What is known of x_j alone multiplies the law by a weight of x_j, a factor of one unit: it joins
    nothing to anything and changes no Δ, so let the weights be among the factors. Move x_i from a to b in the
    mechanism (at most ε_i) and then in one factor at a time. Moving it in φ_c tilts the law of the other
    units by a function of x_{S_c∖i} whose log has range at most Δ_{c,i}. The likelihood of the output,
    averaged over all that is behind, is a function h of x_{S_c∖i}; changing one j in it at a time while the
    rest of S_c is held fixed shows that log h has range at most Σ_j M_{j→c}, by induction on the number of
    unknown units, in the class of models where a known unit may show a different value to each factor. The
    worst tilt puts its mass on two values of h and gives T: Birkhoff's contraction of Hilbert's projective
    metric. The group bound starts the induction, and T is increasing, so each repetition turns bounds into
    bounds. Zeros follow as limits of positive factors.

    Source. New here; T is Birkhoff (1957). On chains it needs neither the stationarity nor the target
    above 4 ln γ of Lange et al. (2025).
    """
    if isinstance(model, MarkovChain):
        return Leakage(chain_leakage(loss, model.log_odds))
    couplings = model.couplings
    if couplings.binding.pairwise and couplings.acyclic:
        return Leakage(tree_leakage(loss.per_unit, couplings))
    return Leakage(loopy_leakage(loss.per_unit, couplings))
