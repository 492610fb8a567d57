"""Profiles passed around loops: from the group's profile down, and every iterate is a valid bound."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

import numpy as np

from entwined.bounds.profiles.passing import Told
from entwined.bounds.profiles.profile import PrivacyProfile
from entwined.bounds.profiles.sway import TiltSway
from entwined.dependence import Couplings
from entwined.errors import DoesNotApply

MOST_ENTRIES: Final = 400
ROUNDS: Final = 40
SETTLED: Final = 1e-3


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
                f"{MOST_ENTRIES}. The group covers it."
            )

    def settled(self) -> Told:
        """Repeat from the group bound until little moves."""
        units, factors = self.graph.unit.tolist(), self.graph.factor.tolist()
        sways = [TiltSway(odds) for odds in self.graph.log_odds.tolist()]
        messages = [self.group[unit].through(sway) for unit, sway in zip(units, sways, strict=True)]
        beside: dict[int, list[int]] = {}
        for entry, factor in enumerate(factors):
            beside.setdefault(factor, []).append(entry)
        for _ in range(ROUNDS):
            outgoing = [self.held(messages, unit, skip=entry) for entry, unit in enumerate(units)]
            better = [
                reduce(PrivacyProfile.beside, [outgoing[k] for k in beside[factors[entry]] if k != entry])
                .through(sway)
                .least(messages[entry])
                for entry, sway in enumerate(sways)
            ]
            still = all(
                old.below(new.raised(SETTLED, 1e-15)) for old, new in zip(messages, better, strict=True)
            )
            messages = better
            if still:
                break
        return Told(
            [self.held(messages, unit, skip=-1) for unit in range(len(self.own))], np.arange(len(self.own))
        )

    def held(self, messages: Sequence[PrivacyProfile], unit: int, skip: int) -> PrivacyProfile:
        """A unit's own and all that sways it but by one entry, at most its group's."""
        parts = [
            messages[entry] for entry in np.flatnonzero(self.graph.unit == unit).tolist() if entry != skip
        ]
        return reduce(PrivacyProfile.beside, parts, self.own[unit]).least(self.group[unit])
