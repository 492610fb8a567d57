"""Places that cannot be written to, or hold something already."""

import os

from corpus.case import Case, each
from corpus.workshop import Workshop

LONG = "x" * 5000


def taken(place: Workshop) -> None:
    """Make what is in the way."""
    place.file("full/keep.txt", b"kept")
    (place.folder / "loop").symlink_to("loop")
    (place.folder / "link").symlink_to("full")
    os.mkfifo(place.folder / "pipe")
    os.mkfifo(place.folder / "pipe.json")
    (place.folder / "loop.json").symlink_to("loop.json")
    (place.folder / "folder.json").mkdir()
    (place.folder / "folder.csv").mkdir()


FOLDERS = [
    "full",
    "link",
    "loop",
    "pipe",
    "survey.csv",
    "survey.csv/out",
    "schema.toml/a/b",
    ".",
    "..",
    "",
    "/",
    "/dev/null",
    "/dev/null/out",
    LONG,
    "x" * 300,
    "full/keep.txt",
    "./full/",
    "pipe/out",
    "loop/out",
]
FILES = [
    "",
    ".",
    "..",
    "/",
    "full",
    "survey.csv/page",
    "/dev/null/page",
    LONG,
    "x" * 300,
    "loop/page",
    "nowhere/page",
]


def into(place: Workshop, folder: object) -> list[str]:
    """Release into a folder."""
    taken(place)
    place.request()
    return ["release", "release.toml", "-o", folder, "--yes"]


def page(place: Workshop, file: object) -> list[str]:
    """Write a plan as a page."""
    taken(place)
    return [*place.plan(), "--html", file]


def exported(place: Workshop, file: object) -> list[str]:
    """Export a ledger's history."""
    taken(place)
    return ["budget", place.ledger(), "--export", file]


def proposed(place: Workshop, given: object) -> list[str]:
    """Propose a schema, or a request with its schema."""
    taken(place)
    command, file = given
    return [command, "survey.csv", "-o", file]


def certified(place: Workshop, file: object) -> list[str]:
    """Write the certificate of a bound."""
    taken(place)
    return ["bound", place.model({"kind": "groups", "largest": 2}), "--loss", "1", "--certificate", file]


def demonstrated(place: Workshop, folder: object) -> list[str]:
    """Lay out the demo where files of others are: it would approve and release them."""
    taken(place)
    place.request()
    return ["demo", folder]


CASES: list[Case] = [
    *each(
        "folder of a demo",
        [
            (f"{one[:20]!r} of {len(one)}", one, "")
            for one in (".", "full", "link", "survey.csv", "pipe", "loop", "survey.csv/a", "x" * 5000)
        ],
        demonstrated,
    ),
    *each("folder of a release", [(f"{one[:20]!r} of {len(one)}", one, "") for one in FOLDERS], into),
    *each("page of a plan", [(f"{one[:20]!r} of {len(one)}", one, "") for one in FILES], page),
    *each(
        "export of a ledger",
        [
            (f"{one[:20]!r} of {len(one)}", one, "")
            for one in (
                "",
                ".",
                "/",
                "a",
                "a.txt",
                "folder.csv",
                "folder.json",
                "survey.csv/a.csv",
                LONG + ".csv",
                "nowhere/a.json",
                "/dev/null/a.json",
                "a.xlsx",
                ".csv",
            )
        ],
        exported,
    ),
    *each(
        "proposal",
        [
            (f"{command} {one[:20]!r} of {len(one)}", (command, one), "")
            for command in ("describe", "init")
            for one in (
                "survey.csv",
                "schema.toml",
                "full",
                ".",
                "/",
                "pipe",
                "survey.csv/a",
                "nowhere/a.toml",
                LONG,
                "/dev/null/a",
                "/dev/null",
            )
        ],
        proposed,
    ),
    *each(
        "certificate of a bound",
        [
            (f"{one[:20]!r} of {len(one)}", one, "")
            for one in ("", ".", "/", "full", "survey.csv/a", "nowhere/a.json", LONG)
        ],
        certified,
    ),
]
