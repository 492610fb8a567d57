"""The certificate of a release: what was charged, and what it leaks under every declared model.

Anyone who has the schema can derive it again without the data: the losses by part give the loss of a unit,
and each model's own certificate gives the leakage of that loss.
"""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from entwined.bounds import Verdict, certify
from entwined.bounds import verify as verify_bound
from entwined.bounds.certificate import CLOSE, digest, loss_document
from entwined.dependence import model_from
from entwined.errors import BadCertificate, EntwinedError
from entwined.ledger import Part, Price
from entwined.ledger.canonical import fraction_from, fraction_text
from entwined.release.accountant import Accountant, BaseLoss
from entwined.release.concentrated import certified
from entwined.release.declared import Declared
from entwined.release.measure import PURE, Concentrated, Pure
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
        "nominal": fraction_text(accountant.measure.epsilon(base.nominal)),
        **accountant.measure.document,
        "models": _models(accountant, base),
        "trusted": [
            "The schema is true: the unit of protection, and the largest number of rows.",
            APART[isinstance(schema.unit, Cells)],
            *accountant.trusted,
        ],
    }


def _models(accountant: Accountant, base: BaseLoss) -> list[dict[str, Any]]:
    """Certify what the loss leaks under each model."""
    measure, judges = accountant.measure, accountant.judges
    if isinstance(measure, Pure):
        proved = {name: certify(bound) for name, bound in accountant.bounds(base).items()}
    else:
        proved = {
            name: certified(base.replace, measure, one.model, accountant.knowledge)
            for name, (one, _) in judges.items()
        }
    return [
        {"name": name, "declared": judges[name][0].document, "certificate": found}
        for name, found in proved.items()
    ]


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


def verify(document: Any, schema: Schema | None = None, folder: Path = Path()) -> Verdict:
    """Derive a certificate again, without any data: of a bound, or with its schema that of a release."""
    if schema is None:
        return verify_bound(document, folder)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadCertificate(
            f"This is no certificate of a release: its format is not {FORMAT!r}. Give what entwined wrote."
        )
    content = {key: value for key, value in document.items() if key != "digest"}
    try:
        if document.get("digest") != digest(content):
            return Verdict(valid=False, why="It was changed after it was written: its digest does not match.")
        return _verdict(content, schema, folder)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        return Verdict(valid=False, why="A part is missing or is not what it should be.")
    except EntwinedError as reason:
        return Verdict(valid=False, why=f"It cannot be derived again: {reason}")


def _verdict(content: dict[str, Any], schema: Schema, folder: Path) -> Verdict:
    measure = Concentrated(fraction_from(content["delta"])) if "delta" in content else PURE
    models = [_declared(model["declared"], folder) for model in content["models"]]
    accountant = Accountant(schema, tuple(models), content["knowledge"], measure)
    parts = tuple(Part.from_row(tuple(row)) for row in content["losses"])
    again = _derived(accountant, parts)
    for part, value in again.items():
        if part != "models" and not _agrees(part, content.get(part), value):
            return Verdict(valid=False, why=f"Its {part} does not follow from the schema and the losses.")
    if isinstance(measure, Pure):
        wrong = _wrong_bound(content["models"], models, accountant, parts, folder)
    else:
        wrong = _wrong_concentrated(content["models"], again["models"])
    if wrong:
        return Verdict(valid=False, why=wrong)
    return Verdict(valid=True, why=content["says"])


def _agrees(part: str, claimed: Any, value: Any) -> bool:
    """Compare as written; the ε of a concentrated loss may differ in its last digits elsewhere."""
    if part != "nominal" or claimed == value:
        return bool(claimed == value)
    return math.isclose(fraction_from(claimed), fraction_from(value), rel_tol=CLOSE)


def _wrong_bound(
    claimed: list[dict[str, Any]],
    models: list[Declared],
    accountant: Accountant,
    parts: tuple[Part, ...],
    folder: Path,
) -> str | None:
    """Say what is wrong with the certificates of a pure loss."""
    base = accountant.base(parts)
    for model, declared in zip(claimed, models, strict=True):
        verdict = verify_bound(model["certificate"], folder)
        if not verdict.valid:
            return f"The model {model['name']!r}: {verdict.why}"
        loss = loss_document(accountant.loss(declared, base))
        if model["certificate"]["inputs"] != {"model": model["declared"]["model"], "loss": loss}:
            return f"{model['name']!r} is certified for another model or loss than was charged."
    return None


def _wrong_concentrated(claimed: list[dict[str, Any]], again: list[dict[str, Any]]) -> str | None:
    """Say what is wrong with the certificates of a concentrated loss."""
    for model, right in zip(claimed, again, strict=True):
        given, proved = dict(model["certificate"]), right["certificate"]
        if math.isclose(given["leakage"], proved["leakage"], rel_tol=CLOSE):
            given["leakage"] = proved["leakage"]
        if given != proved or model["name"] != right["name"]:
            return f"The model {model['name']!r}: its certificate does not follow from what was charged."
    return None


def _declared(given: dict[str, Any], folder: Path) -> Declared:
    rest = {key: value for key, value in given.items() if key not in ("model", "columns")}
    return Declared(model_from(given["model"], folder), columns=tuple(given.get("columns", ())), **rest)
