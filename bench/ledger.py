"""How many durable charges a second a ledger in a SQLite file takes, and how long a charge waits for its history."""

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from entwined.dependence import Groups
from entwined.ledger import Charge, Kind, Ledger
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.price import Price
from entwined.promise.promise import Promise
from entwined.queries import Predicate, codes_in
from entwined.schema import Integer, Schema

ENOUGH = 500
TIMES = 2000
BATCHES = 10
HISTORIES = (10, 1_000, 10_000)
ENTRIES_A_PART = 10
WAITING = 50.0  # milliseconds that a release may take, whatever was released before


class Sum:
    """Everything adds up."""

    identity = "sum"
    document: Final = {"name": "sum"}

    def differences(self, document: Mapping[str, Any]) -> list[str]:
        """Name the other one."""
        return [f"the accountant was {document['name']}"]

    @property
    def is_for_one_batch(self) -> bool:
        """A price of sums holds whatever was seen before."""
        return False

    def carried(self, document: Mapping[str, Any], totals: Mapping[str, Part]) -> Mapping[str, Part]:  # noqa: ARG002
        """Take losses over as they are."""
        return totals

    def outside(self, totals: Mapping[str, Part]) -> str | None:
        """Nothing is reserved."""

    def price(self, totals: Mapping[str, Part]) -> Price:
        """Add all parts."""
        return Price(sum((part.one for part in totals.values()), Fraction(0)))


def rate(act: Callable[[int], object], times: int) -> float:
    """Return how often a second `act` is done in the best of ten batches: neighbours only disturb."""
    batch = max(times // BATCHES, 1)
    best = 0.0
    for first in range(0, times, batch):
        start = time.perf_counter()
        for turn in range(first, min(first + batch, times)):
            act(turn)
        best = max(best, (min(first + batch, times) - first) / (time.perf_counter() - start))
    return best


def bare_syncs(folder: Path, times: int) -> float:
    """Return how often a second this disk makes 4 KB durable."""
    descriptor = os.open(folder / "bare", os.O_CREAT | os.O_RDWR)

    def once(turn: int) -> None:
        os.pwrite(descriptor, b"%4096d" % turn, 0)
        os.fdatasync(descriptor)

    once(0)
    measured = rate(once, times)
    os.close(descriptor)
    return measured


def measure(folder: Path, times: int, parts: int) -> dict[str, float]:
    """Measure a fresh ledger whose charges touch one of `parts` parts."""
    tenth = Fraction(1, 10)

    def charge(turn: int) -> Charge:
        return Charge(f"r{turn}", f"q{turn}", (Part(f"part {turn % parts}", tenth, tenth),))

    where = folder / f"ledger-{parts}.db"
    anchor = folder / f"anchor-{parts}"
    with Ledger.create(where, Fraction(10**9), Sum(), anchor=anchor) as ledger:
        found = {
            "charge": rate(lambda turn: ledger.abandon(ledger.reserve(charge(turn))), times),
            "charge and answer": rate(lambda turn: ledger.answer(charge(times + turn), lambda: b"1"), times),
            "stored answer": rate(lambda turn: ledger.answer(charge(times + turn), lambda: b"2"), times),
        }
        start = time.perf_counter()
        entries = ledger.book.check()
        found["entry checked"] = entries / (time.perf_counter() - start)
    return found


def part(number: int) -> Part:
    """Give a condition that overlaps many others: an age and more, in some regions."""
    low, first, wide = number % 100, number // 100 % 100, number // 10_000 + 9
    ages: Predicate = codes_in("age", 121, ((low, 99),))
    regions = codes_in("region", 121, ((first, first + wide),))
    return Part(key_of(ages & regions, None), Fraction(1 + number % 7, 10**6), Fraction(0))


def with_history(folder: Path, parts: int) -> Ledger:
    """Make a ledger with so many different parts and ten entries for each, written in one transaction."""
    schema = Schema((Integer("age", 0, 119), Integer("region", 0, 119))).approve()
    accountant = Promise.of(schema, Groups(4))
    ledger = Ledger.create(folder / f"history-{parts}", Fraction(10**6), accountant, folder / f"mark-{parts}")
    with ledger.book.writing() as view:
        spent = view.totals()
        price = Price(Fraction(0)).document
        for number in range(parts):
            charged = part(number)
            spent = spent.plus([charged])
            fields = {"kind": Kind.CHARGE.value, "request": f"old {number}", "fingerprint": f"old {number}"}
            said = {"analyst": "", "parts": [charged.row], "document": {}, "price": price}
            made = view.spend(fields | said, [charged], spent)
            for run in range(2, ENTRIES_A_PART + 1):
                view.append({"kind": Kind.RUN.value, "charge": made.position, "run": run})
    return ledger


def waiting(folder: Path, parts: int, times: int = 20) -> tuple[float, float, int]:
    """Measure, with a history, the milliseconds of the first release and of later ones, and count entries."""
    with with_history(folder, parts) as ledger:

        def release(turn: int) -> float:
            start = time.perf_counter()
            new = part(parts + turn)
            ledger.answer(Charge(f"new {turn}", f"new {turn}", (new, part(turn))), lambda: b"1")
            return 1e3 * (time.perf_counter() - start)

        first = release(0)
        rest = sorted(release(turn) for turn in range(1, times + 1))
        return first, rest[times // 2], ledger.book.spent().entries


def run() -> dict[str, float]:
    """Print how often a second each thing is done, and how long a release takes after others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = {"bare 4 KB sync": bare_syncs(folder, TIMES)}
        for parts in (1, 100):
            rates = measure(folder, TIMES, parts)
            found |= {f"{what} ({parts} parts)": each for what, each in rates.items()}
    for what, each in found.items():
        print(f"{what:>30} {each:8.0f} /s")
    slowest = min(each for what, each in found.items() if what.startswith("charge ("))
    print(f"{'within limits:':>30} {slowest >= ENOUGH} (at least {ENOUGH} charges /s)")
    with tempfile.TemporaryDirectory() as name:
        for parts in HISTORIES:
            first, each, entries = waiting(Path(name), parts)
            found[f"ms a release ({parts} parts)"] = each
            print(
                f"{parts:>8} parts, {entries:>7} entries: {each:6.1f} ms a release (the first {first:.0f} ms)"
            )
    print(f"{'within limits:':>30} {each <= WAITING} (at most {WAITING:.0f} ms a release)")
    return found
