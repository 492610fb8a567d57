"""What was charged within a period, added up from the chain itself.

Under a calendar no entry is older than the one before it, so the entries of a period are the last ones, and they are
read back from the end: each is held against the hash of the one before. A migration under a calendar writes down what
its periods had spent, as losses under the new terms, and nothing before it is looked at. Where one was made without a
calendar nobody knows when what it took over was charged: all of that counts as of the period of the migration.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from entwined.errors import LedgerUnavailable
from entwined.ledger.calendar import Period
from entwined.ledger.charge import Accountant
from entwined.ledger.entry import Entry, Kind, Mark
from entwined.ledger.view import View
from entwined.promise.totals import NOTHING, Totals

CHUNK: Final = 200
PERIODS: Final = "periods"
SKEW: Final = timedelta(minutes=10)  # a clock that was set right may go back so far


@dataclass(frozen=True, slots=True)
class Tally:
    """What was charged since a moment, up to an entry."""

    start: datetime
    upto: Mark
    totals: Totals


def time_of(view: View) -> datetime:
    """Tell the time by the ledger's clock, never before its last entry; a clock that went back is refused."""
    now, last = view.clock(), view.last.time
    if now < last - SKEW:
        raise LedgerUnavailable(
            f"The clock says {now:%Y-%m-%d %H:%M} (UTC), and the ledger's last entry is of {last:%Y-%m-%d %H:%M}: one "
            "of them is wrong, and under a calendar it must be known which period it is. Nothing was charged. Set the "
            "clock right; if the entry is from the future, wait until then, or take the calendar out: entwined budget "
            "migrate RELEASE.toml with calendar = {}."
        )
    return max(now, last)


def tally(view: View, period: Period, now: datetime, known: Tally | None = None) -> Tally:
    """Add up what was charged within the period of now; what is known already is not read again."""
    start, end = period.start(now), view.last.mark
    if known is not None and known.start == start and view.terms.position <= known.upto.position:
        if known.upto == end:
            return known
        if view.holds(known.upto):
            return Tally(start, end, _added(known.totals, view.entries(known.upto)))
    terms = view.terms
    since = _first_since(view, start)
    before = _carried(view, period) if since == terms.mark and terms.time >= start else NOTHING
    return Tally(start, end, _added(before, view.entries(since)))


def carried_over(view: View, accountant: Accountant, now: datetime) -> dict[Period, Totals]:
    """Give what each period of now has spent as losses under other terms, for the entry that sets these."""
    document, found = view.document(), {}
    for period in Period:
        spent = _added_up(view, period, now).parts
        found[period] = NOTHING.plus(accountant.carried(document, spent).values()) if spent else NOTHING
    return found


def written_periods(periods: Mapping[Period, Totals]) -> dict[str, list[tuple[str, str, str]]]:
    """Write what periods had spent, for the entry that sets other terms."""
    return {period.value: [totals[key].row for key in sorted(totals)] for period, totals in periods.items()}


def _added_up(view: View, period: Period, now: datetime) -> Totals:
    """Add up a period where there may have been no calendar: any entry since the terms may be of any time."""
    start, terms = period.start(now), view.terms
    charged = (entry for entry in view.entries(terms.mark) if entry.time >= start)
    return _added(_carried(view, period) if terms.time >= start else NOTHING, charged)


def _carried(view: View, period: Period) -> Totals:
    """Read what the terms in force took over of their period; where they do not say so, that is all of it."""
    if view.terms.kind is Kind.CREATED:
        return NOTHING
    beside = json.loads(view.answer(view.terms))
    rows = beside[PERIODS][period.value] if PERIODS in beside else beside["carried"]
    return Totals.of(tuple(row) for row in rows)


def _added(totals: Totals, entries: Iterator[Entry]) -> Totals:
    return totals.plus(part for entry in entries for part in entry.parts)


def _first_since(view: View, start: datetime) -> Mark:
    """Find the last entry before a moment, or that which set the terms, looking back from the end."""
    end, before = view.last.position, view.last
    while before.time >= start and before is not view.terms:
        first = max(end - CHUNK, view.terms.position)
        before = view.terms if first == view.terms.position else view.entry_at(first)
        older = [entry.mark for entry in view.entries(before.mark, end - first) if entry.time < start]
        if older:
            return older[-1]
        end = first
    return before.mark
