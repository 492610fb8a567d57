"""The plan of a stream as a page: what leaks of a step however long it goes on, and how far off answers are."""

from collections.abc import Mapping, Sequence
from typing import Any

from entwined.canonical import Document
from entwined.report import charts
from entwined.report.drawings import Drawing
from entwined.report.page import rendered
from entwined.report.words import figure, readable

NO_BOUND = "no bound"
CLIMBS = (
    "What all answers together show of one step to somebody who knows the model, after so many steps. It climbs to its "
    "limit and stays there: later answers say ever less about a step."
)
ERRORS = "The 95 % half-width of the answer of some steps."


def stream_page(document: Mapping[str, Any]) -> str:
    """Write the plan of a stream as one HTML file that needs nothing else."""
    return rendered(
        "stream.html",
        many=False,
        title=readable(document["name"]),
        says=readable(document["says"], 400),
        nominal=figure(document["nominal"], up=True),
        leakage=figure(document["leakage"], up=True),
        models=[_model(one) for one in document["models"]],
        errors=Drawing(
            _bars([(f"{one['step']:,}", one["within"]) for one in document["errors"]], "±"), ERRORS
        ),
        steps=[
            {
                "step": f"{one['step']:,}",
                "deviation": figure(one["deviation"]),
                "within": figure(one["within"], up=True),
            }
            for one in document["errors"]
        ],
    )


def _model(model: Document) -> dict[str, Any]:
    found = [(f"{one['steps']:,}", one["leakage"]) for one in model["horizon"]]
    found.append(("without an end", model["limit"]))
    rows = [
        {"label": label, "leakage": NO_BOUND if leakage is None else figure(leakage, up=True)}
        for label, leakage in found
    ]
    bounded = [(label, leakage) for label, leakage in found if leakage is not None]
    chart = Drawing(_bars(bounded, "leakage of a step, at most"), CLIMBS)
    return {"name": readable(model["name"]), "rows": rows, "chart": chart}


def _bars(found: Sequence[tuple[str, float]], unit: str) -> str:
    labels = charts.labelled([label for label, _ in found])
    rows = [{"label": label, "value": value} for label, (_, value) in zip(labels, found, strict=True)]
    return charts.bars(rows, unit)
