"""Which pairs are looked at where there are many: noise for the distances of all would drown each of them.

Noise for many distances at once grows with how many there are. So where pairs are many more than columns, those that
seem far from independent are chosen first, about two for each column, and only their distances are released.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from entwined.mechanisms.marginals.domain import Scope
from entwined.mechanisms.marginals.meter import Meter
from entwined.noise import Additive, ExponentialChoice

EACH: Final = 2  # pairs for each column
MANY: Final = 4  # times as many: from there on they are chosen


@dataclass(frozen=True, slots=True)
class LookedAt:
    """How many pairs are looked at, and the share of the loss for that: half of it for choosing, if they are chosen."""

    columns: int
    pairs: int
    share: Fraction

    @property
    def chosen(self) -> int:
        """How many pairs are chosen; none if all are looked at."""
        few = EACH * (self.columns - 1)
        return few if MANY * few < self.pairs else 0

    def noise(self, meter: Meter) -> Additive:
        """The noise of the distances that are released."""
        if not self.chosen:
            return meter.noise_of_distances(self.share, self.pairs)
        return meter.noise_of_distances(self.share / 2, self.chosen)

    def released(self, far: Mapping[Scope, int], meter: Meter) -> dict[Scope, int]:
        """Add noise to the distances of all pairs, or of those that are chosen."""
        choices = [meter.choice(self.share / 2 / self.chosen)] * self.chosen if self.chosen else []
        looked = _joining(far, self.columns, choices) if choices else list(far)
        noisy = self.noise(meter).add(np.array([far[pair] for pair in looked], np.int64))
        return dict(zip(looked, noisy.tolist(), strict=True))


def _joining(far: Mapping[Scope, int], columns: int, choices: Sequence[ExponentialChoice]) -> list[Scope]:
    """Choose pairs that are far from independent: first those that join columns not joined yet, then any."""
    left, parts = set(far), list(range(columns))
    found: list[Scope] = []
    for choice in choices:
        open_to = [pair for pair in far if pair in left and parts[pair[0]] != parts[pair[1]]]
        open_to = open_to or [pair for pair in far if pair in left]
        pair = open_to[choice.choose([far[one] for one in open_to])]
        one, two = (parts[at] for at in pair)
        parts = [one if part == two else part for part in parts]
        left.discard(pair)
        found.append(pair)
    return found
