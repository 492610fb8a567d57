"""⊗ through a forest in several cases at once: whole levels together, and what cases have alike only once.

A case says which part each node holds. The state of a node is all that decides what it sends: its own part and what
reached it from others. Where a node has the same state in several cases, it is worked out once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from entwined.bounds.kernel import ROOT, Forest, Link
from entwined.bounds.profiles.composition import Composition
from entwined.bounds.profiles.profile import Passages, passages
from entwined.bounds.profiles.sway import Sway

AT_ONCE: Final = 32  # rows that are sent at once: many more are far from the processor

Place: TypeAlias = tuple[int, int]  # a case and a node
Rows: TypeAlias = dict[Place, int]
Watch: TypeAlias = Callable[[Sequence[Link], Composition, Composition], None]


@dataclass(frozen=True, slots=True)
class State:
    """A node, and the rows of its own part, of what reached it from above (or none) and of what did from below."""

    unit: int
    own: int
    above: int
    below: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Level:
    """Different states of the nodes of a level, those with the most below first, and whose they are."""

    states: Sequence[State]
    rows: Rows

    @classmethod
    def of(cls, found: Mapping[Place, State]) -> "Level":
        """Put equal states together."""
        states = sorted(dict.fromkeys(found.values()), key=lambda state: -len(state.below))
        row = {state: at for at, state in enumerate(states)}
        return cls(states, {place: row[state] for place, state in found.items()})

    @cached_property
    def below(self) -> list[list[int]]:
        """The rows of the first, the second, … of what reached states from below, of as many as got so many."""
        most = len(self.states[0].below)
        return [[state.below[k] for state in self.states if len(state.below) > k] for k in range(most)]


@dataclass(frozen=True, eq=False)
class Sweep:
    """Parts, a row each; which of them each node holds, case by case, and of which nodes each case tells.

    A link without a sway passes all on, and nothing stays nothing. `watch` sees what links took and gave.
    """

    forest: Forest
    sways: Mapping[Link, Sway]
    parts: Composition
    held: Sequence[Sequence[int]]
    told: Sequence[Sequence[int]]
    watch: Watch | None = None

    def whole(self) -> tuple[Composition, list[list[int]]]:
        """What nodes show with all that comes from their neighbours, and case by case which row is whose."""
        sent, risen = self._risen()
        wanted = {(case, unit) for case, units in enumerate(self.told) for unit in units}
        got: Rows = {}
        fallen: Composition | None = None
        shown: list[Composition] = []
        place: Rows = {}
        for depth, units in enumerate(self.forest.levels):
            level = self._level(units, self._asked, sent, got)
            if not level.states:
                break
            base = self.parts.rows([state.own for state in level.states])
            if fallen is not None:
                base = base.join(fallen.rows([state.above for state in level.states]))
            joined = joined_in_turn(base, level.below, risen.get(depth + 1))
            mine = wanted & level.rows.keys()
            found = sorted({level.rows[one] for one in mine})
            row = {at: nth for nth, at in enumerate(found, sum(map(len, shown)))}
            place |= {one: row[level.rows[one]] for one in mine}
            shown.append(complete(joined).rows(found))
            got, fallen = self._fallen(level, joined, risen.get(depth + 1))
        return Composition.concatenated(shown), [
            [place[case, unit] for unit in units] for case, units in enumerate(self.told)
        ]

    def _risen(self) -> tuple[Rows, dict[int, Composition]]:
        """What each node sends towards its root, level by level."""
        everywhere = [set(self.forest.order)] * len(self.held)
        levels, parent = self.forest.levels, self.forest.parent
        rows: Rows = {}
        risen: dict[int, Composition] = {}
        for depth in range(len(levels) - 1, 0, -1):
            level = self._level(levels[depth], everywhere, rows, {})
            base = self.parts.rows([state.own for state in level.states])
            held = complete(joined_in_turn(base, level.below, risen.get(depth + 1)))
            risen[depth] = self._send([(state.unit, parent[state.unit]) for state in level.states], held)
            rows |= level.rows
        return rows, risen

    def _level(self, units: Sequence[int], asked: Sequence[set[int]], sent: Rows, got: Rows) -> Level:
        """The states of the nodes that are asked."""
        return Level.of(
            {
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
        )

    def _fallen(
        self, level: Level, joined: Sequence[Composition], risen: Composition | None
    ) -> tuple[Rows, Composition | None]:
        """What nodes send away from their roots, where something is asked there."""
        whose: dict[Place, list[Place]] = {}
        for (case, unit), at in level.rows.items():
            for position, child in enumerate(self._children[unit]):
                if child in self._asked[case]:
                    whose.setdefault((position, at), []).append((case, child))
        if risen is None or not whose:
            return {}, None
        order = sorted(whose)
        rests = all_but_each(joined, level.below, risen)
        picked = [rest.rows([at for p, at in order if p == position]) for position, rest in enumerate(rests)]
        links = [(level.states[at].unit, whose[position, at][0][1]) for position, at in order]
        got = {one: row for row, key in enumerate(order) for one in whose[key]}
        return got, self._send(links, Composition.concatenated(picked))

    def _send(self, links: Sequence[Link], held: Composition) -> Composition:
        """What neighbours get of each."""
        some = [slice(first, first + AT_ONCE) for first in range(0, len(links), AT_ONCE)]
        sent = Composition.concatenated([self._swayed(links[each], held.rows(each)) for each in some])
        if self.watch is not None:
            self.watch(links, held, sent)
        return sent

    def _swayed(self, links: Sequence[Link], held: Composition) -> Composition:
        nothing = held.is_nothing.tolist()
        swayed = [row for row, link in enumerate(links) if link in self.sways and not nothing[row]]
        if not swayed:
            return held
        taken = held if len(swayed) == len(links) else held.rows(swayed)
        passed = self._passages.through(taken.profile(), [self.sways[links[row]] for row in swayed])
        found = Composition.of(passed)
        return found if len(swayed) == len(links) else held.with_rows(swayed, found)

    @cached_property
    def _passages(self) -> Passages:
        return passages(self.parts.grid, tuple(dict.fromkeys(self.sways.values())))

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


def joined_in_turn(
    base: Composition, below: Sequence[Sequence[int]], messages: Composition | None
) -> list[Composition]:
    """What states have with none, the first, the first two, … of what reached them; each of those that got so many."""
    joined = [base]
    if messages is None:
        return joined
    for rows in below:
        joined.append(joined[-1].rows(slice(0, len(rows))).join(messages.rows(rows)))
    return joined


def complete(joined: Sequence[Composition]) -> Composition:
    """What each state has in the end."""
    more = [*map(len, joined[1:]), 0]
    last = [one.rows(slice(done, None)) for one, done in zip(joined, more, strict=True)]
    return Composition.concatenated(last[::-1])


def all_but_each(
    joined: Sequence[Composition], below: Sequence[Sequence[int]], messages: Composition
) -> list[Composition]:
    """What states have but for the first, the second, … of what reached them; nothing is taken back."""
    rests: list[Composition] = []
    after: Composition | None = None
    for before, rows in zip(joined[-2::-1], below[::-1], strict=True):
        mine, all_before = messages.rows(rows), before.rows(slice(0, len(rows)))
        rests.append(all_before if after is None else with_more(all_before, after))
        after = mine if after is None else with_more(mine, after)
    return rests[::-1]


def with_more(held: Composition, more: Composition) -> Composition:
    """Join what the first rows have more."""
    first, others = held.rows(slice(0, len(more))), held.rows(slice(len(more), None))
    return Composition.concatenated([first.join(more), others])
