"""Histograms worked out from a release: of columns that others decide, and of questions whose blanks were filled.

It is post-processing, so it costs nothing. A respondent whose form does not ask a question is counted by the form
instead. Where blanks were filled by draws, as many of each answer are taken off as were to be expected: their number
comes from the form, so its noise is in every cell, and how the draws fell is an error of its own.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from entwined.errors import BadInput
from entwined.estimate.answers import Answered, Release
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.spans import CONFIDENCE
from entwined.noise import additive
from entwined.queries import Count, FilledHistogram, Histogram, parse
from entwined.schema import Schema
from entwined.survey.asking import contradicted
from entwined.survey.sense import Decided
from entwined.survey.survey import Survey

NO_NOISE: Final = ErrorLaw(())


@dataclass(frozen=True, slots=True)
class DerivedCell:
    """A count: its unbiased value as published, what was drawn, and the law of the noise in it.

    `others` is how often the noise in the number of those who were not asked is in it, and `not_asked` that noise.
    """

    value: float
    drawn: float
    law: ErrorLaw
    others: float = 0.0
    not_asked: ErrorLaw = NO_NOISE

    def __add__(self, other: "DerivedCell") -> "DerivedCell":
        """Count both, of one column."""
        return DerivedCell(
            self.value + other.value,
            self.drawn + other.drawn,
            self.law + other.law,
            self.others + other.others,
            self.not_asked if self.not_asked.shares else other.not_asked,
        )

    def unfilled(self, chance: float, filled: "DerivedCell") -> "DerivedCell":
        """Take off the draws that were to be expected of so many blanks, each with a chance to fall here."""
        spread = max(filled.drawn, 0.0) * chance * (1 - chance)
        return DerivedCell(
            self.value - chance * filled.value,
            self.drawn - chance * filled.drawn,
            self.law + ErrorLaw((), spread),
            -chance,
            filled.law,
        )

    def shown(self, column: str, answer: str, rows: int) -> "WorkedOut":
        """Give the count, and where the truth lies among so many rows."""
        law = self.law + self.not_asked * self.others
        reach = law.half_width(CONFIDENCE) if law.variance else 0.0
        value = round(self.value)  # unbiased, and so perhaps below zero
        ends = min(math.floor(self.drawn - reach), value), max(math.ceil(self.drawn + reach), value)
        low, high = (min(max(end, 0), rows) for end in ends)
        return WorkedOut(column, answer, value, low, high)


@dataclass(frozen=True, slots=True)
class WorkedOut:
    """One answer of a column: how many gave it, and where the truth lies with 95 %."""

    column: str
    answer: str
    value: int
    low: int
    high: int


NOBODY: Final = DerivedCell(0, 0, NO_NOISE)


def worked_out(survey: Survey, schema: Schema, release: Release) -> list[WorkedOut]:
    """Work out the histogram of every question with filled blanks, and of every column that another decides."""
    released = {json.loads(one.asked).get("column"): one for one in release.answers}
    found = []
    for name in filled_questions(survey, release):
        counted = enumerate(_cells(survey, schema, name, released))
        found += [
            cell.shown(name, _answer(schema, name, code), schema.rows_at_most)
            for code, cell in counted
            if cell is not NOBODY
        ]
    for decided in survey.decided:
        cells = _cells(survey, schema, decided.by, released)
        if len(cells) != len(decided.answers):
            raise BadInput(
                f"The histogram of {decided.by!r} is cut otherwise than in the pilot. Release it whole."
            )
        for code in range(_size(decided, schema)):
            there = (cell for cell, answer in zip(cells, decided.answers, strict=True) if answer == code)
            answer = _answer(schema, decided.column, code)
            found.append(sum(there, NOBODY).shown(decided.column, answer, schema.rows_at_most))
    return found


def contradictions(survey: Survey, schema: Schema, release: Release) -> list[WorkedOut]:
    """Give, for each column that others decide and whose contradictions were counted, how many rows contradict it.

    The `answer` is the column that decides it. All intervals hold together with 95 %, so that few alarms are false.
    """
    released = {one.asked: one for one in release.answers}
    asked = {
        Count(where=parse(contradicted(one, schema), schema)).bound(schema).fingerprint: one
        for one in survey.decided
    }
    counted = [(one, released[text]) for text, one in asked.items() if text in released]
    found = []
    for one, answer in counted:
        drawn, law = answer.numbers[0][0], ErrorLaw.of([1], [additive(answer.noise[0])])
        reach = law.half_width(1 - (1 - CONFIDENCE) / len(counted))
        value, low, high = (
            min(max(round(end), 0), schema.rows_at_most) for end in (drawn, drawn - reach, drawn + reach)
        )
        found.append(WorkedOut(one.column, one.by, value, low, high))
    return found


def filled_questions(survey: Survey, release: Release) -> tuple[str, ...]:
    """The questions whose blanks were filled before their answers were counted."""
    asked = [json.loads(one.asked) for one in release.answers]
    filled = {one["column"] for one in asked if one["query"] == FilledHistogram.kind}
    return tuple(name for name in survey.released if name in filled)


def _size(decided: Decided, schema: Schema) -> int:
    """Count the answers that the histogram of a decided column shows."""
    column = schema.coded(decided.column)
    most = column.levels if column.missing != "value" else column.size
    return min(most, max(decided.answers, default=-1) + 1)


def _answer(schema: Schema, name: str, code: int) -> str:
    column = schema.coded(name)
    return "missing" if code == column.missing_code else str(column.value(code))


def _cells(survey: Survey, schema: Schema, name: str, released: Mapping[str, Answered]) -> list[DerivedCell]:
    """Give the counts of a column; those who were not asked are counted by the form."""
    blank = survey.blanks.get(name)
    if blank is None:
        return _histogram(schema, name, released)
    form = _histogram(schema, blank.by, released)
    others = sum((cell for code, cell in enumerate(form) if code not in blank.asked), NOBODY)
    weights = json.loads(released[name].asked).get("weights") if name in released else None
    if weights is None:
        cells = _histogram(schema, name, released)
    else:
        counted = _counts(released[name])
        chances = [weight / sum(weights) for weight in weights]
        cells = [
            cell.unfilled(chance, others) if chance else NOBODY
            for cell, chance in zip(counted, chances, strict=True)
        ]
    cells[blank.code] = DerivedCell(others.value, others.drawn, NO_NOISE, 1.0, others.law)
    return cells


def _histogram(schema: Schema, name: str, released: Mapping[str, Answered]) -> list[DerivedCell]:
    """Give the counts of a column; who is missing is counted nowhere if the schema drops it."""
    answer = released.get(name)
    if (
        answer is None
        or not isinstance(answer.value, tuple)
        or json.loads(answer.asked)["query"] != Histogram.kind
    ):
        raise BadInput(f"The release has no histogram of {name!r}. Give the release of this survey.")
    cells = _counts(answer)
    return [*cells, NOBODY] if schema.coded(name).missing != "value" else cells


def _counts(answer: Answered) -> list[DerivedCell]:
    """Give the counts of a histogram, each with its noise."""
    law = ErrorLaw.of([1], [additive(answer.noise[0])])
    values = answer.value if isinstance(answer.value, tuple) else ()
    published = list(map(float, values))
    return [DerivedCell(value, drawn, law) for value, drawn in zip(published, answer.numbers[0], strict=True)]
