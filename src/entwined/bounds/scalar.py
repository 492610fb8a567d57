"""The exact accountant for one number: the least Laplace noise on a count or sum over a Markov chain."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from entwined.bounds.noisy_sum import NoisySum
from entwined.bounds.sum_law import SumLaw, sum_law
from entwined.bounds.theorem import theorem
from entwined.dependence import MarkovChain
from entwined.errors import BadLoss
from entwined.loss import Leakage
from entwined.numbers import ULP, FloatArray

CLOSE: Final = 1e-9
NOTHING: Final = -1e290  # stands for the logarithm of zero, below all others
VANISHING: Final = (
    1e-9  # scales this far below the gaps between values hide nothing that a smaller one would show
)


@theorem("model")
def exact_scalar_accountant_bound(noisy: NoisySum, model: MarkovChain) -> Leakage:
    """Give the leakage of one sum with Laplace noise, exactly, if the adversary knows the model alone.

    Theorem. Let F = Σ_t w(X_t) be a sum of integer weights over the steps of a Markov chain of known
    initial law and transitions, released as F + Z with Z from the Laplace law of scale t. For values a
    and b that X_i can take, let D_a(y) = Σ_k Pr[F = k | X_i = a] exp(−|y − k|/t). The leakage of unit i
    is the largest |log D_a(k) − log D_b(k)| over a, b and the integers k from the least to the largest
    value of F. The same number is the leakage if Z is the discrete Laplace law on the integers, Pr[Z = z]
    ∝ exp(−|z|/t). It does not grow with t. Between values a and b of which X_i cannot take one at least it is
    |w(a) − w(b)| / t, whatever the other units are.

    Checked. The model is one law and has its start, the weights are integers, and the laws of F given X_i
    are computed from products and sums of probabilities that cannot underflow. The result is rounded up by a
    bound on all rounding errors.

    Trusted. The steps follow this chain, the adversary knows the value of no unit, and this sum is the
    only release about these units. For several releases add the losses and bound them once: leakages do
    not add.

    Proof. The density of F + Z at y given X_i = a is D_a(y)/2t, so the leakage is the supremum of |log
    D_a/D_b|. Between two neighbouring integers D_a(y) = A e^{−y/t} + B e^{y/t} and D_b(y) = C e^{−y/t} +
    D e^{y/t} with fixed A, B, C, D ≥ 0, and their ratio is a Möbius function of e^{2y/t}, hence monotone:
    its extremes lie at integers. Below the least and above the largest value of F the ratio is constant.
    With discrete noise the output is an integer k and its probability is proportional to D_a(k), with the
    same factor for a and b. For t' > t the Laplace law of scale t' is that of scale t plus independent
    noise: its characteristic function 1/(1 + t'²u²) is 1/(1 + t²u²) times q + (1 − q)/(1 + t'²u²) with q
    = t²/t'², the characteristic function of a mixture of the point 0 and the Laplace law of scale t'. So
    more noise is post-processing. Of a value that cannot occur the model says nothing: with all other units
    held fixed the sum moves by |w(a) − w(b)|.

    Source. Direct calculation; for one number it replaces the bounds of Song, Wang, Chaudhuri (2017) by
    the truth.
    """
    law = sum_law(model, noisy.weights)
    return Leakage(np.maximum(noisy_range(law, noisy.scale), noisy.ruled_out(law.possible)))


def least_scale(chain: MarkovChain, weights: Sequence[int], target: float) -> float:
    """Give the least Laplace scale, to one part in 10⁹ and never less, whose leakage is at most the target.

    It is 0 if the sum never changes, whatever the units are. If even very little noise keeps the target, it is a
    scale of very little noise.

    >>> from entwined.dependence import Box
    >>> chain = MarkovChain(100, Box.exact([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]))
    >>> round(least_scale(chain, [0, 1], 1.0), 2)
    8.64
    """
    if not (math.isfinite(target) and target > 0):
        raise BadLoss(f"Leakage {target} is not a positive number. Give a target such as 1.0.")
    law = sum_law(chain, tuple(weights))
    alone = float(NoisySum.of(weights, target, chain.length).ruled_out(law.possible).max())
    return max(alone * (1 + 8 * ULP), _least_by_law(law, target) if len(law.logs) > 1 else 0.0)


def _least_by_law(law: SumLaw, target: float) -> float:
    """Give the least scale for the values that the units can take."""
    most = (
        2.0 * (len(law.logs) - 1) * law.gap / target
    )  # the range of the sum over the target would do, but for rounding
    if noisy_range(law, most).max() > target:
        raise BadLoss(
            f"Leakage {target} cannot be told from rounding errors here. Give one above {8 * law.error:.1g}."
        )
    least = most
    while noisy_range(law, least).max() <= target:
        most, least = least, least / 8
        if least < law.gap * VANISHING:
            return most
    return inverted(law, target, (least, most))


def inverted(law: SumLaw, target: float, bracket: tuple[float, float]) -> float:
    """Find the scale between one that leaks too much and one that does not."""
    from scipy.optimize import brentq

    def excess(log_scale: float) -> float:
        return math.log(float(noisy_range(law, math.exp(log_scale)).max()) / target)

    least, most = map(math.log, bracket)
    scale = math.exp(float(brentq(excess, least, most, xtol=CLOSE / 8, rtol=4 * ULP))) * (1 + CLOSE / 2)
    while noisy_range(law, scale).max() > target:
        scale *= 1 + CLOSE / 4
    return scale


def noisy_range(law: SumLaw, scale: float) -> FloatArray:
    """For each unit the largest log ratio of two densities of the noisy sum, over all its values."""
    decay = law.gap / scale
    if decay * len(law.logs) > -NOTHING / 2:
        raise BadLoss(f"Scale {scale} is too small to reckon with. Give a larger one.")
    possible = law.possible
    some = np.where(possible, np.arange(len(possible))[:, None], possible.argmax(axis=0))
    logs = np.maximum(
        np.take_along_axis(law.logs, some[None], axis=1), NOTHING
    )  # no secret: as another state
    left = np.empty_like(logs)
    left[0] = logs[0]
    for k in range(1, len(left)):
        left[k] = log_sum(logs[k], left[k - 1] - decay)
    right = np.full(possible.shape, NOTHING)
    widest, largest = np.zeros(possible.shape[1]), 0.0
    for k in range(len(left) - 1, -1, -1):
        density = log_sum(left[k], right)
        lowest = density.min(axis=0)
        widest = np.maximum(widest, density.max(axis=0) - lowest)
        largest = max(largest, -float(lowest.min()))
        right = log_sum(logs[k], right) - decay
    rounding = 4 * (len(left) + 8) * (1.0 + largest) * ULP
    secret = possible.sum(axis=0) > 1
    return np.asarray(np.where(secret, widest + 2 * law.error + rounding, 0.0))


def log_sum(one: FloatArray, other: FloatArray) -> FloatArray:
    """Add numbers given by their logarithms: faster than numpy's own, as good unless near 0."""
    top = np.maximum(one, other)
    return np.asarray(top + np.log(1.0 + np.exp(np.minimum(one, other) - top)))
