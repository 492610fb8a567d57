"""Households as a mechanism: tables of them with noise, from which synthetic households are made."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np

from entwined.canonical import Document, canonical, fraction_from, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadQuery
from entwined.mechanisms.degrees import nearest_counts
from entwined.mechanisms.fitting import losses, worst_change
from entwined.mechanisms.households.household_rules import HouseholdRules
from entwined.mechanisms.households.masses import asked, counted, distance, masses, parts_of
from entwined.mechanisms.households.relatives import LEFT_BY_A_FIT, Relatives
from entwined.mechanisms.households.released import NoisyHouseholds, named_cells
from entwined.mechanisms.households.seating import COMPOSITION, TYPE, Place, Seating, Sides
from entwined.mechanisms.marginals.meter import Meter
from entwined.mechanisms.marginals.relations import NOISE_OF_A_CELL
from entwined.mechanisms.sheet import Sheet
from entwined.noise import Additive
from entwined.numbers import Amount, FloatArray, IntArray, positive_fraction
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import HomesOf
from entwined.schema import Schema

ALONE: Final = Fraction(3, 10)
FAR: Final = Fraction(1, 10)
PAIRS: Final = 1 - ALONE - FAR
"""The shares of the loss: every place by itself, distances of pairs, and the pairs that are worth it."""
LARGEST_PAIR: Final = 20_000


@dataclass(frozen=True, slots=True)
class HouseholdTables:
    """Count households with noise: their composition, what members of each kind say, and what goes with what.

    Theorem. What `run` returns has at most the losses of `parts`, in the promise's measure, where one unit is all rows
    of one household.

    Proof. Only two things are made of rows. A *table* is a sum over households of vectors ≥ 0 that add up to at most F
    each, and gets noise for how far one household moves such a sum (`masses`). A *distance* Σ |N − m| of a table N from
    public numbers m moves by no more than N does in L1; several of them get noise for the sum of their changes. What m
    and the tables counted last are follows from what was drawn before; the shares of all steps add up to the loss
    whatever is drawn (adaptive composition). What a household adds follows from its own rows alone, those that were
    picked of it by their own codes, so that no other household's vector moves with it.
    """

    kind: ClassVar[str] = "households"
    fields: ClassVar[tuple[str, ...]] = (
        "columns", "bins", "role", "head", "partner", "child", "shared", "impossible", "younger", "texts",
    )  # fmt: skip
    seating: Seating
    meter: Meter
    rules: HouseholdRules

    @classmethod
    def of(cls, promise: Promise, seating: Seating, loss: Amount, rules: HouseholdRules) -> Self:
        """Settle the noise under a promise, for a loss in its measure."""
        rules.check(seating, promise.schema)
        table = worst_change(promise, counted(seating))
        far = worst_change(promise, distance(seating))
        exact = positive_fraction(loss, "Loss")
        return cls(seating, Meter(promise.measure, exact, table, far, Fraction(0)), rules)

    @classmethod
    def maker(cls, promise: Promise, given: Mapping[str, Any]) -> Callable[[Fraction], Self]:
        """How it is made from the fields of a file."""
        rules = HouseholdRules.of(given, promise.schema)
        seating = Seating.of(given, promise.schema, rules.rows.conditions(promise.schema))
        return lambda each: cls.of(promise, seating, each, rules)

    @property
    def document(self) -> Document:
        """The whole computation."""
        seats = self.seating.seats
        return {
            "kind": self.kind,
            "household": seats.by,
            "largest": seats.most,
            "loss": fraction_text(self.meter.loss),
            **self.seating.document,
            **self.rules.document,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Settle it again; the noise follows from the promise."""
        seating = Seating.from_document(document, promise.schema)
        if (document["household"], document["largest"]) != (seating.seats.by, seating.seats.most):
            raise BadQuery("It was made for other households than the schema protects. Make it again.")
        rules = HouseholdRules.of(document, promise.schema)
        return cls.of(promise, seating, fraction_from(document["loss"]), rules)

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge the households; refuse another promise's noise."""
        if self.from_document(self.document, promise) != self:
            raise BadQuery("The noise was settled under another promise than the door's. Make it again.")
        shares = [(counted(self.seating), ALONE + PAIRS), (distance(self.seating), FAR)]
        return losses(promise, shares, self.meter.loss)

    def needs(self, schema: Schema) -> tuple[HomesOf, ...]:  # noqa: ARG002  (it knows its columns)
        """All tables that it may count."""
        return tuple(asked(self.seating, sides) for sides in (*self.seating.alone, *self._pairs))

    @property
    def _pairs(self) -> tuple[Sides, ...]:
        size = self.seating.size
        return tuple(sides for sides in self.seating.pairs if math.prod(map(size, sides)) <= LARGEST_PAIR)

    def run(self, read: Read, schema: Schema) -> bytes:  # noqa: ARG002  (it knows its columns)
        """Count every place, measure how far pairs are from independent, and count the pairs that are worth it."""
        notes = NoisyHouseholds(self.seating)
        pairs = self._pairs
        exact = self._exact(read, (*self.seating.alone, *pairs))
        notes.count(exact, self._noises(self.seating.alone, ALONE))
        if pairs:
            noise = self.meter.noise_of_distances(FAR, len(pairs))
            far = [_distance(exact[sides], self._independent(notes, sides)) for sides in pairs]
            noisy = noise.add(np.array(far, np.int64)).tolist()
            notes.distances.update(zip(pairs, noisy, strict=True))
        chosen = self._worth(notes)
        known = {place for sides in chosen for place in sides}
        again = (*chosen, *(sides for sides in self.seating.alone if sides[0] not in known))
        notes.count(exact, self._noises(again, PAIRS))
        return canonical(notes.document).encode()

    def _exact(self, read: Read, several: Sequence[Sides]) -> dict[Sides, IntArray]:
        found = read([asked(self.seating, sides) for sides in several])
        return {
            sides: masses(self.seating, sides, counts) for sides, counts in zip(several, found, strict=True)
        }

    def _noises(self, several: Sequence[Sides], share: Fraction) -> dict[Sides, Additive]:
        """Part a share among tables, more to larger ones: as cells^(2/3), in whole numbers."""
        weights = {
            sides: max(round(10 * math.prod(map(self.seating.size, sides)) ** (2 / 3)), 1)
            for sides in several
        }
        total = sum(weights.values())
        return {sides: self.meter.noise(share * weight / total) for sides, weight in weights.items()}

    def _worth(self, notes: NoisyHouseholds) -> tuple[Sides, ...]:
        """Take so many pairs, the best first, that they tell most beyond what the noise of so many would hide."""
        if not notes.distances:
            return ()
        noise = math.sqrt(self.meter.noise_of_distances(FAR, len(notes.distances)).variance)
        apart = {sides: far - noise - self._blurred(notes, sides) for sides, far in notes.distances.items()}
        relatives = Relatives(self.seating, apart)
        best: tuple[float, tuple[Sides, ...]] = (0.0, ())
        for many in range(1, len(relatives.grown(0.0)) + 1):
            deviation = self.meter.deviation(PAIRS / many)
            taken = relatives.grown(deviation)[:many]
            best = max(best, (sum(relatives.gain(sides, deviation) for sides in taken), taken))
        return best[1]

    def _blurred(self, notes: NoisyHouseholds, sides: Sides) -> float:
        """How far the noise of places by themselves moves what independence makes of them."""
        noisy = {one.sides[0]: one for one in notes.tables if len(one.sides) == 1}
        return sum(
            LEFT_BY_A_FIT * noisy[_counted_place(place)].deviation * self.seating.size(place)
            for place in sides
        )

    def _independent(self, notes: NoisyHouseholds, sides: Sides) -> IntArray:
        """What two places would be together if they had nothing to do with each other."""
        one, two = (self._alone(notes, place) for place in sides)
        total = max(float(two.sum()), 1.0)
        shares = one / max(float(one.sum()), 1.0)
        return np.asarray(np.rint(np.outer(shares, two / total) * total), np.int64).reshape(-1)

    def _alone(self, notes: NoisyHouseholds, place: Place) -> FloatArray:
        first = next(one for one in notes.tables if one.sides == (_counted_place(place),))
        counts = nearest_counts(first.counts.astype(float))
        return np.asarray(np.bincount(self.seating.types, counts), float) if place == TYPE else counts

    def output(self, drawn: bytes) -> NoisyHouseholds:
        """The tables with their noise; less of it than was charged for is refused."""
        found = NoisyHouseholds.from_document(self.seating, json.loads(drawn))
        self.meter.require_paid((one.noise for one in found.tables), ALONE + PAIRS)
        return found

    @property
    def words(self) -> str:
        """What it computes."""
        seats = self.seating.seats
        return f"Households by {seats.by} of at most {seats.most}, for synthetic households"

    def expected(self, rows: int | None = None) -> Sheet:  # noqa: ARG002
        """What noise each table gets, without a row; which pairs are counted is not known before."""
        whole = parts_of(self.seating)
        alone = self._noises(self.seating.alone, ALONE)
        lines = [
            (name, 1, cells, alone[sides])
            for sides, (name, cells) in zip(
                self.seating.alone, named_cells(self.seating, self.seating.alone), strict=True
            )
        ]
        if self._pairs:
            many = len(Relatives(self.seating, dict.fromkeys(self._pairs, 1.0)).grown(0.0))
            largest = max(cells for _, cells in named_cells(self.seating, self._pairs))
            lines.append(("pairs of columns", many, largest, self.meter.noise(PAIRS / many)))
        shown = tuple(
            (
                name,
                many,
                cells,
                math.sqrt(noise.variance) / whole,
                float(noise.half_width(Fraction(19, 20))) / whole,
                NOISE_OF_A_CELL * math.sqrt(noise.variance) * cells / (2 * whole),
            )
            for name, many, cells, noise in lines
        )
        heads = (
            "table", "tables", "cells, at most", "deviation of a count", "± (95 %)", "households misplaced, at most",
        )  # fmt: skip
        return Sheet(heads, shown)

    def shown(self, output: NoisyHouseholds) -> Sheet:
        """The tables with the errors of their counts."""
        return output.sheet


def _counted_place(place: Place) -> Place:
    """The place that was counted by itself; a type is a sum of compositions."""
    return COMPOSITION if place == TYPE else place


def _distance(exact: IntArray, public: IntArray) -> int:
    """How far a table is from one that is public: no household moves it by more than it moves the table."""
    return int(np.abs(exact - public).sum())
