"""Read a request from release.toml, strictly: every key is known, and every refusal says where."""

import difflib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeVar

from entwined.canonical import Document
from entwined.dependence import Dependence, model_from, read_model
from entwined.dependence.contents import read_bytes, text_of
from entwined.dependence.syntax import LONG_KEY
from entwined.errors import BadInput, BadModel, BadQuery, EntwinedError
from entwined.estimate.compared import COMPARED_BY, WantedComparison
from entwined.ledger.calendar import Calendar
from entwined.mechanisms.kinds import OFFERED
from entwined.numbers import positive_fraction
from entwined.promise.declared import Declared
from entwined.promise.reserve import Reserve
from entwined.queries import parse, query_from
from entwined.queries.documents import KINDS, SHAPES
from entwined.queries.sql import read_sql
from entwined.request.request import MOST_QUERIES, Question, Request
from entwined.request.secrets_file import ReadSecrets, read_secrets
from entwined.request.tasks import Task
from entwined.request.veiled_task import VeiledTask
from entwined.request.words import in_words, table_name
from entwined.schema import Schema, read_schema
from entwined.schema.raw import is_text, is_whole

LARGEST_FILE: Final = 1_000_000
TOP: Final = (
    "title", "table", "schema", "ledger", "cap", "calendar", "leakage", "loss", "knowledge", "delta", "consistent",
    "impossible", "expected_rows", "dependence", "query", "mechanism", "secret", "individuals", "reserve", "noise",
    "comparison",
)  # fmt: skip
ABOUT_MODEL: Final = (
    "name", "model", "by", "order", "columns", "missing_says_nothing", "worked_out", "trusting", "panel",
    "never_missing", "within",
)  # fmt: skip
ABOUT_COMPARISON: Final = ("name", "kind", "one", "other")
ABOUT_QUERY: Final = ("name", "kind", "sql", "where", "within", "share", *SHAPES)
ABOUT_ANY: Final = ("kind", "name", "within", "share")
ABOUT_TASK: Final = ("kind", "name", "leakage", "loss")
SEEDS: Final = frozenset(
    {"seed", "seeds", "random_state", "random_seed", "randomstate", "rng", "rng_seed", "noise_seed", "prng"}
)
Made = TypeVar("Made", bound=Task)
ANY_TABLE: Final = "t"
ANY_CAP: Final = Fraction(1)  # of a ledger that prices no rows


def read_request(path: str | Path, text: str | None = None) -> Request:
    """Read a request, or its `text`, and all it names but the table and the ledger; every failure names the place."""
    given = Path(path)
    with placed(str(given)):
        request, fields = _terms_and_fields(given, text, priced=True)
        if request.secrets is not None:
            return replace(request, tasks=(_veiled(fields, request.schema),))
        questions, tasks = _questions(fields, request.schema), tuple(_tasks(fields, Task))
        if not questions and not tasks:
            raise BadQuery(
                f"A release of 0 queries. Add a [[query]] or a [[mechanism]], 1 to {MOST_QUERIES:,}."
            )
        return replace(
            request,
            questions=questions,
            leakage=_amount(fields, "leakage"),
            loss=_amount(fields, "loss"),
            tasks=tasks,
            comparisons=tuple(_comparisons(fields)),
        )


def read_terms(path: str | Path) -> Request:
    """Read table, schema, models and ledger of a request, for something else to be asked; its queries are not read."""
    with placed(str(path)):
        return _terms_and_fields(Path(path))[0]


def read_with_task(path: str | Path, make: Callable[[Sequence[Task]], Task]) -> Request:
    """Read the terms of a request for the one task that is made of its mechanisms; its queries are not read."""
    with placed(str(path)):
        request, fields = _terms_and_fields(Path(path))
        return replace(request, tasks=(make(list(_tasks(fields, Task))),))


def _terms_and_fields(
    path: Path, text: str | None = None, *, priced: bool = False
) -> tuple[Request, Document]:
    """Read everything but what is asked, and give the fields that say that; `priced` if its own queries are."""
    fields, folder = _document(path, text), path.parent
    _known(fields, TOP, "A release")
    schema = read_schema(folder / _text(fields, "schema"))
    schema.require_approval()
    secrets = read_secrets(_entries(fields, "secret"), schema, fields.get("individuals"), _known, folder)
    if secrets is not None:
        if priced:
            _require_one_purpose(fields, secrets.kept.individuals)
        return _keeping(fields, schema, folder, secrets), fields
    request = Request(
        table=_text(fields, "table"),
        schema=schema,
        ledger=_text(fields, "ledger"),
        questions=(),
        cap=_amount(fields, "cap"),
        calendar=_calendar(fields),
        dependence=tuple(_models(fields, folder)),
        knowledge=_one_of(fields, "knowledge", ("any", "model"), "any"),
        delta=_amount(fields, "delta"),
        consistent=_one_of(fields, "consistent", (True, False), True),  # noqa: FBT003  (values of a key)
        impossible=tuple(parse(text, schema) for text in _names(fields, "impossible", "conditions")),
        title=_text(fields, "title", ""),
        rows=_rows(fields),
        folder=folder,
        noise=_one_of(fields, "noise", ("", "laplace", "gaussian"), ""),
        reserve=Reserve.of(fields["reserve"]) if "reserve" in fields else None,
    )
    return request, fields


def _require_one_purpose(fields: Mapping[str, Any], individuals: bool) -> None:  # noqa: FBT001
    """Refuse secrets beside which it is not said whether, or for how much, rows are protected."""
    if individuals == (_amount(fields, "leakage") is _amount(fields, "loss") is None):
        raise BadInput(
            'A release that keeps secrets protects no row by itself. Say individuals = "not protected", or give '
            "a leakage "
            "and a delta for rows, and not both."
        )


def _keeping(fields: Mapping[str, Any], schema: Schema, folder: Path, secrets: ReadSecrets) -> Request:
    """Read the terms of a release that keeps secrets: its questions leave together."""
    others = {"consistent", "impossible", "calendar", "reserve", "noise", "comparison"}
    unused = sorted(fields.keys() & others)
    if unused:
        raise BadInput(f"A release that keeps secrets has no {unused[0]}. Leave it out.")
    return Request(
        table=_text(fields, "table"),
        schema=schema,
        ledger=_text(fields, "ledger"),
        questions=(),
        cap=_amount(fields, "cap") or (None if secrets.kept.individuals else ANY_CAP),
        dependence=tuple(_models(fields, folder)),
        knowledge=_one_of(fields, "knowledge", ("any", "model"), "any"),
        delta=_amount(fields, "delta"),
        title=_text(fields, "title", ""),
        folder=folder,
        secrets=secrets.kept,
        warnings=secrets.warnings,
    )


def _veiled(fields: Mapping[str, Any], schema: Schema) -> VeiledTask:
    """Make one task of all questions, or take the one mechanism that keeps secrets by itself."""
    tasks, questions = list(_tasks(fields, VeiledTask)), _questions(fields, schema)
    if tasks and (questions or len(tasks) > 1):
        raise BadInput(
            "A secret is kept for what leaves together, and that is proved for questions, or for one mechanism alone. "
            "Ask for one of the two."
        )
    if not tasks and not questions:
        raise BadQuery("A release of 0 queries. Add a [[query]], or one mechanism that keeps secrets.")
    asked = {question.name: question.query.by_public_rows(schema) for question in questions}
    if len(asked) < len(questions):
        raise BadQuery("Two queries have one name. Give each a name of its own.")
    return tasks[0] if tasks else VeiledTask.of(asked, _amount(fields, "leakage"), _amount(fields, "loss"))


@contextmanager
def placed(where: str) -> Iterator[None]:
    """Say in whatever is refused inside where that stands."""
    try:
        yield
    except EntwinedError as wrong:
        raise type(wrong)(f"{where}: {wrong}") from None


def _document(path: Path, given: str | None) -> Document:
    try:
        text = text_of(read_bytes(path, LARGEST_FILE)) if given is None else given
    except BadModel as wrong:
        raise BadInput(str(wrong)) from None
    if LONG_KEY.search(text):
        raise BadInput("A key has more than six parts joined by dots. A release needs no more than two.")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise BadInput("Its lists or tables are nested too deeply. A release needs few levels.") from None
    except ValueError as wrong:  # TOML that is none, or a number of thousands of digits
        raise BadInput(f"It is not TOML: {str(wrong)[:200]}. Mend it there.") from None


def _known(fields: Mapping[str, Any], known: Iterable[str], what: str) -> None:
    """Refuse a key that is not known, with the nearest one that is."""
    names = list(known)
    for key in fields:
        if key.lower().replace("-", "_") in SEEDS:
            raise BadInput(
                f"{what} has the key {key!r:.60}. Noise that can be drawn again protects nobody: there are no "
                "seeds here. Leave it out."
            )
        if key not in names:
            near = difflib.get_close_matches(key[:60], names, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It may have {', '.join(names)}."
            raise BadInput(f"{what} has the key {key!r:.60}, which is unknown. {hint}")


def _text(fields: Mapping[str, Any], key: str, usual: str | None = None) -> str:
    given = fields.get(key, usual)
    if given is None:
        raise BadInput(f"There is no {key}. Give it, as `entwined init` writes it.")
    if not is_text(given) or "\0" in given or (not given and usual is None):
        raise BadInput(f"{key} = {given!r:.60}. Give a text.")
    return str(given)


def _amount(fields: Mapping[str, Any], key: str) -> Fraction | None:
    given = fields.get(key)
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise BadInput(f"{key} = {given!r:.60}. Give a number such as 1.0.")
    return positive_fraction(given, key)


def _calendar(fields: Mapping[str, Any]) -> Calendar | None:
    given = fields.get("calendar")
    if given is None:
        return None
    if not isinstance(given, dict):
        raise BadInput(
            f"calendar = {given!r:.60}. Give what may leak in each period, such as {{year = 2.0}}."
        )
    return Calendar.of({period: _amount(given, period) or 0 for period in given})


def _one_of(fields: Mapping[str, Any], key: str, known: tuple[Any, ...], usual: Any) -> Any:
    given = fields.get(key, usual)
    for one in known:
        if type(given) is type(one) and given == one:
            return one
    shown = " or ".join(str(one).lower() if isinstance(one, bool) else f'"{one}"' for one in known)
    raise BadInput(f"{key} = {given!r:.60}. Give {shown}.")


def _rows(fields: Mapping[str, Any]) -> int | None:
    given = fields.get("expected_rows")
    if given is not None and (not is_whole(given) or not 1 <= given < 2**53):
        raise BadInput(f"expected_rows = {given!r:.60}. Give about how many rows there are, from 1.")
    return given


def _entries(fields: Mapping[str, Any], key: str) -> list[Document]:
    given = fields.get(key, [])
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise BadInput(f"{key} is not a list of tables. Start each one with [[{key}]].")
    if len(given) > MOST_QUERIES:
        raise BadInput(f"There are {len(given):,} [[{key}]]. Give at most {MOST_QUERIES:,}.")
    return given


def _models(fields: Mapping[str, Any], folder: Path) -> Iterator[Declared]:
    for number, given in enumerate(_entries(fields, "dependence"), start=1):
        with placed(f"[[dependence]] {number}"):
            _known(given, ABOUT_MODEL, "A dependence")
            yield Declared(
                _model(given.get("model"), folder),
                by=_text(given, "by", "") or None,
                order=_text(given, "order", "") or None,
                columns=_names(given, "columns"),
                name=_text(given, "name", ""),
                missing_says_nothing=_names(given, "missing_says_nothing"),
                worked_out=_pairs(given, "worked_out"),
                trusting=_names(given, "trusting", "distributions' names"),
                panel=given.get("panel", False),
                never_missing=_names(given, "never_missing"),
                within=_amount(given, "within"),
            )


def _comparisons(fields: Mapping[str, Any]) -> Iterator[WantedComparison]:
    for number, given in enumerate(_entries(fields, "comparison"), start=1):
        with placed(f"[[comparison]] {number}"):
            _known(given, ABOUT_COMPARISON, "A comparison")
            one, other = (_named(given, key) for key in ("one", "other"))
            kind = _one_of(given, "kind", COMPARED_BY, COMPARED_BY[0])
            yield WantedComparison(_text(given, "name", f"{kind} {number}"), kind, one, other)


def _named(fields: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Read the name of a query, or the name and the labels of a cell."""
    given = fields.get(key)
    found = [given] if isinstance(given, str) else given
    if (
        not isinstance(found, list)
        or not found
        or not all(isinstance(one, str | int | float) for one in found)
    ):
        raise BadInput(
            f'{key} = {given!r:.60}. Give the name of a query, or of a table and a cell in it: ["by sex", "f"].'
        )
    return tuple(found)


def _names(fields: Mapping[str, Any], key: str, what: str = "columns' names") -> tuple[str, ...]:
    given = fields.get(key, [])
    if not isinstance(given, list) or not all(map(is_text, given)):
        raise BadInput(f"{key} = {given!r:.60}. Give a list of {what}.")
    return tuple(given)


def _pairs(fields: Mapping[str, Any], key: str) -> dict[str, str]:
    given = fields.get(key, {})
    if not isinstance(given, dict) or not all(map(is_text, given.values())):
        raise BadInput(f'{key} = {given!r:.60}. Give pairs of columns, such as {{short = "long"}}.')
    return given


def _model(given: object, folder: Path) -> Dependence:
    match given:
        case str() if given and "\0" not in given:
            return read_model(folder / given)
        case dict():
            return model_from(given, folder)
    raise BadInput('There is no model. Give model = {kind = "groups", largest = 4}, or the name of its file.')


def _questions(fields: Mapping[str, Any], schema: Schema) -> tuple[Question, ...]:
    return questions_from(fields, schema, table_name(_text(fields, "table")))


def questions_from(fields: Mapping[str, Any], schema: Schema, table: str) -> tuple[Question, ...]:
    """Read the questions of a document: every `query` in it, by its fields or in SQL."""
    found: list[Question] = []
    for number, given in enumerate(_entries(fields, "query"), start=1):
        called = given.get("name")
        with placed(f"[[query]] {number}" + (f" ({called[:60]!r})" if isinstance(called, str) else "")):
            _known(given, ABOUT_QUERY, "A query")
            share = _amount(given, "share")
            found += [replace(one, share=share) for one in _asked(given, schema, table)]
    return tuple(found)


def _tasks(fields: Mapping[str, Any], made: type[Made]) -> Iterator[Made]:
    for number, given in enumerate(_entries(fields, "mechanism"), start=1):
        with placed(f"[[mechanism]] {number}"):
            kind = OFFERED.get(_text(given, "kind"))
            if kind is None:
                near = difflib.get_close_matches(str(given["kind"])[:60], list(OFFERED), n=1)
                raise BadQuery(
                    f"kind = {given['kind']!r:.60}. Ask for {near[0] if near else ', '.join(OFFERED)}."
                )
            _known(given, (*ABOUT_TASK, *kind.fields), f"A mechanism of kind {kind.kind}")
            about = {key: value for key, value in given.items() if key not in ABOUT_TASK}
            name = _text(given, "name", kind.kind)
            yield made(name, kind, about, _amount(given, "leakage"), _amount(given, "loss"))


def _asked(given: Mapping[str, Any], schema: Schema, table: str) -> list[Question]:
    within, name = _amount(given, "within"), _text(given, "name", "")
    if ("sql" in given) == ("kind" in given):
        raise BadQuery("A query needs either a kind or sql. Give one of them.")
    if "sql" in given:
        extra = sorted(given.keys() - {"sql", "name", "within", "share"})
        if extra:
            raise BadQuery(f"A query in SQL has the key {extra[0]!r}. Say it in the SQL.")
        return sql_questions(_text(given, "sql"), schema, table, name, within)
    kind = given["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        near = difflib.get_close_matches(str(kind)[:60], list(KINDS), n=1)
        raise BadQuery(f"kind = {kind!r:.60}. Ask for {near[0] if near else ', '.join(KINDS)}.")
    about = {key: value for key, value in given.items() if key not in ABOUT_ANY}
    if "where" in about:
        _text(about, "where")
    query = query_from({"query": kind, **about}, schema)
    words = in_words(query, given.get("where", ""), given.get("of", "") if "of" in query.conditions else "")
    return [Question(name or words, query, words, within, chosen=bool(name))]


def sql_questions(
    text: str, schema: Schema, table: str, name: str = "", within: Fraction | None = None
) -> list[Question]:
    """Make questions of a SELECT; its FROM has to name the table, or say `t`."""
    found = read_sql(text, schema)
    if found.table.lower() not in {table.lower(), ANY_TABLE}:
        raise BadQuery(
            f"FROM {found.table!r:.60}: the table is {table!r}. Name it, or write FROM {ANY_TABLE}."
        )
    names = found.names
    if name:
        names = (name,) if len(names) == 1 else tuple(f"{name}: {column}" for column in names)
    return [
        Question(called, query, text, within, chosen=bool(name))
        for called, query in zip(names, found.queries, strict=True)
    ]
