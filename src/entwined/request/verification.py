"""Derive the certificate of a release again, from the schema and what it says was asked: nothing is believed.

Whatever can be worked out is worked out and compared, at any depth, and a key that nobody wrote is refused. What
remains is compared with what is at hand: the published numbers, the files, the key of a signature, the ledger.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from entwined.bounds import Certificate, Verdict
from entwined.bounds import verify as verify_bound
from entwined.bounds.certificate import CHANGED, CLOSE, digest, same, theorem_of
from entwined.bounds.outside import refuse_strangers
from entwined.canonical import Document, canonical, fraction_from, sha256
from entwined.dependence import model_from
from entwined.door.certificate import CERTIFICATE, FORMAT, PUBLISHED, content, opened, signed_words
from entwined.door.mechanism import Mechanism
from entwined.errors import BadCertificate, EntwinedError
from entwined.ledger import Mark, Standing
from entwined.mechanisms.batch import Batch
from entwined.mechanisms.kinds import mechanism_from
from entwined.mechanisms.offered import Offered
from entwined.progress import said
from entwined.promise.base_loss import BaseLoss
from entwined.promise.declared import Declared
from entwined.promise.judge import Judge
from entwined.promise.measure import PURE, Concentrated
from entwined.promise.part import Part
from entwined.promise.price import Price
from entwined.promise.promise import Promise
from entwined.promise.reserve import Reserve
from entwined.promise.secrets import KeptSecrets
from entwined.request.rebuilding import fingerprint_of, wrong_values
from entwined.request.task_numbers import wrong_output
from entwined.schema import Schema
from entwined.schema.raw import is_whole
from entwined.signing import PublicKey, Signature

HASH: Final = re.compile(r"[0-9a-f]{64}")
ID: Final = re.compile(r"[0-9a-f]{32}")
AMOUNTS: Final = ("nominal", "total")


def verify(
    document: Any,
    schema: Schema | None = None,
    folder: Path = Path(),
    *,
    release: Any = None,
    key: PublicKey | None = None,
    trusting: Sequence[str] = (),
) -> Verdict:
    """Derive a certificate again, without any data: of a bound, or with its schema that of a release.

    With `release`, the published document, its numbers must be those that the certificate covers. With `key` the
    certificate must be signed by it; a signature that is there and wrong is never valid. `trusting` names the
    distributions outside the package whose theorems it may rest on.
    """
    if isinstance(document, Certificate):
        document = document.document
    if schema is None:
        if isinstance(document, dict) and document.get("format") == FORMAT:
            raise BadCertificate(
                "This is the certificate of a release. Give the schema that it was made under, too."
            )
        return verify_bound(document, folder, trusting=trusting)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadCertificate(
            f"This is no certificate of a release: its format is not {FORMAT!r}. Give what entwined wrote."
        )
    try:
        if document.get("digest") != digest(opened(document)):
            return Verdict(valid=False, why=CHANGED)
        wrong = (
            wrong_signature(document, key)
            or wrong_numbers(document, release)
            or _Claimed.read(opened(document), schema, folder, trusting).wrong(release)
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError):
        return Verdict(valid=False, why="A part is missing or is not what it should be.")
    except EntwinedError as reason:
        return Verdict(valid=False, why=f"It cannot be derived again: {reason}")
    return Verdict(valid=False, why=wrong) if wrong else Verdict(valid=True, why=document["says"])


def wrong_signature(document: Document, wanted: PublicKey | None = None) -> str | None:
    """Say what is wrong with the signature of a certificate, if one is there or wanted."""
    if "signature" not in document:
        return (
            None if wanted is None else f"It is not signed, and {wanted.fingerprint} should have signed it."
        )
    signature = Signature.from_document(document["signature"])
    if not signature.is_of(signed_words(document)):
        return f"Its signature is not one of the key {signature.key.fingerprint} under this certificate."
    if wanted is not None and signature.key != wanted:
        return f"It is signed with the key {signature.key.fingerprint}, not with {wanted.fingerprint}."
    return None


def wrong_numbers(document: Document, release: Any) -> str | None:
    """Say how the published document is not the one that is certified, if it is at hand."""
    if release is None:
        return None
    if not isinstance(release, dict):
        return "The published numbers are no document that entwined wrote."
    numbers = {key: value for key, value in release.items() if key != "certificate"}
    if sha256(canonical(numbers)) != document["released"]:
        return "The published numbers are not those that it was made for."
    here, there = (
        {key: value for key, value in opened(one).items() if key != PUBLISHED}
        for one in (document, release["certificate"])
    )
    if there != here:
        return "The published numbers stand beside another certificate."
    return None


def claimed(
    certificate: Document, schema: Schema, folder: Path, trusting: Sequence[str] = ()
) -> tuple[Promise, Mechanism[Any]]:
    """Read the promise that a certificate is made under, and the computation that it is about."""
    found = _Claimed.read(opened(certificate), schema, folder, trusting)
    return found.promise, found.mechanism


@dataclass(frozen=True)
class _Claimed:
    """What a certificate claims, and what its inputs make of it."""

    given: Document
    promise: Promise
    mechanism: Mechanism[Any]
    parts: tuple[Part, ...]
    standing: Standing

    @classmethod
    def read(cls, given: Document, schema: Schema, folder: Path, trusting: Sequence[str]) -> "_Claimed":
        """Work everything out from the inputs: models, knowledge, and the mechanism with its losses."""
        measure = Concentrated(fraction_from(given["delta"])) if "delta" in given else PURE
        refuse_strangers(
            [name for model in given["models"] for name in model["declared"].get("trusting", ())], trusting
        )
        models = tuple(declared_from(model["declared"], folder) for model in given["models"])
        secrets = KeptSecrets.from_document(given["secrets"]) if "secrets" in given else None
        reserve = Reserve.from_document(given["reserve"]) if "reserve" in given else None
        promise = Promise(schema, models, given["knowledge"], measure, secrets, reserve)
        mechanism = mechanism_from(given["mechanism"], promise)
        if secrets is not None:
            secrets.require_kept(mechanism.document)
        rows = tuple((key, one, both) for key, one, both in given["losses_so_far"])
        ledger, total = given["ledger"], given["total"]
        head, cap = Mark(ledger["position"], ledger["hash"]), fraction_from(total["cap"])
        standing = Standing(ledger["id"], head, cap, rows, Price.from_document(total))
        return cls(given, promise, mechanism, mechanism.parts(promise), standing)

    def wrong(self, release: Any) -> str | None:
        """Say what does not follow, if anything; what takes longest is asked last."""
        again = content(
            self.promise,
            self.mechanism.document,
            self.parts,
            self.standing,
            self.given["released"],
            self.given["models"],
        )
        unknown = sorted(self.given.keys() - again.keys() - {PUBLISHED})
        if unknown:
            return f"It has the key {unknown[0]!r:.60}, which no certificate has."
        for part, value in again.items():
            if not self._agrees(part, value):
                return f"Its {part} does not follow from the schema and what was asked."
        return (
            self._wrong_names()
            or (None if release is None else self._wrong_noise(release))
            or self._wrong_models()
            or self._wrong_total()
        )

    def _agrees(self, part: str, value: Any) -> bool:
        """Compare as written; the ε of a concentrated loss came out of floating point."""
        rounded = not self.promise.measure.is_pure and part in AMOUNTS
        return _agrees(self.given[part], value, from_floats=rounded)

    def _wrong_names(self) -> str | None:
        """Say which digest or name is none."""
        ledger, files = self.given["ledger"], self.given.get(PUBLISHED, {})
        if not (
            ID.fullmatch(ledger["id"]) and HASH.fullmatch(ledger["hash"]) and is_whole(ledger["position"])
        ):
            return "It names no ledger."
        if not all(map(HASH.fullmatch, [self.given["released"], *files.values()])):
            return "It names no released numbers."
        if not all(name == Path(name).name != CERTIFICATE for name in files):
            return "It names files that cannot lie beside it."
        return None

    def _wrong_total(self) -> str | None:
        """Say what is wrong with what everything so far amounts to."""
        keys = [row[0] for row in self.standing.rows]
        if keys != sorted(set(keys)):
            return "Its losses so far are not each once and in order."
        so_far = {row[0]: Part.from_row(row) for row in self.standing.rows}
        for part in self.parts:
            total = so_far.get(part.key)
            if total is None or total.one < part.one or total.both < part.both:
                return "What it charges is not among the losses so far."
        if self.promise.is_for_one_batch and not _is_repeated(so_far, self.parts):
            return "Another batch was released before it, and its price holds for one batch alone."
        if self.promise.outside(so_far) is not None:
            return "Its losses so far are more than was reserved before the first answer."
        price = self.promise.price(so_far)
        if not self._agrees("total", price.document | {"cap": self.given["total"]["cap"]}):
            return "Its total does not follow from the losses so far."
        return None if price.worst <= self.standing.cap else "Its total is over the cap."

    def _wrong_models(self) -> str | None:
        """Say which model is certified for something else, or by a theorem that does not cover the adversary."""
        promise = self.promise
        base = promise.certified(self.parts)
        certified = list(zip(self.given["models"], promise.judges.items(), strict=True))
        for model, (name, (one, judge)) in said("deriving bounds again", certified):
            if model.keys() != {"name", "declared", "certificate", "curve"} or model["name"] != name:
                return f"A model is called {model['name']!r:.60}, and {name!r:.60} is right."
            if model["declared"] != one.document:
                return f"The model {name!r} says more of itself than a model does."
            wrong = _wrong_proof(model["certificate"], promise, (one, judge), base)
            if wrong:
                return f"The model {name!r}: {wrong}"
            if not same(model["curve"], judge.curve(promise.shown(one, judge, base)).document):
                return f"The model {name!r}: its curve is not what stronger dependence would leak."
        return None

    def _wrong_noise(self, release: Any) -> str | None:
        """Say how the published numbers have other noise than was charged for."""
        if not isinstance(self.mechanism, Batch):
            if isinstance(self.mechanism, Offered) and release.get("kind") == self.mechanism.kind:
                return wrong_output(self.mechanism, release)
            return "The published numbers are of a batch, and the certificate is not."
        batch = self.mechanism
        noise = [[batch.statistics[use].law.document for use in uses] for uses in batch.uses]
        asked = [query.fingerprint for query in batch.queries]
        found = [(fingerprint_of(one["query"]), one["noise"]) for one in release["answers"]]
        if found != list(zip(asked, noise, strict=True)):
            return "The published numbers have other noise than was charged for."
        return wrong_values(batch, release)


def _is_repeated(so_far: Mapping[str, Part], parts: tuple[Part, ...]) -> bool:
    """Whether all losses so far are those of one batch, charged once or, after runs that failed, several times."""
    times = {(so_far[part.key].one + so_far[part.key].both) / (part.one + part.both) for part in parts}
    return len(so_far) == len(parts) and len(times) == 1 and times.pop().denominator == 1


def _wrong_proof(
    given: Document, promise: Promise, judged: tuple[Declared, Judge], base: BaseLoss
) -> str | None:
    """Say what is wrong with the certificate of one model."""
    one, judge = judged
    theorem, exposure = theorem_of(given, one.trusting), promise.shown(one, judge, base)
    return Certificate(one.model, exposure, promise.knowledge, theorem).wrong_in(given)


def _agrees(claimed: Any, value: Any, *, from_floats: bool) -> bool:
    """Compare as written; amounts that came out of floating point but for their last digits."""
    if isinstance(value, dict):
        return (
            isinstance(claimed, dict)
            and claimed.keys() == value.keys()
            and all(_agrees(claimed[key], one, from_floats=from_floats) for key, one in value.items())
        )
    if not from_floats or not isinstance(value, str):
        return same(claimed, value)
    return math.isclose(fraction_from(claimed), fraction_from(value), rel_tol=CLOSE)


def declared_from(given: Document, folder: Path) -> Declared:
    """Read a declaration as a certificate has it."""
    rest = {key: value for key, value in given.items() if key not in ("model", "columns", "within")}
    within = fraction_from(given["within"]) if "within" in given else None
    model, columns = model_from(given["model"], folder), tuple(given.get("columns", ()))
    return Declared(model, columns=columns, within=within, **rest)
