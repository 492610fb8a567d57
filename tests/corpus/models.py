"""Model files that are no models, and models that do not fit the table."""

import json
import pickle

from corpus.case import Case, each
from corpus.table_files import LAUGHS, Trap, arrays
from corpus.workshop import ROWS, Workshop

GROUPS = b'{"kind": "groups", "largest": 2}'
FILES = [
    ("empty.json", b""),
    ("blank.toml", b"\n\n"),
    ("mark.json", b"\xef\xbb\xbf" + GROUPS),
    ("utf16.json", GROUPS.decode().encode("utf-16")),
    ("utf16be.toml", 'kind = "groups"'.encode("utf-16-be")),
    ("zero.json", GROUPS + b"\0"),
    ("latin.json", '{"kind": "gröups"}'.encode("latin-1")),
    ("cut.json", GROUPS[:-3]),
    ("twice.json", b'{"kind": "groups", "largest": 2, "largest": 3}'),
    ("two.json", GROUPS * 2),
    ("comment.json", GROUPS + b" // two"),
    ("nan.json", b'{"kind": "groups", "largest": NaN}'),
    ("infinity.json", b'{"kind": "groups", "largest": Infinity}'),
    ("huge.json", b'{"kind": "groups", "largest": 1e999}'),
    ("digits.json", b'{"kind": "groups", "largest": ' + b"9" * 5000 + b"}"),
    ("digits.toml", b'kind = "groups"\nlargest = ' + b"9" * 5000),
    ("deep.json", b"[" * 200_000),
    ("deep objects.json", b'{"a":' * 200_000),
    ("deep.toml", b"a = " + b"[" * 100_000),
    ("dots.toml", b".".join([b"a"] * 100_000) + b" = 1"),
    ("table.toml", b"[" + b".".join([b"a"] * 100_000) + b"]"),
    ("half.json", b'{"kind": "groups", "largest": 2, "source": "\\ud800"}'),
    ("list.json", b"[]"),
    ("text.json", b'"groups"'),
    ("null.json", b"null"),
    ("number.json", b"1"),
    ("laughs.yaml", LAUGHS),
    ("model.yml", b"kind: groups\nlargest: 2\n"),
    ("model.pkl", pickle.dumps(Trap())),
    ("model.npz", arrays()),
    ("model.joblib", pickle.dumps(Trap())),
    ("pickle.json", pickle.dumps(Trap())),
    ("arrays.json", arrays()),
    ("yaml.json", b"kind: groups\nlargest: 2\n"),
    ("rows.json", ROWS),
    ("rows.toml", ROWS),
    ("rows.bif", ROWS),
    ("empty.bif", b""),
    ("net.bif", b"network x {}"),
    ("open.bif", b"network x {" * 1000),
    ("deep.bif", b"network x { property " + b"{" * 100_000),
    ("variable.bif", b"network x {}\nvariable a { type discrete [ 99999999999 ] { x }; }\n"),
    ("zero.bif", b"network x {}\0"),
    ("model", GROUPS),
    ("model.csv", GROUPS),
    ("model.JSON.txt", GROUPS),
    ("unknown.json", b'{"kind": "quantum"}'),
    ("nothing.json", b"{}"),
    ("kind.json", b'{"kind": 1}'),
    ("kinds.json", b'{"kind": ["groups"]}'),
    ("seed.json", b'{"kind": "groups", "largest": 2, "seed": 1}'),
]
LAW = [[0.5, 0.5], [0.5, 0.5]]
NET = {"name": "a", "values": ["x", "y"], "parents": [], "table": [[0.5, 0.5]]}
DOCUMENTS = [
    *({"kind": "groups", "largest": size} for size in (0, -1, 1.5, "2", None, True, [], 10**400, {})),
    *({"kind": "independent", "units": units} for units in (0, -1, 1.5, "2", None, True, 10**400)),
    *({"kind": "markov_chain", "length": length, "transition": LAW} for length in (0, -1, 1.5, "9", None, 10**400)),
    *({"kind": "markov_chain", "length": 5, "transition": law} for law in ([], [[]], [[0.5, 0.6], [0.5, 0.5]], [[-1, 2], [0.5, 0.5]], [[0.5, 0.5]], [["a", "b"], [0.5, 0.5]], [[0.5, 0.5], [0.5]], "x", None, [[None, 1], [1, 0]], [[1e308, 1e308], [0, 1]], {"a": 1})),
    *({"kind": "markov_chain", "length": 5, "transition": LAW, "initial": law} for law in ([], [1], [0.5, 0.6], [-1, 2], "x", [[0.5, 0.5]], [None, 1])),
    *({"kind": "bayes_net", "variables": variables} for variables in ([], "x", [1], [{}], [NET, NET], [{**NET, "parents": ["a"]}], [{**NET, "parents": ["b"]}], [{**NET, "table": [[0.5, 0.6]]}], [{**NET, "table": [[1]]}], [{**NET, "values": []}], [{**NET, "values": ["x", "x"]}], [{**NET, "name": 1}], [{**NET, "table": "x"}], [{**NET, "seed": 1}])),
    *({"kind": "random_field", "variables": {"a": 2, "b": 2}, "edges": edges} for edges in ("x", [1], [{}], [{"between": ["a"], "potential": LAW}], [{"between": ["a", "c"], "potential": LAW}], [{"between": ["a", "a"], "potential": LAW}], [{"between": ["a", "b"], "potential": [[1]]}], [{"between": ["a", "b"], "potential": [[-1, 1], [1, 1]]}], [{"between": ["a", "b"], "potential": [[0, 0], [0, 0]]}])),
    *({"kind": "random_field", "variables": variables, "edges": []} for variables in ({}, [], {"a": 0}, {"a": "x"}, {"a": 1.5}, {"a": 10**30})),
    *({"kind": "gaussian", "covariance": table} for table in ([], [[1, 2]], [[1, 2], [2, 1]], [[1, 0.5], [0.4, 1]], [["x"]], [[0]], [[1e308, 1e308], [1e308, 1e308]])),
    *({"kind": "gaussian", "size": 8, "max_correlation": one} for one in (-1, 1, 2, "x", None)),
    *({"kind": "graph", "edges": edges, "log_odds": 0.4} for edges in ("nothing.csv", "../../../../etc/passwd", "/dev/zero", "", 1, [[1]], [[0, 0]], [["a"]], [[0, 10**30]], "edges\0.csv", "x" * 5000, "loop.csv", "pipe.csv", "folder.csv")),
    *({"kind": "graph", "edges": [[0, 1]], "log_odds": odds} for odds in ("x", None, [], "1e308")),
    *({"kind": "ties", "edges": edges, "coefficient": 0.4} for edges in ("nothing.csv", "/dev/zero", [[0, 0]], [[0, 1, 0.5]], "pipe.csv")),
    *({"kind": "ties", "edges": [[0, 1]], "coefficient": share} for share in ("x", None, [], 2, -1)),
    *({"kind": "ties", "edges": [[0, 1]], "kernel": kernel} for kernel in ("x", [], [[1, 1]], [[0.5, 0.5]], [[None]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]])),
]  # fmt: skip


def on_disk(place: Workshop, given: object) -> list[str]:
    """Bound a model in a file."""
    return ["bound", place.file(*given), "--loss", "1"]


def documented(place: Workshop, document: object) -> list[str]:
    """Bound a model that is a sound document, with bad edge files beside it."""
    import os

    (place.folder / "loop.csv").symlink_to("loop.csv")
    (place.folder / "folder.csv").mkdir()
    os.mkfifo(place.folder / "pipe.csv")
    return ["bound", place.model(document), "--loss", "1"]


DECLARED = [
    ("no model", 'name = "x"', ""),
    ("a number", "model = 1", ""),
    ("an empty name", 'model = ""', ""),
    ("a file that is not there", 'model = "nothing.json"', "no such file"),
    ("a file elsewhere", 'model = "../../../../etc/passwd"', "suffix"),
    ("a name with a zero", 'model = "a\\u0000.json"', ""),
    ("the folder", 'model = "."', ""),
    ("an unknown key", 'model = {kind = "groups", largest = 2}\nsize = 2', "unknown"),
    ("an unknown kind", 'model = {kind = "group", largest = 2}', "unknown"),
    (
        "groups by a column that is not there",
        'model = {kind = "groups", largest = 2}\nby = "nothing"',
        "nothing",
    ),
    ("groups of nobody", 'model = {kind = "groups", largest = 0}\nby = "region"', ""),
    (
        "a chain shorter than the table",
        f'model = {{kind = "markov_chain", length = 2, transition = {LAW}}}',
        "steps",
    ),
    (
        "a chain by a column without an order",
        f'model = {{kind = "markov_chain", length = 2, transition = {LAW}}}\nby = "region"',
        "order",
    ),
    (
        "a chain ordered by words",
        f'model = {{kind = "markov_chain", length = 2, transition = {LAW}}}\nby = "who"\norder = "region"',
        "order",
    ),
    (
        "a chain ordered by text",
        f'model = {{kind = "markov_chain", length = 2, transition = {LAW}}}\nby = "region"\norder = "who"',
        "",
    ),
    ("columns over rows", 'model = {kind = "groups", largest = 2}\ncolumns = ["age"]', "columns"),
    ("columns of another type", 'model = {kind = "groups", largest = 2}\ncolumns = "age"', "columns"),
    ("an order without a series", 'model = {kind = "groups", largest = 2}\norder = "age"', "order"),
    ("a Gaussian", 'model = {kind = "gaussian", size = 8, max_correlation = 0.1}', "columns"),
    (
        "an exploratory model",
        'model = {kind = "groups", largest = 2, source = "exploratory"}',
        "without a budget",
    ),
    ("a source that is none", 'model = {kind = "groups", largest = 2, source = "heard"}', "Source"),
    ("independent rows by a column", 'model = {kind = "independent", units = 1000}\nby = "region"', ""),
    (
        "a net over rows",
        'model = {kind = "bayes_net", variables = [{name = "a", values = ["x", "y"], parents = [], table = [[0.5, 0.5]]}]}\nby = "region"\norder = "age"',
        "",
    ),
    ("a name that is a number", 'model = {kind = "groups", largest = 2}\nname = 1', "name"),
    ("by that is a list", 'model = {kind = "groups", largest = 2}\nby = ["region"]', "by"),
]
CASES: list[Case] = [
    *each("model file", [(name, (name, data), "") for name, data in FILES], on_disk),
    *each(
        "model document",
        [(f"{at}: {json.dumps(document)[:60]}", document, "") for at, document in enumerate(DOCUMENTS)],
        documented,
    ),
    *each(
        "model of a request", DECLARED, lambda place, text: place.release(models=f"[[dependence]]\n{text}\n")
    ),
    *each(
        "options of a model",
        [
            ("a state that is not there", ["--count", "7", "--knowledge", "model"], "State 7"),
            ("a state below zero", ["--count=-1", "--knowledge", "model"], "State -1"),
            ("a count against any knowledge", ["--count", "1"], "knowledge model"),
            ("two ways at once", ["--weights", "1", "--importance", "1"], "at most one"),
        ],
        lambda place, more: [
            "calibrate",
            place.model({"kind": "markov_chain", "length": 5, "transition": [[0.9, 0.1], [0.1, 0.9]]}),
            "--leakage",
            "1",
            *more,
        ],
    ),
    *each(
        "no theorem",
        [("a strong Gaussian", {"kind": "gaussian", "size": 9, "max_correlation": 0.5}, "No theorem")],
        lambda place, document: ["bound", place.model(document), "--loss", "1"],
    ),
]
