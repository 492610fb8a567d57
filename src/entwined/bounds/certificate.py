"""A certificate: the guarantee in words and numbers, which anyone can derive again without the data."""

import hashlib
import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np

from entwined.bounds.choose import Bound, named, not_covered
from entwined.bounds.exposure import Exposure, Given
from entwined.bounds.guarantee import origin, promised
from entwined.bounds.outside import stated
from entwined.bounds.theorem import Knowledge, Theorem
from entwined.canonical import Document
from entwined.dependence import Dependence, Edged
from entwined.dependence.files import model_from
from entwined.dependence.syntax import json_document
from entwined.errors import BadCertificate, BadModel, EntwinedError, Refused
from entwined.loss import QUANTILES, Leakage
from entwined.showing import Tabled
from entwined.version import __version__
from entwined.writing import write_whole

FORMAT = "entwined certificate 1"
LISTED_UNITS = 10_000
LARGEST_FILE = 512_000_000  # as of the model that it holds
CLOSE = 1e-9  # how far libraries of other versions may differ in the last digits
VERSIONS: Final = {
    "entwined": __version__,
    "numpy": np.__version__,
    "python": platform.python_version(),
}
CHANGED: Final = "It was changed after it was written: its digest does not match."


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a certificate holds, and why."""

    valid: bool
    why: str


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(Tabled):
    """What a theorem proves of an exposure under a model; what it does not prove cannot be one."""

    model: Dependence
    exposure: Exposure
    knowledge: Knowledge
    theorem: Theorem
    leakage: Leakage = field(init=False)

    def __post_init__(self) -> None:
        theorem, knowledge = self.theorem, self.knowledge
        if self.model.source == "exploratory":
            raise Refused(
                "The model was learned from the private table without a budget, so it is for planning only. "
                "Declare it, learn it from a public table, or learn it with a budget."
            )
        if not theorem.covers(knowledge):
            raise Refused(
                f"The theorem {theorem.name!r} proves nothing for knowledge {knowledge!r}. {not_covered(theorem)}"
            )
        leakage = theorem(self.exposure, self.model)
        if not math.isfinite(leakage.worst):
            raise Refused("What leaks here has no bound, so there is nothing to certify. Add more noise.")
        object.__setattr__(self, "leakage", leakage)

    @property
    def content(self) -> Document:
        """Everything that follows from the inputs."""
        theorem, exposure, worst = self.theorem, self.exposure, self.leakage.worst
        return {
            "format": FORMAT,
            "guarantee": promised(worst, self.knowledge, theorem, self.model, exposure),
            "neighbours": "replace the value of one unit",
            "knowledge": self.knowledge,
            "leakage": worst,
            "per_unit": listed(self.leakage),
            "theorem": {
                "name": theorem.name,
                "says": theorem.statement,
                "proof": theorem.proof,
                "source": theorem.source,
                **({} if theorem.origin is None else {"from": theorem.origin.document}),
            },
            "checked": theorem.checked,
            "trusted": [theorem.trusted, origin(self.model), exposure.believed, *_outside(theorem)],
            "inputs": {"model": self.model.document, "loss": exposure.document},
        }

    @property
    def document(self) -> Document:
        """The certificate as it is written: its content, the versions that made it, and a digest of both."""
        content = {**self.content, "versions": VERSIONS}
        return {**content, "digest": digest(content)}

    def wrong_in(self, written: Mapping[str, Any]) -> str | None:
        """Say what in a written certificate is not this one, if anything."""
        content = {key: value for key, value in written.items() if key != "digest"}
        if written.get("digest") != digest(content):
            return CHANGED
        again = self.content
        unknown = content.keys() - again.keys() - {"versions"}
        if unknown:
            return f"It has a part that no certificate has: {min(unknown):.60}."
        for part, value in again.items():
            if not same(content.get(part), value):
                return f"Its {part} does not follow from its inputs."
        versions = content["versions"]
        if versions.keys() != VERSIONS.keys() or not all(isinstance(text, str) for text in versions.values()):
            return f"Its versions are not those of {', '.join(VERSIONS)}."
        return None


def _outside(theorem: Theorem) -> list[str]:
    return [] if theorem.origin is None else [theorem.origin.trusted]


def certify(proved: Bound[Given]) -> Certificate:
    """Certify what was proved, with everything needed to prove it again."""
    return Certificate(proved.model, proved.exposure, proved.knowledge, proved.theorem)


def listed(leakage: Leakage) -> list[float] | dict[str, float]:
    """Each unit's leakage, or quantiles where there are too many to list."""
    if leakage.per_unit.size <= LISTED_UNITS:
        per_unit: list[float] = leakage.per_unit.tolist()
        return per_unit
    return {f"{at:g}": float(np.quantile(leakage.per_unit, at, method="higher")) for at in QUANTILES}


def digest(content: Mapping[str, Any]) -> str:
    """A fingerprint of all that is written."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def verify(document: object, folder: Path = Path(), *, trusting: Sequence[str] = ()) -> Verdict:
    """Derive a certificate again, without any data; files that its model names are looked up in `folder`.

    `trusting` names the distributions outside the package whose theorems it may rest on.
    """
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadCertificate(
            f"This is no certificate: its format is not {FORMAT!r}. Give a file that entwined wrote."
        )
    try:
        wrong = derived_again(document, folder, trusting).wrong_in(document)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        return Verdict(valid=False, why="A part is missing or is not what it should be.")
    except EntwinedError as reason:
        return Verdict(valid=False, why=f"It cannot be derived again: {reason}")
    if wrong:
        return Verdict(valid=False, why=wrong)
    why = f"{document['guarantee']} Derived again by the theorem {document['theorem']['name']!r}."
    return Verdict(valid=True, why=why)


def derived_again(document: Mapping[str, Any], folder: Path, trusting: Sequence[str]) -> Certificate:
    """Make a certificate from the inputs of a written one; the edges of a graph keep the name they have there."""
    theorem, inputs = theorem_of(document, trusting), document["inputs"]
    model = model_from(inputs["model"], folder)
    if isinstance(model, Edged) and model.fields:  # its edges were found there, and their digest is compared
        model = model.renamed(inputs["model"]["edges"])
    return Certificate(model, theorem.takes.from_document(inputs["loss"]), document["knowledge"], theorem)


def theorem_of(document: Mapping[str, Any], trusting: Sequence[str]) -> Theorem:
    """Find the theorem that a certificate names, the package's own or one of those trusted."""
    written = document["theorem"]
    return stated(written, trusting) if "from" in written else named(written["name"])


def same(written: object, derived: object) -> bool:
    """Compare what is written with what is derived, numbers but for their last digits."""
    if isinstance(derived, dict):
        return (
            isinstance(written, dict)
            and written.keys() == derived.keys()
            and all(same(written[key], value) for key, value in derived.items())
        )
    if isinstance(derived, list):
        return isinstance(written, list) and len(written) == len(derived) and all(map(same, written, derived))
    if isinstance(written, bool) or isinstance(derived, bool) or not isinstance(derived, (int, float)):
        return type(written) is type(derived) and written == derived
    if not isinstance(written, (int, float)) or not math.isfinite(written):
        return False
    return written == derived or (
        isinstance(derived, float) and abs(written - derived) <= CLOSE * abs(derived)
    )


def write_certificate(certificate: Certificate, path: Path) -> None:
    """Write a certificate whole or not at all."""
    text = json.dumps(certificate.document, indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(path, text + "\n")


def read_certificate(path: Path) -> Any:
    """Read a certificate file."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise BadCertificate(f"{path} has over {LARGEST_FILE:,} bytes. Give a file that entwined wrote.")
        return json_document(path.read_text(encoding="utf-8"))
    except OSError as reason:
        raise BadCertificate(
            f"{path} cannot be read: {reason.strerror}. Give the path of a certificate."
        ) from None
    except ValueError:
        raise BadCertificate(f"{path} is not a JSON document. Give a file that entwined wrote.") from None
    except BadModel as reason:  # one key twice, numbers that are none, endless nesting
        raise BadCertificate(f"{path} cannot be read: {reason} Give a file that entwined wrote.") from None
