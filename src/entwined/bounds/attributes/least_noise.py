"""The attribute-private Gaussian mechanism for one answer: the least noise that keeps a secret.

**Theorem.** Let an answer be normal given each point of a secret, as `far_apart` bounds it. With independent
Gaussian noise of variance σ², what leaves keeps (ε, δ) between every two points if E_γ of N(shift, v + σ²) and
N(0, v′ + σ²) is at most δ in both orders, for all variances v, v′ in the range. With equal variances that is
σ² ≥ (shift/μ)² − v, where μ is the largest shift, in deviations, of Gaussian noise with ε at δ.

Zhang, Ohrimenko, Cummings (2022), Theorem 1, with c = √(2 ln(1.25/δ)), holds for ε ≤ 1 and equal variances alone.
"""

from fractions import Fraction
from typing import Final

from entwined.bounds.attributes.far_apart import FarApart
from entwined.bounds.attributes.two_normals import analytic_ratio, classical_ratio, worst_in_range
from entwined.errors import Unreachable
from entwined.numbers import float_above, float_below

HALVINGS: Final = 60
CLOSE: Final = 1e-9
LARGEST: Final = 1e200


def slip(pair: FarApart, epsilon: Fraction, noise: float) -> float:
    """The δ at which noise of this variance keeps ε, never below the truth."""
    shift, least = float_above(pair.shift), float_below(pair.least) + noise
    if least <= 0:
        return 1.0 if pair.shift or pair.excess else 0.0
    return worst_in_range(float_below(epsilon), shift, least, float_above(pair.excess))


def least_variance(pair: FarApart, epsilon: Fraction, delta: Fraction) -> float:
    """The least variance of Gaussian noise that keeps (ε, δ), 0 if none is needed; rounded up.

    >>> weight = FarApart(Fraction("12.25"), Fraction("4.5"))
    >>> round(least_variance(weight, Fraction(1), Fraction(1, 1000)) ** 0.5, 2)
    31.47
    """
    if not pair.shift and not pair.excess:
        return 0.0
    allowed = float_below(delta)
    if not pair.excess:
        wanted = (float_above(pair.shift) * analytic_ratio(epsilon, delta)) ** 2 * (1 + CLOSE)
        return max(wanted - float_below(pair.least), 0.0)
    if slip(pair, epsilon, 0.0) <= allowed:
        return 0.0
    high = max(float(pair.shift) ** 2, float(pair.least), float(pair.excess))
    while slip(pair, epsilon, high) > allowed:
        high *= 4
        if high > LARGEST:
            raise Unreachable(f"No noise keeps ε = {float(epsilon):g} at δ = {float(delta):g}. Allow more.")
    low = 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if slip(pair, epsilon, middle) <= allowed else (middle, high)
        if high - low <= CLOSE * high:
            break
    return high


def classical_variance(pair: FarApart, epsilon: Fraction, delta: Fraction) -> float:
    """What the paper would add, for reproduction: (c · shift/ε)² − variance.

    >>> weight = FarApart(Fraction("6.125"), Fraction("4.5"))
    >>> round(classical_variance(weight, Fraction(1), Fraction(1, 1000)) ** 0.5, 2)
    23.03
    """
    return max((float(pair.shift) * classical_ratio(epsilon, delta)) ** 2 - float(pair.least), 0.0)
