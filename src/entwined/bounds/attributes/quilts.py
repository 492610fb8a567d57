"""Which columns count as remote: the best quilt of a column, and the Laplace noise that an answer needs.

A quilt is a set Q of columns whose parameters may show what they show of a secret parameter, e(Q) at most; all other
columns N that are asked about, near ones, are hidden by noise. Columns R that are independent of the secret given
those of Q are remote and free. Since e(Q ∪ R) = e(Q), and e only falls if columns that nobody asks about are left out,
no quilt is better than one that consists of columns which are asked about and has no remote ones: Q' = A ∩ (Q ∪ R)
leaves the same columns near and shows no more. So the subsets of the asked columns are all that need be searched.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Final

import numpy as np

from entwined.bounds.attributes.column_query import ColumnQuery
from entwined.bounds.attributes.noisy_columns import NoisyColumns, ValueSets
from entwined.bounds.attributes.parameter_law import Sets, influences, joint_of
from entwined.dependence import BayesNet
from entwined.errors import BadInput, BadLoss, BadQuery, DoesNotApply, Unreachable
from entwined.numbers import FloatArray, float_below, positive_fraction, round_up_float

ALL_SUBSETS: Final = 12  # columns that are asked about, up to which every quilt is tried
Influence = Callable[[tuple[int, ...]], float]


@dataclass(frozen=True, slots=True)
class ColumnQuilt:
    """What is shown freely (`shown`), at most `influence` of the secret, and what noise must hide (`near`)."""

    column: str
    shown: tuple[str, ...]
    near: tuple[str, ...]
    influence: float
    moved: float

    def scale(self, epsilon: float) -> float:
        """Give the Laplace scale for which this quilt keeps the secret to ε, rounded up; infinite if none does."""
        if self.influence > epsilon:
            return math.inf
        if self.moved == 0:
            return 0.0
        left = epsilon - self.influence
        return round_up_float(self.moved / left) if left > 0 else math.inf


@dataclass(frozen=True, slots=True)
class QuiltNoise:
    """The noise that keeps all protected parameters to ε, with the quilt of the column that needs most."""

    query: ColumnQuery
    epsilon: float
    scale: float
    quilt: ColumnQuilt

    def accuracy(self, beta: float) -> float:
        """Give the error that is exceeded with chance β: b·ln(1/β), the tail of Laplace noise of scale b."""
        if not 0 < beta < 1:
            raise BadInput(f"A chance of {beta}. Give a number between 0 and 1, such as 0.05.")
        return -self.scale * math.log(beta)

    def __str__(self) -> str:
        """Say it in words."""
        free = " and ".join(self.quilt.shown)
        shown = f"{free} shows at most {self.quilt.influence:.6g} of {self.quilt.column}" if free else ""
        if self.scale == 0:
            return f"no noise: {shown or 'nothing is shown'}"
        hides = f"Laplace noise of scale {self.scale:.6g} hides {' and '.join(self.quilt.near)}"
        return f"{hides}; {shown}" if shown else hides


def quilt_noise(
    network: BayesNet,
    query: ColumnQuery,
    epsilon: float | str,
    apart: Sequence[ValueSets] = (),
    *,
    averaged: bool = False,
) -> QuiltNoise:
    """Find the least Laplace scale for which quilts keep every secret parameter to ε.

    Parameters that the network hides are no secrets. Each pair of values has its own best quilt.
    """
    target = float_below(positive_fraction(epsilon, "ε"))
    asked = NoisyColumns.of(query, 0.0, network.units, apart, averaged=averaged)
    refuse_unknown(network, asked)
    worst: ColumnQuilt | None = None
    for place in secret_places(network):
        for pair in pairs_of(network, asked, place):
            best = min(quilts_of(network, asked, place, pair), key=lambda quilt: quilt.scale(target))
            worst = max((best, worst or best), key=lambda quilt: (quilt.scale(target), quilt.influence))
    if worst is None:
        raise BadInput(
            "No parameter with two possible values is to be protected. Leave one that is a secret."
        )
    scale = worst.scale(target)
    if not math.isfinite(scale):
        raise Unreachable(f"No noise keeps {worst.column!r:.60} to {epsilon}. Ask for a larger ε.")
    return QuiltNoise(query, target, scale, worst)


def quilt_noise_for_class(
    networks: Sequence[BayesNet],
    query: ColumnQuery,
    epsilon: float | str,
    apart: Sequence[ValueSets] = (),
    *,
    averaged: bool = False,
) -> QuiltNoise:
    """Find the noise that keeps every secret whichever of several networks is true: that of the worst of them."""
    if not networks:
        raise BadInput("No network is held for possible. Give at least one.")
    each = (quilt_noise(network, query, epsilon, apart, averaged=averaged) for network in networks)
    return max(each, key=lambda noise: (noise.scale, noise.quilt.influence))


def quilt_leakage(asked: NoisyColumns, network: BayesNet) -> FloatArray:
    """For each parameter the worst pair of its values, each pair with its best quilt, rounded up."""
    refuse_unknown(network, asked)
    found = np.zeros(network.units)
    for place in secret_places(network):
        for pair in pairs_of(network, asked, place):
            each = quilts_of(network, asked, place, pair)
            costs = (quilt.influence + asked.moved_by(quilt.near) for quilt in each)
            found[place] = max(found[place], round_up_float(min(costs), 2))
    return found


def secret_places(network: BayesNet) -> list[int]:
    """Which parameters are secrets."""
    return [place for place in range(network.units) if place not in network.hidden]


def refuse_unknown(network: BayesNet, asked: NoisyColumns) -> None:
    """Refuse columns that the network does not know: their parameters might show anything."""
    unknown = [name for name in asked.query.columns if name not in network.names]
    if unknown:
        raise BadQuery(
            f"The column {unknown[0]!r:.60} is asked about, and the network has no parameter of it. Add it to the "
            "network, with what it depends on."
        )
    for told in asked.apart:
        if told.column not in network.names:
            raise BadLoss(
                f"There is no parameter of {told.column!r:.60} to protect. Name a column of the network."
            )
        values = network.values[network.names.index(told.column)]
        strange = [value for value in (*told.one, *told.other) if value not in values]
        if strange:
            raise BadLoss(f"{told.column!r:.60} has no value {strange[0]!r:.60}. Give values of the network.")


@dataclass(frozen=True, slots=True)
class ValuePairs:
    """Which entries of a table of influences are to be confused; the table is of values, or of averaged sets.

    Of a value that cannot be the network says nothing; `ruled_out` stands for all pairs that have one.
    """

    entries: tuple[tuple[int, int], ...] = ()
    sets: Sets | None = None

    @property
    def ruled_out(self) -> bool:
        """Whether one value of the pair cannot be."""
        return not self.entries


def pairs_of(network: BayesNet, asked: NoisyColumns, place: int) -> Iterator[ValuePairs]:
    """Give the pairs of values of a parameter that are secrets, in both directions; impossible ones together."""
    values = network.values[place]
    possible = np.flatnonzero(joint_of(network, (place,)) > 0).tolist()
    if not asked.apart:
        if len(possible) < len(values):
            yield ValuePairs()
        for one, other in combinations(possible, 2):
            yield ValuePairs(((one, other), (other, one)))
        return
    for told in asked.apart:
        if told.column == network.names[place]:
            yield from _pairs_of_sets(told, values, possible, averaged=asked.averaged)


def _pairs_of_sets(
    told: ValueSets, values: Sequence[str], possible: Sequence[int], *, averaged: bool
) -> Iterator[ValuePairs]:
    """Give the pairs of values of two sets, or the sets as one pair if they are averaged."""
    given = [[values.index(value) for value in side] for side in (told.one, told.other)]
    one, other = (tuple(value for value in side if value in possible) for side in given)
    if len(one) + len(other) < len(told.one) + len(told.other):
        yield ValuePairs()
    if one and other and averaged:
        yield ValuePairs(((0, 1), (1, 0)), (one, other))
    elif not averaged:
        for first, second in product(one, other):
            yield ValuePairs(((first, second), (second, first)))


def quilts_of(network: BayesNet, asked: NoisyColumns, place: int, pair: ValuePairs) -> Iterator[ColumnQuilt]:
    """Give a quilt for each set of columns that may be shown, the empty one first.

    Up to 12 columns that are asked about all sets are tried; of more, those of the columns that show least one by one.
    Trying fewer is safe: each quilt proves what it says.
    """
    names = network.names
    if pair.ruled_out:
        near = tuple(name for name in asked.query.columns if name == names[place])
        others = tuple(name for name in asked.query.columns if name != names[place])
        yield ColumnQuilt(names[place], others, near, 0.0, asked.query.moved_by(near))
        return
    open_to = [names.index(name) for name in asked.query.columns if name != names[place]]

    def influence(shown: tuple[int, ...]) -> float:
        table = influences(network, place, tuple(sorted(shown)), pair.sets)
        return max(float(table[entry]) for entry in pair.entries)

    for shown in shown_sets(open_to, influence):
        free = {names[unit] for unit in shown}
        near = tuple(name for name in asked.query.columns if name not in free)
        try:
            seen = influence(shown)
        except DoesNotApply:
            if not shown:
                raise
            continue
        yield ColumnQuilt(names[place], tuple(sorted(free)), near, seen, asked.query.moved_by(near))


def shown_sets(open_to: list[int], influence: Influence) -> Iterator[tuple[int, ...]]:
    """Give all subsets of few columns; of many those that begin with the ones that show least."""
    if len(open_to) <= ALL_SUBSETS:
        for size in range(len(open_to) + 1):
            yield from combinations(open_to, size)
        return
    rising = sorted(open_to, key=lambda unit: influence((unit,)))
    yield from (tuple(rising[:size]) for size in range(len(rising) + 1))
