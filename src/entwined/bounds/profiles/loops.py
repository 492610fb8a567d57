"""Profiles passed around loops: from the group's profile down, and every iterate is a valid bound.

Equal parts of a graph have equal messages at every step, so a profile is known by its number in a `Stock`, and what is
made of the same numbers is made once: many groups that are alike cost as much as one of them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from entwined.bounds.profiles.passing import Told
from entwined.bounds.profiles.profile import PrivacyProfile
from entwined.bounds.profiles.sway import TiltSway
from entwined.dependence import Couplings
from entwined.errors import DoesNotApply

MOST_ENTRIES: Final = 200_000
MOST_MADE: Final = 16_000
ROUNDS: Final = 40
SETTLED: Final = 1e-3


@dataclass(eq=False)
class Stock:
    """Profiles by number; what was made of which is remembered."""

    profiles: list[PrivacyProfile] = field(default_factory=list)
    made: dict[tuple[object, ...], int] = field(default_factory=dict)

    def of(self, profiles: Sequence[PrivacyProfile]) -> list[int]:
        """Number profiles, one that is given several times once."""
        return [self._once((id(one),), lambda one=one: one) for one in profiles]  # type: ignore[misc]  # an early binding

    def through(self, number: int, odds: float) -> int:
        """A profile a neighbour further."""
        return self._once(("through", number, odds), lambda: self.profiles[number].through(TiltSway(odds)))

    def beside(self, numbers: Iterable[int]) -> int:
        """One change after another, in the order of the numbers: any order is valid."""
        first, *others = sorted(numbers)
        for other in others:
            first = self._once(
                ("beside", first, other),
                lambda one=first, two=other: self.profiles[one].beside(self.profiles[two]),  # type: ignore[misc]
            )
        return first

    def least(self, first: int, second: int) -> int:
        """The smaller of two bounds at each point."""
        return self._once(("least", first, second), lambda: self.profiles[first].least(self.profiles[second]))

    def is_near(self, old: int, new: int) -> bool:
        """Whether a bound moved little."""
        return old == new or self.profiles[old].below(self.profiles[new].raised(SETTLED, 1e-15))

    def _once(self, how: tuple[object, ...], make: Callable[[], PrivacyProfile]) -> int:
        if how not in self.made:
            if len(self.made) >= MOST_MADE:
                raise DoesNotApply("Factors form loops of too many different kinds. The group covers it.")
            self.profiles.append(make())
            self.made[how] = len(self.profiles) - 1
        return self.made[how]


@dataclass(frozen=True, eq=False)
class Loops:
    """A factor graph with the profile of each unit and of its group; entries are pairs of a factor and a unit."""

    graph: Couplings
    own: Sequence[PrivacyProfile]
    group: Sequence[PrivacyProfile]

    def __post_init__(self) -> None:
        if self.graph.unit.size > MOST_ENTRIES:
            raise DoesNotApply(
                f"{self.graph.unit.size:,} units in factors take long where factors form loops; at most "
                f"{MOST_ENTRIES:,}. The group covers it."
            )

    def settled(self) -> Told:
        """Repeat from the group bound until little moves."""
        stock = Stock()
        own, group = stock.of(self.own), stock.of(self.group)
        units, factors = self.graph.unit.tolist(), self.graph.factor.tolist()
        odds = self.graph.log_odds.tolist()
        at_unit, at_factor = _places(units), _places(factors)

        def held(messages: Sequence[int], unit: int, skip: int) -> int:
            """A unit's own and all that sways it but by one entry, at most its group's."""
            parts = [messages[entry] for entry in at_unit[unit] if entry != skip]
            return stock.least(stock.beside([own[unit], *parts]), group[unit])

        messages = [stock.through(group[unit], sway) for unit, sway in zip(units, odds, strict=True)]
        for _ in range(ROUNDS):
            outgoing = [held(messages, unit, entry) for entry, unit in enumerate(units)]
            before = messages
            messages = []
            for entry, old in enumerate(before):
                others = stock.beside(outgoing[k] for k in at_factor[factors[entry]] if k != entry)
                messages.append(stock.least(stock.through(others, odds[entry]), old))
            if all(stock.is_near(old, new) for old, new in set(zip(before, messages, strict=True))):
                break
        numbers, place = np.unique(
            [held(messages, unit, -1) for unit in range(len(own))], return_inverse=True
        )
        return Told([stock.profiles[number] for number in numbers.tolist()], place)


def _places(labels: Sequence[int]) -> dict[int, list[int]]:
    """Where each label stands."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for place, label in enumerate(labels):
        found[label].append(place)
    return found
