"""Bayesian metric privacy of Gaussian units: losses by distance in, leakage for each unit of distance out."""

from entwined.bounds.distance_loss import DistanceLoss
from entwined.bounds.gaussian.distances import AT_A_DISTANCE, EXACTLY_OR_NOT
from entwined.bounds.gaussian.regression import gaussian_regression_bound
from entwined.bounds.gaussian.shifts import smallest_shifts
from entwined.bounds.theorem import theorem
from entwined.dependence.gaussian import GaussianLaws
from entwined.loss import Leakage


@theorem("any", secret=AT_A_DISTANCE, trusted=EXACTLY_OR_NOT)
def gaussian_metric_bound(loss: DistanceLoss, model: GaussianLaws) -> Leakage:
    """Bound what Gaussian units leak for each unit of distance between two values of one.

    Theorem. Let the units be Gaussian, their law any of a class, and let the mechanism lose λ_j for each unit of
    distance of unit j. Let L_i bound λ_i + Σ_{j∈U} λ_j |β_j| for all laws of the class, all sets of known units and the
    regression β of the others on unit i. Then for every unit i, values a and b, known values of any other units and
    output set S: |log Pr[M ∈ S | x_i = a, known] − log Pr[M ∈ S | x_i = b, known]| ≤ L_i |a − b|.

    Checked. L is the smallest that one of the theorems of pure losses proves: gaussian exact, tree, walk and variance,
    max correlation, correlation intervals, weak correlation.

    Trusted. The units are jointly Gaussian, with a law of the class, whatever their means are.

    Proof. Given x_i and x_K, the laws of x_U for x_i = a and b are shifts of each other by β (a − b). Pairing what is
    shifted onto each other changes the chance of any output by a factor of at most exp((λ_i + Σ λ_j |β_j|) |a − b|).

    Source. Bayesian metric privacy is that of Lange, Guerra-Balboa, Parra-Arnau, Strufe (2025); the bounds are new.
    """
    return Leakage(smallest_shifts(loss.each, model))


@theorem("model", secret=AT_A_DISTANCE)
def gaussian_metric_without_knowledge_bound(loss: DistanceLoss, model: GaussianLaws) -> Leakage:
    """Bound what Gaussian units leak for each unit of distance to one who knows no values.

    Theorem. Let the units be Gaussian with deviations σ and correlations of at most r̄_ij in size, and let the mechanism
    lose λ_j for each unit of distance of unit j. Then for every unit i, values a and b and output set S: |log Pr[M ∈ S
    | x_i = a] − log Pr[M ∈ S | x_i = b]| ≤ (λ_i + Σ_j r̄_ij λ_j σ_j/σ_i) |a − b|.

    Checked. As for the theorem "gaussian regression".

    Trusted. The adversary knows no unit's value: one who does can learn more. The units are jointly Gaussian with these
    deviations and no larger correlations, whatever their means are.

    Proof. That of the theorem "gaussian metric" with nothing known: β_j = ρ_ij σ_j/σ_i.

    Source. As for the theorem "gaussian metric".
    """
    return gaussian_regression_bound(loss.each, model)
