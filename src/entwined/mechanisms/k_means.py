"""k-means over columns of numbers: Lloyd's rounds, each from one noisy scan."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadQuery
from entwined.mechanisms.clusters import Clusters, Rounds
from entwined.mechanisms.fitting import losses, worst_change
from entwined.mechanisms.sheet import Sheet
from entwined.mechanisms.space import Space, weight_of
from entwined.mechanisms.told import heard, told
from entwined.noise import Additive
from entwined.numbers import Amount, IntArray, positive_fraction
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import FoldOf, Sensitivity, Statistic, everything
from entwined.schema import Schema
from entwined.schema.raw import is_whole

MOST_CENTRES: Final = 1000
MOST_ROUNDS: Final = 100
USUAL_ROUNDS: Final = 5
MOST_SUM: Final = 2**62

Starts = int | Sequence[Sequence[object]] | Sequence[object]


@dataclass(frozen=True, slots=True)
class KMeans:
    """Move centres for `rounds` rounds, from public starts, each to the mean of the rows nearest to it.

    Theorem. What `run` returns has the loss `loss`, in the promise's measure, on the rows, or with unit cells on each
    of the columns.

    Proof. In a round a row adds `weight` w and its place, d numbers of at most s = `side`, to the d + 1 sums of the one
    centre that is nearest to it, or nothing if a value is missing. The engine adds up rows and codes, which no row
    passes the bounds of, and places are linear in codes; the nearest centre is found in whole numbers, so it depends
    on that row's codes alone (`space`). A row that enters or leaves
    moves the sums by at most w + ds in L1 and by w² + ds² in squared L2. A row that changes, be it in one cell, moves
    them by at most 2(w + ds) in L1; in squared L2 by 2(w² + ds²) if its centre changes, and by 4ds² if it does not. So
    each round is a statistic of bounded sensitivity with noise of its share of the loss, and where the centres lie
    follows from public starts and earlier rounds as they were drawn (adaptive composition). The number of rounds is
    public.

    The weight makes the variance of a centre smallest where it is largest, in a corner of the cube. Noise on all sums
    has a scale in proportion to w + ds, and moves the n rows of a centre by (w + ds)² (1 + s²/w²) / n² on each side:
    least for w = s ∛d. For Gaussian noise (w² + ds²) (1 + s²/w²) is least for w = s ⁴√d.
    """

    kind: ClassVar[str] = "k_means"
    fields: ClassVar[tuple[str, ...]] = ("columns", "centres", "starts", "rounds")
    space: Space
    centres: int
    starts: tuple[tuple[Fraction, ...], ...]
    rounds: int
    loss: Fraction
    weight: int
    noise: Additive

    @classmethod
    def of(
        cls, promise: Promise, columns: Sequence[str] | str, starts: Starts, rounds: int, loss: Amount
    ) -> Self:
        """Settle the rounds under a promise, for a loss in its measure.

        `starts` is a number of centres, which are spread evenly then, or where they begin: a value for each column.
        """
        space = Space.of(promise.schema, columns)
        if is_whole(starts):
            return cls._settled(promise, space, _checked("centres", starts, MOST_CENTRES), (), rounds, loss)
        given = _listed(starts)
        places = tuple(space.place(point if _is_list(point) else (point,)) for point in given)
        return cls._settled(promise, space, len(places), places, rounds, loss)

    @classmethod
    def _settled(
        cls,
        promise: Promise,
        space: Space,
        centres: int,
        starts: tuple[tuple[Fraction, ...], ...],
        rounds: int,
        loss: Amount,
    ) -> Self:
        exact = positive_fraction(loss, "Loss")
        turns = _checked("rounds", rounds, MOST_ROUNDS)
        weight = weight_of(space, 3 if promise.measure.is_pure else 4)
        worst = worst_change(promise, _statistic(space, _first(space, centres, starts), weight))
        if weight * promise.schema.most_rows >= MOST_SUM:
            raise BadQuery(
                "Sums of so many rows could pass 2^62. Declare a smaller most_rows, or coarser steps."
            )
        if not worst:
            raise BadQuery("Every column is public. Compute from it as it is, without noise.")
        noise = promise.measure.added(exact / turns, worst)
        return cls(space, centres, starts, turns, exact, weight, noise)

    @classmethod
    def maker(cls, promise: Promise, given: Mapping[str, Any]) -> Callable[[Fraction], Self]:
        """How it is made from the fields of a file."""
        columns, starts = given.get("columns"), given.get("starts", given.get("centres"))
        if not columns or ("starts" in given) == ("centres" in given):
            raise BadQuery('k-means needs columns = ["x", "y"], and either centres = 3 or their starts.')
        rounds = given.get("rounds", USUAL_ROUNDS)
        return lambda each: cls.of(promise, columns, starts, rounds, each)

    @property
    def document(self) -> Document:
        """The whole computation."""
        return {
            "kind": self.kind,
            "columns": list(self.space.names),
            "centres": self.centres,
            "starts": [[fraction_text(code) for code in point] for point in self.starts],
            "rounds": self.rounds,
            "loss": fraction_text(self.loss),
            "noise": self.noise.document,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Settle the rounds again."""
        starts = tuple(tuple(map(fraction_from, point)) for point in document["starts"])
        space, centres = Space.of(promise.schema, document["columns"]), document["centres"]
        if starts and (len(starts) != centres or any(len(point) != space.sides for point in starts)):
            raise BadQuery("There are not as many starts as centres. Make the rounds again.")
        counted = _checked("centres", centres, MOST_CENTRES)
        loss = fraction_from(document["loss"])
        return cls._settled(promise, space, counted, starts, document["rounds"], loss)

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge the columns, or the rows, for all rounds; refuse another promise's noise."""
        space = Space.of(promise.schema, self.space.names)
        if KMeans._settled(promise, space, self.centres, self.starts, self.rounds, self.loss) != self:
            raise BadQuery("The rounds were settled under another promise than the door's. Make them again.")
        statistic = _statistic(self.space, self._starts, self.weight)
        return losses(promise, [(statistic, Fraction(1))], self.loss)

    @property
    def _starts(self) -> IntArray:
        return _first(self.space, self.centres, self.starts)

    @property
    def _rounds(self) -> Rounds:
        return Rounds(self.space, self._starts, self.weight, self.noise)

    def needs(self, schema: Schema) -> tuple[FoldOf, ...]:  # noqa: ARG002  (it knows its columns)
        """One fold, whose centres change from round to round."""
        return (_fold(self.space, self._starts),)

    def run(self, read: Read, schema: Schema) -> bytes:  # noqa: ARG002  (it knows its columns)
        """Scan, add noise, move the centres, and again."""
        drawn: list[list[int]] = []
        rounds, places = self._rounds, self._starts
        for _ in range(self.rounds):
            (counted,) = read([_fold(self.space, places)])
            exact = self.space.summed(counted.reshape(self.centres, -1), self.weight)
            drawn.append(self.noise.add(exact.reshape(-1)).tolist())
            places = rounds.after(places, drawn[-1])
        return told(self.noise.document, drawn)

    def output(self, drawn: bytes) -> Clusters:
        """Follow the centres through the rounds."""
        return self._rounds.clusters(heard(drawn, self.noise.document))

    @property
    def words(self) -> str:
        """What it computes."""
        return f"k-means of {', '.join(self.space.names)}: {self.centres} centres, {self.rounds} rounds"

    def expected(self, rows: int | None = None) -> Sheet:  # noqa: ARG002
        """How far noise moves the centre of so many rows."""
        return self._rounds.expected

    def shown(self, output: Clusters) -> Sheet:
        """The centres with their intervals and sizes."""
        return output.sheet


def _checked(name: str, number: object, most: int) -> int:
    if not isinstance(number, int) or not is_whole(number) or not 1 <= number <= most:
        raise BadQuery(f"{name} = {number!r:.60}. Give a whole number from 1 to {most:,}.")
    return number


def _is_list(given: object) -> bool:
    return isinstance(given, Sequence) and not isinstance(given, str)


def _listed(starts: object) -> list[Any]:
    if not isinstance(starts, Sequence) or isinstance(starts, str) or not 1 <= len(starts) <= MOST_CENTRES:
        raise BadQuery(
            f"starts = {starts!r:.60}. Give 1 to {MOST_CENTRES:,} points, a value for each column."
        )
    return list(starts)


def _first(space: Space, centres: int, starts: Sequence[Sequence[Fraction]]) -> IntArray:
    """Where the centres begin: as they were given, or spread."""
    return np.array([space.on_grid(point) for point in starts], np.int64) if starts else space.spread(centres)


def _statistic(space: Space, centres: IntArray, weight: int) -> Statistic:
    """The sums of a round, and how far a row moves them."""
    side, sides = space.side, space.sides
    line = Fraction(weight + sides * side)
    moved, stays = Fraction(weight**2 + sides * side**2), Fraction(4 * sides * side**2)
    both = max(2 * moved, stays)
    row, concentration = Sensitivity(line, 2 * line), Sensitivity(moved / line**2, both / (2 * line) ** 2)
    alone = tuple((name, int(row.both)) for name in space.names)
    return Statistic(_fold(space, centres), row, alone, agrees=False, concentration=concentration)


def _fold(space: Space, centres: IntArray) -> FoldOf:
    """Count the rows that are nearest to each centre, and add up their codes."""
    most = (1, *(column.missing_code for column in space.columns))
    return FoldOf(
        space.names,
        (0,) * len(most),
        most,
        space.nearest(centres),
        everything(),
        groups=len(centres),
        adds_codes=True,
    )
