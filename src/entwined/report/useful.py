"""What stands at the head of a plan and a report where numbers are of no use: the warning, and what would help."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from entwined.estimate.answers import Release
from entwined.estimate.guess import BesideGuess, beside_guess
from entwined.report.words import readable

LONGEST: Final = 600


@dataclass(frozen=True, slots=True)
class Useful:
    """A warning, the best that could be done about it, and the other things that would help."""

    warning: str = ""
    best: str = ""
    others: Sequence[Mapping[str, Any]] = ()


def useful_plan(document: Mapping[str, Any]) -> Useful:
    """Read what a plan says of its numbers; older plans say nothing."""
    told = document.get("usefulness") or {}
    others = [{**one, "do": readable(one["do"], LONGEST)} for one in told.get("helps", ())[1:]]
    return Useful(
        readable(told.get("warning") or "", LONGEST), readable(told.get("best") or "", LONGEST), others
    )


def useful_release(release: Release, outlook: Mapping[str, Any]) -> Useful:
    """Judge the released numbers themselves, each table beside a guess; what would help stands in the plan."""
    bad = sum(not one.usable for one in release.answers)
    guess = beside_guess(release)
    coarse = bool((outlook.get("usefulness") or {}).get("is_coarse"))
    said = [f"{bad:,} of {len(release.answers):,} statistics are not usable; each is marked."] if bad else []
    if guess is not None and (bad or _no_better(guess, coarse=coarse)):
        said.append(guess.words)
    if not said:
        return Useful()
    ahead = useful_plan(outlook)
    return Useful(" ".join(said), ahead.best, ahead.others)


def _no_better(guess: BesideGuess, *, coarse: bool) -> bool:
    """Say whether guessing would have been as good; where noise is small that is chance, and no fault of it."""
    return coarse and guess.is_worse
