"""What Gaussian noise leaks under a model: the theorem, and its part of a certificate."""

from fractions import Fraction
from typing import Any

from entwined.bounds.certificate import guarantee, trust_in
from entwined.bounds.theorem import Knowledge, read_statement
from entwined.canonical import fraction_text
from entwined.dependence import Dependence
from entwined.promise.measure import Concentrated


def concentrated_group(rho: Fraction, measure: Concentrated, model: Dependence) -> float:
    """Bound the leakage of a concentrated loss by moving a unit's whole group at once.

    Theorem. Let M be ρ-zCDP under replacing one unit, and let units depend on each other only inside independent
    groups of at most k. Then for every unit i, values a and b, whatever other units are known, and every event S:
    Pr[M ∈ S | xᵢ = a] ≤ exp(ε) · Pr[M ∈ S | xᵢ = b] + δ, where ε is that of k²ρ-zCDP at δ.

    Checked. The size of the largest group is read from the model; ε is rounded up.

    Trusted. Who shares a group is fixed, and groups are independent of each other.

    Proof. Given xᵢ and what is known, only the rest of the group has a law that depends on xᵢ. The two laws of M are
    mixtures of output laws that are at most k replacements apart, each pair at most k²ρ-zCDP (Bun and Steinke 2016,
    Proposition 1.9). Rényi divergence is jointly quasi-convex, so the mixtures are no further apart; Proposition 12
    of Canonne, Kamath and Steinke (2020) turns k²ρ into ε at δ.

    Source. New here as a statement about dependence; group privacy is Bun and Steinke's.
    """
    return float(measure.epsilon(rho * measure.grown(model)))


def certified(
    rho: Fraction, measure: Concentrated, model: Dependence, knowledge: Knowledge
) -> dict[str, Any]:
    """Write down what was proved for one model."""
    leakage = concentrated_group(rho, measure, model)
    _, parts = read_statement(concentrated_group)
    but = f", but for a chance of {float(measure.delta):.3g}."
    return {
        "guarantee": guarantee(leakage, knowledge, metric=False).removesuffix(".") + but,
        "knowledge": knowledge,
        "leakage": leakage,
        "theorem": {
            "name": "concentrated group",
            "says": parts["Theorem"],
            "proof": parts["Proof"],
            "source": parts["Source"],
        },
        "checked": parts["Checked"],
        "trusted": [
            parts["Trusted"],
            trust_in(model),
            "The mechanism has the stated concentrated loss for each unit.",
        ],
        "inputs": {"model": model.document, "loss": {"rho": fraction_text(rho)}},
    }
