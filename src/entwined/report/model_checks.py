"""Does the model hold? What its check on public data showed, in words, a table and a chart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from entwined.dependence import ModelCheck, TriedLaw
from entwined.dependence.model_check import failures
from entwined.report import charts
from entwined.report.drawings import Drawing
from entwined.report.words import figure, readable


@dataclass(frozen=True, slots=True)
class CheckShown:
    """The check of one model, as it is shown."""

    name: str
    check: ModelCheck

    @property
    def words(self) -> list[str]:
        """What was found, one sentence each."""
        return [readable(sentence, 600) for sentence in self.check.words]

    @property
    def lines(self) -> list[dict[str, Any]]:
        """One line a law: how well it foretells rows held out, and what the planned noise leaks under it."""
        tree = self.check.tree
        return [
            {
                "law": readable(one.law),
                "row": "–" if one.row is None else figure(one.row),
                "answer": figure(one.answer),
                "leaks": _leaks(one),
                "better": one is not tree and one.fits_better(tree),
                "needed": one.law in self.check.needed,
                "mine": one.law == self.check.law,
            }
            for one in self.check.laws
        ]

    @property
    def drawing(self) -> Drawing:
        """Draw what the planned noise leaks under each law; those that are needed stand out."""
        bounded = [one for one in self.check.laws if one.leakage is not None and not one.loose]
        rows = [
            {
                "label": label,
                "value": one.leakage,
                "said": figure(one.leakage or 0.0, up=True),
                "kept": "no" if one.law in self.check.needed else "yes",
            }
            for label, one in zip(charts.labelled([one.law for one in bounded]), bounded, strict=True)
        ]
        return Drawing(
            charts.compared(rows, "leakage of the same noise", self.check.claimed),
            f"What noise that leaks {figure(self.check.claimed, up=True)} under the tree leaks under richer laws. "
            "Those that have to be declared beside it are hollow.",
        )


def _leaks(one: TriedLaw) -> str:
    said = "–" if one.leakage is None else figure(one.leakage, up=True)
    return f"{said} (loose)" if one.loose and one.leakage is not None else said


def checks_in(document: Mapping[str, Any]) -> list[CheckShown]:
    """Read the checks of the models of a plan; the figures of one check are shown once."""
    return _shown([(model["name"], model["check"]) for model in document["models"] if "check" in model])


def checks_of(models: Sequence[Mapping[str, Any]]) -> list[CheckShown]:
    """Read the checks of the models of a certificate."""
    return _shown([(model["name"], found[1]) for model in models if (found := carried(model)) is not None])


def failed_in(models: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Say which models of a certificate failed their check with no other one to cover them."""
    told = [(model["name"], found) for model in models if (found := carried(model)) is not None]
    return failures(
        [(readable(name), origin, ModelCheck.from_document(check)) for name, (origin, check) in told]
    )


def carried(model: Mapping[str, Any]) -> tuple[Any, Any] | None:
    """Find what a certified model was learned from, and its check, if it has one; that of forms is in its answers."""
    document = model["declared"]["model"]
    inside = document.get("answers", document)
    if not isinstance(inside, Mapping) or "check" not in inside:
        return None
    return inside.get("learned_from"), inside["check"]


def _shown(told: Sequence[tuple[str, Any]]) -> list[CheckShown]:
    found = [CheckShown(readable(name), ModelCheck.from_document(check)) for name, check in told]
    return [one for one in found if one.check.law == one.check.tree.law or len(found) == 1]
