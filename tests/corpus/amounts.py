"""Losses, leakages, caps and sensitivities that cannot be."""

from corpus.case import Case, each
from corpus.workshop import Raw, Workshop

TEXTS = [
    "0", "-0", "0.0", "-1", "-1e-9", "nan", "NaN", "-nan", "sNaN", "inf", "-inf", "Infinity", "1e-320", "1e308", "1e309", "5e-324",
    "1e999999999", "-1e999999999", "1e-999999999", "1e99999999999999999999", "", " ", "one", "1,5", "1/2", "0x1", "1e", "1.2.3", "--1", "1;2", "$1",
    "١", "１", "½", "²", "1\u200b", "1" * 5000, "0." + "1" * 200_000, "[1]", "true", "None", "1 2", "1%", "ε",
]  # fmt: skip
NUMBERS = [
    "0",
    "-1",
    "0.0",
    "nan",
    "-nan",
    "inf",
    "-inf",
    "1e-320",
    "1e308",
    "1e999999999",
    "5e-324",
    "true",
    "[1]",
    "{}",
    "1979-05-27",
    '""',
    '"one"',
    '"nan"',
    '"1e999999999"',
    "9" * 400,
]


def bounded(place: Workshop, given: object) -> list[str]:
    """Bound a small chain."""
    command, name, text = given
    chain = {"kind": "markov_chain", "length": 5, "transition": [[0.9, 0.1], [0.1, 0.9]]}
    more = [] if name != "sensitivity" else ["--leakage", "1"]
    return [command, place.model(chain), f"--{name}={text}", *more]


VECTORS = [
    "",
    ",",
    "1,",
    "1,2",
    "1,2,3,4,5,6",
    "1,1,1,1,nan",
    "1,1,1,1,inf",
    "1,1,1,1,-1",
    "1,1,1,1,x",
    "1;1;1;1;1",
    "1e999,1,1,1,1",
    ",".join(["1"] * 100_000),
    "١,x,1,1,1",
    "[1,1,1,1,1]",
]
CASES: list[Case] = [
    *each(
        "amount in a request",
        [(f"{key} = {text[:30]}", (key, text), "") for key in ("loss", "cap") for text in NUMBERS],
        lambda place, given: place.release(**{given[0]: Raw(given[1])}),
    ),
    *each(
        "amount in a request",
        [(f"leakage = {text[:30]}", text, "") for text in NUMBERS],
        lambda place, text: place.release(drop=("loss",), leakage=Raw(text)),
    ),
    *each(
        "amount of SQL",
        [
            (f"{name} {text[:30]!r} of {len(text)}", (name, text), "")
            for name in ("loss", "leakage")
            for text in TEXTS
        ],
        lambda place, given: [
            "sql",
            "SELECT count(*) FROM t",
            "--request",
            place.request(),
            f"--{given[0]}={given[1]}",
        ],
    ),
    *each(
        "amount of a bound",
        [
            (f"{name} {text[:30]!r} of {len(text)}", (command, name, text), "")
            for command, name in (("bound", "loss"), ("calibrate", "leakage"), ("calibrate", "sensitivity"))
            for text in TEXTS
        ],
        bounded,
    ),
    *each(
        "amount of each unit",
        [
            (f"{command} {name} {text[:30]!r} of {len(text)}", (command, name, text), "")
            for command, name in (
                ("bound", "loss-vector"),
                ("calibrate", "weights"),
                ("calibrate", "importance"),
            )
            for text in VECTORS
        ],
        lambda place, given: [
            *bounded(place, given),
            *(["--leakage", "1"] if given[0] == "calibrate" else []),
        ],
    ),
    *each(
        "amount of a budget",
        [(f"what if {text[:30]!r} of {len(text)}", text, "Loss") for text in TEXTS],
        lambda place, text: ["budget", place.ledger(), f"--what-if={text}"],
    ),
    *each(
        "both or none",
        [
            ("bound without a loss", [], ""),
            ("bound with both", ["--loss", "1", "--loss-vector", "1,1"], ""),
        ],
        lambda place, more: ["bound", place.model({"kind": "independent", "units": 2}), *more],
    ),
    *each(
        "both or none",
        [("sql without an amount", [], ""), ("sql with both", ["--loss", "1", "--leakage", "1"], "")],
        lambda place, more: ["sql", "--yes", "SELECT count(*) FROM t", "--request", place.request(), *more],
    ),
]
