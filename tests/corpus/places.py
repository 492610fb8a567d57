"""Things that stand where a file should, names that reach for others, and URLs."""

import os
import socket

from corpus.case import Case, each
from corpus.workshop import PASSWORD, Raw, Workshop

SUFFIXES = (".csv", ".csv.gz", ".parquet", ".duckdb", ".sav")
ENDS = {".duckdb": "::survey"}


def at(path: str) -> str:
    """Name a table at a path, as databases need it."""
    return path + next((more for end, more in ENDS.items() if path.endswith(end)), "")


def strange(place: Workshop, given: object) -> list[str]:
    """Put something that is no file where the table should be."""
    kind, suffix = given
    path = place.folder / f"bad{suffix}"
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "socket":
            listening = socket.socket(socket.AF_UNIX)
            here = os.open(place.folder, os.O_RDONLY)  # a socket's path may have 107 letters only
            listening.bind(f"/proc/self/fd/{here}/{path.name}")
            listening.close()
            os.close(here)
        case "loop":
            path.symlink_to(path.name)
        case "long loop":
            path.symlink_to(f"other{suffix}")
            (place.folder / f"other{suffix}").symlink_to(path.name)
        case "link to nothing":
            path.symlink_to("nothing")
        case device:
            path.symlink_to(device)
    return place.release(table=at(path.name))


KINDS = (
    "folder",
    "pipe",
    "socket",
    "loop",
    "long loop",
    "link to nothing",
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
    "/proc/self/mem",
)
STRANGE = [
    (f"{kind} as {suffix}", (kind, suffix), "")
    for kind in KINDS
    for suffix in SUFFIXES
    if (kind, suffix) != ("folder", ".parquet")  # a folder of parts
]
HOSTILE = [
    "nothing.csv",
    "",
    ".",
    "..",
    "/",
    " ",
    "../../../../../../etc/passwd",
    "../../../../../../etc/passwd.csv",
    "/etc/passwd",
    "/etc/shadow.csv",
    "survey.csv/below.csv",
    "survey.csv::survey",
    "survey.csv\\",
    "*.csv",
    "[s]urvey.csv",
    "s?rvey.csv",
    "{survey}.csv",
    "~/survey.csv",
    "$HOME/survey.csv",
    "$(touch trapped).csv",
    "`touch trapped`.csv",
    "; touch trapped #.csv",
    "| touch trapped",
    "a'); DROP TABLE survey; --.csv",
    "a\"; COPY survey TO 'trapped'; --.csv",
    "read_csv('/etc/passwd')",
    "(SELECT * FROM 'survey.csv')",
    "survey.csv' UNION SELECT 1 --.csv",
    "-o.csv",
    "--help",
    "line\nbreak.csv",
    "return\rover.csv",
    "\u001b[31mred.csv",
    "\u202evsc.exe",
    "\u0085.csv",
    "\ufeffsurvey.csv",
    "ｓｕｒｖｅｙ.csv",
    "x" * 300 + ".csv",
    "x" * 300,
    "x" * 5000 + ".csv",
    "x" * 5000,
    "x/" * 3000 + "a.csv",
    "x" * 200_000 + ".csv",
    "::",
    "::survey",
    ".duckdb::survey",
    "nothing.duckdb::survey",
    "survey.csv?table=x",
    "/dev/stdin",
    "/dev/tty",
    "/dev/fd/0",
    "/proc/self/environ",
    "/proc/self/cmdline.csv",
    "con.csv",
]
URLS = [
    ("http://127.0.0.1:1/survey.csv", "not known"),
    ("https://127.0.0.1:1/survey.parquet", "not known"),
    ("HTTP://127.0.0.1:1/survey.csv", "not known"),
    ("s3://bucket/survey.parquet", "not known"),
    ("gs://bucket/survey.parquet", "not known"),
    ("hf://datasets/survey.parquet", "not known"),
    ("az://container/survey.csv", "not known"),
    ("file:///etc/passwd", "not known"),
    ("ftp://127.0.0.1/survey.csv", "not known"),
    ("gopher://127.0.0.1/1", "not known"),
    ("data://text/csv,region", "not known"),
    ("duckdb://bad.duckdb", "not known"),
    ("sqlite:///bad.sqlite", "not known"),
    ("mysql://127.0.0.1/base?table=t", "not known"),
    ("jdbc:postgresql://127.0.0.1/base?table=t", "not known"),
    ("://", "not known"),
    ("://survey.csv", "not known"),
    ("x" * 10_000 + "://survey.csv", "not known"),
    ("http://[::1/survey.csv", ""),
    ("http://[v1.x]/?table=t", ""),
    ("postgresql://127.0.0.1:1/base", "which table"),
    ("postgresql://127.0.0.1:1/base?table=", "which table"),
    ("postgresql://127.0.0.1:1/base?table=survey", ""),
    ("postgresql://127.0.0.1:0/base?table=survey", ""),
    ("postgresql://127.0.0.1:99999/base?table=survey", ""),
    ("postgresql://127.0.0.1:port/base?table=survey", ""),
    ("postgresql://[::1/base?table=survey", ""),
    ("postgresql:///base?host=/nowhere&table=survey", ""),
    ("postgresql://127.0.0.1:1/base?sslmode=never&table=survey", ""),
    ("postgresql://127.0.0.1:1/base?nonsense=1&table=survey", ""),
    ("postgresql://127.0.0.1:1/base?service=none&table=survey", ""),
    (f"postgresql://someone:{PASSWORD}@127.0.0.1:1/base?table=survey", ""),
    ("postgres://127.0.0.1:1/base?table=a%22%3B%20DROP%20TABLE%20b%3B", ""),
    ("postgresql://127.0.0.1:1/base?table=a%00b", ""),
]
LEDGER_URLS = [
    "http://127.0.0.1:1/ledger",
    "sqlite:///ledger.sqlite",
    "://",
    "postgresql://127.0.0.1:1/base",
    "postgresql://127.0.0.1:99999/base",
    "postgresql://[::1/base",
    f"postgresql://someone:{PASSWORD}@127.0.0.1:1/base?schema=x",
    "postgresql://127.0.0.1:1/base?nonsense=1",
]


def command_at(place: Workshop, given: object) -> list[str]:
    """Give a command something that is no file."""
    command, kind, suffix = given
    strange(place, (kind, suffix))
    more = {
        "release": ["-o", "out", "--yes"],
        "bound": ["--loss", "1"],
        "calibrate": ["--leakage", "1"],
        "describe": ["-o", "new.toml"],
        "init": ["-o", "new.toml", "--schema", "new-schema.toml"],
    }
    return [command, f"bad{suffix}", *more.get(command, [])]


FILES = {
    "release": ".toml",
    "plan": ".toml",
    "budget": ".toml",
    "approve": ".toml",
    "verify": ".json",
    "bound": ".json",
    "calibrate": ".toml",
    "init": ".csv",
    "describe": ".csv",
}
COMMAND_CASES = [
    (f"{command} of a {kind}", (command, kind, suffix), "")
    for command, suffix in FILES.items()
    for kind in ("folder", "pipe", "socket", "loop", "link to nothing", "/dev/null", "/dev/zero")
]
LONG = "x" * 5000
NAMES = [
    ("release", "-o", "out", "--yes"),
    ("plan",),
    ("budget",),
    ("approve",),
    ("verify",),
    ("bound", "--loss", "1"),
    ("calibrate", "--leakage", "1"),
    ("describe", "-o", "new.toml"),
    ("init", "-o", "new.toml", "--schema", "other.toml"),
]
NAME_CASES = [
    (f"{command} {shown}", [command, name, *more], "")
    for command, *more in NAMES
    for shown, name in (
        ("a long name", LONG + FILES[command]),
        ("a missing file", "nothing" + FILES[command]),
        ("half a character", "\udc80" + FILES[command]),
    )
]
CASES: list[Case] = [
    *each("no file", STRANGE, strange),
    *each(
        "hostile table name",
        [(f"{name[:40]!r} of {len(name)}", name, "") for name in HOSTILE],
        lambda place, name: place.release(table=Raw('"' + _escaped(name) + '"')),
    ),
    *each("URL", [(url[:70], url, says) for url, says in URLS], lambda place, url: place.release(table=url)),
    *each(
        "ledger URL",
        [(url[:70], url, "") for url in LEDGER_URLS],
        lambda place, url: place.release(ledger=url),
    ),
    *each("no file for a command", COMMAND_CASES, command_at),
    *each("name for a command", NAME_CASES, lambda _, arguments: arguments),
]


def _escaped(name: str) -> str:
    return "".join(
        sign if " " <= sign <= "~" and sign not in '"\\' else f"\\U{ord(sign):08x}" for sign in name
    )
