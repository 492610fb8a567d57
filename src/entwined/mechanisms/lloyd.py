"""k-means in one column: Lloyd's rounds, each from one noisy scan."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, Final, Self

import numpy as np

from entwined.canonical import Document, canonical, fraction_from, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadQuery
from entwined.mechanisms.fitting import losses, worst_change
from entwined.noise import Additive
from entwined.numbers import Amount, FloatArray, IntArray, positive_fraction
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import Answer, FoldOf, Statistic, everything
from entwined.queries.terms import grid_value
from entwined.schema import Coded, Ordered, Schema
from entwined.schema.raw import is_whole

MOST_CENTRES: Final = 1000
MOST_ROUNDS: Final = 100
CONFIDENCE: Final = Fraction(95, 100)


@dataclass(frozen=True, slots=True)
class Clusters:
    """Centres in rising order, how many rows were nearest to each in the last round, and that figure's 95 % reach."""

    centres: tuple[Answer, ...]
    sizes: tuple[int, ...]
    reach: int


@dataclass(frozen=True, slots=True)
class Lloyd:
    """Move `centres` centres of a column's values, evenly spread at first, for `rounds` rounds.

    Theorem. What `run` returns has the loss `loss`, in the promise's measure, on the rows, or with unit cells on the
    column.

    Proof. In a round a row adds its offset from the middle of the range, and `weight`, to the two places of the centre
    that is nearest to it: at most `together` in all, which the table enforces. So each round is a statistic of bounded
    sensitivity with noise of its share of the loss, and where the centres lie follows from earlier rounds as they were
    drawn (adaptive composition). The number of rounds is public. A missing value adds nothing.
    """

    kind: ClassVar[str] = "lloyd"
    column: Coded
    centres: int
    rounds: int
    loss: Fraction
    noise: Additive

    @classmethod
    def of(cls, promise: Promise, column: str, centres: int, rounds: int, loss: Amount) -> Self:
        """Settle the rounds under a promise; the loss is in its measure."""
        exact = positive_fraction(loss, "Loss")
        for name, number, most in (("centres", centres, MOST_CENTRES), ("rounds", rounds, MOST_ROUNDS)):
            if not is_whole(number) or not 1 <= number <= most:
                raise BadQuery(f"{name} = {number!r:.60}. Give a whole number from 1 to {most:,}.")
        coded = promise.schema.coded(column)
        if not isinstance(coded, Ordered):
            raise BadQuery(f"Column {column!r} has no distances. Take numbers or moments.")
        worst = worst_change(promise, _statistic(coded, _spread(coded, centres)))
        return cls(coded, centres, rounds, exact, promise.measure.added(exact / rounds, worst))

    @property
    def document(self) -> Document:
        """The whole computation."""
        return {
            "kind": self.kind,
            "column": self.column.name,
            "centres": self.centres,
            "rounds": self.rounds,
            "loss": fraction_text(self.loss),
            "noise": self.noise.document,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Settle the rounds again."""
        loss = fraction_from(document["loss"])
        return cls.of(promise, document["column"], document["centres"], document["rounds"], loss)

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge the column, or the rows, for all rounds; refuse another promise's noise."""
        if Lloyd.of(promise, self.column.name, self.centres, self.rounds, self.loss) != self:
            raise BadQuery("The rounds were settled under another promise than the door's. Make them again.")
        return losses(promise, [(self._statistic(), Fraction(1))], self.loss)

    def needs(self, schema: Schema) -> tuple[FoldOf, ...]:  # noqa: ARG002  (it knows its column)
        """One fold, whose centres change from round to round."""
        return (_fold(self.column, _spread(self.column, self.centres)),)

    def run(self, read: Read, schema: Schema) -> bytes:  # noqa: ARG002  (it knows its column)
        """Scan, add noise, move the centres, and again."""
        centres, drawn = _spread(self.column, self.centres), []
        for _ in range(self.rounds):
            (exact,) = read([_fold(self.column, centres)])
            noisy = self.noise.add(exact)
            drawn.append(noisy.tolist())
            centres = _moved(self.column, centres, noisy)
        return canonical(drawn).encode()

    def output(self, drawn: bytes) -> Clusters:
        """Follow the centres through the rounds."""
        centres = _spread(self.column, self.centres)
        rounds = [np.array(one, dtype=np.int64) for one in json.loads(drawn)]
        for noisy in rounds:
            centres = _moved(self.column, centres, noisy)
        weight = _weight(self.column)
        sizes = np.maximum(np.round(rounds[-1][: self.centres] / weight), 0).astype(int)
        reach = -(-self.noise.half_width(CONFIDENCE) // weight)
        values = tuple(grid_value(self.column, Fraction(centre)) for centre in centres.tolist())
        return Clusters(values, tuple(sizes.tolist()), reach)

    def _statistic(self) -> Statistic:
        return _statistic(self.column, _spread(self.column, self.centres))


def _spread(column: Coded, centres: int) -> FloatArray:
    """Centres in the middle of equal parts of the range of codes."""
    return (np.arange(centres) + 0.5) * column.levels / centres - 0.5


def _weight(column: Coded) -> int:
    """What a row counts for: as much as its offset can be, so that sizes and sums are equally exact."""
    return max(1, column.levels // 2)


def _statistic(column: Coded, centres: FloatArray) -> Statistic:
    fold = _fold(column, centres)
    return Statistic(fold, fold.row, ((column.name, int(fold.row.both)),))


def _fold(column: Coded, centres: FloatArray) -> FoldOf:
    """Count and add up the offsets of the rows that are nearest to each centre."""
    weight, middle = _weight(column), column.levels // 2
    function = partial(_assigned, edges=(centres[1:] + centres[:-1]) / 2, levels=column.levels, weight=weight)
    k = len(centres)
    return FoldOf(
        (column.name,),
        (0,) * k + (-middle,) * k,
        (weight,) * k + (middle,) * k,
        function,
        everything(),
        together=weight + middle,
    )


def _assigned(codes: IntArray, *, edges: FloatArray, levels: int, weight: int) -> IntArray:
    """Give each row its weight and its offset at the centre that is nearest to it."""
    code, k = codes[:, 0], len(edges) + 1
    there = np.flatnonzero(code < levels)
    nearest = np.searchsorted(edges, code[there])
    found = np.zeros((len(codes), 2 * k), dtype=np.int64)
    found[there, nearest] = weight
    found[there, k + nearest] = code[there] - levels // 2
    return found


def _moved(column: Coded, centres: FloatArray, noisy: IntArray) -> FloatArray:
    """Move each centre to the mean of its rows, as far as the noise tells; one that has none stays."""
    k = len(centres)
    sizes, offsets = noisy[:k] / _weight(column), noisy[k:]
    means = column.levels // 2 + offsets / np.maximum(sizes, 1.0)
    return np.sort(np.clip(np.where(sizes >= 1, means, centres), 0, column.levels - 1))
