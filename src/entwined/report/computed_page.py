"""What mechanisms gave, for a report: the table of each, its notes, and what it leaks."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from entwined.canonical import Document
from entwined.report.claims import Claims, model_words, times, worst
from entwined.report.page import rendered
from entwined.report.ways import BudgetShown
from entwined.report.words import figure, readable
from entwined.request.computed import Computation
from entwined.schema import Schema

MOST_LINES: Final = 200


def computed_page(
    computed: Sequence[Computation],
    *,
    schema: Schema,
    outlook: Mapping[str, Any],
    budget: Mapping[str, Any],
) -> str:
    """Write the report of mechanisms without questions as one HTML file that needs nothing else."""
    promise = Claims(computed[-1].certificate)
    before = min(worst(budget["spent"]), promise.total)
    return rendered(
        "computed.html",
        many=False,
        title=readable(outlook.get("title") or "Released computations"),
        failed=[readable(one, 600) for one in outlook.get("failed_checks", ())],
        promise=promise,
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
    lines = [[_cell(cell) for cell in row] for row in one.sheet.rows[:MOST_LINES]]
    return {
        "name": readable(one.name),
        "stem": one.stem,
        "says": readable(one.says, 600),
        "headings": [readable(heading) for heading in one.sheet.headings],
        "lines": lines,
        "hidden": len(one.sheet.rows) - len(lines),
        "notes": [readable(note, 600) for note in one.sheet.notes],
        "leakage": figure(Claims(one.certificate).leakage, up=True),
    }


def _cell(cell: object) -> tuple[str, bool]:
    """Give a cell as it is shown, and whether it is a number."""
    if isinstance(cell, bool):
        return ("yes" if cell else "no"), False
    if isinstance(cell, int | float):
        return figure(cell), True
    return ("–" if cell is None else readable(str(cell), 60)), False
