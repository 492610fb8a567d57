"""Whose secret is protected: a row, a person or a household with a bounded number of rows, or one cell."""

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

from entwined.canonical import Document
from entwined.errors import BadQuery, BadSchema
from entwined.schema.grids import Real
from entwined.schema.raw import is_text, is_whole

Neighbours: TypeAlias = Literal["replace", "add_remove"]
Beyond: TypeAlias = Literal["sample", "scale"]
MOST_ROWS_EACH: Final = 1_000_000
WHOLE_ROW: Final = 100_000  # parts of a row that weights are counted in
ROW_SHARE: Final = Real("row share", Fraction(0), Fraction(1), Fraction(1, WHOLE_ROW))
"""What a row counts where the rows of a person are scaled: the engine makes it, in no table is it a column."""
ENDS: Final = ("one end of an edge", "the other")


class Unit(ABC):
    """Whose secret is protected, and what follows from it for a loss."""

    kind: ClassVar[str]
    name: ClassVar[str]
    """What one unit is called."""
    words: ClassVar[str]
    """What changes between two neighbouring tables."""
    content: ClassVar[str]
    """What is protected, in words for someone who is in the table."""
    presence: ClassVar[str]
    """What is protected where units may come and go."""
    one_of: ClassVar[str] = "any one of those concerned"
    """Whom or what a release says little about."""
    many: ClassVar[str] = "rows"
    """What it is that may depend on each other."""
    not_promised: ClassVar[str] = ""
    """What a reader might take to be protected and is not."""
    plain: ClassVar[str] = "Plain differential privacy"
    """What noise is called that is set as if units had nothing to do with each other."""
    by_column: ClassVar[bool] = False
    """Whether a loss falls on each column that is read by itself, and not on whole rows."""
    may_be_absent: ClassVar[bool] = False
    """Whether a unit that takes part may be without any row in the table, also where units are replaced."""
    shares_rows: ClassVar[bool] = False
    """Whether a row belongs to several units, so that units have no values of their own."""

    @property
    def most_rows(self) -> int:
        """How many rows a unit has at most."""
        return 1 if self.person is None else self.person.most

    @property
    def person(self) -> "Person | None":
        """The unit, if it is all rows of a person."""
        return None

    @property
    def row_share(self) -> Real | None:
        """What a row counts, where rows of a person with too many are scaled; None where each counts once."""
        return None

    @property
    def nodes(self) -> "Nodes | None":
        """The unit, if it is an id of a graph with all of its edges."""
        return None

    @property
    def id_column(self) -> str | None:
        """The column that says whose a row is, if there is one."""
        return None if self.person is None else self.person.column

    @property
    def document(self) -> Document:
        """The unit as the fields of its file."""
        return {"kind": self.kind}


@dataclass(frozen=True)
class Rows(Unit):
    """Each row is a unit of its own."""

    kind: ClassVar[str] = "rows"
    name: ClassVar[str] = "row"
    words: ClassVar[str] = "one row"
    content: ClassVar[str] = "what the row about you says"
    presence: ClassVar[str] = "whether the row about you is in the table at all"


@dataclass(frozen=True)
class Person(Unit):
    """All rows with the same value in `column` are one unit, which counts for at most `most` of them.

    Of a person with n rows, more than that, either a pseudo-random sample of `most` rows is used (`beyond` = "sample"),
    or every row, each weighted by most / n ("scale"). Both depend on that person's rows alone, settled before any
    condition, and both are about the same: all rows, each weighted by min(1, most / n). The sample has an error of its
    own beside the noise and serves every question; scaling has none, and serves counts, totals, means and shares.

    Theorem. If a row that counts once moves some numbers by at most g (in L1, or in L2), then all rows of one person,
    scaled, move them by at most `most` · g by entering or leaving, and by twice that if they are others than before.

    Proof. Let the person have n rows, and row i contribute the vector vᵢ of size at most g if it counts once. Its
    weight is a whole number of parts 1/S of a row, W = min(S, ⌊S·most/n⌋), the same for all n rows. All together
    contribute Σ (W/S)·vᵢ, of size at most (n·W/S)·g ≤ most·g, for n·W ≤ S·most: by rounding down if n > most, else
    since W = S and n ≤ most. So whatever mass falls where, it is at most that of `most` rows: losses of conditions that
    exclude each other compose in parallel, as those of `most` whole rows do, because a loss is convex in where the mass
    falls.
    """

    column: str
    most: int
    beyond: Beyond = "sample"
    kind: ClassVar[str] = "person"
    name: ClassVar[str] = "person"
    words: ClassVar[str] = "all rows of one person"
    content: ClassVar[str] = "what all rows about you together say"
    presence: ClassVar[str] = "whether the rows about you are in the table at all"
    may_be_absent: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not is_text(self.column):
            raise BadSchema(f"A {self.name}'s rows share the column {self.column!r}. Give a column's name.")
        if self.beyond not in get_args(Beyond):
            raise BadSchema(
                f'beyond = {self.beyond!r:.60}. Give "sample", or "scale" to weight rows of a {self.name} with more.'
            )
        if not is_whole(self.most) or not 1 <= self.most <= MOST_ROWS_EACH:
            raise BadSchema(
                f"A {self.name} has at most {self.most!r} rows. Give a number from 1 to {MOST_ROWS_EACH:,}."
            )

    @property
    def person(self) -> "Person":
        """The unit itself."""
        return self

    @property
    def row_share(self) -> Real | None:
        """What a row counts, where rows are scaled."""
        return ROW_SHARE if self.beyond == "scale" else None

    @property
    def document(self) -> Document:
        """The unit as the fields of its file."""
        fields = super().document | {"column": self.column, "most": self.most}
        return fields | ({"beyond": self.beyond} if self.row_share else {})


@dataclass(frozen=True)
class Household(Person):
    """All rows with the same value in `column` are the members of one household, which counts for at most `most`."""

    kind: ClassVar[str] = "household"
    name: ClassVar[str] = "household"
    words: ClassVar[str] = "all rows of one household"
    content: ClassVar[str] = "what all rows about your household together say"
    presence: ClassVar[str] = "whether the rows about your household are in the table at all"
    many: ClassVar[str] = "households"


@dataclass(frozen=True)
class Cells(Unit):
    """Each answer of each row is a unit; a loss falls on the columns that are read."""

    kind: ClassVar[str] = "cells"
    name: ClassVar[str] = "cell"
    words: ClassVar[str] = "one cell of one row"
    content: ClassVar[str] = "any one answer in the row about you"
    presence: ClassVar[str] = content  # a cell neither comes nor goes
    one_of: ClassVar[str] = "any one answer of any one row"
    many: ClassVar[str] = "answers"
    not_promised: ClassVar[str] = (
        "One answer is protected at a time: neither all answers of a row together, nor whether somebody took part."
    )
    plain: ClassVar[str] = "Noise for each answer alone"
    by_column: ClassVar[bool] = True


@dataclass(frozen=True)
class Nodes(Unit):
    """Each id of a graph is a unit, with all edges that name it in either of two `columns`; rows are edges.

    An edge is a row of two units. So units have no rows of their own, and nothing is released but what is proved for a
    node with all of its edges: degrees, after every id was cut to `most` edges.
    """

    columns: tuple[str, str]
    most: int
    kind: ClassVar[str] = "nodes"
    name: ClassVar[str] = "node"
    words: ClassVar[str] = "all edges of one node"
    content: ClassVar[str] = "what all edges that name you together say"
    presence: ClassVar[str] = "whether any edge names you at all"
    many: ClassVar[str] = "nodes"
    may_be_absent: ClassVar[bool] = True
    shares_rows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        names: list[str] = list(self.columns)
        if len(names) != len(ENDS) or len(set(names)) < len(ENDS) or not all(map(is_text, names)):
            raise BadSchema(f"Nodes are named by {names!r:.80}. Name the two columns of an edge.")
        if not is_whole(self.most) or not 1 <= self.most <= MOST_ROWS_EACH:
            raise BadSchema(
                f"A node keeps at most {self.most!r} edges. Give a number from 1 to {MOST_ROWS_EACH:,}."
            )

    @property
    def nodes(self) -> "Nodes":
        """The unit itself."""
        return self

    @property
    def most_rows(self) -> int:
        """Refuse: rows belong to two nodes each, and a node may have any number of them."""
        raise BadQuery(
            "The schema protects nodes with all of their edges, and this is no degree distribution. Ask for degrees, "
            "or protect rows, which are single edges."
        )

    @property
    def document(self) -> Document:
        """The unit as the fields of its file."""
        return super().document | {"columns": list(self.columns), "most": self.most}


def _beyond(fields: Mapping[object, Any]) -> Beyond:
    beyond: Beyond = fields.get("beyond", "sample")
    return beyond


def unit_from(fields: object) -> Unit:
    """Make a unit of the fields of its file."""
    match fields:
        case {"kind": "rows", **rest} if not rest:
            return Rows()
        case {"kind": "cells", **rest} if not rest:
            return Cells()
        case {"kind": "person", "column": str(column), "most": int(most), **rest} if set(rest) <= {"beyond"}:
            return Person(column, most, _beyond(rest))
        case {"kind": "household", "column": str(column), "most": int(most), **rest} if set(rest) <= {
            "beyond"
        }:
            return Household(column, most, _beyond(rest))
        case {"kind": "nodes", "columns": [str(one), str(other)], "most": int(most), **rest} if not rest:
            return Nodes((one, other), most)
    raise BadSchema(
        f'unit = {fields!r}. Give {{kind = "rows"}}, {{kind = "cells"}}, {{kind = "person", column = "id", most = 5}}, '
        '{kind = "household", column = "home", most = 5} or {kind = "nodes", columns = ["from", "to"], most = 50}.'
    )
