"""Several first releases at once: one begins the ledger, the others wait for it, and nobody is told to adopt one."""

import multiprocessing
from fractions import Fraction

import pytest

import entwined as ew
from entwined.door.witnessed import witness_of
from entwined.errors import EntwinedError, NoLedger
from entwined.ledger import Book
from entwined.request import funds
from entwined.request.bill import Bill
from entwined.request.fulfil import fulfil
from entwined.request.funds import funds_of, ledger_for
from entwined.request.request_file import read_request
from entwined.tables import open_table
from support.served import people

AT_ONCE, ROUNDS = 3, 6


def released(folder, number, barrier, out, way):
    """Make a first release, as soon as everybody is ready; say what went wrong."""
    request = read_request(folder / "people.toml")
    try:
        barrier.wait(60)
        if way == "python":
            groups = ew.Declared(ew.Groups(largest=2), by="home")
            given = {"dependence": groups, "ledger": folder / "ledger.sqlite", "cap": 4}
            with ew.open(folder / "people.csv", request.schema, **given) as door:
                door.release(ew.Count(where=f"age > {20 + number}"), leakage="0.1")
        else:
            asked = request.asking(request.questions, Fraction(number + 1, 10), None)
            planned = asked.plan()
            ahead = funds_of(asked, Bill.of_batch(planned))
            assert ahead.refused is None, ahead.refused
            fulfil(asked, planned)
    except (EntwinedError, AssertionError) as wrong:
        out.put(str(wrong))
    else:
        out.put("")


@pytest.mark.slow
@pytest.mark.parametrize("way", ["request", "python"])
def test_first_releases_at_once_share_the_ledger_that_one_of_them_begins(way, tmp_path):
    context = multiprocessing.get_context("fork")
    for turn in range(ROUNDS):
        folder = people(tmp_path / str(turn), rows=60, changed=f"h{turn},{33 + turn},no")
        barrier, out = context.Barrier(AT_ONCE), context.Queue()
        workers = [
            context.Process(target=released, args=(folder, number, barrier, out, way))
            for number in range(AT_ONCE)
        ]
        for worker in workers:
            worker.start()
        said = [out.get(timeout=60) for _ in workers]
        for worker in workers:
            worker.join(60)
        assert said == [""] * AT_ONCE, turn
        book = Book(folder / "ledger.sqlite")
        assert sum(entry.kind.value == "answered" for entry in book.history()) == AT_ONCE
        book.close()


def test_who_loses_the_race_opens_the_ledger_that_was_begun_meanwhile(tmp_path, monkeypatch):
    """The ledger appears after it was looked for, and before it would be begun: no second one, and no advice."""
    request = read_request(people(tmp_path) / "people.toml")
    with open_table(request.source, request.schema) as table:
        witness = witness_of(table)
        bill = Bill.of_batch(request.plan())

        def looked_too_early(*_):
            monkeypatch.undo()
            with ledger_for(request, request.promise, bill.price, witness) as first:
                witness.bind(first.book)
            raise NoLedger("There was none when it was looked for.")

        monkeypatch.setattr(funds, "Ledger", looked_too_early)
        with ledger_for(request, request.promise, bill.price, witness) as ledger:
            assert ledger.spent().entries == 1
