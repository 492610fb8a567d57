"""How much of a loss by distance a kernel carries on: the exact figure by a linear program, proved by its dual.

Let p and q be the laws of a friend's cell given two cells that are one step apart, and let f ≥ 0 be a likelihood that
no step of length d changes by more than a factor of g = e^{Λd}. The largest Σ p f / Σ q f is a linear program over f.
For any numbers z ≥ 0, one a directed step from x to y, the inequalities z_xy (f(x) − g f(y)) ≤ 0 add up to

    Σ p f ≤ t Σ q f,   t = max_x [ p(x) − Σ_y z_xy + Σ_y g z_yx ] / q(x)

so whatever a solver says of z, t is a bound; the solver only has to make it a good one. Steps suffice: along streets
the distance of two cells is the sum of the steps of a path between them, and so are logs of f, and of the ratio
itself.

Where ΛD is small, D the length of the longest way, no program is needed but that of Wasserstein's distance: |f(x) −
f(y)| is at most Λ d(x, y) times the largest f, so Σ (p − q) f ≤ Λ W₁(p, q) max f, and Σ q f ≥ e^{−ΛD} max f: the ratio
is at most 1 + Λ W₁ e^{ΛD}. Of any flow z from p to q that leaves a rest r undelivered, Σ z d + D Σ |r| bounds W₁.
"""

import math
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from entwined.dependence.city import City
from entwined.dependence.places import CityGrid, friends_places
from entwined.errors import DoesNotApply
from entwined.numbers import FloatArray, IntArray
from entwined.progress import report

OCTAVE: Final = (
    16  # rates are rounded up to so many parts of a factor of two, so that few programs are solved
)
SMALL: Final = 0.02  # ΛD below which Wasserstein's distance says all
DIGITS: Final = 6  # to which a figure is rounded up, far above what solvers of other versions differ by
NOISE: Final = 1e-12  # above the rounding of a ratio
MOST_CELLS: Final = 400


class Streets(NamedTuple):
    """The steps of a grid, each in both directions, and those that stand for all that are alike by a mirror."""

    steps: IntArray
    lengths: FloatArray
    told: IntArray


def carried(city: City, rate: float) -> float:
    """Bound the log ratio of laws a step apart, for each unit of distance, where likelihoods change at this rate."""
    if city.grid.cells > MOST_CELLS:
        raise DoesNotApply(
            f"A city of {city.grid.cells:,} cells takes long: what a kernel carries on is worked out for {MOST_CELLS}."
        )
    if rate == 0:
        return 0.0
    about = city.grid, city.nearness, city.fall
    longest = _longest(city.grid)
    if rate * longest <= SMALL:
        return rate * math.exp(rate * longest) * _wasserstein(*about) * (1 + NOISE)
    return _at(*about, math.ceil(OCTAVE * math.log2(rate * longest) - NOISE))


def _longest(grid: CityGrid) -> float:
    return float(grid.distances().max())


@lru_cache(maxsize=256)
def _at(grid: CityGrid, nearness: float, fall: float, part: int) -> float:
    """The figure at a rate of so many parts of an octave above one for the whole city."""
    rate = 2.0 ** (part / OCTAVE) / _longest(grid)
    kernel, streets = friends_places(grid.distances(), nearness=nearness, fall=fall), streets_of(grid)
    gains = np.exp(rate * streets.lengths)
    worst = 0.0
    for number, step in enumerate(streets.told.tolist()):
        report("what ties carry on", number, len(streets.told))
        first, second = streets.steps[step]
        ratio = proved_ratio(kernel[first], kernel[second], streets.steps, gains)
        worst = max(worst, (math.log(ratio) + NOISE) / float(streets.lengths[step]))
    return _rounded_up(worst)


@lru_cache(maxsize=64)
def _wasserstein(grid: CityGrid, nearness: float, fall: float) -> float:
    """The largest Wasserstein distance of the laws of two cells a step apart, for each unit of distance."""
    kernel, streets = friends_places(grid.distances(), nearness=nearness, fall=fall), streets_of(grid)
    worst = 0.0
    for number, step in enumerate(streets.told.tolist()):
        report("what ties carry on", number, len(streets.told))
        first, second = streets.steps[step]
        moved = proved_distance(kernel[first], kernel[second], streets, _longest(grid))
        worst = max(worst, moved / float(streets.lengths[step]))
    return _rounded_up(worst)


def _rounded_up(value: float) -> float:
    place = 10.0 ** (DIGITS - 1 - math.floor(math.log10(value))) if value > 0 else 1.0
    return math.ceil(value * place) / place


@lru_cache(maxsize=16)
def streets_of(grid: CityGrid) -> Streets:
    """List the steps between neighbouring cells; a mirrored city is the same city."""
    cells = np.arange(grid.cells).reshape(grid.down, grid.across)
    across = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    down = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
    once = np.concatenate([across, down])
    lengths = np.repeat([grid.width / grid.across, grid.height / grid.down], [len(across), len(down)])
    steps = np.concatenate([once, once[:, ::-1]])
    mirrors = [cells, cells[::-1], cells[:, ::-1], cells[::-1, ::-1]]
    if grid.across == grid.down and grid.width == grid.height:
        mirrors += [mirror.T for mirror in mirrors]
    seen = np.stack([mirror.ravel()[steps] for mirror in mirrors])  # mirrors × steps × 2
    keys = (seen[..., 0] * grid.cells + seen[..., 1]).min(axis=0)
    return Streets(steps, np.tile(lengths, 2), np.unique(keys, return_index=True)[1])


def proved_ratio(p: FloatArray, q: FloatArray, steps: IntArray, gains: FloatArray) -> float:
    """Bound the largest Σ p f / Σ q f over all f that no step changes by more than its gain."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    count, rows = len(steps), np.arange(len(steps))
    values, places = np.concatenate([np.ones(count), -gains]), (np.tile(rows, 2), steps.T.ravel())
    limits = coo_array((values, places), shape=(count, len(p))).tocsr()
    found = linprog(  # type: ignore[call-overload]  # its stubs know no sparse limits
        -p, A_ub=limits, b_ub=np.zeros(count), A_eq=q[None], b_eq=[1.0], method="highs-ds"
    )
    flow = np.zeros(count) if found.ineqlin is None else np.maximum(-found.ineqlin.marginals, 0.0)
    flow = np.where(np.isfinite(flow), flow, 0.0)
    kept = p - np.bincount(steps[:, 0], flow, len(p)) + np.bincount(steps[:, 1], gains * flow, len(p))
    return float((kept / q).max()) * (1 + NOISE)


def proved_distance(p: FloatArray, q: FloatArray, streets: Streets, longest: float) -> float:
    """Bound Wasserstein's distance of two laws by a flow, what it leaves undelivered taken the longest way."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array

    count, rows = len(streets.steps), np.arange(len(streets.steps))
    values, places = np.repeat([1.0, -1.0], count), (streets.steps.T.ravel(), np.tile(rows, 2))
    out = coo_array((values, places), shape=(len(p), count)).tocsr()
    found = linprog(  # type: ignore[call-overload]  # its stubs know no sparse limits
        streets.lengths, A_eq=out, b_eq=p - q, bounds=(0, None), method="highs-ds"
    )
    flow = np.zeros(count) if found.x is None else np.maximum(found.x, 0.0)
    rest = p - q - out @ flow
    return float(flow @ streets.lengths + longest * np.abs(rest).sum()) * (1 + NOISE)
