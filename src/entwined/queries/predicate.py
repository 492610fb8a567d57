"""Predicates: exact sets of rows, as functions of the columns' public codes.

Missing is a code like any other here. What a comparison does with it is settled in `conditions`.
"""

import json
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from entwined.errors import BadQuery, QueryTooComplex
from entwined.queries.diagram import Diagram, Node, Range, Ref, change, combine, constant, inside, leaf
from entwined.schema.raw import is_whole

MOST_BOXES: Final = 10_000
IN: Final[Ref] = leaf(1)
OUT: Final[Ref] = leaf(0)

Ranges: TypeAlias = Mapping[str, tuple[Range, ...]]


@dataclass(frozen=True)
class Predicate:
    """A set of points, one code a column; columns it does not depend on are not mentioned.

    >>> young, old = codes_in("age", 121, ((0, 29),)), codes_in("age", 121, ((60, 119),))
    >>> young.disjoint(old), young.implies(~old), (young | ~young) == everything()
    (True, True, True)
    """

    diagram: Diagram

    def __and__(self, other: "Predicate") -> "Predicate":
        """Where both hold."""
        return Predicate(combine(self.diagram, other.diagram, operator.and_))

    def __or__(self, other: "Predicate") -> "Predicate":
        """Where at least one holds."""
        return Predicate(combine(self.diagram, other.diagram, operator.or_))

    def __sub__(self, other: "Predicate") -> "Predicate":
        """Where this holds and the other does not."""
        return Predicate(combine(self.diagram, other.diagram, operator.gt))

    def __invert__(self) -> "Predicate":
        """Every other point, those with missing codes included."""
        return Predicate(change(self.diagram, lambda value: 1 - value))

    @property
    def is_empty(self) -> bool:
        """Whether no row can ever be inside."""
        return self.diagram.root == OUT

    @property
    def is_everything(self) -> bool:
        """Whether every row is inside."""
        return self.diagram.root == IN

    def disjoint(self, other: "Predicate") -> bool:
        """Whether no row can be inside both."""
        return (self & other).is_empty

    def implies(self, other: "Predicate") -> bool:
        """Whether every row inside this is inside the other."""
        return (self - other).is_empty

    def holds(self, codes: Mapping[str, int]) -> bool:
        """Whether one row, given by its codes, is inside."""
        return self.diagram.value(codes) == 1

    @property
    def sizes(self) -> Mapping[str, int]:
        """The columns that matter, by name, with their numbers of codes."""
        return self.diagram.sizes

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that matter, by name."""
        return tuple(self.diagram.sizes)

    def codes(self, column: str, size: int) -> tuple[Range, ...]:
        """Give the codes of a column that some row inside can have, as ranges."""
        nodes = self.diagram.nodes
        seen: set[Ref] = set()
        found: set[Range] = set()
        waiting = [self.diagram.root]
        while waiting:
            at = waiting.pop()
            if at in seen or at == OUT:
                continue
            seen.add(at)
            if at < 0 or nodes[at].column > column:
                return ((0, size - 1),)
            if nodes[at].column < column:
                waiting.extend(nodes[at].ways)
            else:
                found.update(piece for ways, pieces in _led(nodes[at]) if ways != OUT for piece in pieces)
        return _joined(sorted(found))

    @cached_property
    def boxes(self) -> tuple[Ranges, ...]:
        """Cut the set into boxes that do not meet: in each, every column named has a code in its ranges."""
        self.refuse_many_boxes()
        return tuple(_boxes(self.diagram, self.diagram.root))

    def refuse_many_boxes(self) -> None:
        """Refuse a set that an engine could not be asked about in so many words."""
        counts: dict[Ref, int] = {IN: 1, OUT: 0}
        for number, node in enumerate(self.diagram.nodes):
            counts[number] = sum(counts[way] for way in set(node.ways))
        if counts[self.diagram.root] > MOST_BOXES:
            raise QueryTooComplex(
                f"The condition falls into more than {MOST_BOXES:,} boxes. Ask a simpler one."
            )

    @cached_property
    def text(self) -> str:
        """The set in words of codes; equal sets have equal texts, different sets different ones."""
        if self.is_everything:
            return "all"
        sizes = self.sizes
        return " or ".join(_box_text(box, sizes) for box in self.boxes) or "none"

    @property
    def document(self) -> dict[str, object]:
        """The set as JSON; equal sets have equal documents."""
        nodes = [[node.column, node.size, list(node.ends), list(node.ways)] for node in self.diagram.nodes]
        return {"nodes": nodes, "root": self.diagram.root}

    def __str__(self) -> str:
        """Show the set."""
        return self.text


def everything() -> Predicate:
    """Every row."""
    return Predicate(constant(1))


def nothing() -> Predicate:
    """No row."""
    return Predicate(constant(0))


def codes_in(column: str, size: int, ranges: tuple[Range, ...]) -> Predicate:
    """Rows whose code in a column lies in one of these sorted, disjoint ranges."""
    previous = -2
    for low, high in ranges:
        if not (previous < low <= high < size) or low < 0:
            raise BadQuery(
                f"Column {column!r}: {low} to {high} of {size} codes. Give sorted ranges that do not meet."
            )
        previous = high
    return Predicate(inside(column, size, ranges))


def predicate_from(document: object) -> Predicate:
    """Read a set back; refuse what no set could have written."""
    match document:
        case {"nodes": list(rows), "root": int(root), **rest} if not rest:
            nodes = [_node_from(row) for row in rows]
        case _:
            raise _not_written(f"it is {document!r:.100}")
    sizes = {node.column: node.size for node in nodes}
    for number, node in enumerate(nodes):
        if not _is_node(number, node, nodes) or sizes[node.column] != node.size:
            raise _not_written(f"node {number} is {node}")
    if not (root in (IN, OUT) or (nodes and root == len(nodes) - 1)):
        raise _not_written(f"its root is {root}")
    given = Diagram(tuple(nodes), root)
    if combine(given, constant(0), lambda value, _: value) != given:
        raise _not_written("its nodes are not reduced and in order")
    return Predicate(given)


def _node_from(row: object) -> Node:
    match row:
        case [str(column), int(size), list(ends), list(ways)] if all(map(is_whole, [size, *ends, *ways])):
            return Node(column, size, tuple(ends), tuple(ways))
    raise _not_written(f"a node is {row!r:.100}")


def _is_node(number: int, node: Node, nodes: list[Node]) -> bool:
    rising = all(low < high for low, high in zip((0, *node.ends), node.ends, strict=False))
    below = all(
        way in (IN, OUT) or (0 <= way < number and nodes[way].column > node.column) for way in node.ways
    )
    return rising and below and len(node.ends) == len(node.ways) > 1 and node.ends[-1] == node.size


def _not_written(why: str) -> BadQuery:
    return BadQuery(f"This is not a predicate: {why}. Give one as it was written.")


def _led(node: Node) -> Iterator[tuple[Ref, tuple[Range, ...]]]:
    """Give each way out of a node once, in order, with the ranges that lead there."""
    ranges: dict[Ref, list[Range]] = {}
    low = 0
    for end, way in zip(node.ends, node.ways, strict=True):
        ranges.setdefault(way, []).append((low, end - 1))
        low = end
    for way, pieces in ranges.items():
        yield way, tuple(pieces)


def _boxes(diagram: Diagram, at: Ref) -> Iterator[dict[str, tuple[Range, ...]]]:
    if at == IN:
        yield {}
    elif at >= 0:
        node = diagram.nodes[at]
        for way, ranges in _led(node):
            for rest in _boxes(diagram, way):
                yield {node.column: ranges} | rest


def _box_text(box: Ranges, sizes: Mapping[str, int]) -> str:
    """Write one box; a column's name is quoted as JSON, so that no name can pass for another text."""
    sides = []
    for column, ranges in box.items():
        shown = ",".join(str(low) if low == high else f"{low}..{high}" for low, high in ranges)
        sides.append(f"{json.dumps(column)} in {shown} of {sizes[column]}")
    return " and ".join(sides)


def _joined(ranges: list[Range]) -> tuple[Range, ...]:
    joined: list[Range] = []
    for low, high in ranges:
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return tuple(joined)
