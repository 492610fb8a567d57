"""The report of a release: plain words first, then the numbers, then why they are safe to publish."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Final

from entwined.canonical import Document
from entwined.estimate.answers import Contradiction, Release
from entwined.estimate.compared import ComparedNumbers
from entwined.queries.spoken import condition
from entwined.report.cells import MOST_LINES, compared_line, line_of, shares_of
from entwined.report.claims import SOURCES, Claims, model_words, times, worst
from entwined.report.computed_page import shown as shown_computed
from entwined.report.drawings import drawing_of
from entwined.report.findings import Finding, findings
from entwined.report.model_checks import checks_of, failed_in
from entwined.report.multiples import FEW, topics
from entwined.report.page import rendered
from entwined.report.quality_note import release_note
from entwined.report.stronger import Stronger, stronger_of
from entwined.report.ways import BudgetShown, exploratory, leaks_drawing, ways_of
from entwined.report.words import figure, noise_words, readable
from entwined.request.computed import Computation
from entwined.schema import Schema

LONGEST_AGREEMENT: Final = 2000
LONGEST_BASE: Final = 400
MOST_NAMED: Final = 10
LONGEST_BELIEF: Final = 700  # more is folded: hundreds of columns may be named


def report_page(  # noqa: PLR0913  (all that a page shows)
    release: Release,
    *,
    names: Sequence[str],
    schema: Schema,
    outlook: Mapping[str, Any],
    budget: Mapping[str, Any],
    computed: Sequence[Computation] = (),
    compared: Sequence[ComparedNumbers] = (),
) -> str:
    """Write the report as one HTML file that needs nothing else."""
    promise = Claims(release.certificate)
    found = findings(release, names, schema)
    return rendered(
        "report.html",
        title=readable(outlook.get("title") or "Released statistics"),
        exploratory=exploratory(outlook),
        first=[readable(sentence, 600) for sentence in outlook.get("first_lines", ())],
        failed=failed_in(promise.models),
        checks=checks_of(promise.models),
        promise=promise,
        longest_belief=LONGEST_BELIEF,
        counted_rows=promise.counted_rows,
        factor=times(promise.leakage),
        schema=schema,
        **_numbers(found),
        rivals=outlook.get("rivals", ()),
        agreement=readable(condition(release.agreement, schema), LONGEST_AGREEMENT),
        contradictions=[_contradiction(warning, names, release) for warning in release.warnings],
        models=[_model(model) for model in promise.models],
        ways=ways_of(outlook),
        plain=next((way for way in outlook["ways"] if way["way"] == "plain"), None),
        leaks=leaks_drawing(outlook) if promise.models else None,
        stronger=_stronger(promise),
        budget=_budget(promise, budget),
        note=release_note(release.under(schema), outlook),
        computed=shown_computed(computed),
        compared=[compared_line(one) for one in compared],
    )


def _numbers(found: Sequence[Finding]) -> Document:
    """Show each statistic by itself, or by their topics where they are many."""
    many = len(found) > FEW
    return {
        "many": many,
        "has_adjusted": any(one.answer.adjusted is not None for one in found),
        "asked": len(found),
        "numbers": sum(one.size for one in found),
        "found": [] if many else [_shown(one) for one in found],
        "topics": topics(found) if many else [],
    }


def _contradiction(warning: Contradiction, names: Sequence[str], release: Release) -> Document:
    """Give a warning with the names of the statistics that show it."""
    asked = [
        name for name, answer in zip(names, release.answers, strict=True) if answer.asked in warning.asked
    ]
    return {
        "problem": readable(warning.problem, LONGEST_AGREEMENT),
        "advice": readable(warning.advice, LONGEST_AGREEMENT),
        "names": [readable(name, 80) for name in asked[:MOST_NAMED]],
    }


def _budget(promise: Claims, given: Mapping[str, Any]) -> BudgetShown:
    """Show what the certificate says was spent; a stored answer was charged before, so nothing is added."""
    before = min(worst(given["spent"]), promise.total)
    place, whole = readable(given.get("ledger") or ""), given.get("series_in_all")
    return BudgetShown(place, promise.cap, before, promise.total, series_in_all=whole)


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


def _shown(finding: Finding) -> Document:
    lines = [line_of(cell) for cell in itertools.islice(finding.cells(), MOST_LINES)]
    shares = shares_of(finding)
    for line, share in zip(lines, shares, strict=bool(shares)):
        line["share"] = share.value
        line["share_interval"] = share.interval
    return {
        "shares": bool(shares),
        "base": "" if finding.dividing is None else readable(finding.dividing.base, LONGEST_BASE),
        "name": readable(finding.name),
        "question": finding.question,
        "quality": finding.quality_words,
        "is_drowned": finding.is_drowned,
        "drawing": drawing_of(finding),
        "sides": finding.headings,
        "unit": readable(finding.unit, 60),
        "lines": lines,
        "hidden": finding.size - len(lines),
        "noise": "; ".join(noise_words(noise) for noise in finding.answer.noise),
        "ranks": finding.ranks,
        "people": None if finding.of_people is None else line_of(finding.of_people),
        "design_effect": None if finding.people is None else f"{finding.people.design_effect:.2f}",
        "is_adjusted": finding.answer.adjusted is not None,
        "caveat": finding.caveat,
        "warning": readable(finding.warning, LONGEST_AGREEMENT),
        "moved": any(cell.is_outside for cell in finding.cells()),
    }
