"""The plan of a release as a page: every way to protect it side by side, before anything is read or spent."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.progress import said
from entwined.report import charts
from entwined.report.claims import SOURCES
from entwined.report.computed_page import planned, planned_page
from entwined.report.drawings import Drawing
from entwined.report.model_checks import checks_in
from entwined.report.multiples import FEW
from entwined.report.page import rendered
from entwined.report.plan_sheet import sheet
from entwined.report.quality_note import plan_note, quality_words
from entwined.report.stronger import stronger_in
from entwined.report.ways import WayShown, budget_of, exploratory, leaks_drawing, promised, ways_of
from entwined.report.words import figure, readable
from entwined.request.tasks_outlook import FORMAT as FORMAT_OF_MECHANISMS
from entwined.schema.unit import unit_from

FORMATS: Final = ("entwined plan 2", "entwined plan 1")
LONGEST_HINT: Final = 400
LONGEST_REMARK: Final = 1500
USUAL: Final = 0.05  # has a column of its own


def plan_page(document: Mapping[str, Any]) -> str:
    """Write a plan as one HTML file that needs nothing else."""
    if document.get("format") not in (*FORMATS, FORMAT_OF_MECHANISMS):
        raise BadInput(
            f"This is no plan: its format is not {FORMATS[0]!r}. Give what `entwined plan --json` wrote."
        )
    try:
        if document["format"] == FORMAT_OF_MECHANISMS:
            return planned_page(document)
        return rendered("plan.html", **_content(document))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise BadInput("A part of the plan is missing or is not what it should be.") from None


def _content(document: Mapping[str, Any]) -> Document:
    ways = ways_of(document)
    applying = [way for way in ways if way.applies]
    many = len(document["statistics"]) > FEW
    told = said("drawing the plan", range(len(document["statistics"])))
    shown = [_statistic(document, at, drawn=not many) for at in told]
    return {
        "many": many,
        "asked_for": len(shown),
        "unit": unit_from(document["unit"]),
        "title": readable(document.get("title") or "Planned release"),
        "exploratory": exploratory(document),
        "counted_rows": [readable(sentence, 600) for sentence in document.get("counted_rows", ())],
        "first": [readable(sentence, 600) for sentence in document.get("first_lines", ())],
        "failed": [readable(sentence, 600) for sentence in document.get("failed_checks", ())],
        "checks": checks_in(document),
        "asked": _asked(document),
        "ways": ways,
        "unfit": _unfit(ways),
        "unfit_count": sum(not way.applies for way in ways),
        "others": [way.title for way in applying if not way.proposed],
        "breaking": any(not way.keeps for way in applying),
        "proposed": next((way for way in ways if way.proposed), None),
        "because": readable(document.get("because") or ""),
        "rivals": document.get("rivals", ()),
        "leaks": leaks_drawing(document),
        "statistics": [] if many else shown,
        "computed": planned(document.get("mechanisms", ())),
        "topics": sheet(document["statistics"], shown) if many else [],
        "assumes": " ".join(dict.fromkeys(one["assumes"] for one in shown if one["assumes"])),
        "models": [_model(model) for model in document["models"]],
        "stronger": stronger_in(document),
        "remarks": _remarks(document),
        "further": _further(document),
        "budget": budget_of(document),
        "note": plan_note(document),
        "again": bool((document.get("budget") or {}).get("again")),
    }


def _remarks(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What each model rests on, and whom its noise is for."""
    return [
        (readable(model["name"]), readable(sentence, LONGEST_REMARK))
        for model in document["models"]
        for sentence in model.get("remarks", ())
    ]


def _further(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What further knowledge of each model would be worth."""
    return [
        (readable(model["name"]), readable(hint["says"], LONGEST_HINT))
        for model in document["models"]
        for hint in model.get("hints", ())
    ]


def _unfit(ways: Sequence[WayShown]) -> list[tuple[str, list[str]]]:
    """Gather the ways that do not apply by why they do not."""
    titles: dict[str, list[str]] = {}
    for way in ways:
        if not way.applies:
            titles.setdefault(way.why, []).append(way.title)
    return list(titles.items())


def _asked(document: Mapping[str, Any]) -> str:
    limit = promised(document)
    if limit is not None:
        return f"a leakage of at most {figure(limit)}"
    if "loss" in document["asked"]:
        return f"a loss of at most {figure(float(document['asked']['loss']))}"
    return "the accuracy that each statistic names"


def _model(model: Mapping[str, Any]) -> dict[str, str]:
    return {
        "name": readable(model["name"]),
        "kind": readable(str(model["kind"]).replace("_", " ")),
        "source": SOURCES[model.get("source", "declared")],
    }


def _statistic(document: Mapping[str, Any], at: int, *, drawn: bool) -> Document:
    """Gather what every way that applies would do to one statistic."""
    asked = document["statistics"][at]
    wanted = asked.get("wanted")
    lines = [
        _line(way, way["statistics"][at], wanted) | {"mine": way["way"] == document.get("proposed")}
        for way in document["ways"]
        if way["applies"] and at < len(way["statistics"])
    ]
    return {
        "name": readable(asked["name"]),
        "text": readable(asked.get("sql_or_text") or ""),
        "cells": int(asked.get("cells") or 1),
        "wanted": None if wanted is None else figure(float(wanted)),
        "quality": asked["quality"],
        "quality_words": quality_words(asked),
        "lines": lines,
        "assumes": _assumed(document, at),
        "drawing": _drawing(lines) if drawn else None,
    }


def _assumed(document: Mapping[str, Any], at: int) -> str:
    """Say what the figures of one statistic rest on beside the noise, if on anything."""
    said = [way["statistics"][at].get("assumes") for way in document["ways"] if at < len(way["statistics"])]
    return " ".join(dict.fromkeys(f"{readable(one).rstrip('.')}." for one in said if one))


def _line(way: Mapping[str, Any], expected: Mapping[str, Any], wanted: float | None) -> Document:
    half_width = expected.get("half_width")
    return {
        "title": readable(way["title"]),
        "keeps": bool(way["keeps_promise"]),
        "approximate": not expected.get("exact", True),
        "scale": _figure(expected.get("scale")),
        "error": _figure(expected.get("mean_error")),
        "half_width": half_width,
        "reach": "–" if half_width is None else f"± {figure(half_width, up=True)}",
        "meets": None if wanted is None or half_width is None else half_width <= wanted,
        "ranks": expected.get("ranks_within"),
        "accuracy": [
            f"{figure(100 * (1 - one['beta']))} %: ± {figure(one['alpha'], up=True)}"
            for one in expected.get("accuracy") or ()
            if one["beta"] != USUAL
        ],
    }


def _figure(value: float | None) -> str:
    return "–" if value is None else figure(value)


def _drawing(lines: list[Document]) -> Drawing | None:
    shown = [line for line in lines if line["half_width"] is not None]
    if len(shown) < 2:  # noqa: PLR2004  (one bar alone compares nothing)
        return None
    rows = [
        {
            "label": label,
            "value": line["half_width"],
            "said": line["reach"],
            "kept": "yes" if line["keeps"] else "no",
        }
        for label, line in zip(charts.labelled([line["title"] for line in shown]), shown, strict=True)
    ]
    return Drawing(
        charts.spread(rows, "half-width of the 95 % interval"),
        "Half-width of the 95 % interval, by way. Ways that break the promise are hollow.",
    )
