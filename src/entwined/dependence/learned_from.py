"""What a model was learned from: a public table that is known again, whatever its order, or a charge to a ledger.

A fingerprint is an exact function of the rows. Those of a public table may be published with the model. Of private rows
none is: a model that was learned with a budget names the charge instead, which the rows' own ledger holds.
"""

from dataclasses import dataclass
from typing import Final

from entwined.canonical import Document
from entwined.errors import BadModel
from entwined.schema import Coded, Schema

VOUCHED: Final = (
    "The table that the {title} model was learned from is public and not this one: the holder vouches for it, nothing "
    "was compared."
)


@dataclass(frozen=True, slots=True)
class LearningCharge:
    """The ledger that learning was charged to, and the receipt of its last entry by then."""

    ledger: str
    receipt: str

    @property
    def document(self) -> Document:
        """The same as a part of a model document."""
        return {"ledger": self.ledger, "receipt": self.receipt}


@dataclass(frozen=True, slots=True)
class LearnedFrom:
    """A table by its name, with a fingerprint of the codes of its rows in columns of these sizes, or with a charge."""

    table: str
    rows: int = 0
    columns: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    fingerprint: str = ""
    charge: LearningCharge | None = None

    def __post_init__(self) -> None:
        if bool(self.fingerprint) == (self.charge is not None):
            raise BadModel(
                f'"learned_from" of {self.table!r:.60} needs either the fingerprint of public rows or the charge of '
                "private ones. Learn the model again."
            )

    @property
    def document(self) -> Document:
        """The same as a part of a model document."""
        if self.charge is not None:
            return {"table": self.table, "charge": self.charge.document}
        contents = {"columns": list(self.columns), "sizes": list(self.sizes), "fingerprint": self.fingerprint}
        return {"table": self.table, "rows": self.rows, "contents": contents}

    def is_comparable(self, schema: Schema) -> bool:
        """Say whether rows under a schema would have the same codes."""
        known = {column.name: column.size for column in schema.columns if isinstance(column, Coded)}
        sizes = [known.get(name, 0) for name in self.columns]
        return bool(self.columns) and sizes == list(self.sizes)


def origin_fields(origin: LearnedFrom | None) -> Document:
    """The fields of a model document that say what it was learned from, if it was."""
    return {} if origin is None else {"learned_from": origin.document}
