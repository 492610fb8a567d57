"""T_P(L): how much of a leakage L about one unit becomes leakage about another, given their joint law.

P holds the law of unit j given unit i, one row a value of i. A likelihood h of the values of j whose log
has range L has means given i = a and given i = b. Their ratio is largest where h takes two values only, 1
and e^L, the latter on a set A. So, with c = e^L − 1,

    T_P(L) = max over a, b, A of log (1 + c P(A|a)) / (1 + c P(A|b)) = max of log(1 + gain / (1/c + base)),

where base = P(A|b) and gain = P(A|a) − P(A|b). The best A holds the values with the largest P(v|a)/P(v|b),
all of them above 1.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Final, Self

import numpy as np

from entwined.bounds.contenders import Contenders
from entwined.numbers import ULP, FloatArray, IntArray

SMALLEST: Final = 1e-290  # below it 1/c leaves the range of floats, and L itself is bound enough
LARGEST: Final = 600.0  # above it c leaves the range of floats, and the limit is bound enough
MOST_CELLS: Final = 1_000_000  # compare rows in slices of about this many numbers
SMALL: Final = 4_000  # numbers of a kernel's pairs of rows with which many kernels are taken at once
FEW: Final = 4_000_000  # numbers that are sorted sooner than pairs of rows are told apart
PROBES: Final = (1e-300, 1e-6, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)


@dataclass(frozen=True, slots=True)
class Frontier:
    """T_P of one kernel, as the pairs (gain, base) that are best for some L, the smallest first.

    >>> flip = Frontier.of(np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> round(flip(1.0), 4), round(flip(math.inf), 4)   # the limit is ln 9
    (0.7761, 2.1972)
    """

    points: tuple[tuple[float, float], ...]
    limit: float
    slack: float
    turns: tuple[float, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Note from which 1/c on the next point is better: there −1/c is on the line through the two."""
        lines = [g / (h - g) * (d - b) - b for (g, b), (h, d) in pairwise(self.points)]
        object.__setattr__(self, "turns", tuple(accumulate(lines, max)))

    def __hash__(self) -> int:
        return hash(
            (self.limit, self.points[-1:])
        )  # to hash all of a large one takes long, and tells no more apart

    @classmethod
    def of(cls, kernel: FloatArray, error: float = 0.0) -> Self:
        """Find the frontier of a kernel, one row a secret, with entries right up to a factor e^±error."""
        above, below = kernel * math.exp(error), kernel * math.exp(-error)
        corners = np.zeros(1), np.zeros(1)
        for more_base, more_gain in best_sets(above, below):
            corners = hull(np.append(corners[0], more_base), np.append(corners[1], more_gain))
        return cls._with(corners, steepest(above, below), kernel.shape[1])

    @classmethod
    def of_each(cls, kernels: Sequence[FloatArray], error: float = 0.0) -> list[Self]:
        """Find the frontiers of many kernels; small ones of one shape at once."""
        alike: dict[tuple[int, ...], list[int]] = {}
        for place, kernel in enumerate(kernels):
            alike.setdefault(kernel.shape, []).append(place)
        found: dict[int, Self] = {}
        for (rows, values), places in alike.items():
            if rows < 2 or rows**2 * values > SMALL:  # noqa: PLR2004  (a pair of rows)
                found |= {place: cls.of(kernels[place], error) for place in places}
                continue
            stack = np.stack([kernels[place] for place in places])
            above, below = stack * math.exp(error), stack * math.exp(-error)
            one, other = pairs_of(rows)
            high, low = above[:, one], below[:, other]
            base, gain = (part.reshape(len(places), -1) for part in rising_sets(high - low, high, low))
            for nth, place in enumerate(places):
                found[place] = cls._with(hull(base[nth], gain[nth]), steepest(above[nth], below[nth]), values)
        return [found[place] for place in range(len(kernels))]

    @classmethod
    def _with(cls, corners: tuple[FloatArray, FloatArray], steep: float, values: int) -> Self:
        slack = 1.0 + (values + 32) * ULP  # two sums of `values` terms, a handful of operations after them
        points = tuple((g, b) for b, g in zip(*map(np.ndarray.tolist, corners), strict=True) if g > 0)
        return cls(points, math.log1p(steep) * slack, slack)

    def __call__(self, leakage: float) -> float:
        """T_P(L), rounded up and never more than L."""
        if leakage > LARGEST:
            return min(leakage, self.limit)
        if not self.points:
            return 0.0
        if leakage < SMALLEST:
            return leakage
        inverse = 1.0 / math.expm1(leakage)
        gain, base = self.points[bisect_right(self.turns, inverse)]
        return min(leakage, math.log1p(gain / (inverse + base)) * self.slack)

    def each(self, leakage: FloatArray) -> FloatArray:
        """T_P of many leakages."""
        inside = np.clip(leakage, SMALLEST, LARGEST)
        inverse, best = 1.0 / np.expm1(inside), np.zeros(inside.shape)
        for gain, base in self.points:
            best = np.maximum(best, gain / (inverse + base))
        value = np.where(leakage > LARGEST, self.limit, np.log1p(best) * self.slack)
        tiny = leakage if self.points else np.zeros(inside.shape)
        return np.minimum(np.where(leakage < SMALLEST, tiny, value), leakage)


def steepest(above: FloatArray, below: FloatArray) -> float:
    """The largest gain / base of any set: that of a single value."""
    if len(above) == 1:
        return 0.0  # a value is no secret against itself
    most, least = above.max(axis=0), below.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return float(np.max((most - least) / least, where=most > least, initial=0.0))


def best_sets(above: FloatArray, below: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Give base and gain of the sets that can be best, any row `above` against any other `below`, in slices."""
    rows, values = above.shape
    if rows * rows * values <= FEW:
        yield from sets_of(above, below, *pairs_of(rows))
        return
    pairs = Contenders.of(above, below)
    start = [np.concatenate(each) for each in zip(*sets_of(above, below, *pairs.first(PROBES)), strict=True)]
    yield start[0], start[1]
    left = pairs.narrowed((above, below), hull(start[0], start[1]), MOST_CELLS // values)
    yield from sets_of(above, below, left.one, left.other)


def pairs_of(rows: int) -> tuple[IntArray, IntArray]:
    """Any row and any other."""
    one, other = np.divmod(np.arange(rows * rows), rows)
    return one[one != other], other[one != other]


def sets_of(
    above: FloatArray, below: FloatArray, one: IntArray, other: IntArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Give base and gain of the sets that can be best for some pairs of rows, in slices."""
    step = max(1, MOST_CELLS // above.shape[1])
    for first in range(0, len(one), step):
        high, low = above[one[first : first + step]], below[other[first : first + step]]
        base, gain = rising_sets(high - low, high, low)
        yield base.ravel(), gain.ravel()


def rising_sets(gap: FloatArray, above: FloatArray, below: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give base and gain of the sets of the first values, by falling ratio of `above` to `below`."""
    helps = gap > 0  # a value that is likelier given b only makes the ratio smaller
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        order = np.argsort(np.where(helps, below / above, np.inf), axis=-1)
    starts = np.arange(0, order.size, order.shape[-1]).reshape(*order.shape[:-1], 1)
    gain = np.where(helps, gap, 0.0).take(starts + order).cumsum(axis=-1)
    base = np.where(helps, below, 0.0).take(starts + order).cumsum(axis=-1)
    return base, gain


def hull(base: FloatArray, gain: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Keep the points with the largest gain / (u + base) for some u > 0.

    They are the corners of the upper hull from the origin to the largest gain, for that is the slope seen
    from −u on the axis of bases.
    """
    if base.size > 4 * len(PROBES):
        base, gain = above_probes(base, gain)
    order = np.lexsort((-gain, base))
    kept: list[tuple[float, float]] = [(0.0, 0.0)]
    for b, g in zip(base[order].tolist(), gain[order].tolist(), strict=True):
        if g <= kept[-1][1]:
            continue
        while len(kept) > 1 and below_chord(kept[-2], kept[-1], (b, g)):
            kept.pop()
        kept.append((b, g))
    corners = np.array(kept)
    return corners[:, 0], corners[:, 1]


def below_chord(start: tuple[float, float], middle: tuple[float, float], end: tuple[float, float]) -> bool:
    """Say whether the middle point lies on or under the line from start to end."""
    return (middle[1] - start[1]) * (end[0] - start[0]) <= (end[1] - start[1]) * (middle[0] - start[0])


def above_probes(base: FloatArray, gain: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Drop the many points under the line through a few points that are surely on the hull."""
    with np.errstate(over="ignore"):
        few = [np.array(PROBES)[:, None]] if base.size <= SMALL else PROBES  # many numbers one after another
        best = [np.argmax(gain / (probe + base), axis=-1) for probe in few]
    sure = np.unique(np.append(np.ravel(best), np.argmax(gain)))
    sure = sure[np.argsort(base[sure], kind="stable")]
    line = np.interp(base, np.append(0.0, base[sure]), np.append(0.0, gain[sure]))
    kept = np.append(sure, np.flatnonzero(gain > line))
    return base[kept], gain[kept]
