"""What every synthetic household has to keep to, by the holder's word; its seats say the rest.

Conditions that no member meets are those of rows (`marginals.rules`). Members of a kind may be younger than their head,
in any column of numbers or times, by so much at least: `younger = [["child", "age", 15]]`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.mechanisms.households.seating import Seating
from entwined.mechanisms.marginals.rules import Rules
from entwined.queries.seats import HEAD
from entwined.schema import Integer, Schema
from entwined.schema.raw import is_text, is_whole


@dataclass(frozen=True, slots=True)
class HouseholdRules:
    """Conditions that no row meets, and by how much members of a kind come after their head in a column."""

    rows: Rules
    younger: tuple[tuple[str, str, int], ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any], schema: Schema) -> Self:
        """Read rules from the fields of a file."""
        younger = given.get("younger", ())
        if not isinstance(younger, list | tuple) or not all(map(_is_gap, younger)):
            raise BadQuery(
                f'younger = {younger!r:.60}. Give a kind, a column and by how much: [["child", "age", 15]].'
            )
        rows = Rules.of({key: given[key] for key in ("impossible", "texts") if key in given}, schema)
        return cls(rows, tuple((kind, column, by) for kind, column, by in younger))

    @property
    def document(self) -> Document:
        """The rules as the fields of a file; nothing where there are none."""
        gaps = {"younger": [list(one) for one in self.younger]} if self.younger else {}
        return self.rows.document | gaps

    def check(self, seating: Seating, schema: Schema) -> None:
        """Refuse rules that seats and cells cannot keep."""
        for kind, name, by in self.younger:
            if kind not in seating.kinds[1:] or name not in seating.domain.names or name in seating.shared:
                raise BadQuery(
                    f"younger: {kind!r:.60} or {name!r:.60} is no kind of members, or no column of their own. Kinds "
                    f"are {', '.join(seating.kinds[1:])}."
                )
            column = schema.coded(name)
            if not isinstance(column, Integer) or by >= column.levels:
                raise BadQuery(
                    f"younger: {name!r} is no column of whole numbers with a range of more than {by}."
                )
        shared = {seating.domain.names.index(name) for name in seating.shared}
        for scope in self.rows.empty(seating.domain, schema):
            for at in range(seating.seats.kinds):
                drawn = seating.columns(at)
                if not set(scope) & set(drawn) and not (at != HEAD and set(scope) <= shared):
                    names = [seating.domain.names[side] for side in scope]
                    raise BadQuery(
                        f"impossible: {names} says nothing of a {seating.kinds[at]} that is drawn. Name a column of "
                        "members too."
                    )

    def gaps(self, seating: Seating, kind: int) -> dict[int, int]:
        """By how many codes at least a kind is below its head, by column; for heads, how high they have to be."""
        found: dict[int, int] = {}
        for name, column, by in self.younger:
            if kind != HEAD and seating.kinds.index(name) == kind:
                at = seating.domain.names.index(column)
                found[at] = max(by, found.get(at, 0))
        return found


def _is_gap(given: object) -> bool:
    if not isinstance(given, list | tuple) or len(given) != 3:  # noqa: PLR2004  (a kind, a column, a number)
        return False
    kind, column, by = given
    return is_text(kind) and is_text(column) and is_whole(by) and by >= 0
