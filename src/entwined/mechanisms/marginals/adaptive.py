"""Choose marginals by what is worst explained: columns, distances of pairs, a tree of tables, then what is still off.

After every step a law is fitted to all that was drawn. What is asked next follows from it, so each step may depend on
those before it (adaptive composition), and on rows by nothing but released noise.
"""

import math
from collections.abc import Mapping, Sequence
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
from entwined.noise import Additive, ExponentialChoice
from entwined.numbers import IntArray
from entwined.schema import Schema
from entwined.schema.raw import is_whole

ALONE: Final = Fraction(1, 4)
FAR: Final = Fraction(1, 20)
CHOICES: Final = Fraction(3, 100)
REST: Final = 1 - ALONE - FAR - CHOICES
"""The shares of the loss: columns alone, distances of pairs, choices, and the tables of the tree and of the rounds."""

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
        return [(domain.whole(schema), ALONE + REST), (domain.distances(1), FAR + CHOICES)]

    def asks(self, domain: Domain) -> tuple[Scope, ...]:
        """Columns alone and pairs; larger tables are asked for as draws say."""
        return (*_alone(domain), *_pairs(domain))

    def _most(self, domain: Domain) -> int:
        """How many tables of several columns are counted at most."""
        columns = len(domain.axes)
        return columns - 1 + self.rounds * max(2 * columns // 7, 1)

    def run(self, tables: Tables, domain: Domain, meter: Meter, notes: Transcript) -> None:
        """Count columns, measure pairs, grow a tree, then choose what is worst explained, round by round."""
        alone, pairs = _alone(domain), _pairs(domain)
        notes.count(tables(alone), _noises(alone, domain, meter, ALONE))
        law = fitted(notes.counted, domain.sizes)
        if not pairs:
            return
        notes.distances.update(self._distances(tables, pairs, law, meter))
        many = self._afforded(notes, domain, meter)
        if many < self._most(domain):
            again = REST * (1 - Fraction(many, self._most(domain))) / 2 if many else REST
            notes.count(tables(alone), _noises(alone, domain, meter, again))
        else:
            again = Fraction(0)
        if many:
            self._several(tables, domain, meter, notes, (REST - again) / many, many)

    def _afforded(self, notes: Transcript, domain: Domain, meter: Meter) -> int:
        """How many tables are worth counting: as many as pairs are further off than their noise would then put them."""
        unsure = math.sqrt(meter.noise_of_distances(FAR, len(notes.distances)).variance)
        apart = _apart(notes, domain)
        for many in range(self._most(domain), 0, -1):
            deviation = LEFT_BY_A_FIT * meter.deviation(REST / many)
            worth = [rows - unsure > deviation * domain.cells(pair) for pair, rows in apart.items()]
            if sum(worth) >= many:
                return many
        return 0

    def _several(
        self, tables: Tables, domain: Domain, meter: Meter, notes: Transcript, share: Fraction, many: int
    ) -> None:
        """Count so many tables of several columns, each with about this share: a tree first, the others in rounds."""
        law = fitted(notes.counted, domain.sizes)
        grown = self._grown(notes, law, domain, meter.deviation(share))
        notes.count(tables(grown), _noises(grown, domain, meter, share * min(len(grown), many)))
        left = max(many - len(grown), 0)
        rounds = min(self.rounds, left)
        for turn in range(rounds):
            law = fitted(notes.counted, domain.sizes, near=law.weights, steps=STEPS)
            each = left // rounds + (turn < left % rounds)
            noise, choice = meter.noise(share), meter.choice(CHOICES / left)
            self._round(tables, domain, notes, law, [choice] * each, noise)

    def _distances(
        self, tables: Tables, pairs: tuple[Scope, ...], law: CellLaw, meter: Meter
    ) -> dict[Scope, int]:
        """Release how far every pair is from what its columns alone make of it."""
        exact = tables(pairs)
        far = [_distance(exact[pair], _independent(law, pair)) for pair in pairs]
        noisy = meter.noise_of_distances(FAR, len(pairs)).add(np.array(far, np.int64))
        return dict(zip(pairs, noisy.tolist(), strict=True))

    def _grown(self, notes: Transcript, law: CellLaw, domain: Domain, deviation: float) -> tuple[Scope, ...]:
        """Grow the tree from noisy distances."""
        far = _apart(notes, domain)
        largest = min(law.rows / (PART_OF_ROWS * deviation), LARGEST_TABLE)
        return Relations(domain.sizes, far).grown(largest, deviation)

    def _round(
        self,
        tables: Tables,
        domain: Domain,
        notes: Transcript,
        law: CellLaw,
        choices: Sequence[ExponentialChoice],
        noise: Additive,
    ) -> None:
        """Choose tables that the law explains worst, and count them; choosing none of them is a choice too."""
        deviation = math.sqrt(noise.variance)
        taken = [one.scope for one in notes.tables]
        candidates = _candidates(domain, notes, law.rows / deviation)
        people = made_up(law, min(max(round(law.rows), 1), MOST_MADE_UP))
        exact = tables(candidates)
        scores = {
            scope: _distance(exact[scope], _expected(people, scope, domain, law.rows))
            - round(LEFT_BY_A_FIT * deviation * domain.cells(scope))
            for scope in candidates
        }
        for choice in choices:
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
        columns: Expected = [
            (domain.names[scope[0]], 1, domain.cells(scope), meter.noise(share))
            for scope, share in alone.items()
        ]
        if not _pairs(domain):
            return columns
        many = self._most(domain)
        return [*columns, ("tables of several columns", many, LARGEST_TABLE, meter.noise(REST / many))]


def _noises(scopes: Sequence[Scope], domain: Domain, meter: Meter, share: Fraction) -> dict[Scope, Additive]:
    """The noise of tables that part a share."""
    return {scope: meter.noise(part) for scope, part in weighed(scopes, domain, share).items()}


def _apart(notes: Transcript, domain: Domain) -> dict[Scope, float]:
    """How far pairs are from independent, less what the noise of their columns alone makes of that."""
    alone = [one for one in notes.tables if len(one.scope) == 1][: len(domain.axes)]
    blurred = [LEFT_BY_A_FIT * math.sqrt(one.noise.variance) * one.counts.size for one in alone]
    return {pair: max(rows - sum(blurred[at] for at in pair), 0.0) for pair, rows in notes.distances.items()}


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
