"""The ways to protect a release side by side, from the plan's document: what each really leaks, and its noise."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from entwined.report import charts
from entwined.report.claims import exact, worst
from entwined.report.drawings import Drawing
from entwined.report.words import figure, readable


@dataclass(frozen=True, slots=True)
class WayShown:
    """One way to protect, as it is shown."""

    title: str
    theorem: str
    loss: str
    noise: str
    leakage: tuple[tuple[str, str], ...]
    worst: float | None
    keeps: bool
    applies: bool
    proposed: bool
    why: str

    @property
    def said(self) -> str:
        """What it really leaks, in figures."""
        return "–" if self.worst is None else figure(self.worst, up=True)

    def under(self, model: str) -> str:
        """What it leaks under one model, in figures."""
        return dict(self.leakage).get(model, "–")


def ways_of(document: Mapping[str, Any]) -> list[WayShown]:
    """Read the ways of a plan, those that apply first."""
    found = [_way(way, document) for way in document["ways"]]
    return sorted(found, key=lambda way: not way.applies)


def _way(way: Mapping[str, Any], document: Mapping[str, Any]) -> WayShown:
    leakage = {name: amount for name, amount in (way.get("leakage") or {}).items() if amount is not None}
    loss = way.get("loss")
    reached = max((float(exact(amount)) for amount in leakage.values()), default=None)
    if reached is None and way["applies"] and loss is not None:
        reached = float(exact(loss))  # without models a loss is what leaks
    return WayShown(
        title=readable(way["title"]),
        theorem=readable(way.get("theorem") or ""),
        loss="–" if loss is None else figure(float(exact(loss)), up=True),
        noise=_compared(way, document),
        leakage=tuple(
            (readable(name), figure(float(exact(amount)), up=True)) for name, amount in leakage.items()
        ),
        worst=reached if way["applies"] else None,
        keeps=bool(way["keeps_promise"]),
        applies=bool(way["applies"]),
        proposed=way["way"] == document.get("proposed"),
        why=readable(way.get("why") or ""),
    )


def _compared(way: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Say how many times the noise of the proposed way another one needs: scales go as 1/ε, or as 1/√ρ."""
    loss = {one["way"]: one.get("loss_of_each_statistic") for one in document["ways"] if one["applies"]}
    mine, other = loss.get(document.get("proposed")), loss.get(way["way"])
    if not mine or not other:
        return "–"
    ratio = float(mine) / float(other)
    return f"× {figure(math.sqrt(ratio) if document.get('delta') else ratio)}"


def promised(document: Mapping[str, Any]) -> float | None:
    """What was asked for, where that is a leakage."""
    asked = document.get("asked", {}).get("leakage")
    return None if asked is None else float(exact(asked))


def leaks_drawing(document: Mapping[str, Any]) -> Drawing | None:
    """Draw what the ways that apply really leak."""
    shown = [way for way in ways_of(document) if way.worst is not None]
    if not shown:
        return None
    rows = [
        {"label": label, "value": way.worst, "said": way.said, "kept": "yes" if way.keeps else "no"}
        for label, way in zip(charts.labelled([way.title for way in shown]), shown, strict=True)
    ]
    limit = promised(document)
    line = "" if limit is None else f" The dashed line is the promise, {figure(limit)}."
    return Drawing(
        charts.compared(rows, "leakage: the ε that an adversary really gets", limit),
        f"What the release leaks under the declared dependence, for each way to set its noise.{line}",
    )


@dataclass(frozen=True, slots=True)
class BudgetShown:
    """What was spent before and after, of what may ever be."""

    ledger: str
    cap: float
    before: float
    after: float
    refused: str = ""
    series_in_all: float | None = None  # the same losses, counted for a whole series of a panel
    unanswered: tuple[str, ...] = ()  # what was charged before without an answer

    @property
    def left(self) -> float:
        """What may still be spent."""
        return max(self.cap - self.after, 0.0)

    def part(self, amount: float) -> str:
        """Give an amount as a share of the cap, for the width of a bar."""
        return f"{min(max(amount / self.cap, 0.0), 1.0) * 100:.2f}%"


def budget_of(document: Mapping[str, Any]) -> BudgetShown | None:
    """Read the budget of a plan."""
    given = document.get("budget")
    if not given or given.get("cap") is None:
        return None
    return BudgetShown(
        ledger=readable(given.get("ledger") or ""),
        cap=float(exact(given["cap"])),
        before=worst(given["spent"]),
        after=worst(given["spent" if given.get("again") else "after"]),
        refused=readable(given.get("refused") or ""),
        series_in_all=given.get("series_in_all"),
        unanswered=tuple(readable(line, 400) for line in given.get("unanswered", ())),
    )


def exploratory(document: Mapping[str, Any]) -> list[str]:
    """Name the models that were learned without a budget."""
    return [
        readable(model["name"])
        for model in document.get("models", ())
        if model.get("source") == "exploratory"
    ]
