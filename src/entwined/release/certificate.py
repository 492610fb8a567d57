"""The certificate of a release: what was charged, and what it leaks under every declared model.

Anyone who has the schema can derive it again without the data: the losses by part give the loss of a unit,
and each model's own certificate gives the leakage of that loss.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from entwined.bounds import Verdict, certify
from entwined.bounds import verify as verify_bound
from entwined.bounds.certificate import digest, loss_document
from entwined.dependence import model_from
from entwined.errors import BadCertificate, EntwinedError
from entwined.ledger import Part, Price
from entwined.ledger.canonical import fraction_text
from entwined.release.accountant import Accountant, BaseLoss
from entwined.release.declared import Declared
from entwined.release.measure import Concentrated, Pure
from entwined.release.plan import Plan
from entwined.schema import Cells, Schema

FORMAT: Final = "entwined release certificate 1"
APART: Final = {
    True: "Different rows are independent of each other: the models are over the cells of one row.",
    False: "Different units are independent of each other, but for what the models say.",
}


def certificate(plan: Plan, total: Price, cap: Fraction) -> dict[str, Any]:
    """Write down what a batch costs on its own, and what everything released so far amounts to."""
    content = {
        "format": FORMAT,
        "loss_of_each_statistic": fraction_text(plan.loss),
        "losses": [list(part.row) for part in plan.parts],
        **_derived(plan.accountant, plan.parts),
        "total": total.document | {"cap": fraction_text(cap)},
    }
    return {**content, "digest": digest(content)}


def _derived(accountant: Accountant, parts: tuple[Part, ...]) -> dict[str, Any]:
    """Everything in a certificate that follows from the schema, the models and the losses."""
    schema, base = accountant.schema, accountant.base(parts)
    return {
        "says": _says(accountant, base.nominal),
        "schema": schema.digest,
        "unit": schema.unit.document,
        "neighbours": schema.neighbours,
        "knowledge": accountant.knowledge,
        "nominal": fraction_text(base.nominal),
        **_concentrated(accountant, base),
        "models": [
            {"name": name, "declared": accountant.judges[name][0].document, "certificate": certify(bound)}
            for name, bound in accountant.bounds(base).items()
        ],
        "trusted": [
            "The schema is true: the unit of protection, and the largest number of rows.",
            APART[isinstance(schema.unit, Cells)],
            *(said for one in accountant.declared for said in one.trusted(schema)),
        ],
    }


def _concentrated(accountant: Accountant, base: BaseLoss) -> dict[str, Any]:
    """Say what a concentrated loss is at δ, and under each model; of a pure loss there is nothing to say."""
    measure = accountant.measure
    if isinstance(measure, Pure):
        return {}
    return measure.document | {
        "epsilon": float(measure.epsilon(base.nominal)),
        "declared": [one.document for one in accountant.declared],
        "epsilons": {name: float(epsilon) for name, epsilon in accountant.leakages(base).items()},
    }


def _says(accountant: Accountant, nominal: Fraction) -> str:
    schema, measure = accountant.schema, accountant.measure
    change = "replacing" if schema.neighbours == "replace" else "adding or removing"
    unit = {"rows": "one row", "person": "all rows of one person", "cells": "one cell of one row"}
    but = "" if isinstance(measure, Pure) else f", but for a chance of {float(measure.delta):.3g}"
    return (
        f"{change.capitalize()} {unit[schema.unit.kind]} changes the probability of what was released here "
        f"by a factor of at most exp({float(measure.epsilon(nominal)):.6g}){but}. What an adversary who knows a "
        "dependence model learns is certified for each model."
    )


def verify(document: Any, schema: Schema, folder: Path = Path()) -> Verdict:
    """Derive a release's certificate again, without any data."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadCertificate(
            f"This is no certificate of a release: its format is not {FORMAT!r}. Give what entwined wrote."
        )
    content = {key: value for key, value in document.items() if key != "digest"}
    try:
        if document.get("digest") != digest(content):
            return Verdict(valid=False, why="It was changed after it was written: its digest does not match.")
        return _verdict(content, schema, folder)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return Verdict(valid=False, why="A part is missing or is not what it should be.")
    except EntwinedError as reason:
        return Verdict(valid=False, why=f"It cannot be derived again: {reason}")


def _verdict(content: dict[str, Any], schema: Schema, folder: Path) -> Verdict:
    measure = Concentrated(Fraction(content["delta"])) if "delta" in content else Pure()
    named = content["declared"] if "delta" in content else [one["declared"] for one in content["models"]]
    models = [_declared(model, folder) for model in named]
    accountant = Accountant(schema, tuple(models), content["knowledge"], measure)
    parts = tuple(Part.from_row(tuple(row)) for row in content["losses"])
    for model in content["models"]:
        verdict = verify_bound(model["certificate"], folder)
        if not verdict.valid:
            return Verdict(valid=False, why=f"The model {model['name']!r}: {verdict.why}")
    again = _derived(accountant, parts)
    for part, value in again.items():
        if part != "models" and content.get(part) != value:
            return Verdict(valid=False, why=f"Its {part} does not follow from the schema and the losses.")
    base = accountant.base(parts)
    for model, declared in zip(content["models"], models if isinstance(measure, Pure) else (), strict=True):
        loss = loss_document(accountant.loss(declared, base))
        if model["certificate"]["inputs"] != {"model": model["declared"]["model"], "loss": loss}:
            return Verdict(
                valid=False, why=f"{model['name']!r} is certified for another model or loss than was charged."
            )
    return Verdict(valid=True, why=content["says"])


def _declared(given: dict[str, Any], folder: Path) -> Declared:
    rest = {key: value for key, value in given.items() if key not in ("model", "columns")}
    return Declared(model_from(given["model"], folder), columns=tuple(given.get("columns", ())), **rest)
