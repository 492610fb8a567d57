"""Histograms of columns that others decide, added up from a release: post-processing, so it costs nothing.

A respondent whose form does not ask a question is counted by the form instead.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from entwined.errors import BadInput
from entwined.estimate.answers import Answered, Release
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.spans import CONFIDENCE
from entwined.noise import additive
from entwined.schema import Schema
from entwined.survey.sense import Decided
from entwined.survey.survey import Survey


@dataclass(frozen=True, slots=True)
class DerivedCell:
    """A released count: what was published, what was drawn, and the law of the noise in it."""

    value: int
    drawn: int
    law: ErrorLaw

    def __add__(self, other: "DerivedCell") -> "DerivedCell":
        """Count both."""
        return DerivedCell(self.value + other.value, self.drawn + other.drawn, self.law + other.law)


@dataclass(frozen=True, slots=True)
class WorkedOut:
    """One answer of a column that another decides: how many gave it, and where the truth lies with 95 %."""

    column: str
    answer: str
    value: int
    low: int
    high: int


NOBODY = DerivedCell(0, 0, ErrorLaw(()))


def worked_out(survey: Survey, schema: Schema, release: Release) -> list[WorkedOut]:
    """Add up the histogram of every decided column from the one that decides it."""
    released = {json.loads(one.asked).get("column"): one for one in release.answers}
    found = []
    for decided in survey.decided:
        cells = _cells(survey, schema, decided.by, released)
        if len(cells) != len(decided.answers):
            raise BadInput(
                f"The histogram of {decided.by!r} is cut otherwise than in the pilot. Release it whole."
            )
        found += [_answer(decided, schema, code, cells) for code in range(_size(decided, schema))]
    return found


def _size(decided: Decided, schema: Schema) -> int:
    """Count the answers that the histogram of a decided column shows."""
    column = schema.coded(decided.column)
    most = column.levels if column.missing == "drop" else column.size
    return min(most, max(decided.answers, default=-1) + 1)


def _answer(decided: Decided, schema: Schema, code: int, cells: list[DerivedCell]) -> WorkedOut:
    total = sum((cell for cell, answer in zip(cells, decided.answers, strict=True) if answer == code), NOBODY)
    reach = total.law.half_width(CONFIDENCE) if total.law.shares else 0.0
    low, high = max(0, math.floor(total.drawn - reach)), max(0, math.ceil(total.drawn + reach))
    column = schema.coded(decided.column)
    shown = "missing" if code == column.missing_code else str(column.value(code))
    return WorkedOut(decided.column, shown, total.value, min(low, total.value), max(high, total.value))


def _cells(survey: Survey, schema: Schema, name: str, released: Mapping[str, Answered]) -> list[DerivedCell]:
    """Give the counts of a column; those who were not asked are counted by the form."""
    cells = _histogram(schema, name, released)
    blank = survey.blanks.get(name)
    if blank is not None:
        form = _histogram(schema, blank.by, released)
        others = [cell for code, cell in enumerate(form) if code not in blank.asked]
        cells[blank.code] = sum(others, NOBODY)
    return cells


def _histogram(schema: Schema, name: str, released: Mapping[str, Answered]) -> list[DerivedCell]:
    """Give the counts of a column; who is missing is counted nowhere if the schema drops it."""
    answer = released.get(name)
    if (
        answer is None
        or not isinstance(answer.value, tuple)
        or json.loads(answer.asked)["query"] != "histogram"
    ):
        raise BadInput(f"The release has no histogram of {name!r}. Give the release of this survey.")
    law = ErrorLaw.of([1], [additive(answer.noise[0])])
    published = [value for value in answer.value if isinstance(value, int)]
    cells = [
        DerivedCell(value, drawn, law) for value, drawn in zip(published, answer.numbers[0], strict=True)
    ]
    return [*cells, NOBODY] if schema.coded(name).missing == "drop" else cells
