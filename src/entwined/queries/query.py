"""What every query has: a condition, statistics with sensitivities, and an answer made of their numbers."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias

from entwined.errors import BadQuery, QueryTooComplex
from entwined.queries.predicate import Predicate, everything
from entwined.queries.sensitivity import Part, Sensitivity
from entwined.queries.statistic import Statistic
from entwined.schema import Schema

MOST_CELLS: Final = 10_000_000
TOO_LARGE: Final = 2**63

Answer: TypeAlias = int | Fraction | datetime | bool | tuple[int, ...] | tuple[Fraction, ...]
Numbers: TypeAlias = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Query(ABC):
    """A question to a table; everything about it but the answer is public."""

    where: Predicate = field(default_factory=everything, kw_only=True)
    kind: ClassVar[str]

    @property
    @abstractmethod
    def values(self) -> tuple[str, ...]:
        """The columns that are counted, summed or tabled."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is read, for the condition too."""
        return tuple(sorted({*self.values, *self.where.columns}))

    @abstractmethod
    def _statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        """Give the statistics, the columns being known to exist."""

    @abstractmethod
    def answer(self, schema: Schema, numbers: Numbers) -> Answer:
        """Make the answer of the statistics' released integers, one sequence a statistic."""

    @property
    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """What was asked, the condition left out."""

    def statistics(self, schema: Schema) -> tuple[Statistic, ...]:
        """Give what an engine must find out, refusing whatever this schema does not allow."""
        for name, size in self.where.sizes.items():
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
        if asked.adds is not None and largest >= TOO_LARGE:
            raise QueryTooComplex(
                f"{self.kind} of {asked.adds.column!r} could reach {largest:.1e} in {schema.most_rows:,} "
                "rows, beyond 2^63. Declare a smaller most_rows, narrower bounds or a coarser step."
            )

    def sensitivity(self, schema: Schema) -> Sensitivity:
        """Bound the change of all statistics together; each has its own figures, which noise is fitted to."""
        return sum(
            (statistic.sensitivity(schema) for statistic in self.statistics(schema)),
            Sensitivity(Fraction(0), Fraction(0)),
        )

    def parts(self, schema: Schema) -> tuple[Part, ...]:
        """Say where the loss falls, one or more parts a statistic, in the statistics' order."""
        return tuple(part for statistic in self.statistics(schema) for part in statistic.parts(schema))

    @property
    def fingerprint(self) -> str:
        """The question as canonical text: under one schema, equal questions have equal texts."""
        asked = {"query": self.kind, **self.fields, "where": self.where.text}
        return json.dumps(asked, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    def __str__(self) -> str:
        """Show the question."""
        return self.fingerprint
