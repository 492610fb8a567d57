"""The certificate of a release: what was asked and charged, and what it leaks under every declared model.

Anyone who has the schema can derive it again without the data: the questions and their loss give the losses by
part, these the loss of a unit, and each model's own certificate the leakage of that loss. The same goes for
everything released so far, whose losses by part stand here too. What cannot be derived is named by its digest
(the published numbers and files) or by its place in a chain (the ledger), so that it can be compared.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from entwined.bounds import certify
from entwined.bounds.certificate import digest
from entwined.ledger import Standing
from entwined.ledger.canonical import fraction_text
from entwined.queries.documents import written
from entwined.release.accountant import Accountant, BaseLoss
from entwined.release.concentrated import certified
from entwined.release.measure import Pure
from entwined.release.plan import Plan
from entwined.schema import Cells, Schema
from entwined.signing import Key

FORMAT: Final = "entwined release certificate 2"
OUTSIDE: Final = ("digest", "signature")
"""What stands around the content: its digest, and the holder's signature of that."""
CERTIFICATE: Final = "certificate.json"
PUBLISHED: Final = "published"
"""The digests of the files beside a certificate, by their names."""

TRUE_SCHEMA: Final = "The schema is true: the unit of protection, and the largest number of rows."
APART: Final = {
    True: "Different rows are independent of each other: the models are over the cells of one row.",
    False: "Different units are independent of each other, but for what the models say.",
}
ONE_LEDGER: Final = "Everything ever released from this table is in this ledger."
TAKING_PART: Final = {
    "replace": "Whether somebody is in the table is not protected.",
    "add_remove": "Whether somebody is in the table is protected, as what the table says of them is.",
}


def certificate(plan: Plan, standing: Standing, released: str) -> dict[str, Any]:
    """Write down what a batch costs on its own, and what everything released so far amounts to."""
    return sealed(
        content(plan, standing, released, _models(plan.accountant, plan.accountant.base(plan.parts)))
    )


def sealed(inside: Mapping[str, Any]) -> dict[str, Any]:
    """Close a content with its digest."""
    return {**inside, "digest": digest(dict(inside))}


def opened(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Take the content out again."""
    return {key: value for key, value in certificate.items() if key not in OUTSIDE}


def covering(certificate: Mapping[str, Any], **changed: Any) -> dict[str, Any]:
    """Let a certificate cover other numbers made of the same draws, or the files that they were written to."""
    return sealed({**opened(certificate), **changed})


def signed(certificate: Mapping[str, Any], key: Key) -> dict[str, Any]:
    """Sign a certificate with the holder's key."""
    return {**certificate, "signature": key.sign(signed_words(certificate)).document}


def signed_words(certificate: Mapping[str, Any]) -> str:
    """What a signature of a certificate is under."""
    return f"{FORMAT}\n{certificate['digest']}"


def content(plan: Plan, standing: Standing, released: str, models: list[dict[str, Any]]) -> dict[str, Any]:
    """Everything that a certificate says; all of it follows from the schema, the models and the questions."""
    accountant, schema = plan.accountant, plan.schema
    nominal = accountant.base(plan.parts).nominal
    return {
        "format": FORMAT,
        "says": _says(accountant, nominal),
        "asked": [
            {"query": written(query), "share": fraction_text(share)}
            for query, share in zip(plan.queries, plan.shares, strict=True)
        ],
        "loss_of_each_statistic": fraction_text(plan.loss),
        "losses": [list(part.row) for part in plan.parts],
        "schema": schema.digest,
        "unit": schema.unit.document,
        "neighbours": schema.neighbours,
        "knowledge": accountant.knowledge,
        "nominal": fraction_text(accountant.measure.epsilon(nominal)),
        **accountant.measure.document,
        "models": models,
        "trusted": _trusted(accountant, schema),
        "losses_so_far": [list(row) for row in standing.rows],
        "total": standing.price.document | {"cap": fraction_text(standing.cap)},
        "ledger": {"id": standing.ledger, "position": standing.head.position, "hash": standing.head.hash},
        "released": released,
    }


def _trusted(accountant: Accountant, schema: Schema) -> list[str]:
    return [
        TRUE_SCHEMA,
        APART[isinstance(schema.unit, Cells)],
        ONE_LEDGER,
        TAKING_PART[schema.neighbours],
        *accountant.trusted,
    ]


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
