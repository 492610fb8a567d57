"""How often somebody may come: so many times a second over time, and some at once."""

import time
from collections import OrderedDict
from typing import Final

from entwined.web.refusals import TurnedAway

REMEMBERED: Final = 10_000
OFTEN: Final = "Too many requests. Wait a little before the next one; nothing was charged."


class Rate:
    """A bucket for each name that fills at a steady rate; a visit takes one out."""

    def __init__(self, per_second: float, at_once: float) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def visit(self, name: str) -> None:
        """Count a visit, or refuse it."""
        left = self.left(name)
        if left < 1:
            raise TurnedAway(429, OFTEN)
        self._left[name] = left - 1, time.monotonic()
        self._left.move_to_end(name)
        if len(self._left) > REMEMBERED:
            self._left.popitem(last=False)

    def left(self, name: str) -> float:
        """Tell how many visits are left now."""
        left, since = self._left.get(name, (self._at_once, 0.0))
        return min(self._at_once, left + (time.monotonic() - since) * self._per_second)
