"""Certificates that were changed, are of something else, or are none: found not valid, or refused."""

import copy
import json
import tempfile
from functools import cache
from pathlib import Path

from corpus.case import Case, each
from corpus.run import run
from corpus.workshop import ROWS, Workshop, schema_text
from entwined.bounds.certificate import digest

MODELS = '[[dependence]]\nname = "pairs"\nmodel = {kind = "groups", largest = 2}\n'


@cache
def sound(kind: str) -> str:
    """The text of a certificate that is valid."""
    with tempfile.TemporaryDirectory() as folder:
        place = Workshop(Path(folder) / "place")
        if kind == "release":
            done = run(place.release(models=MODELS, cap=3), place.folder)
            path = place.folder / "out" / "certificate.json"
        else:
            chain = {"kind": "markov_chain", "length": 5, "transition": [[0.9, 0.1], [0.1, 0.9]]}
            done = run(["bound", place.model(chain), "--loss", "1", "-o", "certificate.json"], place.folder)
            path = place.folder / "certificate.json"
        if done.code:
            raise RuntimeError(done.err)
        return path.read_text()


def changed(kind: str, path: tuple[str | int, ...], value: object, *, sign: bool) -> str:
    """Change one part of a sound certificate, and sign it again as a forger would."""
    document = copy.deepcopy(json.loads(sound(kind)))
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    if value is Ellipsis:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    if sign:
        for model in sealed_inside(document):
            model["digest"] = digest({key: part for key, part in model.items() if key != "digest"})
        outside = ("digest", "signature") if kind == "release" else ("digest",)
        document["digest"] = digest({key: part for key, part in document.items() if key not in outside})
    return json.dumps(document)


def sealed_inside(document: dict) -> list[dict]:
    """The certificates of models that still are there."""
    models = document.get("models")
    found = (
        [one.get("certificate") for one in models if isinstance(one, dict)]
        if isinstance(models, list)
        else []
    )
    return [one for one in found if isinstance(one, dict) and "digest" in one]


def verified(place: Workshop, given: object) -> list[str]:
    """Verify a certificate."""
    data = given() if callable(given) else given
    return ["verify", place.file("certificate.json", data)]


LOSS = ("losses", 0, 1)
OF_RELEASE = [
    *((("losses",), value) for value in (..., [], None, "x", [[]], [[1, 2]], {"a": 1})),
    *(
        (LOSS, value)
        for value in (
            "1/0",
            "0/1",
            "-1/1",
            "nan",
            "1e999999999",
            "1/2",
            "x",
            None,
            1.0,
            "9" * 5000 + "/1",
            [],
            {},
        )
    ),
    *((("nominal",), value) for value in (..., "1/2", "0", None, 1, "1/0", "1e999999999", "9" * 4000 + "/1")),
    *((("knowledge",), value) for value in (..., "none", None, 1)),
    *((("schema",), value) for value in (..., "0" * 64, None, 1)),
    *((("unit",), value) for value in (..., {"kind": "cells"}, None)),
    *((("neighbours",), value) for value in (..., "replace", None)),
    *((("models",), value) for value in (..., None, "x", [1], [{}])),
    *(
        (("models", 0, "declared"), value)
        for value in (..., {}, None, {"model": {"kind": "groups", "largest": 1}})
    ),
    *((("models", 0, "declared", "model", "largest"), value) for value in (1, 0, -1, "x", None, 10**400)),
    *((("models", 0, "certificate"), value) for value in (..., {}, None, 1)),
    *((("models", 0, "certificate", "leakage"), value) for value in (0.5, None, "x", -1, 1e308)),
    *((("models", 0, "curve"), value) for value in (..., {}, None, [], "x")),
    *((("models", 0, "curve", "points"), value) for value in (..., [], None)),
    *((("models", 0, "curve", "points", 0, "leakage"), value) for value in (..., 0.5, None, "x", 1e308)),
    *((("models", 0, "curve", "points", 0, "theorem"), value) for value in ("transport", None)),
    *((("models", 0, "curve", "points", 0, "share"), value) for value in (0.05, 0, None)),
    *((("models", 0, "curve", "why_not"), value) for value in ("x", None)),
    *((("trusted",), value) for value in (..., [], None)),
    *((("says",), value) for value in (..., "All is private.", None)),
    *((("delta",), value) for value in ("1/0", "x", None, "1e999999999", "-1", "2", [])),
    *((("format",), value) for value in (..., "entwined release certificate 1", None, 1, [])),
    *((("mechanism",), value) for value in (..., {}, None, [], {"kind": "magic"}, {"kind": []})),
    *((("mechanism", "kind"), value) for value in (..., None, "structure search", "x")),
    *(
        (("mechanism", "asked"), value)
        for value in (..., [], None, "x", [{}], [{"query": {}, "share": "1/1"}])
    ),
    *(
        (("mechanism", "asked", 0, "share"), value)
        for value in (..., "0/1", "-1/1", "2/1", None, "1e999999999")
    ),
    *(
        (("mechanism", "asked", 0, "query", "where"), value)
        for value in (..., None, {"nodes": [], "root": 7}, [])
    ),
    *((("mechanism", "loss_of_each_statistic"), value) for value in (..., "0/1", "1/1000", "-1/1", None, 1)),
    *((("losses_so_far",), value) for value in (..., [], None, "x", [[]], [["", "1/1", "1/1"]], {})),
    *((("losses_so_far", 0, 1), value) for value in ("0/1", "-1/1", "1/1000", None, "nan", "1e999999999")),
    *((("total",), value) for value in (..., {}, None, [])),
    *((("total", "nominal"), value) for value in (..., "1/1000", "0/1", None)),
    *((("total", "leakage"), value) for value in (..., {}, None, {"pairs": 0.001}, {"pairs": "1/1000"})),
    *((("total", "cap"), value) for value in (..., "1/1000", "-1/1", None, 3, "1/0")),
    *((("ledger",), value) for value in (..., {}, None, [])),
    *((("ledger", "id"), value) for value in (..., "x", None, 1)),
    *((("ledger", "hash"), value) for value in (..., "x", None)),
    *((("ledger", "position"), value) for value in (..., "x", None, 1.5, [])),
    *((("released",), value) for value in (..., "x", None, 1)),
    *((("published",), value) for value in (None, [], {"../a": "0" * 64}, {"values.csv": 1}, {"": "0" * 64})),
    *((("signature",), value) for value in (None, {}, [], {"kind": "ed25519", "key": "", "signature": ""})),
    *((path, "x") for path in (("note",), ("models", 0, "note"), ("total", "note"), ("ledger", "note"))),
    (("models", 0, "certificate", "note"), "x"),
    (("models", 0, "declared", "note"), "x"),
    (("models", 0, "certificate", "theorem", "note"), "x"),
]
OF_BOUND = [
    *((("leakage",), value) for value in (..., 0.1, None, "x", -1, 1e308, [])),
    *((("knowledge",), value) for value in (..., "model", "none", None)),
    *((("guarantee",), value) for value in (..., "All is private.", None)),
    *((("theorem",), value) for value in (..., None, {}, {"name": "x"}, "group")),
    *((("theorem", "name"), value) for value in (..., "parallel composition", None, 1, [])),
    *((("inputs",), value) for value in (..., None, {}, [])),
    *(
        (("inputs", "model"), value)
        for value in (
            ...,
            None,
            {"kind": "independent", "units": 5},
            {"kind": "x"},
            {"kind": "graph", "edges": "/etc/passwd", "log_odds": 1},
        )
    ),
    *(
        (("inputs", "loss"), value)
        for value in (
            ...,
            None,
            {},
            {"uniform": 0.1, "units": 5},
            {"uniform": 1, "units": 10**12},
            {"uniform": 1, "units": -1},
            {"uniform": "x", "units": 5},
            {"per_unit": []},
            {"per_unit": "x"},
        )
    ),
    *((("per_unit",), value) for value in (..., [0.1] * 5, None)),
    *((("trusted",), value) for value in (..., [])),
]
TEXTS = [
    ("empty", b""),
    ("text", b"valid"),
    ("null", b"null"),
    ("a list", b"[]"),
    ("nothing in it", b"{}"),
    ("a byte order mark", b"\xef\xbb\xbf{}"),
    ("UTF-16", '{"format": 1}'.encode("utf-16")),
    ("a zero", b"{}\0"),
    ("NaN", b'{"format": NaN}'),
    ("a key twice", b'{"format": "entwined certificate 1", "format": 2}'),
    ("deep lists", b"[" * 200_000),
    ("deep objects", b'{"a":' * 100_000),
    ("5000 digits", b'{"format": ' + b"9" * 5000 + b"}"),
    ("the table", ROWS),
    ("a schema", schema_text().encode()),
    ("a model", b'{"kind": "groups", "largest": 2}'),
    ("a format of its own", b'{"format": "entwined certificate 99"}'),
    ("half a character", b'{"format": "\\ud800"}'),
    ("a pickle", b"\x80\x04\x95"),
]
FORGED = [
    (
        f"{kind}: {'.'.join(map(str, path))} = {str(value)[:40]}{' signed' if sign else ''}",
        lambda kind=kind, path=path, value=value, sign=sign: changed(kind, path, value, sign=sign),
        "",
    )
    for kind, changes in (("release", OF_RELEASE), ("bound", OF_BOUND))
    for path, value in changes
    for sign in (False, True)
    if sign or value is Ellipsis or isinstance(value, str | float)
]


def with_schema(place: Workshop, text: object) -> list[str]:
    """Verify a sound certificate with another schema."""
    place.file("certificate.json", sound("release"))
    if text is None:
        (place.folder / "schema.toml").unlink()
    else:
        place.file("schema.toml", text)
    return ["verify", "certificate.json"]


CASES: list[Case] = [
    *each("no certificate", [(name, data, "") for name, data in TEXTS], verified),
    *each("forged certificate", FORGED, verified),
    *each(
        "schema of a certificate",
        [
            ("none", None, "--schema"),
            ("another", schema_text(10), ""),
            ("empty", "", ""),
            ("not TOML", "{", ""),
            ("unsigned", schema_text().replace("approved = true", "approved = false"), ""),
        ],
        with_schema,
    ),
]
