"""What a charge of ρ means where profiles are priced: no more is shown than by Gaussian noise of √(2ρ) deviations.

Write "within G(μ)" for two output laws P, P' with Φ⁻¹(P'(S)) ≤ Φ⁻¹(P(S)) + μ for every event S: they show no more
than (continuous) Gaussian noise of a number that moves by μ standard deviations. Squares of μ add up over answers
about the same unit (Dong, Roth, Su 2022, Corollary 3.3), so charges ρ = μ²/2 do, even if they are chosen as one goes
and only their sum is fixed (Smith, Thakurta 2022). Within G(√(2ρ)) is ρ-zCDP too. This file says which ρ each law of
noise is charged.

Convexity is used throughout: φ/Φ, the inverse of Mills' ratio, is convex and falls (Sampford 1953).

**Lemma 1 (nearly the same laws).** If P and Q give every event and its complement probabilities within a factor
e^{±η} of each other, Φ⁻¹(P(S)) and Φ⁻¹(Q(S)) differ by at most √(π/2) η. So laws that are within e^{±η} of a
pair within G(μ) are within G(μ + √(2π) η).
Proof. Let u = Φ⁻¹(Q(S)) < v = Φ⁻¹(P(S)). Then ln P(S)/Q(S) is the integral of φ/Φ from u to v, by Jensen at least
(v − u) times its value in the middle, and ln Q(Sᶜ)/P(Sᶜ) is the same for φ/Φ mirrored. One of the two values is at
least that at 0, √(2/π), and neither log is above η. ∎

**Lemma 2 (noise on whole numbers; after Peikert 2010, Theorem 3.1).** Let σ² > s² = 3, and let x be whole. The
discrete Gaussian of variance σ² around x is, up to a factor e^{±η}, η = 8·10⁻²⁶, what comes out if y is drawn from the
continuous N(x, σ² − s²) and z from the discrete Gaussian of variance s² around y.
Proof. Σ_z exp(−(z − y)²/2s²) = s√(2π) Σ_k exp(−2π²s²k²) cos(2πky), by Poisson, which is s√(2π) up to a factor of
1 ± h, h = 2 Σ_{k≥1} exp(−6π²k²) < 3.84·10⁻²⁶. So z has the law φ_σ(z − x) divided by something within 1 ± h, because
normal densities convolve to a normal density; that of the discrete Gaussian is φ_σ(z − x) divided by a constant
between 1 and 1 + h, by the same sum. ∎

**Theorem (one batch).** Let whole numbers x move by Σ d_i² ≤ D, and let each have discrete Gaussian noise of variance
(1 + 10⁻⁸) D/(2ρ) + 3, of a scale of at most 2⁵². Then the answers are within G(√(2ρ)).
Proof. A number that does not move shows nothing. One that moves by d ≥ 1 is, by Lemma 2, within e^{±η} of what can be
made of Gaussian noise whose number moves by d/√(1 + 10⁻⁸) · √(2ρ/D), so by Lemma 1 it is within
G(d √(2ρ/D) (1 + 10⁻⁸)^{−1/2} + √(2π) η). The last term is below 2.1·10⁻²⁵, while 1 − (1 + 10⁻⁸)^{−1/2} > 4.9·10⁻⁹ and
√(2ρ/D) ≥ 2⁻⁵², so d √(2ρ/D) gives up more than 10⁻²⁴. What is left is within G(d √(2ρ/D)); squares add to 2ρ. ∎

**Theorem (what is asked as one goes).** Any number k of answers with such noise, each chosen after the ones before,
have together a law within e^{±kη} of what can be made of continuous Gaussian noise of variance D/(2ρ) each. So
wherever that noise keeps a profile δ(γ), whole numbers keep δ(γ) + 3kη (`slip`), as long as kη < 1/100.
Proof. Lemma 2 answer by answer. e^{kη} P(S) − γ e^{−kη} Q(S) is above P(S) − γ Q(S) by at most
(e^{kη} − 1) + (1 − e^{−kη}) γ Q(S), and γ Q(S) ≤ e^{2kη} wherever the left side is above zero. ∎

**Theorem (pure losses).** Anything of pure loss ε is within G(μ) with Φ(μ/2) = e^ε/(1 + e^ε), and no smaller μ will do
for all. If moreover the log of P/P' lies in an interval of length ε, as for a choice by the exponential mechanism
of loss ε, the μ of ε/2 will do.
Proof. A pair of pure loss ε can be made of one bit that is true with odds e^ε (Kairouz, Oh, Viswanath 2015), and
that bit is the sign of N(±μ/2, 1). If P/P' lies in [e^{t−ε}, e^t], it can be made of two outputs with the ratios at the
ends: they have probabilities p and q with logit p − logit q = ε. Φ⁻¹(p) − Φ⁻¹(q) is then largest where
p = 1 − q, because Φ⁻¹ of the logistic function is odd and concave above 0: its inverse logit Φ(u) has the slope
φ/Φ(u) + φ/Φ(−u), which grows for u > 0 by convexity. ∎

**Theorem (discrete Laplace noise).** One whole number that moves by at most d, with discrete Laplace noise of this
scale, is within G(a_m + a_{d+1−m}), m = ⌈d/2⌉, Φ(−a_k) = Pr[Z ≥ k] = w^k/(1 + w), w = exp(−1/scale); no smaller μ does.
Proof. The best events are {z ≥ k}, those for smaller moves are no better, and between them chords lie below the concave
curve of G. For 1 ≤ k ≤ d the μ of one is a_k + a_{d+1−k}. ln Φ(−a_k) falls by 1/scale a step, so the slope of
a is 1/scale divided by φ/Φ(−a), which grows with a: a is concave, and the sum is largest in the middle. For k > d the
logs of the two probabilities are d/scale apart, and the further out, the closer the quantiles; the first of these,
a_{d+1} − a_1, is at most a_d + a_1, because a is 0 at a k ≤ 1/2 (w^k = (1 + w)/2 ≥ √w) and concave. ∎

**Theorem (several numbers with discrete Laplace noise).** Let whole numbers x move by Σ d_i² ≤ D, and let each have
independent discrete Laplace noise of one scale. Then the answers are within G(√(2Dρ₁)), ρ₁ that of a pure loss of
1/scale. So a charge grows with squared changes as that of Gaussian noise does, and both live in one ledger.
Proof. Moving one number by one is of pure loss 1/scale, within G(μ₁) with μ₁ = √(2ρ₁). Moving it by d is d such moves,
along which differences of Φ⁻¹ add up: within G(dμ₁). Squares add up over numbers: Σ d_i² μ₁² ≤ 2Dρ₁. ∎
"""

import math
from fractions import Fraction
from typing import Final

from entwined.errors import BadNoise
from entwined.noise.lattice import LARGEST_SCALE, not_negative
from entwined.numbers import float_above, float_below, positive_fraction

SMOOTHED: Final = Fraction(3)
"""The variance that turns continuous noise into noise on whole numbers: s² of Lemma 2."""
SPARE: Final = Fraction(1, 10**8)
"""The share of the variance that pays for the last traces of the whole numbers."""
BLUR: Final = Fraction(8, 10**26)
"""η of Lemma 2: how far one answer is from being made of continuous noise."""
ABOVE_PI: Final = Fraction(355, 113)
MOST_SLIPPED: Final = Fraction(1, 100)
ROUNDING: Final = (
    1e-12  # above the relative error of scipy's inverse error functions, and of what follows them
)
EVEN: Final = 1.0  # from here on tails keep more digits than what they lack to a half
LARGEST_PURE: Final = 600  # beyond it e^ε is no float; ρ ≤ 4ε holds everywhere, because Φ(−u) ≤ exp(−u²/2)/2


def variance_for(rho: Fraction, squared_change: Fraction) -> Fraction:
    """Return a variance of discrete Gaussian noise that shows no more than the Gaussian of ρ.

    >>> variance_for(Fraction(1, 200), Fraction(1))
    Fraction(103000001, 1000000)
    """
    moved = not_negative(squared_change, "Squared change")
    found = (1 + SPARE) * moved / (2 * positive_fraction(rho, "ρ")) + SMOOTHED
    if found > LARGEST_SCALE**2:
        raise BadNoise(
            f"ρ = {float(rho):g} for a squared change of {float(moved):g} needs noise wider than 2⁵². Ask for a "
            "larger ρ, or count in a coarser unit."
        )
    return found


def rho_of(variance: Fraction, squared_change: Fraction) -> Fraction:
    """Return the ρ of whose Gaussian discrete Gaussian noise of this variance shows no more, exactly.

    >>> rho_of(variance_for(Fraction(1, 200), Fraction(2)), Fraction(2))
    Fraction(1, 200)
    """
    moved = not_negative(squared_change, "Squared change")
    if not SMOOTHED < variance <= LARGEST_SCALE**2:
        raise BadNoise(
            f"Discrete Gaussian noise of variance {float(variance):g} is not known to show no more than continuous "
            f"noise. Give a variance above {SMOOTHED} and up to 2¹⁰⁴."
        )
    return (1 + SPARE) * moved / (2 * (Fraction(variance) - SMOOTHED))


def choice_rate(rho: Fraction, squared_change: Fraction) -> Fraction:
    """Return the sharpest rate, rounded down, at which a choice by scores that move so much costs at most ρ.

    At a rate r a score that moves by Δ makes the log of P/P' vary by at most ε = 2Δr, so the μ of ε/2 will do, which is
    at most √(π/2) ε/2 because Φ⁻¹ of the logistic function is concave above 0: ρ = πΔ²r²/4. So a charge falls with the
    square of a smaller change, as that of noise does.

    >>> round(float(choice_rate(Fraction(1, 2), Fraction(1))), 6)
    0.797885
    """
    squared = (
        4 * positive_fraction(rho, "ρ") / (ABOVE_PI * positive_fraction(squared_change, "Squared change"))
    )
    near = math.sqrt(squared)
    while Fraction(near) ** 2 > squared:
        near = math.nextafter(near, 0.0)
    return Fraction(near)


def slip(numbers: int) -> Fraction:
    """Return what whole numbers add to any δ when so many answers are asked as one goes: 3kη.

    >>> float(slip(10**9))
    2.4e-16
    """
    if not 0 <= numbers * BLUR <= MOST_SLIPPED:
        raise BadNoise(f"{numbers:,} answers. Give a number between 0 and 10²³.")
    return 3 * numbers * BLUR


def rho_of_pure(epsilon: Fraction) -> Fraction:
    """Return the least ρ whose Gaussian shows as much as anything of pure loss ε, rounded up: ε near 0 costs πε²/4.

    >>> round(float(rho_of_pure(Fraction(1))), 6)
    0.758956
    """
    loss = positive_fraction(epsilon, "Loss")
    if loss > LARGEST_PURE:
        return 4 * loss
    return _charge(2 * _deviations_of_odds(float_above(loss)))


def rho_of_choice(epsilon: Fraction) -> Fraction:
    """Return the ρ of a choice by the exponential mechanism of loss ε, rounded up: a quarter, for small ε."""
    return rho_of_pure(positive_fraction(epsilon, "Loss") / 2)


def pure_of_rho(rho: Fraction) -> Fraction:
    """Return the largest pure loss, within a part in 10¹⁰, that a charge of ρ covers.

    >>> round(float(pure_of_rho(Fraction(1, 2))), 6)
    0.806965
    """
    from scipy.special import log_ndtr

    charge = positive_fraction(rho, "ρ")
    deviations = math.sqrt(float_below(charge) / 2)
    if deviations < EVEN:
        found = Fraction(2 * math.atanh(math.erf(deviations / math.sqrt(2))))
    else:
        found = Fraction(float(log_ndtr(deviations) - log_ndtr(-deviations)))
    if found > LARGEST_PURE:
        found = max(charge / 4, Fraction(LARGEST_PURE))
    while rho_of_pure(found) > charge:
        found *= 1 - Fraction(4 * ROUNDING)
    return found


def rho_of_laplace(scale: Fraction, change: int) -> Fraction:
    """Return the least ρ whose Gaussian shows as much as discrete Laplace noise on one number, rounded up.

    >>> round(float(rho_of_laplace(Fraction(1), 1)), 6), round(float(rho_of_laplace(Fraction(20), 20)), 6)
    (0.758956, 0.530766)
    """
    width = positive_fraction(scale, "Scale")
    if change < 0:
        raise BadNoise(f"A number that moves by {change}. Give a whole number ≥ 0.")
    if change == 0:
        return Fraction(0)
    if change > LARGEST_PURE * width:
        return rho_of_pure(change / width)
    near = (change + 1) // 2
    return _charge(sum(_deviations_of_tail(steps, width) for steps in (near, change + 1 - near)))


def laplace_scale(rho: Fraction, squared_change: Fraction) -> Fraction:
    """Return a scale of discrete Laplace noise that shows no more than the Gaussian of ρ, whatever numbers move.

    >>> round(float(laplace_scale(Fraction(1, 200), Fraction(1))), 3)
    12.532
    """
    moved = not_negative(squared_change, "Squared change")
    return 1 / pure_of_rho(positive_fraction(rho, "ρ") / moved) if moved else Fraction(1)


def rho_of_scale(scale: Fraction, squared_change: Fraction) -> Fraction:
    """Return the ρ of whose Gaussian discrete Laplace noise of this scale shows no more, rounded up."""
    moved = not_negative(squared_change, "Squared change")
    return moved * rho_of_pure(1 / positive_fraction(scale, "Scale"))


def _deviations_of_odds(loss: float) -> float:
    """Φ⁻¹(e^ε/(1 + e^ε)), within ROUNDING."""
    from scipy.special import erfcinv, erfinv

    if loss < EVEN:
        return math.sqrt(2) * float(erfinv(math.tanh(loss / 2)))
    return math.sqrt(2) * float(erfcinv(2 / (1 + math.exp(loss))))


def _deviations_of_tail(steps: int, scale: Fraction) -> float:
    """a_k with Φ(−a_k) = w^k/(1 + w), within ROUNDING; a half of it lacks 1 − 2w^k/(1 + w)."""
    from scipy.special import erfcinv, erfinv

    log_step, log_tail = -1 / float(scale), -float(Fraction(steps) / scale)
    lacking = (math.expm1(log_step) - 2 * math.expm1(log_tail)) / (1 + math.exp(log_step))
    if -log_tail < EVEN:
        return math.sqrt(2) * float(erfinv(lacking))
    return math.sqrt(2) * float(erfcinv(2 * math.exp(log_tail) / (1 + math.exp(log_step))))


def _charge(shift: float) -> Fraction:
    """μ²/2, rounded up."""
    return Fraction(shift) ** 2 / 2 * (1 + 4 * Fraction(ROUNDING))
