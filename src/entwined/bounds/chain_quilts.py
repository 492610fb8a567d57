"""The search for the best Markov quilts on a chain."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Self

import numpy as np

from entwined.bounds.chain_laws import FAINT, BoolArray, Marginals, Supports, known_law
from entwined.dependence import MarkovChain
from entwined.errors import DoesNotApply
from entwined.loss import Loss
from entwined.numbers import ULP, FloatArray, IntArray, round_up

MOST_STATES: Final = 1_000
FARTHEST: Final = 20_000  # steps to the end of a quilt
MOST_SHOWN: Final = 4_000_000  # distances × pairs of values that are held
MOST_LOGS: Final = 4_000_000_000  # comparisons to find what is shown: a few seconds
MOST_CELLS: Final = 20_000_000  # units × pairs of values that are looked at one by one
MOST_WORK: Final = 400_000_000  # cells × distances, where losses are uneven: a few seconds
LEAST_REACH: Final = 32
AT_ONCE: Final = 1_000_000  # cells that are held at a time
CHECK_EVERY: Final = 4


def chain_quilt_leakage(loss: Loss, chain: MarkovChain) -> FloatArray:
    """For each unit the worst pair of values, each pair with its best quilt."""
    if chain.states > MOST_STATES:
        raise DoesNotApply(
            f"The chain has {chain.states} states; quilts are searched up to {MOST_STATES}. Use the messages."
        )
    shown = ratios_at_ends(chain)
    if loss.common is not None:
        return even(loss.common, shown)
    if chain.length * shown.pairs > MOST_CELLS:
        return even(float(loss.per_unit.max()), shown)
    before, after = totals(loss.per_unit)
    at_once = max(1, AT_ONCE // max(1, shown.pairs))
    parts = [slice(first, first + at_once) for first in range(0, chain.length, at_once)]
    return np.concatenate([uneven(loss.per_unit, shown, part, (before, after)) for part in parts])


@dataclass(frozen=True, eq=False, slots=True)
class EndRatios:
    """What the end of a quilt at distance d shows of each pair of values (last axis): log ratios, rounded up.

    `ahead[d−1]` is for an end after the unit. For an end before it, at step t, p(y | s) / p(y | s') is by
    Bayes P^d(y, s) / P^d(y, s') times p(s') / p(s): `back[d−1, which[t]]` has the first factor, `odds`
    the second.
    """

    chain: MarkovChain
    supports: Supports
    marginals: Marginals
    back: FloatArray
    ahead: FloatArray

    @classmethod
    def of(cls, chain: MarkovChain) -> Self:
        """Look at every distance that matters, or as many as can be held."""
        supports = Supports.of(chain)
        sets, states = len(supports.sets) + 1, chain.states
        reach = min(
            chain.length - 1, FARTHEST, MOST_SHOWN // (sets * states**2), MOST_LOGS // (sets * states**3)
        )
        back, ahead = influences(chain, supports, max(1, reach))
        followed = max(len(ahead) + supports.settled, min(FARTHEST, MOST_SHOWN // states**2))
        return cls(chain, supports, Marginals.of(chain, followed), back, ahead)

    @property
    def reach(self) -> int:
        """The largest distance."""
        return len(self.ahead)

    @property
    def pairs(self) -> int:
        """How many ordered pairs of values there are."""
        return int(self.ahead.shape[1])

    def odds(self, units: IntArray) -> tuple[BoolArray, FloatArray]:
        """Which pairs of values are secrets of each unit, and log p(s') / p(s) of these."""
        first, second = pairs_of(self.chain.states)
        row = np.minimum(units, len(self.marginals.low) - 1)
        secret = self.marginals.possible[row][:, first] & self.marginals.possible[row][:, second]
        gap = np.subtract(
            self.marginals.high[row][:, second],
            self.marginals.low[row][:, first],
            where=secret,
            out=np.zeros(secret.shape),
        )
        return secret, gap


@lru_cache(maxsize=2)
def ratios_at_ends(chain: MarkovChain) -> EndRatios:
    """Keep what quilts show: it does not depend on the losses, so calibration asks for it once."""
    return EndRatios.of(chain)


def pairs_of(states: int) -> tuple[IntArray, IntArray]:
    """All ordered pairs of two different states."""
    first, second = np.nonzero(~np.eye(states, dtype=bool))
    return first.astype(np.int64), second.astype(np.int64)


def influences(chain: MarkovChain, supports: Supports, reach: int) -> tuple[FloatArray, FloatArray]:
    """Give what is shown at distance 1, 2, … before a unit (for each set of possible states) and after it.

    It ends early where all rows of P^d are equal up to rounding: farther ends show nothing less.
    """
    step, pair = known_law(chain)[1], pairs_of(chain.states)
    power, reached = np.eye(chain.states), np.eye(chain.states, dtype=bool)
    back, ahead = [], []
    for distance in range(1, reach + 1):
        power, reached = power @ step, reached @ (step > 0)
        faint = reached & (power < FAINT)
        with np.errstate(divide="ignore"):
            logs = np.log(power)
        largest = float(np.max(-logs, where=reached & ~faint, initial=0.0))
        slack = 2 * ULP * ((distance - 1) * (chain.states + 1) + 2 + largest)
        after = widest(logs.T, faint.T)[pair]
        back.append([widest(logs[states], faint[states])[pair] + slack for states in supports.sets])
        ahead.append(
            np.where((after == 0) & (distance == 1), 0.0, after + slack)
        )  # equal rows of P itself are equal
        if after.size == 0 or after.max() <= slack:
            break
    return np.array(back), np.array(ahead)


def widest(logs: FloatArray, faint: BoolArray) -> FloatArray:
    """Give the largest difference between each two columns in any row; infinite if it is too faint."""
    columns = logs.shape[1]
    best = np.full((columns, columns), -np.inf)
    at_once = max(1, AT_ONCE // (4 * columns**2))
    with np.errstate(invalid="ignore"):
        for first in range(0, len(logs), at_once):
            rows = logs[first : first + at_once]
            gaps = rows[:, :, None] - rows[:, None, :]
            best = np.fmax(
                best, np.fmax.reduce(gaps, axis=0)
            )  # 0/0 is no number and passed over: nothing shows there
    unknown = faint.any(axis=0)
    best[unknown], best[:, unknown] = np.inf, np.inf
    return best


def even(epsilon: float, shown: EndRatios) -> FloatArray:
    """Bound units of equal losses: a side costs the same wherever it has the same number of steps."""
    length, reach = shown.chain.length, shown.reach
    inside = round_up(np.arange(reach, dtype=np.float64) * epsilon, 1)[:, None]
    after = np.minimum.accumulate(inside + shown.ahead, axis=0)
    before = before_even(inside, shown)
    edge = max(len(before), len(shown.marginals.low)) - 1
    if length <= edge + reach:
        units = np.arange(length)
        left, right = units * epsilon, units[::-1] * epsilon
    else:  # unit `edge` stands for all that see no end of the chain, and pays for as many as any of them
        units = np.concatenate([np.arange(edge + 1), np.arange(length - reach, length)])
        left, right = units * epsilon, (length - 1 - units) * epsilon
        left[edge] = (length - 1 - reach) * epsilon
    at_once = max(1, AT_ONCE // max(1, shown.pairs))
    found = []
    for first in range(0, units.size, at_once):
        part = slice(first, first + at_once)
        secret, odds = shown.odds(units[part])
        past = before[np.minimum(units[part], len(before) - 1)] + odds
        past = np.minimum(past, left[part, None], where=secret, out=np.zeros(secret.shape))
        ahead = after[np.minimum(length - 1 - units[part], reach) - 1]
        future = np.where(units[part, None] == length - 1, 0.0, np.minimum(ahead, right[part, None]))
        found.append(np.max(past + future, axis=1, initial=0.0, where=secret))
    worst = np.concatenate(found)
    if length > units.size:
        worst = np.concatenate([worst[:edge], np.full(length - reach - edge, worst[edge]), worst[edge + 1 :]])
    return np.minimum(round_up(epsilon + worst, 8), length * epsilon * (1 + 4 * ULP))


def before_even(inside: FloatArray, shown: EndRatios) -> FloatArray:
    """Give the least cost, but for the odds, of an end before unit 0, 1, …; the last row is for all later."""
    settled, reach = shown.supports.settled, shown.reach
    table = np.full((settled + reach + 1, shown.pairs), np.inf)
    table[settled + 1 :] = np.minimum.accumulate(inside + shown.back[:, -1], axis=0)
    for step in range(settled):
        rows = table[step + 1 : step + reach + 1]
        np.minimum(rows, inside + shown.back[:, shown.supports.which[step]], out=rows)
    return table


def totals(losses: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Add the losses of all units before each unit, and of all after it, rounded up."""
    before, after = np.zeros(losses.size), np.zeros(losses.size)
    np.cumsum(losses[:-1], out=before[1:])
    after[:-1] = np.cumsum(losses[:0:-1])[::-1]
    return round_up(before, losses.size), round_up(after, losses.size)


def uneven(
    losses: FloatArray, shown: EndRatios, part: slice, whole: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """Bound units of any losses: try one distance after the other until no unit can gain by going farther."""
    length, settled = shown.chain.length, shown.supports.settled
    units = np.arange(length)[part]
    by_unit, by_row = shown.odds(units)
    secret, odds = by_unit.T.copy(), by_row.T.copy()  # a row a pair, so that inner loops are long
    before, after = (np.where(secret, side[part], 0.0) for side in whole)
    within_before, within_after = np.zeros(units.size), np.zeros(units.size)
    reach = min(shown.reach, max(LEAST_REACH, MOST_WORK // max(1, length * shown.pairs)))
    for distance in range(1, reach + 1):
        first, calm, last = map(
            int, np.searchsorted(units, [distance, distance + settled, length - distance])
        )
        past, early, future = slice(first, None), slice(first, calm), slice(last)
        seen = odds[:, past] + shown.back[distance - 1, -1][:, None]
        support = shown.supports.which[units[early] - distance]
        seen[:, : calm - first] = odds[:, early] + shown.back[distance - 1, support].T
        seen += within_before[past]
        np.minimum(before[:, past], seen, out=before[:, past])
        seen = shown.ahead[distance - 1][:, None] + within_after[future]
        np.minimum(after[:, future], seen, out=after[:, future])
        within_before[past] += losses[units[past] - distance]
        within_after[future] += losses[units[future] + distance]
        if distance % CHECK_EVERY == 0 and not (
            (before[:, past] > within_before[past]).any() or (after[:, future] > within_after[future]).any()
        ):
            break
    worst = np.max(before + after, axis=0, initial=0.0, where=secret)
    return round_up(losses[units] + worst, reach + 8)
