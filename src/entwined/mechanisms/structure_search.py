"""The structure of a network learned from private rows: parents of each column by the exponential mechanism."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from entwined.canonical import Document, canonical, fraction_from, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadSchema, Refused
from entwined.mechanisms.parents import MOST_ROWS, Parents, Search, most_moved
from entwined.noise import ExponentialChoice
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.promise import Promise
from entwined.queries import Axis, TableOf, everything
from entwined.schema import Coded, Schema


@dataclass(frozen=True, slots=True)
class StructureSearch:
    """Choose up to `parents` parents for every column but the first, each by a score that no unit moves far.

    Theorem. What `run` returns has the loss `loss`, in the promise's measure, whatever happens to one unit; with unit
    cells, on each column.

    Proof. There is one choice for every column but the first, each by an `ExponentialChoice` of its share of the loss
    for scores that move by at most `most_moved`; later choices may depend on earlier ones (adaptive composition).
    The number of choices, the order of candidates and the size of tables depend on the schema alone.
    """

    kind: ClassVar[str] = "structure search"
    columns: tuple[Coded, ...]
    search: Search
    loss: Fraction
    choice: ExponentialChoice

    @classmethod
    def of(cls, promise: Promise, parents: int, loss: Fraction, noise_scale: Fraction) -> Self:
        """Search the columns of a schema; `noise_scale` is that of the tables that will be released with it."""
        schema = promise.schema
        if schema.most_rows > MOST_ROWS:
            raise Refused(f"A search in {schema.most_rows:,} rows. Declare most_rows up to {MOST_ROWS:,}.")
        columns = _columns(schema)
        search = Search(tuple(column.size for column in columns), parents, noise_scale)
        choice = promise.measure.chosen(loss / search.steps, promise.measure.weighed(most_moved(schema)))
        return cls(columns, search, loss, choice)

    @property
    def document(self) -> Document:
        """Everything the choices depend on beside the schema."""
        return {
            "kind": self.kind,
            "columns": [column.name for column in self.columns],
            "parents": self.search.parents,
            "noise_scale": fraction_text(self.search.noise_scale),
            "loss": fraction_text(self.loss),
            "rate": fraction_text(self.choice.rate),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Make the search again of its public choices; the rest follows from the promise."""
        loss, scale = fraction_from(document["loss"]), fraction_from(document["noise_scale"])
        return cls.of(promise, document["parents"], loss, scale)

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Charge the rows, or every column, for all are looked at; refuse another promise's sharpness."""
        again = StructureSearch.of(promise, self.search.parents, self.loss, self.search.noise_scale)
        if again != self:
            raise Refused("The search was made under another promise than the door's. Make it again.")
        names: list[str | None] = (
            [column.name for column in self.columns] if promise.schema.unit.by_column else [None]
        )
        together = [] if promise.measure.is_pure or len(names) == 1 else sorted(filter(None, names))
        names += [None] * bool(together)  # all of them at once
        return tuple(
            Part(key_of(everything(), name, together), self.loss, self.loss)
            for name in sorted(names, key=str)
        )

    def needs(self, schema: Schema) -> tuple[TableOf, ...]:  # noqa: ARG002  (its columns are the schema's)
        """Every table that a choice may look at."""
        axes = [Axis(column.name, column.levels) for column in self.columns]
        return tuple(TableOf(tuple(axes[at] for at in scope), everything()) for scope in self.search.scopes)

    def run(self, read: Read, schema: Schema) -> bytes:
        """Read the tables in one scan, and choose."""
        sizes = self.search.sizes
        counts = {
            scope: table.reshape([sizes[at] for at in scope])
            for scope, table in zip(self.search.scopes, read(self.needs(schema)), strict=True)
        }
        return canonical(self.search.run(counts, self.choice.choose)).encode()

    def output(self, drawn: bytes) -> Parents:
        """The parents of each column."""
        return tuple(map(tuple, json.loads(drawn)))


def _columns(schema: Schema) -> tuple[Coded, ...]:
    coded = tuple(column for column in schema.columns if isinstance(column, Coded))
    dropped = [column.name for column in coded if column.missing != "value"]
    if dropped:
        raise BadSchema(
            f"Column {dropped[0]!r} drops missing values, and a row that is in some tables only cannot be "
            'scored. Learning with a budget needs missing = "value".'
        )
    return coded
