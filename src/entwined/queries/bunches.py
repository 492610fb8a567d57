"""Charged sets in bunches whose atoms are few, so that one more charge touches one bunch.

The points fall into atoms, points inside the same sets of a bunch; every atom holds a point, so the greatest sum
over atoms is exact. Sets that cut the points into too many atoms are divided: by their first column, their
second, and so on, then by digits of a hash. The maxima of several bunches add up to a bound that is never below
the truth. A subset of sets that fit into a bunch fits as well (its diagram is the larger one with atoms put
together), so which sets share a bunch depends on the sets alone: not on their order, nor on who adds them up.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

import numpy as np

from entwined.errors import QueryTooComplex
from entwined.numbers import BitArray
from entwined.queries.diagram import Diagram, change, combine
from entwined.queries.heights import at_one_atom, at_two_atoms
from entwined.queries.predicate import Predicate

MOST_ATOMS: Final = 1024
HASH_BITS: Final = 64

Path: TypeAlias = tuple[str, ...]
Weight: TypeAlias = tuple[Fraction, Fraction]

NO_WEIGHT: Final[Weight] = (Fraction(0), Fraction(0))


@dataclass(frozen=True, eq=False)
class Shape:
    """Sets by their paths, and a diagram that tells of every point which of them hold it, as bits."""

    paths: tuple[Path, ...]
    held: Diagram

    @cached_property
    def bits(self) -> Mapping[Path, int]:
        """Which bit stands for which set."""
        return {path: bit for bit, path in enumerate(self.paths)}

    @cached_property
    def atoms(self) -> tuple[int, ...]:
        """The combinations of sets that hold a point together."""
        return tuple(sorted(self.held.leaves))

    @cached_property
    def inside(self) -> BitArray:
        """Which atom (down) is inside which set (across)."""
        size = len(self.paths) // 8 + 1
        packed = np.frombuffer(b"".join(atom.to_bytes(size, "little") for atom in self.atoms), np.uint8)
        return np.unpackbits(packed.reshape(-1, size), axis=1, count=len(self.paths), bitorder="little")

    def only(self, kept: Sequence[int]) -> "Shape":
        """Leave the other sets out."""
        packed = np.packbits(self.inside[:, np.array(kept, dtype=np.int64)], axis=1, bitorder="little")
        fewer = {
            atom: int.from_bytes(row.tobytes(), "little")
            for atom, row in zip(self.atoms, packed, strict=True)
        }
        return Shape(tuple(self.paths[bit] for bit in kept), change(self.held, fewer.__getitem__))

    def beside(self, other: "Shape") -> "Shape | None":
        """Put the sets of two together, none of which is in both; None if there are too many atoms."""
        shift = len(self.paths)
        seen: set[int] = set()

        def together(first: int, second: int) -> int:
            seen.add(found := first | second << shift)
            if len(seen) > MOST_ATOMS:
                raise QueryTooComplex("Too many atoms for one bunch.")
            return found

        try:
            held = combine(self.held, other.held, together)
        except QueryTooComplex:
            return None
        return Shape(self.paths + other.paths, held)


@dataclass(frozen=True, eq=False)
class Bunch:
    """Charged sets that cut the points into few atoms."""

    shape: Shape
    weights: tuple[Weight, ...]

    @cached_property
    def at_one(self) -> Fraction:
        """The most at one point."""
        return at_one_atom(self.shape.inside, [one for one, _ in self.weights])

    @cached_property
    def at_two(self) -> Fraction:
        """The most at two points."""
        ones, boths = zip(*self.weights, strict=True)
        return at_two_atoms(self.shape.inside, ones, boths)

    def weighed(self, weights: Mapping[Path, Weight]) -> "Bunch":
        """Give the same sets other weights."""
        return Bunch(self.shape, tuple(weights[path] for path in self.shape.paths))

    def plus(self, other: "Bunch") -> "Bunch | None":
        """Put two bunches together, adding up the weights of sets in both; None if it is too much for one."""
        known = self.shape.bits
        new = [bit for bit, path in enumerate(other.shape.paths) if path not in known]
        weights = list(self.weights)
        for path, weight in zip(other.shape.paths, other.weights, strict=True):
            if path in known:
                weights[known[path]] = _added(weights[known[path]], weight)
        if not new:
            return Bunch(self.shape, tuple(weights))
        shape = self.shape.beside(other.shape if len(new) == len(other.weights) else other.shape.only(new))
        return None if shape is None else Bunch(shape, (*weights, *(other.weights[bit] for bit in new)))

    def ways(self, depth: int) -> dict[str, "Knot"]:
        """Divide the sets by a step of their paths."""
        by_step: dict[str, list[int]] = {}
        for bit, path in enumerate(self.shape.paths):
            by_step.setdefault(path[depth], []).append(bit)
        if len(by_step) == 1:
            return dict.fromkeys(by_step, self)
        return {
            step: Bunch(self.shape.only(bits), tuple(self.weights[bit] for bit in bits))
            for step, bits in by_step.items()
        }


@dataclass(frozen=True, eq=False)
class Fork:
    """Charged sets that are too much for one bunch, divided by a step of their paths."""

    branches: Mapping[str, "Knot"]

    @cached_property
    def at_one(self) -> Fraction:
        """At least the most at one point."""
        return sum((knot.at_one for knot in self.branches.values()), Fraction(0))

    @cached_property
    def at_two(self) -> Fraction:
        """At least the most at two points."""
        return sum((knot.at_two for knot in self.branches.values()), Fraction(0))

    def weighed(self, weights: Mapping[Path, Weight]) -> "Fork":
        """Give the same sets other weights."""
        return Fork({step: knot.weighed(weights) for step, knot in self.branches.items()})

    def ways(self, depth: int) -> dict[str, "Knot"]:  # noqa: ARG002  (a bunch needs to know)
        """Tell the branches."""
        return dict(self.branches)


Knot: TypeAlias = Bunch | Fork


def joined(first: Knot, second: Knot, depth: int = 0) -> Knot:
    """Put the charges of two together; both stand behind the same first steps of their paths."""
    if isinstance(first, Bunch) and isinstance(second, Bunch):
        together = first.plus(second)
        if together is not None:
            return together
    ways = first.ways(depth)
    for step, knot in second.ways(depth).items():
        ways[step] = joined(ways[step], knot, depth + 1) if step in ways else knot
    return Fork(ways)


def charged(where: Predicate, weight: Weight) -> Bunch:
    """Give the bunch of one set."""
    return Bunch(Shape((path_of(where),), where.diagram), (weight,))


def knot_of(weights: Mapping[Predicate, Weight]) -> Knot:
    """Put many charges together; the work on the sets alone is remembered."""
    ordered = sorted((path_of(where), where) for where in weights)
    return _knot_of(tuple(where for _, where in ordered)).weighed(
        {path: weights[where] for path, where in ordered}
    )


@lru_cache(maxsize=512)
def _knot_of(predicates: tuple[Predicate, ...]) -> Knot:
    """Join neighbours first, as they stand near each other in the tree."""
    knots: list[Knot] = [charged(where, NO_WEIGHT) for where in predicates]
    while len(knots) > 1:
        pairs = zip(knots[::2], knots[1::2], strict=False)
        knots = [joined(*pair) for pair in pairs] + knots[len(knots) // 2 * 2 :]
    return knots[0]


@lru_cache(maxsize=1 << 14)
def path_of(where: Predicate) -> Path:
    """Give the steps by which a set is told from others: its columns, then a hash of it."""
    digest = hashlib.sha256(json.dumps(where.document).encode()).digest()
    bits = f"{int.from_bytes(digest):0256b}"
    return (*(f".{column}" for column in where.columns), "", *bits[:HASH_BITS], bits[HASH_BITS:])


def _added(first: Weight, second: Weight) -> Weight:
    return first[0] + second[0], first[1] + second[1]
