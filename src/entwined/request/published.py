"""A published folder, checked as a whole: the certificate, the numbers and the files beside it, the signature."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from entwined.bounds import Verdict
from entwined.bounds.certificate import read_certificate
from entwined.canonical import Document
from entwined.door.certificate import CERTIFICATE, PUBLISHED
from entwined.errors import BadCertificate
from entwined.request.task_numbers import FORMAT as OF_MECHANISM
from entwined.request.verification import verify
from entwined.schema import Schema
from entwined.signing import PublicKey, Signature

NUMBERS: Final = "release.json"
PLAN: Final = "plan.json"
COMPARISONS: Final = "comparisons.json"
OURS: Final = (
    CERTIFICATE, COMPARISONS, PLAN, NUMBERS, "report.html", "schema.toml", "values.R", "values.csv",
    "values.parquet", "values.xlsx",
)  # fmt: skip
NO_NUMBERS: Final = f"The published numbers were not checked: {NUMBERS} is not beside the certificate."


def file_digests(folder: Path) -> dict[str, str]:
    """Name the files of a folder by their digests."""
    return {path.name: file_digest(path) for path in sorted(folder.iterdir())}


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify_published(
    document: Any,
    schema: Schema,
    beside: Path,
    models: Path | None = None,
    key: PublicKey | None = None,
    trusting: Sequence[str] = (),
) -> Verdict:
    """Derive the certificate of a release, and hold the files that lie beside it against it.

    Its numbers are in a file beside it, or around it where it is in what a mechanism gave.
    """
    proof = certificate_in(document)
    numbers = None if proof is document else document
    try:
        read = numbers is None and (beside / NUMBERS).is_file()
        release = read_certificate(beside / NUMBERS) if read else numbers
    except BadCertificate as reason:
        return Verdict(valid=False, why=f"The published numbers: {reason}")
    folder = beside if models is None else models
    verdict = verify(proof, schema, folder, release=release, key=key, trusting=trusting)
    if not verdict.valid:
        return verdict
    given = proof.get(PUBLISHED, {})
    here = [name for name in given if (beside / name).is_file()]
    for name in here:
        if file_digest(beside / name) != given[name]:
            return Verdict(valid=False, why=f"{name} is not the file that was published with it.")
    strange = [
        name for name in OURS[1:] if name not in given and name != NUMBERS and (beside / name).is_file()
    ]
    if PUBLISHED in proof and strange:
        return Verdict(valid=False, why=f"{strange[0]} was not published with it.")
    held = [NUMBERS] if numbers is None and release is not None else []
    said = [
        verdict.why,
        *_numbers(given, here, held, found=release is not None),
        *_uncovered(strange),
        *_signers(proof, schema),
    ]
    return replace(verdict, why=" ".join(said))


def certificate_in(document: Any) -> Any:
    """Give the certificate itself, which what a mechanism gave holds inside."""
    inside = isinstance(document, dict) and document.get("format") == OF_MECHANISM
    return document.get("certificate") if inside else document


def _numbers(given: dict[str, str], here: list[str], held: list[str], *, found: bool) -> list[str]:
    """Say which numbers and files were checked."""
    checked = sorted({*here, *held})
    absent = sorted(given.keys() - set(here))
    said = [] if found else [NO_NUMBERS]
    if checked:
        said.append(f"Unchanged beside it: {', '.join(checked)}.")
    if found and absent:
        said.append(f"Not beside it, so not checked: {', '.join(absent)}.")
    return said


def _uncovered(strange: list[str]) -> list[str]:
    return [f"It says nothing of {', '.join(strange)}."] if strange else []


def _signers(document: Document, schema: Schema) -> list[str]:
    """Say which keys signed, and what."""
    said = []
    if "signature" in document:
        key = Signature.from_document(document["signature"]).key
        said.append(f"Signed with the key {key.fingerprint}.")
    if schema.signature is not None:
        said.append(f"Its schema was approved with the key {schema.signature.key.fingerprint}.")
    return said
