"""Functions of finitely many codes as ordered, reduced decision diagrams: equal functions are equal values.

A node asks for the code of one column, in the order of the columns' names, and each range of codes leads
on to another node or to a leaf. Neighbouring ranges never lead to the same place, a node never leads to one
place only, and nodes are numbered in the order a walk from the root leaves them: a function has exactly one
diagram.
A leaf is a whole number ≥ 0: 0 and 1 for a condition, or the set of conditions that hold as bits.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from entwined.errors import BadQuery, QueryTooComplex

MOST_EDGES: Final = 100_000
MOST_COLUMNS: Final = 100  # a walk goes one call deeper for each

Ref: TypeAlias = int  # ≥ 0 a node, below 0 the leaf −1 − ref
Range: TypeAlias = tuple[int, int]  # both ends inside


def leaf(value: int) -> Ref:
    """Refer to a leaf."""
    return -1 - value


@dataclass(frozen=True, slots=True)
class Node:
    """Range number r of the codes 0 … size−1 ends before `ends[r]` and leads to `ways[r]`."""

    column: str
    size: int
    ends: tuple[int, ...]
    ways: tuple[Ref, ...]


@dataclass(frozen=True, slots=True)
class Diagram:
    """A function of codes; the last node is the root, and without nodes it is the constant `root`."""

    nodes: tuple[Node, ...]
    root: Ref

    @property
    def sizes(self) -> Mapping[str, int]:
        """The columns the function really depends on, with their numbers of codes."""
        return dict(sorted((node.column, node.size) for node in self.nodes))

    @property
    def leaves(self) -> frozenset[int]:
        """The values that the function takes; it takes each of them somewhere."""
        ways = {way for node in self.nodes for way in node.ways} | {self.root}
        return frozenset(-1 - way for way in ways if way < 0)

    def value(self, codes: Mapping[str, int]) -> int:
        """Give the function's value at one point."""
        at = self.root
        while at >= 0:
            node = self.nodes[at]
            at = node.ways[bisect_right(node.ends, codes[node.column])]
        return -1 - at


class Builder:
    """Collects the nodes of one diagram, each once, and gives up when there are too many."""

    def __init__(self) -> None:
        """Start without nodes."""
        self.nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}
        self._edges = 0

    def refer(self, column: str, size: int, ranges: Iterator[tuple[int, Ref]]) -> Ref:
        """Give the node with these range ends and ways, reduced; or the one way it leads."""
        ends: list[int] = []
        ways: list[Ref] = []
        for end, way in ranges:
            if ways and ways[-1] == way:
                ends[-1] = end
            else:
                ends.append(end)
                ways.append(way)
        if len(ways) == 1:
            return ways[0]
        node = Node(column, size, tuple(ends), tuple(ways))
        number = self._numbers.get(node)
        if number is None:
            self._edges += len(ways)
            if self._edges > MOST_EDGES:
                raise QueryTooComplex(
                    f"The condition needs more than {MOST_EDGES:,} ranges. Ask a simpler one."
                )
            number = self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return number

    def diagram(self, root: Ref) -> Diagram:
        """Give what was collected."""
        return Diagram(tuple(self.nodes), root)


def constant(value: int) -> Diagram:
    """Give the function that has one value everywhere."""
    return Diagram((), leaf(value))


def inside(column: str, size: int, ranges: tuple[Range, ...]) -> Diagram:
    """Give the function that is 1 where a column's code lies in one of these sorted, disjoint ranges."""
    built = Builder()

    def pieces() -> Iterator[tuple[int, Ref]]:
        done = 0
        for low, high in ranges:
            if low > done:
                yield low, leaf(0)
            yield high + 1, leaf(1)
            done = high + 1
        if done < size:
            yield size, leaf(0)

    return built.diagram(built.refer(column, size, pieces()))


def combine(left: Diagram, right: Diagram, value: Callable[[int, int], int]) -> Diagram:
    """Give the function whose value at each point is `value` of the two functions' values there."""
    _refuse_clash(left.sizes, right.sizes)
    built = Builder()
    known: dict[tuple[Ref, Ref], Ref] = {}

    def walk(one: Ref, two: Ref) -> Ref:
        if one < 0 and two < 0:
            return leaf(value(-1 - one, -1 - two))
        found = known.get((one, two))
        if found is None:
            top = _top(left, one, right, two)
            ways = ((end, walk(a, b)) for end, a, b in _paired(left, one, right, two, top))
            found = known[one, two] = built.refer(top.column, top.size, ways)
        return found

    return built.diagram(walk(left.root, right.root))


def change(given: Diagram, value: Callable[[int], int]) -> Diagram:
    """Give the function whose value at each point is `value` of the given one's."""
    built = Builder()
    found: list[Ref] = []  # what stands for each node; nodes come after those that they lead to

    def led(way: Ref) -> Ref:
        return found[way] if way >= 0 else leaf(value(-1 - way))

    for node in given.nodes:
        ways = zip(node.ends, map(led, node.ways), strict=True)
        found.append(built.refer(node.column, node.size, ways))
    return built.diagram(led(given.root))


def _top(left: Diagram, one: Ref, right: Diagram, two: Ref) -> Node:
    """Give the node that asks for the first column; at least one of the two is a node."""
    if one < 0:
        return right.nodes[two]
    if two < 0 or left.nodes[one].column <= right.nodes[two].column:
        return left.nodes[one]
    return right.nodes[two]


def _paired(left: Diagram, one: Ref, right: Diagram, two: Ref, top: Node) -> Iterator[tuple[int, Ref, Ref]]:
    """Cut the codes of a column where either side cuts them."""
    left_ends, left_ways = _ways(left, one, top)
    right_ends, right_ways = _ways(right, two, top)
    i = j = 0
    while i < len(left_ends):
        end = min(left_ends[i], right_ends[j])
        yield end, left_ways[i], right_ways[j]
        i, j = i + (left_ends[i] == end), j + (right_ends[j] == end)


def _ways(diagram: Diagram, at: Ref, top: Node) -> tuple[tuple[int, ...], tuple[Ref, ...]]:
    if at >= 0 and diagram.nodes[at].column == top.column:
        return diagram.nodes[at].ends, diagram.nodes[at].ways
    return (top.size,), (at,)


def _refuse_clash(left: Mapping[str, int], right: Mapping[str, int]) -> None:
    for column in left.keys() & right.keys():
        if left[column] != right[column]:
            raise BadQuery(
                f"Column {column!r} has {left[column]} codes in one condition, {right[column]} in another. "
                "Build both on one schema."
            )
    if len(left.keys() | right.keys()) > MOST_COLUMNS:
        raise QueryTooComplex(f"A condition reads more than {MOST_COLUMNS} columns. Ask about fewer.")
