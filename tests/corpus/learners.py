"""Public tables, proposals and options from which no model can be learned."""

from corpus.case import Case, each
from corpus.places import strange
from corpus.workshop import HEADER, Workshop

PUBLIC = HEADER + b"north,30,10.5,a\nsouth,40,20.5,b\n" * 50


def learning(place: Workshop, given: object) -> list[str]:
    """Learn from a public file, with options."""
    data, more = given
    place.file("public.csv", data)
    return ["learn", "public.csv", "--schema", "schema.toml", "-o", "model.json", *more]


OPTIONS = [
    *(
        (f"smoothing {text!r}", (PUBLIC, [f"--smoothing={text}"]), "")
        for text in ("0", "-1", "nan", "inf", "x", "1e999999999", "")
    ),
    *(
        (f"confidence {text!r}", (PUBLIC, [f"--confidence={text}"]), "")
        for text in ("0", "1", "2", "-1", "nan", "x", "1e-999999999")
    ),
    ("no file", (b"", []), ""),
    ("another table", (b"a,b\n1,2\n", []), ""),
    ("no rows", (HEADER, []), ""),
    ("UTF-16", (PUBLIC.decode().encode("utf-16"), []), ""),
]
TEXTS = [
    ("empty", b""),
    ("not TOML", b"{"),
    ("a zero", b"\0"),
    ("UTF-16", "pilot = 1".encode("utf-16")),
    ("nothing known", b"a = 1\n"),
    ("a number for a name", b"pilot = 1\nschema = 2\n"),
    ("files that are not there", b'pilot = "nothing.csv"\nschema = "nothing.toml"\n'),
    ("depth", b"a = " + b"[" * 100_000),
    ("dots", b".".join([b"a"] * 100_000) + b" = 1"),
    ("a number of 5000 digits", b"pilot = " + b"9" * 5000),
]


def surveying(place: Workshop, data: object) -> list[str]:
    """Make a request of proposals."""
    place.file("survey.toml", data)
    return ["survey", "request", "survey.toml", "--table", "survey.csv", "--rows", "20", "-o", "new.toml"]


def at_no_file(place: Workshop, given: object) -> list[str]:
    """Give a command something that is no file."""
    command, kind, suffix = given
    strange(place, (kind, suffix))
    if command == "request":
        return [
            "survey",
            "request",
            f"bad{suffix}",
            "--table",
            "survey.csv",
            "--rows",
            "20",
            "-o",
            "new.toml",
        ]
    first = ["learn"] if command == "learn" else ["survey", "propose"]
    return [*first, f"bad{suffix}", "--schema", "schema.toml", "-o", "new.json"]


CASES: list[Case] = [
    *each("learning", OPTIONS, learning),
    *each("proposals of a survey", [(name, data, "") for name, data in TEXTS], surveying),
    *each(
        "no file to learn from",
        [
            (f"{command} of a {kind}", (command, kind, suffix), "")
            for command, suffix in (("learn", ".csv"), ("propose", ".csv"), ("request", ".toml"))
            for kind in ("folder", "pipe", "socket", "loop", "link to nothing", "/dev/null", "/dev/zero")
        ],
        at_no_file,
    ),
]
