"""Ledgers that are none, are damaged, were put back, or belong to something else."""

import os
import shutil
import sqlite3
from pathlib import Path

from corpus.case import Case, each
from corpus.places import strange
from corpus.run import run
from corpus.workshop import PASSWORD, ROWS, Workshop
from support.other_rows import forget_rows

ASK = ["sql", "SELECT count(*) FROM t", "--request", "release.toml", "--loss", "0.25", "--yes"]


def used(place: Workshop) -> bytes:
    """Charge the ledger once, and give its bytes."""
    place.request()
    forget_rows()  # other places have the same ones
    done = run(ASK, place.folder)
    if done.code:
        raise RuntimeError(done.err)
    with sqlite3.connect(place.folder / "ledger.sqlite") as link:
        link.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    link.close()
    return (place.folder / "ledger.sqlite").read_bytes()


def damaged(place: Workshop, change: object) -> list[str]:
    """Change a ledger's bytes, then ask for more."""
    data = change(used(place))
    for more in ("-wal", "-shm"):
        (place.folder / f"ledger.sqlite{more}").unlink(missing_ok=True)
    place.file("ledger.sqlite", data)
    return place.release(query={"kind": "mean", "column": "age"}, loss=0.5)


def over(data: bytes, at: int, to: bytes) -> bytes:
    """Write over some bytes."""
    return data[:at] + to + data[at + len(to) :]


BYTES = [
    *(
        (f"cut to {size}", lambda data, size=size: data[:size], "")
        for size in (1, 15, 16, 99, 100, 2000, 4096, 8192)
    ),
    ("cut in half", lambda data: data[: len(data) // 2], ""),
    *(
        (f"damaged at {at}", lambda data, at=at: over(data, at, b"\xff" * 40), "")
        for at in (0, 16, 18, 20, 28, 44, 56, 100, 4096, 8192)
    ),
    ("zeros", lambda data: bytes(len(data)), ""),
    ("text", lambda _: b"not a ledger\n" * 100, "not a sound database"),
    ("the table", lambda _: ROWS, "not a sound database"),
]
STATEMENTS = [
    ("entries deleted", "DELETE FROM {entries}", ""),
    (
        "the last entry deleted",
        "DELETE FROM {entries} WHERE position = (SELECT max(position) FROM {entries})",
        "",
    ),
    ("the head deleted", "DELETE FROM entwined_head", ""),
    ("the head dropped", "DROP TABLE entwined_head", "was released from before"),
    ("the entries dropped", "DROP TABLE {entries}", ""),
    ("the version changed", "PRAGMA user_version = 99; UPDATE entwined_head SET position = 'x'", ""),
    ("the head set back", "UPDATE entwined_head SET position = 1", ""),
    ("the head set on", "UPDATE entwined_head SET position = 10000", ""),
]


def edited(place: Workshop, statement: object) -> list[str]:
    """Change a ledger by SQL, then ask for more."""
    used(place)
    with sqlite3.connect(place.folder / "ledger.sqlite") as link:
        tables = [name for (name,) in link.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        entries = next(name for name in tables if "entr" in name)
        link.executescript(statement.format(entries=entries))
    link.close()
    return place.release(query={"kind": "mean", "column": "age"}, loss=0.5)


def anchors() -> set[Path]:
    """The files that remember how far ledgers have come."""
    folder = Path(os.environ["XDG_STATE_HOME"]) / "entwined" / "anchors"
    return {path for path in folder.glob("*") if not path.name.endswith("-lock")}


def anchored(place: Workshop, act: object) -> list[str]:
    """Do something to the ledger or its anchor, then ask for more."""
    before = anchors()
    used(place)
    (anchor,) = anchors() - before
    match act:
        case "gone":
            anchor.unlink()
        case "ledger gone":
            shutil.rmtree(place.folder / "ledger.sqlite-locks", ignore_errors=True)
            for more in ("", "-wal", "-shm"):
                (place.folder / f"ledger.sqlite{more}").unlink(missing_ok=True)
        case "old copy":
            old = (place.folder / "ledger.sqlite").read_bytes()
            done = run([*ASK[:1], "SELECT sum(age) FROM t", *ASK[2:]], place.folder)
            if done.code:
                raise RuntimeError(done.err)
            for more in ("-wal", "-shm"):
                (place.folder / f"ledger.sqlite{more}").unlink(missing_ok=True)
            place.file("ledger.sqlite", old)
        case data:
            anchor.write_bytes(data)
    return place.release(query={"kind": "mean", "column": "age"}, loss=0.5)


ANCHORS = [
    ("the anchor gone", "gone", "anchor"),
    ("the ledger gone", "ledger gone", "was released from before"),
    ("an old copy put back", "old copy", ""),
    ("the anchor empty", b"", "anchor"),
    ("the anchor zeros", bytes(8192), "anchor"),
    ("the anchor text", b"1 2 3\n" * 2000, "anchor"),
    ("the anchor ahead", b"x" * 4096 + b"y" * 4096, "anchor"),
]
OTHERS = [
    ("another cap", {"cap": 3}, "cap"),
    ("another model", {"models": '[[dependence]]\nmodel = {kind = "groups", largest = 2}\n'}, "model added"),
    (
        "another knowledge",
        {"knowledge": "model", "models": '[[dependence]]\nmodel = {kind = "groups", largest = 2}\n'},
        "",
    ),
    ("more than is left", {"loss": 1.9, "query": {"kind": "mean", "column": "age"}}, "cap"),
    ("a little more than is left", {"loss": "1.7501", "query": {"kind": "mean", "column": "age"}}, "cap"),
]


def for_other(place: Workshop, changed: object) -> list[str]:
    """Ask of a ledger what it was not made for."""
    used(place)
    return place.release(**changed)


def of_other_schema(place: Workshop, most_rows: object) -> list[str]:
    """Ask under another schema, approved like the first."""
    from corpus.workshop import schema_text

    used(place)
    place.file("schema.toml", schema_text(most_rows))
    return place.release(query={"kind": "mean", "column": "age"}, loss=0.5)


def other_database(place: Workshop, statement: object) -> list[str]:
    """Name a database that is no ledger."""
    with sqlite3.connect(place.folder / "ledger.sqlite") as link:
        link.executescript(statement)
    link.close()
    return place.release()


def at_place(place: Workshop, kind: object) -> list[str]:
    """Put something that is no file where the ledger should be."""
    strange(place, (kind, ".sqlite"))
    return place.release(ledger="bad.sqlite")


def budget_of(place: Workshop, kind: object) -> list[str]:
    """Ask for the budget of something that is no ledger."""
    if kind == "the table":
        return ["budget", "survey.csv"]
    if kind == "nothing":
        return ["budget", "nothing.sqlite"]
    strange(place, (kind, ".sqlite"))
    return ["budget", "bad.sqlite"]


KINDS = ("folder", "pipe", "socket", "loop", "/dev/null", "/dev/zero", "/dev/full")
NAMES = [
    "survey.csv/ledger",
    "schema.toml/x/y",
    "x" * 5000,
    "x" * 300,
    "/proc/ledger.sqlite",
    "/dev/null/ledger",
    ".",
    "..",
    "/",
]
TOML = [
    ("dots", b".".join([b"a"] * 100_000) + b" = 1"),
    ("depth", b"a = " + b"[" * 100_000),
    ("Latin-1", b'ledger = "\xff"'),
    ("no ledger", b"cap = 1"),
    ("a ledger that is a number", b"ledger = 1"),
    ("an empty ledger", b'ledger = ""'),
    ("a zero", b'ledger = "a\\u0000b"'),
    ("2 MB", b"#" * 2_000_000),
    ("not TOML", b"ledger: x"),
    ("a URL without its bracket", b'ledger = "postgresql://[::1/x"'),
    ("a URL of another kind", b'ledger = "mysql://x/y"'),
    ("a closed server", f'ledger = "postgresql://me:{PASSWORD}@127.0.0.1:1/x"'.encode()),
]
CASES: list[Case] = [
    *each("ledger bytes", BYTES, damaged),
    *each("ledger edited", STATEMENTS, edited),
    *each("ledger's anchor", ANCHORS, anchored),
    *each("ledger of something else", OTHERS, for_other),
    *each(
        "ledger of another schema",
        [("fewer rows", 10, "schema"), ("more rows", 10_000, "schema")],
        of_other_schema,
    ),
    *each(
        "ledger that is another database",
        [
            ("tables of others", "CREATE TABLE people (name)", ""),
            ("a head of others", "CREATE TABLE entwined_head (x)", ""),
            ("a view as the head", "CREATE VIEW entwined_head AS SELECT 1 AS x", ""),
        ],
        other_database,
    ),
    *each("no file for a ledger", [(kind, kind, "") for kind in KINDS], at_place),
    *each(
        "no file for a budget",
        [(kind, kind, "") for kind in (*KINDS, "the table", "nothing", "link to nothing")],
        budget_of,
    ),
    *each(
        "ledger name",
        [(f"{name[:30]} of {len(name)}", name, "") for name in NAMES],
        lambda place, name: place.release(ledger=name),
    ),
    *each(
        "budget of a request",
        [(name, data, "") for name, data in TOML],
        lambda place, data: ["budget", place.file("release.toml", data)],
    ),
]
