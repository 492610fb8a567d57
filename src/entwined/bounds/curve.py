"""The sensitivity curve: what the same mechanism leaks if units depend on each other more than the model says."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from entwined.bounds.choose import ask, theorems_taking
from entwined.bounds.exposure import Exposure
from entwined.bounds.theorem import Knowledge, Theorem
from entwined.dependence import Dependence
from entwined.errors import BadModel, DoesNotApply

SHARES: Final = (0.0, 0.1, 0.25, 0.5)
FARTHER: Final = (1.0, 2.0, 4.0)  # where a crossing is sought beyond the shares that are shown
HALVINGS: Final = 12


@dataclass(frozen=True, slots=True)
class Point:
    """What leaks if dependence is stronger by a share, by a theorem; infinite where `why_not` says why."""

    share: float
    leakage: float
    theorem: Theorem | None
    why_not: str = ""

    @property
    def document(self) -> dict[str, Any]:
        """The same as a part of a report; JSON has no infinity."""
        if self.theorem is None:
            return {"share": self.share, "why_not": self.why_not}
        return {"share": self.share, "leakage": self.leakage, "theorem": self.theorem.name}


@dataclass(frozen=True, slots=True)
class Curve:
    """How a claim would move if `strength` were larger by a share of itself.

    `holds_up_to` is the largest share found at which the claim is within the cap, as it is at every smaller one
    that was tried; nothing if there is no cap, or if the model as it stands is over it. With `and_beyond` no
    share was found that breaks the cap.
    """

    strength: str
    points: tuple[Point, ...]
    cap: float | None = None
    holds_up_to: float | None = None
    and_beyond: bool = False

    @property
    def document(self) -> dict[str, Any]:
        """The same as a part of a report."""
        crossing = {"cap": self.cap, "holds_up_to": self.holds_up_to, "and_beyond": self.and_beyond}
        return {
            "strength": self.strength,
            "points": [point.document for point in self.points],
            **({} if self.cap is None else crossing),
        }


def curve(
    model: Dependence,
    exposure: Exposure,
    knowledge: Knowledge = "any",
    shares: Sequence[float] = SHARES,
    cap: float | None = None,
    theorems: Sequence[Theorem] = (),
) -> Curve:
    """Bound what the same exposure leaks if the dependence were stronger by these shares, and where the cap breaks.

    With `theorems` only these are asked, which is quicker and never wrong.

    >>> from entwined.dependence import Box, MarkovChain
    >>> from entwined.loss import Loss
    >>> pair = MarkovChain(2, Box.exact([[0.9, 0.1], [0.1, 0.9]]))
    >>> shown = curve(pair, Loss.uniform(1, 2), cap=1.9)
    >>> [round(point.leakage, 3) for point in shown.points], round(shown.holds_up_to, 2)
    ([1.794, 1.831, 1.875, 1.926], 0.36)
    """
    probe = Probe(model, exposure, knowledge, tuple(theorems) or theorems_taking(type(exposure)))
    points = tuple(probe.point(share) for share in shares)
    if cap is None:
        return Curve(model.strength, points)
    tightest = tuple(dict.fromkeys(point.theorem for point in points if point.theorem is not None))
    holds, breaks = replace(probe, theorems=tightest).crossing(cap, sorted({0.0, *shares, *FARTHER}))
    return Curve(model.strength, points, cap, holds, and_beyond=breaks is None)


@dataclass(frozen=True, slots=True)
class Probe:
    """A model, an exposure, an adversary, and the theorems that are asked again and again."""

    model: Dependence
    exposure: Exposure
    knowledge: Knowledge
    theorems: tuple[Theorem, ...]

    def point(self, share: float) -> Point:
        """Bound the leakage under the stronger model by the best of the theorems."""
        try:
            stronger = self.model.stronger(share)
        except (BadModel, DoesNotApply) as reason:  # there is no such law
            return Point(share, math.inf, None, str(reason))
        exposure = self.exposure.widened(stronger.units)
        said = [ask(theorem, stronger, exposure, self.knowledge) for theorem in self.theorems]
        proved = [(answer.leakage.worst, answer.theorem) for answer in said if answer.leakage is not None]
        if not proved:
            return Point(share, math.inf, None, "No theorem bounds so strong a dependence.")
        return Point(share, *min(proved, key=lambda proof: proof[0]))

    def crossing(self, cap: float, shares: Iterable[float]) -> tuple[float | None, float | None]:
        """Go from share to share until the cap breaks, and halve between the last that holds and that one."""
        holds: float | None = None
        for share in shares:
            if self.point(share).leakage > cap:
                return (None, share) if holds is None else self._halved(cap, holds, share)
            holds = share
        return holds, None

    def _halved(self, cap: float, holds: float, breaks: float) -> tuple[float, float]:
        for _ in range(HALVINGS):
            middle = (holds + breaks) / 2
            within = self.point(middle).leakage <= cap
            holds, breaks = (middle, breaks) if within else (holds, middle)
        return holds, breaks
