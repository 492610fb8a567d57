"""A synthetic table as a stream of blocks: any number of rows, and no more memory than one block takes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from entwined.dependence.luck import made_up_luck
from entwined.errors import BadInput
from entwined.mechanisms.marginals.domain import Domain
from entwined.mechanisms.marginals.made_up import made_up
from entwined.mechanisms.marginals.rules import Rules
from entwined.numbers import IntArray
from entwined.progress import report
from entwined.schema import Schema
from entwined.synthetic.description import DescribedTable
from entwined.synthetic.values import ColumnKind, codes_in_cells, made_up_texts

BLOCK: Final = 250_000
MOST_ROWS: Final = 10**9


@dataclass(frozen=True, slots=True)
class MadeUpRows:
    """So many rows of a description, or without one rows that are of the declared types and nothing more."""

    schema: Schema
    count: int
    description: DescribedTable | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_ROWS:
            raise BadInput(f"{self.count:,} synthetic rows. Ask for 1 to {MOST_ROWS:,}.")

    @property
    def domain(self) -> Domain:
        """The columns that have codes."""
        return Domain.of(self.schema) if self.description is None else self.description.domain

    @property
    def names(self) -> tuple[str, ...]:
        """The columns as they are written, in the order of the schema."""
        return tuple(name for name in self.schema.names if name in (*self.domain.names, *self._texts))

    @property
    def _texts(self) -> tuple[str, ...]:
        return self.schema.text_columns

    @property
    def arrow_schema(self) -> pa.Schema:
        """What a reader of the file will find."""
        coded = {name: ColumnKind.of(self.schema.coded(name)).kind for name in self.domain.names}
        return pa.schema([(name, coded.get(name, pa.string())) for name in self.names])

    def blocks(self) -> Iterator[pa.RecordBatch]:
        """Make up the rows, block by block."""
        done = 0
        while done < self.count:
            self._tell(done)
            size = min(BLOCK, self.count - done)
            yield self._block(size, done)
            done += size
        self._tell(self.count)

    def _tell(self, done: float) -> None:
        report("made-up rows", int(done), self.count)

    def table(self) -> pa.Table:
        """All rows at once."""
        return pa.Table.from_batches(self.blocks(), self.arrow_schema)

    def _block(self, size: int, begin: int) -> pa.RecordBatch:
        luck = made_up_luck()
        rules = Rules() if self.description is None else self.description.rules
        columns = made_up_texts(self.schema, rules.texts, size, luck, begin)
        codes = self._codes(size, luck, rules, begin)
        for at, name in enumerate(self.domain.names):
            column = self.schema.coded(name)
            columns[name] = ColumnKind.of(column).array(column, codes[:, at])
        return pa.record_batch([columns[name] for name in self.names], schema=self.arrow_schema)

    def _codes(self, size: int, luck: np.random.Generator, rules: Rules, begin: int) -> IntArray:
        axes = self.domain.axes
        if self.description is None:
            return np.column_stack([luck.integers(axis.levels, size=size) for axis in axes])
        decided = {two for _, two in rules.decides}
        cells = made_up(self.description.law, size, lambda part: self._tell(begin + part * size))
        drawn = [
            codes_in_cells(axis, cells[:, at], luck, one_each=axis.column in decided)
            for at, axis in enumerate(axes)
        ]
        return np.column_stack(drawn)
