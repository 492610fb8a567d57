"""A dependence model as a picture: who is tied to whom, the stronger the wider the line, and the strongest in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from entwined.dependence import Coupled, Dependence, Groups
from entwined.report.drawings import Drawing
from entwined.report.wheel import Chord, wheel

MOST_UNITS: Final = 24
MOST_TOLD: Final = 12
MILLION: Final = 10**6
WIDTHS: Final = (0.75, 1.5, 3.0, 5.0)
OF_GROUPS: Final = (
    "One group of the largest size: inside it anything may depend on anything, and groups are independent."
)


@dataclass(frozen=True, slots=True)
class StrongTie:
    """Two units that depend on each other, and by how much the one can move the log odds of the other."""

    one: str
    other: str
    log_odds: float

    @property
    def times(self) -> str:
        """How many times as likely a value of the one can become by what the other is, in words."""
        if math.isinf(self.log_odds):
            return "one can rule out a value of the other"
        if self.log_odds > math.log(MILLION):
            return "odds change over a million times"
        times = math.exp(self.log_odds)
        return f"odds change up to {round(times, 2 - math.floor(math.log10(times))):,g} times"


def strongest_ties(model: Dependence, most: int = MOST_TOLD) -> list[StrongTie]:
    """List the strongest ties of a model, strongest first; none for models whose ties have no names."""
    if not isinstance(model, Coupled):
        return []
    ends, odds = model.pairs
    order = sorted(range(len(odds)), key=lambda at: (-odds[at], at))
    return [
        StrongTie(_name(model, int(ends[at, 0])), _name(model, int(ends[at, 1])), float(odds[at]))
        for at in order[:most]
        if odds[at] > 0
    ]


def model_drawing(model: Dependence) -> Drawing | None:
    """Draw a model: its strongest ties, and the units that have them."""
    if isinstance(model, Groups):
        shown = [f"row {number + 1}" for number in range(min(model.largest, MOST_UNITS))]
        lines = [Chord(*pair) for pair in combinations(shown, 2)]
        few = "" if len(shown) == model.largest else f" {len(shown)} of its {model.largest:,} rows are drawn."
        return Drawing(wheel(shown, lines, OF_GROUPS), OF_GROUPS + few)
    ties = strongest_ties(model, 4 * MOST_UNITS)
    names = list(dict.fromkeys(name for tie in ties for name in (tie.one, tie.other)))[:MOST_UNITS]
    if len(names) < 2:  # noqa: PLR2004  (a line has two ends)
        return None
    kept = [tie for tie in ties if tie.one in names and tie.other in names]
    caption = (
        f"{len(kept)} ties between {len(names)} of {model.units:,}, the strongest first; the wider a line, the more "
        "one says about the other. Not causal."
    )
    return Drawing(wheel(names, _lines(kept), caption), caption)


def _lines(ties: Sequence[StrongTie]) -> list[Chord]:
    """Give each tie one of a few widths, by its share of the strongest finite one."""
    finite = [tie.log_odds for tie in ties if not math.isinf(tie.log_odds)]
    largest = max(finite, default=1.0)
    return [
        Chord(
            tie.one,
            tie.other,
            WIDTHS[-1]
            if math.isinf(tie.log_odds)
            else WIDTHS[min(int(len(WIDTHS) * tie.log_odds / largest), len(WIDTHS) - 1)],
        )
        for tie in ties
    ]


def _name(model: Dependence, place: int) -> str:
    """Name a unit without the quotes of a sentence."""
    called = model.called(place)
    return called[1:-1] if len(called) > 1 and called[0] == called[-1] and called[0] in "'\"" else called
