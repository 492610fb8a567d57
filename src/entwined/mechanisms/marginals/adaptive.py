"""Choose marginals by what is worst explained: columns, distances of pairs, a tree of tables, then what is still off.

After every step a law is fitted to all that was drawn. What is asked next follows from it, so each step may depend on
those before it (adaptive composition), and on rows by nothing but released noise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, Final

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.mechanisms.marginals.domain import Domain, Scope
from entwined.mechanisms.marginals.law import CellLaw, fitted
from entwined.mechanisms.marginals.made_up import made_up
from entwined.mechanisms.marginals.meter import Meter, Tables, Transcript
from entwined.mechanisms.marginals.recipes import Expected, Shares, weighed
from entwined.mechanisms.marginals.relations import NOISE_OF_A_CELL, Relations, size_of
from entwined.numbers import IntArray
from entwined.schema import Schema
from entwined.schema.raw import is_whole

ALONE: Final = Fraction(1, 4)
FAR: Final = Fraction(3, 100)
TREE: Final = Fraction(1, 4)
CHOICES: Final = Fraction(3, 100)
CHOSEN: Final = 1 - ALONE - FAR - TREE - CHOICES
"""The shares of the loss: columns alone, distances of pairs, the tree of tables, choices, and what was chosen."""

USUAL_ROUNDS: Final = 4
MOST_ROUNDS: Final = 20
PART_OF_ROWS: Final = 6  # the part that noise of a deviation in every cell of a table of the tree may be
LARGEST_TABLE: Final = 20_000
LARGEST_LAW: Final = 80_000
STEPS: Final = 100  # of a fit between rounds
LEFT_BY_A_FIT: Final = 0.6 * NOISE_OF_A_CELL  # a law that fits all tables evens noise out
MOST_CANDIDATES: Final = 400
MOST_MADE_UP: Final = 50_000


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Rounds of choices after a first tree; how many is public."""

    name: ClassVar[str] = "adaptive"
    is_settled: ClassVar[bool] = False
    rounds: int = USUAL_ROUNDS

    def __post_init__(self) -> None:
        if not is_whole(self.rounds) or not 1 <= self.rounds <= MOST_ROUNDS:
            raise BadQuery(f"rounds = {self.rounds!r:.60}. Give 1 to {MOST_ROUNDS}.")

    @property
    def document(self) -> Document:
        """How many rounds."""
        return {"rounds": self.rounds}

    @classmethod
    def of(cls, given: Mapping[str, Any], domain: Domain) -> "Adaptive":  # noqa: ARG003  (any columns will do)
        """Read it from the fields of a file, or back."""
        return cls(given.get("rounds", USUAL_ROUNDS))

    def shares(self, domain: Domain, schema: Schema) -> Shares:
        """Tables are sums of the table of all columns, whichever are chosen; scores are distances."""
        tables = ALONE + TREE + CHOSEN
        return [(domain.whole(schema), tables), (domain.distances(1), FAR + CHOICES)]

    def asks(self, domain: Domain) -> tuple[Scope, ...]:
        """Columns alone and pairs; larger tables are asked for as draws say."""
        return (*_alone(domain), *_pairs(domain))

    def _each(self, domain: Domain) -> int:
        """How many tables are chosen in a round."""
        return max(2 * len(domain.axes) // 7, 1)

    def run(self, tables: Tables, domain: Domain, meter: Meter, notes: Transcript) -> None:
        """Count columns, measure pairs, grow a tree, then choose what is worst explained, round by round."""
        alone, pairs = _alone(domain), _pairs(domain)
        parted = weighed(alone, domain, ALONE)
        notes.count(tables(alone), {scope: meter.noise(share) for scope, share in parted.items()})
        law = fitted(notes.counted, domain.sizes)
        if not pairs:
            return
        notes.distances.update(self._distances(tables, pairs, law, meter))
        grown = self._grown(notes, law, domain, meter)
        parted = weighed(grown, domain, TREE)
        notes.count(tables(grown), {scope: meter.noise(share) for scope, share in parted.items()})
        for _ in range(self.rounds):
            law = fitted(notes.counted, domain.sizes, near=law.weights, steps=STEPS)
            self._round(tables, domain, meter, notes, law)

    def _distances(
        self, tables: Tables, pairs: tuple[Scope, ...], law: CellLaw, meter: Meter
    ) -> dict[Scope, int]:
        """Release how far every pair is from what its columns alone make of it."""
        exact = tables(pairs)
        far = [_distance(exact[pair], _independent(law, pair)) for pair in pairs]
        noisy = meter.noise_of_distances(FAR, len(pairs)).add(np.array(far, np.int64))
        return dict(zip(pairs, noisy.tolist(), strict=True))

    def _grown(self, notes: Transcript, law: CellLaw, domain: Domain, meter: Meter) -> tuple[Scope, ...]:
        """Grow the tree from noisy distances."""
        deviation = meter.deviation(TREE / max(len(domain.axes) - 1, 1))
        far = {pair: max(float(rows), 0.0) for pair, rows in notes.distances.items()}
        largest = min(law.rows / (PART_OF_ROWS * deviation), LARGEST_TABLE)
        return Relations(domain.sizes, far).grown(largest, deviation)

    def _round(self, tables: Tables, domain: Domain, meter: Meter, notes: Transcript, law: CellLaw) -> None:
        """Choose tables that the law explains worst, and count them; choosing none of them is a choice too."""
        many = self.rounds * self._each(domain)
        noise, choice = meter.noise(CHOSEN / many), meter.choice(CHOICES / many)
        deviation = meter.deviation(CHOSEN / many)
        taken = [one.scope for one in notes.tables]
        candidates = _candidates(domain, notes, law.rows / deviation)
        people = made_up(law, min(max(round(law.rows), 1), MOST_MADE_UP))
        exact = tables(candidates)
        scores = {
            scope: _distance(exact[scope], _expected(people, scope, domain, law.rows))
            - round(LEFT_BY_A_FIT * deviation * domain.cells(scope))
            for scope in candidates
        }
        for _ in range(self._each(domain)):
            open_to = [one for one in scores if size_of([*taken, one], domain.sizes) <= LARGEST_LAW]
            place = choice.choose([0, *(scores[one] for one in open_to)])
            if place:
                scope = open_to[place - 1]
                notes.chosen.append(scope)
                notes.count({scope: exact[scope]}, {scope: noise})
                taken.append(scope)
                del scores[scope]

    def expected(self, domain: Domain, meter: Meter) -> Expected:
        """The noise of every step; which tables are chosen is not known before."""
        alone = weighed(_alone(domain), domain, ALONE)
        many = self.rounds * self._each(domain)
        columns: Expected = [
            (domain.names[scope[0]], 1, domain.cells(scope), meter.noise(share))
            for scope, share in alone.items()
        ]
        if not _pairs(domain):
            return columns
        tree = max(len(domain.axes) - 1, 1)
        return [
            *columns,
            ("tables of a tree, about", tree, LARGEST_TABLE, meter.noise(TREE / tree)),
            ("tables chosen later", many, LARGEST_TABLE, meter.noise(CHOSEN / many)),
        ]


def _alone(domain: Domain) -> tuple[Scope, ...]:
    return tuple((at,) for at in range(len(domain.axes)))


def _pairs(domain: Domain) -> tuple[Scope, ...]:
    every = combinations(range(len(domain.axes)), 2)
    return tuple(pair for pair in every if domain.cells(pair) <= LARGEST_TABLE)


def _candidates(domain: Domain, notes: Transcript, largest: float) -> tuple[Scope, ...]:
    """Pairs, and threes of columns that seem to have most to do with each other."""
    most = min(largest, LARGEST_TABLE)
    far = notes.distances
    pairs = [pair for pair in far if domain.cells(pair) <= most]
    threes = [
        (sum(far.get(pair, 0) for pair in combinations(scope, 2)), scope)
        for scope in combinations(range(len(domain.axes)), 3)
        if domain.cells(scope) <= most
    ]
    left = max(MOST_CANDIDATES - len(pairs), 0)
    return (*pairs, *(scope for _, scope in sorted(threes, reverse=True)[:left]))


def _independent(law: CellLaw, pair: Scope) -> IntArray:
    one, two = (law.marginal((at,)) for at in pair)
    return np.asarray(np.rint(law.rows * np.outer(one, two)), np.int64).reshape(-1)


def _expected(people: IntArray, scope: Scope, domain: Domain, rows: float) -> IntArray:
    """What a law says of a table, by people who are made up from it."""
    places = np.ravel_multi_index(people[:, scope].T, [domain.sizes[at] for at in scope])
    counts = np.bincount(places, minlength=domain.cells(scope))
    return np.asarray(np.rint(counts * (rows / len(people))), np.int64)


def _distance(exact: IntArray, public: IntArray) -> int:
    """How far a table is from one that is public, in rows: no row moves it by more than it moves the table."""
    return int(np.abs(exact - public).sum())
