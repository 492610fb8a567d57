"""Other terms inside one ledger: a new model, schema, knowledge or cap, and everything spent stays spent.

One table has one ledger. A second one would begin at nothing, as if what was released before had never been. So
terms change by an entry of the chain: the losses stay, part by part, and are priced anew. Where the accountant
cannot say what old losses amount to under its terms, it refuses. A total above the cap is no reason to refuse:
it is the truth, and every further charge is refused by it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from entwined.canonical import fraction_from, sha256_of_bytes
from entwined.errors import BadLedger, Refused
from entwined.ledger.book import Book
from entwined.ledger.calendar import Allowance, Calendar, Period, within
from entwined.ledger.charge import Accountant
from entwined.ledger.entry import Kind
from entwined.ledger.tally import carried_over, time_of, written_periods
from entwined.ledger.terms import differences, require_cap, terms_of, written
from entwined.ledger.view import View
from entwined.promise.price import Price
from entwined.promise.totals import NOTHING, Totals


@dataclass(frozen=True, slots=True)
class Migration:
    """What changes, and what everything spent amounts to before and after; `seen` is what that rests on."""

    differences: tuple[str, ...]
    cap_before: Fraction
    cap: Fraction
    before: Price
    after: Price
    totals: Totals
    seen: tuple[str, ...]
    calendar: Calendar
    periods: Mapping[Period, Totals]
    allowances: tuple[Allowance, ...]

    @property
    def is_over(self) -> bool:
        """Whether the cap is passed under the new terms, so that nothing more can be charged."""
        return not self.after.worst <= self.cap


def foresee(book: Book, cap: Fraction, accountant: Accountant, calendar: Calendar | None = None) -> Migration:
    """Work out what a migration would change; nothing is written. Without a calendar the ledger's own is kept."""
    require_cap(cap)
    with book.reading() as view:
        return _worked_out(view, cap, accountant, calendar)


def migrate(book: Book, cap: Fraction, accountant: Accountant, calendar: Calendar | None = None) -> Migration:
    """Change the terms of a ledger; who still charges under the old ones is refused from here on."""
    planned = foresee(book, cap, accountant, calendar)  # may take long: not while others wait to write
    with book.writing() as view:
        if _seen(view) != planned.seen:
            planned = _worked_out(view, cap, accountant, calendar)
        periods = written_periods(planned.periods) if planned.calendar else None
        document = written(accountant, planned.totals, periods)
        fields = {
            **terms_of(cap, accountant, planned.calendar),
            **within(planned.allowances),
            "kind": Kind.MIGRATED.value,
            "answer": sha256_of_bytes(document),
            "price": planned.after.document,
        }
        view.migrate(fields, planned.totals, document)
    return planned


def _worked_out(view: View, cap: Fraction, accountant: Accountant, calendar: Calendar | None) -> Migration:
    said = differences(view, cap, accountant, calendar)
    if not said:
        raise BadLedger("The ledger has these terms already. There is nothing to migrate.")
    carried = accountant.carried(view.document(), view.totals().parts)
    after = accountant.price(carried) if carried else Price(Fraction(0))
    if not math.isfinite(after.worst):
        raise Refused(
            "Under the new terms no bound is known for what was spent. Keep the terms, or give other ones."
        )
    last = view.last_price()
    kept = view.calendar if calendar is None else calendar
    periods, allowances = _by_period(view, accountant, kept)
    return Migration(
        said,
        fraction_from(view.terms.fields["cap"]),
        cap,
        Price(Fraction(0)) if last is None else last.price,
        after,
        NOTHING.plus(carried.values()),
        _seen(view),
        kept,
        periods,
        allowances,
    )


def _by_period(
    view: View, accountant: Accountant, calendar: Calendar
) -> tuple[Mapping[Period, Totals], tuple[Allowance, ...]]:
    """Carry over what the periods of now have spent, and price it."""
    if not calendar:
        return {}, ()
    now = time_of(view)
    periods = carried_over(view, accountant, now)
    priced = (
        Allowance(
            period, now, allowed, accountant.price(periods[period]) if periods[period] else Price(Fraction(0))
        )
        for period, allowed in calendar.allowances
    )
    return periods, tuple(priced)


def _seen(view: View) -> tuple[str, ...]:
    """Name what a plan rests on: the terms, what was spent, and under a calendar the month."""
    return view.terms.hash, view.last.fields["totals"], Period.MONTH.called(view.clock())
