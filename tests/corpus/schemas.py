"""Schemas that are no TOML, are not approved, changed after they were, or cannot be."""

from corpus.case import Case, each
from corpus.workshop import Workshop, schema_text

SIGNED = schema_text()
UNSIGNED = "".join(line for line in SIGNED.splitlines(keepends=True) if not line.startswith("approved"))
HEAD = 'unit = {kind = "rows"}\nneighbours = "add_remove"\nmost_rows = 10\n'
DIGEST = SIGNED.partition('approved_digest = "')[2][:64]


def column(**fields: str) -> str:
    """A schema of one column of these fields."""
    return HEAD + "[[column]]\n" + "".join(f"{key} = {value}\n" for key, value in fields.items())


AGE = {"name": '"age"', "type": '"integer"', "low": "0", "high": "120"}
INCOME = {"name": '"income"', "type": '"real"', "low": "0", "high": "10", "step": '"0.5"'}
WORD = {"name": '"region"', "type": '"categorical"', "values": '["north", "south"]'}
USED = [
    ("not approved", UNSIGNED, "not approved"),
    ("approved = false", UNSIGNED.replace("[[column]]", "approved = false\n[[column]]", 1), "not approved"),
    ("approved by hand", UNSIGNED.replace("[[column]]", "approved = true\n[[column]]", 1), "belong together"),
    ("approved with a made-up digest", SIGNED.replace(DIGEST, "0" * 64), "changed after"),
    ("approved with an empty digest", SIGNED.replace(DIGEST, ""), "belong together"),
    ("a digest and not approved", SIGNED.replace("approved = true", "approved = false"), "belong together"),
    ("a bound widened", SIGNED.replace("high = 120", "high = 121"), "changed after"),
    ("most_rows lowered", SIGNED.replace("most_rows = 1000", "most_rows = 10"), "changed after"),
    ("neighbours changed", SIGNED.replace("add_remove", "replace"), "changed after"),
    ("a value added", SIGNED.replace('"south"', '"south", "west"'), "changed after"),
    ("a column renamed", SIGNED.replace('"age"', '"ago"'), "changed after"),
    ("text made a category", SIGNED.replace('type = "text"', 'type = "categorical"\nvalues = ["a"]'), ""),
    ("a digest of another type", SIGNED.replace(f'"{DIGEST}"', "1"), "belong together"),
]
TEXTS = [
    ("empty", b"", "unit"),
    ("a byte order mark", b"\xef\xbb\xbf" + UNSIGNED.encode(), "not TOML"),
    ("UTF-16", UNSIGNED.encode("utf-16"), "UTF-8"),
    ("a zero", UNSIGNED.encode() + b"\0", "not TOML"),
    ("Latin-1", UNSIGNED.encode() + "# ü\n".encode("latin-1"), "UTF-8"),
    ("JSON", b'{"unit": {"kind": "rows"}}', "not TOML"),
    ("YAML", b"unit:\n  kind: rows\n", "not TOML"),
    ("a pickle", b"\x80\x04\x95", "UTF-8"),
    ("a key twice", UNSIGNED.encode() + b"[unit]\n", "not TOML"),
    ("deep lists", b"a = " + b"[" * 100_000, "not TOML"),
    ("deep tables", b"a = " + b"{a = " * 100_000, "not TOML"),
    ("a key of 100,000 parts", b".".join([b"a"] * 100_000) + b" = 1", ""),
    ("a table of 100,000 parts", b"[" + b".".join([b"a"] * 100_000) + b"]", ""),
    ("a number of 5000 digits", b"most_rows = " + b"9" * 5000, "not TOML"),
    (
        "an exponent of a billion",
        (HEAD + column(**INCOME | {"high": "1e999999999"})[len(HEAD) :]).encode(),
        "high",
    ),
    ("an unknown field", (UNSIGNED + "\n").replace("unit =", "owner = 1\nunit =", 1).encode(), "owner"),
    ("a seed", UNSIGNED.replace("unit =", "seed = 1\nunit =", 1).encode(), "seed"),
    ("no unit", UNSIGNED.replace("unit =", "# unit =", 1).encode(), "unit"),
    ("no neighbours", UNSIGNED.replace('neighbours = "', '# neighbours = "', 1).encode(), "neighbours"),
    ("no columns", HEAD.encode(), "0 columns"),
    ("columns as a list", (HEAD + "column = [1]\n").encode(), "[[column]]"),
    ("columns as a text", (HEAD + 'column = "age"\n').encode(), "[[column]]"),
]
UNITS = [
    *(
        (f"unit = {unit}", HEAD.replace('{kind = "rows"}', unit) + column(**AGE)[len(HEAD) :], "")
        for unit in (
            "1",
            '"rows"',
            "{}",
            "[]",
            '{kind = "people"}',
            "{kind = 1}",
            '{kind = "person"}',
            '{kind = "person", column = "nobody", most = 1}',
            '{kind = "person", column = "age", most = 0}',
            '{kind = "person", column = "age", most = -1}',
            '{kind = "person", column = "age", most = 1.5}',
            '{kind = "person", column = "age", most = "x"}',
            '{kind = "rows", most = 2}',
            '{kind = "cells"}',
        )
    ),
    *(
        (
            f"neighbours = {value}",
            HEAD.replace('"add_remove"', value) + column(**AGE)[len(HEAD) :],
            "neighbours",
        )
        for value in ("1", '"both"', "[]", '""', "{}")
    ),
    *(
        (
            f"most_rows = {value}",
            HEAD.replace("most_rows = 10", f"most_rows = {value}") + column(**AGE)[len(HEAD) :],
            "most_rows",
        )
        for value in ("0", "-1", "1.5", '"x"', "true", "9007199254740993", "inf", "1e5", "[]", "1e999999999")
    ),
    *(
        (
            f"rows = {value}",
            HEAD.replace("most_rows = 10", f"rows = {value}").replace("add_remove", "replace")
            + column(**AGE)[len(HEAD) :],
            "rows",
        )
        for value in ("-1", '"x"', "1.5", "true", "99999999999999999999")
    ),
]
COLUMNS = [
    *(
        (f"an integer with {key} = {value[:30]}", column(**AGE | {key: value}), "")
        for key, value in (
            ("name", '""'),
            ("name", "1"),
            ("name", '"a\\u0000"'),
            ("name", '"' + "x" * 2000 + '"'),
            ("type", '"int"'),
            ("type", "1"),
            ("type", "[]"),
            ("low", "200"),
            ("low", "0.5"),
            ("low", '"0"'),
            ("low", "true"),
            ("low", "nan"),
            ("high", "9" * 400),
            ("high", "inf"),
            ("high", "4503599627370496"),
            ("missing", '"none"'),
            ("missing", "1"),
            ("missing_codes", "1"),
            ("missing_codes", "[1]"),
            ("missing_codes", '"99"'),
            ("outside", '"keep"'),
            ("seed", "1"),
            ("label", "1"),
            ("step", "2"),
        )
    ),
    *(
        (f"a real with {key} = {value[:30]}", column(**INCOME | {key: value}), "")
        for key, value in (
            ("step", "0"),
            ("step", '"-1"'),
            ("step", '"0.3"'),
            ("step", '"1/0"'),
            ("step", '"1e-999999999"'),
            ("step", "nan"),
            ("low", "inf"),
            ("low", "11"),
            ("high", '"1e999"'),
            ("high", "[]"),
            ("high", '"' + "9" * 5000 + '"'),
            ("step", '"1e-29"'),
            ("high", "1979-05-27"),
        )
    ),
    *(
        (f"a category with values = {value[:30]}", column(**WORD | {"values": value}), "")
        for value in ("[]", '"north"', "[1]", '["a", "a"]', '["a", "a\\u0000"]', "[[]]", "[true]", "{}")
    ),
    *(
        (f"a moment with {low}", column(name='"day"', type='"moment"', low=low, high='"2020-01-09"'), "")
        for low in ('"2021-01-01"', '"2020-02-30"', '"yesterday"', "1", '"10000-01-01"', '""')
    ),
    ("an integer without bounds", column(name='"age"', type='"integer"'), ""),
    ("a real without a step", column(name='"x"', type='"real"', low="0", high="1"), ""),
    ("a category without values", column(name='"x"', type='"categorical"'), ""),
    ("no name", column(type='"integer"', low="0", high="1"), ""),
    ("no type", column(name='"x"', low="0", high="1"), ""),
    (
        "a column twice",
        column(**AGE) + "[[column]]\n" + "".join(f"{key} = {value}\n" for key, value in AGE.items()),
        "'age'",
    ),
    (
        "10,001 columns",
        HEAD + "".join(f'[[column]]\nname = "c{at}"\ntype = "text"\n' for at in range(10_001)),
        "10,000",
    ),
]


def approving(place: Workshop, text: object) -> list[str]:
    """Approve a schema: what cannot be is not signed."""
    return ["approve", place.file("schema.toml", text), "--yes", "--json"]


def using(place: Workshop, text: object) -> list[str]:
    """Release under a schema."""
    place.file("schema.toml", text)
    return place.release()


CASES: list[Case] = [
    *each("schema approval", USED, using),
    *each("schema text", TEXTS, using),
    *each("schema unit", UNITS, approving),
    *each("schema column", COLUMNS, approving),
]
