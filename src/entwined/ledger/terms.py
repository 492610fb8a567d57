"""The terms of a ledger: the cap, the calendar and the accountant that its charges are made under."""

from fractions import Fraction
from typing import Final

from entwined.canonical import Document, canonical, fraction_from, fraction_text
from entwined.errors import BadLedger, BadLoss
from entwined.ledger.calendar import Calendar
from entwined.ledger.charge import Accountant
from entwined.ledger.tally import PERIODS
from entwined.ledger.view import View
from entwined.promise.totals import NOTHING, Totals

FORMAT: Final = "2"
WITH_CALENDAR: Final = "3"  # a program that knows no calendars must not charge under one


def terms_of(cap: Fraction, accountant: Accountant, calendar: Calendar) -> Document:
    """Name the terms, for the entry that sets them."""
    named = {"cap": fraction_text(cap), "accountant": accountant.identity}
    if calendar:
        return {"format": WITH_CALENDAR, **named, "calendar": calendar.document}
    return {"format": FORMAT, **named}


def written(accountant: Accountant, carried: Totals = NOTHING, periods: Document | None = None) -> bytes:
    """Write what stands beside an entry that sets terms: all that prices depend on, and what was spent before."""
    rows = [carried[key].row for key in sorted(carried)]
    document = {"terms": accountant.document, "carried": rows}
    return canonical(document if periods is None else {**document, PERIODS: periods}).encode()


def differences(
    view: View, cap: Fraction, accountant: Accountant, calendar: Calendar | None = None
) -> tuple[str, ...]:
    """Say in words how these terms differ from those in force; without a calendar its own is meant."""
    made = view.terms.fields
    if made["format"] not in (FORMAT, WITH_CALENDAR):
        raise BadLedger(
            f"The ledger is of format {made['format']}, and this is a program for the formats {FORMAT} and "
            f"{WITH_CALENDAR}. Use the version of entwined that made it."
        )
    said: list[str] = []
    if fraction_from(made["cap"]) != cap:
        said.append(f"the cap was {shown(fraction_from(made['cap']))} and is {shown(cap)}")
    if calendar is not None and view.calendar != calendar:
        said.append(f"the calendar was {view.calendar} and is {calendar}")
    if made["accountant"] != accountant.identity:
        said.extend(accountant.differences(view.document()) or ["the accountant"])
    return tuple(said)


def require_same(view: View, cap: Fraction, accountant: Accountant, calendar: Calendar | None = None) -> None:
    """Refuse to go on under other terms than those in force, and say which they are."""
    said = differences(view, cap, accountant, calendar)
    if said:
        raise BadLedger(
            f"The ledger was made for other terms: {'; '.join(said)}. Give the terms it was made for, or "
            "change them inside it, where nothing spent is forgotten: entwined budget migrate RELEASE.toml. "
            "Do not begin another ledger for the same table."
        )


def require_cap(cap: object) -> None:
    """Refuse a cap that is no exact number above zero."""
    if not isinstance(cap, Fraction) or cap <= 0:
        raise BadLoss(f"The cap {cap!r} is no exact number above zero. Give a Fraction such as Fraction(1).")


def shown(amount: Fraction | float) -> str:
    """Write an amount for people."""
    try:
        return f"{float(amount):.6g}"
    except OverflowError:
        return "more than 1e308"
