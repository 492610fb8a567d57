"""How much leakage gets from one unit to a neighbour when what is known may have tilted the former's law.

P holds the law of unit j given unit i, one row a value of i. Values that the adversary knows behind j turn
P(v|a) into a law in proportion to P(v|a) τ(v). Of the tilt τ only this is certain: log τ(u)/τ(v) ≤ D(u,v).
As in `kernel`, a likelihood with log range L has means given a and given b with a log ratio of at most

    log (1 + c p) / (1 + c q),   c = e^L − 1,   p and q the tilted chances of a set A given a and given b,

where A holds the values with the largest P(v|a)/P(v|b), an order that no tilt changes. `reached` says how low
the log odds of q can be, how high those of p, and how far apart the two. So the best q is on an arc, from
log odds `low` on, with p `odds` above it, until p is at `high`. For leakages L between −odds − 2 logit q at
the two ends of the arc the best point is inside and gives T(L; odds), and for all others it is an end.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

import numpy as np

from entwined.bounds.contraction import contract, contract_one
from entwined.bounds.kernel import LARGEST, MOST_CELLS, Frontier, best_sets, hull
from entwined.numbers import ULP, FloatArray, IntArray

ROUNDING: Final = 2.0**14 * ULP  # logs of chances reach 745 and are right to 2^-52 of that, a few together
SHORT: Final = 1e-9  # an arc shorter than this is as good as its ends
LOST: Final = 1e-290  # sums below it may have lost digits
SLACK: Final = 1.0 + 64 * ULP


@dataclass(frozen=True, slots=True)
class TiltedFrontier:
    """What gets through one kernel, whatever the tilt.

    `ends` are the ends of the arcs. From the leakage `starts[k]` on, until the next start, `odds[k]` are the
    largest of all arcs with their best point inside. Errors of the kernel and of logs add up to `error`.

    >>> flip, nothing = np.array([[0.9, 0.1], [0.1, 0.9]]), np.zeros((2, 2))
    >>> round(TiltedFrontier.of(flip, nothing)(2.0), 4)  # as in transport
    1.4167
    >>> round(TiltedFrontier.of(flip, nothing + 1.0)(2.0), 4)  # as in message passing
    1.5135
    """

    ends: Frontier
    starts: tuple[float, ...]
    odds: tuple[float, ...]
    error: float

    @classmethod
    def of(cls, kernel: FloatArray, tilt: FloatArray, error: float = 0.0) -> Self:
        """Read one kernel, right up to a factor e^±error, for tilts with log τ(u)/τ(v) ≤ tilt[u, v]."""
        return cls.each([kernel], [tilt], error)[0]

    @classmethod
    def each(cls, kernels: Sequence[FloatArray], tilts: Sequence[FloatArray], error: float) -> list[Self]:
        """Read many kernels, those of one shape together."""
        shapes: dict[tuple[int, ...], list[int]] = {}
        for place, kernel in enumerate(kernels):
            shapes.setdefault(kernel.shape, []).append(place)
        found: dict[int, Self] = {}
        for (rows, values), places in shapes.items():
            # An entry off by e^error moves p and q by e^(2 error), and a log of 1 + c p by that share of min(L, 1);
            # a log off by x moves it by x min(L, 1).
            slip = 2 * math.expm1(2 * error) + ROUNDING + 16 * values * ULP if rows > 1 else 0.0
            together = max(1, MOST_CELLS // (rows * rows * values))
            for first in range(0, len(places), together):
                some = places[first : first + together]
                blocks = (np.stack([given[place] for place in some]) for given in (kernels, tilts))
                found.update(zip(some, cls.alike(*blocks, slip), strict=True))
        return [found[place] for place in range(len(kernels))]

    @classmethod
    def alike(cls, kernels: FloatArray, tilts: FloatArray, error: float) -> Iterator[Self]:
        """Read kernels of one shape, stacked."""
        arcs = Arcs(*map(np.concatenate, zip(*reached(kernels, tilts), strict=True)))
        base, gain = arcs.ends()
        starts, odds, owner = arcs.steepest()
        of_ends = np.searchsorted(arcs.owner, np.arange(len(kernels) + 1))
        of_starts = np.searchsorted(owner, np.arange(len(kernels) + 1))
        for k in range(len(kernels)):
            ends, steps = slice(*of_ends[k : k + 2]), slice(*of_starts[k : k + 2])
            corners = hull(base[:, ends].ravel(), gain[:, ends].ravel())
            points = tuple((g, b) for b, g in zip(*(side.tolist() for side in corners), strict=True) if g > 0)
            limit = float(arcs.odds[ends].max(initial=0.0))
            yield cls(Frontier(points, limit, SLACK), tuple(starts[steps].tolist()), tuple(odds[steps].tolist()), error)

    def __call__(self, leakage: float) -> float:
        """Give the most that gets through, rounded up and never more than the leakage."""
        value = self.ends(leakage)
        place = bisect_right(self.starts, leakage) - 1
        if place >= 0 and self.odds[place] > 0:
            value = max(value, contract_one(leakage, self.odds[place]))
        return min(leakage, value + self.error * min(leakage, 1.0))


class Arcs(NamedTuple):
    """Where the chances p and q of a set can be: logit q ≥ low, logit p ≤ high, and no more than `odds` apart."""

    owner: IntArray
    low: FloatArray
    high: FloatArray
    odds: FloatArray

    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Give q (base) and p − q (gain) at the two ends."""
        with np.errstate(over="ignore", invalid="ignore"):
            top = np.where(self.odds < np.inf, self.low + self.odds, self.high)
            lower, upper = np.stack([self.low, self.last]), np.stack([top, self.high])
            return chance(lower), -np.expm1(-self.odds) * chance(upper) * chance(-lower)

    @property
    def last(self) -> FloatArray:
        """The log odds of q at the other end."""
        with np.errstate(invalid="ignore"):
            return np.where(self.odds < np.inf, self.high - self.odds, self.low)

    def steepest(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """Give the largest odds of arcs with their best point inside, from leakage to leakage, with the owner.

        Each arc covers a stretch of leakages. Cut at all ends, it is two overlapping pieces of 2^k cells; from the
        longest to single cells, pieces hand what they hold to their halves.
        """
        begin, end = np.maximum(-self.odds - 2 * self.last, 0.0), -self.odds - 2 * self.low
        long = end > begin + SHORT
        begin, end, odds, owner = begin[long], end[long], self.odds[long], self.owner[long]
        cuts, owners = np.concatenate([begin, end]), np.concatenate([owner, owner])
        order = np.lexsort((cuts, owners))
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        left, right = place[: odds.size], place[odds.size :]
        level = np.frexp(right - left)[1] - 1
        highest = np.zeros(order.size)
        for k in range(int(level.max(initial=0)), -1, -1):
            piece = level == k
            np.maximum.at(highest, left[piece], odds[piece])
            np.maximum.at(highest, right[piece] - (1 << k), odds[piece])
            if k:
                half = 1 << (k - 1)
                highest[half:] = np.maximum(highest[half:], highest[:-half])
        cuts, owners = cuts[order], owners[order]
        new = np.append(True, (highest[1:] != highest[:-1]) | (owners[1:] != owners[:-1]))[: order.size]
        return cuts[new], highest[new], owners[new]
