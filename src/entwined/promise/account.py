"""What was charged, laid over the rows column by column: the next totals only add to those that were laid before."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from entwined.promise.gates import Gates
from entwined.promise.part import Part
from entwined.promise.places import PartPlace, place_of
from entwined.promise.totals import Totals
from entwined.queries import Layers, Predicate

REMEMBERED: Final = 32
FEW: Final = 200  # parts that are sooner added one by one than with all others again

Laid: TypeAlias = Mapping[str, Layers]


class Remembered(NamedTuple):
    """Totals, and how they lie."""

    totals: Totals
    laid: Laid


@dataclass(eq=False)
class Account:
    """Lays charges, refusing those that a model of forms does not cover; it remembers the last totals it laid.

    What is remembered saves time and changes nothing: layers do not depend on how they were come to.
    """

    gates: tuple[Gates, ...]
    known: tuple[Remembered, ...] = ()

    def of(self, totals: Mapping[str, Part]) -> Laid:
        """Lay all that has been spent."""
        if not isinstance(totals, Totals):
            return self.laid(totals.values())
        known = self.known  # once: another thread may set it meanwhile
        for at, (before, laid) in enumerate(known):
            added = totals.since(before)
            if added is not None and len(added) <= FEW:
                found = self._plus(laid, added) if added else laid
                others = (*known[:at], *known[at + 1 :])
                self.known = (Remembered(totals, found), known[at], *others)[:REMEMBERED]
                return found
        found = self.laid(totals.values())
        self.known = (Remembered(totals, found), *known)[:REMEMBERED]
        return found

    def laid(self, parts: Iterable[Part]) -> Laid:
        """Lay charges from the beginning."""
        by_column: defaultdict[str, list[tuple[Predicate, Fraction, Fraction]]] = defaultdict(list)
        for part in parts:
            column, where, together, *_ = self._place(part)
            if (
                column or not together
            ):  # what all columns of a statistic cost at once, each of them costs no more
                by_column[column].append((where, part.one, part.both))
        return {column: Layers.of(charges) for column, charges in sorted(by_column.items())}

    def _plus(self, laid: Laid, parts: Iterable[Part]) -> Laid:
        more = dict(laid)
        for part in parts:
            column, where, together, *_ = self._place(part)
            if column or not together:
                more[column] = more.get(column, Layers()).plus(where, part.one, part.both)
        return more

    def _place(self, part: Part) -> PartPlace:
        place = place_of(part.key)
        for gates in self.gates:
            if place.filling:
                gates.check_filling(place)
                continue
            for column in place.columns:
                gates.check(column, place.where)
        return place
