"""If the dependence is stronger than declared: the sensitivity curve of each model, in words and lines."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from entwined.report.claims import after, share
from entwined.report.words import figure, readable

EVEN: Final = 0.5


@dataclass(frozen=True, slots=True)
class Increase:
    """What leaks if dependence is stronger by a share of itself; nothing where no bound is known."""

    by: float
    leakage: float | None
    why_not: str = ""

    @property
    def larger(self) -> str:
        """By how much stronger."""
        return f"{percent(self.by)} larger" if self.by else "as declared"

    @property
    def leaks(self) -> str:
        """The most that leaks."""
        return "no bound" if self.leakage is None else figure(self.leakage, up=True)

    @property
    def belief(self) -> str:
        """The most that an even chance can become."""
        return "–" if self.leakage is None else share(after(EVEN, self.leakage))


@dataclass(frozen=True, slots=True)
class Stronger:
    """The curve of one model, as it is shown; `why_not` where there is none."""

    name: str
    strength: str
    steps: tuple[Increase, ...]
    holds: str
    why_not: str

    def width(self, step: Increase) -> str:
        """Give a leakage as a share of the largest that is shown, for the width of a bar."""
        most = max((one.leakage for one in self.steps if one.leakage is not None), default=0.0)
        return f"{100 * (step.leakage or 0.0) / (most or 1.0):.1f}%"

    @property
    def sentence(self) -> str:
        """All of it in a line."""
        if self.why_not:
            return f"{self.name}: {self.why_not}"
        first, *others = (step for step in self.steps if step.by)
        told = f"by {percent(first.by)}, the same noise would leak at most {first.leaks}"
        if first.leakage is None:
            told = f"by {percent(first.by)}, nothing bounds what the same noise would leak"
        rest = "".join(f"; by {percent(step.by)}: {step.leaks}" for step in others)
        return f"{self.name}: if {self.strength} were larger {told}{rest}." + (
            self.holds and f" {self.holds}"
        )


def stronger_of(name: str, curve: Mapping[str, Any], declared: float) -> Stronger:
    """Read the curve of a model that leaks so much as it was declared."""
    steps = [
        Increase(float(point["share"]), point.get("leakage"), readable(point.get("why_not", "")))
        for point in curve.get("points", ())
    ]
    return Stronger(
        readable(name),
        readable(curve["strength"]),
        (Increase(0.0, declared), *steps),
        _holds(curve),
        readable(curve.get("why_not", "")),
    )


def stronger_in(document: Mapping[str, Any]) -> list[Stronger]:
    """Read the curves of a plan, each from what the proposed way leaks; older plans have none."""
    proposed = next((way for way in document["ways"] if way["way"] == document.get("proposed")), None)
    leaks = {} if proposed is None else proposed["leakage"]
    return [
        stronger_of(model["name"], model["curve"], float(leaks[model["name"]]))
        for model in document["models"]
        if "curve" in model and leaks.get(model["name"]) is not None
    ]


def _holds(curve: Mapping[str, Any]) -> str:
    """Say up to where a cap holds, if there is one; rounded down."""
    if curve.get("cap") is None:
        return ""
    cap, share_ = figure(float(curve["cap"])), curve["holds_up_to"]
    if share_ is None:
        return f"As declared it is over the limit of {cap} already."
    if curve["and_beyond"]:
        return f"The limit of {cap} is kept even at {percent(share_)} more, the most that was tried."
    if percent(share_) == "0 %":
        return f"The limit of {cap} is kept as declared, with hardly any room for more."
    return f"The limit of {cap} is kept up to {percent(share_)} more."


def percent(part: float) -> str:
    """Write a share in whole per cent, rounded down.

    >>> percent(0.1), percent(0.2899), percent(4.0)
    ('10 %', '28 %', '400 %')
    """
    return f"{math.floor(part * 100 + 1e-9):,} %"
