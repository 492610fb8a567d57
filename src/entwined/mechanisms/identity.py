"""The identity query: the value of everybody by a public id, each with noise of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadQuery
from entwined.mechanisms.fitting import losses, worst_change
from entwined.mechanisms.sheet import Sheet, short
from entwined.mechanisms.told import heard, told
from entwined.noise import Additive
from entwined.numbers import Amount, positive_fraction
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import Axis, Sensitivity, Statistic, Term, TotalsOf, everything
from entwined.queries.terms import grid_of, middle_term, moves
from entwined.schema import Coded, Schema
from entwined.schema.raw import is_text

CONFIDENCE: Final = Fraction(95, 100)
ABOUT: Final = (
    "An id without a row, or without a value, is shown with noise around the middle of the declared bounds.",
    "Intervals hold with 95 % confidence, each by itself, for ids with one row.",
)


@dataclass(frozen=True, slots=True)
class OwnValues:
    """The value of every id: as estimated, and between what ends the truth lies with 95 % confidence."""

    ids: tuple[str, ...]
    values: tuple[Fraction, ...]
    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]

    @property
    def sheet(self) -> Sheet:
        """One row an id."""
        lines = zip(self.ids, self.values, self.low, self.high, strict=True)
        rows = tuple((who, float(value), float(low), float(high)) for who, value, low, high in lines)
        return Sheet(("id", "value", "from", "to"), rows, ABOUT)


@dataclass(frozen=True, slots=True)
class Identity:
    """Give the value in `values` of every id in `ids`, with noise on each.

    Theorem. What `run` returns has the loss `loss`, in the promise's measure, whatever happens to one unit.

    Proof. There is one number for each id that the schema lists, whoever is in the table. A row adds the distance of
    its code from the middle of the codes, at most h, to the number of its id, or nothing if it lacks the value or the
    id. A unit has at most m rows. One that enters or leaves moves the numbers by at most mh in L1, and one that changes
    by at most 2mh: that is all it adds before and after, whether it keeps its id or not. Squared these are at most
    (mh)² and (2mh)², and all of it may fall on one number. A cell of the value moves one number by at most 2h.

    The loss of one unit is paid once, however many ids there are: each has its own number.
    """

    kind: ClassVar[str] = "identity"
    fields: ClassVar[tuple[str, ...]] = ("by", "column")
    ids: Coded
    values: Coded
    loss: Fraction
    noise: Additive

    @classmethod
    def of(cls, promise: Promise, by: str, column: str, loss: Amount) -> Self:
        """Settle the noise under a promise; the loss is in its measure."""
        exact = positive_fraction(loss, "Loss")
        ids, values = _ids(promise.schema, by), promise.schema.coded(column)
        grid_of(values)  # refuses a column whose values do not add up
        if by == column:
            raise BadQuery(f"{column!r} is both the id and the value. Name a column of values.")
        worst = worst_change(promise, _statistic(ids, values))
        if not worst:
            raise BadQuery(f"{column!r} is public, or has one value. Show it as it is, without noise.")
        return cls(ids, values, exact, promise.measure.added(exact, worst))

    @classmethod
    def maker(cls, promise: Promise, given: Mapping[str, Any]) -> Callable[[Fraction], Self]:
        """How it is made from the fields of a file."""
        by, column = given.get("by", ""), given.get("column", "")
        if not (by and column and is_text(by) and is_text(column)):
            raise BadQuery('An identity query needs by = "id" and column = "value".')
        return lambda each: cls.of(promise, by, column, each)

    @property
    def document(self) -> Document:
        """The whole computation."""
        return {
            "kind": self.kind,
            "by": self.ids.name,
            "column": self.values.name,
            "loss": fraction_text(self.loss),
            "noise": self.noise.document,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Settle the noise again."""
        return cls.of(promise, document["by"], document["column"], fraction_from(document["loss"]))

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge the units; refuse another promise's noise."""
        if Identity.of(promise, self.ids.name, self.values.name, self.loss) != self:
            raise BadQuery("The noise was settled under another promise than the door's. Settle it again.")
        return losses(promise, [(_statistic(self.ids, self.values), Fraction(1))], self.loss)

    def needs(self, schema: Schema) -> tuple[TotalsOf, ...]:  # noqa: ARG002  (it knows its columns)
        """One sum an id."""
        return (_asked(self.ids, self.values),)

    def run(self, read: Read, schema: Schema) -> bytes:
        """Add up and add noise."""
        (exact,) = read(self.needs(schema))
        return told(self.noise.document, self.noise.add(exact).tolist())

    def output(self, drawn: bytes) -> OwnValues:
        """Put the numbers back on the scale of the values, within their bounds."""
        noisy, reach = heard(drawn, self.noise.document), self.noise.half_width(CONFIDENCE)
        names = tuple(str(self.ids.value(code)) for code in range(self.ids.levels))
        made = (tuple(self._value(number + moved) for number in noisy) for moved in (0, -reach, reach))
        return OwnValues(names, *made)

    def _value(self, number: int) -> Fraction:
        """Give the value so far from the middle of the codes."""
        term, (origin, step) = _term(self.values), grid_of(self.values)
        code = Fraction(number - term.offset, term.factor)
        return origin + step * min(max(code, Fraction(0)), Fraction(self.values.levels - 1))

    @property
    def words(self) -> str:
        """What it computes."""
        return f"The {self.values.name} of every {self.ids.name}, each with noise"

    def expected(self, rows: int | None = None) -> Sheet:  # noqa: ARG002
        """How far noise moves every value."""
        _, step = grid_of(self.values)
        unit = float(step) / _term(self.values).factor
        row = (
            self.ids.levels,
            unit * float(self.noise.variance**0.5),
            unit * self.noise.half_width(CONFIDENCE),
        )
        notes = (f"Noise: {self.noise.words(short)} on every value, in steps of {unit:g}.", *ABOUT[:1])
        return Sheet(("ids", "deviation of a value", "95 % ±"), (row,), notes)

    def shown(self, output: OwnValues) -> Sheet:
        """The values with their intervals."""
        return output.sheet


def _ids(schema: Schema, by: str) -> Coded:
    """Give a column whose values are public ids; refuse any other."""
    column, person = schema.column(by), schema.unit.id_column
    if not isinstance(column, Coded):
        raise BadQuery(
            f"{by!r} does not list its ids, and who is in the table must not show. Declare the column as categories or "
            "as whole numbers between bounds."
        )
    if person is not None and person != by:
        raise BadQuery(f"The schema protects persons by {person!r}. Ask for the values by that column.")
    if person is None and not column.public:
        raise BadQuery(
            f"{by!r} is a secret of its row, and an id has to be known to say whose value is whose. Declare it with "
            "public = true if everybody may know who has which id, or protect persons by it."
        )
    return column


def _term(values: Coded) -> Term:
    return middle_term(values.name, ((0, values.levels - 1),))


def _asked(ids: Coded, values: Coded) -> TotalsOf:
    return TotalsOf((Axis(ids.name, ids.levels, keeps_missing=False),), _term(values), everything())


def _statistic(ids: Coded, values: Coded) -> Statistic:
    """The sums by id, and how far a row moves them."""
    half = moves(_term(values), ((0, values.levels - 1),)).one
    alone = ((values.name, int(2 * half)),)
    return Statistic(_asked(ids, values), Sensitivity(half, 2 * half), alone, agrees=False)
