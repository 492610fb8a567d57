"""How well two normal laws of different means and variances can be told apart, exactly but for rounding against us.

E_γ(P‖Q) = sup_S P(S) − γ Q(S). For normal laws the best S is an interval, or the outside of one, whose ends solve a
quadratic equation. A rounded end costs the square of its error, for the ends are where P − γQ changes sign; what
remains are the tails themselves.

**Growing in the shift.** E_γ(N(m, w)‖N(0, w′)) grows with |m|. If w > w′ the best S is the outside of an interval whose
centre is on the other side of 0 than m: a larger m takes mass of P out of that same interval. If w < w′ it is an
interval beyond m: moved along with m it keeps P and loses Q.

**Falling in noise.** The same independent noise on both is post-processing, so E_γ falls in it.

**Excess (a whole range of variances).** Let w ≤ v_a, v_b and |v_a − v_b| ≤ e. Taking the common part of noise away,
E_γ is at most that of N(m, w + t) and N(0, w) for a t in [0, e], in one order or the other. For t in [t₁, t₂], with
r² = (w + t₂)/(w + t₁), the densities have N(m, w + t) ≤ r N(m, w + t₂) and N(m, w + t) ≥ N(m, w + t₁)/r, so
E_γ(N(m, w + t)‖Q) ≤ r E_{γ/r}(N(m, w + t₂)‖Q) and E_γ(Q‖N(m, w + t)) ≤ E_{γ/r}(Q‖N(m, w + t₁)). A few thousand
steps cover [0, e].
"""

import math
from fractions import Fraction
from typing import Final

import numpy as np

from entwined.bounds.profiles.gaussian import largest_gaussian_rho
from entwined.numbers import FloatArray, float_above, float_below

ROUNDING: Final = 1e-13  # above what two tails and their difference lose, absolutely
CLOSER: Final = 1e-10  # and in proportion
FINE: Final = 1e-4  # the part of ε that one step over variances may cost
MOST_STEPS: Final = 20_000


def told_apart(
    epsilon: FloatArray | float, shift: float, first: FloatArray, second: FloatArray
) -> FloatArray:
    """E_γ of N(shift, first) against N(0, second) at γ = e^ε, never below the truth.

    >>> told_apart(1.0, 1.0, np.array([1.0]), np.array([1.0])).round(5).tolist()
    [0.12694]
    """
    from scipy.special import ndtr

    wide, narrow = np.broadcast_arrays(np.asarray(first, float), np.asarray(second, float))
    level = np.broadcast_to(np.asarray(epsilon, float), wide.shape)
    bent = 0.5 * (1 / narrow - 1 / wide)
    line = shift / wide
    base = 0.5 * np.log(narrow / wide) - level - 0.5 * shift * line
    root = np.sqrt(np.maximum(line**2 - 4 * bent * base, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        half = -0.5 * (line + root)  # line ≥ 0, so nothing cancels
        ends = np.where(bent == 0, -np.inf, half / bent), np.where(half == 0, np.inf, base / half)
    low, high = np.fmin(*ends), np.fmax(*ends)

    def inside(mean: float, variance: FloatArray) -> FloatArray:
        scale = np.sqrt(variance)
        above, below = (high - mean) / scale, (low - mean) / scale
        flip = below > 0  # both ends in the upper tail: take the mirrored one, which keeps its digits
        return np.asarray(np.where(flip, ndtr(-below) - ndtr(-above), ndtr(above) - ndtr(below)))

    def outside(mean: float, variance: FloatArray) -> FloatArray:
        scale = np.sqrt(variance)
        return np.asarray(ndtr(-(high - mean) / scale) + ndtr((low - mean) / scale))

    gamma = np.exp(level)
    is_out = bent > 0
    mass = np.where(is_out, outside(shift, wide), inside(shift, wide))
    other = np.where(is_out, outside(0.0, narrow), inside(0.0, narrow))
    same = bent == 0  # then S is a half line
    if same.any():
        end = -base / np.where(line > 0, line, np.inf)
        alone = ndtr((shift - end) / np.sqrt(wide)), ndtr(-end / np.sqrt(narrow))
        nothing = line <= 0
        mass = np.where(same, np.where(nothing, 0.0, alone[0]), mass)
        other = np.where(same, np.where(nothing, 0.0, alone[1]), other)
    found = np.maximum(mass - gamma * other, np.maximum(1 - gamma, 0.0))
    return np.asarray(np.maximum(found, 0.0) * (1 + CLOSER) + ROUNDING)


def either_way(epsilon: float, shift: float, first: float, second: float) -> float:
    """The larger E_γ of two normal laws in both orders.

    >>> round(either_way(1.0, 2.0, 64.0, 9.0), 4) > round(either_way(1.0, 2.0, 9.0, 9.0), 4)
    True
    """
    one = told_apart(epsilon, shift, np.array([first]), np.array([second]))
    other = told_apart(epsilon, shift, np.array([second]), np.array([first]))
    return float(max(one[0], other[0]))


def told_beside(shown: float, epsilon: Fraction, shift: Fraction | float, variance: float) -> float:
    """Bound E_γ of what moves by a shift under noise of a variance, beside something that shows at most `shown`.

    Mixtures over what is shown, whose weights differ by a factor of at most e^shown, have E_γ of at most that of each
    at γ' = γ e^{−shown}; and where that is below 1, P − γ'Q = (1 − γ')P + γ'(P − Q) ≤ 1 − γ' + γ' E_1. If nothing
    moves, p ≤ e^shown q and 1 − q ≤ e^shown (1 − p) for the chances of every event, so p − γq is at most
    (e^shown − γ)/(e^shown + 1).
    """
    if (shift and variance <= 0) or math.isinf(shown):
        return 1.0
    beyond = max(shown - float_below(epsilon), 0.0)
    inner = max(float_below(epsilon) - shown, 0.0)
    moved = shift if isinstance(shift, float) else float_above(shift)
    if not shift:
        return max(math.expm1(beyond) * math.exp(shown - beyond), 0.0) / (math.exp(shown) + 1) * (1 + CLOSER)
    hidden = either_way(inner, moved, variance, variance)
    return min(1.0, -math.expm1(-beyond) + math.exp(-beyond) * hidden)


def worst_in_range(epsilon: float, shift: float, least: float, excess: float) -> float:
    """Bound E_γ, in both orders, over all variances of at least `least` that differ by at most `excess`."""
    if excess <= 0:
        return either_way(epsilon, shift, least, least)
    steps = math.ceil(math.log1p(excess / least) / (2 * FINE * min(epsilon, 1.0)))
    steps = min(max(steps, 1), MOST_STEPS)
    grid = least * np.exp(np.linspace(0.0, math.log1p(excess / least), steps + 1) * (1 + 1e-12))
    ratio = np.sqrt(grid[1:] / grid[:-1]) * (1 + 1e-12)
    near = np.full(steps, least)
    lower = epsilon - np.log(ratio)
    wider = ratio * told_apart(lower, shift, grid[1:], near)
    other = told_apart(lower, shift, near, grid[:-1])
    return float(max(wider.max(), other.max()))


def analytic_ratio(epsilon: Fraction, delta: Fraction) -> float:
    """The least σ/Δ of Gaussian noise that keeps (ε, δ), whatever ε is (Balle, Wang 2018), rounded up.

    >>> round(analytic_ratio(Fraction(1), Fraction(1, 1000)), 4)
    2.5747
    """
    return 1 / math.sqrt(float_below(2 * largest_gaussian_rho(epsilon, delta))) * (1 + CLOSER)


def classical_ratio(epsilon: Fraction, delta: Fraction) -> float:
    """The σ/Δ of the paper, √(2 ln(1.25/δ))/ε: for reproduction, since it is proved for ε ≤ 1 alone.

    >>> round(classical_ratio(Fraction(1), Fraction(1, 1000)), 4)
    3.7765
    """
    return math.sqrt(2 * math.log(1.25 / float_above(delta))) / float_above(epsilon)
