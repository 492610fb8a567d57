"""The certificate of what passed the door: what was asked and charged, and what it leaks under every declared model.

Anyone who has the schema can derive it again without the data: the mechanism's document gives the losses by part,
these the loss of a unit, and each model's own certificate the leakage of that loss. The same goes for
everything released so far, whose losses by part stand here too. What cannot be derived is named by its digest
(the published numbers and files) or by its place in a chain (the ledger), so that it can be compared.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from entwined.bounds import certify
from entwined.bounds.certificate import digest
from entwined.canonical import Document, fraction_text
from entwined.ledger import Standing
from entwined.promise.base_loss import BaseLoss
from entwined.promise.counted_rows import counted_rows
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.promise.secrets import NOT_PROTECTED
from entwined.schema import Schema
from entwined.showing import Tabled
from entwined.signing import Key

FORMAT: Final = "entwined release certificate 4"
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


class Sealed(Tabled, Document):
    """A certificate as it is handed out: a JSON object that shows what it promises."""


def certificate(
    promise: Promise, mechanism: Mapping[str, Any], parts: Sequence[Part], standing: Standing, released: str
) -> Sealed:
    """Write down what a mechanism costs on its own, and what everything released so far amounts to."""
    models = _models(promise, promise.certified(parts))
    return sealed(content(promise, mechanism, parts, standing, released, models))


def sealed(inside: Mapping[str, Any]) -> Sealed:
    """Close a content with its digest."""
    return Sealed({**inside, "digest": digest(dict(inside))})


def opened(certificate: Mapping[str, Any]) -> Document:
    """Take the content out again."""
    return {key: value for key, value in certificate.items() if key not in OUTSIDE}


def covering(certificate: Mapping[str, Any], **changed: Any) -> Sealed:
    """Let a certificate cover other numbers made of the same draws, or the files that they were written to."""
    return sealed({**opened(certificate), **changed})


def signed(certificate: Mapping[str, Any], key: Key) -> Sealed:
    """Sign a certificate with the holder's key."""
    return Sealed({**certificate, "signature": key.sign(signed_words(certificate)).document})


def signed_words(certificate: Mapping[str, Any]) -> str:
    """What a signature of a certificate is under."""
    return f"{FORMAT}\n{certificate['digest']}"


def content(
    promise: Promise,
    mechanism: Mapping[str, Any],
    parts: Sequence[Part],
    standing: Standing,
    released: str,
    models: list[Document],
) -> Document:
    """Everything that a certificate says; all of it follows from the schema, the models and the mechanism."""
    schema, nominal = promise.schema, promise.nominal(promise.certified(parts))
    return {
        "format": FORMAT,
        "says": _says(promise, nominal),
        "mechanism": dict(mechanism),
        "losses": [list(part.row) for part in parts],
        "schema": schema.digest,
        "unit": schema.unit.document,
        "neighbours": schema.neighbours,
        "knowledge": promise.knowledge,
        "nominal": fraction_text(nominal) if promise.protects_individuals else NOT_PROTECTED,
        **promise.measure.document,
        **({} if promise.secrets is None else {"secrets": promise.secrets.document}),
        **({} if promise.reserve is None else {"reserve": promise.reserve.document}),
        "models": models,
        "counted_rows": list(counted_rows(promise)),
        "trusted": _trusted(promise, schema),
        "losses_so_far": [list(row) for row in standing.rows],
        "total": standing.price.document | {"cap": fraction_text(standing.cap)},
        "ledger": {"id": standing.ledger, "position": standing.head.position, "hash": standing.head.hash},
        "released": released,
    }


def _trusted(promise: Promise, schema: Schema) -> list[str]:
    return [
        TRUE_SCHEMA,
        APART[schema.unit.by_column],
        ONE_LEDGER,
        TAKING_PART[schema.neighbours],
        *promise.trusted,
    ]


def _models(promise: Promise, base: BaseLoss) -> list[Document]:
    """Certify what the loss leaks under each model, and say what it would if dependence were stronger."""
    judges, curves = promise.judges, promise.curves(base)
    return [
        {
            "name": name,
            "declared": judges[name][0].document,
            "certificate": certify(bound).document,
            "curve": curves[name].document,
        }
        for name, bound in promise.bounds(base).items()
    ]


def _says(promise: Promise, nominal: Fraction) -> str:
    schema, measure = promise.schema, promise.measure
    change = "replacing" if schema.neighbours == "replace" else "adding or removing"
    but = f", but for a chance of {float(measure.delta):.3g}" if measure.delta else ""
    kept = "" if promise.secrets is None else promise.secrets.says
    if not promise.protects_individuals:
        return kept
    failed = "".join(f"{sentence} " for sentence in promise.failures)
    what = (
        "what was released here"
        if promise.reserve is None
        else "all that is ever released within the reserve"
    )
    return (
        f"{failed}{change.capitalize()} {schema.unit.words} changes the probability of {what} "
        f"by a factor of at most exp({float(nominal):.6g}){but}. What an adversary who knows a "
        f"dependence model learns is certified for each model.{kept and ' '}{kept}"
    )
