"""A share of rows: how many of the rows `of` are inside a condition, from two counts of different rows.

With a weight both are sums of weights: the share of the people whom the rows stand for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from entwined.errors import BadQuery
from entwined.queries.counts import counted
from entwined.queries.plain import PlainSum
from entwined.queries.predicate import Predicate, everything
from entwined.queries.query import Field, Numbers, Sampled, T, Titled
from entwined.queries.shapes import Shapes
from entwined.queries.statistic import Statistic
from entwined.queries.sums import COUNTINGS, FINENESS, Counting
from entwined.queries.weighted import Weighable
from entwined.queries.where import Where, settled
from entwined.schema import Schema


@dataclass(frozen=True)
class Share(Weighable):
    """The share of the rows `of`, all rows if it is left out, that are inside `where` too: from 0 to 1.

    The rows `of` that are inside and those that are not are counted with noise of their own: no row is in both, so
    a row that enters or leaves pays for one of them. Where the schema gives the number of rows and the share is of
    all of them, only those inside are counted; `count="noisy"` leaves that number aside.
    """

    of: Where = field(default_factory=everything, kw_only=True)
    count: Counting | None = None
    kind: ClassVar[str] = "share"
    conditions: ClassVar[tuple[str, ...]] = ("where", "of")
    is_share: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.count not in (None, *COUNTINGS):
            raise BadQuery(f'A share with count = {self.count!r}. Give "noisy" or "public", or leave it out.')
        if self.weight is not None and self.count == "public":
            raise BadQuery(
                "A share is weighted, and what the weights of all rows add up to is not public. Leave count out."
            )

    @property
    def values(self) -> tuple[str, ...]:
        """No column is looked at but by the conditions."""
        return ()

    @property
    def fields(self) -> dict[str, Field]:
        """What the rows inside are divided by."""
        return {"count": self.count, **self.by_weight}

    @property
    def sampled(self) -> Sampled:
        """Whether the rows that it is of are inside."""
        return {"where": self.where, "of": self.of, "weight": self.weight}

    @property
    def base(self) -> Predicate:
        """The rows that it is a share of."""
        return settled(self.of)

    @property
    def _whole(self) -> Predicate:
        return settled(self.of)

    def needs_public_rows(self, schema: Schema) -> bool:
        """Say whether the rows inside are divided by the public number of rows."""
        public = schema.rows is not None and self._whole.is_everything and self.weight is None
        return self.count == "public" or (self.count is None and public)

    def plain(self, schema: Schema) -> PlainSum | None:
        """The rows inside, if they are divided by the public number of rows."""
        if not self.needs_public_rows(schema):
            return None
        return PlainSum("", self.inside.text, unit=Fraction(1, max(schema.rows or 0, 1)), reads=self.columns)

    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        inside, outside = self.inside & self._whole, self._whole - self.inside
        if inside.is_empty or outside.is_empty:
            raise BadQuery(
                "share: of the rows it is about none can be inside, or none outside, so it is public. "
                "Ask about values that can be, and others that can be too."
            )
        if not self.needs_public_rows(schema):
            weight = self.weighing(schema)
            return (counted(inside, schema, weight), counted(outside, schema, weight))
        if schema.rows is None or not self._whole.is_everything:
            raise BadQuery(
                "A share by a public count, but how many rows it is of is not public. Declare rows under neighbours = "
                'replace and leave `of` out, or give count = "noisy".'
            )
        return (counted(inside, schema, None),)

    def answer(self, schema: Schema, numbers: Numbers) -> Fraction:
        """Give the share, kept between 0 and 1; a half where no row is left to divide by."""
        inside = numbers[0][0]
        rows = (schema.rows or 0) if self.needs_public_rows(schema) else inside + numbers[1][0]
        if rows <= 0:
            return Fraction(1, 2)
        return min(max(Fraction(inside, rows), Fraction(0)), Fraction(1))

    def shape(self, schema: Schema, shapes: Shapes[T]) -> T:
        """One count over another and itself, or over a public number."""
        if self.needs_public_rows(schema):
            return shapes.rising(Fraction(1, max(schema.rows or 0, 1)))
        return shapes.share()

    def grid(self, schema: Schema) -> Fraction:  # noqa: ARG002  (every query is asked the same way)
        """Give millionths."""
        return FINENESS

    @property
    def unit(self) -> str:
        """What the answer is."""
        return f"share of rows{self.weighted_by}"

    @property
    def words(self) -> str:
        """What is asked."""
        return self.unit

    def subject(self, titled: Titled) -> str:
        """Say what it is a share of."""
        return f"Share of rows{self.weighted_as(titled)}"

    def question(self, titled: Titled, conditions: Mapping[str, str]) -> str:
        """Say of which rows the share is and what those inside have."""
        of = f", among the rows with {conditions['of']}" if conditions["of"] else ""
        return f"{self.subject(titled)} with {conditions['where']}{of}"
