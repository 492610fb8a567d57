"""The sensitivity curve: what the same mechanism leaks if units depend on each other more than the model says."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from entwined.bounds.choose import ask, theorems_taking
from entwined.bounds.exposure import Exposure
from entwined.bounds.theorem import Knowledge, Theorem
from entwined.canonical import Document
from entwined.dependence import Dependence
from entwined.errors import BadLoss, BadModel, DoesNotApply
from entwined.showing import Tabled

SHARES: Final = (0.0, 0.1, 0.25, 0.5)
FARTHER: Final = (1.0, 2.0, 4.0)  # where a crossing is sought beyond the shares that are shown
NARROW: Final = 1 / 1024  # how closely a crossing is found
USED_UP: Final = 1e-6  # what is left of a cap, as a share of it, where no crossing is sought
TIED: Final = 1e-9  # theorems as close as this prove the same: the first of them is named


@dataclass(frozen=True, slots=True)
class Point:
    """What leaks if dependence is stronger by a share, by a theorem; infinite where `why_not` says why."""

    share: float
    leakage: float
    theorem: Theorem | None
    why_not: str = ""

    @property
    def document(self) -> Document:
        """The same as a part of a report; JSON has no infinity."""
        if self.theorem is None:
            return {"share": self.share, "why_not": self.why_not}
        return {"share": self.share, "leakage": self.leakage, "theorem": self.theorem.name}


@dataclass(frozen=True, slots=True, repr=False)
class Curve(Tabled):
    """How a claim would move if `strength` were larger by a share of itself.

    `holds_up_to` is the largest share found at which the claim is within the cap, as it is at every smaller one
    that was tried; nothing if there is no cap, or if the model as it stands is over it. With `and_beyond` no
    share was found that breaks the cap. Where there is no curve, `why_not` says why.
    """

    strength: str
    points: tuple[Point, ...]
    cap: float | None = None
    holds_up_to: float | None = None
    and_beyond: bool = False
    why_not: str = ""

    @property
    def document(self) -> Document:
        """The same as a part of a report."""
        if self.why_not:
            return {"strength": self.strength, "why_not": self.why_not}
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
    asked = tuple(theorems) or theorems_taking(type(exposure))
    return Probe(model.stronger, exposure, knowledge, asked).curve(model.strength, shares, cap)


@dataclass(frozen=True, slots=True)
class Probe:
    """Models by how much stronger they are, an exposure, an adversary, and the theorems that are asked of each."""

    stronger: Callable[[float], Dependence]
    exposure: Exposure
    knowledge: Knowledge
    theorems: tuple[Theorem, ...]

    def curve(self, strength: str, shares: Sequence[float], cap: float | None) -> Curve:
        """Bound the leakage at every share, and find where a cap breaks."""
        points = {share: self.point(share) for share in shares}
        shown = tuple(points.values())
        if cap is None:
            return Curve(strength, shown)
        tightest = tuple(dict.fromkeys(point.theorem for point in shown if point.theorem is not None))
        holds, breaks = replace(self, theorems=tightest or self.theorems).crossing(cap, points)
        return Curve(strength, shown, cap, holds, and_beyond=breaks is None)

    def point(self, share: float) -> Point:
        """Bound the leakage under the stronger model by the best of the theorems."""
        try:
            stronger = self.stronger(share)
            exposure = self.exposure.widened(stronger.units)
            said = [ask(theorem, stronger, exposure, self.knowledge) for theorem in self.theorems]
        except (BadModel, BadLoss, DoesNotApply) as reason:  # there is no such law, or nothing to say of it
            return Point(share, math.inf, None, str(reason))
        proved = [(answer.leakage.worst, answer.theorem) for answer in said if answer.leakage is not None]
        least = min((leakage for leakage, _ in proved), default=math.inf)
        if math.isinf(least):
            return Point(share, math.inf, None, "No theorem bounds so strong a dependence.")
        return Point(share, *next(proof for proof in proved if proof[0] <= least * (1 + TIED)))

    def crossing(self, cap: float, known: Mapping[float, Point]) -> tuple[float | None, float | None]:
        """Go from share to share until the cap breaks, and halve between the last that holds and that one."""
        holds: float | None = None
        left = math.inf
        for share in sorted({0.0, *known, *FARTHER}):
            leakage = (known.get(share) or self.point(share)).leakage
            if leakage > cap:
                close = holds is None or left <= USED_UP * cap
                return (holds, share) if close else self._halved(cap, holds or 0.0, share)
            holds, left = share, cap - leakage
        return holds, None

    def _halved(self, cap: float, holds: float, breaks: float) -> tuple[float, float]:
        while breaks - holds > NARROW:
            middle = (holds + breaks) / 2
            within = self.point(middle).leakage <= cap
            holds, breaks = (middle, breaks) if within else (holds, middle)
        return holds, breaks
