"""From a public pilot to a schema of answers: every column that can be a question, and why the others cannot."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from entwined.errors import BadTable
from entwined.schema import Categorical, Cells, Coded, Column, Moment, Schema
from entwined.schema.files import text_of
from entwined.tables.describe import describe
from entwined.tables.propose import Proposal
from entwined.tables.scales import filled_in
from entwined.tables.units import MIN_UNITS

MOST_ANSWERS: Final = 30
HEAD: Final = """\
# PROPOSED from {pilot}, which is public: nothing below tells about the private rows. Review every line, then approve.
# What is protected is one answer of one respondent. A missing answer is counted as one more answer of each question.
"""
NOT_THERE: Final = "the private table has no such column"


@dataclass(frozen=True, slots=True)
class SetAside:
    """A column that is no question, and why."""

    column: str
    reason: str


@dataclass(frozen=True, slots=True)
class QuestionnaireSettings:
    """How answers are found in a pilot: the codes for missing, and the most answers of a question.

    An answer that fewer than `min_units` respondents gave is not listed, unless the pilot has a label for it.
    """

    missing: tuple[str, ...] = ()
    most: int = MOST_ANSWERS
    min_units: int = MIN_UNITS
    min_units_of: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Questionnaire:
    """The questions of a pilot as the schema of a private table, and the columns that are none."""

    pilot: str
    schema: Schema
    aside: tuple[SetAside, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many different answers of each question too few respondents gave to be listed."""

    @classmethod
    def of(
        cls,
        pilot: str | Path,
        rows: int,
        settings: "QuestionnaireSettings | None" = None,
        *,
        there: Collection[str] | None = None,
    ) -> "Questionnaire":
        """Look at a public table; `there` are the columns of the private one."""
        given = settings or QuestionnaireSettings()
        columns: list[Column] = []
        aside: list[SetAside] = []
        left_out: dict[str, int] = {}
        spelled = tuple(spelling for code in given.missing for spelling in _spelled(code))
        described = describe(
            pilot,
            missing=spelled,
            codes=True,
            min_units=given.min_units,
            min_units_of=given.min_units_of,
        )
        for one in described.proposals:
            found = (
                NOT_THERE
                if there is not None and one.column.name not in there
                else _question(one, given.most)
            )
            if isinstance(found, str):
                aside.append(SetAside(one.column.name, found))
            else:
                columns.append(found)
                left_out |= {one.column.name: one.left_out} if one.left_out else {}
        if not columns:
            raise BadTable(f"{pilot} has no column that could be a question: {_listed(aside)}.")
        schema = Schema(tuple(columns), unit=Cells(), rows=rows, most_rows=rows)
        return cls(Path(pilot).name, schema, tuple(aside), left_out)

    @property
    def text(self) -> str:
        """The schema file, with the one list of what was set aside."""
        head = HEAD.format(pilot=_plain(self.pilot))
        return head + "".join([*self._set_aside(), *self._left_out()]) + "\n" + text_of(self.schema)

    def _set_aside(self) -> Iterator[str]:
        if self.aside:
            yield f"#\n# {len(self.aside)} columns are set aside; to ask about one, declare it here yourself:\n"
        for one in self.aside:
            yield f"#   {_plain(one.column)}: {_plain(one.reason)}\n"

    def _left_out(self) -> Iterator[str]:
        if self.left_out:
            yield "#\n# Answers that too few respondents gave are not listed, and read as missing: add those of the\n"
            yield "# questionnaire.\n"
        for name, answers in self.left_out.items():
            yield f"#   {_plain(name)}: {answers:,}\n"


def _question(one: Proposal, most: int) -> Coded | str:
    """Make a question of a column, or say why it is none."""
    column = one.column
    if isinstance(column, Moment):
        return "a date or a time: too many different ones to count"
    if not isinstance(column, Coded):
        return one.notes[-1]
    if not isinstance(column, Categorical) and one.codes is not None:
        codes = filled_in(one.codes)
        labels = tuple(codes.values()) if tuple(codes) != tuple(codes.values()) else ()
        column = Categorical(
            column.name, tuple(codes), labels, label=column.label, missing_codes=column.missing_codes
        )
    if column.levels > most:
        return (
            f"{column.levels:,} different answers, over {most}: a weight, an id, an amount, or a finer scale"
        )
    if column.levels < 2:  # noqa: PLR2004  (a question has two answers)
        return f"everybody says {column.value(0)}, and no other answer is known"
    return replace(column, missing="value")


def _spelled(code: str) -> tuple[str, ...]:
    """Write a whole number also as tables of floating-point numbers do."""
    return (code, f"{code}.0") if code.removeprefix("-").isdecimal() else (code,)


def _listed(aside: list[SetAside]) -> str:
    return "; ".join(f"{one.column}: {one.reason}" for one in aside[:10])


def _plain(text: str) -> str:
    """Keep a comment on its line."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)
