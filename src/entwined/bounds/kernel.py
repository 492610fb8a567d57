"""The laws of neighbours given each other, of models without cycles, and what they let through."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate
from typing import Final, Self, TypeVar

import numpy as np

from entwined.bounds.frontier import Frontier
from entwined.dependence import BayesNet, Coupled, MarkovChain, RandomField, VaryingChain
from entwined.errors import DoesNotApply
from entwined.numbers import ULP, FloatArray

MOST_KERNELS: Final = 20_000
MOST_POINTS: Final = 40_000_000  # about ten seconds of sorting
ROOT: Final = -1
FEW: Final = 2  # neighbours for each of which all others are joined anew
NO_START: Final = "The chain has no initial law, and transport needs it. Give one, or use the messages."
MANY: Final = "The class has many members and this bound needs one law. The messages cover it."
TOO_SMALL: Final = "A probability above zero is too small for a float (below 1e-307). The messages cover it."

Link = tuple[int, int]
Parts = tuple[list[FloatArray], list[tuple[int, int, FloatArray]]]
Message = TypeVar("Message")


@dataclass(frozen=True, eq=False, slots=True)
class Kernel:
    """The law of one unit given another, one row a value of the latter, its entries right up to e^±error."""

    law: FloatArray
    error: float


@dataclass(frozen=True, eq=False, slots=True)
class Forest:
    """A law without cycles: `weight[v]` on v's values, `table[v]` on its parent's (rows) and its (columns).

    Parents come first in `order`. What follows from the weights by sums and products is right up to e^±error.
    """

    order: tuple[int, ...]
    parent: tuple[int, ...]
    weight: tuple[FloatArray, ...]
    table: Mapping[int, FloatArray]
    error: float

    @classmethod
    def of(cls, model: Coupled) -> Self:
        """Read a model as a forest, or say why it is none."""
        weight, edges = parts_of(model)
        order, parent = breadth_first(len(weight), [(one, other) for one, other, _ in edges])
        if len(edges) > sum(above != ROOT for above in parent):
            raise DoesNotApply(
                "Units depend on each other in a cycle; transport needs a tree. The messages cover it."
            )
        refuse_size(2 * len(edges), sum(sum(table.shape) * table.size for _, _, table in edges))
        table = {a if parent[a] == b else b: block.T if parent[a] == b else block for a, b, block in edges}
        roots: dict[int, int] = {}
        for unit in order:
            roots[unit] = unit if parent[unit] == ROOT else roots[parent[unit]]
        largest = max(Counter(roots.values()).values())
        values = max(own.size for own in weight)
        split = (
            sum(len(block.scope) for block in model.blocks) if isinstance(model, RandomField) else len(edges)
        )
        operations = (
            4 * (largest + split - len(edges) + 1) * (values + 4)
        )  # each factor's products, and their sum
        return cls(order, parent, tuple(weight), table, operations * ULP)

    def sweep(
        self,
        own: Sequence[Message],
        send: Callable[[int, int, Message], Message],
        join: Callable[[Message, Message], Message],
    ) -> list[Message]:
        """Pass messages to the roots and back, and return all that each unit holds in the end.

        `send(v, u, held)` gets v's own and its neighbours' messages joined, but for what came from u.
        """
        return self.sweep_levels(
            own, lambda links, held: [send(v, u, one) for (v, u), one in zip(links, held, strict=True)], join
        )

    def sweep_levels(
        self,
        own: Sequence[Message],
        send: Callable[[Sequence[Link], Sequence[Message]], Sequence[Message]],
        join: Callable[[Message, Message], Message],
    ) -> list[Message]:
        """Sweep with all units that are as far from their roots at once: `send` gets their links to others."""
        inbox = self.heard(own, send, join, self.order)
        return [reduce(join, inbox[unit].values(), own[unit]) for unit in range(len(own))]

    def heard(
        self,
        own: Sequence[Message],
        send: Callable[[Sequence[Link], Sequence[Message]], Sequence[Message]],
        join: Callable[[Message, Message], Message],
        wanted: Iterable[int],
    ) -> list[dict[int, Message]]:
        """What units hear from each of their neighbours; from above only those that are wanted or on the way there."""
        inbox: list[dict[int, Message]] = [{} for _ in own]
        asked = self.ways_to(wanted)

        def pass_on(links: Sequence[Link], held: Sequence[Message]) -> None:
            for (source, target), message in zip(links, send(links, held) if links else (), strict=True):
                inbox[target][source] = message

        for level in reversed(self.levels[1:]):
            held = [reduce(join, inbox[unit].values(), own[unit]) for unit in level]
            pass_on([(unit, self.parent[unit]) for unit in level], held)
        for level in self.levels:
            links, rests = [], []
            for unit in level:
                away = [other for other in inbox[unit] if other in asked and other != self.parent[unit]]
                if away:
                    without = but_for_each(own[unit], inbox[unit], away, join)
                    links += [(unit, other) for other in away]
                    rests += [without[other] for other in away]
            pass_on(links, rests)
        return inbox

    def ways_to(self, units: Iterable[int]) -> set[int]:
        """These units and all on the way to them from their roots, and what is above those."""
        found = set(units)
        for unit in reversed(self.order):
            if unit in found:
                found.add(self.parent[unit])
        return found

    @property
    def levels(self) -> list[list[int]]:
        """The units by how far they are from their roots."""
        levels: list[list[int]] = []
        depth: dict[int, int] = {ROOT: -1}
        for unit in self.order:
            depth[unit] = depth[self.parent[unit]] + 1
            if depth[unit] == len(levels):
                levels.append([])
            levels[depth[unit]].append(unit)
        return levels


def but_for_each(
    own: Message,
    heard: Mapping[int, Message],
    away: Sequence[int],
    join: Callable[[Message, Message], Message],
) -> dict[int, Message]:
    """All that a unit holds but for what came from each of some neighbours."""
    if len(away) <= FEW:
        return {
            other: reduce(join, [message for source, message in heard.items() if source != other], own)
            for other in away
        }
    rest = all_but_one([own, *heard.values()], join)[1:]
    return dict(zip(heard, rest, strict=True))


def all_but_one(held: list[Message], join: Callable[[Message, Message], Message]) -> list[Message]:
    """Join all but the k-th, for each k, without taking anything back (a difference would lose digits)."""
    if len(held) == 1:
        return held  # there is no other to leave out; the caller sends nothing
    before = list(accumulate(held[:-1], join))
    after = list(accumulate(held[:0:-1], join))[::-1]
    return [after[0], *map(join, before[:-1], after[1:]), before[-1]]


def breadth_first(units: int, links: Sequence[Link]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Visit the units from the middle of each component outward; give the order and each unit's parent.

    From the middle there are the fewest levels, each of which is worked out at once.
    """
    beside: list[list[int]] = [[] for _ in range(units)]
    for one, other in links:
        beside[one].append(other)
        beside[other].append(one)
    order: list[int] = []
    parent: dict[int, int] = {}
    for first in range(units):
        if first in parent:
            continue
        parents = visited(beside, next(reversed(visited(beside, first))))
        longest = [next(reversed(parents))]
        while parents[longest[-1]] != ROOT:
            longest.append(parents[longest[-1]])
        found = visited(beside, longest[len(longest) // 2])
        order.extend(found)
        parent |= found
    return tuple(order), tuple(parent[unit] for unit in range(units))


def visited(beside: Sequence[Sequence[int]], root: int) -> dict[int, int]:
    """Each unit's parent on the shortest way from the root, in the order in which they are reached."""
    parent, waiting = {root: ROOT}, [root]
    for unit in waiting:  # grows while it is walked
        found = [other for other in beside[unit] if other not in parent]
        parent.update(dict.fromkeys(found, unit))
        waiting.extend(found)
    return parent


def parts_of(model: Coupled) -> Parts:
    """Split a model into weights of single units and tables of the pairs that truly depend on each other."""
    if isinstance(model, MarkovChain):
        return chain_parts(model)
    if isinstance(model, VaryingChain):
        return varying_parts(model)
    if not isinstance(model, (BayesNet, RandomField)):
        raise DoesNotApply(f"A {model.kind} model does not say what the law is. The messages cover it.")
    if not all(block.table.is_exact for block in model.blocks):
        raise DoesNotApply(MANY)
    refuse_size(2 * model.couplings.binding.sizes.size, 0)
    return net_parts(model) if isinstance(model, BayesNet) else field_parts(model)


def chain_parts(chain: MarkovChain) -> Parts:
    """Each step with the next, unless it says nothing about it."""
    start, step = start_and_step(chain)
    if chain.log_odds == 0:
        return [start, *[step[0]] * (chain.length - 1)], []
    return [start, *[np.ones(chain.states)] * (chain.length - 1)], [
        (t, t + 1, step) for t in range(chain.length - 1)
    ]


def varying_parts(chain: VaryingChain) -> Parts:
    """Each step with the next by its own table, unless it says nothing about it."""
    if not chain.transitions.is_exact:
        raise DoesNotApply(MANY)
    if chain.initial is None:
        raise DoesNotApply(NO_START)
    refuse_size(2 * chain.length, 2 * chain.length * chain.states**3)
    steps, binding = chain.transitions.low[chain.turns], chain.log_odds > 0
    weight = [chain.initial, *np.where(binding[:, None], 1.0, steps[:, 0])]
    return weight, [(t, t + 1, steps[t]) for t in np.flatnonzero(binding).tolist()]


def start_and_step(chain: MarkovChain) -> tuple[FloatArray, FloatArray]:
    """Give the initial law and the transitions, if both are known."""
    if not chain.transition.is_exact:
        raise DoesNotApply(MANY)
    if chain.initial is None:
        raise DoesNotApply(NO_START)
    return chain.initial, chain.transition.low


def net_parts(model: BayesNet) -> Parts:
    """Each variable with the one parent it depends on, if any; parents without effect are dropped."""
    weight = [np.ones(len(values)) for values in model.values]
    edges = []
    for block in model.blocks:
        for scope, table, odds in zip(block.scope.tolist(), block.table.low, block.log_odds, strict=True):
            *parents, child = scope
            binding = [axis for axis in range(len(parents)) if odds[axis] > 0]
            if len(binding) > 1:
                raise DoesNotApply(
                    f"Variable {model.names[child]!r} depends on {len(binding)} parents, "
                    "and transport needs at most one. The messages cover it."
                )
            law = table[tuple(slice(None) if axis in binding else 0 for axis in range(len(parents)))]
            if binding:
                edges.append((parents[binding[0]], child, law))
            else:
                weight[child] = law
    return weight, edges


def field_parts(model: RandomField) -> Parts:
    """Each edge that binds; a potential that is a product of two weights goes to its ends."""
    weight = [np.ones(size) for size in model.sizes]
    edges = []
    for block in model.blocks:
        for scope, potential, odds in zip(block.scope.tolist(), block.table.low, block.log_odds, strict=True):
            one, other = scope
            table = scaled(potential)
            if odds.max() > 0:
                edges.append((one, other, table))
            else:
                weight[one] = scaled(weight[one] * table.sum(axis=1))
                weight[other] = scaled(weight[other] * table.sum(axis=0))
    return weight, edges


def scaled(weights: FloatArray) -> FloatArray:
    """Make 1 the largest weight."""
    largest = weights.max()
    if largest == 0:
        raise DoesNotApply(
            "The zeros of the potentials leave nothing possible, so there is no law. Check them."
        )
    return np.asarray(weights / largest)


def refuse_size(kernels: int, points: int) -> None:
    """Refuse what would take minutes."""
    if kernels > MOST_KERNELS or points > MOST_POINTS:
        raise DoesNotApply(
            f"This bound would need {kernels:,} kernels, which takes long. The messages cover it."
        )


@lru_cache(maxsize=4)
def laws_of(model: Coupled) -> tuple[Forest, Mapping[Link, FloatArray]]:
    """For each pair of neighbours (j, i) the law of j given i, one row a value of i that can occur."""
    with np.errstate(under="raise"):
        try:
            forest = Forest.of(model)
            joint: dict[Link, FloatArray] = {}

            def send(source: int, target: int, held: FloatArray) -> FloatArray:
                table = forest.table[source] if forest.parent[source] == target else forest.table[target].T
                joint[source, target] = table * held
                return scaled(joint[source, target].sum(axis=1))

            marginal = forest.sweep(forest.weight, send, lambda one, other: scaled(one * other))
            rows = {(j, i): block[marginal[i] > 0] for (j, i), block in joint.items()}
            return forest, {link: block / block.sum(axis=1, keepdims=True) for link, block in rows.items()}
        except FloatingPointError:
            raise DoesNotApply(TOO_SMALL) from None


@lru_cache(maxsize=4)
def frontiers_of(model: Coupled) -> tuple[Forest, Mapping[Link, Frontier]]:
    """For each pair of neighbours (j, i) the transport of leakage about j into leakage about i."""
    forest, laws = laws_of(model)
    return forest, dict(zip(laws, Frontier.of_each(list(laws.values()), forest.error), strict=True))
