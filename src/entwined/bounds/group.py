"""The group bound: whatever the dependence inside a group, the losses add."""

from entwined.bounds.theorem import theorem
from entwined.dependence import Dependence
from entwined.loss import Leakage, Loss


@theorem("any", yields_to=("message passing",))
def group_bound(loss: Loss, model: Dependence) -> Leakage:
    """Bound the leakage of a unit by the sum of the losses in its group.

    Theorem. Let a mechanism have loss ε_j under replacing unit j, and let units have a bearing on each
    other only inside groups that are independent of each other. Then for every unit i, values a and b,
    whatever is known of other units one by one (their values, or anything that depends on one unit's value
    alone), and output set S: Pr[M ∈ S | x_i = a, known] ≤ exp(Σ ε_j over i's
    group) · Pr[M ∈ S | x_i = b, known].

    Checked. The groups are the connected components of the model, or the declared largest size with the
    largest losses in it.

    Trusted. Units in different groups are independent, and no group is larger than declared. What the adversary
    knows of several other units together, such as whether two of them are equal, is not covered unless it is
    itself a unit of the model.

    Proof. What is known of single units leaves the groups independent. Given x_i only the law of its own
    group changes. Any two values of a group are at most its units' replacements apart, so the output laws of
    any two mixtures differ by at most the sum of the losses.

    Source. Liu, Chakraborty, Mittal (2016), Theorem 7; Lange et al. (2025), "mε", shown tight there.
    """
    return Leakage(model.group_totals(loss))
