"""A statistic of the holder's own: a function of a row's codes, summed, whose bounds the table itself enforces."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Final, NoReturn, Self

from entwined.errors import BadQuery
from entwined.numbers import IntArray
from entwined.queries.counts import without_missing
from entwined.queries.folds import FoldOf, Function
from entwined.queries.predicate import Predicate, everything
from entwined.queries.query import Answer, Field, Numbers, Query, T, Titled
from entwined.queries.sensitivity import Sensitivity
from entwined.queries.shapes import Shapes
from entwined.queries.sides import sides_from
from entwined.queries.statistic import Statistic
from entwined.schema import Schema
from entwined.schema.raw import is_text

LONGEST: Final = 100


@dataclass(frozen=True)
class Custom(Query):
    """Sums over the rows inside of what a function makes of each row's codes in the columns `of`.

    The function is given an array of codes, rows × columns, missing as the code behind the last, and gives an array
    of 64-bit integers, one for each of `names`. Whatever it says, every number of a row is cut to its bounds, `least`
    to `most`, and with `together` a row whose numbers add up to more, signs left out, adds nothing: so how far a row
    can move the answer follows from the bounds, and nobody's word is taken for it. What the function says of a row may
    depend on that row's codes alone, and it is public.

    It is known by its name and version: who changes the function changes its version, or is given old answers.
    """

    name: str
    version: str
    of: tuple[str, ...]
    least: tuple[int, ...]
    most: tuple[int, ...]
    names: tuple[str, ...] = ()
    together: int | None = None
    function: Function | None = field(default=None, compare=False, repr=False)
    kind: ClassVar[str] = "custom"

    def __post_init__(self) -> None:
        super().__post_init__()
        for given, what in ((self.name, "name"), (self.version, "version")):
            if not is_text(given) or not 1 <= len(given) <= LONGEST:
                raise BadQuery(
                    f"A custom statistic with {what} = {given!r:.60}. Give a text of 1 to {LONGEST}."
                )
        for what in ("of", "least", "most", "names"):
            object.__setattr__(self, what, tuple(getattr(self, what)))
        sides_from(self.of, self.kind)
        names = self.names or tuple(str(number + 1) for number in range(len(self.least)))
        if len(names) != len(self.least) or len(set(names)) < len(names) or not all(map(is_text, names)):
            raise BadQuery(
                f"The custom statistic {self.name!r} has {len(self.least)} numbers and the names {list(names)!r:.100}. "
                "Give each a name of its own, or leave them out."
            )
        object.__setattr__(self, "names", names)
        self._fold(everything(), self.function or _not_at_hand)  # refuses wrong bounds

    @property
    def values(self) -> tuple[str, ...]:
        """The columns that the function is given."""
        return self.of

    @property
    def fields(self) -> dict[str, Field]:
        """Everything but the function itself, which its name and version stand for."""
        return {
            "name": self.name,
            "version": self.version,
            "of": list(self.of),
            "least": list(self.least),
            "most": list(self.most),
            "names": list(self.names),
            "together": self.together,
        }

    def bound(self, schema: Schema) -> Self:
        """Let the condition meet the schema; refuse a statistic whose function is not at hand."""
        if self.function is None:
            raise BadQuery(
                f"The custom statistic {self.name!r} has no function: a document holds none. Give it one."
            )
        return super().bound(schema)

    def _fold(self, inside: Predicate, function: Function) -> FoldOf:
        return FoldOf(self.of, self.least, self.most, function, inside, self.together)

    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        dropped = (name for name in self.of if schema.coded(name).missing != "value")
        inside = without_missing(dropped, self.inside, schema)
        fold = self._fold(inside, self.function or _not_at_hand)
        alone = tuple((name, int(fold.row.both)) for name in self.of)
        return (Statistic(fold, fold.row, alone, concentration=self._concentration(fold.row), agrees=False),)

    def _concentration(self, row: Sensitivity) -> Sensitivity:
        """Bound squared L2 changes number by number; they are never above the square of the L1 change."""
        pairs = list(zip(self.least, self.most, strict=True))
        if self.together is not None:  # a row may add nothing at all
            pairs = [(min(least, 0), max(most, 0)) for least, most in pairs]
        one = sum(max(abs(least), abs(most)) ** 2 for least, most in pairs)
        both = sum((most - least) ** 2 for least, most in pairs)
        return Sensitivity(_of_square(one, row.one), _of_square(both, row.both))

    def answer(self, schema: Schema, numbers: Numbers) -> Answer:  # noqa: ARG002  (every query is asked the same way)
        """Give the sums, one for each name; a single one as a number."""
        return numbers[0][0] if len(self.names) == 1 else tuple(numbers[0])

    def shape(self, schema: Schema, shapes: Shapes[T]) -> T:  # noqa: ARG002
        """Every integer is itself."""
        return shapes.lattice(1)

    @property
    def numbered(self) -> tuple[str, ...]:
        """What its numbers are called."""
        return self.names

    @property
    def unit(self) -> str:
        """What the function counts is known by its name."""
        return self.name

    @property
    def words(self) -> str:
        """What is asked."""
        return f"{self.name} ({self.version}) of {', '.join(self.of)}"

    def subject(self, titled: Titled) -> str:
        """Name the function and what it reads."""
        return f"Sum of {self.name} (version {self.version}) of {' and '.join(map(titled, self.of))}"


def _of_square(squared: int, change: Fraction) -> Fraction:
    return min(Fraction(squared) / change**2, Fraction(1)) if change else Fraction(1)


def _not_at_hand(codes: IntArray) -> NoReturn:
    """Stand for the function of a statistic that was read back from its document: it can be priced, never run."""
    raise BadQuery(
        f"The function of this statistic is not at hand for {len(codes)} rows. Build it with its function."
    )
