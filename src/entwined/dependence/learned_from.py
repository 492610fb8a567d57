"""What a model was learned from: enough to know the same rows again, whatever their order."""

from dataclasses import dataclass
from typing import Final

from entwined.canonical import Document
from entwined.schema import Coded, Schema

VOUCHED: Final = (
    "The table that the {title} model was learned from is public and not this one: the holder vouches for it, nothing "
    "was compared."
)


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """A public table by its name, with a fingerprint of the codes of its rows in columns of these sizes."""

    table: str
    rows: int
    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    fingerprint: str

    @property
    def document(self) -> Document:
        """The same as a part of a model document."""
        contents = {"columns": list(self.columns), "sizes": list(self.sizes), "fingerprint": self.fingerprint}
        return {"table": self.table, "rows": self.rows, "contents": contents}

    def is_comparable(self, schema: Schema) -> bool:
        """Say whether rows under a schema would have the same codes."""
        known = {column.name: column.size for column in schema.columns if isinstance(column, Coded)}
        sizes = [known.get(name, 0) for name in self.columns]
        return bool(self.columns) and sizes == list(self.sizes)
