"""Blocks along the paths of a tree: units between, each with two neighbours only, count as a group."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from entwined.bounds.contraction import contract_one
from entwined.bounds.frontier import SMALLEST, Frontier
from entwined.bounds.kernel import Forest, Link, laws_of
from entwined.bounds.messages import message_passing_bound
from entwined.bounds.theorem import theorem
from entwined.bounds.transport import add, transport_bound
from entwined.dependence import Box, Coupled, MarkovChain, VaryingChain
from entwined.dependence.odds import log_odds
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, round_up

SIZES: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24)
FEWEST_VALUES: Final = 3
MOST_UNITS: Final = 1_000
MOST_NEIGHBOURS: Final = 200
MOST_WORK: Final = 100_000_000  # entries of kernels: a few seconds
Send = Callable[[Link, int, float], float]


@theorem("values")
def path_messages_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage on a tree by messages over blocks of its paths, whatever values are known.

    Theorem. Let the law of the units be proportional to a product of known factors of single units and pairs whose
    graph has no cycle. For neighbours i = u_0 and u_1, and a path u_0, u_1, …, u_k on which u_1 … u_{k−1} have no other
    neighbours, let Δ_k be the largest log odds ratio of the product of the factors along it, those of u_1 … u_{k−1}
    alone included, and T(L; Δ) = 4 atanh(tanh(L/4) tanh(Δ/4)). Let R(u_0, u_1) be the least, over the k tried, of
    ε_{u_1} + … + ε_{u_{k−1}} + T(ε_{u_k} + Σ_w R(u_k, w); Δ_k), over the neighbours w of u_k but u_{k−1}. Then for
    every unit i, values a and b, known values of any other units, and output set S: |log Pr[M ∈ S | x_i = a, known] −
    log Pr[M ∈ S | x_i = b, known]| ≤ ε_i + Σ_w R(i, w), over the neighbours w of i.

    Checked. The factors are known and their graph is a forest. Zeros make Δ_k infinite, and products are widened by
    what rounding can do. Paths of 1, 2, 3, 4, 6, 8, 12, 16 and 24 steps are tried.

    Trusted. The true law is the model. Of every other unit the adversary knows the value or nothing: to know that a
    unit between is in some set of values can tie its neighbours closer than the product of the factors says.

    Proof. Given x_i the sides behind its neighbours are independent. Move x_i from a to b in the likelihood f of the
    output (at most ε_i), then in the law of one side at a time. Let k be given. If a unit between is known, all behind
    it keeps its law, and only units between move. Else replace f by its largest value over the units between: it is f
    but for a factor of at most exp(ε_{u_1} + … + ε_{u_{k−1}}), and it still changes by at most e^{ε_j} when another
    unit j changes. It depends on x_i through x_{u_k} alone, whose law given x_i = a and what is known is proportional
    to the product of the factors times a weight of its own, so it moves by log odds of at most Δ_k; and averaged over
    all behind u_k its log has range at most ε_{u_k} + Σ_w R(u_k, w), by induction. T bounds what is left (Birkhoff).

    Source. New here. On a chain with the same transitions everywhere it is the theorem "block messages".
    """
    paths = Paths.of(model)
    send = odds_of(model)
    found = paths.passed(loss, lambda link, size, held: contract_one(held, send[link].get(size, np.inf)))
    return Leakage(np.minimum(found, message_passing_bound(loss, model).per_unit))


@theorem("model")
def path_transport_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage on a tree by the exact law of units some steps away along its paths, if only that law is known.

    Theorem. As for path messages, for an adversary who knows no values, with T_k(L) in place of T(L; Δ_k): the largest
    log [1 + (e^L − 1) P(A|a)] / [1 + (e^L − 1) P(A|b)] over values a, b that x_i can take and sets A of values of
    x_{u_k}, P(·|a) its law given x_i = a. The leakage is at most that of the theorem "transport".

    Checked. The model has one law, its graph is a forest, and laws along paths are computed from it, widened by what
    rounding can do. Paths are tried as for path messages.

    Trusted. The true law is the model, and the adversary knows the value of no unit. One who knows some values may
    learn more than this bound says.

    Proof. As for path messages; the ratio of two means of a function whose log has range L is largest where it takes
    two values only, and that maximum is T_k(L).

    Source. New here. On a chain with the same transitions everywhere it is the theorem "block transport".
    """
    paths = Paths.of(model)
    send = frontiers_along(model)
    found = paths.passed(
        loss, lambda link, size, held: send[link][size](held) if size in send[link] else held
    )
    return Leakage(np.minimum(found, transport_bound(loss, model).per_unit))


@dataclass(frozen=True, eq=False, slots=True)
class Paths:
    """From each unit through each neighbour: the units that follow as long as there is one way on."""

    forest: Forest
    along: Mapping[Link, tuple[int, ...]]
    beside: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, model: Coupled) -> "Paths":
        """Walk along all paths, or say why blocks are not tried."""
        return paths_of(model)

    def passed(self, loss: Loss, send: Send) -> FloatArray:
        """Give ε of each unit and what reaches it from each side."""
        losses = loss.per_unit.tolist()
        reached: dict[Link, float] = {}

        def held(unit: int, but: int) -> float:
            total = losses[unit]
            for other in self.beside[unit]:
                if other != but:
                    total = add(total, reached[unit, other])
            return float(total)

        def settle(link: Link) -> None:
            path = (link[0], *self.along[link])
            near = np.cumsum([0.0, *(losses[unit] for unit in path[1:-1])]) * (1 + 4 * len(path) * ULP)
            reached[link] = min(
                add(float(near[size - 1]), send(link, size, held(path[size], path[size - 1])))
                for size in SIZES
                if size < len(path)
            )

        parent = self.forest.parent
        for unit in reversed(self.forest.order):
            for other in self.beside[unit]:
                if other != parent[unit]:
                    settle((unit, other))
        for unit in self.forest.order:
            if parent[unit] >= 0:
                settle((unit, parent[unit]))
        return round_up(np.array([held(unit, -1) for unit in range(loss.units)]))


@lru_cache(maxsize=4)
def paths_of(model: Coupled) -> Paths:
    """Walk from each unit through each neighbour as long as there is one way on."""
    if isinstance(model, MarkovChain):
        raise DoesNotApply("The chain has the same transitions at every step: block messages cover it.")
    if model.units > MOST_UNITS:
        raise DoesNotApply(f"The model has {model.units:,} units; paths are tried up to {MOST_UNITS:,}.")
    forest = forest_of(model)
    beside: list[list[int]] = [[] for _ in forest.order]
    for unit, above in enumerate(forest.parent):
        if above >= 0:
            beside[unit].append(above)
            beside[above].append(unit)
    if max(map(len, beside)) > MOST_NEIGHBOURS:
        raise DoesNotApply(f"A unit has more than {MOST_NEIGHBOURS} neighbours. The messages cover it.")
    along = {(unit, other): _walk(beside, unit, other) for unit in forest.order for other in beside[unit]}
    if max(map(len, along.values()), default=0) < 2:  # noqa: PLR2004  (a block has two steps)
        raise DoesNotApply(
            "No unit has two neighbours only, so there are no blocks. The messages say the same."
        )
    sizes = [own.size for own in forest.weight]
    if max(sizes) < FEWEST_VALUES or sum(map(len, along.values())) * max(sizes) ** 3 > MOST_WORK:
        raise DoesNotApply(
            f"Paths are tried for units of {FEWEST_VALUES} values or more, as long as it does not take long."
        )
    return Paths(forest, along, tuple(map(tuple, beside)))


def forest_of(model: Coupled) -> Forest:
    """Read a model as a forest; where a chain starts has no bearing on what its steps say of each other."""
    if isinstance(model, VaryingChain) and model.initial is None:
        return Forest.of(replace(model, initial=np.full(model.states, 1 / model.states)))
    return Forest.of(model)


def _walk(beside: list[list[int]], unit: int, other: int) -> tuple[int, ...]:
    path, before = [other], unit
    while len(beside[path[-1]]) == 2 and len(path) < SIZES[-1]:  # noqa: PLR2004  (where it came from, and on)
        onward = next(one for one in beside[path[-1]] if one != before)
        before = path[-1]
        path.append(onward)
    return tuple(path)


@lru_cache(maxsize=4)
def odds_of(model: Coupled) -> dict[Link, dict[int, float]]:
    """The largest log odds ratio of the products along each path, by its steps, as far as floats hold them."""
    paths = paths_of(model)
    forest, found = paths.forest, dict[Link, dict[int, float]]()
    stacked: dict[tuple[int, ...], list[tuple[Link, int, FloatArray]]] = {}
    for link, path in paths.along.items():
        found[link] = {}
        before, product = link[0], np.eye(forest.weight[link[0]].size)
        for size, unit in enumerate(path, start=1):
            weighed = product if size == 1 else product * forest.weight[before]
            product = weighed @ _table(forest, before, unit)
            product = product / product.max()
            if product[product > 0].min() < SMALLEST**0.5:
                break
            if size in SIZES:
                stacked.setdefault(product.shape, []).append((link, size, product))
            before = unit
    for some in stacked.values():
        odds = log_odds(Box.exact(np.stack([product for _, _, product in some])), conditional=False).max(
            axis=1
        )
        for (link, size, product), widest in zip(some, odds.tolist(), strict=True):
            found[link][size] = widest + (widest > 0) * _rounding(size, max(product.shape), forest)
    return found


@lru_cache(maxsize=4)
def frontiers_along(model: Coupled) -> dict[Link, dict[int, Frontier]]:
    """The transport of leakage along each path, by its steps, as far as floats hold the laws."""
    paths = paths_of(model)
    forest, laws = laws_of(model)
    found: dict[Link, dict[int, Frontier]] = {}
    for link, path in paths.along.items():
        found[link] = {}
        before, law = path[0], laws[path[0], link[0]]
        for size, unit in enumerate(path, start=1):
            if size > 1:
                onward = laws[unit, before]
                law = law[:, law.max(axis=0) > 0]
                if law.shape[1] != len(onward):
                    break
                law = law @ onward
            if law[law > 0].min() < SMALLEST**0.5:
                break
            if size in SIZES:
                error = size * forest.error + _rounding(size, max(law.shape), forest)
                found[link][size] = Frontier.of(law, error)
            before = unit
    return found


def _table(forest: Forest, one: int, other: int) -> FloatArray:
    """The factor of two neighbours, one row a value of the first."""
    return forest.table[other] if forest.parent[other] == one else forest.table[one].T


def _rounding(size: int, values: int, forest: Forest) -> float:
    """How far the log of an entry of a product, and of what is made of it, can be off."""
    return 8 * (size + 1) * (values + 4) * ULP + size * forest.error
