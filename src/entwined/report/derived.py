"""Histograms that were worked out from a release, under the headings of values.csv: both can be put together."""

import csv
import io
from collections.abc import Sequence
from typing import Final

from entwined.queries.sides import axis_of
from entwined.report.findings import side_names
from entwined.schema import Schema
from entwined.survey.working_out import WorkedOut
from entwined.writing import harmless

HEADINGS: Final = ("question", "question_label", "answer", "answer_label", "value", "low", "high")


def derived_text(found: Sequence[WorkedOut], schema: Schema) -> str:
    """Write a line a count, with the labels of its question and its answer."""
    labels = {
        name: {str(key): said for said, key in side_names(axis_of(schema.coded(name)), schema)}
        for name in dict.fromkeys(one.column for one in found)
    }
    text = io.StringIO(newline="")
    lines = csv.writer(text)
    lines.writerow(HEADINGS)
    for one in found:
        question = one.column, schema.coded(one.column).label or one.column
        answer = one.answer, labels[one.column].get(one.answer, one.answer)
        lines.writerow([*map(harmless, (*question, *answer)), one.value, one.low, one.high])
    return text.getvalue()
