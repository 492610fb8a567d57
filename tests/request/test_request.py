"""release.toml: what is read from it, what is refused and where, and the outlook, without a row."""

import json
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from entwined.bounds.choose import theorems_taking
from entwined.dependence import Box, Groups, MarkovChain
from entwined.errors import (
    BadInput,
    BadLoss,
    BadModel,
    BadQuery,
    BadSchema,
    EntwinedError,
    Refused,
    Unapproved,
    Unreachable,
)
from entwined.ledger import Book, Ledger
from entwined.loss import Loss
from entwined.mechanisms.batch import Added
from entwined.promise.declared import Declared
from entwined.promise.measure import large_delta
from entwined.promise.promise import Promise
from entwined.queries import Count, GroupBy, Histogram, Mean, Median, Sampling, Share, parse
from entwined.report import plan_page
from entwined.request.fulfil import fulfil
from entwined.request.funds import shown
from entwined.request.outlook import outlook
from entwined.request.request import Question, Request
from entwined.request.request_file import LARGEST_FILE, read_request
from entwined.request.verbs import plan
from entwined.request.words import in_words, table_name
from entwined.schema import Categorical, Cells, Integer, Schema, Text, write_schema

COLUMNS = (
    Text("household", compare="exact"),
    Categorical("region", ("n", "s")),
    Categorical("sex", ("m", "f"), missing="drop"),
    Integer("age", 0, 99),
)
SCHEMA = Schema(COLUMNS, most_rows=10_000).approve()
TOP = """\
title = "Survey"
table = "nowhere/survey.csv"
schema = "schema.toml"
ledger = "ledger.sqlite"
cap = 2.0
leakage = 1.0
"""
GROUPS = """
[[dependence]]
name = "households"
model = { kind = "groups", largest = 4 }
by = "household"
"""
QUERY = """
[[query]]
kind = "histogram"
column = "region"
where = "age > 20"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    write_schema(SCHEMA, tmp_path / "schema.toml")
    return tmp_path


def read(folder, text):
    (folder / "release.toml").write_text(text)
    return read_request(folder / "release.toml")


def test_a_request_says_everything_but_the_rows(folder):
    more = """
knowledge = "model"
consistent = false
expected_rows = 500
"""
    asked = (
        QUERY
        + """
within = 30
[[query]]
name = "Mean age"
kind = "mean"
column = "age"
[[query]]
kind = "quantile"
column = "age"
at = 0.9
[[query]]
kind = "group_by"
keys = ["region", "sex"]
total = "age"
"""
    )
    found = read(folder, TOP + more + GROUPS + asked)
    assert (found.title, found.table, found.ledger) == ("Survey", "nowhere/survey.csv", "ledger.sqlite")
    assert found.source == str(folder / "nowhere/survey.csv")
    assert found.place == str(folder / "ledger.sqlite")
    assert (found.cap, found.leakage, found.loss) == (2, 1, None)
    assert (found.knowledge, found.consistent, found.rows) == ("model", False, 500)
    (model,) = found.dependence
    assert (model.model, model.by, model.name) == (Groups(4), "household", "households")
    assert [one.name for one in found.questions] == [
        "histogram of region where age > 20",
        "Mean age",
        "0.9 quantile of age",
        "total of age by region and sex",
    ]
    assert found.questions[0].query == Histogram("region", where=parse("age > 20", SCHEMA))
    assert [one.within for one in found.questions] == [30, None, None, None]
    assert (
        found.plan().price
        == plan(SCHEMA, found.queries, leakage=1, dependence=found.dependence, knowledge="model").price
    )


def test_a_share_has_two_conditions(folder):
    asked = '[[query]]\nkind = "share"\nwhere = "age > 60"\nof = "age > 20"\n'
    (found,) = read(folder, TOP + asked).questions
    assert found.name == "share of rows where age > 60 among age > 20"
    assert found.query == Share(where="age > 60", of="age > 20").bound(SCHEMA)
    with pytest.raises(BadQuery, match="condition"):
        read(folder, TOP + '[[query]]\nkind = "share"\nwhere = "age > 60"\nof = ["age"]\n')


def test_a_query_names_its_weight_and_what_its_sampling_error_is_made_of(folder):
    asked = '[[query]]\nkind = "share"\nweight = "age"\nwhere = "region = \'n\'"\n'
    behind = asked.replace("share", "sampling") + 'strata = "sex"\neven = true\n'
    first, second = read(folder, TOP + asked + behind).questions
    share = Share(where="region = 'n'", weight="age").bound(SCHEMA)
    assert first.query == share
    assert first.name == "share of rows, weighted by age where region = 'n'"
    assert second.query == Sampling.behind(share, "sex", even=True)
    with pytest.raises(BadQuery, match="weight"):
        read(folder, TOP + asked.replace('"age"', "3"))


def test_amounts_are_read_exactly(folder):
    found = read(folder, TOP.replace("leakage = 1.0", "loss = 0.1") + QUERY)
    assert (found.loss, found.leakage) == (Fraction(1, 10), None)


def test_sql_asks_the_same_questions_and_may_be_several(folder):
    found = read(
        folder,
        TOP
        + """
[[query]]
sql = "SELECT sex, count(*) FROM survey GROUP BY sex"
[[query]]
name = "Ages"
sql = "SELECT avg(age), median(age) AS middle FROM t WHERE region = 'n'"
within = 5
""",
    )
    north = parse("region = 'n'", SCHEMA)
    asked = (GroupBy(("sex",)), Mean("age", where=north), Median("age", where=north))
    assert [query.fingerprint for query in found.queries] == [query.fingerprint for query in asked]
    assert [one.name for one in found.questions] == ["count(*) by sex", "Ages: avg(age)", "Ages: middle"]
    assert [one.within for one in found.questions] == [None, 5, 5]
    assert found.questions[1].text.startswith("SELECT avg(age)")


def test_names_that_nobody_chose_are_numbered(folder):
    found = read(folder, TOP + QUERY + QUERY + QUERY.replace("[[query]]", '[[query]]\nname = "x"'))
    first = "histogram of region where age > 20"
    assert [one.name for one in found.questions] == [first, f"{first} 2", "x"]


def test_one_question_in_two_words_is_one(folder):
    both = (
        '[[query]]\nkind = "median"\ncolumn = "age"\n[[query]]\nkind = "quantile"\nat = 0.5\ncolumn = "age"\n'
    )
    found = outlook(read(folder, TOP + both))
    assert len(found.planned.queries) == 1
    assert found.forecasts[0] == found.forecasts[1]
    wanted = both.replace('"age"\n', '"age"\nwithin = 40\n', 1).replace("at = 0.5", "at = 0.5\nwithin = 30")
    strict = outlook(read(folder, TOP.replace("leakage = 1.0", "") + wanted))
    assert [one.ranks_within for one in strict.forecasts] == [30, 30]


def test_what_is_decided_is_predicted_alone(folder):
    """A release goes one way: of the others it says what they leak, and not what errors they would have."""
    asked = read(folder, TOP + '[[dependence]]\nmodel = {kind = "groups", largest = 3}\n' + QUERY)
    before, decided = outlook(asked), outlook(asked, decided=True)
    assert decided.forecasts == before.forecasts
    assert [way for way, _ in decided.ways] == [way for way, _ in before.ways]
    assert all(found for way, found in before.ways if way.applies)
    assert [bool(found) for _, found in decided.ways] == [way is decided.proposed for way, _ in decided.ways]


def test_models_may_stand_in_files(folder):
    (folder / "model.json").write_text('{"kind": "groups", "largest": 3}')
    found = read(folder, TOP + '[[dependence]]\nmodel = "model.json"\n' + QUERY)
    assert found.dependence[0].model == Groups(3)


LONG = "a." * 5000 + "b = 1\n"
# ruff: noqa: S608  (SQL in a request is compiled to questions, never run)
WRONG = {
    "no file": (None, BadInput, "no such file"),
    "empty": ("", BadInput, "empty"),
    "binary": ("title = \0", BadInput, "zero"),
    "not TOML": ("title = ", BadInput, "not TOML"),
    "twice": (TOP + 'title = "x"\n' + QUERY, BadInput, "not TOML"),
    "a long key": (LONG + TOP + QUERY, BadInput, "six parts"),
    "deep": (TOP + "deep = " + "[" * 5000 + "]" * 5000, BadInput, "TOML|nested"),
    "too large": (TOP + QUERY + "#" * LARGEST_FILE, BadInput, "the most is 1 MB"),
    "unknown": (TOP + "leekage = 1\n" + QUERY, BadInput, "'leekage'.*Did you mean 'leakage'"),
    "unknown in a query": (TOP + QUERY + "colunm = 1\n", BadInput, r"\[\[query\]\] 1: .*'colunm'.*'column'"),
    "unknown in a model": (TOP + GROUPS + "orders = 1\n" + QUERY, BadInput, r"\[\[dependence\]\] 1.*'order'"),
    "seed": (TOP + "seed = 1\n" + QUERY, BadInput, "'seed'.*no seeds"),
    "random state": (TOP + QUERY + "random_state = 0\n", BadInput, "'random_state'.*no seeds"),
    "rng": (TOP + GROUPS + 'RNG = "x"\n' + QUERY, BadInput, "'RNG'.*no seeds"),
    "no table": (TOP.replace("table", "title2", 1).replace("title2 =", "# ") + QUERY, BadInput, "no table"),
    "no schema": (TOP.replace('schema = "schema.toml"', "") + QUERY, BadInput, "no schema"),
    "schema elsewhere": (TOP.replace("schema.toml", "none.toml") + QUERY, BadSchema, "none.toml"),
    "no ledger": (TOP.replace('ledger = "ledger.sqlite"', "") + QUERY, BadInput, "no ledger"),
    "table is a number": (TOP.replace('"nowhere/survey.csv"', "7") + QUERY, BadInput, "table = 7"),
    "no query": (TOP, BadQuery, "0 queries"),
    "query is no list": (TOP + "query = 5\n", BadInput, "list of tables"),
    "both": (TOP + "loss = 1\n" + QUERY, BadInput, "Both a leakage and a loss"),
    "neither": (TOP.replace("leakage = 1.0", "") + QUERY, BadInput, "Neither"),
    "leakage zero": (TOP.replace("1.0", "0") + QUERY, BadLoss, "not above zero"),
    "leakage below": (TOP.replace("1.0", "-1") + QUERY, BadLoss, "not above zero"),
    "leakage nan": (TOP.replace("1.0", "nan") + QUERY, BadLoss, "finite"),
    "leakage inf": (TOP.replace("1.0", "inf") + QUERY, BadLoss, "finite"),
    "leakage tiny": (TOP.replace("1.0", "1e-320") + QUERY, BadLoss, "usable"),
    "leakage huge": (TOP.replace("1.0", "1e308") + QUERY, BadLoss, "usable"),
    "leakage true": (TOP.replace("1.0", "true") + QUERY, BadInput, "leakage = True"),
    "cap a list": (TOP.replace("2.0", "[1]") + QUERY, BadInput, r"cap = \[1\]"),
    "knowledge": (TOP + 'knowledge = "all"\n' + QUERY, BadInput, '"any" or "model"'),
    "consistent": (TOP + "consistent = 1\n" + QUERY, BadInput, "true or false"),
    "rows": (TOP + "expected_rows = 0\n" + QUERY, BadInput, "expected_rows = 0"),
    "kind": (TOP + QUERY.replace("histogram", "histgram"), BadQuery, "Ask for histogram"),
    "no kind": (TOP + "[[query]]\ncolumn = 'age'\n", BadQuery, "either a kind or sql"),
    "column": (TOP + QUERY.replace("region", "regio"), BadQuery, "no column 'regio'"),
    "text column": (TOP + QUERY.replace("region", "household"), BadQuery, "never queried"),
    "where": (TOP + QUERY.replace("age > 20", "age > "), BadQuery, r"\[\[query\]\] 1"),
    "where a number": (TOP + QUERY.replace('"age > 20"', "20"), BadInput, "where = 20"),
    "within": (TOP + QUERY + "within = -3\n", BadLoss, "within"),
    "named twice": (TOP + 2 * QUERY.replace("]]", ']]\nname = "x"'), BadQuery, "2 queries are called 'x'"),
    "sql and kind": (TOP + QUERY + 'sql = "SELECT count(*) FROM t"\n', BadQuery, "either a kind or sql"),
    "sql and where": (TOP + '[[query]]\nsql = "SELECT count(*) FROM t"\nwhere = "age > 1"\n', BadQuery, "Say it in"),
    "sql of another table": (TOP + '[[query]]\nsql = "SELECT sum(age) FROM users"\n', BadQuery, "the table is 'survey'"),
    "sql abuse": (TOP + "[[query]]\nsql = \"SELECT * FROM read_csv('/etc/passwd')\"\n", BadQuery, "query"),
    "no model": (TOP + "[[dependence]]\nby = 'household'\n" + QUERY, BadInput, "no model"),
    "model file": (TOP + "[[dependence]]\nmodel = 'none.json'\n" + QUERY, BadModel, "none.json"),
    "model kind": (TOP + GROUPS.replace("groups", "grops") + QUERY, BadModel, "grops"),
    "by": (TOP + GROUPS.replace('by = "household"', 'by = "house"') + QUERY, BadQuery, "house"),
    "count that is public": (TOP + "[[query]]\nkind = 'count'\n", BadQuery, "public"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG, ids=str)
def test_what_is_wrong_is_refused_with_its_place(folder, case):
    text, kind, says = WRONG[case]
    if text is not None:
        (folder / "release.toml").write_text(text)
    with pytest.raises(kind, match=f"(?s){says}") as refused:
        read_request(folder / "release.toml")
    assert str(folder / "release.toml") in str(refused.value)
    assert refused.value.exit_code == 2


def test_an_unapproved_schema_is_refused(folder):
    write_schema(Schema(COLUMNS), folder / "schema.toml")
    with pytest.raises(Unapproved, match="not approved"):
        read(folder, TOP + QUERY)


def test_a_request_is_valid_from_birth(folder):
    one = Question("a", Count(where=parse("age > 20", SCHEMA)), "a")
    with pytest.raises(BadInput, match="Neither"):
        Request("t.csv", SCHEMA, "l.sqlite", (one,))
    with pytest.raises(Unapproved):
        Request("t.csv", Schema(COLUMNS), "l.sqlite", (one,), Fraction(1))
    with pytest.raises(BadModel, match="cells"):
        cells = Schema(COLUMNS, unit=Cells()).approve()
        where = Question("a", Histogram("region"), "a")
        Request(
            "t.csv",
            cells,
            "l.sqlite",
            (where,),
            Fraction(1),
            dependence=(Declared(Groups(2), by="household"),),
        )


def looked(folder, text):
    return outlook(read(folder, text)).document


def by_name(document):
    return {way["way"]: way for way in document["ways"]}


def test_the_outlook_reads_no_rows_and_names_every_way(folder):
    found = looked(folder, TOP + GROUPS + QUERY + "within = 500\n")
    json.dumps(found, allow_nan=False)
    assert not Path(folder / "nowhere").exists()
    assert not (folder / "ledger.sqlite").exists()
    assert found["format"] == "entwined plan 2"
    (model,) = found["models"]
    curve = model.pop("curve")
    (hint,) = model.pop("hints")
    assert (hint["about"], round(hint["leakage"], 6), round(hint["instead_of"], 6)) == (
        "group size",
        0.75,
        1.0,
    )
    assert set(model.pop("spread").values()) == {hint["instead_of"]}
    assert model == {"name": "households", "kind": "groups", "source": "declared", "remarks": []}
    assert curve["strength"] == "the size of the largest group"
    assert [point["leakage"] for point in curve["points"]] == pytest.approx([1.25, 1.25, 1.5])
    assert found["asked"] == {"leakage": 1.0}
    assert found["unit"] == {"kind": "rows"}
    assert [one["name"] for one in found["statistics"]] == ["histogram of region where age > 20"]
    assert found["statistics"][0]["wanted"] == 500
    assert found["statistics"][0]["cells"] == 3
    ways = by_name(found)
    assert set(ways) == {"plain", *(theorem.name for theorem in theorems_taking(Loss))}
    assert found["proposed"] == "group"
    plain, group = ways["plain"], ways["group"]
    assert (plain["loss"], plain["leakage"]["households"]) == (1.0, pytest.approx(4))
    assert (plain["keeps_promise"], plain["applies"], plain["theorem"]) == (False, True, None)
    assert (group["keeps_promise"], group["applies"], group["theorem"]) == (True, True, "group")
    assert 0.999 < group["leakage"]["households"] <= 1
    assert group["loss"] == pytest.approx(0.25)
    assert group["statistics"][0]["scale"] == pytest.approx(4 * plain["statistics"][0]["scale"])
    assert group["statistics"][0]["half_width"] == pytest.approx(
        4 * plain["statistics"][0]["half_width"], rel=0.2
    )
    assert {row["beta"] for row in group["statistics"][0]["accuracy"]} == {0.1, 0.05, 0.01}
    for name, way in ways.items():
        assert way["why"], name
        assert way["applies"] == bool(way["statistics"])
    assert "4" in found["because"]
    budget = found["budget"]
    assert (budget["cap"], budget["spent"]["nominal"], budget["refused"]) == (2.0, 0.0, None)
    assert budget["after"]["leakage"]["households"] == pytest.approx(1)
    assert budget["left"] == pytest.approx(1)


CHAIN = """
[[dependence]]
columns = ["region"]
missing_says_nothing = ["region"]
model = { kind = "markov_chain", length = 10000, transition = [[0.9, 0.1], [0.1, 0.9]], initial = [0.5, 0.5] }
"""


def test_ways_hold_to_the_golden_table(folder):
    """THEORY, chain of flip 0.1 at a target of 1: messages 8.91, transport 8.64; the quilt 31.74 at 100 steps."""
    found = looked(folder, TOP + 'knowledge = "model"\n' + CHAIN + QUERY)
    ways = by_name(found)
    scale = {name: way["statistics"][0]["scale"] / 2 for name, way in ways.items() if way["applies"]}
    assert found["proposed"] == "transport"
    assert scale["transport"] == pytest.approx(8.64, abs=0.01)
    assert scale["message passing"] == pytest.approx(8.91, abs=0.01)
    assert scale["markov quilt"] == pytest.approx(31.74, rel=0.01)
    assert scale["group"] == pytest.approx(10_000)
    assert scale["plain"] == pytest.approx(1)
    assert ways["plain"]["leakage"]["markov_chain"] > 4.49
    for way in ways.values():
        if way["applies"] and way["way"] != "plain":
            assert 0.999 < way["leakage"]["markov_chain"] <= 1
    assert "times as much" in found["because"]


def test_the_proposed_way_is_the_plan_itself_and_no_way_that_keeps_the_promise_has_less_noise(folder):
    request = read(folder, TOP + GROUPS + CHAIN + QUERY)
    found = outlook(request)
    assert found.proposed.each is found.planned.loss
    assert dict(found.proposed.leakage) == {
        name: float(worst) for name, worst in found.planned.price.leakage.items()
    }
    assert max(way.each or 0 for way, _ in found.ways if way.keeps_promise) <= found.planned.loss * Fraction(
        1000001, 1000000
    )
    assert found.ways[0][0].name == "plain"
    (mine,) = found.forecasts
    assert mine.scale == pytest.approx(float(found.planned.statistics[0].law.scale))


def test_a_loss_is_the_same_noise_on_every_way(folder):
    found = looked(folder, TOP.replace("leakage = 1.0", "loss = 0.5") + CHAIN + QUERY)
    assert found["asked"] == {"loss": 0.5}
    applying = [way for way in found["ways"] if way["applies"]]
    assert {way["statistics"][0]["scale"] for way in applying} == {4.0}
    assert [way["loss"] for way in applying] == pytest.approx([0.5] * len(applying))
    leaks = by_name(found)
    assert leaks["message passing"]["leakage"]["markov_chain"] < leaks["group"]["leakage"]["markov_chain"]
    assert leaks["plain"]["keeps_promise"] is False


def test_without_dependence_plain_noise_is_what_is_needed(folder):
    found = looked(folder, TOP + QUERY)
    assert [way["way"] for way in found["ways"]] == ["plain"]
    assert (found["proposed"], found["ways"][0]["keeps_promise"]) == ("plain", True)


def test_where_only_accuracies_are_wanted_they_are_met_and_no_more(folder):
    text = TOP.replace("leakage = 1.0", "").replace("cap = 2.0", "cap = 9") + GROUPS + QUERY + "within = 30\n"
    text += '[[query]]\nkind = "median"\ncolumn = "age"\nwithin = 1000\n'
    request = read(folder, text)
    found = outlook(request)
    assert found.document["asked"] == {"within": True}
    assert [one.reach <= wish for one, wish in zip(found.forecasts, (30, 1000), strict=True)] == [True, True]
    less = plan(
        SCHEMA, request.queries, loss=request.terms.loss * Fraction(99, 100), shares=request.terms.shares
    )
    widths = [one.law.half_width(0.95) for one in less.statistics if isinstance(one, Added)]
    assert widths == [31]
    assert request.plan().price.worst == pytest.approx(4 * float(request.terms.loss))
    assert request.terms.shares[0] == 1
    assert request.terms.shares[1] < Fraction(1, 2), "a coarse question costs less than a fine one"


def test_the_ledger_is_asked_what_it_will_say(folder):
    request = read(folder, TOP + GROUPS + QUERY)
    planned = request.plan()
    other = Promise.of(SCHEMA)
    with Ledger.create(folder / "ledger.sqlite", Fraction(2), other):
        pass
    refused = outlook(request).document["budget"]
    assert "made for" in refused["refused"]
    assert refused["left"] == 2
    (folder / "ledger.sqlite").unlink()
    gone = outlook(request).document["budget"]
    assert "anchor" in gone["refused"]
    assert planned.price.worst <= 1


def test_a_ledger_is_shown_without_its_password(folder):
    given = read(
        folder, TOP.replace("ledger.sqlite", "postgresql://me:secret@host:5/base?password=secret") + QUERY
    )
    assert given.place == given.ledger
    assert shown(Book(given.place), given) == "postgresql://host:5/base"


def test_the_curve_of_a_plan_crosses_what_was_asked_or_else_the_cap(folder):
    asked = {"leakage = 1.0": (1.0, 0.0), "loss = 0.23": (2.0, 1.0)}  # 8 units leak 1.84, and 9 leak 2.07
    for terms, (cap, holds) in asked.items():
        (model,) = looked(folder, TOP.replace("leakage = 1.0", terms) + GROUPS + QUERY)["models"]
        assert model["curve"]["cap"] == cap
        assert model["curve"]["holds_up_to"] == pytest.approx(holds, abs=0.002)
        assert not model["curve"]["and_beyond"]


def test_a_plan_over_the_cap_says_so_and_one_without_a_cap_too(folder):
    over = looked(folder, TOP.replace("cap = 2.0", "cap = 0.5") + GROUPS + QUERY)["budget"]
    assert "over the cap of 0.5" in over["refused"]
    assert "no cap" in looked(folder, TOP.replace("cap = 2.0", "") + GROUPS + QUERY)["budget"]["refused"]


def test_an_exploratory_model_is_for_planning_only(folder):
    learned = GROUPS.replace("largest = 4", 'largest = 4, source = "exploratory"')
    request = read(folder, TOP + learned + QUERY)
    found = outlook(request)
    assert found.document["models"][0]["source"] == "exploratory"
    assert (
        found.document["ways"][1]["statistics"]
        == looked(folder, TOP + GROUPS + QUERY)["ways"][1]["statistics"]
    )
    assert "planning only" in found.document["budget"]["refused"]
    with pytest.raises(Refused, match="planning only"):
        fulfil(request, found.planned)
    assert not (folder / "ledger.sqlite").exists()


def test_cells_are_looked_ahead_for_too(folder):
    write_schema(Schema(COLUMNS, unit=Cells(), most_rows=100).approve(), folder / "schema.toml")
    net = """
[[dependence]]
name = "answers"
model = { kind = "random_field", variables = { region = 2, sex = 3, age = 101 }, edges = [ { between = ["region", "sex"], potential = [[2.0, 1.0, 1.0], [1.0, 2.0, 1.0]] } ] }
missing_says_nothing = ["region"]
"""
    found = looked(folder, TOP + net + QUERY)
    assert by_name(found)[found["proposed"]]["leakage"]["answers"] == pytest.approx(1, rel=1e-3)
    assert found["proposed"] != "plain"


def test_what_cannot_be_reached_is_a_refusal(folder):
    with pytest.raises(Unreachable):
        read(folder, TOP.replace("leakage = 1.0", "") + QUERY + "within = 1e40\n").plan()


@pytest.mark.parametrize(
    "source", ["a/survey.csv.gz", "survey.parquet", "db.duckdb::survey", "postgresql://u:p@h/d?table=survey"]
)
def test_the_name_of_a_table(source):
    assert table_name(source) == "survey"


def test_words_are_short():
    assert len(in_words(Count(), "age > 20 or " * 50)) <= 120


def test_every_error_of_a_request_is_ours(folder):
    """Whatever bytes stand in the file, it is read or refused, never a crash."""
    text = (TOP + GROUPS + QUERY).encode()
    for place in range(0, len(text), 7):
        for byte in (b"\xff", b"[", b'"', b"\n", b"="):
            (folder / "release.toml").write_bytes(text[:place] + byte + text[place + 1 :])
            try:
                read_request(folder / "release.toml")
            except EntwinedError:
                continue


def test_markov_models_in_toml_are_the_same_as_in_python(folder):
    found = read(folder, TOP + CHAIN + QUERY).dependence[0].model
    chain = MarkovChain(10_000, Box.exact([[0.9, 0.1], [0.1, 0.9]]), np.array([0.5, 0.5]))
    assert found.document == chain.document


@pytest.mark.parametrize("delta", ["1", "2", "0.5"])
def test_a_delta_that_is_no_small_probability_is_refused_with_advice_that_is_taken(folder, delta):
    with pytest.raises(Refused) as refused:
        looked(folder, f'delta = "{delta}"\n' + TOP + QUERY)
    (advised,) = re.findall(r"such as (\S+)\.$", str(refused.value))
    assert looked(folder, f'delta = "{advised}"\n' + TOP + QUERY)["delta"] == float(advised)


def test_a_delta_too_large_for_the_rows_is_warned_of_in_plan_and_release(folder):
    rows = "expected_rows = 500\n"
    for delta, warned in (("0.01", True), ("0.002", True), ("0.001", False), ("1e-6", False)):
        request = read(folder, f'delta = "{delta}"\n' + rows + TOP + QUERY)
        found = outlook(request).document
        said = [line for line in found["first_lines"] if "TOO LARGE for 500 rows" in line]
        assert bool(said) == warned, delta
        assert ("delta_warning" in found["budget"]) == warned
        assert ("TOO LARGE" in plan_page(found)) == warned
        for line in said:
            (advised,) = re.findall(r"such as (\S+)\.$", line)
            assert float(advised) < 1 / 500
            assert len(line) <= 200
    assert large_delta(Fraction(1, 100), None) == ""
