"""How many durable charges a second a ledger in a SQLite file takes, with the disk's own rate beside them."""

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from entwined.ledger import Charge, Ledger, Part, Price

ENOUGH = 500
TIMES = 2000
BATCHES = 10


class Sum:
    """Everything adds up."""

    identity = "sum"
    document: Final = {"name": "sum"}

    def differences(self, document: Mapping[str, Any]) -> list[str]:
        """Name the other one."""
        return [f"the accountant was {document['name']}"]

    def carried(self, document: Mapping[str, Any], totals: Mapping[str, Part]) -> Mapping[str, Part]:  # noqa: ARG002
        """Take losses over as they are."""
        return totals

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


def run() -> dict[str, float]:
    """Print how often a second each thing is done."""
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
    return found
