"""What a loss leaks under one model, by the few theorems that are worth asking about it every time.

Every theorem is a valid bound, so asking fewer of them is never wrong, only perhaps less tight. Which ones
are worth it is found out once for a model, at two losses: those that are the tightest at one of them. It
depends on nothing but the model, so that equal losses always have equal prices.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Final

from entwined.bounds.calibrate import largest_multiple
from entwined.bounds.choose import THEOREMS, Bound, bound
from entwined.bounds.curve import Curve, Probe
from entwined.bounds.elimination import elimination_bound, elimination_without_knowledge_bound
from entwined.bounds.exposure import Exposure
from entwined.bounds.theorem import Knowledge, Theorem
from entwined.bounds.walks import self_avoiding_walks_bound
from entwined.dependence import Dependence
from entwined.errors import DoesNotApply, NoTheorem, Unreachable
from entwined.loss import Leakage, Loss
from entwined.numbers import float_below

REFERENCES: Final = (0.1, 1.0)
REMEMBERED: Final = 64
BETTER: Final = 1e-6  # how much tighter a slower theorem has to be
STRONGER: Final = (0.1, 0.25, 0.5)  # by how much stronger dependence is tried
MOST_DRAWN: Final = 10_000
SLOW: Final = (  # the most units with which these take milliseconds
    (self_avoiding_walks_bound, 24),
    (elimination_bound, 5),
    (elimination_without_knowledge_bound, 5),
)


@dataclass(frozen=True, eq=False)
class Judge:
    """A model, an adversary, and the theorems that bound what that adversary learns."""

    model: Dependence
    knowledge: Knowledge
    _uniform: dict[Fraction, float] = field(default_factory=dict)
    _bounds: dict[bytes | tuple[float, int], Bound[Exposure]] = field(default_factory=dict)
    _stronger: dict[float, Dependence] = field(default_factory=dict)

    @cached_property
    def theorems(self) -> tuple[Theorem, ...]:
        """The theorems that are tightest somewhere, first those that are quick."""
        slow = {id(theorem): most for theorem, most in SLOW}
        asked = [one for one in THEOREMS if self.model.units <= slow.get(id(one), self.model.units)]
        asked.sort(key=lambda one: id(one) in slow)
        found = [self._tightest(asked, Loss.uniform(at, self.model.units)) for at in REFERENCES]
        kept = tuple(dict.fromkeys(one for one in found if one is not None))
        if not kept:
            raise NoTheorem(
                f"No theorem bounds this {self.model.kind} model for an adversary of knowledge "
                f"{self.knowledge!r}. Declare groups, which every dependence fits into."
            )
        return kept

    def _tightest(self, asked: list[Theorem], loss: Loss) -> Theorem | None:
        best, tightest = math.inf, None
        for theorem in asked:
            worst = self._worst(theorem, loss)
            if worst is not None and worst < best * (1 - BETTER):
                best, tightest = worst, theorem
        return tightest

    def _worst(self, theorem: Theorem, loss: Loss) -> float | None:
        if not theorem.covers(self.knowledge):
            return None
        try:
            return theorem(loss, self.model).worst
        except DoesNotApply:
            return None

    def bound(self, exposure: Exposure) -> Bound[Exposure]:
        """Bound what an exposure leaks; of pure losses, what was asked lately is remembered."""
        return (
            self._remembered(exposure)
            if isinstance(exposure, Loss)
            else bound(self.model, exposure, self.knowledge)
        )

    def _remembered(self, loss: Loss) -> Bound[Exposure]:
        key = loss.per_unit.tobytes() if loss.common is None else (loss.common, loss.units)
        known = self._bounds.get(key)
        if known is None:
            if len(self._bounds) >= REMEMBERED:
                self._bounds.clear()
            known = self._bounds[key] = self._bound(loss)
        return known

    def _bound(self, loss: Loss) -> Bound[Exposure]:
        found: tuple[Theorem, Leakage] | None = None
        for theorem in self.theorems:
            try:
                leakage = theorem(loss, self.model)
            except DoesNotApply:
                continue
            if found is None or leakage.worst < found[1].worst:
                found = theorem, leakage
        if found is None:
            raise NoTheorem(f"No theorem bounds these losses under the {self.model.kind} model. Lower them.")
        return Bound(self.model, loss, self.knowledge, *found, ())

    def curve(self, exposure: Exposure, cap: float | None = None) -> Curve:
        """Bound what an exposure leaks if dependence is stronger, by the theorems that bound it as it is."""
        if self.model.units > MOST_DRAWN:
            why = (
                f"The model has {self.model.units:,} units, and stronger dependence is tried for {MOST_DRAWN:,} "
                "at most, so that a release stays quick."
            )
            return Curve(self.model.strength, (), why_not=why)
        asked = self.theorems if isinstance(exposure, Loss) else (self.bound(exposure).theorem,)
        return Probe(self._made, exposure, self.knowledge, asked).curve(self.model.strength, STRONGER, cap)

    def _made(self, share: float) -> Dependence:
        """Make the model stronger by a share; those of every curve are remembered, with what was worked out of them."""
        if share not in STRONGER:
            return self.model.stronger(share)
        if share not in self._stronger:
            self._stronger[share] = self.model.stronger(share)
        return self._stronger[share]

    def largest_uniform(self, leakage: Fraction) -> float:
        """Find the largest loss of every unit that leaks at most so much; each is worked out once."""
        if leakage not in self._uniform:
            self._uniform[leakage] = self.largest(Loss.uniform(1, self.model.units), leakage)
        return self._uniform[leakage]

    def largest(self, shape: Loss, leakage: Fraction) -> float:
        """Find the largest multiple of a loss that leaks at most so much."""
        reached, reasons = [], []
        for theorem in self.theorems:
            try:
                found = largest_multiple(theorem, self.model, shape, float_below(leakage), self.knowledge)
            except (DoesNotApply, Unreachable) as reason:
                reasons.append(f"{theorem.name}: {reason}")
            else:
                reached.append(found.multiple)
        if not reached:
            raise Unreachable(f"No loss leaks at most {float(leakage):.6g}. " + " ".join(reasons))
        return max(reached)
