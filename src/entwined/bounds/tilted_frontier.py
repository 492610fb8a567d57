"""How much leakage gets from one unit to a neighbour when what is known may have tilted the former's law.

P holds the law of unit j given unit i, one row a value of i. Values that the adversary knows behind j turn
P(v|a) into a law in proportion to P(v|a) τ(v). Of the tilt τ only this is certain: log τ(u)/τ(v) ≤ D(u,v).
As in `kernel`, a likelihood with log range L has means given a and given b with a log ratio of at most

    log (1 + c p) / (1 + c q),   c = e^L − 1,   p and q the tilted chances of a set A given a and given b,

where A holds the values with the largest P(v|a)/P(v|b), an order that no tilt changes. `limits` says how low
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
from entwined.bounds.frontier import LARGEST, Frontier, hull, rising_sets
from entwined.bounds.kernel import Kernel
from entwined.numbers import ULP, FloatArray, IntArray

ROUNDING: Final = 2.0**14 * ULP  # logs of chances reach 745 and are right to 2^-52 of that, a few together
SHORT: Final = 1e-9  # an arc shorter than this is as good as its ends
LOST: Final = 1e-290  # sums below it may have lost digits
MOST_CELLS: Final = 25_000  # rows are compared in slices of about this many numbers, near the processor
SLACK: Final = 1.0 + 64 * ULP


@dataclass(frozen=True, eq=False, slots=True)
class Cases:
    """Kernels of which one holds, each with its tilts: log τ(u)/τ(v) ≤ tilts[case, u, v].

    Rows need not sum to one, and entries are right up to e^±error.
    """

    laws: FloatArray
    tilts: FloatArray
    error: float


@dataclass(frozen=True, slots=True)
class TiltedFrontier:
    """What gets through in the worst of some cases, whatever the tilt.

    `ends` are the ends of the arcs. From the leakage `starts[k]` on, until the next start, `odds[k]` are the
    largest of all arcs with their best point inside. Errors of the kernel and of logs add up to `error`.

    >>> rare, none = np.array([[0.999, 0.001], [0.99, 0.01]]), np.zeros((2, 2))
    >>> [round(TiltedFrontier.of(rare, none + tilt)(1.0), 3) for tilt in (0, 1, 9)]
    [0.015, 0.04, 0.513]

    The first is what transport gives, the last what message passing does.
    """

    ends: Frontier
    starts: tuple[float, ...]
    odds: tuple[float, ...]
    error: float

    @classmethod
    def of(cls, kernel: FloatArray, tilt: FloatArray, error: float = 0.0) -> Self:
        """Read one kernel, right up to a factor e^±error, for tilts with log τ(u)/τ(v) ≤ tilt[u, v]."""
        return cls.each([Cases(kernel[None], tilt[None], error)])[0]

    @classmethod
    def each(cls, given: Sequence[Cases]) -> list[Self]:
        """Read many."""
        found: dict[int, Self] = {}
        for places in alike([cases.laws for cases in given]):
            found.update(zip(places, cls.of_shape([given[place] for place in places]), strict=True))
        return [found[place] for place in range(len(given))]

    @classmethod
    def of_shape(cls, given: Sequence[Cases]) -> Iterator[Self]:
        """Read cases of one shape, all at once."""
        count, rows, values = given[0].laws.shape
        # An entry off by e^error moves p and q by e^(2 error), and log(1 + c p) by that share of min(L, 1);
        # log odds off by x move it by x min(L, 1). A single row is no secret.
        errors = np.array([cases.error for cases in given])
        slips = (2 * np.expm1(2 * errors) + ROUNDING + 16 * values * ULP) * (rows > 1)
        arcs = Arcs.of(
            *(np.concatenate(each) for each in zip(*((c.laws, c.tilts) for c in given), strict=True))
        )
        arcs = arcs._replace(owner=arcs.owner // count)
        base, gain = arcs.ends()
        starts, odds, owner = arcs.steepest()
        of_ends, of_starts = (
            np.searchsorted(each, np.arange(len(given) + 1)) for each in (arcs.owner, owner)
        )
        for k, slip in enumerate(slips.tolist()):
            own, steps = slice(*of_ends[k : k + 2]), slice(*of_starts[k : k + 2])
            corners = hull(base[:, own].ravel(), gain[:, own].ravel())
            points = tuple((g, b) for b, g in zip(*map(np.ndarray.tolist, corners), strict=True) if g > 0)
            ends = Frontier(points, float(arcs.odds[own].max(initial=0.0)), SLACK)
            yield cls(ends, tuple(starts[steps].tolist()), tuple(odds[steps].tolist()), slip)

    def __call__(self, leakage: float) -> float:
        """Give the most that gets through, rounded up and never more than the leakage."""
        place = bisect_right(self.starts, leakage) - 1
        odds = self.odds[place] if place >= 0 else 0.0
        value = contract_one(leakage, odds) if odds > 0 else 0.0
        if odds < self.ends.limit:  # else no end is on a steeper arc
            value = max(value, self.ends(leakage))
        return min(leakage, value + self.error * min(leakage, 1.0))


class Arcs(NamedTuple):
    """Where the chances p and q of sets can be: logit q ≥ low, logit p ≤ high, and at most `odds` between."""

    owner: IntArray
    low: FloatArray
    high: FloatArray
    odds: FloatArray

    @classmethod
    def of(cls, kernels: FloatArray, tilts: FloatArray) -> Self:
        """Go through all pairs of rows of each kernel, in slices, and note whose they are."""
        count, rows, values = kernels.shape
        rising, falling = tilts.max(axis=2), tilts.max(axis=1)
        step = max(1, MOST_CELLS // (rows * values))
        found: list[tuple[IntArray | FloatArray, ...]] = []
        for first in range(0, count * rows, step):
            owner, row = np.divmod(np.arange(first, min(first + step, count * rows)), rows)
            low, high, odds = limits(kernels[owner, row], kernels[owner], rising[owner], falling[owner])
            some = odds > 0
            owners = np.broadcast_to(owner[:, None, None], some.shape)
            found.append(tuple(each[some] for each in (owners, low, high, odds)))
        return cls(*map(np.concatenate, zip(*found, strict=True)))

    @property
    def last(self) -> FloatArray:
        """The log odds of q at the end where p is at its highest."""
        with np.errstate(invalid="ignore"):
            return np.where(self.odds < np.inf, self.high - self.odds, self.low)

    def ends(self) -> tuple[FloatArray, FloatArray]:
        """Give q (base) and p − q (gain) at the two ends of each arc."""
        with np.errstate(over="ignore", invalid="ignore"):
            top = np.where(self.odds < np.inf, self.low + self.odds, self.high)
            q, p = np.stack([self.low, self.last]), np.stack([top, self.high])
            return chance(q), -np.expm1(-self.odds) * chance(p) * chance(-q)

    def steepest(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """Give the largest odds of arcs with their best point inside, from leakage to leakage, and the owner.

        An arc covers a stretch of leakages. In cells between all ends it is two overlapping pieces of 2^k
        cells, and pieces hand what they hold to their halves, the longest first.
        """
        with np.errstate(invalid="ignore"):
            begin, end = np.maximum(-self.odds - 2 * self.last, 0.0), -self.odds - 2 * self.low
            long = end > begin + SHORT
        odds, cuts = self.odds[long], np.concatenate([begin[long], end[long]])
        owner = np.tile(self.owner[long], 2)
        order = np.lexsort((cuts, owner))
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        left, right = place[: odds.size], place[odds.size :]
        level, highest = np.frexp(right - left)[1] - 1, np.zeros(order.size)
        for k in range(int(level.max(initial=0)), -1, -1):
            piece, half = level == k, (1 << k) // 2
            np.maximum.at(highest, left[piece], odds[piece])
            np.maximum.at(highest, right[piece] - (1 << k), odds[piece])
            if half:
                highest[half:] = np.maximum(highest[half:], highest[:-half])
        cuts, owner = cuts[order], owner[order]
        new = np.ones(order.size, np.bool_)
        new[1:] = (highest[1:] != highest[:-1]) | (owner[1:] != owner[:-1])
        return cuts[new], highest[new], owner[new]


def chance(log_odds: FloatArray) -> FloatArray:
    """Give the probability with these log odds."""
    return np.asarray(1.0 / (1.0 + np.exp(-log_odds)))


def alike(tables: Sequence[FloatArray]) -> Iterator[list[int]]:
    """Give the places of tables of one shape, as many as one may compare row by row at once."""
    shapes: dict[tuple[int, ...], list[int]] = {}
    for place, table in enumerate(tables):
        shapes.setdefault(table.shape, []).append(place)
    for shape, places in shapes.items():
        step = max(1, MOST_CELLS // (math.prod(shape) * shape[-2]))
        yield from (places[first : first + step] for first in range(0, len(places), step))


def limits(
    one: FloatArray, other: FloatArray, rising: FloatArray, falling: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give low, high and odds of the first values, by falling ratio of `one` to each row of `other`.

    The odds of A are at most Σ_A P(u) e^rising(u) / P(rest), and at most P(A) / Σ_rest P(v) e^−falling(v).
    """
    with np.errstate(all="ignore"):
        ratio = np.log(one[:, None, :] / other)
        ratio = np.where(np.isnan(ratio), np.fmin.reduce(ratio, axis=-1, keepdims=True), ratio)
        order = np.argsort(-ratio, axis=-1)
        p, up, down = (np.take_along_axis(each[:, None], order, axis=-1) for each in (one, rising, falling))
        q, ratio = (np.take_along_axis(each, order, axis=-1) for each in (other, ratio))
        more_p, more_q = (np.where(law > 0, law * np.exp(up), 0.0) for law in (p, q))
        less_p, less_q = (law * np.exp(-down) for law in (p, q))
        high = np.log(np.fmin(head(more_p) / tail(p), head(p) / sure(tail(less_p))))
        low = -np.log(np.fmin(tail(more_q) / head(q), tail(q) / sure(head(less_q))))
        spread, rest_spread = (
            np.minimum(part(up, np.maximum), part(down, np.maximum)) for part in (head, tail)
        )
        odds = np.log(head(p) / head(q)) + np.log(tail(q) / tail(p))
        odds += contract(spread, known(ratio[..., :1] - ratio[..., :-1]))
        odds += contract(rest_spread, known(ratio[..., 1:] - ratio[..., -1:]))
        odds = np.minimum(np.minimum(odds, ratio[..., :1] - ratio[..., -1:]), high - low)
    return low, high, odds


def head(values: FloatArray, gather: np.ufunc = np.add) -> FloatArray:
    """Sum (or gather otherwise) the first, the first two, … but never all."""
    return np.asarray(gather.accumulate(values, axis=-1)[..., :-1])


def tail(values: FloatArray, gather: np.ufunc = np.add) -> FloatArray:
    """Sum (or gather otherwise) what `head` leaves."""
    return np.asarray(gather.accumulate(values[..., ::-1], axis=-1)[..., -2::-1])


def sure(sums: FloatArray) -> FloatArray:
    """Take a sum for zero where underflow may have cost it digits."""
    return np.where(sums < LOST, 0.0, sums)


def known(gap: FloatArray) -> FloatArray:
    """Take the gap between two infinite logs for infinite: nothing is known of it."""
    return np.where(np.isnan(gap), np.inf, gap)


def tilts_through(kernels: Sequence[Kernel], spreads: Sequence[float]) -> list[FloatArray]:
    """Give the largest log β(u)/β(v) for β(u) = Σ_w P(w|u) τ(w) and tilts τ of a log range, the spread.

    It is T_P(spread) for the rows u and v alone, and where the spread is infinite max_w log P(w|u)/P(w|v).
    """
    found: dict[int, FloatArray] = {}
    for places in alike([kernel.law for kernel in kernels]):
        laws = np.stack([kernels[place].law for place in places])
        widened = np.exp([kernels[place].error for place in places])[:, None, None, None]
        above, below = laws[:, :, None] * widened, laws[:, None] / widened
        gap, own = above - below, np.arange(laws.shape[1])
        gap[:, own, own] = 0.0
        base, gain = rising_sets(gap, above, below)
        spread = np.array([spreads[place] for place in places])
        with np.errstate(all="ignore"):
            inverse = np.where(spread > LARGEST, 0.0, 1.0 / np.expm1(spread))[:, None, None, None]
            best = np.max(np.where(gain > 0, gain / (inverse + base), 0.0), axis=-1)
        found.update(zip(places, np.log1p(best) * (1.0 + (laws.shape[2] + 32) * ULP), strict=True))
    return [found[place] for place in range(len(kernels))]
