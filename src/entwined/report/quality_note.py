"""What a plan and a report say first about the quality of their numbers: a summary, a warning, what would help."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from entwined.estimate.answers import Release
from entwined.estimate.guess import BesideGuess, beside_guess
from entwined.estimate.quality import tallied, tally_words
from entwined.report.words import readable

LONGEST: Final = 600
MOST: Final = 0.5  # of the numbers
PLANNED: Final[dict[str, str]] = {
    "publish": "Expected to be publishable.",
    "with care": "Expected to be publishable with care.",
    "not": "Not to be published alone.",
    "unknown": "Quality unknown.",
}


@dataclass(frozen=True, slots=True)
class QualityNote:
    """How many numbers are in each class, a warning, the best that could be done about it, and what else would help."""

    summary: str = ""
    warning: str = ""
    best: str = ""
    others: Sequence[Mapping[str, Any]] = ()


def plan_note(document: Mapping[str, Any]) -> QualityNote:
    """Read what a plan says of the quality of its statistics."""
    quality = document["quality"]
    others = [{**remedy, "do": readable(remedy["do"], LONGEST)} for remedy in quality["helps"][1:]]
    return QualityNote(
        readable(quality["summary"], LONGEST),
        readable(quality["warning"] or "", LONGEST),
        readable(quality["best"] or "", LONGEST),
        others,
    )


def release_note(release: Release, outlook: Mapping[str, Any]) -> QualityNote:
    """Judge the released numbers, tables beside a uniform guess too; what would help stands in the plan."""
    levels = [level for answer in release.answers for level in answer.levels]
    counts = tallied(levels)
    summary = f"{tally_words(counts)}."
    drowned = sum({"not"} == set(answer.levels) for answer in release.answers)
    sentences = []
    if drowned:
        sentences.append(
            f"{drowned:,} of {len(release.answers):,} statistics have no number that could be published, even with "
            "care."
        )
    guess = beside_guess(release)
    if guess is not None and (drowned or _no_better(guess, counts["not"], len(levels))):
        sentences.append(guess.words)
    if not sentences:
        return QualityNote(summary)
    planned = plan_note(outlook)
    return QualityNote(summary, " ".join(sentences), planned.best, planned.others)


def quality_words(statistic: Mapping[str, Any]) -> str:
    """Say what quality a plan expects of a statistic, and which of its numbers could be published."""
    parts = (PLANNED[statistic["quality"]], statistic["reason"], statistic["thresholds"])
    return readable(" ".join(filter(None, parts)), LONGEST)


def _no_better(guess: BesideGuess, unfit: int, numbers: int) -> bool:
    """Say whether guessing would have been as good; where noise is small that is chance, and no fault of it."""
    return guess.is_worse and unfit > MOST * numbers
