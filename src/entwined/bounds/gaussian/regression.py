"""Gaussian units against an adversary who knows the law but no values: the exact leakage."""

from entwined.bounds.gaussian.distances import AT_A_DISTANCE
from entwined.bounds.gaussian.series import MOST_UNITS
from entwined.bounds.theorem import theorem
from entwined.dependence.gaussian import GaussianLaws
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import round_up


@theorem("model", secret=AT_A_DISTANCE)
def gaussian_regression_bound(loss: Loss, model: GaussianLaws) -> Leakage:
    """Sum the losses of the others, each times its regression on the unit.

    Theorem. Let the units be Gaussian with deviations σ and correlations of at most r̄_ij in size (r̄_ii =
    0), let the mechanism lose ε_j per unit of distance of unit j, and let the adversary know no values. Then
    the leakage of unit i per unit of distance is at most ε_i + Σ_j r̄_ij ε_j σ_j/σ_i, which is exact for a
    known covariance.

    Checked. Nothing but the model itself: the deviations are positive and the correlations below 1.

    Trusted. The adversary knows no unit's value: one who does can learn more. The units are jointly
    Gaussian with these deviations and no larger correlations, whatever their means are.

    Proof. Given x_i the other units are Gaussian with a mean of β_j x_i plus a constant, β_j = ρ_ij σ_j/σ_i,
    and a covariance that does not depend on x_i. So the laws given x_i = a and x_i = b are shifts of each
    other by β (a − b), and pairing what is shifted onto each other changes the chance of any output by a
    factor of at most exp((ε_i + Σ ε_j |β_j|) |a − b|). It is reached as in the theorem "gaussian exact".

    Source. Shift coupling as in metric privacy; the Gaussian case of Pufferfish with unit secrets.
    """
    if model.units > MOST_UNITS:
        raise DoesNotApply(f"A table of {model.units} units is too large; the most is {MOST_UNITS}.")
    losses = loss.per_unit * model.scales
    return Leakage(round_up((losses + model.strengths @ losses) / model.scales, model.units + 8))
