"""What charges amount to at one unit, before dependence: laid over the rows, or over the cells of a row."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from entwined.bounds import Knowledge
from entwined.promise.account import Account
from entwined.promise.alone import the_only
from entwined.promise.base_loss import BaseLoss
from entwined.promise.declared import Declared
from entwined.promise.distances import along
from entwined.promise.filled import fillings_of
from entwined.promise.gates import Gates
from entwined.promise.measure import Measure
from entwined.promise.moved_by_one import ColumnBits, bits_of
from entwined.promise.panel import StepLosses
from entwined.promise.part import Part
from entwined.promise.places import are_apart, place_of
from entwined.promise.shared_columns import reads_one_cell, shared_losses
from entwined.queries import Layers
from entwined.schema import Coded, Schema

NOTHING: Final = Fraction(0)
REMEMBERED: Final = 8


@dataclass(frozen=True, eq=False)
class Amounts:
    """How charges add up under one promise; `steps` is the column of a panel's steps, if there is one."""

    schema: Schema
    declared: tuple[Declared, ...]
    knowledge: Knowledge
    measure: Measure
    gates: tuple[Gates, ...]
    steps: Coded | None
    for_one_batch: bool

    def of(self, parts: tuple[Part, ...]) -> BaseLoss:
        """Find the most that charges amount to."""
        return self._once(parts, lambda: self._account.laid(parts))

    def of_totals(self, totals: Mapping[str, Part]) -> BaseLoss:
        """Find the most that all charges of a ledger amount to, by part key."""
        return self._once(tuple(totals.values()), lambda: self._account.of(totals))

    def on_steps(self, parts: Iterable[Part]) -> StepLosses | None:
        """What falls on each step, where a panel is declared."""
        return None if self.steps is None else StepLosses.of(parts, self.steps)

    @cached_property
    def distances(self) -> tuple[str, ...]:
        """The columns whose values models speak of by their distance."""
        named = (name for one in self.declared if one.model.by_distance for name in one.columns)
        return tuple(dict.fromkeys(named))

    def _once(self, parts: tuple[Part, ...], lay: Callable[[], Mapping[str, Layers]]) -> BaseLoss:
        """Work out once what the same charges amount to."""
        found = self._bases.get(parts)
        if found is None:
            found = (
                self._of_cells(lay(), parts) if self.schema.unit.by_column else self._of_rows(lay(), parts)
            )
            if len(self._bases) >= REMEMBERED:
                self._bases.clear()
            self._bases[parts] = found
        return found  # not looked up again: another thread may have cleared them meanwhile

    @cached_property
    def _bases(self) -> dict[tuple[Part, ...], BaseLoss]:
        return {}

    @cached_property
    def _account(self) -> Account:
        return Account(self.gates)

    def _of_cells(self, laid: Mapping[str, Layers], parts: Iterable[Part]) -> BaseLoss:
        shared = None if self.measure.is_pure else shared_losses(parts, self.gates)
        if shared and self.for_one_batch:
            laid = self._account.laid(
                part for part in parts if reads_one_cell(place_of(part.key), self.gates)
            )
        columns = {column: layers.at_two().value for column, layers in laid.items()}
        for read, (_, *each) in (shared or {}).items() if self.for_one_batch else ():
            for name, alone in zip(read, each, strict=True):
                columns[name] = columns.get(name, NOTHING) + alone
        worst = max(columns.values(), default=NOTHING)
        filling = fillings_of(parts, self.gates, len(self.declared), self.measure, self.knowledge)
        return BaseLoss(worst, worst, columns, shared, filling, bits=self._bits(parts))

    def _bits(self, parts: Iterable[Part]) -> ColumnBits:
        """What counts with Laplace noise show of each column, where all of them were fixed before anything was seen."""
        if not self.for_one_batch or self.measure.is_pure or self.gates:
            return {}
        places = [(place_of(part.key), part) for part in parts]
        apart = all(place.column and not place.together and not place.filling for place, _ in places)
        return bits_of((place.column, part, place.counts) for place, part in places) if apart else {}

    def _of_rows(self, laid: Mapping[str, Layers], parts: Iterable[Part]) -> BaseLoss:
        rows = laid.get("", Layers())
        may_leave = self.schema.neighbours == "add_remove"
        absent = may_leave or self.schema.unit.may_be_absent
        replace = rows.at_two(absent=absent).value
        moved = {name: along(name, parts, absent=absent) for name in self.distances}
        kept = any(one.by for one in self.declared)
        nominal = rows.at_one.value if may_leave and not kept else replace
        steps, number, apart = self.on_steps(parts), the_only(parts), are_apart(parts)
        if steps is not None and self.schema.unit.person is not None:  # a person is all steps of a series
            nominal = replace = steps.in_all(self.measure)
        return BaseLoss(nominal, replace, along=moved, steps=steps, number=number, apart=apart)
