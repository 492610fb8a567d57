"""What is public about a table: its columns, the unit of protection, and which tables are neighbours."""

import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, get_args

from entwined.canonical import Document
from entwined.errors import BadQuery, BadSchema, Unapproved
from entwined.schema.bands import Bands
from entwined.schema.column import alike
from entwined.schema.columns import Coded, Column, Ordered, Text
from entwined.schema.raw import is_text, is_whole
from entwined.schema.unit import Neighbours, Nodes, Rows, Unit
from entwined.showing import Tabled
from entwined.signing import Key, Signature

MOST_COLUMNS: Final = 10_000
MOST_ROWS: Final = 2**53 - 1
USUAL_ROWS: Final = 1_000_000_000
NOT_CODES: Final = ("label", "labels", "bands", "public", "mean", "not_asked", "no_answer")
"""Fields that say nothing of which code a value has."""


@dataclass(frozen=True, repr=False)
class Schema(Tabled):
    """The holder's signed word on a table. Everything a query may depend on stands here.

    `most_rows` is a public bound on the number of rows, `rows` that number itself where it is public (only
    when neighbours replace a row). `approved_digest` signs the rest: a schema that changed after it was
    approved cannot be made. `signature` is that of the holder's key, where the approval bears one.

    >>> from entwined.schema import Integer
    >>> schema = Schema((Integer("age", 0, 120),)).approve()
    >>> schema.approved, schema.coded("age").encode(200)
    (True, 120)
    """

    columns: tuple[Column, ...]
    unit: Unit = Rows()  # noqa: RUF009  (a frozen value)
    neighbours: Neighbours = "replace"
    most_rows: int = USUAL_ROWS
    rows: int | None = None
    approved_digest: str = ""
    signature: Signature | None = None

    def __post_init__(self) -> None:
        if not _are_columns(self.columns):
            raise BadSchema("The columns of a schema are not a tuple of columns. Give Integer(…), Real(…), …")
        if not 1 <= len(self.columns) <= MOST_COLUMNS:
            raise BadSchema(f"A schema has {len(self.columns)} columns. Declare 1 to {MOST_COLUMNS:,}.")
        if len(self._by_name) < len(self.columns):
            names = [column.name for column in self.columns]
            twice = next(name for name in names if names.count(name) > 1)
            raise BadSchema(f"Two columns are named {twice!r}. Rename one of them.")
        self._check_bands()
        self._check_unit()
        self._check_rows()
        if self.approved_digest and self.approved_digest != self.digest:
            raise BadSchema("The schema changed after it was approved. Review it and approve it again.")
        if self.signature is not None and not (self.approved and self.signature.is_of(self._signed_words)):
            raise BadSchema(
                f"The signature of the key {self.signature.key.fingerprint} is not one under this schema. "
                "Review it and approve it again."
            )

    def _check_bands(self) -> None:
        declared = [
            one.name for column in self.columns if isinstance(column, Ordered) for one in column.bands
        ]
        often = Counter(declared)
        taken = next((name for name in declared if name in self._by_name or often[name] > 1), None)
        if taken is not None:
            raise BadSchema(f"Bands are named {taken!r} like other bands or a column. Rename them.")

    def _check_unit(self) -> None:
        if self.neighbours not in get_args(Neighbours):
            raise BadSchema(f'neighbours = {self.neighbours!r}. Give "replace" or "add_remove".')
        if self.unit.row_share is not None and self.unit.row_share.name in self._by_name:
            raise BadSchema(
                f"A column is named {self.unit.row_share.name!r}, as is what a row counts where rows are scaled. "
                "Rename it."
            )
        person = self.unit.id_column
        if person is not None:
            if person not in self._by_name:
                raise BadSchema(
                    f"The person column {person!r} is not declared. Add it, as type text perhaps."
                )
            self.grouping(person)
        if self.unit.nodes is not None:
            self._check_nodes(self.unit.nodes)
        if self.unit.by_column and self.neighbours != "replace":
            raise BadSchema('A cell cannot be added or removed. With unit cells give neighbours = "replace".')

    def _check_nodes(self, nodes: Nodes) -> None:
        """Require ids that are listed alike: the order of edges is that of their codes, whatever the table holds."""
        one, other = (self._by_name.get(name) for name in nodes.columns)
        if not (isinstance(one, Coded) and isinstance(other, Coded)) or alike(one) != alike(other):
            raise BadSchema(
                f"Nodes are named by {' and '.join(nodes.columns)}. Declare both alike, as whole numbers between "
                "bounds or as categories."
            )

    def _check_rows(self) -> None:
        if not is_whole(self.most_rows) or not 1 <= self.most_rows <= MOST_ROWS:
            raise BadSchema(f"most_rows = {self.most_rows!r}. Give a number from 1 to 2^53 − 1.")
        if self.rows is None:
            return
        if not is_whole(self.rows) or not 0 <= self.rows <= self.most_rows:
            raise BadSchema(
                f"rows = {self.rows!r}. Give the number of rows, at most most_rows = {self.most_rows}."
            )
        if self.neighbours != "replace" or self.unit.may_be_absent:
            raise BadSchema("rows is given, but neighbours differ in their number of rows. Leave rows out.")

    @cached_property
    def _by_name(self) -> Mapping[str, Column]:
        return {column.name: column for column in self.columns}

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """Give a declared column, or what a row counts where the rows of a person are scaled."""
        _require_text(name)
        share = self.unit.row_share
        if share is not None and name == share.name:
            return share
        if name not in self._by_name:
            shown = ", ".join(self.names[:20]) + (", …" if len(self.columns) > 20 else "")  # noqa: PLR2004  (enough to see)
            raise BadQuery(f"There is no column {name!r}. The schema declares {shown}.")
        return self._by_name[name]

    @cached_property
    def _bands(self) -> Mapping[str, Bands]:
        return {
            one.name: one for column in self.columns if isinstance(column, Ordered) for one in column.bands
        }

    @property
    def bands(self) -> tuple[Bands, ...]:
        """All declared bands."""
        return tuple(self._bands.values())

    def side(self, name: str) -> str | Bands:
        """Give what a table is counted by: the bands of that name, or a column."""
        return self._bands.get(name, name)

    def comparable(self, name: str) -> Coded | Bands:
        """Give what a condition compares: the bands of that name, or a column that can be queried."""
        _require_text(name)
        return self._bands.get(name) or self.coded(name)

    def label(self, name: str) -> str:
        """Say what people call a column, or bands of one; nothing where a column has no label."""
        bands = self._bands.get(name)
        return (
            self.column(name).label
            if bands is None
            else f"{name} of {self.label(bands.column) or bands.column}"
        )

    def coded(self, name: str) -> Coded:
        """Give a declared column that can be queried."""
        _require_text(name)
        if name in self._bands:
            raise BadQuery(
                f"{name!r} are bands of {self._bands[name].column!r}. Histograms, marginals, group_bys and conditions "
                "take bands; ask anything else of the column."
            )
        column = self.column(name)
        if not isinstance(column, Coded):
            raise BadQuery(
                f"Column {name!r} is {column.kind}: it may be described, never queried. Ask another column."
            )
        return column

    def grouping(self, name: str) -> Column:
        """Give a declared column whose values say which rows belong together."""
        column = self.column(name)
        if isinstance(column, Text) and not column.compare:
            raise BadSchema(
                f"Column {name!r} is to say which rows belong together, and nothing says when two of its texts are "
                'the same. Declare compare = "loose" (spaces, the case of A to Z and zeros before a number do not '
                'count) or compare = "exact" (letters as they are: an id in two spellings is then two persons).'
            )
        return column

    @property
    def rows_at_most(self) -> int:
        """How many rows a table has at most: their number, where it is public."""
        return self.most_rows if self.rows is None else self.rows

    @property
    def declared_most_rows(self) -> int | None:
        """The most rows that a table has, if somebody declared that: the usual cap says nothing about a table."""
        return None if self.most_rows >= USUAL_ROWS else self.most_rows

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns that are never queried."""
        return tuple(column.name for column in self.columns if isinstance(column, Text))

    @property
    def public_columns(self) -> tuple[str, ...]:
        """The columns that are no secret."""
        return tuple(column.name for column in self.columns if isinstance(column, Coded) and column.public)

    @property
    def document(self) -> Document:
        """What the approval signs, as the fields of its file."""
        fields: Document = {"unit": self.unit.document, "neighbours": self.neighbours}
        fields |= {"most_rows": self.most_rows} | ({} if self.rows is None else {"rows": self.rows})
        return fields | {"columns": [column.document for column in self.columns]}

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the content, approval left out."""
        return digest_of(self.document)

    @cached_property
    def sampling_key(self) -> str:
        """The public key of the lots by which rows are picked: a digest of the columns' names and codes alone."""
        columns = [
            {name: value for name, value in column.document.items() if name not in NOT_CODES}
            for column in self.columns
        ]
        return digest_of({"columns": columns})[:16]

    @property
    def approved(self) -> bool:
        """Whether the holder approved exactly this content."""
        return bool(self.approved_digest)

    @property
    def _signed_words(self) -> str:
        return f"entwined schema approval\n{self.digest}"

    def approve(self, key: Key | None = None) -> "Schema":
        """Approve the content: the holder has reviewed it, and perhaps signs it with a key."""
        signature = None if key is None else key.sign(self._signed_words)
        return dataclasses.replace(self, approved_digest=self.digest, signature=signature)

    def require_approval(self) -> None:
        """Refuse to go on under a schema that the holder has not approved."""
        if not self.approved:
            raise Unapproved("The schema is not approved. Have the holder review it and approve it first.")


def _are_columns(given: object) -> bool:
    return isinstance(given, tuple) and all(isinstance(column, Column) for column in given)


def digest_of(document: Document) -> str:
    """The SHA-256 of what a schema says, as its document has it."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _require_text(name: object) -> None:
    """Refuse what cannot be the name of a column, such as a list from a file."""
    if not is_text(name):
        raise BadQuery(
            f"A column is called {name!r:.60}, which is no text. Give the name of a declared column."
        )
