"""The rows of a table as codes: the part of a statement that every question shares.

Column number i of the schema is called r‹i› while raw, c‹i› when coded. Names of the source stand only where the
engine quotes them.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from entwined.errors import BadTable
from entwined.schema import Coded, Person, Rows, Schema, Text
from entwined.schema.unit import WHOLE_ROW
from entwined.tables.coding import fits_a_case, is_dear, long_list
from entwined.tables.comparing import is_certain, refuse_uncertain, together
from entwined.tables.compiling import MOST_REMEMBERED, Raw, coding_steps
from entwined.tables.engine import Engine, Key, Kind, Shown
from entwined.tables.picking import Lots, few_persons, few_rows, few_steps
from entwined.tables.resident import coded_columns, is_small, small_type, usual_type
from entwined.tables.steps import Steps, statement

FEW_JOINS: Final = 8  # of one statement
HOME: Final = "MIN(home_of_row) OVER (PARTITION BY who) AS home"
"""The group of a person: the least that any of the person's rows names, kept or not.

It hangs on the column of groups alone, which is public, and on no code that is secret: whatever else a person's rows
hold, and so whichever of them are kept, the person stays at home.
"""


@dataclass(frozen=True)
class CodedRows:
    """How to read a schema's columns from an engine; what was compiled or listed once is remembered."""

    schema: Schema
    engine: Engine
    kept: Person | None = None
    first: str | None = None
    kept_as: str = ""
    _made: dict[tuple[str, tuple[str, ...], tuple[str, ...]], Steps] = field(default_factory=dict)
    _lists: dict[str, Mapping[Key, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lacking = [name for name in self.schema.names if name not in self.engine.columns]
        if lacking:
            raise BadTable(
                f"The schema declares the column {lacking[0]!r}, which the source does not have. "
                "Correct the schema, or open the table it describes."
            )
        for column in self.schema.columns:
            shown = self.engine.columns[column.name]
            if isinstance(column, Coded) and shown.kind == "other":
                raise BadTable(
                    f"Column {column.name!r} is of type {shown.type} in the source, which has no codes. "
                    "Declare it as text, or turn it into text, a number or a time there."
                )
        for picking in (self.schema.unit.person, self.kept):
            if picking is not None:
                grouping = self.schema.grouping(picking.column)
                refuse_uncertain(grouping, self.shown(grouping.name))

    @property
    def by_person(self) -> Person | None:
        """Whose rows are picked: a person's, or those of a group that has to stay small."""
        return self.schema.unit.person or self.kept

    @property
    def homes(self) -> Person | None:
        """Which groups of persons have to stay small, where persons are protected; none where steps are their rows."""
        person = self.schema.unit.person
        own = person is not None and self.kept is not None and self.kept.column == person.column
        return None if person is None or (own and self.first is not None) else self.kept

    @property
    def picked(self) -> Hashable:
        """Which rows of the source these are: two that say the same are the same rows, in the same codes."""
        return self.schema.digest, self.kept, self.first, self.kept_as

    @cached_property
    def _places(self) -> Mapping[str, int]:
        share = self.schema.unit.row_share
        names = self.schema.names if share is None else (*self.schema.names, share.name)
        return {name: at for at, name in enumerate(names)}

    def raw(self, name: str) -> str:
        """Name a column while it is raw."""
        return f"r{self._places[name]}"

    def code(self, name: str) -> str:
        """Name a column's code."""
        return f"c{self._places[name]}"

    def in_order(self, names: Iterable[str]) -> list[str]:
        """Sort columns as the schema has them, each once."""
        return sorted(set(names), key=self._places.__getitem__)

    def shown(self, name: str) -> Shown:
        """Say how the engine shows a column."""
        return self.engine.columns[name]

    def of_everybody(self) -> "CodedRows":
        """Give all rows, also those that are left out where persons or groups are to stay small."""
        schema = replace(self.schema, unit=Rows(), rows=None, approved_digest="", signature=None)
        return replace(self, schema=schema, kept=None, first=None, kept_as="")

    def resident(self) -> "CodedRows":
        """Give the same rows, kept as codes in the engine's memory where there is room and it can."""
        coded = coded_columns(self.schema)
        if self.kept_as or not coded or not is_small(self.schema) or self.schema.unit.row_share is not None:
            return self
        steps, last = self.steps([one.name for one in coded])
        small = ", ".join(
            f"CAST({self.code(one.name)} AS {small_type(one)[1]}) AS {self.code(one.name)}" for one in coded
        )
        return replace(self, kept_as=self.engine.resident(statement(steps, f"SELECT {small} FROM {last}")))

    def is_late(self, name: str) -> bool:
        """Say whether a column is better counted raw and coded afterwards; never where rows are picked by code."""
        shown = self.shown(name)
        return (
            not self.kept_as
            and self.by_person is None
            and shown.repeats
            and is_dear(self.schema.coded(name), shown.kind)
        )

    def from_source(self) -> "CodedRows":
        """Give the same rows as they are read, also where their codes are kept."""
        return replace(self, kept_as="")

    def steps(self, coded: Sequence[str], raw: Sequence[str] = (), before: str = "") -> tuple[Steps, str]:
        """Give the steps from the source to rows with these codes, other columns raw, and the last step's name.

        Where rows are picked, those come first that `before`, a number made of a row's own codes, puts first, and then
        those with the smallest lots.
        """
        if self.kept_as and not raw and not before:
            codes = ", ".join(
                f"CAST({self.code(name)} AS {usual_type(self.schema.coded(name))}) AS {self.code(name)}"
                for name in coded
            )
            return [("coded_rows", f"SELECT {codes or '1 AS one'} FROM {self.kept_as}")], "coded_rows"
        person = self.by_person
        if person is None:
            steps, last = self._coded(tuple(coded), tuple(raw))
            return steps, last
        if self.schema.unit.row_share is not None:
            return self._scaled(person, self.schema.unit.row_share.name, coded, raw)
        everything = tuple(column.name for column in self.schema.columns if isinstance(column, Coded))
        named = {one.column for one in (person, self.homes) if one is not None}.union(raw, self._ids)
        kept = tuple(self.in_order(named - set(everything)))
        steps, last = self._coded(everything, kept)
        steps = [*steps, *self._picked(person, everything, last, before)]
        if self.homes is None:
            return steps, "picked"
        return [*steps, *self._few_a_home(self.homes, person, everything)], "at_home"

    def _coded(self, coded: tuple[str, ...], raw: tuple[str, ...]) -> tuple[Steps, str]:
        needed = self.in_order((*coded, *raw))
        shown = [f"{self.shown(name).sql} AS {self.raw(name)}" for name in needed] or ["1 AS one"]
        source = ("rows", f"SELECT {', '.join(shown)} FROM {self.engine.relation}")
        return [source, *self.coding("rows", coded, raw)], "coded_rows"

    def coding(
        self, rows: str, coded: tuple[str, ...], kept: tuple[str, ...], numbers: tuple[str, ...] = ()
    ) -> Steps:
        """Give the steps from raw `rows` to `coded_rows`; columns kept raw and further integers stay as they are."""
        if not coded:
            return [(f"coded_{rows}", f"SELECT * FROM {rows}")]
        key = (rows, (*coded, "", *kept), numbers)
        made = self._made.get(key)
        if made is None:
            made = self._compile(rows, coded, kept, numbers)
            if len(self._made) >= MOST_REMEMBERED:
                self._made.clear()
            self._made[key] = made
        return made

    def _compile(
        self, rows: str, coded: tuple[str, ...], kept: tuple[str, ...], numbers: tuple[str, ...]
    ) -> Steps:
        """Look lists up, and code what is not in one."""
        sought = self._sought(coded)
        steps: Steps = [(f"found_{rows}", self._joined(rows, sought))] if sought else []
        each = tuple(
            Raw(self._places[name], self.shown(name).kind, self.schema.coded(name), name in sought)
            for name in coded
        )
        asis = tuple(Raw(self._places[name], self.shown(name).kind) for name in kept)
        return [*steps, *coding_steps(rows, each, asis, numbers, self.engine.dialect)]

    def _sought(self, coded: Iterable[str]) -> Mapping[str, Mapping[Key, int]]:
        """Give the lists that values are looked up in; of many only the long ones, since joins are slow to plan."""
        lists = {name: keys for name in coded if (keys := self._list(name))}
        if len(lists) <= FEW_JOINS:
            return lists
        return {name: keys for name, keys in lists.items() if not fits_a_case(keys)}

    def _list(self, name: str) -> Mapping[Key, int]:
        if name not in self._lists:
            self._lists[name] = long_list(self.schema.coded(name), self.shown(name).kind)
        return self._lists[name]

    def _joined(self, rows: str, sought: Mapping[str, Mapping[Key, int]]) -> str:
        """Find values in the engine's own lists; a list has each value once, so that no row is doubled."""
        found, joins = [f"{rows}.*"], ""
        for name, keys in sought.items():
            raw, list_name = self.raw(name), f"list_{self.raw(name)}"
            relation = self.engine.lookup(keys)
            found.append(f"{list_name}.code AS {raw}_found")
            joins += f" LEFT JOIN {relation} AS {list_name} ON {rows}.{raw} = {list_name}.value"
        return f"SELECT {', '.join(found)} FROM {rows}{joins}"

    @property
    def _ids(self) -> tuple[str, ...]:
        """The columns of ids that are part of what a row holds, beside its codes: texts that say who belongs together.

        They are so in every statement, read or not: so every statement is about the same rows.
        """
        person = self.by_person
        return tuple(
            column.name
            for column in self.schema.columns
            if isinstance(column, Text)
            and column.compare
            and (person is None or column.name != person.column)
            and is_certain(column, self.shown(column.name))
        )

    def _lots(self, coded: Sequence[str]) -> Lots:
        ids = tuple((f"id_of_{self.raw(name)}", self._kind(name)) for name in self._ids)
        return Lots(self.schema.sampling_key, tuple(map(self.code, coded)), ids, self.engine.dialect)

    def _kind(self, name: str) -> Kind:
        """Say as what rows that belong together by a column share it."""
        return "code" if self.is_coded(name) else self.shown(name).kind

    def _picked(self, person: Person, coded: Sequence[str], rows: str, before: str = "") -> Steps:
        """Keep at most so many rows a person, by lot: see `picking`. A row that names no person is left out.

        With a column that orders steps, so is a row without a step, and one row a step is kept.
        """
        grouped = self._grouped(person, rows, self._ids)
        lots, kind = self._lots(coded), self._kind(person.column)
        if self.first is None or self.homes is not None:
            return [*grouped, *few_rows(lots, "grouped", kind, person.most, before)]
        step, missing = self.code(self.first), self.schema.coded(self.first).missing_code
        return [*grouped, *few_steps(lots, "grouped", kind, step, missing, person.most)]

    def _grouped(self, person: Person, rows: str, ids: Sequence[str]) -> Steps:
        """Add who each row is of and what else it names, and where persons have a group and a step, those of theirs."""
        who = self._together(person.column)
        named = "".join(f", {self._together(name)} AS id_of_{self.raw(name)}" for name in ids)
        if self.homes is None:
            return [("grouped", f"SELECT {rows}.*, {who} AS who{named} FROM {rows}")]
        home = f"{self._together(self.homes.column)} AS home_of_row"
        return [
            ("named", f"SELECT {rows}.*, {who} AS who, {home}{named} FROM {rows}"),
            ("grouped", f"SELECT named.*, {HOME}{self._step()} FROM named"),
        ]

    def _scaled(
        self, person: Person, share: str, coded: Sequence[str], raw: Sequence[str]
    ) -> tuple[Steps, str]:
        """Give all rows of every person, with what each counts: see `Person`. Rows that name no person are left out."""
        ids = {one.column for one in (person, self.homes) if one is not None}
        steps_by = set() if self.first is None else {self.first}
        read = tuple(self.in_order({*coded, *steps_by, *filter(self.is_coded, ids)} - {share}))
        steps, last = self._coded(read, tuple(self.in_order({*raw, *ids} - set(read))))
        steps = [*steps, *self._grouped(person, last, ())]
        window = "OVER (PARTITION BY who)"
        turn = "ROW_NUMBER() OVER (PARTITION BY who ORDER BY who) AS turn_picked"
        counted = f"SELECT grouped.*, COUNT(*) {window} AS rows_of, {turn} FROM grouped WHERE who IS NOT NULL"
        whole = person.most * WHOLE_ROW
        weight = f"CAST(({whole} - {whole} % rows_of) / rows_of AS INTEGER)"
        scaled = (
            f"CASE WHEN rows_of <= {person.most} THEN {WHOLE_ROW} ELSE {weight} END AS {self.code(share)}"
        )
        steps += [("counted_rows", counted), ("picked", f"SELECT counted_rows.*, {scaled} FROM counted_rows")]
        if self.homes is None:
            return steps, "picked"
        return [*steps, *self._few_a_home(self.homes, person, ())], "at_home"

    def is_coded(self, name: str) -> bool:
        """Say whether a column has codes."""
        return isinstance(self.schema.column(name), Coded)

    def named(self, columns: Sequence[str], written: str) -> tuple[list[str], str]:
        """Give what each of these columns names somebody by as it is written, and what is compared of that.

        Columns that could call one id two things are refused.
        """
        kinds = set()
        for name in columns:
            grouping, shown = self.schema.grouping(name), self.shown(name)
            refuse_uncertain(grouping, shown)
            kinds.add("code" if self.is_coded(name) else shown.kind)
        if len(kinds) > 1:
            raise BadTable(
                f"The columns {', '.join(columns)} name ids as {' and as '.join(sorted(kinds))}. Give them one type."
            )
        first = columns[0]
        column, shown = self.schema.column(first), self.shown(first)
        compared = together(column, written, written, shown, self.engine.dialect)
        return [self.code(name) if self.is_coded(name) else self.raw(name) for name in columns], compared

    def _together(self, name: str) -> str:
        """Give what rows that belong together by a column share."""
        column, shown = self.schema.column(name), self.shown(name)
        return together(column, self.raw(name), self.code(name), shown, self.engine.dialect)

    def _step(self) -> str:
        """Give the step of a person in a series: the least that any of the person's rows names, kept or not.

        It hangs on the column of steps alone, which is public, as a person's group hangs on that of groups.
        """
        if self.first is None:
            return ""
        code, none = self.code(self.first), self.schema.coded(self.first).missing_code
        return f", MIN(CASE WHEN {code} <> {none} THEN {code} END) OVER (PARTITION BY who) AS step_of"

    def _few_a_home(self, homes: Person, person: Person, coded: Sequence[str]) -> Steps:
        """Keep at most so many persons a group, by lot, each with all rows that were picked of them."""
        kinds = self._kind(homes.column), self._kind(person.column)
        return few_persons(self._lots(coded), *kinds, homes.most, by_step=self.first is not None)
