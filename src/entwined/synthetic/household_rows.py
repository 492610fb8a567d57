"""Synthetic households as a stream of rows: whole households one after another, each head first, under made-up ids."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self

import numpy as np
import pyarrow as pa

from entwined.dependence.luck import made_up_luck
from entwined.errors import BadInput
from entwined.mechanisms.households.household_rules import HouseholdRules
from entwined.mechanisms.households.household_tables import HouseholdTables
from entwined.mechanisms.households.released import NoisyHouseholds
from entwined.mechanisms.households.seating import Seating
from entwined.mechanisms.marginals.domain import Domain
from entwined.numbers import IntArray
from entwined.progress import report
from entwined.schema import Integer, Schema
from entwined.synthetic.household_law import HouseholdLaw, in_line, law_of
from entwined.synthetic.rows import BLOCK, MOST_ROWS
from entwined.synthetic.values import ColumnKind, made_up_texts

DIGITS: Final = 9


@dataclass(frozen=True, eq=False)
class DescribedHouseholds:
    """Tables of households with noise, and what is public beside them."""

    schema: Schema
    released: NoisyHouseholds
    rules: HouseholdRules

    @classmethod
    def of(cls, mechanism: HouseholdTables, released: NoisyHouseholds, schema: Schema) -> Self:
        """What a mechanism gave, with its rules."""
        return cls(schema, released, mechanism.rules)

    @classmethod
    def from_document(cls, mechanism: Mapping[str, Any], drawn: Mapping[str, Any], schema: Schema) -> Self:
        """Read it from a certificate's mechanism and what was drawn."""
        seating = Seating.from_document(mechanism, schema)
        released = NoisyHouseholds.from_document(seating, drawn)
        return cls(schema, released, HouseholdRules.of(mechanism, schema))

    @property
    def domain(self) -> Domain:
        """The columns of a row with their cells."""
        return self.released.seating.domain

    @cached_property
    def law(self) -> HouseholdLaw:
        """The law of households that agrees with what was released and keeps the rules."""
        return law_of(self.released, self.rules, self.schema)

    @cached_property
    def members(self) -> float:
        """How many members a household has, on average."""
        seating, chances = self.released.seating, self.law.chances
        return 1 + float(chances @ seating.members(seating.compositions).sum(axis=1)) / float(chances.sum())

    def households(self, rows: int | None) -> int:
        """How many households have about so many rows; about as many as there are, unless told."""
        return max(round(self.released.households if rows is None else rows / self.members), 1)

    def made_up(self, rows: int | None) -> "MadeUpHouseholds":
        """Whole households with about so many rows."""
        return MadeUpHouseholds(self.schema, self.households(rows), self)


@dataclass(frozen=True, slots=True)
class MadeUpHouseholds:
    """So many households of a description, as rows."""

    schema: Schema
    count: int
    description: DescribedHouseholds

    def __post_init__(self) -> None:
        most = MOST_ROWS // self._seating.seats.most
        if not 1 <= self.count <= most:
            raise BadInput(f"{self.count:,} synthetic households. Ask for 1 to {most:,}.")
        column = self.schema.column(self._by)
        if isinstance(column, Integer) and self.count > column.levels:
            raise BadInput(
                f"{self.count:,} households need as many ids, and {self._by!r} has {column.levels:,} values. Declare "
                "it as text, or ask for fewer rows."
            )

    @property
    def _seating(self) -> Seating:
        return self.description.released.seating

    @property
    def _by(self) -> str:
        return self._seating.seats.by

    @property
    def domain(self) -> Domain:
        """The columns that are drawn."""
        return self._seating.domain

    @property
    def names(self) -> tuple[str, ...]:
        """The columns as they are written, in the order of the schema."""
        there = {*self.domain.names, *self.schema.text_columns, self._by}
        return tuple(name for name in self.schema.names if name in there)

    @property
    def arrow_schema(self) -> pa.Schema:
        """What a reader of the file will find."""
        coded = {name: ColumnKind.of(self.schema.coded(name)).kind for name in self.domain.names}
        if isinstance(self.schema.column(self._by), Integer):
            coded[self._by] = pa.int64()
        return pa.schema([(name, coded.get(name, pa.string())) for name in self.names])

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """Make up the rows, block by block, every household in one block."""
        done, begun, most = 0, 0, max(BLOCK // self._seating.seats.most, 1)
        while done < self.count:
            report("made-up households", done, self.count)
            size = min(most, self.count - done)
            block = self._block(size, done, begun)
            yield block
            done, begun = done + size, begun + block.num_rows
        report("made-up households", self.count, self.count)

    def table(self) -> pa.Table:
        """All rows at once."""
        return pa.Table.from_batches(self.blocks(), self.arrow_schema)

    def _block(self, households: int, done: int, begun: int) -> pa.RecordBatch:
        drawn = self.description.law.drawn(households)
        columns: dict[str, pa.Array] = {}
        homes = np.zeros(0, np.int64)
        for at, name in enumerate(self.domain.names):
            homes, codes = in_line(drawn, at)
            column = self.schema.coded(name)
            columns[name] = ColumnKind.of(column).array(column, codes)
        texts = self.description.rules.rows.texts
        columns |= made_up_texts(self.schema, texts, len(homes), made_up_luck(), begun)
        columns[self._by] = self._ids(homes + done)
        return pa.record_batch([columns[name] for name in self.names], schema=self.arrow_schema)

    def _ids(self, homes: IntArray) -> pa.Array:
        """Ids that count on: nobody's own."""
        column = self.schema.column(self._by)
        if isinstance(column, Integer):
            return ColumnKind.of(column).array(column, homes)
        return pa.array(np.char.add(f"{self._by}-", np.char.zfill((homes + 1).astype(str), DIGITS)))
