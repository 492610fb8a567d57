"""Factors of one shape, stacked, so that a million of them are one array."""

from dataclasses import dataclass
from functools import cached_property

from entwined.dependence.box import Box
from entwined.dependence.couplings import Couplings
from entwined.dependence.odds import log_odds
from entwined.numbers import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Factors:
    """Row g couples the units `scope[g]` through the table `table[g]`, one axis a unit.

    A conditional table holds the law of its last unit given the others.
    """

    scope: IntArray
    table: Box
    conditional: bool

    @cached_property
    def log_odds(self) -> FloatArray:
        """Δ of each factor (rows) for each of its units (columns)."""
        return log_odds(self.table, conditional=self.conditional)


def couplings_of(units: int, blocks: tuple[Factors, ...]) -> Couplings:
    """Gather blocks of factors into one factor graph; factors of a single unit couple nothing."""
    coupled = [block for block in blocks if block.scope.shape[1] > 1]
    return Couplings.stack(units, [block.scope for block in coupled], [block.log_odds for block in coupled])
