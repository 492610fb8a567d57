"""What every query has: a condition, statistics with sensitivities, and an answer made of their numbers."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import ClassVar, Final, Self, TypeAlias, TypedDict, TypeVar

from entwined.canonical import Document
from entwined.errors import BadQuery, QueryTooComplex
from entwined.queries.axes import Axis
from entwined.queries.plain import PlainSum
from entwined.queries.predicate import Predicate, everything
from entwined.queries.sensitivity import Reach, Sensitivity
from entwined.queries.shapes import Shapes
from entwined.queries.statistic import Statistic
from entwined.queries.terms import Scale
from entwined.queries.where import Where, bound, checked, settled
from entwined.schema import Schema

MOST_CELLS: Final = 10_000_000
TOO_LARGE: Final = 2**63

Answer: TypeAlias = int | Fraction | datetime | bool | tuple[int, ...] | tuple[Fraction, ...]
Numbers: TypeAlias = Sequence[Sequence[int]]
Field: TypeAlias = str | int | Document | list[str] | list[int] | list[str | Document] | None
"""What JSON holds of a query's field."""
Titled: TypeAlias = Callable[[str], str]
"""How a column is called where people read it."""
T = TypeVar("T")


class Sampled(TypedDict, total=False):
    """What a sampling error is about: a column, or whether rows are inside, and the weights."""

    column: str
    where: Where
    of: Where
    weight: str | None


@dataclass(frozen=True)
class Query(ABC):
    """A question to a table; everything about it but the answer is public."""

    where: Where = field(default_factory=everything, kw_only=True)
    kind: ClassVar[str]
    conditions: ClassVar[tuple[str, ...]] = ("where",)
    """The fields that are conditions."""
    agrees: ClassVar[bool] = False
    """Whether its numbers are made to agree with those of other questions about the same rows."""
    is_share: ClassVar[bool] = False
    """Whether it answers with a share of rows."""

    def __post_init__(self) -> None:
        for name in self.conditions:
            checked(getattr(self, name))

    def bound(self, schema: Schema) -> Self:
        """Give the question with every condition as the set of rows that it means under this schema."""
        return replace(self, **{name: bound(getattr(self, name), schema) for name in self.conditions})

    @property
    def inside(self) -> Predicate:
        """The rows it asks about; refuse a condition that has met no schema."""
        return settled(self.where)

    @property
    @abstractmethod
    def values(self) -> tuple[str, ...]:
        """The columns that are counted, summed or tabled."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read, for the condition too."""
        read = (settled(getattr(self, name)).columns for name in self.conditions)
        return tuple(sorted({*self.values}.union(*read)))

    @abstractmethod
    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        """Give the statistics, the columns being known to exist."""

    @abstractmethod
    def answer(self, schema: Schema, numbers: Numbers) -> Answer:
        """Make the answer of the statistics' released integers, one sequence a statistic."""

    @abstractmethod
    def shape(self, schema: Schema, shapes: Shapes[T]) -> T:
        """Tell how the answer is made of the statistics' integers."""

    def axes(self, schema: Schema) -> tuple[Axis, ...]:  # noqa: ARG002  (every query is asked the same way)
        """Give the sides of the table that it answers with; none where it answers with one number."""
        return ()

    def grid(self, schema: Schema) -> Fraction | None:  # noqa: ARG002
        """Give the step to which the answer is rounded; none where it lies on a lattice of its own."""
        return None

    def needs_public_rows(self, schema: Schema) -> bool:  # noqa: ARG002
        """Say whether the answer is made with the number of rows that the schema gives."""
        return False

    def by_public_rows(self, schema: Schema) -> "Query":  # noqa: ARG002
        """Ask the same by the public number of rows, where it is public and makes the answer one sum."""
        return self

    def plain(self, schema: Schema) -> PlainSum | None:  # noqa: ARG002
        """Give the one sum over all rows that the answer is made of, if it is made of one alone."""
        return None

    def scale(self, schema: Schema) -> Scale:  # noqa: ARG002  (every query is asked the same way)
        """Give the level of measurement of the answer: by default twice as much is twice as much."""
        return "share" if self.is_share else "ratio"

    @property
    def base(self) -> Predicate:
        """The rows that a share is a share of; of anything else all rows."""
        return everything()

    @property
    def counts_rows(self) -> bool:
        """Whether each of its numbers is one of rows, or of what they are weighted to: a part of some whole."""
        return False

    def apart(self, schema: Schema, low: Answer, high: Answer) -> float | None:  # noqa: ARG002
        """Give how far apart two answers of one number are, in the answer's own unit."""
        if isinstance(low, int | Fraction) and isinstance(high, int | Fraction):
            return float(high - low)
        return None

    @property
    def sampled(self) -> Sampled:
        """What its sampling error is about; refuse where that is not the error of one weighted number."""
        raise BadQuery(
            f"The sampling error of a {self.kind}. Ask for that of a weighted count, total, mean or share."
        )

    @property
    def counts_all(self) -> bool:
        """Whether every row with a weight is in its sum, whatever it adds: none is drawn in or out of it."""
        return False

    def ends(self, schema: Schema) -> tuple[int, int]:  # noqa: ARG002
        """Give what a row adds for each unit of its weight, at both ends of what its sampling error is about."""
        return 0, 1

    @property
    def numbered(self) -> tuple[str, ...]:
        """What the numbers of an answer are called that is no table; none where there is one number, or a table."""
        return ()

    @property
    def unit(self) -> str:
        """What the answer's numbers are numbers of."""
        return "rows"

    @property
    def measured(self) -> str:
        """What a number of the answer, or an error of it, is measured in."""
        return self.unit

    @property
    def words(self) -> str:
        """What is asked in a few words, the condition left out."""
        return f"{self.kind} of {', '.join(self.values)}"

    def subject(self, titled: Titled) -> str:
        """Say what the answer is, as a heading, with columns called as told."""
        return f"{self.kind.capitalize()} of {' and '.join(map(titled, self.values))}"

    def question(self, titled: Titled, conditions: Mapping[str, str]) -> str:
        """Say what is asked, with the conditions in words; one that holds for all rows has none."""
        inside = conditions["where"]
        return self.subject(titled) + (f", of the rows with {inside}" if inside else "")

    @property
    @abstractmethod
    def fields(self) -> dict[str, Field]:
        """What was asked, the condition left out."""

    def statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        """Give what an engine must find out, refusing whatever this schema does not allow."""
        for condition in self.conditions:
            for name, size in settled(getattr(self, condition)).sizes.items():
                if schema.coded(name).size != size:
                    raise BadQuery(
                        f"The condition was built on another schema: column {name!r} differs. Build it again."
                    )
        for name in self.values:
            schema.coded(name)
        found = self._statistics(schema)
        for statistic in found:
            self._check_size(statistic, schema)
        return found

    def check(self, schema: Schema) -> None:
        """Refuse, before any row is read, what this schema does not allow."""
        for statistic in self.statistics(schema):
            if statistic.aggregate.where.is_empty:
                raise BadQuery(
                    f"{self.kind}: no row can be inside its condition. Ask about values that can be."
                )
            if statistic.worst(schema) == 0:
                raise BadQuery(
                    f"{self.kind}: every neighbouring table has the same answer, it is public. "
                    "Under neighbours = replace the number of rows is given by the schema."
                )

    def _check_size(self, statistic: Statistic, schema: Schema) -> None:
        asked = statistic.aggregate
        asked.where.refuse_many_boxes()
        if asked.cells > MOST_CELLS:
            raise QueryTooComplex(
                f"{self.kind} of {', '.join(self.values)} has {asked.cells:,} cells, over {MOST_CELLS:,}. "
                "Take fewer columns or wider bins."
            )
        largest = int(statistic.row.one) * schema.most_rows
        if not statistic.selects and largest >= TOO_LARGE:
            raise QueryTooComplex(
                f"{self.kind} of {', '.join(self.values)} could reach {largest:.1e} in {schema.most_rows:,} "
                "rows, beyond 2^63. Declare a smaller most_rows, narrower bounds or a coarser step."
            )

    def sensitivity(self, schema: Schema) -> Sensitivity:
        """Bound the change of all statistics together; each has its own figures, which noise is fitted to."""
        return sum(
            (statistic.sensitivity(schema) for statistic in self.statistics(schema)),
            Sensitivity(Fraction(0), Fraction(0)),
        )

    def parts(self, schema: Schema) -> tuple[Reach, ...]:
        """Say where the loss falls, one or more parts a statistic, in the statistics' order."""
        return tuple(part for statistic in self.statistics(schema) for part in statistic.parts(schema))

    @property
    def fingerprint(self) -> str:
        """The question as canonical text: under one schema, equal questions have equal texts."""
        conditions = {name: settled(getattr(self, name)).text for name in self.conditions}
        asked = {"query": self.kind, **self.fields, **conditions}
        return json.dumps(asked, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def __str__(self) -> str:
        """Show the question."""
        return self.fingerprint
