"""What mechanisms gave, for a report: the table of each, its notes, and what it leaks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entwined.canonical import Document
from entwined.promise.secrets import NOT_PROTECTED
from entwined.report.claims import Claims, model_words, times, worst
from entwined.report.page import rendered
from entwined.report.secrets_kept import secrets_shown
from entwined.report.ways import BudgetShown, budget_of
from entwined.report.words import figure, readable
from entwined.request.computed import Computation
from entwined.schema import Schema
from entwined.schema.unit import unit_from

MOST_LINES: Final = 200
LONGEST_CELL: Final = 160


def computed_page(
    computed: Sequence[Computation],
    *,
    schema: Schema,
    outlook: Mapping[str, Any],
    budget: Mapping[str, Any],
) -> str:
    """Write the report of mechanisms without questions as one HTML file that needs nothing else."""
    certificate = computed[-1].certificate
    promise, kept = Claims(certificate), secrets_shown(certificate, schema)
    before = min(worst(budget["spent"]), promise.total)
    return rendered(
        "computed.html",
        many=False,
        title=readable(outlook.get("title") or "Released computations"),
        first=[readable(one, 600) for one in outlook.get("first_lines", ())],
        failed=[readable(one, 600) for one in outlook.get("failed_checks", ())],
        rows_protected=kept is None or not kept.first_line,
        secrets=() if kept is None else kept.secrets,
        promise=promise,
        counted_rows=promise.counted_rows,
        factor=times(promise.total),
        schema=schema,
        computed=shown(computed),
        models=[(readable(one["name"]), model_words(one["declared"])) for one in promise.models],
        budget=BudgetShown(readable(budget.get("ledger") or ""), promise.cap, before, promise.total),
    )


def shown(computed: Sequence[Computation]) -> list[Document]:
    """Make what a template shows of each."""
    return [_shown(one) for one in computed]


def _shown(one: Computation) -> Document:
    sheet = {"columns": one.sheet.headings, "rows": one.sheet.rows, "notes": one.sheet.notes}
    return _table(one.name, one.says, sheet) | {
        "stem": one.stem,
        "leakage": ""
        if one.certificate["nominal"] == NOT_PROTECTED
        else figure(Claims(one.certificate).leakage, up=True),
    }


def planned_page(document: Mapping[str, Any]) -> str:
    """Write the plan of mechanisms without questions as one HTML file that needs nothing else."""
    return rendered(
        "planned.html",
        many=False,
        title=readable(document.get("title") or "Planned computations"),
        first=[readable(one, 600) for one in document.get("first_lines", ())],
        failed=[readable(one, 600) for one in document.get("failed_checks", ())],
        counted_rows=[readable(one, 600) for one in document.get("counted_rows", ())],
        unit=unit_from(document["unit"]),
        computed=planned(document.get("mechanisms", ())),
        budget=budget_of(document),
    )


def planned(mechanisms: Sequence[Mapping[str, Any]]) -> list[Document]:
    """Make what a template shows of mechanisms before they run."""
    return [
        _table(one["name"], one["says"], _in_rows(one["expected"]))
        | {
            "stem": "",
            "leakage": "" if "individuals" in one["asked"] else figure(worst(one["price"]), up=True),
        }
        for one in mechanisms
    ]


def _in_rows(sheet: Mapping[str, Any]) -> Document:
    """A sheet of a document, with its cells in the order of its columns."""
    return {**sheet, "rows": [[row[name] for name in sheet["columns"]] for row in sheet["rows"]]}


def _table(name: str, says: str, sheet: Mapping[str, Any]) -> Document:
    lines = [[_cell(cell) for cell in row] for row in sheet["rows"][:MOST_LINES]]
    return {
        "name": readable(name),
        "says": readable(says, 600),
        "headings": [readable(heading) for heading in sheet["columns"]],
        "lines": lines,
        "hidden": len(sheet["rows"]) - len(lines),
        "notes": [readable(note, 600) for note in sheet["notes"]],
    }


def _cell(cell: object) -> tuple[str, bool]:
    """Give a cell as it is shown, and whether it is a number."""
    if isinstance(cell, bool):
        return ("yes" if cell else "no"), False
    if isinstance(cell, int | float):
        return figure(cell), True
    return ("–" if cell is None else readable(str(cell), LONGEST_CELL)), False
