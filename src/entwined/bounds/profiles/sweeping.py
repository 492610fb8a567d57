"""⊗ through a forest in several cases at once: whole levels together, and what cases have alike only once.

A case says which part each node holds. What reaches a node has a row for each pair of its values, or one for all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from entwined.bounds.kernel import ROOT, Forest, Link
from entwined.bounds.profiles.composition import Composition
from entwined.bounds.profiles.crossing import Crossover, PairProfiles
from entwined.bounds.profiles.levels import Level, Place, Rows, Sent, State
from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.numbers import FloatArray, IntArray

AT_ONCE: Final = 2**15  # points of rows that are worked out at once: many more are far from the processor


class LinkRows(NamedTuple):
    """What a link takes in some cases: rows of a stack, and which of them each pair of values has."""

    link: Link
    cases: Sequence[int]
    rows: Sequence[int]
    row: IntArray


class PassedOn(NamedTuple):
    """What a link took and gave in some cases: rows of two stacks for each pair, and whose pair decided most."""

    link: Link
    cases: Sequence[int]
    took: IntArray
    gave: IntArray
    origin: IntArray


Watch: TypeAlias = Callable[[Composition, Composition, Sequence[PassedOn]], None]


@dataclass(frozen=True, eq=False)
class Sweep:
    """Parts, a row each; which of them each node holds, case by case, and of which nodes each case tells.

    A link without a crossing passes all on, and nothing stays nothing. `watch` sees what links took and gave.
    """

    forest: Forest
    crossings: Mapping[Link, Crossover]
    parts: Composition
    held: Sequence[Sequence[int]]
    told: Sequence[Sequence[int]]
    watch: Watch | None = None

    def whole(self) -> tuple[Composition, list[list[int]]]:
        """What nodes show with all that comes from their neighbours, and case by case which row is whose."""
        sent, risen = self._risen()
        wanted = {(case, unit) for case, units in enumerate(self.told) for unit in units}
        got: Rows = {}
        fallen: Sent | None = None
        shown: list[Composition] = []
        place: Rows = {}
        for depth, units in enumerate(self.forest.levels):
            below = risen.get(depth + 1)
            level = Level.of(self._states(units, self._asked, sent, got), fallen, below)
            if not level.states:
                break
            base = self.parts.rows(level.own)
            if fallen is not None:
                base = base.join(fallen.stack.rows(level.above))
            joined = joined_in_turn(base, level.below, below)
            mine = wanted & level.rows.keys()
            found = sorted({level.rows[one] for one in mine})
            row = {at: nth for nth, at in enumerate(found, sum(map(len, shown)))}
            place |= {one: row[level.rows[one]] for one in mine}
            if found:
                shown.append(worst_of(complete(joined), [level.span(at) for at in found]))
            got, fallen = self._fallen(level, joined, below)
        return Composition.concatenated(shown), [
            [place[case, unit] for unit in units] for case, units in enumerate(self.told)
        ]

    def _risen(self) -> tuple[Rows, dict[int, Sent]]:
        """What each node sends towards its root, level by level."""
        everywhere = [set(self.forest.order)] * len(self.held)
        levels, parent = self.forest.levels, self.forest.parent
        rows: Rows = {}
        risen: dict[int, Sent] = {}
        for depth in range(len(levels) - 1, 0, -1):
            below = risen.get(depth + 1)
            level = Level.of(self._states(levels[depth], everywhere, rows, {}), None, below)
            held = complete(joined_in_turn(self.parts.rows(level.own), level.below, below))
            taken = [
                LinkRows(
                    (state.unit, parent[state.unit]), level.cases[at], level.span(at), level.pairs[at].row
                )
                for at, state in enumerate(level.states)
            ]
            risen[depth] = self._send(taken, held)
            rows |= level.rows
        return rows, risen

    def _states(
        self, units: Sequence[int], asked: Sequence[set[int]], sent: Rows, got: Rows
    ) -> dict[Place, State]:
        """The states of the nodes that are asked."""
        return {
            (case, unit): State(
                unit,
                held[unit],
                got.get((case, unit), ROOT),
                tuple([sent[case, child] for child in self._children[unit]]),
            )
            for case, held in enumerate(self.held)
            for unit in units
            if unit in asked[case]
        }

    def _fallen(
        self, level: Level, joined: Sequence[Composition], below: Sent | None
    ) -> tuple[Rows, Sent | None]:
        """What nodes send away from their roots, where something is asked there."""
        whose: dict[Place, list[Place]] = {}
        for (case, unit), at in level.rows.items():
            for position, child in enumerate(self._children[unit]):
                if child in self._asked[case]:
                    whose.setdefault((position, at), []).append((case, child))
        if below is None or not whose:
            return {}, None
        order = sorted(whose)
        rests = all_but_each(joined, level.below, below)
        ends = np.cumsum([0, *map(len, rests)]).tolist()
        taken = []
        for position, at in order:
            state, pairs = level.states[at], level.pairs[at]
            first, row = pairs.without(position - len(state.below))
            begin = ends[position] + level.starts[at]
            cases, children = zip(*whose[position, at], strict=True)
            taken.append(LinkRows((state.unit, children[0]), cases, (begin + first).tolist(), row))
        got = {one: nth for nth, key in enumerate(order) for one in whose[key]}
        return got, self._send(taken, Composition.concatenated(rests))

    def _send(self, taken: Sequence[LinkRows], held: Composition) -> Sent:
        """What neighbours get of each."""
        needed = np.unique(np.concatenate([one.rows for one in taken]))
        deltas = read(held.rows(needed.tolist()))
        given = []
        for one in taken:
            shown = PairProfiles(deltas[np.searchsorted(needed, one.rows)], one.row, one.row)
            crossing = self.crossings.get(one.link)
            if crossing is None:
                given.append(PairProfiles.of_all(shown.deltas.max(axis=0), shown.loudest))
            else:
                given.append(crossing.through(shown, self.parts.grid))
        starts = np.cumsum([0, *(len(one.deltas) for one in given)])
        stack = hold(np.concatenate([one.deltas for one in given]), self.parts.grid)
        sent = Sent(stack, [at + one.row for at, one in zip(starts.tolist(), given, strict=False)])
        if self.watch is not None:
            took = [np.asarray(one.rows)[one.row] for one in taken]
            each = zip(taken, took, sent.rows, given, strict=True)
            self.watch(held, stack, [PassedOn(t.link, t.cases, w, g, s.origin) for t, w, g, s in each])
        return sent

    @cached_property
    def _children(self) -> list[list[int]]:
        """Who is below each node."""
        found: list[list[int]] = [[] for _ in self.forest.order]
        for unit in self.forest.order:
            if self.forest.parent[unit] != ROOT:
                found[self.forest.parent[unit]].append(unit)
        return found

    @cached_property
    def _asked(self) -> list[set[int]]:
        """The nodes that each case tells of, and those on the way to them."""
        return [self.forest.ways_to(units) for units in self.told]


def read(held: Composition) -> FloatArray:
    """The profiles of a stack, some at a time."""
    many = max(AT_ONCE // held.grid.size, 1)
    some = [held.rows(slice(first, first + many)) for first in range(0, len(held), many)]
    return np.concatenate([one.profile().deltas for one in some])


def hold(deltas: FloatArray, grid: Grid) -> Composition:
    """Parts of a stack of profiles, some at a time."""
    many = max(AT_ONCE // grid.size, 1)
    some = [deltas[first : first + many] for first in range(0, len(deltas), many)]
    return Composition.concatenated([Composition.of(PrivacyProfile(grid, one)) for one in some])


def worst_of(held: Composition, spans: Sequence[range]) -> Composition:
    """What nodes show of any pair of their values, a row each."""
    alone = [nth for nth, span in enumerate(spans) if len(span) == 1]
    several = [nth for nth, span in enumerate(spans) if len(span) > 1]
    if not several:
        return held.rows([span[0] for span in spans])
    deltas = read(held.rows([at for nth in several for at in spans[nth]]))
    starts = np.cumsum([0, *(len(spans[nth]) for nth in several[:-1])])
    worst = hold(np.maximum.reduceat(deltas, starts), held.grid)
    order = np.argsort([*alone, *several])
    return Composition.concatenated([held.rows([spans[nth][0] for nth in alone]), worst]).rows(order.tolist())


def joined_in_turn(
    base: Composition, below: Sequence[Sequence[int]], messages: Sent | None
) -> list[Composition]:
    """What rows have with none, the first, the first two, … of what reached them; each of those that got so many."""
    joined = [base]
    if messages is None:
        return joined
    for rows in below:
        joined.append(joined[-1].rows(slice(0, len(rows))).join(messages.stack.rows(rows)))
    return joined


def complete(joined: Sequence[Composition]) -> Composition:
    """What each row has in the end."""
    more = [*map(len, joined[1:]), 0]
    last = [one.rows(slice(done, None)) for one, done in zip(joined, more, strict=True)]
    return Composition.concatenated(last[::-1])


def all_but_each(
    joined: Sequence[Composition], below: Sequence[Sequence[int]], messages: Sent
) -> list[Composition]:
    """What rows have but for the first, the second, … of what reached them; nothing is taken back."""
    rests: list[Composition] = []
    after: Composition | None = None
    for before, rows in zip(joined[-2::-1], below[::-1], strict=True):
        mine, all_before = messages.stack.rows(rows), before.rows(slice(0, len(rows)))
        rests.append(all_before if after is None else with_more(all_before, after))
        after = mine if after is None else with_more(mine, after)
    return rests[::-1]


def with_more(held: Composition, more: Composition) -> Composition:
    """Join what the first rows have more."""
    first, others = held.rows(slice(0, len(more))), held.rows(slice(len(more), None))
    return Composition.concatenated([first.join(more), others])
