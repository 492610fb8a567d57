"""From noisy sums to centres: each to the mean of its rows as far as noise tells, with intervals that hold."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import reduce
from typing import Final, TypeAlias

import numpy as np

from entwined.mechanisms.sheet import Cell, Sheet, short
from entwined.mechanisms.space import Space
from entwined.noise import Additive
from entwined.numbers import FloatArray, IntArray

CONFIDENCE: Final = Fraction(95, 100)
HALF: Final = 1 - (1 - CONFIDENCE) / 2  # of two numbers that are right together with CONFIDENCE
BESIDE: Final = 8  # the part of the cube's side by which a centre that drowned starts again beside another
SIZES: Final = (100, 1000, 10_000, 100_000)

Place: TypeAlias = Fraction | datetime


@dataclass(frozen=True, slots=True)
class Cluster:
    """A centre: its place, the 95 % interval of each value, and how many rows were nearest to it in the last round.

    An interval is that of the mean of those rows. Where noise leaves no row for sure it drowned: the intervals say
    nothing then.
    """

    centre: tuple[Place, ...]
    low: tuple[Place, ...]
    high: tuple[Place, ...]
    size: int
    drowned: bool


@dataclass(frozen=True, slots=True)
class Clusters:
    """Centres in the order of their first column, and the 95 % reach of every size."""

    columns: tuple[str, ...]
    found: tuple[Cluster, ...]
    reach: int

    @property
    def centres(self) -> tuple[tuple[Place, ...], ...]:
        """Where the centres lie."""
        return tuple(one.centre for one in self.found)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many rows were nearest to each."""
        return tuple(one.size for one in self.found)

    @property
    def drowned(self) -> int:
        """How many centres say nothing."""
        return sum(one.drowned for one in self.found)

    @property
    def sheet(self) -> Sheet:
        """One row a centre."""
        ends = [end for name in self.columns for end in (name, f"{name} from", f"{name} to")]
        rows = tuple(
            (
                at,
                *(_cell(end) for ends in zip(one.centre, one.low, one.high, strict=True) for end in ends),
                one.size,
                max(one.size - self.reach, 0),
                one.size + self.reach,
                one.drowned,
            )
            for at, one in enumerate(self.found, start=1)
        )
        notes = [
            "Intervals hold with 95 % confidence, each by itself: of the mean and the number of rows nearest."
        ]
        if self.drowned:
            notes.append(
                f"{self.drowned} of {len(self.found)} centres drowned in noise: they say nothing. Ask for fewer "
                "centres or rounds, or allow more."
            )
        headings = ("centre", *ends, "rows", "rows from", "rows to", "drowned")
        return Sheet(headings, rows, tuple(notes))


@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """What rounds of noisy sums make of public starts: post-processing, without a row."""

    space: Space
    starts: IntArray
    weight: int
    noise: Additive

    def centres(self, drawn: Sequence[Sequence[int]]) -> IntArray:
        """Where the centres lie after these rounds."""
        return reduce(self.after, drawn, self.starts)

    def after(self, places: IntArray, drawn: Sequence[int]) -> IntArray:
        """Where the centres lie after one more round."""
        sums = self._sums(drawn)
        return self._again(self._moved(places, sums), sums)

    def clusters(self, drawn: Sequence[Sequence[int]]) -> Clusters:
        """The centres after the last round, which moves none for having drowned.

        The interval of a value is an interval for a ratio of sums. Each noise is within its half-width with
        probability 97.5 %, so both are with 95 %, and the mean of the rows is then one of the ratios that the two
        leave possible.
        """
        before, sums = self.centres(drawn[:-1]), self._sums(drawn[-1])
        after = self._moved(before, sums)
        order = np.lexsort(after.T[::-1])
        reach = -(-self.noise.half_width(CONFIDENCE) // self.weight)
        return Clusters(
            self.space.names, tuple(self._cluster(after[at], sums[at]) for at in order.tolist()), reach
        )

    def _cluster(self, centre: IntArray, sums: IntArray) -> Cluster:
        width = self.noise.half_width(HALF)
        rows = [Fraction(int(sums[0]) + by, self.weight) for by in (-width, width)]
        drowned = bool(rows[0] < 1)
        low, high = [], []
        for side, total in enumerate(sums[1:].tolist()):
            ratios = [] if drowned else [(total + by) / some for by in (-width, width) for some in rows]
            reach = self.space.side
            ends = (Fraction(-reach), Fraction(reach)) if drowned else (min(ratios), max(ratios))
            low.append(self.space.value(side, max(ends[0], -reach)))
            high.append(self.space.value(side, min(ends[1], reach)))
        place = tuple(self.space.value(side, along) for side, along in enumerate(centre.tolist()))
        return Cluster(place, tuple(low), tuple(high), max(round(int(sums[0]) / self.weight), 0), drowned)

    def _sums(self, drawn: Sequence[int]) -> IntArray:
        return np.array(drawn, np.int64).reshape(len(self.starts), 1 + self.space.sides)

    def _sizes(self, sums: IntArray) -> FloatArray:
        return sums[:, 0] / self.weight

    def _moved(self, places: IntArray, sums: IntArray) -> IntArray:
        """Move each centre to the mean of its rows, as far as the noise tells; one that has none stays."""
        sizes = self._sizes(sums)[:, np.newaxis]
        far = self.space.side
        means = np.rint(np.clip(sums[:, 1:] / np.maximum(sizes, 1.0), -far, far)).astype(np.int64)
        return np.where(sizes >= 1, means, places)

    def _again(self, places: IntArray, sums: IntArray) -> IntArray:
        """Let centres whose rows drowned start again, each beside one of the largest, where its start points to."""
        sizes, drowning = self._sizes(sums), self.noise.half_width(CONFIDENCE) / self.weight
        largest = [at for at in np.argsort(-sizes, kind="stable").tolist() if sizes[at] > drowning]
        lost = [at for at in range(len(places)) if sizes[at] <= drowning]
        moved = places.copy()
        for turn, at in enumerate(lost if largest else ()):
            beside = places[largest[turn % len(largest)]] + self.starts[at] // BESIDE
            moved[at] = np.clip(beside, -self.space.side, self.space.side)
        return moved

    @property
    def expected(self) -> Sheet:
        """How far noise moves a centre of so many rows, in per cent of a column's range, and its number of rows."""
        width = self.noise.half_width(HALF)
        reach = -(-self.noise.half_width(CONFIDENCE) // self.weight)
        rows: list[tuple[Cell, ...]] = []
        for size in SIZES:
            surely = size - width / self.weight
            ratio = math.inf if surely < 1 else (width + width * self.space.side / self.weight) / surely
            rows.append((size, reach, min(100 * ratio / (2 * self.space.side), 100.0), surely < 1))
        noise, far = self.noise.words(short), self.space.side
        notes = (f"Noise: {noise} on sums where a row counts {self.weight:,}, its place up to ±{far:,}.",)
        return Sheet(
            ("rows of a centre", "± rows", "± at most, % of a column's range", "drowned"), tuple(rows), notes
        )


def _cell(place: Place) -> Cell:
    return place.isoformat(sep=" ") if isinstance(place, datetime) else float(place)
