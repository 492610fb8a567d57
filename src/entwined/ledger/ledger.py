"""The ledger: charge before reading, one answer for one charge, never more than the cap.

Why running again is private. An answer is handed out only after it was settled, and one charge is settled
once. A run that dies before that (a crash, a power cut, a lost connection) has shown nothing: its noise is
drawn and forgotten, so a later run under the same charge is the first one anyone sees. Two things could break
this. Several runs at once, of which the fastest settles, would select a noise by its speed: so a lease lets
one run at a time, and a run that lost its lease is overtaken and cannot settle. Someone who can make runs die
depending on their noise would select too: so a charge has at most `MOST_RUNS` runs, and is then spent for
nothing. A run that ends in an error has shown that it did: its charge is closed, and the next try is charged.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from uuid import uuid4

from entwined.canonical import Document, sha256_of_bytes
from entwined.errors import BadCharge, ChargeClosed, OverBudget
from entwined.ledger.book import Book, Spent
from entwined.ledger.calendar import Allowance, Calendar, Period, within
from entwined.ledger.charge import Accountant, Charge
from entwined.ledger.entry import Entry, Kind, Mark
from entwined.ledger.migration import migrate
from entwined.ledger.receipt import Receipt
from entwined.ledger.slices import Earmarks, Slices, no_earmarks, slices
from entwined.ledger.standing import Standing
from entwined.ledger.store import Lease
from entwined.ledger.tally import Tally, tally, time_of
from entwined.ledger.terms import require_cap, require_same, shown, terms_of, written
from entwined.ledger.unanswered import Unanswered
from entwined.ledger.view import View
from entwined.promise.part import Part
from entwined.promise.price import Price
from entwined.promise.totals import NOTHING, Step, Totals

ONE_BATCH: Final = (
    "under a δ, a model over the columns or over the steps of a panel needs all losses to be fixed before anything is "
    "seen, and one batch was released already. Put all questions into one batch, begin with a reserve, or leave delta "
    "out. Nothing was charged."
)
ONE_RELEASE: Final = (
    "A secret is kept for what leaves together, and how it is kept over several releases is not proved. Ask for "
    "everything at once; a second release of this table is refused."
)
REMEMBERED_PRICES: Final = 64


class Ledger:
    """What has been spent under one cap, by everyone; without a calendar given, the one it has is meant."""

    def __init__(
        self, book: Book, cap: Fraction, accountant: Accountant, calendar: Calendar | None = None
    ) -> None:
        require_cap(cap)
        with book.reading() as view:
            require_same(view, cap, accountant, calendar)
            self.id: str = view.first.fields["ledger"]
        self.book = book
        self.cap = cap
        self._accountant = accountant
        self._calendar = calendar
        self._tallies: dict[Period, Tally] = {}
        self._leases: dict[tuple[int, int], Lease] = {}
        self._prices: dict[str, Price] = {}
        self._seen = NOTHING
        self.earmarks: Earmarks = no_earmarks
        self._slices = Slices()

    @classmethod
    def create(
        cls,
        where: str | Path,
        cap: Fraction,
        accountant: Accountant,
        anchor: Path | None = None,
        calendar: Calendar | None = None,
    ) -> Self:
        """Begin a ledger where none is and none was."""
        require_cap(cap)
        book = Book(where, anchor)
        terms = terms_of(cap, accountant, calendar or Calendar())
        book.begin({**terms, "ledger": uuid4().hex}, written(accountant))
        return cls(book, cap, accountant, calendar)

    @classmethod
    def open(
        cls,
        where: str | Path,
        cap: Fraction,
        accountant: Accountant,
        anchor: Path | None = None,
        calendar: Calendar | None = None,
    ) -> Self:
        """Open a ledger after a full check of its chain.

        `Ledger(Book(where), cap, accountant)` leaves the walk out: anchor, totals and cap are checked all the
        same at every charge, only an edited past would go unnoticed.
        """
        ledger = cls(Book(where, anchor), cap, accountant, calendar)
        ledger.book.check()
        return ledger

    def migrate(self, accountant: Accountant, cap: Fraction, calendar: Calendar | None = None) -> "Ledger":
        """Go on under other terms in the same ledger: everything spent stays spent, priced anew."""
        migrate(self.book, cap, accountant, calendar)
        return Ledger(self.book, cap, accountant, calendar)

    def require(self, accountant: Accountant) -> None:
        """Refuse to charge for noise that was fitted to other terms than those in force."""
        with self.book.reading() as view:
            require_same(view, self.cap, accountant, self._calendar)

    def head(self) -> Mark:
        """Tell how far the ledger has come."""
        return self.book.head()

    def answer(self, charge: Charge, run: Callable[[], bytes]) -> bytes:
        """Charge a request, run it if it has no answer yet, and hand out what was settled.

        `run` reads the rows and adds the noise; an error in it keeps the charge.
        """
        receipt = self.reserve(charge)
        if receipt.answer is not None:
            return receipt.answer
        try:
            drawn = run()
        except BaseException as failed:
            self.fail(receipt, type(failed).__name__)
            raise
        return self.settle(receipt, drawn)

    def reserve(self, charge: Charge) -> Receipt:
        """Charge a request before anything is read, or find it charged.

        Who gets a receipt without an answer holds the question until `settle`, `fail` or `abandon`.
        """
        with self.book.reading() as view:
            self._require(view)
            known = self._stored(view, charge)
            if known is not None:
                return known
            plan = self._plan(view, charge)
            tallied = self._within(view, charge.parts)
            own = self._own(view, charge.analyst, charge.parts)
        for totals in (plan.after, *own, *(after for _, _, after in tallied)):
            self._price(totals)  # may take long: not while others wait to write
        lease = self.book.lease(charge.fingerprint)
        try:
            with self.book.writing() as view:
                self._require(view)  # others may have migrated meanwhile
                receipt = self._stored(view, charge) or self._admit(view, charge, plan)
        except BaseException:
            lease.release()
            raise
        if receipt.answer is None:
            self._leases[receipt.position, receipt.run] = lease
        else:
            lease.release()
        return receipt

    def settle(self, receipt: Receipt, answer: bytes) -> bytes:
        """Store the answer of a charge, once; only what this returns may be handed out."""
        try:
            with self.book.writing() as view:
                course = view.course(receipt.position)
                if course.closed is not None and course.closed.kind is Kind.ANSWERED:
                    return view.answer(course.closed)
                if course.closed is not None or course.runs != receipt.run:
                    raise ChargeClosed(
                        f"Request {receipt.request}: this run was overtaken or failed; its charge stays. "
                        f"Ask again with the same request id."
                    )
                said = {"answer": sha256_of_bytes(answer), "bytes": len(answer)}
                view.append(_about(receipt, Kind.ANSWERED, said), answer)
            return answer
        finally:
            self.abandon(receipt)

    def fail(self, receipt: Receipt, why: str) -> None:
        """Close a charge without an answer: it stays spent."""
        try:
            with self.book.writing() as view:
                course = view.course(receipt.position)
                if course.closed is None and course.runs == receipt.run:
                    view.append(_about(receipt, Kind.FAILED, {"why": why}))
        finally:
            self.abandon(receipt)

    def abandon(self, receipt: Receipt) -> None:
        """Let others run the question, as if this process had died: the charge stays open."""
        lease = self._leases.pop((receipt.position, receipt.run), None)
        if lease is not None:
            lease.release()

    def stored(self, fingerprint: str) -> bytes | None:
        """Find the answer to a question, if it was ever given."""
        with self.book.reading() as view:
            found = view.last_charge(fingerprint)
            return None if found is None else _answer(view, found)

    def spent(self) -> Spent:
        """Tell what has been spent so far."""
        return self.book.spent()

    def price(self, parts: Iterable[Part] = ()) -> Price:
        """Price everything spent, with these parts on top; nothing is charged."""
        with self.book.reading() as view:
            self._require(view)
            return self._price(view.totals(self._seen).plus(parts))

    def outside(self, parts: Iterable[Part]) -> str | None:
        """Say how these parts on top of everything spent would leave what was reserved, if they would."""
        with self.book.reading() as view:
            self._require(view)
            return self._accountant.outside(view.totals(self._seen).plus(parts))

    def own_price(self, analyst: str, parts: Iterable[Part] = ()) -> Price:
        """Price what one analyst was charged for, as if nothing else had been, with these parts on top."""
        with self.book.reading() as view:
            self._require(view)
            found = self._slices = slices(view, self._accountant, self._slices)
        totals = found.of(analyst, parts)
        return self._price(totals) if totals else Price(Fraction(0))

    def allowances(self, parts: Iterable[Part] = ()) -> tuple[Allowance, ...]:
        """Tell what each period of the calendar leaves, with these parts on top; nothing is charged."""
        with self.book.reading() as view:
            self._require(view)
            return self._allowances(view, tuple(parts))

    def standing(self) -> Standing:
        """Tell what everything charged so far amounts to, by this accountant, and where the chain ends."""
        with self.book.reading() as view:
            self._require(view)
            totals, mark = view.totals(self._seen), view.last.mark
        rows = tuple(totals.rows[key] for key in sorted(totals.rows))
        return Standing(self.id, mark, self.cap, rows, self._price(totals))

    def close(self) -> None:
        """Close the connections; the ledger opens them again when it is used."""
        self.book.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _require(self, view: View) -> None:
        """Refuse to go on where the terms are no longer those that this was opened for."""
        require_same(view, self.cap, self._accountant, self._calendar)

    def _stored(self, view: View, charge: Charge) -> Receipt | None:
        """Find the receipt of a question that has its answer."""
        _refuse_reused(view.charge_of(charge.request), charge)
        found = view.last_charge(charge.fingerprint)
        answer = None if found is None else _answer(view, found)
        if found is None or answer is None:
            return None
        _refuse_other_price(found, charge)
        return Receipt(found.mark, 0, found.fields["request"], found.price, answer)

    def _plan(self, view: View, charge: Charge) -> Step:
        """Work out the totals from those seen last, if they are still the same."""
        before = self._seen = view.totals(self._seen)
        return Step(before, before.plus(charge.parts))

    def _admit(self, view: View, charge: Charge, plan: Step) -> Receipt:
        """Charge, or run again under a charge whose runs all died: we hold the lease, so none is running."""
        before = Unanswered.of(view, charge.fingerprint)
        if before is None or before.is_charged_again:
            if view.charge_of(charge.request) is None:
                return self._charge(view, charge, plan, before)
            raise ChargeClosed(
                f"Request {charge.request} was charged and ended without an answer. Ask with a new request "
                f"id; it is charged again."
            )
        found = before.charge
        _refuse_other_price(found, charge)
        receipt = Receipt(found.mark, before.runs + 1, found.fields["request"], found.price)
        view.append(_about(receipt, Kind.RUN, {}))
        return receipt

    def _charge(self, view: View, charge: Charge, plan: Step, unanswered: Unanswered | None) -> Receipt:
        before = view.totals(plan.before)
        if before and self._accountant.is_for_one_batch and unanswered is None:
            why = ONE_RELEASE if "secrets" in self._accountant.document else ONE_BATCH
            raise OverBudget(f"Request {charge.request}: {why}")
        after = plan.after if before is plan.before else before.plus(charge.parts)
        outside = self._accountant.outside(after)
        if outside is not None:
            raise OverBudget(f"Request {charge.request}: {outside} Nothing was charged.")
        price = self._price(after)
        if not price.worst <= self.cap:
            raise OverBudget(
                f"Request {charge.request}: the total would leak {shown(price.worst)}, "
                f"{shown(price.worst - self.cap)} more than the cap {shown(self.cap)}. "
                f"Ask for a smaller loss, or stop here. Nothing was charged."
            )
        self._require_earmark(view, charge)
        periods = self._allowances(view, charge.parts)
        for one in periods:
            if one.is_over:
                raise OverBudget(f"Request {charge.request}: {one.refusal}. Nothing was charged.")
        fields = {
            **within(periods),
            "kind": Kind.CHARGE.value,
            "request": charge.request,
            "fingerprint": charge.fingerprint,
            "analyst": charge.analyst,
            "parts": [part.row for part in charge.parts],
            "document": charge.document,
            **({"asked": list(charge.asked)} if charge.asked else {}),
            **({} if unanswered is None else {"again_after": unanswered.charge.position}),
            **({"unguarded": charge.unguarded} if charge.unguarded else {}),
            "price": price.document,
        }
        self._seen = after
        return Receipt(view.spend(fields, charge.parts, after).mark, 1, charge.request, price)

    def _own(self, view: View, analyst: str, parts: tuple[Part, ...]) -> tuple[Totals, ...]:
        """Add parts to what an analyst was charged for, if the analyst has an earmark."""
        if self.earmarks(analyst) is None:
            return ()
        found = self._slices = slices(view, self._accountant, self._slices)
        return (found.of(analyst, parts),)

    def _require_earmark(self, view: View, charge: Charge) -> None:
        """Refuse what is more than the analyst's own slice of the cap."""
        most = self.earmarks(charge.analyst)
        for totals in self._own(view, charge.analyst, charge.parts):
            own = self._price(totals).worst
            if most is not None and not own <= most:
                raise OverBudget(
                    f"Request {charge.request}: what {charge.analyst} was charged for would leak {shown(own)}, "
                    f"{shown(own - most)} more than the {shown(most)} that {charge.analyst} may spend. "
                    f"Ask for a smaller loss. Nothing was charged."
                )

    def _within(
        self, view: View, parts: tuple[Part, ...]
    ) -> list[tuple[tuple[Period, Fraction], datetime, Totals]]:
        """Add parts to what the periods of now have spent; the time is that of the ledger's place."""
        calendar = view.calendar
        if not calendar:
            return []
        now = time_of(view)
        for period, _ in calendar.allowances:
            self._tallies[period] = tally(view, period, now, self._tallies.get(period))
        return [(one, now, self._tallies[one[0]].totals.plus(parts)) for one in calendar.allowances]

    def _allowances(self, view: View, parts: tuple[Part, ...]) -> tuple[Allowance, ...]:
        """Price what each period of now would have spent with these parts."""
        return tuple(
            Allowance(period, now, allowed, self._price(totals) if totals else Price(Fraction(0)))
            for (period, allowed), now, totals in self._within(view, parts)
        )

    def _price(self, totals: Totals) -> Price:
        """Ask the accountant, once for equal totals."""
        known = self._prices.get(totals.digest)
        if known is None:
            known = self._accountant.price(totals)
            if len(self._prices) >= REMEMBERED_PRICES:
                self._prices.clear()
            self._prices[totals.digest] = known
        return known


def _about(receipt: Receipt, kind: Kind, said: Mapping[str, Any]) -> Document:
    return {"kind": kind.value, "charge": receipt.position, "run": receipt.run, **said}


def _answer(view: View, charge: Entry) -> bytes | None:
    closed = view.course(charge.position).closed
    return view.answer(closed) if closed is not None and closed.kind is Kind.ANSWERED else None


def _refuse_reused(known: Entry | None, charge: Charge) -> None:
    if known is not None and known.fields["fingerprint"] != charge.fingerprint:
        raise BadCharge(
            f"The request id {charge.request} stands for another question already. Give each its own id."
        )


def _refuse_other_price(known: Entry, charge: Charge) -> None:
    """Refuse to run a dearer question on a cheaper charge, should a fingerprint not tell them apart."""
    if known.parts != charge.parts:
        raise BadCharge(
            f"Request {charge.request} has the fingerprint of an earlier question and other losses. A "
            f"fingerprint must name everything that the losses depend on."
        )
