"""The Wasserstein mechanism for one number: noise for the farthest that a secret can move its law."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike

from entwined.bounds.noisy_sum import NoisySum
from entwined.bounds.sum_law import SumLaw, sum_law
from entwined.bounds.theorem import theorem
from entwined.dependence import MarkovChain
from entwined.errors import BadInput, BadLoss, Unreachable
from entwined.loss import Leakage
from entwined.numbers import ULP, FloatArray, round_up

SHARE: Final = (
    1e-8  # of each atom, what may be left where it is: rounding must not decide between two quantiles
)
MOST_WRONG: Final = 1e-6  # probabilities may miss a sum of 1 by this much


@dataclass(frozen=True, eq=False, slots=True)
class FiniteLaw:
    """A law on finitely many numbers: `atoms` in rising order, logarithms of their chances and tails."""

    atoms: FloatArray
    logs: FloatArray
    upto: FloatArray = field(init=False)
    after: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        if self.atoms.ndim != 1 or self.atoms.shape != self.logs.shape or self.atoms.size == 0:
            raise BadInput(
                "A law needs as many chances as numbers, and at least one. Give two lists of equal length."
            )
        if (
            not np.isfinite(self.atoms).all()
            or (np.diff(self.atoms) <= 0).any()
            or not np.isfinite(self.logs).all()
        ):
            raise BadInput(
                "A law needs finite numbers in rising order with chances above zero. Sort and merge them."
            )
        since = np.logaddexp.accumulate(self.logs[::-1])[::-1]
        object.__setattr__(self, "upto", np.logaddexp.accumulate(self.logs))
        object.__setattr__(self, "after", np.append(since[1:], -np.inf))

    @classmethod
    def of(cls, atoms: ArrayLike, chances: ArrayLike) -> Self:
        """Read a law; chances of zero are left out."""
        places, masses = np.asarray(atoms, dtype=np.float64), np.asarray(chances, dtype=np.float64)
        right = (
            places.shape == masses.shape and bool((masses >= 0).all()) and abs(masses.sum() - 1) <= MOST_WRONG
        )
        if not right:
            raise BadInput(
                "The chances of a law are as many as its numbers, not negative, and sum to 1. Check them."
            )
        return cls(places[masses > 0], np.log(masses[masses > 0] / masses.sum()))


@theorem("model")
def wasserstein_bound(noisy: NoisySum, model: MarkovChain) -> Leakage:
    """Bound the leakage of one sum with Laplace noise by the farthest that a secret moves it.

    Theorem. Let F = Σ_t w(X_t) be a sum of integer weights over the steps of a Markov chain of known
    initial law and transitions, released with Laplace noise of scale t, continuous or on the integers.
    Let W_i be the least distance such that, for any values a and b that X_i can take, the law of F given
    X_i = a can be carried into the law of F given X_i = b so that all but a share of 10⁻⁸ of each value's
    probability moves by at most W_i. Then the leakage of unit i is at most W_i / t + 1.1·10⁻⁸. Without
    the share, W_i is the largest ∞-Wasserstein distance of two such laws. Between values a and b of which X_i
    cannot take one at least it is |w(a) − w(b)| / t, whatever the other units are.

    Checked. The model is one law and has its start, the weights are integers. Quantiles are compared by
    logarithms of the lower tails below the median and of the upper tails above it; where rounding leaves
    open which of two values a quantile is, both count.

    Trusted. The steps follow this chain, the adversary knows the value of no unit, and this sum is the
    only release about these units. For several releases add the losses and bound them once: leakages do
    not add.

    Proof. Let m(k, l) be the probability that is carried from k to l, and D_a(y) = Σ_k Pr[F = k | a]
    exp(−|y − k|/t) the density up to a factor. If |k − l| ≤ W then exp(−|y − k|/t) ≤ exp(W/t) exp(−|y −
    l|/t). With η the share, (1 − η) Pr[F = k | a] is at most the sum of m(k, l) over the l within W, so
    (1 − η) D_a(y) ≤ exp(W/t) Σ_l Pr[F = l | b] exp(−|y − l|/t) = exp(W/t) D_b(y). On the line no
    transport has a smaller largest distance than the one that keeps the order, from quantile to quantile.

    Source. Song, Wang, Chaudhuri (2017), the Wasserstein Mechanism; the share that makes it safe in
    floats is new here.
    """
    law = sum_law(model, noisy.weights)
    moved = farthest_moves(law)
    seen = np.where(moved > 0, round_up(moved / noisy.scale) + rounding(law), 0.0)
    return Leakage(np.maximum(seen, noisy.ruled_out(law.possible)))


def wasserstein_scale(chain: MarkovChain, weights: Sequence[int], target: float) -> float:
    """Give the Laplace scale for which the Wasserstein bound meets the target.

    >>> from entwined.dependence import Box
    >>> chain = MarkovChain(100, Box.exact([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]))
    >>> round(wasserstein_scale(chain, [0, 1], 1.0), 6)
    10.0
    """
    if not (math.isfinite(target) and target > 0):
        raise BadLoss(f"Leakage {target} is not a positive number. Give a target such as 1.0.")
    law = sum_law(chain, tuple(weights))
    alone = float(NoisySum.of(weights, target, chain.length).ruled_out(law.possible).max())
    moved, left = float(farthest_moves(law).max()), target - rounding(law)
    if moved > 0 and left <= 0:
        raise Unreachable(
            f"A leakage of {target} is below the {rounding(law):.1g} set aside for rounding. Ask for more."
        )
    return max(alone * (1 + 8 * ULP), moved / left * (1 + 8 * ULP) if moved > 0 else 0.0)


def rounding(law: SumLaw) -> float:
    """Give what the share that stays behind and the errors of the law add to the leakage."""
    return 1.1 * SHARE + 2 * law.error


def farthest_moves(law: SumLaw) -> FloatArray:
    """For each unit the farthest move between the laws of the sum given two of its states."""
    sums = law.gap * np.arange(len(law.logs), dtype=np.float64)
    moved = np.zeros(law.logs.shape[2])
    for unit, states in enumerate(law.logs.transpose(2, 1, 0)):
        kept = np.isfinite(states)
        given = [
            FiniteLaw(sums[some], logs[some]) for logs, some in zip(states, kept, strict=True) if some.any()
        ]
        moved[unit] = max((farthest_move(one, other) for one, other in combinations(given, 2)), default=0.0)
    return moved


def farthest_move(one: FiniteLaw, other: FiniteLaw) -> float:
    """Give the ∞-Wasserstein distance of two laws, a small share of each atom apart: a quantile gap.

    >>> farthest_move(FiniteLaw.of([0, 1], [0.5, 0.5]), FiniteLaw.of([1, 5], [0.5, 0.5]))
    4.0
    """
    return max(farthest_from(one, other), farthest_from(other, one))


def farthest_from(one: FiniteLaw, other: FiniteLaw) -> float:
    """Give the farthest that an atom of the one goes, a share at both ends of its quantiles left out.

    Each end is looked up among the lower tails and among the upper tails, widened by their rounding, and
    the closer one counts.
    """
    error = 2 * (one.atoms.size + other.atoms.size + 8) * ULP
    left_out = one.logs + math.log(SHARE / 2)
    before, since = np.append(-np.inf, one.upto[:-1]), np.append(0.0, one.after[:-1])
    first = np.maximum(
        np.searchsorted(other.upto, plus(widened(before, -error), left_out), side="right"),
        np.searchsorted(-other.after, -minus(widened(since, error), left_out), side="right"),
    )
    last = np.minimum(
        np.searchsorted(other.upto, minus(widened(one.upto, error), left_out), side="left"),
        np.searchsorted(-other.after, -plus(widened(one.after, -error), left_out), side="left"),
    )
    ends = other.atoms[np.minimum(np.stack([first, last]), other.atoms.size - 1)]
    return float(np.abs(ends - one.atoms).max())


def widened(logs: FloatArray, error: float) -> FloatArray:
    """Move logarithms by their relative error."""
    return logs + error * (1.0 + np.abs(logs, where=np.isfinite(logs), out=np.zeros(logs.shape)))


def plus(one: FloatArray, other: FloatArray) -> FloatArray:
    """Give the logarithm of a sum."""
    return np.logaddexp(one, other)


def minus(one: FloatArray, other: FloatArray) -> FloatArray:
    """Give the logarithm of a difference of which the first part is much the larger."""
    return one + np.log1p(-np.exp(other - one))
