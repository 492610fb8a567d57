"""How fast noise is drawn, and whether the time of a draw tells its size.

The last figures are Spearman's rank correlation between the time of a single draw and its distance from zero.
They are a report, not a promise: batches and padding hide it further, and neither proves that it is gone.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from time import perf_counter, perf_counter_ns

import numpy as np
from scipy import stats

from entwined.noise import Additive, DiscreteGaussian, DiscreteLaplace, ExponentialChoice

BATCH = 200_000
SINGLE = 5_000
CANDIDATES = 100_000


def seconds(act: Callable[[], object]) -> float:
    """Time one call."""
    start = perf_counter()
    act()
    return perf_counter() - start


def draws_a_second(noise: Additive) -> float:
    """Time one batch."""
    zeros = np.zeros(BATCH, dtype=np.int64)
    return BATCH / seconds(lambda: noise.add(zeros))


def time_tells(noise: Additive) -> float:
    """Correlate the time of single draws with their size."""
    zero = np.zeros(1, dtype=np.int64)
    times, sizes = np.empty(SINGLE), np.empty(SINGLE)
    for draw in range(SINGLE):
        start = perf_counter_ns()
        noisy = noise.add(zero)
        times[draw], sizes[draw] = perf_counter_ns() - start, abs(int(noisy[0]))
    return float(stats.spearmanr(times, sizes).statistic)


def run() -> dict[str, float]:
    """Print one line a figure."""
    noises: list[tuple[str, Additive]] = [
        (f"{kind.__name__} {scale}", kind(Fraction(scale)))
        for kind in (DiscreteLaplace, DiscreteGaussian)
        for scale in ("1", "10", "10/3")
    ]
    first = noises[0][1]
    found = {"first draw with the import, ms": seconds(lambda: first.add([0])) * 1e3}
    found["one draw, ms"] = seconds(lambda: first.add([0])) * 1e3
    found |= {f"{name}, draws a second": draws_a_second(noise) for name, noise in noises}
    ranks = -np.abs(np.arange(CANDIDATES) - CANDIDATES // 2)
    for epsilon in ("1", "0.01"):
        pick = ExponentialChoice.for_loss(epsilon, Fraction(1))
        took = seconds(partial(pick.choose, ranks))
        found[f"choice of {CANDIDATES:,} at ε = {epsilon}, ms"] = took * 1e3
    for name, noise in (noises[1], noises[4]):
        found[f"time against size, {name}, Spearman of {SINGLE:,}"] = time_tells(noise)
    for what, figure in found.items():
        print(f"{what:<60} {figure:12,.3f}")
    return found
