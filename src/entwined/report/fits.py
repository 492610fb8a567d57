"""Whether a statistic is of use, as the plan judged it: one that is not is shown grey, with the reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from entwined.report.words import readable

LONGEST_REASON: Final = 400


@dataclass(frozen=True, slots=True)
class Fit:
    """The judgement on one statistic; plans of older versions have none, and say nothing against it."""

    usable: bool = True
    why: str = ""


def fit_of(statistic: Mapping[str, Any]) -> Fit:
    """Read the judgement on a statistic from its place in a plan."""
    return Fit(bool(statistic.get("usable", True)), readable(statistic.get("why") or "", LONGEST_REASON))


def fits_of(document: Mapping[str, Any], names: Sequence[str]) -> list[Fit]:
    """Read the judgements on the statistics of a release, in their order."""
    planned = document.get("statistics") or ()
    if [one["name"] for one in planned] != list(names):
        return [Fit()] * len(names)
    return [fit_of(one) for one in planned]
