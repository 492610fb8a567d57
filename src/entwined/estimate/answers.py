"""A release: values, intervals, adjusted counts, warnings and the certificate, and the same as JSON and back."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from typing import Any, Final, Self, TypeAlias

from entwined.canonical import Document, canonical, sha256
from entwined.errors import BadInput, BadQuery
from entwined.estimate.cut import cut
from entwined.estimate.quality import UNKNOWN, Level, Quality
from entwined.estimate.spans import CONFIDENCE, Around, Between, Ranks, Span
from entwined.noise import Law, law_from
from entwined.queries import Answer, Query
from entwined.schema import Schema
from entwined.schema.exact import exact_number, number_text
from entwined.showing import Tabled, drawn_by

FORMAT: Final = "entwined release 3"
MOST_NAMED: Final = 20
AS_DRAWN: Final = "As drawn: counts may be negative, and tables need not add up to each other."

Interval: TypeAlias = tuple[Answer, Answer]


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Whole numbers that add up, beside unbiased values: counts are not negative, wholes are sums of their parts.

    Adjusting is biased where many counts are near zero. `caveat` says for which sizes the mean squared error is above
    that of the draws, and by how much numbers are off there.
    """

    value: Answer
    span: Between
    caveat: str = ""

    @property
    def interval(self) -> Interval:
        """The ends of the 95 % interval of the truth, cell by cell."""
        return self.span.low, self.span.high

    @property
    def document(self) -> Document:
        """The adjusted numbers as JSON."""
        document = {"value": written(self.value), "interval": _span_document(self.span)}
        return document | ({"caveat": self.caveat} if self.caveat else {})

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read adjusted numbers as they were written."""
        span = _span_from(document["interval"])
        if not isinstance(span, Between):
            raise TypeError(document["interval"])
        return cls(read(document["value"]), span, document.get("caveat", ""))


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A declaration that released numbers contradict: what is wrong and what to do.

    `asked` are the canonical texts of the queries whose numbers show it, `subject` is the column or condition that was
    declared, if it is one.
    """

    kind: str
    problem: str
    advice: str
    asked: tuple[str, ...] = ()
    subject: str = ""

    @property
    def text(self) -> str:
        """The warning in one line."""
        return f"{self.problem} {self.advice}"

    @property
    def document(self) -> Document:
        """The warning as JSON."""
        return {
            "kind": self.kind,
            "subject": self.subject,
            "problem": self.problem,
            "advice": self.advice,
            "queries": [json.loads(query) for query in self.asked],
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read a warning as it was written."""
        queries = tuple(map(_canonical_query, document["queries"]))
        return cls(document["kind"], document["problem"], document["advice"], queries, document["subject"])


@dataclass(frozen=True, slots=True, repr=False)
class Answered(Tabled):
    """The answer to one query: an unbiased value, its interval, and the integers and noise that it is made of.

    `adjusted` has whole numbers that add up, for counts and totals that were reconciled. `quality` says of each number
    whether it can be published. Taken out of its release by name, an answer has that name and the schema, and its
    numbers can be found by their labels.
    """

    asked: str
    value: Answer
    span: Span
    numbers: tuple[tuple[int, ...], ...]
    noise: tuple[Law, ...]
    quality: Quality = UNKNOWN
    adjusted: Adjustment | None = None
    name: str = field(default="", compare=False)
    schema: Schema | None = field(default=None, compare=False)

    def cell(self, *labels: object) -> Any:
        """Find one number by the labels, or the values, of its cell: with its `value`, `low` and `high`."""
        cells = drawn_by().to_cells(self)
        for one in cells:
            if labels in (one.names, one.keys):
                return one
        known = ", ".join(one.name for one in cells[:MOST_NAMED])
        raise BadQuery(
            f"No number is labelled {', '.join(map(str, labels))!r:.100}. There are: {known or 'no labels'}"
            f"{', …' if len(cells) > MOST_NAMED else ''}."
        )

    def __getitem__(self, label: object) -> Any:
        """Find a released number by its label, in a table of two sides by both."""
        return self.cell(*(label if isinstance(label, tuple) else (label,))).value

    @property
    def levels(self) -> list[Level]:
        """The class of every number: publish, with care, not, or unknown."""
        return self.quality.levels(len(self.value) if isinstance(self.value, tuple) else 1)

    @property
    def interval(self) -> Interval | None:
        """The least and the greatest that the truth may be, cell by cell; None for a choice."""
        match self.span:
            case Between(low=low, high=high):
                return low, high
            case Around(half_width=reach, public=public):
                ends = _shifted(self.value, -reach), _shifted(self.value, reach)
                return ends if public is None else (cut(ends[0], public), cut(ends[1], public))
        return None

    @property
    def document(self) -> Document:
        """The answer as JSON."""
        adjusted = {} if self.adjusted is None else {"adjusted": self.adjusted.document}
        single = not isinstance(self.value, tuple)
        return {
            "query": json.loads(self.asked),
            "value": written(self.value),
            "interval": _span_document(self.span),
            **adjusted,
            "numbers": [list(found) for found in self.numbers],
            "noise": [law.document for law in self.noise],
        } | self.quality.document(len(self.levels), single=single)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read an answer as it was written."""
        adjusted = document.get("adjusted")
        return cls(
            _canonical_query(document["query"]),
            read(document["value"]),
            _span_from(document["interval"]),
            tuple(map(tuple, document["numbers"])),
            tuple(map(law_from, document["noise"])),
            Quality.from_document(document),
            None if adjusted is None else Adjustment.from_document(adjusted),
        )


@dataclass(frozen=True, slots=True, repr=False)
class Release(Tabled):
    """Everything that a batch of queries gave, in the order in which they were asked.

    `agreement` says in words whether counts and totals were reconciled, `warnings` which declarations the numbers
    contradict, and `post_processing` lists the choices by which all numbers follow from the draws. `names` are those
    that the questions were given, if any, and the `schema` names their cells; neither of these two is written.
    """

    answers: tuple[Answered, ...]
    certificate: Mapping[str, Any]
    agreement: str = AS_DRAWN
    warnings: tuple[Contradiction, ...] = ()
    post_processing: Mapping[str, Any] = field(default_factory=dict, compare=False)
    names: tuple[str, ...] = field(default=(), compare=False)
    schema: Schema | None = field(default=None, compare=False)

    def under(self, schema: Schema) -> "Release":
        """Say under which schema it was made, so that its cells have names."""
        return replace(self, schema=schema)

    def __getitem__(self, name: str) -> Answered:
        """Find an answer by its name."""
        if name not in self.names:
            raise BadQuery(
                f"No answer is called {name!r:.100}. There are: {', '.join(self.names) or 'no names'}."
            )
        return replace(self.answers[self.names.index(name)], name=name, schema=self.schema)

    @property
    def values(self) -> tuple[Answer, ...]:
        """The released values."""
        return tuple(answer.value for answer in self.answers)

    @property
    def intervals(self) -> tuple[Interval | None, ...]:
        """Where the truth lies with 95 % confidence, value by value and cell by cell."""
        return tuple(answer.interval for answer in self.answers)

    def ordered(self, queries: Iterable[Query]) -> "Release":
        """Give the answers in the order of these queries."""
        by_text = {answer.asked: answer for answer in self.answers}
        return replace(self, answers=tuple(by_text[query.fingerprint] for query in queries))

    def of(self, query: Query) -> Answered:
        """Find the answer to a query."""
        asked = query.fingerprint
        for answer in self.answers:
            if answer.asked == asked:
                return answer
        raise BadQuery(f"The release does not answer {query!s:.200}. Ask for what was asked.")

    @property
    def numbers(self) -> Document:
        """All that is published but the certificate, the same whatever order the queries were put in."""
        ordered = sorted({answer.asked: answer for answer in self.answers}.items())
        return {
            "format": FORMAT,
            "confidence": float(CONFIDENCE),
            "agreement": self.agreement,
            "warnings": [warning.document for warning in self.warnings],
            "post_processing": dict(self.post_processing),
            "answers": [answer.document for _, answer in ordered],
        }

    @property
    def digest(self) -> str:
        """What a certificate knows the published numbers by."""
        return sha256(canonical(self.numbers))

    def document(self) -> Document:
        """The release as JSON."""
        return self.numbers | {"certificate": dict(self.certificate)}

    @property
    def content(self) -> bytes:
        """The document as bytes: equal releases have equal bytes."""
        return canonical(self.document()).encode()

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Read a release as it was written."""
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise BadInput(f"This is no release: its format is not {FORMAT!r}. Give what entwined wrote.")
        try:
            answers = tuple(map(Answered.from_document, document["answers"]))
            warnings = tuple(map(Contradiction.from_document, document["warnings"]))
            how = document["post_processing"]
            return cls(answers, document["certificate"], str(document["agreement"]), warnings, how)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise BadInput("A part of the release is missing or is not what it should be.") from None


def _shifted(value: Answer, by: int | Fraction) -> Answer:
    if isinstance(value, tuple):
        return tuple(one + by for one in value)  # type: ignore[return-value]  # all of one kind
    return value + by  # type: ignore[operator]  # what is around a value is around a number


def _canonical_query(document: object) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def written(value: Answer) -> Any:
    """Write a value so that it is read back exactly: integers plain, fractions and times as marked text."""
    match value:
        case tuple():
            return [written(one) for one in value]
        case Fraction():
            return {"number": number_text(value)}
        case datetime():
            return {"moment": value.isoformat()}
    return value


def read(given: Any) -> Any:
    """Read a value as it was written."""
    match given:
        case list():
            return tuple(read(one) for one in given)
        case {"number": str(text)}:
            return exact_number(text)
        case {"moment": str(text)}:
            return datetime.fromisoformat(text)
    return given


def _span_document(span: Span) -> Document:
    match span:
        case Around(half_width=reach, public=public):
            ends = {} if public is None else {"least": written(public[0]), "most": written(public[1])}
            return {"within": written(reach), **ends}
        case Between(low=low, high=high):
            return {"low": written(low), "high": written(high)}
        case Ranks(within=ranks):
            return {"ranks_within": ranks}


def _span_from(document: Mapping[str, Any]) -> Span:
    match document:
        case {"within": reach, "least": least, "most": most}:
            return Around(read(reach), (read(least), read(most)))
        case {"within": reach}:
            return Around(read(reach))
        case {"low": low, "high": high}:
            return Between(read(low), read(high))
        case {"ranks_within": int(ranks)}:
            return Ranks(ranks)
    raise ValueError(document)
