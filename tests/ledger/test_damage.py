"""A ledger that was edited, cut, put back or put on a bad disk gives no answer."""

import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from entwined.canonical import canonical, sha256
from entwined.errors import BadLedger, LedgerDamaged, LedgerUnavailable, NoLedger
from entwined.ledger import Book, Ledger
from entwined.ledger.anchor import Anchor
from entwined.ledger.entry import START
from entwined.ledger.pages import Pages
from entwined.ledger.postgres import ServerPages
from entwined.ledger.slots import SLOT
from support.ledger_worker import Sum, charge, drawn
from support.postgres import database, new_schema
from support.workers import worker

CAP = Fraction(100)
REFUSALS = (LedgerDamaged, NoLedger)


@pytest.fixture(params=["sqlite", "postgres"])
def where(request, tmp_path):
    return str(tmp_path / "ledger.db") if request.param == "sqlite" else new_schema()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.db"


@pytest.fixture
def anchor(tmp_path):
    return tmp_path / "anchor"


def spend(ledger, start, stop):
    return [ledger.answer(charge(f"r{turn}"), drawn) for turn in range(start, stop)]


def filled(where, anchor, until=5):
    with Ledger.create(where, CAP, Sum(), anchor=anchor) as ledger:
        spend(ledger, 0, until)


def opened(where, anchor):
    return Ledger.open(where, CAP, Sum(), anchor=anchor)


def quickly_opened(where, anchor):
    return Ledger(Book(where, anchor), CAP, Sum())


def run(where, *statements):
    """Change the tables behind the ledger's back; `?` is written as each driver wants it."""
    if where.startswith("postgresql"):
        with psycopg.connect(where, autocommit=True) as link:
            for statement, values in statements:
                link.execute(statement.replace("?", "%s"), values)
        return
    with closing(sqlite3.connect(where)) as link, link:
        for statement, values in statements:
            link.execute(statement, values)


def entries(where):
    query = "SELECT position, content, hash FROM entwined_entry ORDER BY position"
    if where.startswith("postgresql"):
        with psycopg.connect(where) as link:
            return link.execute(query).fetchall()
    with closing(sqlite3.connect(where)) as link:
        return link.execute(query).fetchall()


def cheaper(content):
    return canonical({**json.loads(content), "parts": [["all", "1/1000", "1/1000"]]})


def edited(where, rehash):
    """Statements that make the second charge cheaper, with its own hash or all later hashes put right."""
    statements, before = [], START.hash
    for position, content, found in entries(where):
        text = cheaper(content) if position == 4 else content
        right = sha256(before, text)
        before = right if rehash == "all" or (rehash == "own" and position == 4) else found
        statements.append(
            ("UPDATE entwined_entry SET content = ?, hash = ? WHERE position = ?", (text, before, position))
        )
    statements.append(("UPDATE entwined_head SET hash = ?", (before,)))
    return statements


def another_analyst(where):
    """An edit that no total tells of."""
    content = canonical({**json.loads(entries(where)[3][1]), "analyst": "somebody else"})
    return [("UPDATE entwined_entry SET content = ? WHERE position = 4", (content,))]


def dearer_cap(where):
    content = canonical({**json.loads(entries(where)[0][1]), "cap": "1000/1"})
    statement = "UPDATE entwined_entry SET content = ?, hash = ? WHERE position = 1"
    return [(statement, (content, sha256(START.hash, content)))]


def cut(where, most):
    kept = entries(where)[most - 1]
    return [
        ("DELETE FROM entwined_entry WHERE position > ?", (most,)),
        ("UPDATE entwined_head SET position = ?, hash = ?", (kept[0], kept[2])),
    ]


def refund(where):
    """The most careful thief: cut the last charge, put head and totals right."""
    return [*cut(where, 9), ("UPDATE entwined_total SET loss_one = '4/1', loss_both = '4/1'", ())]


TAMPERS = {
    "an old entry edited": lambda where: edited(where, "none"),
    "an old entry edited, its hash put right": lambda where: edited(where, "own"),
    "an old entry edited, the whole chain put right": lambda where: edited(where, "all"),
    "an old entry's analyst edited": another_analyst,
    "an old entry deleted": lambda _: [("DELETE FROM entwined_entry WHERE position = 5", ())],
    "the last entry deleted": lambda _: [("DELETE FROM entwined_entry WHERE position = 11", ())],
    "the last entries deleted, the head put right": lambda where: cut(where, 7),
    "the last charge refunded with care": refund,
    "all deleted": lambda _: [("DELETE FROM entwined_entry", ())],
    "the head deleted": lambda _: [("DELETE FROM entwined_head", ())],
    "a second head": lambda _: [("INSERT INTO entwined_head SELECT * FROM entwined_head", ())],
    "a total lowered": lambda _: [("UPDATE entwined_total SET loss_one = '1/2'", ())],
    "a total that is no number": lambda _: [("UPDATE entwined_total SET loss_both = 'nan'", ())],
    "a total that is negative": lambda _: [("UPDATE entwined_total SET loss_one = '-5/1'", ())],
    "a total deleted": lambda _: [("DELETE FROM entwined_total", ())],
    "the totals dropped": lambda _: [("DROP TABLE entwined_total", ())],
    "the cap raised": dearer_cap,
    "an answer changed": lambda _: [("UPDATE entwined_entry SET answer = ? WHERE position = 5", (b"no",))],
    "an answer deleted": lambda _: [("UPDATE entwined_entry SET answer = NULL WHERE position = 5", ())],
    "a request renamed": lambda _: [("UPDATE entwined_entry SET request = 'x' WHERE position = 4", ())],
    "an answer hidden": lambda _: [("UPDATE entwined_entry SET charge = 2 WHERE position = 5", ())],
    "an entry slipped in": lambda _: [
        ("INSERT INTO entwined_entry (position, kind, content, hash) VALUES (12, 'run', '{}', '')", ())
    ],
}
CHEAPLY_SEEN = {
    "an old entry edited, the whole chain put right",
    "the last entry deleted",
    "the last entries deleted, the head put right",
    "the last charge refunded with care",
    "all deleted",
    "the head deleted",
    "a second head",
    "a total lowered",
    "a total that is no number",
    "a total that is negative",
    "a total deleted",
    "the totals dropped",
    "the cap raised",
    "an entry slipped in",
}


@pytest.mark.parametrize("tamper", TAMPERS)
def test_tampering_is_refused_on_opening(tamper, where, anchor):
    filled(where, anchor)
    opened(where, anchor).close()  # sound until now
    run(where, *TAMPERS[tamper](where))
    with pytest.raises(REFUSALS):
        opened(where, anchor)


@pytest.mark.parametrize("tamper", sorted(CHEAPLY_SEEN))
def test_what_the_budget_rests_on_is_checked_at_every_charge(tamper, where, anchor):
    filled(where, anchor)
    with quickly_opened(where, anchor) as running:
        statements = TAMPERS[tamper](where)
        running.close()  # a database cannot drop a table that is in use
        run(where, *statements)
        with pytest.raises(REFUSALS):
            running.reserve(charge("new"))


def test_a_refusal_ends_with_exit_code_1_and_says_what_to_do(path, anchor):
    filled(path, anchor)
    run(str(path), *TAMPERS["an old entry edited"](str(path)))
    with pytest.raises(LedgerDamaged, match=r"Entry 4 .*edited or cut: restore the newest copy") as refused:
        opened(path, anchor)
    assert refused.value.exit_code == 1


def test_a_charge_that_was_answered_twice_is_refused(path, anchor):
    """As a fault of ours would write it, with every hash right: a second release for one price."""
    with Ledger.create(path, CAP, Sum(), anchor=anchor) as ledger:
        spend(ledger, 0, 1)
        with ledger.book.writing() as view:
            view.append({"kind": "answered", "charge": 2, "run": 1, "answer": sha256("no")}, b"no")
        with pytest.raises(LedgerDamaged, match="closed twice"):
            ledger.book.check()


@pytest.mark.parametrize("keep", [0, 100, 4096, 10_000])
def test_a_file_cut_short_is_refused(keep, path, anchor):
    filled(path, anchor)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(REFUSALS):
        opened(path, anchor)


def test_every_flipped_byte_is_refused_or_does_no_harm(path, anchor):
    """Bytes that SQLite does not use may change; what the ledger says may not."""
    filled(path, anchor, 3)
    sound = path.read_bytes()
    with opened(path, anchor) as ledger:
        truth = (ledger.spent(), [line.hash for line in ledger.book.history()])
    refused = 0
    for place in range(0, len(sound), 101):
        flipped = bytearray(sound)
        flipped[place] ^= (0x55, 0xFF)[place % 2]
        path.write_bytes(flipped)
        for left in ("-wal", "-shm"):
            Path(f"{path}{left}").unlink(missing_ok=True)
        try:
            with opened(path, anchor) as ledger:
                assert (ledger.spent(), [line.hash for line in ledger.book.history()]) == truth
        except REFUSALS:
            refused += 1
    assert refused > 10


def test_an_old_copy_is_refused_by_an_open_ledger_and_by_a_new_one(path, anchor):
    filled(path, anchor, 3)
    old = path.read_bytes()
    with opened(path, anchor) as ledger:
        spend(ledger, 3, 5)
    path.write_bytes(old)
    with pytest.raises(LedgerDamaged, match="old copy"):
        opened(path, anchor)
    with pytest.raises(LedgerDamaged, match="old copy"):
        quickly_opened(path, anchor)


def test_a_copy_put_in_place_of_an_open_ledger_is_refused(path, anchor, tmp_path):
    filled(path, anchor, 3)
    shutil.copy(path, tmp_path / "backup.db")
    with opened(path, anchor) as ledger:
        spend(ledger, 3, 5)
        (tmp_path / "backup.db").rename(path)
        for left in ("-wal", "-shm"):
            Path(f"{path}{left}").unlink(missing_ok=True)
        with pytest.raises(LedgerDamaged, match="old copy"):
            ledger.reserve(charge("new"))
        path.unlink()
        with pytest.raises(NoLedger):
            ledger.reserve(charge("new"))


def test_an_old_copy_between_charge_and_answer_gives_no_second_answer(path, anchor):
    """Such a copy holds every charge; only the anchor of the answer keeps it from being drawn again."""
    with Ledger.create(path, CAP, Sum(), anchor=anchor) as ledger:
        receipt = ledger.reserve(charge("r"))
        ledger.close()
        old = path.read_bytes()
        ledger.settle(receipt, b"first")
    path.write_bytes(old)
    with pytest.raises(LedgerDamaged, match="old copy"):
        quickly_opened(path, anchor)


def test_an_answer_that_a_crash_left_unanchored_is_anchored_before_it_is_told(path, anchor):
    with Ledger.create(path, CAP, Sum(), anchor=anchor) as ledger:
        receipt = ledger.reserve(charge("r"))
        ledger.close()
        charged, mark = path.read_bytes(), anchor.read_bytes()
        ledger.settle(receipt, b"first")
    anchor.write_bytes(mark)  # as if the process had died between commit and anchor
    with quickly_opened(path, anchor) as ledger:
        assert ledger.answer(charge("r"), pytest.fail) == b"first"
    path.write_bytes(charged)
    with pytest.raises(LedgerDamaged, match="old copy"):
        quickly_opened(path, anchor)


def test_a_postgres_put_back_from_a_dump_is_refused(anchor):
    url = new_schema()
    filled(url, anchor, 3)
    with psycopg.connect(url, autocommit=True) as link:
        tables = ("entwined_entry", "entwined_total", "entwined_head")
        for table in tables:
            link.execute(f"CREATE TABLE dump_{table} AS TABLE {table}")
        with opened(url, anchor) as ledger:
            spend(ledger, 3, 5)
        for table in tables:
            link.execute(f"DROP TABLE {table}")
            link.execute(f"ALTER TABLE dump_{table} RENAME TO {table}")
    with pytest.raises(LedgerDamaged, match="old copy"):
        opened(url, anchor)


def test_an_anchor_left_behind_by_a_crash_is_no_alarm(path, anchor):
    filled(path, anchor, 3)
    behind = anchor.read_bytes()
    with opened(path, anchor) as ledger:
        spend(ledger, 3, 5)
    newest = Anchor(anchor, 1).read()
    anchor.write_bytes(behind)
    assert Anchor(anchor, 1).read().position < newest.position
    with opened(path, anchor) as ledger:
        assert ledger.spent().price.nominal == 5
    assert Anchor(anchor, 1).read() == newest


@pytest.mark.parametrize("slot", [0, SLOT])
def test_a_torn_anchor_falls_back_on_its_other_slot(slot, path, anchor):
    filled(path, anchor, 3)
    newest = Anchor(anchor, 1).read()
    torn = bytearray(anchor.read_bytes())
    torn[slot + 2] ^= 1
    anchor.write_bytes(torn)
    assert newest.position - Anchor(anchor, 1).read().position <= 1
    with opened(path, anchor) as ledger:
        spend(ledger, 3, 5)
    assert Anchor(anchor, 1).read().position == newest.position + 4


def test_an_anchor_that_says_nothing_is_refused(path, anchor):
    filled(path, anchor)
    for nothing in (b"", b"\xff" * 9000, b"12 ab cd"):
        anchor.write_bytes(nothing)
        with pytest.raises(LedgerDamaged, match="no valid mark"):
            opened(path, anchor)


def test_a_ledger_without_its_anchor_is_refused_until_it_is_adopted(where, anchor):
    filled(where, anchor)
    anchor.unlink()
    with pytest.raises(LedgerDamaged, match=r"missing.*adopt"):
        opened(where, anchor)
    Book(where, anchor).adopt()
    with opened(where, anchor) as ledger:
        assert ledger.spent().price.nominal == 5
    Book(where, anchor).adopt()  # who is trusted already may be adopted again


def test_a_damaged_ledger_is_not_adopted(where, anchor):
    filled(where, anchor)
    run(where, *TAMPERS["an old entry edited"](where))
    anchor.unlink()
    with pytest.raises(LedgerDamaged):
        Book(where, anchor).adopt()
    assert not anchor.exists()


def test_by_default_a_deleted_or_copied_ledger_is_not_a_new_budget(tmp_path, monkeypatch):
    """The anchor stands in the user's state folder: restoring the ledger's folder does not bring it back."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    folder = tmp_path / "project"
    with Ledger.create(folder / "l.db", CAP, Sum()) as ledger:
        spend(ledger, 0, 3)
    shutil.copytree(folder, tmp_path / "backup")
    with Ledger.open(folder / "l.db", CAP, Sum()) as ledger:
        spend(ledger, 3, 5)
    with pytest.raises(LedgerDamaged, match="adopt"):
        Ledger.open(tmp_path / "backup" / "l.db", CAP, Sum())
    shutil.rmtree(folder)
    with pytest.raises(BadLedger, match="remembers a ledger"):
        Ledger.create(folder / "l.db", CAP, Sum())
    shutil.copytree(tmp_path / "backup", folder)
    with pytest.raises(LedgerDamaged, match="old copy"):
        Ledger.open(folder / "l.db", CAP, Sum())


def test_a_clock_that_goes_back_changes_nothing(where, anchor, monkeypatch):
    filled(where, anchor, 2)

    for kind in (Pages, ServerPages):
        monkeypatch.setattr(kind, "clock", lambda _: datetime(1999, 1, 1, tzinfo=UTC))
    with opened(where, anchor) as ledger:
        with pytest.raises(ZeroDivisionError):
            ledger.answer(charge("r", "q"), lambda: 1 // 0)
        answer = ledger.answer(charge("s", "q"), drawn)
        lines = list(ledger.book.history())
        assert lines[-1].fields["time"] < lines[0].fields["time"]
        assert ledger.stored("q") == answer
        assert ledger.spent().price.nominal == 4
    opened(where, anchor).close()


def refused_on_a_full_disk(found, where, anchor):
    assert len(found["told"]) > 10
    assert len(found["refusals"]) == 3
    with Ledger.open(where, Fraction(10**6), Sum(), anchor=anchor) as ledger:
        for request, answer in found["told"].items():
            assert ledger.stored(f"question of {request}").hex() == answer
        assert ledger.spent().price.nominal >= len(found["told"])


def test_a_file_that_may_not_grow_is_refused(path, anchor):
    found = worker("fill", path, anchor, 200_000)
    assert all("cannot be used" in refusal for refusal in found["refusals"])
    refused_on_a_full_disk(found, path, anchor)


@pytest.mark.skipif(os.getuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_is_refused(tmp_path, anchor):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let a test mount a small disk")
    try:
        found = worker("fill", disk / "l.db", anchor, 0)
        assert any("disk is full" in refusal for refusal in found["refusals"])
        for name in ("l.db", "l.db-wal"):
            if (disk / name).exists():
                shutil.copy(disk / name, tmp_path / name)
    finally:
        subprocess.run(["umount", disk], check=True)
    refused_on_a_full_disk(found, tmp_path / "l.db", anchor)


def test_a_ledger_that_may_only_be_read_is_refused():
    folder = Path(tempfile.mkdtemp())  # pytest's own folders may not be entered by other users
    try:
        filled(folder / "l.db", folder / "anchor")
        (folder / "l.db").chmod(0o444)
        (folder / "anchor").chmod(0o444)
        folder.chmod(0o555)
        found = worker("unwritable", folder / "l.db", folder / "anchor")
        assert found["refused"] == "LedgerUnavailable"
        folder.chmod(0o755)
        with opened(folder / "l.db", folder / "anchor") as ledger:
            assert ledger.spent().price.nominal == 5
    finally:
        shutil.rmtree(folder)


def test_a_postgres_that_may_only_be_read_is_refused(anchor):
    url = new_schema()
    filled(url, anchor)
    schema = url.rsplit("%3D", 1)[1]
    with psycopg.connect(url, autocommit=True) as link:
        link.execute(f"CREATE ROLE reader_{schema} LOGIN")
        link.execute(f"GRANT USAGE ON SCHEMA {schema} TO reader_{schema}")
        link.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader_{schema}")
    reader = url.replace("postgres:@", f"reader_{schema}:@")
    with opened(reader, anchor) as ledger:
        assert ledger.spent().price.nominal == 5
        with pytest.raises(LedgerUnavailable, match="permission denied"):
            ledger.reserve(charge("new"))


def test_a_server_out_of_reach_is_refused_without_telling_the_password(anchor):
    filled(new_schema(), anchor)
    with pytest.raises(LedgerUnavailable, match=r"127\.0\.0\.1:1/db") as refused:
        opened("postgresql://ann:secret@127.0.0.1:1/db", anchor)
    assert "secret" not in str(refused.value)


def test_a_connection_that_the_server_ends_is_made_again(anchor):
    url = new_schema()
    with Ledger.create(url, CAP, Sum(), anchor=anchor) as ledger:
        spend(ledger, 0, 1)
        with psycopg.connect(database(), autocommit=True) as link:
            link.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                "AND backend_type = 'client backend' AND datname = current_database()"
            )
        for _ in range(3):  # each broken connection is found out once
            try:
                spend(ledger, 1, 2)
            except LedgerUnavailable:
                continue
        assert ledger.spent().price.nominal == 2


def test_a_place_that_is_no_ledger_is_refused(tmp_path, anchor):
    filled(tmp_path / "l.db", anchor)
    (tmp_path / "notes.txt").write_text("not a database, but long enough to be one" * 100)
    with pytest.raises(LedgerDamaged, match="not a sound database"):
        opened(tmp_path / "notes.txt", anchor)
    with closing(sqlite3.connect(tmp_path / "other.db")) as link, link:
        link.execute("CREATE TABLE mine (x)")
    with pytest.raises(NoLedger, match="holds no ledger"):
        opened(tmp_path / "other.db", anchor)
    with pytest.raises(BadLedger, match="already"):
        Ledger.create(tmp_path / "other.db", CAP, Sum(), anchor=tmp_path / "a2")
    with closing(sqlite3.connect(tmp_path / "other.db")) as link:
        assert link.execute("PRAGMA journal_mode").fetchone() == ("delete",)  # left as it was
    with pytest.raises(LedgerUnavailable):
        Ledger.create("/proc/no/such/place.db", CAP, Sum(), anchor=tmp_path / "a3")
