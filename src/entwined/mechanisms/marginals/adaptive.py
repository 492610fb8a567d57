"""Choose marginals by what is worst explained: columns, distances of pairs, a tree of tables, then what is still off.

After every step a law is fitted to all that was drawn. What is asked next follows from it, so each step may depend on
those before it (adaptive composition), and on rows by nothing but released noise.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, combinations
from typing import Any, ClassVar, Final

import numpy as np

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.errors import BadLoss, BadQuery
from entwined.mechanisms.marginals.afforded import EIGHTHS, Afforded, Split
from entwined.mechanisms.marginals.domain import Domain, Scope
from entwined.mechanisms.marginals.explained import (
    Unexplained,
    blurred,
    candidates,
    distance,
    scored,
)
from entwined.mechanisms.marginals.foreseen import (
    MODERATE,
    PERFECT,
    AffordedRelations,
    HeardPairs,
    afforded_relations,
    furthest,
    groups_of_pairs,
    smaller_sides,
)
from entwined.mechanisms.marginals.grain import Grains, fine
from entwined.mechanisms.marginals.law import CellLaw, fitted
from entwined.mechanisms.marginals.looked_at import LookedAt
from entwined.mechanisms.marginals.meter import Meter, Noted, Tables, Transcript
from entwined.mechanisms.marginals.recipes import Expected, ExpectedTable, Shares, weighed
from entwined.mechanisms.marginals.relations import Relations
from entwined.noise import Additive
from entwined.numbers import FloatArray, IntArray, positive_fraction
from entwined.schema import Schema
from entwined.schema.raw import is_text, is_whole

USUAL_ALONE: Final = Fraction(2, 5)
FAR: Final = Fraction(1, 20)
CHOICES: Final = Fraction(3, 100)
COUNTS: Final = 1 - FAR - CHOICES
LEAST_ALONE: Final = Fraction(1, 10)
MOST_ALONE: Final = Fraction(9, 10)
"""The shares of the loss: columns alone, distances of pairs, choices, and what all tables have, columns among them."""

LARGEST_PAIR: Final = 100_000
MOST_READ: Final = 10_000_000  # cells of all pairs
USUAL_ROUNDS: Final = 4
MOST_ROUNDS: Final = 20
DROWNED: Final = 3  # deviations of noise: cells of a column that hold fewer rows are put together
LIKELY: Final = Fraction(
    1, 10
)  # how many distances noise alone may put too far off to be overheard, on average
PART_OF_ROWS: Final = 40  # the part that noise of a deviation in every cell of a table of the tree may be
STEPS: Final = 100  # of a fit between rounds
ASKED_ALONE: Final = (
    f"Give the share of the loss for columns alone, from {float(LEAST_ALONE)} to {float(MOST_ALONE)}."
)


@dataclass(frozen=True, slots=True)
class Adaptive:
    """Rounds of choices after a first tree; how many is public, as is the share of the loss that columns alone get.

    Counts of a column are off as 1/√share, or under pure noise as 1/share, and so is whatever tables add to them. The
    more columns get the better they come out, and the worse all relations do.
    """

    name: ClassVar[str] = "adaptive"
    is_settled: ClassVar[bool] = False
    rounds: int = USUAL_ROUNDS
    alone: Fraction = USUAL_ALONE

    def __post_init__(self) -> None:
        if not LEAST_ALONE <= self.alone <= MOST_ALONE:
            raise BadQuery(f"alone = {fraction_text(self.alone):.60}. {ASKED_ALONE}")
        if not is_whole(self.rounds) or not 1 <= self.rounds <= MOST_ROUNDS:
            raise BadQuery(f"rounds = {self.rounds!r:.60}. Give 1 to {MOST_ROUNDS}.")

    @property
    def document(self) -> Document:
        """How many rounds, and what columns alone get, if that is not what they usually do."""
        alone = {} if self.alone == USUAL_ALONE else {"alone": fraction_text(self.alone)}
        return {"rounds": self.rounds, **alone}

    @property
    def words(self) -> str:
        """What it is called."""
        return self.name

    @classmethod
    def of(cls, given: Mapping[str, Any], domain: Domain) -> "Adaptive":  # noqa: ARG003  (any columns will do)
        """Read it from the fields of a file, or back."""
        return cls(given.get("rounds", USUAL_ROUNDS), _share(given.get("alone")))

    @property
    def rest(self) -> Fraction:
        """What tables of several columns get, unless columns alone need it more."""
        return COUNTS - self.alone

    def shares(self, domain: Domain, schema: Schema) -> Shares:
        """Tables are sums of the table of all columns, whichever are chosen; scores are distances."""
        if not _pairs(domain):
            return [(domain.whole(schema), Fraction(1))]
        return [(domain.whole(schema), COUNTS), (domain.distances(1), FAR + CHOICES)]

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
        exact = tables((*alone, *pairs))
        if not pairs:
            notes.count(exact, _noises(alone, domain, meter, Fraction(1)))
            return
        told = self._told(exact, domain, meter)
        notes.tables += told[Fraction(0)]
        law = fitted(notes.counted, domain.sizes)
        grains = _grains(law, domain, meter.deviation(self.rest / self._most(domain)))
        notes.distances.update(self._distances(exact, law, domain, meter, grains))
        apart = _apart(notes, grains, law.rows)
        many, again = self._afforded(apart, law, domain, meter)
        if again:
            if again in told:
                notes.tell_again(told[again])
            else:
                notes.count(exact, _noises(alone, domain, meter, again))
        if many:
            self._several(tables, domain, meter, notes, [(self.rest - again) / many] * many, apart)

    def _told(
        self, exact: Mapping[Scope, IntArray], domain: Domain, meter: Meter
    ) -> dict[Fraction, list[Noted]]:
        """Columns alone, and as they may be told again once they get a share more.

        Gaussian noise is as good in two tables as in one of both shares, Laplace noise is not: so it is taken away.
        """
        steps = [self.rest * part for part in EIGHTHS]
        parted = [weighed(_alone(domain), domain, self.alone + step) for step in steps]
        told: dict[Fraction, list[Noted]] = {}
        for scope in _alone(domain):
            noise = meter.gradual(shares[scope] for shares in parted)
            laws = noise.laws if noise else (meter.noise(parted[0][scope]),)
            counts = noise.add(exact[scope]) if noise else (laws[0].add(exact[scope]),)
            for step, law, one in zip(steps, laws, counts, strict=False):
                told.setdefault(step, []).append(Noted(scope, one, law))
        return told

    def _distances(
        self, exact: Mapping[Scope, IntArray], law: CellLaw, domain: Domain, meter: Meter, grains: Grains
    ) -> dict[Scope, int]:
        """Release how far pairs are from what their columns alone make of them."""
        columns = _columns(law)
        far = {
            pair: distance(exact[pair], _independent(columns, law.rows, pair), grains, pair)
            for pair in _pairs(domain)
        }
        return self._looked_at(domain).released(far, meter)

    def _looked_at(self, domain: Domain) -> LookedAt:
        return LookedAt(len(domain.axes), len(_pairs(domain)), FAR)

    def _afforded(self, apart: Mapping[Scope, float], law: CellLaw, domain: Domain, meter: Meter) -> Split:
        """How many tables are worth counting, and what share columns alone get once more."""
        return self._worth(apart, _columns(law), law.rows, domain, meter)

    def _worth(
        self,
        apart: Mapping[Scope, float],
        columns: Sequence[FloatArray],
        rows: float,
        domain: Domain,
        meter: Meter,
    ) -> Split:
        """Decide it for pairs that seem so far from independent, and columns that are spread so."""
        noise = self._looked_at(domain).noise(meter)
        return Afforded(
            np.array(list(apart)),
            np.array(list(apart.values())),
            math.sqrt(noise.variance),
            noise.half_width(1 - LIKELY / len(apart)),
            self.rest,
            meter.deviation,
            lambda deviation: _grouped(columns, domain, deviation / rows).sizes,
            lambda again: _blurred(domain, meter, self.alone + again),
        ).best(min(self._most(domain), len(apart)))

    def _several(
        self,
        tables: Tables,
        domain: Domain,
        meter: Meter,
        notes: Transcript,
        shares: Sequence[Fraction],
        apart: Mapping[Scope, float],
    ) -> None:
        """Count tables of several columns, each with about its share: a tree first, the others in rounds."""
        law = fitted(notes.counted, domain.sizes)
        deviation = meter.deviation(shares[0])
        grains = _grains(law, domain, deviation)
        largest = law.rows / (PART_OF_ROWS * deviation)
        grown = Relations.of(grains, apart, largest, deviation, len(shares)).grown()
        notes.count(
            tables(grown), _noises(grown, grains, meter, sum(shares[: len(grown)], Fraction(0))), grains
        )
        left = max(len(shares) - len(grown), 0)
        rounds = min(self.rounds, left)
        for turn in range(rounds):
            law = fitted(notes.counted, domain.sizes, near=law.weights, steps=STEPS)
            each = left // rounds + (turn < left % rounds)
            exact = tables(candidates(domain, _pairs(domain), notes.distances))
            scores = scored(exact, law, domain, grains, deviation)
            taken = tuple(one.scope for one in notes.tables)
            chosen = Unexplained(scores, grains, taken).chosen([meter.choice(CHOICES / left)] * each)
            notes.chosen += chosen
            notes.count(exact, _noises(chosen, grains, meter, len(chosen) * shares[0]), grains)

    def relations(self, domain: Domain, meter: Meter, rows: int | None) -> AffordedRelations:
        """The pairs that would be far enough from independence to be counted, whatever is drawn."""
        every = math.comb(len(domain.axes), 2)
        sides = smaller_sides(domain.sizes, _pairs(domain))
        if rows is None or not sides.size:
            return AffordedRelations(every)
        heard = self._heard(sides, domain, rows)
        return afforded_relations(every, len(domain.axes) - 1, meter, heard)

    def _heard(self, sides: IntArray, domain: Domain, rows: int) -> HeardPairs:
        looked = LookedAt(len(domain.axes), sides.size, FAR)
        return HeardPairs(sides, looked, self.rest, rows, self._most(domain))

    def expected(self, domain: Domain, meter: Meter, rows: int | None) -> Expected:
        """The noise of every step; which tables are chosen is not known before.

        Columns alone have the share of moderate relations, and between that of none and that of as many as may be.
        """
        pairs = _pairs(domain)
        if not pairs:
            return _of_columns(domain, meter, [Fraction(1)])
        most = self._most(domain)
        if rows is not None:
            most = self._heard(smaller_sides(domain.sizes, pairs), domain, rows)(meter, PERFECT)
        if not most:
            return _of_columns(domain, meter, [self.alone + self.rest])
        split = Split(most, Fraction(0)) if rows is None else self._foreseen(domain, meter, rows)
        columns = _of_columns(domain, meter, [self.alone + again for again in (split.again, self.rest, 0)])
        many, shared = split.tables or most, self.rest - (split.again if split.tables else 0)
        noises = [meter.noise(share) for share in (shared / many, self.rest, self.rest / len(EIGHTHS) / most)]
        cells = groups_of_pairs(domain.sizes, math.sqrt(noises[0].variance) * DROWNED, rows)
        largest = 0 if rows is None else int(rows / (PART_OF_ROWS * math.sqrt(noises[0].variance)))
        typical = cells[len(cells) // 2]
        bound = min(max(cells[-1], largest), LARGEST_PAIR)
        name = "tables of several columns" + ("" if split.tables else ", if any")
        return [*columns, ExpectedTable(name, many, bound, noises[0], noises[1], noises[2], typical)]

    def _foreseen(self, domain: Domain, meter: Meter, rows: int) -> Split:
        """Decide as a run does, for columns that are evenly spread and moderately related, each to the next."""
        sizes, pairs = domain.sizes, _pairs(domain)
        far = {pair: MODERATE ** (pair[1] - pair[0]) * furthest(sizes, pair, rows) for pair in pairs}
        seen = sorted(far, key=far.__getitem__, reverse=True)[: self._looked_at(domain).chosen or len(far)]
        even = [np.full(size, 1 / size) for size in sizes]
        return self._worth({pair: far[pair] for pair in seen}, even, rows, domain, meter)


def _of_columns(domain: Domain, meter: Meter, shares: Sequence[Fraction]) -> Expected:
    """Give each column alone with its noise, and with the least and the most of it."""
    parted = [weighed(_alone(domain), domain, share) for share in shares]
    found = []
    for at, (name, size) in enumerate(zip(domain.names, domain.sizes, strict=True)):
        noise, *ends = [meter.noise(each[at,]) for each in parted]
        least, most = ends or (None, None)
        found.append(ExpectedTable(name, 1, size, noise, least, most))
    return found


def _share(given: Any) -> Fraction:
    """Read a share as people give it, or as a document has it."""
    if given is None:
        return USUAL_ALONE
    try:
        return fraction_from(given) if is_text(given) and "/" in given else positive_fraction(given, "alone")
    except BadLoss:
        raise BadQuery(f"alone = {given!r:.60}. {ASKED_ALONE}") from None


def _noises(
    scopes: Sequence[Scope], cut: Domain | Grains, meter: Meter, share: Fraction
) -> dict[Scope, Additive]:
    """The noise of tables that part a share."""
    return {scope: meter.noise(part) for scope, part in weighed(scopes, cut, share).items()}


def _grains(law: CellLaw, domain: Domain, deviation: float) -> Grains:
    """Put cells of columns together that noise of a deviation would drown."""
    return _grouped(_columns(law), domain, deviation / law.rows)


def _grouped(columns: Sequence[FloatArray], domain: Domain, part: float) -> Grains:
    """Put cells of columns together that noise of this part of all rows would drown."""
    return Grains.of(columns, domain.ordered, DROWNED * part)


def _apart(notes: Transcript, grains: Grains, rows: float) -> dict[Scope, float]:
    """How far pairs seem to be from independent, less what the noise of their columns alone makes of that.

    None is further than two columns that tell each other are, of as many cells as the smaller has.
    """
    noise = [blurred(grains, one.scope[0], math.sqrt(one.noise.variance)) for one in notes.tables]
    found = {}
    for pair, far in notes.distances.items():
        furthest = 2 * rows * (1 - 1 / min(len(grains.columns[at]) for at in pair))
        found[pair] = min(max(far - sum(noise[at] for at in pair), -furthest), furthest)
    return found


def _columns(law: CellLaw) -> list[FloatArray]:
    """What part of the rows each cell of every column holds."""
    return [law.marginal((at,)) for at in range(len(law.groups))]


def _independent(columns: Sequence[FloatArray], rows: float, pair: Scope) -> IntArray:
    """What two columns alone make of their table."""
    one, two = pair
    return np.asarray(np.rint(rows * np.outer(columns[one], columns[two])), np.int64).reshape(-1)


def _blurred(domain: Domain, meter: Meter, share: Fraction) -> FloatArray:
    """By how many rows each column is off if columns alone get this share."""
    cells = fine(domain.sizes)
    parted = weighed(_alone(domain), domain, share)
    return np.array([blurred(Grains(cells), at, meter.deviation(part)) for (at,), part in parted.items()])


def _alone(domain: Domain) -> tuple[Scope, ...]:
    return tuple((at,) for at in range(len(domain.axes)))


def _pairs(domain: Domain) -> tuple[Scope, ...]:
    """Every two columns whose table is not too large, the smallest first where they are too many."""
    every = list(combinations(range(len(domain.axes)), 2))
    smallest = sorted(every, key=domain.cells)
    together = accumulate(map(domain.cells, smallest))
    room = {
        pair
        for pair, cells in zip(smallest, together, strict=True)
        if cells <= MOST_READ and domain.cells(pair) <= LARGEST_PAIR
    }
    return tuple(pair for pair in every if pair in room)
