"""What each analyst's own charges add up to, from the chain itself: what an earmark is held against.

Leakages do not add up, so an analyst has not spent a difference of totals: an analyst has spent what was charged by
that name, priced as if nothing else had ever been. That may not exceed the earmark, while the price of everything may
not exceed the cap. What was charged under earlier terms is carried over to those in force, as a migration does it.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

from entwined.ledger.charge import Accountant
from entwined.ledger.entry import START, Kind, Mark
from entwined.ledger.view import View
from entwined.promise.part import Part
from entwined.promise.totals import NOTHING, Totals

Earmarks: TypeAlias = Callable[[str], Fraction | None]
"""The most that the charges of an analyst may amount to on their own, by the name; None for no such limit."""


def no_earmarks(analyst: str) -> Fraction | None:  # noqa: ARG001  (whoever it is)
    """Limit nobody but by the cap."""
    return None


@dataclass(frozen=True, eq=False, slots=True)
class Slices:
    """What was charged by each name under the terms in force, up to an entry; what came before them is carried over."""

    upto: Mark = START
    terms: Mark = START
    carried: Mapping[str, Totals] = field(default_factory=dict)
    charged: Mapping[str, Totals] = field(default_factory=dict)

    def of(self, analyst: str, parts: Iterable[Part] = ()) -> Totals:
        """Add up what one name was charged for, with these parts on top."""
        own = self.charged.get(analyst, NOTHING).plus(parts)
        return own.plus(self.carried.get(analyst, NOTHING).values())


def slices(view: View, accountant: Accountant, known: Slices) -> Slices:
    """Add up what each name was charged for; what is known already is not read again."""
    if known.terms == view.terms.mark and known.upto == view.last.mark:
        return known
    if known.terms != view.terms.mark or not view.holds(known.upto):
        known = Slices(view.terms.mark, view.terms.mark, _before(view, accountant))
    charged = dict(known.charged)
    for entry in view.entries(known.upto):
        if entry.kind is Kind.CHARGE:
            name = entry.fields["analyst"]
            charged[name] = charged.get(name, NOTHING).plus(entry.parts)
    return Slices(view.last.mark, known.terms, known.carried, charged)


def _before(view: View, accountant: Accountant) -> dict[str, Totals]:
    """Carry over what was charged under earlier terms, each time from the terms that it was charged under."""
    found: dict[str, Totals] = {}
    since: dict[str, Totals] = {}
    document: Any = None
    for entry in view.entries(START, view.terms.position) if view.terms.position > 1 else ():
        if entry.kind in (Kind.CREATED, Kind.MIGRATED):
            for name, totals in since.items():
                carried = accountant.carried(document, totals.parts)
                found[name] = found.get(name, NOTHING).plus(carried.values())
            since, document = {}, json.loads(view.answer(entry))["terms"]
        elif entry.kind is Kind.CHARGE:
            name = entry.fields["analyst"]
            since[name] = since.get(name, NOTHING).plus(entry.parts)
    return found
