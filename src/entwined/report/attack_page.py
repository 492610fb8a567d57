"""Attacks on generated people as a page: what was believed of one of them before and after, and what was promised."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.report import charts
from entwined.report.drawings import Drawing
from entwined.report.page import rendered
from entwined.report.words import figure, readable

FORMATS: Final = ("entwined attack 1",)
NAMES: Final = ("Ada", "Ben", "Cleo", "Dora", "Emil", "Finn", "Greta", "Hugo", "Ida", "Jonas", "Klara", "Leo")
WAYS: Final = {
    "believes_independence": "Believes in independence",
    "plain": "Knows who is tied, plain noise",
    "certified": "Knows who is tied, certified noise",
}
SLACK: Final = 1e-9
SEEN: Final = 0.005  # a bar that is longer by less looks as long
NEARLY: Final = 0.995
LEAST: Final = 0.01


@dataclass(frozen=True, slots=True)
class AttackShown:
    """One model's attacks in words and charts."""

    name: str
    person: str
    where: str
    truth: str
    promised: str
    plain_added: str
    kept_added: str
    plain_bound: str
    kept_bound: str
    breaks: bool
    beliefs: Drawing
    leaks: Drawing
    before: Sequence[Mapping[str, str]]
    added: Sequence[Mapping[str, str]]
    guesses: Sequence[Mapping[str, str]]
    relatives: Drawing | None
    left_out: Sequence[str]


def attack_page(document: Mapping[str, Any]) -> str:
    """Write attacks as one HTML file that needs nothing else."""
    if document.get("format") not in FORMATS:
        raise BadInput(
            f"This is no attack: its format is not {FORMATS[0]!r}. Give what `entwined attack --json` wrote."
        )
    try:
        shown = [_shown(model) for model in document["models"]]
        title = f"What a release says about {shown[0].person}"
        return rendered("attack.html", many=False, title=title, models=shown)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise BadInput("A part of the attack is missing or is not what it should be.") from None


def _shown(model: Document) -> AttackShown:
    person = _person(model)
    first = model["attacks"][0]
    truth = model["values"][first["plain"]["ordinary_release"]["truth"]]
    return AttackShown(
        name=readable(model["model"]),
        person=person,
        where=readable(
            f"{'' if model.get('relatives') else model['target_name'] + ', '}one of {model['units']}"
        ),
        truth=readable(truth, 80),
        promised=figure(model["promised"]),
        plain_added=_figure(model["plain_added"]),
        kept_added=_figure(model["certified_added"]),
        plain_bound=figure(model["plain_leaks_at_most"], up=True),
        kept_bound=figure(model["certified_leaks_at_most"], up=True),
        breaks=bool(model["plain_breaks_its_promise"]),
        beliefs=_beliefs(model, person, readable(truth, 60)),
        leaks=_leaks(model),
        before=[_before(one) for one in model["attacks"]],
        added=[_added(one, way) for one in model["attacks"] for way in WAYS],
        guesses=[_guesses(one) for one in model["attacks"]],
        relatives=_relatives(model, person) if model.get("relatives") else None,
        left_out=[readable(one) for one in model["left_out"]],
    )


def _person(model: Document) -> str:
    """Call a generated unit by a name that people have, unless it has one."""
    return (
        readable(model["target_name"], 40) if model.get("relatives") else NAMES[model["target"] % len(NAMES)]
    )


def _beliefs(model: Document, person: str, truth: str) -> Drawing:
    """Draw what was believed of the truth before and after one ordinary release, on what the promise allows."""
    rows = []
    for label, (way, title) in zip(charts.labelled(list(WAYS.values())), WAYS.items(), strict=True):
        seen = model["attacks"][0][way]["ordinary_release"]
        before, after = (seen[side][seen["truth"]] for side in ("before", "after"))
        low, high = (_moved(before, sign * model["promised"]) for sign in (-1, 1))
        kept = low - SLACK <= after <= high + SLACK
        rows.append(
            {
                "label": label,
                "before": 100 * before,
                "value": 100 * after,
                "low": 100 * low,
                "high": 100 * high,
                "said": "> 99 %" if NEARLY <= after < 1 else f"{100 * after:.0f} %",
                "kept": "yes" if kept else "no",
                "title": title,
            }
        )
    caption = (
        f"How sure an adversary is of the truth about {person} ({truth}): the hollow dot before a release, the other "
        f"one after it, with {model['attacks'][0]['known_share']:.0%} of the others known. The band is all that the "
        f"promise of {figure(model['promised'])} allows; a dot outside it is hollow too."
    )
    return Drawing(charts.shifts(rows, "chance given to the truth, in percent"), caption)


def _moved(chance: float, log_odds: float) -> float:
    """Shift a chance by log odds."""
    odds = chance * math.exp(log_odds)
    return odds / (odds + 1 - chance)


def _leaks(model: Document) -> Drawing:
    """Draw what plain and certified noise added at most, beside the promise."""
    rows: list[Document] = []
    for one in model["attacks"]:
        for way, title in (("plain", "plain"), ("certified", "certified")):
            added = one[way]["added"]["largest_log_odds_at_any_answer"]
            value = model["plain_leaks_at_most"] if added == "inf" else added
            over = value > model["promised"] * (1 + SEEN)
            rows.append(
                {
                    "label": (f"{one['known_share']:.0%} known, {title}",),
                    "value": value,
                    "said": _figure(added),
                    "kept": "no" if over else "yes",
                }
            )
    return Drawing(
        charts.compared(rows, "largest shift of log odds that a release added", model["promised"]),
        f"What one release added at most, by the share of the other people whose values are known. The dashed line is "
        f"the promise, {figure(model['promised'])}; bars beyond it are hollow.",
    )


def _relatives(model: Document, person: str) -> Drawing:
    """Draw what each relative's record says before anything is released."""
    labels = charts.labelled([f"{one['name']}, {one['relation']}" for one in model["relatives"]])
    rows = [
        {
            "label": label,
            "before": 100 * one["if_not"],
            "value": 100 * one["if_carrier"],
            "low": 100 * one["if_not"],
            "high": 100 * one["if_carrier"],
            "said": f"{100 * one['if_carrier']:.0f} %",
            "kept": "yes",
        }
        for label, one in zip(labels, model["relatives"], strict=True)
    ]
    caption = (
        f"The chance that {person} carries the trait, if all that is known is whether one relative does: the hollow "
        "dot if not, the full one if so. No release is needed for this, and no noise on one changes it."
    )
    return Drawing(charts.shifts(rows, f"chance that {person} carries it, in percent"), caption)


def _before(one: Document) -> dict[str, str]:
    known = one["plain"]["known_before"]
    return {
        "share": f"{one['known_share']:.0%}",
        "nats": _figure(known["nats"]),
        "bits": _figure(known["bits"]),
        "log_odds": _figure(known["log_odds"]),
    }


def _added(one: Document, way: str) -> dict[str, str]:
    added = one[way]["added"]
    return {
        "share": f"{one['known_share']:.0%}",
        "way": WAYS[way],
        "nats": f"{_figure(added['nats'])} ± {_figure(added['standard_error_nats'])}",
        "bits": _figure(added["bits"]),
        "log_odds": _figure(added["largest_log_odds_at_any_answer"]),
    }


def _guesses(one: Document) -> dict[str, str]:
    said = {"share": f"{one['known_share']:.0%}"}
    for name in ("naive", "attack", "control"):
        found = one["plain"]["guesses"][name]
        low, high = found["interval"]
        said[name] = f"{found['share']:.0%} ({low:.0%} to {high:.0%})"
    return said


def _figure(value: float | str) -> str:
    """Write a figure with two decimals, a small one with four; what has no bound is said so."""
    if isinstance(value, str) or not math.isfinite(value):
        return "without bound"
    digits = 2 if abs(value) >= LEAST else 4
    return f"{value:.{digits}f}".replace("-0.0000", "0.0000").replace("-", "−").replace("0.0000", "0")
