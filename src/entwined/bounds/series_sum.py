"""One noisy number about many series: a count or a total over all their steps, and nothing else."""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from entwined.bounds.noisy_sum import SeriesSum
from entwined.bounds.scalar import noisy_range
from entwined.bounds.sum_law import sum_laws
from entwined.bounds.theorem import theorem
from entwined.bounds.wasserstein import farthest_moves, rounding
from entwined.dependence import MarkovChain
from entwined.loss import Leakage
from entwined.numbers import FloatArray, round_up, round_up_float


@theorem("model")
def exact_scalar_of_series_bound(noisy: SeriesSum, model: MarkovChain) -> Leakage:
    """Bound the leakage of one sum over many series with Laplace noise by the exact one of the worst series.

    Theorem. Let rows be in series that are independent of each other, each the first steps of a Markov chain of known
    initial law and transitions, any number of steps up to n, or be independent of all others. Let F be the sum of
    integer weights w of all rows, released as F + Z with Z from the Laplace law of scale t, continuous or on the
    integers. Let L(m, i) be what F + Z leaks of step i if a series of m steps is all there is, by the exact scalar
    accountant. Then step i of any series leaks at most the largest of L(i, i), …, L(n, i), and of (max w − min w)/t.
    It does not grow with t. Of a step behind the n-th, which is not in the sum, no more leaks than of the n-th.

    Checked. The model is one law and has its start, the weights are integers, every length up to n is worked out, and
    results are rounded up by a bound on all rounding errors.

    Trusted. Series follow this chain from its first step on, without gaps. How long one is depends on no secret. The
    adversary knows the value of no unit of the secret's own series, and this sum is the only release about these units.

    Proof. Let G be the part of F that the secret's own series adds, and H the rest. H is independent of that series,
    so given any value of step i, and whatever is known of the other series, F + Z is (G + Z) + H with H independent of
    G + Z: it is made of G + Z without looking at the series again, and leaks no more. The series has some number m ≤ n
    of steps, which says nothing of its values, so G + Z leaks L(m, i) of step i. If it has more, its first n are the
    chain of n steps, and given a value of a later one the law of G is a mixture, over the values of step n, of the laws
    given these; so the ratio of two such mixtures is within what step n leaks. A row of no series moves F by at most
    max w − min w. Each L(m, i) falls as t grows, and so does the rest.

    Source. Direct calculation from the exact scalar accountant; that lengths have to be taken one by one is new here:
    a shorter series may leak more, as later steps hide those before them.
    """
    return Leakage(worst_of_lengths(model, noisy.weights, noisy.scale))


@lru_cache(maxsize=64)
def worst_of_lengths(chain: MarkovChain, weights: tuple[int, ...], scale: float) -> FloatArray:
    """For each step the most that it leaks in a series of any length that has it."""
    found = (noisy_range(law, scale) for law in sum_laws(chain, weights))
    return _largest(found, chain.length, (max(weights) - min(weights)) / scale)


@theorem("model", yields_to=("exact scalar of series",))
def wasserstein_of_series_bound(noisy: SeriesSum, model: MarkovChain) -> Leakage:
    """Bound the leakage of one sum over many series with Laplace noise by the farthest that a secret moves it.

    Theorem. Let rows be in series as in the theorem "exact scalar of series", of at most n steps, and F the sum of
    integer weights w of all rows, released with Laplace noise of scale t, continuous or on the integers. Let W(m, i) be
    the distance of the theorem "wasserstein" for step i of a single series of m steps. Then step i of any series leaks
    at most the largest of W(i, i), …, W(n, i), and of max w − min w, over t, and 1.1·10⁻⁸ more.

    Checked. As in the theorem "wasserstein", for every length up to n.

    Trusted. Series follow this chain from its first step on, without gaps. How long one is depends on no secret. The
    adversary knows the value of no unit of the secret's own series, and this sum is the only release about these units.

    Proof. A series of m steps alone leaks at most W(m, i)/t + 1.1·10⁻⁸ of step i by the theorem "wasserstein". Other
    series, unknown lengths and rows of no series are dealt with as in the theorem "exact scalar of series".

    Source. Song, Wang, Chaudhuri (2017), the Wasserstein Mechanism; series of several lengths are new here.
    """
    moved, error = farthest_of_lengths(model, noisy.weights)
    return Leakage(np.where(moved > 0, round_up(moved / noisy.scale) + error, 0.0))


@lru_cache(maxsize=4)
def farthest_of_lengths(chain: MarkovChain, weights: tuple[int, ...]) -> tuple[FloatArray, float]:
    """For each step the farthest that it moves the sum in a series of any length, and what is added for rounding."""
    laws = sum_laws(chain, weights)
    found = _largest(map(farthest_moves, laws), chain.length, float(max(weights) - min(weights)))
    return found, max(map(rounding, laws))


def _largest(lengths: Iterable[FloatArray], steps: int, least: float) -> FloatArray:
    """Take the largest for each step over all lengths, and never less than a row by itself."""
    found = np.full(steps, round_up_float(least))
    for each in lengths:
        np.maximum(found[: each.size], each, out=found[: each.size])
    return found
