"""Noise for answers in whole numbers: what a grid costs, on the safe side.

An engine adds up whole numbers, so an answer is no normal number: it is one that was rounded, X = round(Y) with Y
normal given the secret (that is what is trusted), and discrete Gaussian noise of variance σ² is added.

**No noise.** X is made of Y, so it shows no more.

**Theorem (the data's own spread counted).** Let Y ~ N(m, C) in d dimensions, λ the least eigenvalue of C, σᵢ² ≥ 6 and
λ ≥ 6. Let R² be such that a χ² of d degrees is above (R − √d/(2√λ))² with chance at most τ, and
κ = R²/(24λ) + d/(8λ) + 10⁻²⁰. Then what leaves has P(S) ≤ e^κ P₀(S) + τ and P(S) ≥ e^{−κ} P₀(S) − 2τ, where P₀ is
made of N(m, C + Σ − 3), Σ = diag(σᵢ²), by one public kernel. So it keeps (ε, δ) wherever that normal law keeps ε − 2κ
with (δ − (1 + 2e^ε) τ) e^{−κ}.
Proof. P(X = k) = φ_C(k − m) · E exp(−tᵀu − uᵀC⁻¹u/2), t = C⁻¹(k − m), u uniform in the cube of half-width ½. The
exponent's second term is at most d/(8λ); E exp(−tᵀu) is between 1 (Jensen) and Π sinh(tᵢ/2)/(tᵢ/2) ≤ exp(|t|²/24), and
|t|² ≤ R²/λ where k is within R of m in the norm of C⁻¹. Beyond that X has mass at most τ, because rounding
moves Y by at most √d/2, and so has Σ φ_C(k − m), a sum over such k that is at most e^{d/(8λ)} times the mass of their
cubes. Added to noise: Σ_k φ_C(k − m) φ_Σ(z − k) = φ_{C+Σ}(z − m) times a Gaussian sum over whole k of covariance
(C⁻¹ + Σ⁻¹)⁻¹ ≥ 3, which is 1 but for less than 10⁻²⁰ (Poisson's summation, d ≤ 12). And φ_{C+Σ} on whole z is, up to as
little, what randomised rounding of variance 3 makes of N(m, C + Σ − 3): `noise/dominated`, Lemma 2. The rest is
P(S) − e^ε Q(S) ≤ e^κ (P₀(S) − e^{ε−2κ} Q₀(S)) + τ + 2e^ε τ. ∎

**Theorem (the data's own spread not counted).** Let Y and Y′ be coupled by the same normal variable. They are
at most shift + R · (deviations' difference) apart but for a chance τ, and rounded at most the next whole number. So
noise that keeps (ε, δ − τ) for answers this far apart will do (joint convexity of E_γ).

**Coarser grains.** Sums may lie g whole numbers apart (a column whose rows add 1, 11, 21, …), while noise is on all
whole numbers. Then X is Y rounded to those, and the same holds with λ/g² in κ and R, σᵢ² ≥ 6g² and λ ≥ 6g²: u is
uniform in the cube of half-width g/2, and the Gaussian sum runs over the numbers g apart, of covariance at least 3g².
Without counting the spread, answers are apart by the next multiple of g.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from entwined.bounds.attributes.far_apart import FarApart
from entwined.bounds.attributes.least_noise import least_variance
from entwined.bounds.profiles.gaussian import largest_gaussian_rho
from entwined.noise.dominated import SMOOTHED, variance_for

LEAST_SPREAD: Final = Fraction(6)
TRACE: Final = 1e-20
TAIL: Final = Fraction(1, 10**7)  # the part of δ that tails may take, before they are counted e^ε times
MOST_TAKEN: Final = Fraction(1, 4)  # the part of ε that rounding may take


@dataclass(frozen=True, slots=True)
class Rounded:
    """What is left of ε and δ once the rounding of answers is paid."""

    epsilon: Fraction
    delta: Fraction


def rounded(epsilon: Fraction, delta: Fraction, least: Fraction, sides: int = 1) -> Rounded | None:
    """Pay for rounding answers whose own variance is at least this; None if that takes too much."""
    from scipy.stats import chi2

    if least < LEAST_SPREAD:
        return None
    spread = float(least) * (1 - 1e-12)
    factor = math.exp(float(epsilon)) * (1 + 1e-12)
    tail = float(delta * TAIL) / factor
    radius = math.sqrt(float(chi2.isf(tail, sides))) * (1 + 1e-9) + math.sqrt(sides / spread) / 2
    kappa = (radius**2 / (24 * spread) + sides / (8 * spread)) * (1 + 1e-9) + TRACE
    left = epsilon - 2 * Fraction(kappa)
    if left < (1 - MOST_TAKEN) * epsilon:
        return None
    rest = (float(delta) - (1 + 2 * factor) * tail) * math.exp(-kappa) * (1 - 1e-12)
    return Rounded(left, Fraction(rest))


def whole_noise(pair: FarApart, epsilon: Fraction, delta: Fraction, grain: int = 1) -> Fraction:
    """The variance of discrete Gaussian noise that keeps (ε, δ) for an answer in whole numbers; 0 if none is needed."""
    if least_variance(pair, epsilon, delta) == 0:
        return Fraction(0)
    found = [_uncounted(pair, epsilon, delta, grain)]
    left = rounded(epsilon, delta, pair.least / grain**2)
    if left is not None:
        smoothed = FarApart(pair.shift, pair.least - SMOOTHED, pair.excess)
        wanted = Fraction(least_variance(smoothed, left.epsilon, left.delta))
        found.append(max(wanted, LEAST_SPREAD * grain**2))
    return min(found)


def _uncounted(pair: FarApart, epsilon: Fraction, delta: Fraction, grain: int) -> Fraction:
    """The variance without counting the spread of the data."""
    from scipy.special import ndtri

    far, miss = pair.shift, delta
    if pair.excess:
        tail = delta / 1000
        reach = -float(ndtri(float(tail) / 2)) * (1 + 1e-9)
        least, wide = float(pair.least), float(pair.least + pair.excess)
        far += Fraction(reach * (math.sqrt(wide) - math.sqrt(least)) * (1 + 1e-9))
        miss -= tail
    return variance_for(largest_gaussian_rho(epsilon, miss), Fraction(grain * math.ceil(far / grain)) ** 2)
