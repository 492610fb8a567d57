"""Pairs of values: which values of a unit have a bearing on which of a neighbour's, read from a model's tables."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import comb
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from entwined.bounds.forests import known_forest, tilted_forest
from entwined.bounds.kernel import Forest, Link, laws_of
from entwined.bounds.profiles.crossing import Crossover, LawCrossing, Swayed, TiltCrossing, TiltLevels, two_of
from entwined.bounds.profiles.passing import MANY
from entwined.dependence import BayesNet, Coupled, RandomField
from entwined.numbers import ULP, FloatArray, IntArray

PAIR: Final = 2
MOST_PAIRS: Final = (
    2_000_000  # of pairs, over all links; where there are more, the worst of all values stands for them
)
MOST_OF_ONE: Final = 20_000  # the same of one link: about 17 values on either side
ROWS: Final = 16  # for the pairs of a unit at most; more of them share
BEHIND: Final = 12  # for those of a unit that are mixed by its law
FEW: Final = 512  # different log odds that are kept as they are
PARTS: Final = 128  # more are rounded up to so many parts of a power of two, so that few are different

Crossings: TypeAlias = Mapping[Link, Crossover]
ForestOf: TypeAlias = Callable[[Coupled], tuple[Forest, Crossings]]


class Ways(NamedTuple):
    """How profiles get through the forest of a model: pairs of values told apart, or alike, which is quicker.

    Whether pairs are told apart of many units too: to mix what they show by a law takes long, and needs fine grids.
    """

    apart: ForestOf
    alike: ForestOf
    of_many: bool

    def of(self, units: int) -> ForestOf:
        """Which of them is taken for so many units."""
        return self.apart if self.of_many or units <= MANY else self.alike


@lru_cache(maxsize=4)
def tilted_crossings(model: Coupled) -> tuple[Forest, Crossings]:
    """The forest of a model, and how far pairs of values are tilted: one by one where a table of two units is known."""
    forest, alike = tilted_alike(model)
    found = dict(alike)
    odds = rounded({link: pair_odds(table) for link, table in tables_of(model).items() if link in found})
    heard = strengths(forest, {link: np.tanh(one / 4) for link, one in odds.items()})
    levels = TiltLevels(np.unique(np.concatenate([np.zeros(1), *(one.ravel() for one in odds.values())])))
    for (unit, neighbour), one in odds.items():
        found[unit, neighbour] = TiltCrossing.of(levels, one, near(heard[neighbour][unit], ROWS))
    return forest, found


@lru_cache(maxsize=4)
def known_crossings(model: Coupled) -> tuple[Forest, Crossings]:
    """The tree of a model, and the law of each neighbour by values that can occur."""
    forest, laws = laws_of(model)
    possible = {link: law[:, law.any(axis=0)] for link, law in laws.items()}
    taken = small_enough({link: law.shape for link, law in possible.items()})
    found = dict(known_alike(model)[1]) if len(taken) < len(possible) else {}
    possible = {link: possible[link] for link in taken}
    heard = strengths(forest, {link: apart_at(law) for link, law in possible.items()})
    for (unit, neighbour), law in possible.items():
        others = [one for source, one in heard[unit].items() if source != neighbour]
        group, behind = near(heard[neighbour][unit], ROWS), near(sum(others, np.zeros(1)), BEHIND)
        found[unit, neighbour] = LawCrossing(law, forest.error, group, behind)
    return forest, found


def tilted_alike(model: Coupled) -> tuple[Forest, Crossings]:
    """The same by the worst of all values."""
    forest, sways = tilted_forest(model)
    return forest, {link: Swayed(sway) for link, sway in sways.items()}


def known_alike(model: Coupled) -> tuple[Forest, Crossings]:
    """The same by the worst of all values."""
    forest, sways = known_forest(model)
    return forest, {link: Swayed(sway) for link, sway in sways.items()}


TILTED: Final = Ways(tilted_crossings, tilted_alike, of_many=True)
KNOWN: Final = Ways(known_crossings, known_alike, of_many=False)


def apart_at(law: FloatArray) -> FloatArray:
    """How far each two rows are apart, at each two columns: what of it is between them."""
    a, b = two_of(len(law))
    u, v = two_of(law.shape[1])
    gap = law[a] - law[b]
    gain, lost = np.maximum(gap, 0.0), np.maximum(-gap, 0.0)
    both = gain[:, u] * lost[:, v] + gain[:, v] * lost[:, u]
    return np.asarray(both / np.maximum(gain.sum(axis=1, keepdims=True), ULP))


def strengths(forest: Forest, shares: Mapping[Link, FloatArray]) -> list[dict[int, FloatArray]]:
    """About how much each pair of a unit hears from each neighbour, if all units show alike.

    By this pairs are put together. Any groups are valid; these do not hang on losses, so that what is shown grows with
    each of them.
    """

    def send(links: Sequence[Link], held: Sequence[FloatArray]) -> list[FloatArray]:
        return [
            np.asarray((shares[link] ** 2 * one).max(axis=1)) if link in shares else one.max(keepdims=True)
            for link, one in zip(links, held, strict=True)
        ]

    return forest.heard([np.ones(1)] * len(forest.order), send, np.add, forest.order)


def near(told: FloatArray, most: int) -> IntArray:
    """At most so many groups of numbers whose roots are near each other, the least first."""
    amounts, place = np.unique(np.sqrt(told), return_inverse=True)
    if amounts.size <= most:
        return place
    step = (amounts - amounts[0]) / (amounts[-1] - amounts[0]) * most
    band = np.minimum(step.astype(np.int64), most - 1)
    return np.cumsum(np.append(0, band[1:] > band[:-1]))[place]


def tables_of(model: Coupled) -> dict[Link, FloatArray]:
    """The known tables of two units, from either end: a row a value of the second of a link."""
    found: dict[Link, FloatArray] = {}
    for block in model.blocks if isinstance(model, (BayesNet, RandomField)) else ():
        if block.scope.shape[1] == PAIR and block.table.is_exact:
            for (one, other), table in zip(block.scope.tolist(), block.table.low, strict=True):
                found |= {(other, one): table, (one, other): table.T}
    taken = small_enough({link: table.shape for link, table in found.items()})
    return {link: found[link] for link in taken}


def small_enough(sizes: Mapping[Link, tuple[int, ...]]) -> list[Link]:
    """Those of which pairs are told apart: the smallest first, as long as all pairs of pairs are not too many."""
    many = {link: comb(one, 2) * comb(other, 2) for link, (one, other) in sizes.items()}
    order = sorted(
        (link for link in many if 0 < many[link] <= MOST_OF_ONE), key=lambda link: (many[link], link)
    )
    sums = np.cumsum([many[link] for link in order])
    return order[: int(np.searchsorted(sums, MOST_PAIRS, side="right"))]


def pair_odds(table: FloatArray) -> FloatArray:
    """The log odds ratio of each two values (rows) at each two others, rounded up; 0 where one side rules both out."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(table)
        a, b = two_of(len(table))
        u, v = two_of(table.shape[1])
        gaps = logs[a] - logs[b]
        odds = np.abs(gaps[:, u] - gaps[:, v])
    slack = 4 * ULP * np.max(np.abs(logs), where=np.isfinite(logs), initial=1.0)
    return np.where(
        np.nan_to_num(odds, nan=0.0) > 0, np.nan_to_num(odds, nan=0.0, posinf=np.inf) + slack, 0.0
    )


def rounded(odds: Mapping[Link, FloatArray]) -> Mapping[Link, FloatArray]:
    """The same, a little larger where very many are different."""
    if len(np.unique(np.concatenate([one.ravel() for one in odds.values()] or [np.zeros(0)]))) <= FEW:
        return odds
    return {link: few_digits(one) for link, one in odds.items()}


def few_digits(odds: FloatArray) -> FloatArray:
    """Round up to so many parts of a power of two."""
    part, power = np.frexp(odds)
    return np.asarray(np.ldexp(np.ceil(part * PARTS) / PARTS, power))
