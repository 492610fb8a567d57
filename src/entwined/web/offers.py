"""A table that analysts may ask: the terms of a request file, and its door, open as long as the service runs."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from entwined.canonical import Document, canonical, sha256
from entwined.door.question import question_of
from entwined.door.witnessed import witness_of
from entwined.errors import BadQuery, Refused
from entwined.forecast.draft import Draft
from entwined.forecast.forecast import forecasts
from entwined.ledger.history import charge_documents
from entwined.ledger.slices import Earmarks
from entwined.mechanisms.batch import Batch
from entwined.numbers import float_above, positive_fraction
from entwined.promise.price import Price
from entwined.queries.documents import KINDS, as_written
from entwined.report.answer_records import labelled_document
from entwined.request.desk import Desk
from entwined.request.funds import PLANNING_ONLY, amounts, ledger_for
from entwined.request.request import Question, Request
from entwined.request.request_file import questions_from, read_terms, sql_questions
from entwined.request.verbs import release_batch
from entwined.request.words import in_words, table_name
from entwined.tables import open_table
from entwined.tables.table import Table
from entwined.web.records import Records

REMEMBERED: Final = 256
MOST_QUESTIONS: Final = 100
UNVERSIONED: Final = (
    "{name}: the table's address names no version, so every process and restart would charge the same question again. "
    "Add one, such as &version=2026-03, and change it with the rows."
)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What an analyst asks for: a plan of it is worked out once."""

    request: Request
    batch: Batch
    question: str
    """The name of the question and of how its answer is to look: equal ones have equal replies."""
    fingerprint: str


class Offer:
    """One table, its terms, and the one door to it; several threads may ask at once."""

    def __init__(self, name: str, terms: Request, door: Desk) -> None:
        self.name = name
        self.terms = terms
        self.door = door
        self._wanted: Callable[[str], Inquiry] = lru_cache(maxsize=REMEMBERED)(self._worked_out)

    @classmethod
    def open(cls, path: Path, earmarks: Earmarks) -> "Offer":
        """Open the table and the ledger of a request file, whose questions do not matter here."""
        terms = read_terms(path)
        if terms.is_exploratory:
            raise Refused(PLANNING_ONLY)
        table = open_table(terms.source, terms.schema, resident=True)
        try:
            _refuse_unversioned(table, path)
            ledger = ledger_for(terms, terms.promise, Price(Fraction(0)), witness_of(table))
            ledger.earmarks = earmarks
            return cls(path.stem, terms, Desk(table, terms.promise, ledger))
        except BaseException:
            table.close()
            raise

    @property
    def document(self) -> Document:
        """All that is public about it; no row and no ledger is read for it."""
        promise = self.terms.promise
        return {
            "table": self.name,
            "title": self.terms.title,
            **promise.document,
            "identity": promise.identity,
        }

    def budget(self, analyst: str, most: Fraction | None) -> Document:
        """What everybody has spent, and this analyst of what is earmarked."""
        purse = self.door.budget
        own = self.door.ledger.own_price(analyst)
        slice_left = purse.left if most is None else max(float(most - own.worst), 0.0)
        return {
            "cap": float(purse.cap),
            "spent": amounts(purse.spent),
            "left": purse.left,
            "calendar": [one.document for one in purse.periods],
            "own": {
                "most": None if most is None else float(most),
                "spent": amounts(own),
                "left": min(slice_left, purse.left),
            },
        }

    def wanted(self, asked: Mapping[str, Any]) -> Inquiry:
        """Work out what was asked for: noise, charges and price; no row is read."""
        try:
            text = canonical(dict(asked))
        except ValueError:
            raise BadQuery(
                "A number of the question is none, or infinite. Give one that is finite."
            ) from None
        return self._wanted(text)

    def _worked_out(self, text: str) -> Inquiry:
        asked = json.loads(text)
        leakage, loss = _amount(asked, "leakage"), _amount(asked, "loss")
        try:
            questions = self._questions(asked)
        except RecursionError:
            raise BadQuery("The question is nested too deeply. Ask for something plainer.") from None
        terms = replace(self.terms, consistent=asked["consistent"])
        request = terms.asking(questions, leakage, loss)
        batch = request.plan()
        fingerprint = question_of(self.door.table, self.door.promise, batch.document)
        named = [[one.name, one.query.fingerprint] for one in request.questions]
        look = canonical([asked["consistent"], named])
        return Inquiry(request, batch, sha256(fingerprint, look), fingerprint)

    def _questions(self, asked: Document) -> tuple[Question, ...]:
        schema, table = self.terms.schema, table_name(self.terms.table)
        queries = asked["queries"]
        if bool(queries) == bool(asked["sql"]):
            raise BadQuery("Ask either `queries` or `sql`. Give one of them.")
        if len(queries) > MOST_QUESTIONS:
            raise BadQuery(f"{len(queries)} queries at once. Ask at most {MOST_QUESTIONS}.")
        if asked["sql"]:
            return tuple(sql_questions(asked["sql"], schema, table))
        found: list[Question] = []
        for one in queries:
            found += [_written(one)] if "query" in one else questions_from({"query": [one]}, schema, table)
        return tuple(found)

    def plan(self, asked: Mapping[str, Any], analyst: str, most: Fraction | None) -> Document:
        """Say what an answer would cost and how exact it would be; nothing is read or charged."""
        wanted = self.wanted(asked)
        ledger, batch = self.door.ledger, wanted.batch
        stored = ledger.stored(wanted.fingerprint) is not None
        unanswered = ledger.book.unanswered(wanted.fingerprint)
        is_charged = not stored and (unanswered is None or unanswered.is_charged_again)
        charged = batch.charged if is_charged else ()
        after, own = ledger.price(charged), ledger.own_price(analyst, charged)
        over = not stored and (not after.worst <= ledger.cap or (most is not None and not own.worst <= most))
        expected = forecasts(Draft.of(batch), wanted.request.assumed)
        by_text = {query.fingerprint: one for query, one in zip(batch.queries, expected, strict=True)}
        return {
            "batch": batch.document,
            "price": amounts(batch.price),
            "answered_before": stored,
            "unanswered": None if unanswered is None else unanswered.words,
            "would_be_refused": over,
            "after": {"everybody": amounts(after), "own": amounts(own)},
            "answers": [
                {"name": one.name, "asks": one.text, **by_text[one.query.fingerprint].document}
                for one in wanted.request.questions
            ],
        }

    def stored(self, wanted: Inquiry, records: Records) -> tuple[bool, bytes | None]:
        """Say whether the ledger holds the answer, so that nothing new is charged or read, and give its reply."""
        if self.door.ledger.stored(wanted.fingerprint) is None:
            return False, None
        return True, records.reply(wanted.question)

    def answer(self, wanted: Inquiry, analyst: str, request: str | None) -> bytes:
        """Let what is wanted through the door and write the reply."""
        release = release_batch(
            self.door,
            wanted.batch,
            wanted.request.queries,
            request=f"{analyst}/{request or uuid4().hex}",
            analyst=analyst,
            consistent=wanted.request.consistent,
            impossible=wanted.request.impossible,
            names=tuple(one.name for one in wanted.request.questions),
            expected_rows=wanted.request.rows,
        )
        names = [question.name for question in wanted.request.questions]
        price = float_above(Fraction(wanted.batch.price.worst))
        reply = {"price": price, **labelled_document(release, names, self.terms.schema)}
        return canonical(reply).encode()

    def history(self, analyst: str) -> list[Document]:
        """What this analyst was charged for."""
        return [
            {**one, "request": one["request"].partition("/")[2] or one["request"]}
            for one in charge_documents(self.door.ledger.book)
            if one["analyst"] == analyst
        ]

    def close(self) -> None:
        """Close the door."""
        self.door.close()


def _refuse_unversioned(table: Table, path: Path) -> None:
    """Refuse rows of which nobody can tell that they are the same again: every process would draw its own answers."""
    if not table.has_version:
        raise Refused(UNVERSIONED.format(name=path.name))


def _amount(asked: Document, key: str) -> Fraction | None:
    return None if asked[key] is None else positive_fraction(asked[key], key.capitalize())


def _written(given: Document) -> Question:
    """Read a query as Python writes it, with the name that it was given."""
    name, kind = given.get("name", ""), given["query"]
    if not isinstance(name, str) or not isinstance(kind, str) or kind not in KINDS:
        raise BadQuery(f"A query is one of {', '.join(KINDS)}, and its name is a text.")
    query = as_written({key: value for key, value in given.items() if key != "name"})
    words = in_words(query, "", "")
    return Question(name or words, query, words, chosen=bool(name))
