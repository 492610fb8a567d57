"""The report of a release: plain words first, then the numbers, then why they are safe to publish."""

import itertools
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, Final

from entwined.canonical import Document
from entwined.estimate.answers import Release
from entwined.progress import said
from entwined.report.charts import require_charts
from entwined.report.claims import SOURCES, Claims, model_words, times, worst
from entwined.report.drawings import drawing_of
from entwined.report.findings import Cell, Finding, findings
from entwined.report.model_checks import checks_of, failed_in
from entwined.report.page import rendered
from entwined.report.stronger import Stronger, stronger_of
from entwined.report.useful import useful_release
from entwined.report.ways import BudgetShown, exploratory, leaks_drawing, ways_of
from entwined.report.words import digits_for, exactly, figure, moment, noise_words, number, readable
from entwined.schema import Schema

MOST_LINES: Final = 40
LONGEST_AGREEMENT: Final = 2000
MOST_CHARTS: Final = 80  # a page of more would take long to draw and to open; the tables are all there


def report_page(
    release: Release,
    *,
    names: Sequence[str],
    schema: Schema,
    outlook: Mapping[str, Any],
    budget: Mapping[str, Any],
) -> str:
    """Write the report as one HTML file that needs nothing else."""
    require_charts()
    promise = Claims(release.certificate)
    found = findings(release, names, schema)
    return rendered(
        "report.html",
        title=readable(outlook.get("title") or "Released statistics"),
        exploratory=exploratory(outlook),
        failed=failed_in(promise.models),
        checks=checks_of(promise.models),
        promise=promise,
        kept=promise.kept,
        factor=times(promise.leakage),
        schema=schema,
        found=[
            _shown(one, drawn=at < MOST_CHARTS) for at, one in enumerate(said("drawing the report", found))
        ],
        numbers=sum(one.size for one in found),
        agreement=readable(release.agreement, LONGEST_AGREEMENT),
        models=[_model(model) for model in promise.models],
        ways=ways_of(outlook),
        plain=next((way for way in outlook["ways"] if way["way"] == "plain"), None),
        leaks=leaks_drawing(outlook) if promise.models else None,
        stronger=_stronger(promise),
        budget=_budget(promise, budget),
        useful=useful_release(release.under(schema), outlook),
    )


def _budget(promise: Claims, given: Mapping[str, Any]) -> BudgetShown:
    """Show what the certificate says was spent; a stored answer was charged before, so nothing is added."""
    before = min(worst(given["spent"]), promise.total)
    return BudgetShown(readable(given.get("ledger") or ""), promise.cap, before, promise.total)


def _model(model: Mapping[str, Any]) -> Document:
    proved = model["certificate"]
    return {
        "name": readable(model["name"]),
        "words": model_words(model["declared"]),
        "source": SOURCES[model["declared"]["model"].get("source", "declared")],
        "guarantee": proved["guarantee"],
        "theorem": proved["theorem"],
        "checked": proved["checked"],
        "leakage": figure(float(proved["leakage"]), up=True),
    }


def _stronger(promise: Claims) -> list[Stronger]:
    """Read what each model would leak if it were stronger; older certificates do not say."""
    return [
        stronger_of(model["name"], model["curve"], float(model["certificate"]["leakage"]))
        for model in promise.models
        if "curve" in model
    ]


def _shown(finding: Finding, *, drawn: bool) -> Document:
    lines = [line_of(cell) for cell in itertools.islice(finding.cells(), MOST_LINES)]
    return {
        "name": readable(finding.name),
        "question": finding.question,
        "drawing": drawing_of(finding) if drawn else None,
        "sides": finding.headings,
        "unit": readable(finding.unit, 60),
        "lines": lines,
        "hidden": finding.size - len(lines),
        "noise": "; ".join(noise_words(noise) for noise in finding.answer.noise),
        "ranks": finding.ranks,
        "people": None if finding.of_people is None else line_of(finding.of_people),
        "design_effect": None if finding.people is None else f"{finding.people.design_effect:.2f}",
        "moved": any(cell.is_outside for cell in finding.cells()),
    }


def line_of(cell: Cell) -> Document:
    """Write a number in as many digits as its interval leaves it, and the interval rounded outwards."""
    low, high = cell.low, cell.high
    named = {"names": [readable(name, 80) for name in cell.names]}
    if isinstance(cell.value, datetime):
        ends = None if low is None or high is None else (to_minute(low), to_minute(high, up=True))
        return named | {"value": to_minute(cell.value), "interval": ends}
    if isinstance(low, datetime) or isinstance(high, datetime) or low is None or high is None:
        return named | {"value": exactly(cell.value), "interval": None}
    digits = digits_for(Fraction(high - low) / 2)
    return named | {
        "value": number(cell.value, digits),
        "interval": (number(low, digits, towards=-1), number(high, digits, towards=1)),
    }


def to_minute(value: Any, *, up: bool = False) -> str:
    """Write a time to the minute.

    >>> to_minute(datetime(2020, 1, 31, 12, 30, 7), up=True)
    '2020-01-31 12:31'
    """
    minute = value.replace(second=0, microsecond=0)
    return moment(minute + timedelta(minutes=1) if up and minute < value else minute)
