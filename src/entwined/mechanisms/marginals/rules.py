"""What every synthetic row has to keep to, by the holder's word: conditions no row meets, columns that others decide.

Cells are cut where a condition begins or ends, so that it holds in all rows of a cell or in none: whoever leaves those
cells empty keeps the rule in every row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.mechanisms.marginals.domain import Domain, Scope
from entwined.mechanisms.marginals.law import CellLaw, require_possible
from entwined.numbers import FloatArray
from entwined.queries import Predicate, parse
from entwined.schema import Schema
from entwined.schema.raw import is_text, is_whole

LARGEST_RULE: Final = 200_000
LARGEST_DECIDED: Final = 5_000_000
LONGEST_TEXT: Final = 1000
USUAL_LENGTHS: Final = (8, 8)


@dataclass(frozen=True, slots=True)
class Rules:
    """Conditions in words, pairs of columns of which the first decides the second, and lengths of made-up texts."""

    impossible: tuple[str, ...] = ()
    decides: tuple[tuple[str, str], ...] = ()
    texts: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Mapping[str, Any], schema: Schema) -> Self:
        """Read rules from the fields of a file; refuse what the schema does not have."""
        impossible, decides = given.get("impossible", ()), given.get("decides", ())
        if not isinstance(impossible, list | tuple) or not all(map(is_text, impossible)):
            raise BadQuery(
                f'impossible = {impossible!r:.60}. Give a list of conditions, such as ["age < 15 and employed"].'
            )
        pairs = isinstance(decides, list | tuple) and all(_is_pair(one) for one in decides)
        if not pairs:
            raise BadQuery(f'decides = {decides!r:.60}. Give pairs of columns, such as [["town", "county"]].')
        made = cls(tuple(impossible), tuple((one, two) for one, two in decides), _lengths(given, schema))
        made.conditions(schema)
        for name in (name for pair in made.decides for name in pair):
            schema.coded(name)
        return made

    @property
    def document(self) -> Document:
        """The rules as the fields of a file; nothing where there are none."""
        told: Document = {"impossible": list(self.impossible)} if self.impossible else {}
        told |= {"decides": [list(pair) for pair in self.decides]} if self.decides else {}
        return told | (
            {"texts": {name: list(ends) for name, ends in self.texts.items()}} if self.texts else {}
        )

    def conditions(self, schema: Schema) -> tuple[Predicate, ...]:
        """The conditions as sets of rows."""
        return tuple(parse(one, schema) for one in self.impossible)

    def empty(self, domain: Domain, schema: Schema) -> dict[Scope, FloatArray]:
        """Mark the cells that no row is in: 1 where there is none."""
        found: dict[Scope, FloatArray] = {}
        for words, condition in zip(self.impossible, self.conditions(schema), strict=True):
            outside = [name for name in condition.columns if name not in domain.names]
            if outside:
                raise BadQuery(f"impossible: {words!r:.60} reads {outside[0]!r}, which is not in the table.")
            scope = tuple(sorted(domain.names.index(name) for name in condition.columns))
            if not scope or domain.cells(scope) > LARGEST_RULE:
                raise BadQuery(f"impossible: {words!r:.60} is about too many cells, or about every row.")
            marks = _marked(condition, domain, scope)
            found[scope] = np.maximum(found.get(scope, marks), marks)
        return found

    def require_possible(self, domain: Domain, schema: Schema) -> None:
        """Refuse rules that cells cannot keep, or that leave no row, before anything is charged."""
        for pair in self.pairs(domain):
            if domain.cells(pair) > LARGEST_DECIDED:
                names = " and ".join(domain.names[at] for at in pair)
                raise BadQuery(
                    f"decides: {names} have {domain.cells(pair):,} cells together; the most is {LARGEST_DECIDED:,}. "
                    "Leave the pair out, or give bins."
                )
        require_possible(self.empty(domain, schema), domain.sizes)

    def pairs(self, domain: Domain) -> tuple[Scope, ...]:
        """The columns that decide others, with those."""
        outside = [name for pair in self.decides for name in pair if name not in domain.names]
        if outside:
            raise BadQuery(f"decides: {outside[0]!r:.60} is not in the synthetic table. Leave the pair out.")
        return tuple((domain.names.index(one), domain.names.index(two)) for one, two in self.decides)

    def decided(self, law: CellLaw, domain: Domain) -> dict[Scope, FloatArray]:
        """Leave of what a column decides the likeliest cell alone, for every cell of that column."""
        found: dict[Scope, FloatArray] = {}
        for one, two in self.pairs(domain):
            scope = (min(one, two), max(one, two))
            table = law.marginal(scope) if one < two else law.marginal(scope).T
            marks = np.ones_like(table)
            marks[np.arange(len(table)), table.argmax(axis=1)] = 0.0
            found[scope] = marks if one < two else marks.T
        return found


def _is_pair(given: object) -> bool:
    return isinstance(given, list | tuple) and len(given) == 2 and all(map(is_text, given))  # noqa: PLR2004


def _lengths(given: Mapping[str, Any], schema: Schema) -> dict[str, tuple[int, int]]:
    texts = given.get("texts", {})
    if not isinstance(texts, Mapping):
        raise BadQuery(f"texts = {texts!r:.60}. Give lengths by column, such as {{name = [3, 12]}}.")
    found: dict[str, tuple[int, int]] = {}
    for name, ends in texts.items():
        if name not in schema.text_columns:
            raise BadQuery(f"texts: {name!r:.60} is no text column, so it has no lengths. Leave it out.")
        fits = isinstance(ends, list | tuple) and len(ends) == 2 and all(map(is_whole, ends))  # noqa: PLR2004
        if not fits or not 0 <= ends[0] <= ends[1] <= LONGEST_TEXT:
            raise BadQuery(
                f"texts: {name!r:.60} = {ends!r:.60}. Give the shortest and the longest, from 0 (which is missing) to "
                f"{LONGEST_TEXT:,} letters."
            )
        found[name] = (ends[0], ends[1])
    return found


def _marked(condition: Predicate, domain: Domain, scope: Scope) -> FloatArray:
    """Mark the cells inside a condition; each is inside as a whole, or outside."""
    shape = [domain.sizes[at] for at in scope]
    marks = np.zeros(shape)
    for box in condition.boxes:
        sides = [_inside(domain, at, box.get(domain.names[at])) for at in scope]
        marks[np.ix_(*sides)] = 1.0
    return marks


def _inside(domain: Domain, at: int, ranges: Sequence[tuple[int, int]] | None) -> NDArray[np.bool_]:
    axis = domain.axes[at]
    firsts = np.array([*axis.starts, axis.levels])
    if ranges is None:
        return np.ones(len(firsts), bool)
    return np.asarray(np.logical_or.reduce([(low <= firsts) & (firsts <= high) for low, high in ranges]))
