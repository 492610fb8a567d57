"""What all charges amount to before dependence."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from entwined.bounds.profiles.bits import scaled
from entwined.promise.distances import Along
from entwined.promise.filled import Fillings
from entwined.promise.moved_by_one import ColumnBits
from entwined.promise.one_number import OneNumber
from entwined.promise.panel import StepLosses


@dataclass(frozen=True, slots=True)
class BaseLoss:
    """What all charges amount to before dependence, in ε or ρ: for rows one figure, for cells one a column.

    Where it matters which statistics read several columns, `shared` has what these cost if all their columns change,
    and then what they cost if one of them alone does, which is in the figure of that column. `filling` has the weights
    by which the blanks of a column are filled, `along` what falls along the distances of a column's values, and `steps`
    what falls on each step of a panel. `number` is there where one draw of a single number is all that was charged, and
    `apart` says that every answer reads one step of a series alone. `bits` has what counts with Laplace noise show of
    each column, where one batch of such counts is all that was charged.
    """

    nominal: Fraction
    replace: Fraction
    columns: Mapping[str, Fraction] = field(default_factory=dict)
    shared: Mapping[tuple[str, ...], tuple[Fraction, ...]] | None = None
    filling: Fillings = field(default_factory=dict)
    along: Mapping[str, Along] = field(default_factory=dict)
    steps: StepLosses | None = None
    number: OneNumber | None = None
    apart: bool = False
    bits: ColumnBits = field(default_factory=dict)

    def times(self, factor: Fraction) -> "BaseLoss":
        """So many times as much everywhere."""
        return replace(
            self,
            nominal=self.nominal * factor,
            replace=self.replace * factor,
            columns={name: loss * factor for name, loss in self.columns.items()},
            shared=self.shared
            and {read: tuple(x * factor for x in each) for read, each in self.shared.items()},
            along={name: one.times(factor) for name, one in self.along.items()},
            steps=self.steps and self.steps.times(factor),
            number=self.number and self.number.times(factor),
            bits={name: scaled(each, factor) for name, each in self.bits.items()},
        )

    @property
    def separable(self) -> bool:
        """Whether every statistic is known to read the cells of one column alone."""
        return self.shared is not None and not self.shared
