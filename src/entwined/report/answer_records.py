"""A release as one record an answer, in the order asked: its name, and every number with the labels of its cell.

Files keep answers by the canonical text of their queries, so that equal releases have equal bytes whatever order they
were asked in. Replies are read by people's programs, which take the first record for the first question.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any

from entwined.canonical import Document
from entwined.estimate.answers import Release
from entwined.report.findings import Finding, findings
from entwined.schema import Schema


def labelled_document(release: Release, names: Sequence[str], schema: Schema) -> Document:
    """Write a release with one labelled record an answer; `Release.from_document` reads it as any other."""
    records = [answer_record(finding) for finding in findings(release, names, schema)]
    return release.document() | {"answers": records}


def answer_record(finding: Finding) -> Document:
    """Write an answer as it is published, with its name and the sides and cells of its table."""
    cells = list(_cells(finding))
    return {"name": finding.name, "sides": list(finding.headings), "cells": cells, **finding.answer.document}


def _cells(finding: Finding) -> Iterator[Document]:
    adjusted = _adjusted(finding)
    for cell in finding.cells():
        document: Document = {"labels": list(cell.names)}
        document |= {end: _plain(getattr(cell, end)) for end in ("value", "low", "high")}
        document |= {"quality": cell.quality, "relative_error": cell.relative_error}
        if adjusted:
            document["adjusted"] = dict(zip(("value", "low", "high"), adjusted[cell.place], strict=True))
        yield document


def _adjusted(finding: Finding) -> list[tuple[Any, ...]] | None:
    """Give the whole numbers that add up, and their intervals, for all cells."""
    adjusted = finding.answer.adjusted
    if adjusted is None:
        return None
    parts = (adjusted.value, *adjusted.interval)
    columns = [part if isinstance(part, tuple) else (part,) for part in parts]
    return [tuple(map(_plain, numbers)) for numbers in zip(*columns, strict=True)]


def _plain(number: Any) -> Any:
    """Write a number as JSON has them, the nearest double where it is no whole number, and a time as text."""
    match number:
        case Fraction():
            return number.numerator if number.denominator == 1 else float(number)
        case datetime():
            return number.isoformat()
    return number
