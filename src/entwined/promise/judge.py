"""What a loss leaks under one model, by the few theorems that are worth asking about it every time.

Every theorem is a valid bound, so asking fewer of them is never wrong, only perhaps less tight. Which ones
are worth it is found out once for a model, at two losses: those that are the tightest at one of them. It
depends on nothing but the model, so that equal losses always have equal prices.
"""

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Final, TypeVar

from entwined.bounds.affiliation import affiliation_bound
from entwined.bounds.calibrate import CLOSE, largest_multiple
from entwined.bounds.choose import Bound, known, theorems_taking
from entwined.bounds.curve import Curve, Probe
from entwined.bounds.elimination import elimination_bound, elimination_without_knowledge_bound
from entwined.bounds.exposure import Exposure
from entwined.bounds.hints import Hint, hints_for
from entwined.bounds.path_blocks import path_messages_bound, path_transport_bound
from entwined.bounds.theorem import KNOWLEDGE, Knowledge, Theorem
from entwined.bounds.tilted import tilted_transport_bound
from entwined.bounds.walks import self_avoiding_walks_bound
from entwined.dependence import Dependence
from entwined.errors import DoesNotApply, NoTheorem, Refused, Unreachable
from entwined.loss import Loss
from entwined.numbers import float_below

Answer = TypeVar("Answer")
REFERENCES: Final = (0.1, 1.0)
NEEDS: Final = (
    ("separable",),
    ("shared",),
    ("gaussian",),
    (),
)  # facts of an exposure that theorems need, the most telling first
REMEMBERED: Final = 64
NEAR: Final = 1e-6
BETTER: Final = 1e-6  # how much tighter a slower theorem has to be
STRONGER: Final = (0.1, 0.25, 0.5)  # by how much stronger dependence is tried
MOST_DRAWN: Final = 10_000
MOST_HINTED: Final = (
    100  # units with which a plan tries what further knowledge would be worth; more if all are alike
)
MANY: Final = 100  # with more units under Gaussian noise one point of the curve is enough: each takes long
LARGE: Final = 100_000  # the most units for which a plan asks theorems that a release does not ask
FEW: Final = 20  # the same for Gaussian noise, where bounds take longer
SLOW: Final = (  # the most units with which these take milliseconds
    (self_avoiding_walks_bound, 24),
    (elimination_bound, 5),
    (elimination_without_knowledge_bound, 5),
    (affiliation_bound, 10),
    (path_messages_bound, 128),
    (path_transport_bound, 128),
)


@dataclass(frozen=True, eq=False)
class Judge:
    """A model, an adversary, and the theorems that bound what that adversary learns."""

    model: Dependence
    knowledge: Knowledge
    trusting: tuple[str, ...] = ()
    _largest: dict[tuple[Hashable, Fraction, float], float] = field(default_factory=dict)
    _bounds: dict[Hashable, Bound[Exposure]] = field(default_factory=dict)
    _stronger: dict[float, Dependence] = field(default_factory=dict)

    @cached_property
    def theorems(self) -> tuple[Theorem, ...]:
        """The theorems that are tightest somewhere, first those that are quick."""
        slow = {id(theorem): most for theorem, most in SLOW}
        asked = [
            one for one in known(self.trusting) if self.model.units <= slow.get(id(one), self.model.units)
        ]
        asked.sort(key=lambda one: id(one) in slow or one is tilted_transport_bound)
        found = [self._tightest(asked, Loss.uniform(at, self.model.units)) for at in REFERENCES]
        kept = tuple(dict.fromkeys(one for one in found if one is not None))
        if not kept:
            raise NoTheorem(
                f"No theorem bounds this {self.model.kind} model for an adversary of knowledge "
                f"{self.knowledge!r}. Declare groups, which every dependence fits into."
            )
        return kept

    def takes_long(self, theorem: Theorem, exposure: Exposure) -> str:
        """Say why a plan does not ask a theorem that a release does not ask either; nothing if it is quick."""
        units = self.model.units
        if isinstance(exposure, Loss):
            most = next((most for known, most in SLOW if known is theorem), LARGE)
            known = theorem.name == "group" or units <= most or theorem in self.theorems
        else:
            first = self.tiers(exposure)[0]
            known = units <= FEW or theorem.about is Dependence or theorem in first
        return (
            ""
            if known
            else f"It takes long with {units:,} units, and a release does not ask it; `entwined bound` does."
        )

    def _tightest(self, asked: list[Theorem], loss: Loss) -> Theorem | None:
        best, tightest = math.inf, None
        answered: set[str] = set()
        for theorem in asked:
            if not answered.isdisjoint(theorem.yields_to):
                continue  # it says no less
            worst = self._worst(theorem, loss)
            if worst is not None:
                answered.add(theorem.name)
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

    def tiers(self, exposure: Exposure) -> list[tuple[Theorem, ...]]:
        """The theorems to ask of an exposure: the first tier of which one answers, and the last, about groups.

        What needs more to be known of a release says more of it, and so does what needs the adversary to know no more.
        """
        if isinstance(exposure, Loss):
            return [self.theorems, ()]
        able = [
            theorem
            for theorem in theorems_taking(type(exposure), self.trusting)
            if theorem.covers(self.knowledge) and isinstance(self.model, theorem.about)
        ]
        fit = [one for one in able if all(getattr(exposure, fact, False) for fact in one.needs)]
        groups = tuple(one for one in fit if one.about is Dependence)
        tiers = [
            tuple(
                one for one in fit if one not in groups and (one.needs, one.knowledge) == (needs, knowledge)
            )
            for needs, knowledge in product(NEEDS, reversed(KNOWLEDGE))
        ]
        return [*filter(None, tiers), groups]

    def _asked(self, exposure: Exposure, ask: Callable[[Theorem], Answer]) -> tuple[list[Answer], list[str]]:
        """Ask tier by tier; give what was said, and why other theorems said nothing."""
        *tiers, groups = self.tiers(exposure)
        said: list[Answer] = []
        reasons: list[str] = []
        answered: set[str] = set()
        for tier in [*tiers, groups]:
            if said and tier is not groups:
                continue
            for theorem in tier:
                if not answered.isdisjoint(theorem.yields_to):  # it says no less
                    continue
                try:
                    said.append(ask(theorem))
                    answered.add(theorem.name)
                except (DoesNotApply, Unreachable) as reason:
                    reasons.append(f"{theorem.name}: {reason}")
        return said, reasons

    def bound(self, exposure: Exposure) -> Bound[Exposure]:
        """Bound what an exposure leaks; what was asked lately is remembered."""
        key = _key(exposure)
        known = self._bounds.get(key)
        if known is None:
            if len(self._bounds) >= REMEMBERED:
                self._bounds.clear()
            known = self._bounds[key] = self._bound(exposure)
        return known

    def _bound(self, exposure: Exposure) -> Bound[Exposure]:
        said, _ = self._asked(exposure, lambda theorem: (theorem, theorem(exposure, self.model)))
        if not said:
            raise NoTheorem(f"No theorem bounds these losses under the {self.model.kind} model. Lower them.")
        theorem, leakage = min(said, key=lambda one: one[1].worst)
        return Bound(self.model, exposure, self.knowledge, theorem, leakage, ())

    def hints(self, exposure: Exposure) -> tuple[Hint, ...]:
        """What further knowledge would lower what the same noise leaks."""
        if self.model.units > (MOST_DRAWN if self.model.alike else MOST_HINTED):
            return ()
        return hints_for(self.bound(exposure), self._again, noise=False)

    def _again(self, model: Dependence, exposure: Exposure, knowledge: Knowledge) -> float:
        """Bound another model or adversary; refuse what no release is made for."""
        if knowledge == "values":
            raise Refused("A release is made for knowledge any or model.")
        return Judge(model, knowledge, self.trusting).bound(exposure).leakage.worst

    def curve(self, exposure: Exposure, cap: float | None = None) -> Curve:
        """Bound what an exposure leaks if dependence is stronger, by the theorems that bound it as it is."""
        if self.model.units > MOST_DRAWN:
            why = (
                f"The model has {self.model.units:,} units, and stronger dependence is tried for {MOST_DRAWN:,} "
                "at most, so that a release stays quick."
            )
            return Curve(self.model.strength, (), why_not=why)
        asked = self.theorems if isinstance(exposure, Loss) else (self.bound(exposure).theorem,)
        many = not isinstance(exposure, Loss) and self.model.units > MANY
        shares = STRONGER[1:2] if many else STRONGER
        return Probe(self._made, exposure, self.knowledge, asked).curve(self.model.strength, shares, cap)

    def _made(self, share: float) -> Dependence:
        """Make the model stronger by a share; those of every curve are remembered, with what was worked out of them."""
        if share not in STRONGER:
            return self.model.stronger(share)
        if share not in self._stronger:
            self._stronger[share] = self.model.stronger(share)
        return self._stronger[share]

    def largest(
        self, shape: Exposure, leakage: Fraction, close: float | None = None, first: float = 1.0
    ) -> float:
        """Find the largest multiple of an exposure that leaks at most so much; each is worked out once.

        `first` is the multiple to try first, for who has an idea.
        """
        near = _close(shape) if close is None else close
        key = _key(shape), leakage, near
        found = self._largest.get(key)
        if found is None:
            found = self._largest_multiple(shape, leakage, near, first)
            if len(self._largest) >= REMEMBERED:
                self._largest.clear()
            self._largest[key] = found
        return found

    def _largest_multiple(self, shape: Exposure, leakage: Fraction, near: float, first: float) -> float:
        ceiling = float_below(leakage)

        best = 0.0

        def largest(theorem: Theorem) -> float:
            nonlocal best
            if not best or theorem(shape * best, self.model).worst <= ceiling:  # else it allows less
                found = largest_multiple(
                    theorem, self.model, shape, ceiling, self.knowledge, near, best or first
                )
                best = max(best, found.multiple)
            return best

        reached, reasons = self._asked(shape, largest)
        if not reached:
            raise Unreachable(f"No loss leaks at most {float(leakage):.6g}. " + " ".join(reasons))
        return max(reached)


def _close(exposure: Exposure) -> float:
    """How near to the limit it is worth to come: profiles take long."""
    return CLOSE if isinstance(exposure, Loss) else NEAR


def _key(exposure: Exposure) -> Hashable:
    """What tells exposures apart."""
    if not isinstance(exposure, Loss):
        return exposure  # a frozen value
    return exposure.per_unit.tobytes() if exposure.common is None else (exposure.common, exposure.units)
