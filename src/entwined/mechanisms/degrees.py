"""How many ids are named how often: the degree distribution of a graph whose rows are edges."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadQuery
from entwined.mechanisms.fitting import losses, worst_change
from entwined.mechanisms.sheet import Sheet, short
from entwined.mechanisms.told import heard, told
from entwined.noise import Additive
from entwined.numbers import Amount, FloatArray, positive_fraction
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import BoundedDegreesOf, DegreesOf, Sensitivity, Statistic, everything
from entwined.schema import Schema
from entwined.schema.raw import is_text, is_whole

MOST: Final = 100_000
CONFIDENCE: Final = Fraction(95, 100)
HALF: Final = Sensitivity(Fraction(1, 2), Fraction(3, 8))


@dataclass(frozen=True, slots=True)
class DegreeCounts:
    """How many ids are named 1, 2, … times, the last number of so often or more: as drawn, and made to agree.

    `reach` is the 95 % half-width of every drawn number. `counts` are the numbers that are not below zero, add up to
    as many ids as were drawn, and are nearest to them.
    """

    drawn: tuple[int, ...]
    counts: tuple[float, ...]
    reach: int

    @property
    def sheet(self) -> Sheet:
        """One row a degree."""
        last, total = len(self.drawn), max(sum(self.counts), 1.0)
        rows = tuple(
            (
                f"{at} or more" if at == last else str(at),
                round(count, 3),
                max(noisy - self.reach, 0),
                max(noisy + self.reach, 0),
                round(100 * count / total, 4),
            )
            for at, (noisy, count) in enumerate(zip(self.drawn, self.counts, strict=True), start=1)
        )
        note = "Intervals hold with 95 % confidence, each by itself, and are those of the numbers as they were drawn."
        return Sheet(("degree", "ids", "ids from", "ids to", "% of ids"), rows, (note,))


@dataclass(frozen=True, slots=True)
class Degrees:
    """Count how many ids are named 1, 2, … `most` or more times in `columns`, with noise on every number.

    Theorem. What `run` returns has the loss `loss`, in the promise's measure, whatever happens to one unit.

    Proof. If all rows of a unit enter, ids move up, at most m of them: each leaves one number of the histogram, or
    comes from nowhere, and enters a later one, so it adds a vector e_b − e_a or e_b with a < b. These are at most 2m in
    L1 and, being m vectors of squared length at most 2, at most 2m² squared. Leaving is the same backwards. If a unit
    changes, at most m ids move down and m move up: 4m in L1. The product of a move down e_a − e_b and one up e_d − e_c,
    where a < b and c < d, is at most 1, for a = d and b = c cannot both hold; so the squared change is at most
    2m² + 2m² + 2m² = 6m².

    A row names one id a column: m is the number of columns, 2 for edges, so that one edge more or less moves the
    histogram by 4. Where the unit is a person with at most k rows, whose id is one of two columns, all of these name
    that same id: m = k + 1. In one column that is the person's own m = 1.

    Where the unit is a node with all of its edges, every id is cut to D edges first, and other ids move by at most D
    in sum (`tables/edge_bounding`): at most D of them, each by leaving one number and entering another. The node itself
    enters one number. That is D + 1 up and D down: 2D + 1 in L1 and (D + 1)² + D² squared. If a node has other edges
    than before, let a and b of them be kept before and after: at most a + b ids move, and the node itself, unless it
    has D both times. So at most 2D of all ids move, and numbers by 4D in L1 and 2 (2D)² squared.
    """

    kind: ClassVar[str] = "degrees"
    fields: ClassVar[tuple[str, ...]] = ("columns", "most")
    columns: tuple[str, ...]
    most: int
    loss: Fraction
    noise: Additive
    bound: int | None = None

    @classmethod
    def of(cls, promise: Promise, columns: Sequence[str], most: int, loss: Amount) -> Self:
        """Settle the noise under a promise; the loss is in its measure."""
        exact = positive_fraction(loss, "Loss")
        named = () if isinstance(columns, str) else tuple(columns)
        if not 1 <= len(named) <= 2 or len(set(named)) < len(named) or not all(map(is_text, named)):  # noqa: PLR2004  (an edge has two ends)
            raise BadQuery(
                f"columns = {columns!r:.80}. Name the two columns of ids that an edge has, or one."
            )
        if not is_whole(most) or not 1 <= most <= MOST:
            raise BadQuery(
                f"most = {most!r:.60}. Give the degree from which all are counted together, 1 to {MOST:,}."
            )
        if promise.schema.unit.by_column:
            raise BadQuery(
                "The ids of an edge are no cells, and the schema protects cells. Protect rows or persons."
            )
        for name in named:
            promise.schema.grouping(name)
        nodes = promise.schema.unit.nodes
        if nodes is not None and named != nodes.columns:
            raise BadQuery(
                f"columns = {list(named)!r:.80}, and the schema protects nodes that are named by "
                f"{list(nodes.columns)}. Name these two."
            )
        worst = worst_change(promise, _statistic(promise.schema, named, most))
        bound = None if nodes is None else nodes.most
        return cls(named, most, exact, promise.measure.added(exact, worst), bound)

    @classmethod
    def maker(cls, promise: Promise, given: Mapping[str, Any]) -> Callable[[Fraction], Self]:
        """How it is made from the fields of a file."""
        columns, most = given.get("columns"), given.get("most")
        if not isinstance(columns, list | tuple) or most is None:
            raise BadQuery(
                'A degree distribution needs columns = ["from", "to"] and most = 50, the last degree.'
            )
        return lambda each: cls.of(promise, columns, most, each)

    @property
    def document(self) -> Document:
        """The whole computation."""
        return {
            "kind": self.kind,
            "columns": list(self.columns),
            "most": self.most,
            "loss": fraction_text(self.loss),
            "noise": self.noise.document,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Settle the noise again."""
        return cls.of(promise, document["columns"], document["most"], fraction_from(document["loss"]))

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge the rows; refuse another promise's noise."""
        if Degrees.of(promise, self.columns, self.most, self.loss) != self:
            raise BadQuery("The noise was settled under another promise than the door's. Settle it again.")
        statistic = _statistic(promise.schema, self.columns, self.most)
        return losses(promise, [(statistic, Fraction(1))], self.loss)

    def needs(self, schema: Schema) -> tuple[DegreesOf | BoundedDegreesOf, ...]:
        """One count of counts."""
        return (_counted(schema, self.columns, self.most),)

    def run(self, read: Read, schema: Schema) -> bytes:
        """Count and add noise."""
        (exact,) = read(self.needs(schema))
        return told(self.noise.document, self.noise.add(exact).tolist())

    def output(self, drawn: bytes) -> DegreeCounts:
        """Make the numbers agree."""
        noisy = heard(drawn, self.noise.document)
        counts = nearest_counts(np.array(noisy, float))
        return DegreeCounts(tuple(noisy), tuple(counts.tolist()), self.noise.half_width(CONFIDENCE))

    @property
    def words(self) -> str:
        """What it computes."""
        cut = "" if self.bound is None else f", every id cut to {self.bound} edges"
        return f"Degrees by {' and '.join(self.columns)}, up to {self.most}{cut}"

    def expected(self, rows: int | None = None) -> Sheet:  # noqa: ARG002
        """How far noise moves every number of ids."""
        notes = (f"Noise: {self.noise.words(short)} on the number of ids of every degree.",)
        row = (self.most, float(self.noise.variance**0.5), self.noise.half_width(CONFIDENCE))
        return Sheet(("degrees", "deviation of a number", "95 % ±"), (row,), notes)

    def shown(self, output: DegreeCounts) -> Sheet:
        """The numbers with their intervals."""
        return output.sheet


def nearest_counts(noisy: FloatArray) -> FloatArray:
    """Find the numbers not below zero with the same sum, or none if that is below zero, that are nearest in squares."""
    total = max(float(noisy.sum()), 0.0)
    falling = np.sort(noisy)[::-1]
    over = (np.cumsum(falling) - total) / np.arange(1, len(noisy) + 1)
    kept = np.flatnonzero(falling > over)
    return np.maximum(noisy - over[kept[-1] if len(kept) else 0], 0.0) if total else np.zeros(len(noisy))


def likeness(first: Sequence[float], second: Sequence[float]) -> float:
    """How alike two degree distributions are: 1 − ‖C − C′‖₁ / ‖C + C′‖₁, 1 if equal.

    >>> likeness([4, 2], [4, 2]), likeness([4, 0], [0, 4])
    (1.0, 0.0)
    """
    one, other = np.asarray(first, float), np.asarray(second, float)
    whole = float(np.abs(one + other).sum())
    return 1.0 - float(np.abs(one - other).sum()) / whole if whole else 1.0


def _counted(schema: Schema, columns: tuple[str, ...], most: int) -> DegreesOf | BoundedDegreesOf:
    nodes = schema.unit.nodes
    if nodes is not None:
        return BoundedDegreesOf(nodes.columns, nodes.most, most, everything())
    return DegreesOf(columns, most, everything())


def _statistic(schema: Schema, columns: tuple[str, ...], most: int) -> Statistic:
    """The histogram, and how far one of the rows of a unit moves it: all of them move it no further together."""
    asked = _counted(schema, columns, most)
    if schema.unit.nodes is not None:
        return _of_nodes(asked, schema.unit.nodes.most)
    rows = schema.unit.most_rows
    own = schema.unit.id_column in columns
    moved = Fraction((len(columns) - 1) * rows + 1 if own else len(columns) * rows, rows)
    return Statistic(asked, Sensitivity(2 * moved, 4 * moved), agrees=False, concentration=HALF)


def _of_nodes(asked: DegreesOf | BoundedDegreesOf, bound: int) -> Statistic:
    """The histogram of a graph that was cut, and how far a node with all of its edges moves it."""
    entering, changing = 2 * bound + 1, 4 * bound
    squared = Fraction((bound + 1) ** 2 + bound**2, entering**2)
    row = Sensitivity(Fraction(entering), Fraction(changing))
    return Statistic(asked, row, agrees=False, concentration=Sensitivity(squared, Fraction(1, 2)))
