"""A certificate: the guarantee in words and numbers, which anyone can derive again without the data."""

import hashlib
import json
import math
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from entwined.bounds.choose import Bound, named, not_covered
from entwined.bounds.theorem import Knowledge, Theorem
from entwined.dependence import Dependence, Forms, Graph
from entwined.dependence.files import model_from
from entwined.dependence.syntax import json_document
from entwined.errors import BadCertificate, BadModel, EntwinedError, Refused
from entwined.loss import Leakage, Loss
from entwined.version import __version__
from entwined.writing import write_whole

FORMAT = "entwined certificate 1"
LISTED_UNITS = 10_000
LARGEST_FILE = 512_000_000  # as of the model that it holds
CLOSE = 1e-9  # how far libraries of other versions may differ in the last digits
QUANTILES = (0.0, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)
VERSIONS: Final = {
    "entwined": __version__,
    "numpy": np.__version__,
    "python": platform.python_version(),
}
KNOWS: Final[dict[Knowledge, str]] = {
    "any": "knows the dependence model and, of every other unit, its value or anything that depends on that "
    "value alone",
    "values": "knows the dependence model and the values of any other units, each exactly or not at all,",
    "model": "knows the dependence model but no values",
}
KNOWS_OF_BLANKS: Final = (
    "knows the dependence model and, of every other cell, nothing, or that it is blank, or that it is not "
    "and anything that depends on its answer alone,"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a certificate holds, and why."""

    valid: bool
    why: str


def certify(found: Bound) -> dict[str, Any]:
    """Write down what was proved, with everything needed to prove it again."""
    if found.model.source == "exploratory":
        raise Refused(
            "The model was learned from the private table without a budget, so it is for planning only. "
            "Declare it, learn it from a public table, or learn it with a budget."
        )
    content = {
        **derived(found.model, found.loss, found.knowledge, found.theorem),
        "versions": VERSIONS,
    }
    return {**content, "digest": digest(content)}


def derived(model: Dependence, loss: Loss, knowledge: Knowledge, theorem: Theorem[Any]) -> dict[str, Any]:
    """Everything in a certificate that follows from its inputs."""
    if not theorem.covers(knowledge):
        raise Refused(
            f"The theorem {theorem.name!r} proves nothing for knowledge {knowledge!r}. {not_covered(theorem)}"
        )
    leakage = theorem(loss, model)
    return {
        "format": FORMAT,
        "guarantee": promised(leakage.worst, knowledge, model),
        "neighbours": "replace the value of one unit",
        "knowledge": knowledge,
        "leakage": leakage.worst,
        "per_unit": listed(leakage),
        "theorem": {
            "name": theorem.name,
            "says": theorem.statement,
            "proof": theorem.proof,
            "source": theorem.source,
        },
        "checked": theorem.checked,
        "trusted": [
            theorem.trusted,
            trust_in(model),
            "The mechanism has the stated base loss for each unit.",
        ],
        "inputs": {"model": model.document, "loss": loss_document(loss)},
    }


def promised(leakage: float, knowledge: Knowledge, model: Dependence) -> str:
    """Say in plain words who is protected against whom, and how well, under a model."""
    blanks = isinstance(model, Forms) and not model.public
    return guarantee(leakage, knowledge, metric=model.kind == "gaussian", blanks=blanks)


def guarantee(leakage: float, knowledge: Knowledge, *, metric: bool, blanks: bool = False) -> str:
    """Say it with a distance between values, or with blanks that stand for a form that is not known."""
    adversary = KNOWS[knowledge]
    if knowledge == "any" and metric:
        adversary = KNOWS["values"]
    elif knowledge == "any" and blanks:
        adversary = KNOWS_OF_BLANKS
    unit = " for each unit of distance between the two values" if metric else ""
    return (
        f"From anything released with these losses, an adversary who {adversary} can change "
        "the odds between any two values of any one unit "
        f"by a factor of at most exp({leakage:.6g}){unit}."
    )


def trust_in(model: Dependence) -> str:
    """Say where the model comes from."""
    return {
        "declared": "The dependence model is declared as public knowledge.",
        "proxy": "The dependence model was learned from another, public table and holds for this one.",
        "learned": "The dependence model was learned from the private table with a budget of its own.",
        "exploratory": "The dependence model was learned without a budget: for planning only.",
    }[model.source]


def listed(leakage: Leakage) -> Any:
    """Each unit's leakage, or quantiles where there are too many to list."""
    if leakage.per_unit.size <= LISTED_UNITS:
        return leakage.per_unit.tolist()
    return {f"{at:g}": float(np.quantile(leakage.per_unit, at, method="higher")) for at in QUANTILES}


def loss_document(loss: Loss) -> dict[str, Any]:
    """A loss as it is written down: once if all units share it."""
    if loss.common is not None:
        return {"uniform": loss.common, "units": loss.units}
    return {"per_unit": loss.per_unit.tolist()}


def loss_from(document: Any) -> Loss:
    """Read a loss back."""
    if set(document) == {"uniform", "units"}:
        return Loss(np.broadcast_to(np.float64(document["uniform"]), (int(document["units"]),)))
    return Loss.of(document["per_unit"])


def digest(content: dict[str, Any]) -> str:
    """A fingerprint of all that is written."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def verify(document: Any, folder: Path = Path()) -> Verdict:
    """Derive a certificate again, without any data; files that its model names are looked up in `folder`."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadCertificate(
            f"This is no certificate: its format is not {FORMAT!r}. Give a file that entwined wrote."
        )
    try:
        return derived_again(document, folder)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        return Verdict(valid=False, why="A part is missing or is not what it should be.")
    except EntwinedError as reason:
        return Verdict(valid=False, why=f"It cannot be derived again: {reason}")


def derived_again(document: dict[str, Any], folder: Path) -> Verdict:
    """Derive all that a certificate says from its inputs, and compare."""
    content = {key: value for key, value in document.items() if key != "digest"}
    if document.get("digest") != digest(content):
        return Verdict(valid=False, why="It was changed after it was written: its digest does not match.")
    inputs = content["inputs"]
    model = model_from(inputs["model"], folder)
    if model.source == "exploratory":
        return Verdict(valid=False, why="Its model was learned without a budget, which is for planning only.")
    again = derived(model, loss_from(inputs["loss"]), content["knowledge"], named(content["theorem"]["name"]))
    if isinstance(model, Graph) and model.fields:  # its edges were found there, and their digest is compared
        again["inputs"]["model"] |= {"edges": inputs["model"]["edges"]}
    unknown = content.keys() - again.keys() - {"versions"}
    if unknown:
        return Verdict(valid=False, why=f"It has a part that no certificate has: {min(unknown):.60}.")
    for part, value in again.items():
        if not same(content.get(part), value):
            return Verdict(valid=False, why=f"Its {part} does not follow from its inputs.")
    versions = content["versions"]
    if versions.keys() != VERSIONS.keys() or not all(isinstance(one, str) for one in versions.values()):
        return Verdict(valid=False, why=f"Its versions are not those of {', '.join(VERSIONS)}.")
    why = f"{content['guarantee']} Derived again by the theorem {content['theorem']['name']!r}."
    return Verdict(valid=True, why=why)


def same(given: Any, again: Any) -> bool:
    """Compare what is written with what is derived, numbers but for their last digits."""
    if isinstance(again, dict):
        return (
            isinstance(given, dict)
            and given.keys() == again.keys()
            and all(same(given[key], value) for key, value in again.items())
        )
    if isinstance(again, list):
        return isinstance(given, list) and len(given) == len(again) and all(map(same, given, again))
    if isinstance(given, bool) or isinstance(again, bool) or not isinstance(again, (int, float)):
        return type(given) is type(again) and bool(given == again)
    if not isinstance(given, (int, float)) or not math.isfinite(given):
        return False
    return bool(given == again or (isinstance(again, float) and abs(given - again) <= CLOSE * abs(again)))


def write_certificate(document: dict[str, Any], path: Path) -> None:
    """Write a certificate whole or not at all."""
    write_whole(path, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


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
