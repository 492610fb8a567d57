"""What a pilot shows of a questionnaire, as a file that the holder confirms line by line.

Only what is true by design belongs there: that a column is worked out from another, that a form was drawn at
random, or that whether an answer is missing says nothing. What is not confirmed is not used.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from entwined.canonical import Document
from entwined.dependence.contents import read_bytes, text_of
from entwined.dependence.syntax import toml_document
from entwined.errors import BadInput, BadModel
from entwined.learning.codes import Codes, public_codes
from entwined.learning.models import SMOOTHING
from entwined.learning.pairs import PairCounts, pair_counts
from entwined.numbers import positive_fraction
from entwined.schema import Schema, read_schema
from entwined.survey.sense import (
    Blank,
    Decided,
    Form,
    MissingShown,
    blank_codes,
    decided_columns,
    forms,
    missing_values,
    mixed_with_blanks,
)
from entwined.survey.survey import Survey

LARGEST_FILE: Final = 10_000_000
RANDOM: Final = (
    0.05  # nats; who is asked what says more than this about no answer, if forms were drawn at random
)
KEYS: Final = {"pilot", "schema", "table", "smoothing", "decided", "form", "missing"}
LEAST_ROWS: Final = 50  # of a pilot that anything is proposed from
HEAD: Final = """\
# What {pilot} shows of the questionnaire. Set confirmed = true where it holds by design, whatever people answer:
# a column that is worked out from another one needs no histogram of its own, and a form that was drawn at random
# need not be paid for question by question. That an answer is missing is an answer too, unless you confirm that it
# says nothing about anything. What is not confirmed is not used.
pilot = {pilot}
schema = {schema}
{table}smoothing = {smoothing}   # added to every count of the pilot; it is part of what is trusted
"""
SEVERAL: Final = """
# Several columns look like forms, and more than one may be confirmed. The one that decides who is asked most questions
# is used as the form; who has which of the others, and is asked what for it, is learned and paid for like answers.
"""
SKIPS: Final = """
# Skip logic: these need no word of yours. Who is asked depends on an answer, so it is learned from the pilot and paid
# for like any other dependence.
"""


@dataclass(frozen=True, eq=False)
class Proposals:
    """A pilot read under a schema, with all that could be confirmed."""

    name: str
    schema: Schema
    pilot: Codes
    decided: tuple[Decided, ...]
    forms: tuple[Form, ...]
    missing: tuple[MissingShown, ...] = ()
    skips: tuple[Blank, ...] = ()
    mixed: Mapping[str, tuple[Decided, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, pilot: str | Path, schema: Schema) -> "Proposals":
        """Look at a public table; what another column decides is sought with every form kept."""
        codes = public_codes(pilot, schema)
        if codes.rows < LEAST_ROWS:
            return cls(Path(pilot).name, schema, codes, (), ())
        pairs = pair_counts(codes)
        blanks = blank_codes(pairs)
        found = tuple(form for form in forms(pairs, blanks) if form.information < RANDOM)
        by_form = {(form.column, one.column) for form in found for one in form.blanks}
        skips = tuple(one for one in blanks if (one.by, one.column) not in by_form)
        decided = tuple(one for one in _decided(pairs, found) if _adds_up(schema, one))
        mixed = {form.column: mixed_with_blanks(pairs, form) for form in found}
        missing = tuple(_missing(pairs, schema, found))
        return cls(Path(pilot).name, schema, codes, decided, found, missing, skips, mixed)

    @property
    def why_none(self) -> str:
        """Say that the pilot is too small to propose anything; nothing if it is not."""
        if self.pilot.rows >= LEAST_ROWS:
            return ""
        return (
            f"The pilot has {self.pilot.rows:,} rows, and so few support no proposal: what looks like a rule in them "
            f"may be chance. Give a pilot of {LEAST_ROWS} rows or more; else every column is released and paid for by "
            "itself."
        )

    def text(self, pilot: str, schema: str, table: str = "") -> str:
        """Write them for the holder, nothing confirmed; `table` is the private one, if it is known."""
        private = f"table = {json.dumps(table)}\n" if table else ""
        places = {"pilot": json.dumps(pilot), "schema": json.dumps(schema), "table": private}
        head = HEAD.format(smoothing=SMOOTHING, **places)
        none = f"\n# {self.why_none}\n" if self.why_none else ""
        return head + none + "".join([*self._entries(), *self._comments()])

    def _comments(self) -> Iterator[str]:
        if self.skips:
            yield SKIPS
        for one in self.skips:
            yield f"# - {' '.join(one.words(self.schema).split())}\n"

    def _entries(self) -> Iterator[str]:
        if len(self.forms) > 1:
            yield SEVERAL
        for form in self.forms:
            public = (
                "public = true, if everybody may know who had which form: then only answers are protected"
            )
            yield _entry(
                "form", f"{form.words(self.schema)}; {public}", {"column": form.column, "public": False}
            )
        for one in self.decided:
            yield _entry("decided", one.words(self.schema), {"column": one.column, "by": one.by})
        for each in self.missing:
            yield _entry("missing", each.words(self.schema), {"column": each.column})

    def confirmed(self, fields: Mapping[str, Any]) -> Survey:
        """Take what the holder confirmed; what the pilot does not show is refused."""
        form, public = self._form(_confirmed(fields, "form", ("column", "public")))
        known = {(one.column, one.by): one for one in self.decided}
        wanted = [(entry["column"], entry["by"]) for entry in _confirmed(fields, "decided", ("column", "by"))]
        for column, by in wanted:
            if (column, by) not in known:
                raise BadInput(f"In the pilot {column!r} is not decided by {by!r}. Propose again.")
        smoothing = float(positive_fraction(fields.get("smoothing", SMOOTHING), "Smoothing"))
        if form is not None:
            self._refuse_mixed(form, wanted if public else [])
        decided = tuple(known[pair] for pair in wanted)
        return Survey(
            self.pilot, self.name, decided, form, smoothing, public, self._says_nothing(fields), self._dropped
        )

    def _form(self, given: Sequence[Document]) -> tuple[Form | None, bool]:
        """Take the confirmed form that decides who is asked most questions; others stay questions like any other."""
        known = {one.column: one for one in self.forms}
        for entry in given:
            if entry["column"] not in known:
                raise BadInput(
                    f"{entry['column']!r} decides the blanks of no questions in the pilot. Propose again."
                )
        if not given:
            return None, False
        most = max(given, key=lambda entry: len(known[entry["column"]].blanks))
        return known[most["column"]], most["public"] is True

    def _refuse_mixed(self, form: Form, allowed: Sequence[tuple[str, str]]) -> None:
        """Refuse columns that tell of an answer and of the form at once; no bound for forms covers them."""
        for one in self.mixed.get(form.column, ()):
            if (one.column, one.by) not in allowed:
                raise BadInput(
                    f"{one.column!r} is the same for some who answered {one.by!r} and for those whose form does not "
                    "ask it, so that it tells of the answer and of the form at once. Take it out of the schema, give "
                    "those who were not asked an answer of their own there, or say public = true of the form and "
                    f"confirm that {one.by!r} decides it."
                )

    def _says_nothing(self, fields: Mapping[str, Any]) -> tuple[str, ...]:
        """Take the columns of which the holder confirmed that missing says nothing."""
        known = {one.column for one in self.missing}
        wanted = [entry["column"] for entry in _confirmed(fields, "missing", ("column",))]
        for column in wanted:
            if column not in known:
                raise BadInput(
                    f"That {column!r} is missing is not among the proposals: the schema counts it, or it was not "
                    "asked there. Propose again."
                )
        return tuple(dict.fromkeys(wanted))

    @property
    def _dropped(self) -> tuple[str, ...]:
        return tuple(name for name in self.pilot.names if self.schema.coded(name).missing != "value")


def read_confirmed(path: Path) -> tuple[Schema, Survey]:
    """Read what the holder confirmed, and the pilot and schema that it is about."""
    fields = _fields(path)
    schema = read_schema(schema_named(path))
    return schema, Proposals.of(path.parent / fields["pilot"], schema).confirmed(fields)


def table_named(path: Path) -> str | None:
    """Find the private table that proposals are for, if they name one, as it is seen from where the command runs."""
    named = _fields(path).get("table")
    if named is None or (isinstance(named, str) and "://" in named):
        return named
    if not isinstance(named, str):
        raise BadInput(f"{path}: table = {named!r:.60}. Give a path or a URL in quotes.")
    return str(path.parent / named)


def schema_named(path: Path) -> Path:
    """Find the schema that proposals are about."""
    return path.parent / str(_fields(path)["schema"])


def _fields(path: Path) -> Document:
    try:
        fields: Document = toml_document(text_of(read_bytes(path, LARGEST_FILE)))
    except BadModel as failed:
        raise BadInput(
            f"{path}: it is no TOML file: {failed}. Write it with `entwined survey propose`."
        ) from None
    unknown = sorted(fields.keys() - KEYS)
    if unknown or not all(isinstance(fields.get(key), str) for key in ("pilot", "schema")):
        wrong = f"the key {unknown[0]!r} is not known" if unknown else "pilot or schema is missing"
        raise BadInput(f"{path}: {wrong}. Write it with `entwined survey propose`.")
    return fields


def _decided(pairs: PairCounts, found: tuple[Form, ...]) -> tuple[Decided, ...]:
    return decided_columns(pairs, tuple(form.column for form in found[:1]), filled=True)


def _adds_up(schema: Schema, one: Decided) -> bool:
    """Whether everybody whom the one histogram counts is counted in the other."""
    by, column = schema.coded(one.by), schema.coded(one.column)
    if by.missing == "value":
        return True
    unseen = one.answers[by.missing_code]
    return unseen < 0 or (unseen == column.missing_code and column.missing != "value")


def _missing(pairs: PairCounts, schema: Schema, found: tuple[Form, ...]) -> Iterator[MissingShown]:
    """List the columns whose missing answers are counted nowhere, but forms and what they leave blank."""
    away = {form.column for form in found}
    blanks = ((blank.column, blank.code) for form in found for blank in form.blanks)
    away |= {name for name, code in blanks if code == schema.coded(name).missing_code}
    for name in pairs.codes.names:
        if schema.coded(name).missing != "value" and name not in away:
            yield missing_values(pairs, name)


def _entry(kind: str, words: str, fields: Mapping[str, str | bool]) -> str:
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    plain = " ".join(words.split())
    return "\n".join(["", f"# {plain}", f"[[{kind}]]", *lines, "confirmed = false", ""])


def _confirmed(fields: Mapping[str, Any], kind: str, keys: tuple[str, ...]) -> list[Document]:
    given = fields.get(kind, [])
    if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given):
        raise BadInput(f"{kind} is no list of tables. Start each with [[{kind}]].")
    kinds: dict[str, type] = {**dict.fromkeys(keys, str), "confirmed": bool}
    kinds |= {"public": bool} if "public" in keys else {}
    for entry in given:
        if {key: type(value) for key, value in entry.items()} != kinds:
            raise BadInput(
                f"A [[{kind}]] has {', '.join(keys)} and confirmed = true or false, and nothing else."
            )
    return [entry for entry in given if entry["confirmed"]]
