"""Requests that are no TOML, ask for what cannot be, or try to fix the noise."""

from corpus.case import Case, each
from corpus.workshop import COUNT, Raw, Workshop

SOUND = 'table = "survey.csv"\nschema = "schema.toml"\nledger = "ledger.sqlite"\ncap = 2\nloss = 1\n'
ASKED = '[[query]]\nkind = "count"\n'
TEXTS = [
    ("empty", b"", "empty"),
    ("blank", b" \n\t\n", "empty"),
    ("a byte order mark", b"\xef\xbb\xbf" + (SOUND + ASKED).encode(), "byte order mark"),
    ("UTF-16", (SOUND + ASKED).encode("utf-16"), "UTF-16"),
    ("UTF-16 without a mark", (SOUND + ASKED).encode("utf-16-le"), "zero"),
    ("a zero", (SOUND + ASKED).encode() + b"\0", "zero"),
    ("Latin-1", (SOUND + 'title = "Bevölkerung"\n' + ASKED).encode("latin-1"), "not UTF-8"),
    (
        "mixed encodings",
        ('title = "é"\n' + SOUND).encode() + "# é\n".encode("latin-1") + ASKED.encode(),
        "not UTF-8",
    ),
    ("JSON", b'{"table": "survey.csv"}', "not TOML"),
    ("YAML", b"table: survey.csv\n", "not TOML"),
    ("INI with colons", b"[release]\ntable: survey.csv\n", "not TOML"),
    ("a YAML bomb", b"a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n", "not TOML"),
    ("XML", b"<release/>", "not TOML"),
    ("a pickle", b"\x80\x04\x95\x0c", "UTF-8"),
    ("a key twice", (SOUND + "loss = 2\n" + ASKED).encode(), "not TOML"),
    ("a table twice", (SOUND + "[x]\n[x]\n").encode(), "not TOML"),
    ("a text that stays open", b'table = "survey.csv\n', "not TOML"),
    ("a list that stays open", b"table = [1, 2\n", "not TOML"),
    ("a bare carriage return", b'table = "a"\rschema = "b"\n', "not TOML"),
    ("a control sign", b'table = "a\x01"\n', "not TOML"),
    ("half a character escaped", rb'table = "\ud800"', "not TOML"),
    ("an escape that is none", rb'table = "\q"', "not TOML"),
    ("a number of 5000 digits", (SOUND.replace("cap = 2", "cap = " + "9" * 5000) + ASKED).encode(), ""),
    ("a date that is none", (SOUND + "title = 2020-02-31\n" + ASKED).encode(), "not TOML"),
    ("100,000 lists in each other", b"a = " + b"[" * 100_000, "nested"),
    ("100,000 tables in each other", b"a = " + b"{a = " * 100_000, "nested"),
    ("a key of 100,000 parts", b".".join([b"a"] * 100_000) + b" = 1", "six parts"),
    ("a table of 100,000 parts", b"[" + b".".join([b"a"] * 100_000) + b"]", "six parts"),
    ("keys of 60,000 parts over lines", b"\n".join([b"[a.b.c.d.e.f.g]"] * 100), "six parts"),
    ("2 MB", b"# " + b"x" * 2_000_000, "MB"),
    ("a list instead of tables", (SOUND + "query = [1, 2]\n").encode(), "[[query]]"),
    ("a text instead of tables", (SOUND + 'query = "count"\n').encode(), "[[query]]"),
    ("one table instead of many", (SOUND + '[query]\nkind = "count"\n').encode(), "[[query]]"),
    ("no queries", SOUND.encode(), "0 queries"),
    ("1001 queries", (SOUND + ASKED * 1001).encode(), "1,000"),
    ("models that are a number", (SOUND + "dependence = 3\n" + ASKED).encode(), "[[dependence]]"),
]


def text(place: Workshop, data: object) -> list[str]:
    """Plan and release a request of these bytes."""
    return ["release", place.file("release.toml", data), "-o", "out", "--yes"]


SEEDS = ("seed", "SEED", "random_state", "rng", "random-state", "seeds", "noise_seed", "prng")
FIELDS = [
    *((f"{key} = 1", {key: 1}, "no seeds here") for key in SEEDS),
    *((f"{key} in the query", {"query": {**COUNT, key: 1}}, "no seeds here") for key in SEEDS),
    (
        "a model with a seed",
        {"models": '[[dependence]]\nmodel = {kind = "groups", largest = 2}\nseed = 1\n'},
        "no seeds here",
    ),
    (
        "an inline model with a seed",
        {"models": '[[dependence]]\nmodel = {kind = "groups", largest = 2, seed = 1}\n'},
        "seed",
    ),
    *((f"no {key}", {"drop": (key,)}, key) for key in ("table", "schema", "ledger")),
    ("no loss", {"drop": ("loss",)}, "leakage"),
    ("no cap for a new ledger", {"drop": ("cap",)}, "cap"),
    ("a leakage and a loss", {"leakage": 1}, "Keep one"),
    ("a cap below the loss", {"cap": 0.5}, "cap"),
    *((f"{key} unknown", {key: 1}, "unknown") for key in ("lost", "Loss", "epsilon", "x" * 5000)),
    *(
        (f"{key} = {value}", {key: Raw(value)}, key)
        for key in ("table", "schema", "ledger", "title")
        for value in ("1", "true", "[1]", "{a = 1}", "1979-05-27")
    ),
    *((f"{key} of nothing", {key: ""}, key) for key in ("table", "schema", "ledger")),
    *(
        (f"{key} with a zero", {key: Raw(r'"a\u0000b"')}, key)
        for key in ("table", "schema", "ledger", "title")
    ),
    *(
        (f"knowledge = {value}", {"knowledge": Raw(value)}, "knowledge")
        for value in ('"none"', '"ANY"', "1", "[]", '""')
    ),
    *(
        (f"consistent = {value}", {"consistent": Raw(value)}, "consistent")
        for value in ("1", '"true"', "[]", "0.0")
    ),
    *(
        (f"expected_rows = {value}", {"expected_rows": Raw(value)}, "expected_rows")
        for value in ("0", "-1", "1.5", '"many"', "true", "9" * 400, "inf")
    ),
]
QUERIES = [
    ("nothing", {}, "either a kind or sql"),
    ("a kind and sql", {"kind": "count", "sql": "SELECT count(*) FROM t"}, "either a kind or sql"),
    *(
        (f"kind = {kind}", {"kind": Raw(kind)}, "kind")
        for kind in ('"cuont"', '""', "1", "[1]", "{}", '"__class__"', '"' + "x" * 5000 + '"')
    ),
    ("no column", {"kind": "mean"}, "'column'"),
    *(
        (f"column = {column}", {"kind": "mean", "column": Raw(column)}, "column")
        for column in (
            '"nothing"',
            '""',
            "1",
            "[1]",
            '"age\\u0000"',
            "'a\"; DROP TABLE survey'",
            '"who"',
            '"' + "x" * 5000 + '"',
            '"AGE"',
            '"../age"',
        )
    ),
    ("a mean of words", {"kind": "mean", "column": "region"}, ""),
    ("a field too many", {"kind": "count", "column": "age"}, "'column'"),
    ("an unknown field", {"kind": "count", "nonsense": 1}, "unknown"),
    *(
        (f"bins = {bins}", {"kind": "histogram", "column": "income", "bins": Raw(bins)}, "")
        for bins in ("0", "-1", "1.5", '"ten"', "[]")
    ),
    *(
        (f"at = {at}", {"kind": "quantile", "column": "age", "at": Raw(at)}, "")
        for at in ("-0.1", "1.1", "nan", "inf", '"half"', "[]", '"1/0"', '"1e999999999"', "1e-300", '"0x1"')
    ),
    *(
        (f"of = {of}", {"kind": "marginal", "of": Raw(of)}, "")
        for of in ("[]", '"age"', "[1]", '["age", "age"]', '["nothing"]', '["who"]', "[[]]")
    ),
    *(
        (f"keys = {keys}", {"kind": "group_by", "keys": Raw(keys)}, "")
        for keys in ("[]", '"region"', '["nothing"]')
    ),
    (
        "a marginal of every value",
        {"kind": "marginal", "of": ["region", "age", "income"], "where": "age > 1 and age < 1"},
        "",
    ),
    *(
        (f"where = {where[:50]}", {"kind": "count", "where": Raw(where)}, "")
        for where in (
            "1",
            "[]",
            '""',
            '"age >"',
            '"age > > 1"',
            "\"age > 'x'\"",
            '"nothing > 1"',
            "\"who = 'x'\"",
            '"age > 1; DROP TABLE survey"',
            '"age = 1 or 1 = 1"',
            '"age in (SELECT 1)"',
            '"error(age)"',
            '"age / 0 > 1"',
            '"age > 1e999999999"',
            "\"region like '%a'\"",
            '"age > 5 and age < 3"',
            '"age > nan"',
            '"(((((age > 1"',
            "'''" + "(" * 50_000 + "age > 1" + ")" * 50_000 + "'''",
            "'''" + "not " * 50_000 + "age > 1'''",
            "'''" + " or ".join(["age = 1 and income = 2"] * 5000) + "'''",
            '"age\\u0000 > 1"',
            '"ａｇｅ > 1"',
            '"age > ١"',
            "'''" + "age = 1" + "0" * 5000 + "'''",
        )
    ),
    *(
        (f"within = {within}", {"kind": "count", "within": Raw(within)}, "within")
        for within in ("0", "-1", "nan", "inf", '"wide"', "[]", "true", "1e-310")
    ),
    *((f"name = {name}", {"kind": "count", "name": Raw(name)}, "name") for name in ("1", "[]", '"\\u0000"')),
    (
        "one name for two",
        [{**COUNT, "name": "x"}, {"kind": "mean", "column": "age", "name": "x"}],
        "called 'x'",
    ),
]
CASES: list[Case] = [
    *each("request text", TEXTS, text),
    *each("request field", FIELDS, lambda place, changed: place.release(**changed)),
    *each("query", QUERIES, lambda place, query: place.release(query=query)),
]
