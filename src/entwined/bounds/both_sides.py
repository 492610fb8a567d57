"""One noisy number about series of thousands of steps: what comes before a step and what comes after it, one by one."""

from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import Final, Self, TypeAlias

import numpy as np

from entwined.bounds.chain_laws import known_kernels
from entwined.bounds.noisy_sum import SeriesSum
from entwined.bounds.sum_law import RAREST, checked_weights
from entwined.bounds.theorem import theorem
from entwined.dependence import Chained
from entwined.errors import DoesNotApply
from entwined.loss import Leakage
from entwined.numbers import ULP, FloatArray, IntArray, round_up_float

MOST_WORK: Final = 250_000_000  # about two seconds
WIDEST: Final = 500.0  # likelihoods of two states further apart than e^500 are not followed
FAINTEST: Final = 1e-200
Apart: TypeAlias = tuple[FloatArray, float]  # for every two states, and how far off it may be
LAST_DIGITS: Final = (
    16  # units in the last place that an exponential, a logarithm and what is around them may be off
)


@theorem("model", yields_to=("exact scalar of series",))
def both_sides_of_series_bound(noisy: SeriesSum, model: Chained) -> Leakage:
    """Bound the leakage of one sum over many long series with Laplace noise by what each side of a step shows of it.

    Theorem. Let rows be in series as in the theorem "exact scalar of series", of at most n steps, where transitions may
    differ from step to step, and F the sum of integer weights w of all rows, released with Laplace noise of scale t,
    continuous or on the integers. For values a and b that X_i can take let U⁻(i; a, b) be the largest log D_a(k)/D_b(k)
    over the integers k from the least to the largest value of w(X_1) + … + w(X_i), where D_a(k) is the mean of
    exp(−|k − that sum|/t) given X_i = a. Let U⁺(i, l; a, b) be the same for the sum of the l steps after i. Then step i
    of any series leaks at most the largest of U⁻(i; a, b) + U⁺(i, l; a, b) over a, b and l ≤ n − i, and of
    (max w − min w)/t. It does not grow with t. Of a step behind the n-th, which is not in the sum, no more leaks than
    of the n-th.

    Checked. The model is one law and has its start, the weights are integers, and every length up to n is worked out
    in logarithms. Results are rounded up by a bound on all rounding errors, and are infinite where likelihoods are too
    far apart to follow.

    Trusted. Series follow this chain from its first step on, without gaps. How long one is depends on no secret. The
    adversary knows the value of no unit of the secret's own series, and this sum is the only release about these units.

    Proof. Let the secret's own series have m ≤ n steps, A be its sum up to step i and B its sum over the l = m − i
    steps after it: given X_i they are independent. Write A_a + Z for the law of A + Z given X_i = a, and so on. The
    density of A + Z is D_a/2t, and between neighbouring integers log D_a − log D_b is monotone (see the theorem "exact
    scalar accountant"), so A_a + Z ≤ e^{U⁻} (A_b + Z) everywhere; on the integers the same with another factor. Adding
    independent numbers keeps such an inequality: A_a + B_a + Z ≤ e^{U⁻} (A_b + B_a + Z) ≤ e^{U⁻ + U⁺} (A_b + B_b + Z).
    All other series are added in the same way, and so is more noise, for the Laplace law of a larger scale is that of a
    smaller one plus independent noise. Later steps than the n-th and rows of no series are dealt with as in the
    theorem "exact scalar of series".

    Source. New here. At the least and at the largest value of the sum D_a is a product of both sides, so where the
    worst output is one of these it is the exact leakage: on chains that stay as they were, and on about two in three
    random short ones; on chains that alternate it may be twice as much.
    """
    return Leakage(worst_by_sides(model, noisy.weights, noisy.scale))


@lru_cache(maxsize=64)
def worst_by_sides(chain: Chained, weights: tuple[int, ...], scale: float) -> FloatArray:
    """For each step the most that both sides of it show, in a series of any length that has it."""
    initial, kernels = known_kernels(chain)
    given = checked_weights(chain, weights)
    gap = max(1, gcd(*(given - given.min()).tolist()))
    weight = (given - given.min()) // gap
    refuse_work(chain, int(weight.max()), kernels)
    noise = AddedUp(weight, gap / scale)
    after = _after(kernels, chain.length, noise)
    before = _before(initial, kernels, chain.length, noise)
    if before is None or after is None:
        return np.full(chain.length, np.inf)
    found = np.full(chain.length, round_up_float((max(weights) - min(weights)) / scale))
    for at, (apart, error) in enumerate(before):
        most, more = after[chain.length - 1 - at][at % len(kernels)]
        both = apart + most
        np.fill_diagonal(both, -np.inf)
        worst = float(both.max())
        if worst > -np.inf:
            found[at] = max(found[at], worst + 2 * (error + more))
    return found


def refuse_work(chain: Chained, span: int, kernels: FloatArray) -> None:
    """Refuse what would take many seconds each time."""
    states, n = chain.states, chain.length
    work = len(kernels) * n * (n * span + 1) // 2 * states * (states + 6)
    if work > MOST_WORK:
        raise DoesNotApply(
            f"A sum with {n * span + 1:,} values over {n:,} steps of {states} states is too much to follow. Use fewer "
            "steps or smaller weights, or a bound for all queries."
        )
    if min(law[law > 0].min() for law in (kernels, chain.initial) if law is not None) < RAREST:
        raise DoesNotApply(
            f"A probability is above zero but below {RAREST:g}: too small to follow. Use a bound."
        )


@dataclass(frozen=True, eq=False, slots=True)
class AddedUp:
    """What a state adds to the sum, and how much less likely an output is one further off, in logarithms."""

    weight: IntArray
    decay: float


@dataclass(frozen=True, eq=False, slots=True)
class NoisySide:
    """`logs[k, s]` is the log mean of exp(−|k − sum|/t) with state s, or given it, up to ±error; −∞ if it cannot be."""

    logs: FloatArray
    error: float

    def moved(self, noise: AddedUp) -> Self:
        """Add each state's weight to the sums; outside of the old ones a likelihood falls by its distance."""
        rows, states = self.logs.shape
        span = int(noise.weight.max())
        moved = np.empty((rows + span, states))
        for shift in np.unique(noise.weight).tolist():
            here = noise.weight == shift
            moved[shift : shift + rows, here] = self.logs[:, here]
            moved[:shift, here] = self.logs[:1, here] - noise.decay * np.arange(shift, 0, -1)[:, None]
            behind = noise.decay * np.arange(1, span - shift + 1)[:, None]
            moved[shift + rows :, here] = self.logs[-1:, here] - behind
        return type(self)(moved, self.error)

    def mixed(self, matrix: FloatArray) -> Self | None:
        """Multiply each row by a matrix; nothing where states are too far apart."""
        top = self.logs.max(axis=1, keepdims=True)
        behind = self.logs - top
        widest = -float(np.min(behind, where=np.isfinite(behind), initial=0.0))
        if widest > WIDEST:
            return None
        with np.errstate(divide="ignore"):
            logs = np.log(np.exp(behind) @ matrix) + top
        largest = float(np.max(np.abs(top))) + widest
        rounding = (widest + len(matrix) + LAST_DIGITS * (1.0 + largest)) * ULP
        return type(self)(logs, self.error + rounding)

    def apart(self) -> FloatArray:
        """For every two states the largest log ratio of their likelihoods; −∞ where one of them cannot be."""
        states = self.logs.shape[1]
        found = np.full((states, states), -np.inf)
        able = np.flatnonzero(np.isfinite(self.logs[0]))
        there = self.logs[:, able]
        for place, other in enumerate(able.tolist()):
            found[able, other] = (there - there[:, place : place + 1]).max(axis=0)
        return found


def _after(kernels: FloatArray, length: int, noise: AddedUp) -> list[list[Apart]] | None:
    """For every two states what the next steps show at most, none of them, one or fewer, …; by which kernel is next."""
    turns = range(len(kernels))
    now: list[NoisySide | None] = [NoisySide(np.zeros((1, kernels.shape[1])), 0.0) for _ in turns]
    most, found = [np.zeros_like(kernels[0]) for _ in turns], []
    for _ in range(length):
        there = [one for one in now if one is not None]
        if len(there) < len(now):
            return None
        most = [np.maximum(known, one.apart()) for known, one in zip(most, there, strict=True)]
        found.append([(known, one.error) for known, one in zip(most, there, strict=True)])
        now = [there[(turn + 1) % len(kernels)].moved(noise).mixed(kernels[turn].T) for turn in turns]
    return found


def _before(initial: FloatArray, kernels: FloatArray, length: int, noise: AddedUp) -> list[Apart] | None:
    """For every two states what all steps up to this one show, itself included."""
    with np.errstate(divide="ignore"):
        now: NoisySide | None = NoisySide(np.log(initial)[None], ULP * LAST_DIGITS)
    chance, able, found = initial, np.asarray(initial > 0), []
    for at in range(length):
        if now is None or chance[able].min() < FAINTEST:
            return None
        here, step = now.moved(noise), kernels[at % len(kernels)]
        given = NoisySide(np.full_like(here.logs, -np.inf), here.error)
        given.logs[:, able] = here.logs[:, able] - np.log(chance[able])
        rounding = (at + 1) * (len(step) + LAST_DIGITS) * ULP
        rounding += LAST_DIGITS * ULP * float(np.abs(here.logs[:, able]).max())
        found.append((given.apart(), here.error + rounding))
        now, chance = here.mixed(step), chance @ step
        able = np.asarray((step[able] > 0).any(axis=0))
    return found
