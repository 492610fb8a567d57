"""What the ledger of a request holds and will hold: spent, left, and whether it would refuse."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Final

from entwined.canonical import Document, fraction_from
from entwined.door.question import question_of
from entwined.errors import (
    BadInput,
    BadLedger,
    EntwinedError,
    LedgerUnavailable,
    NoAnchor,
    NoLedger,
    OverBudget,
)
from entwined.ledger import Book, Kind, Ledger
from entwined.ledger.calendar import Allowance, Calendar
from entwined.ledger.ledger import ONE_RELEASE
from entwined.ledger.unanswered import Unanswered
from entwined.ledger.witness import UNGUARDED, Witness
from entwined.numbers import float_above
from entwined.promise.part import Part, add_up
from entwined.promise.price import Price
from entwined.promise.promise import Promise
from entwined.request.bill import Bill
from entwined.request.request import URL_MARK, Request
from entwined.tables import open_table

NOTHING: Final = Price(Fraction(0))
DATABASES: Final = ("postgresql://", "postgres://")
PLANNING_ONLY: Final = (
    "A model was learned from the private table without a budget, so this is for planning only. Declare it, "
    "learn it from a public table, or learn it with a budget."
)


@dataclass(frozen=True, slots=True)
class Funds:
    """What has been spent of a cap before a release and after it; `refused` says why it would not be made.

    `again` says that the same was answered before of the same rows, so that it would not be charged again. Of a
    table that cannot be opened now, it says that the same was answered of it or of another one. `receipt`
    names the ledger's last entry, for the holder to keep elsewhere. `periods` are those of its calendar, after the
    release or, where that is refused, now. `series_in_all` is what the losses after it come to for a whole series of a
    panel, as it is counted by persons without the chain. `unguarded` says where the rollback guard of the table cannot
    be kept, `delta_warning` that δ is too large for the rows, and `unanswered` what was charged before and has
    no answer, and what becomes of it.
    """

    ledger: str
    cap: Fraction | None
    spent: Price
    after: Price
    refused: str | None = None
    again: bool = False
    receipt: str | None = None
    periods: tuple[Allowance, ...] = ()
    series_in_all: Fraction | None = None
    unguarded: str = ""
    delta_warning: str = ""
    unanswered: tuple[str, ...] = ()

    @property
    def left(self) -> float | None:
        """What the cap leaves after the release, or now if that is refused."""
        if self.cap is None:
            return None
        worst = self.spent.worst if self.refused else self.after.worst
        return max(float(self.cap - worst), 0.0)

    @property
    def document(self) -> Document:
        """The budget as JSON."""
        return {
            "ledger": self.ledger,
            "cap": None if self.cap is None else float(self.cap),
            "spent": amounts(self.spent),
            "after": amounts(self.after),
            "left": self.left,
            "refused": self.refused,
            "again": self.again,
            "receipt": self.receipt,
            "calendar": [one.document for one in self.periods],
            **({"unguarded": self.unguarded} if self.unguarded else {}),
            **({"delta_warning": self.delta_warning} if self.delta_warning else {}),
            **({"unanswered": list(self.unanswered)} if self.unanswered else {}),
            **({} if self.series_in_all is None else {"series_in_all": float_above(self.series_in_all)}),
        }


def amounts(price: Price) -> Document:
    """Write a price in floats, never below what it is."""
    leakage: Mapping[str, Fraction | float] = price.leakage
    return {
        "nominal": float_above(price.nominal),
        "leakage": {
            name: float_above(amount) if isinstance(amount, Fraction) else amount
            for name, amount in leakage.items()
        },
    }


def funds_of(request: Request, bill: Bill) -> Funds:
    """Ask the ledger what it would say to a plan; nothing is charged, and a ledger that is not there is empty."""
    warning = request.delta_warning
    return replace(_funds(request, bill), unguarded=_why_unguarded(request), delta_warning=warning)


def _why_unguarded(request: Request) -> str:
    """Say where a table in a database cannot keep its rollback guard; of one that cannot be opened now, nothing."""
    if not request.source.startswith(DATABASES):
        return ""
    try:
        with open_table(request.source, request.schema) as table:
            places = [notes.path for notes in table.known.notes if not notes.can_keep]
    except EntwinedError:
        return ""
    return UNGUARDED.format(place=places[0]) if places else ""


def _funds(request: Request, bill: Bill) -> Funds:
    """Ask the ledger, and ask again if it is being begun just now."""
    book = Book(request.place)
    try:
        return _funds_in(book, request, bill)
    except NoAnchor:
        book.await_beginning()
        return _funds_in(book, request, bill)
    except NoLedger:
        before = _funds_before(book, request, bill)
        if book.anchor.exists:  # it follows the ledger, so by now either both are there or the ledger is lost
            with suppress(NoLedger):
                return _funds_in(book, request, bill)
        return before
    finally:
        book.close()


def _funds_before(book: Book, request: Request, bill: Bill) -> Funds:
    """Tell what there is before a ledger is begun."""
    refused = _why_not_begun(book, request, bill)
    begun = () if refused else _at_the_start(request, bill.price)
    whole = bill.promise.series_in_all(bill.parts)
    return Funds(
        shown(book, request), request.cap, NOTHING, bill.price, refused, periods=begun, series_in_all=whole
    )


def _funds_in(book: Book, request: Request, bill: Bill) -> Funds:
    place = shown(book, request)
    if request.is_exploratory:
        return Funds(place, request.cap, NOTHING, NOTHING, PLANNING_ONLY)
    cap = _cap_of(book)
    standing = book.spent()
    spent = standing.price
    due, unanswered = _due(book, request, bill)
    again, charged = not due and not unanswered, _together(due)
    try:
        ledger = Ledger(book, request.cap or cap, bill.promise, request.calendar)
        after, periods = ledger.price(charged), ledger.allowances(charged)
    except (BadLedger, LedgerUnavailable) as reason:
        return Funds(place, cap, spent, spent, str(reason))
    if again:
        return Funds(place, cap, spent, spent, None, again, periods=periods)
    refused = (
        _why_second(ledger, bill)
        or _why_outside(ledger.outside(charged))
        or _why_over(after, cap)
        or _why_late(periods)
    )
    left = ledger.allowances() if refused else periods
    whole = bill.promise.series_in_all(_together([standing.parts, charged]))
    return Funds(place, cap, spent, after, refused, periods=left, series_in_all=whole, unanswered=unanswered)


def shown(book: Book, request: Request) -> str:
    """Name the ledger by its last name, which is published; a URL, which may hold a password, as the book does."""
    return book.store.name if URL_MARK in request.ledger else Path(request.ledger).name


def _together(due: list[tuple[Part, ...]]) -> tuple[Part, ...]:
    total: dict[str, Part] = {}
    for parts in due:
        add_up(total, parts)
    return tuple(total.values())


def _due(book: Book, request: Request, bill: Bill) -> tuple[list[tuple[Part, ...]], tuple[str, ...]]:
    """Give what will be charged, and say what was charged before without an answer."""
    due, words = [], []
    for document, parts in bill.charges:
        if _was_answered(book, request, document, parts):
            continue
        before = _unanswered(book, request, document, parts)
        words += [] if before is None else [before.words]
        if before is None or before.is_charged_again:
            due.append(parts)
    return due, tuple(words)


def _unanswered(
    book: Book, request: Request, asked: Document, charged: tuple[Part, ...]
) -> Unanswered | None:
    """Find the last charge for a computation on the same rows that has no answer."""
    alike = (entry for entry in book.history() if entry.kind is Kind.CHARGE and entry.parts == charged)
    if not any(entry.fields["document"] == asked for entry in alike):
        return None
    try:
        with open_table(request.source, request.schema) as table:
            question = question_of(table, request.promise, asked)
    except EntwinedError:
        return None
    return book.unanswered(question)


def _was_answered(book: Book, request: Request, asked: Document, charged: tuple[Part, ...]) -> bool:
    """Say whether a charge for the same computation and losses, of the same rows, has its answer."""
    alike: dict[int, str] = {}
    answered: set[str] = set()
    for entry in book.history():
        if entry.kind is Kind.CHARGE and entry.parts == charged:
            if entry.fields["document"] == asked:
                alike[entry.position] = entry.fields["fingerprint"]
        elif entry.kind is Kind.ANSWERED and entry.fields["charge"] in alike:
            answered.add(alike[entry.fields["charge"]])
    return bool(answered) and _is_of_the_same_rows(answered, request, asked)


def _is_of_the_same_rows(answered: set[str], request: Request, asked: Document) -> bool:
    """Hold the table as it is now against what was charged for; no row of a file is read."""
    try:
        with open_table(request.source, request.schema) as table:
            return question_of(table, request.promise, asked) in answered
    except EntwinedError:
        return True


def _why_not_begun(book: Book, request: Request, bill: Bill) -> str | None:
    if request.cap is None:
        return "There is no ledger yet, and no cap for it. Give cap, the most that may ever leak."
    try:
        book.anchor.refuse_to_start()
    except BadLedger as reason:
        return str(reason)
    outside = _why_outside(bill.promise.outside({part.key: part for part in bill.parts}))
    return outside or _why_over(bill.price, request.cap) or _why_late(_at_the_start(request, bill.price))


def _at_the_start(request: Request, price: Price) -> tuple[Allowance, ...]:
    """Tell what the calendar of a ledger that is not there yet would leave after its first charge."""
    calendar = request.calendar or Calendar()
    now = datetime.now(UTC)
    return tuple(Allowance(period, now, allowed, price) for period, allowed in calendar.allowances)


def _why_late(periods: tuple[Allowance, ...]) -> str | None:
    over = [one.refusal for one in periods if one.is_over]
    return f"{over[0][:1].upper()}{over[0][1:]}." if over else None


def _why_second(ledger: Ledger, bill: Bill) -> str | None:
    """Say that secrets are kept for what leaves together, if something left before."""
    return ONE_RELEASE if bill.promise.secrets is not None and ledger.spent().parts else None


def _why_outside(said: str | None) -> str | None:
    return None if said is None else f"{said[:1].upper()}{said[1:]}"


def _why_over(after: Price, cap: Fraction) -> str | None:
    if after.worst <= cap:
        return None
    total, more = float(after.worst), float(after.worst - cap)
    return (
        f"The total would leak {total:.6g}, {more:.3g} over the cap of {float(cap):.6g}. "
        "Ask for less, or stop here."
    )


def require_funds(funds: Funds) -> None:
    """Refuse several charges of which one would be refused, before the first is made."""
    if funds.refused:
        raise OverBudget(f"{funds.refused} Nothing was charged.")


def refuse_over(ledger: Ledger, request: Request, bill: Bill) -> None:
    """Refuse charges that would pass the cap together, before the first of them is made."""
    charged = _together(_due(ledger.book, request, bill)[0])
    over = _why_outside(ledger.outside(charged)) or _why_over(ledger.price(charged), ledger.cap)
    if over:
        raise OverBudget(f"{over} Nothing was charged.")


def ledger_for(request: Request, promise: Promise, price: Price, witness: Witness | None) -> Ledger:
    """Open the ledger of a request, or begin it: not for what its cap would refuse, nor a second one for a table."""
    book = Book(request.place)

    def opened() -> Ledger:
        ledger = Ledger(book, request.cap or _cap_of(book), promise, request.calendar)
        book.check()
        return ledger

    def begun() -> Ledger:
        book.close()
        if request.cap is None:
            raise BadInput("There is no ledger yet, and no cap for it. Give cap.")
        if witness is not None:
            witness.refuse_new()
        over = _why_over(price, request.cap) or _why_late(_at_the_start(request, price))
        if over:
            raise OverBudget(f"{over} Nothing was charged.")
        return Ledger.create(request.place, request.cap, promise, calendar=request.calendar)

    return book.opened_or_begun(opened, begun)


def _cap_of(book: Book) -> Fraction:
    return fraction_from(book.terms().fields["cap"])
