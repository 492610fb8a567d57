"""No value that few people have is in anything that a default flow writes, prints or replies."""

import json
import re
from urllib.parse import urlencode

import pytest

from entwined.cli import main
from entwined.errors import BadInput
from entwined.schema import Categorical, Integer, Real, Text
from entwined.survey.questionnaire import Questionnaire
from entwined.tables import describe
from entwined.web.projects import Project
from entwined.web.sessions import Sessions
from support.planted import FORMATS, HOLDERS, found_below, found_in, needles, planted
from support.served import served

WORDS = tuple(needles())


def proposals_of(source, folder):
    """Every text that a proposal makes of a table."""
    description = describe(source)
    yield description.text + description.notes + repr(description) + description._repr_html_()
    yield Questionnaire.of(source, 500).text
    description.write(folder / "described.toml")


@pytest.mark.parametrize(
    ("kind", "holders"),
    [
        ("sav", HOLDERS),
        *(pytest.param(kind, few, marks=pytest.mark.slow) for kind in FORMATS for few in (1, 9)),
    ],
)
def test_a_proposal_holds_no_value_of_few_people(kind, holders, tmp_path):
    """Nine people hold each value in 45 rows, so that rows alone would let it pass."""
    source = FORMATS[kind](planted(holders, rows_each=5), tmp_path)
    texts = [*proposals_of(source, tmp_path)]
    assert [found_in(text.encode(), WORDS) for text in texts] == [[], []]
    assert found_below(tmp_path, WORDS, but=[source]) == {}
    schema = describe(source).schema
    assert isinstance(schema.column("answer"), Categorical), "what many hold is proposed"
    assert isinstance(schema.column("pay"), Integer)
    assert isinstance(schema.column("height"), Real)
    assert {name for name in ("person_id", "opinion") if isinstance(schema.column(name), Text)} == {
        "person_id",
        "opinion",
    }


def test_the_minimum_is_raised_for_all_and_lowered_for_one_column_that_was_asked_about(tmp_path):
    source = FORMATS["csv"](planted(12), tmp_path)
    listed = describe(source).schema.column("answer").values
    assert "I was in the hospital zq" in listed
    assert found_in(describe(source, min_units=13).text.encode(), WORDS) == []
    source = FORMATS["csv"](planted(5), tmp_path)
    lowered = describe(source, min_units_of={"answer": 5})
    assert "I was in the hospital zq" in lowered.schema.column("answer").values
    assert "answer: 5" in lowered.text, "the file says so"
    with pytest.raises(BadInput, match="Lower it for one column alone"):
        describe(source, min_units=9)


def command(monkeypatch, capsys, *arguments):
    monkeypatch.setattr("sys.argv", ["entwined", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    shown = capsys.readouterr()
    assert not ended.value.code, shown.err
    return shown.out + shown.err


def replies_of(running, token, cookie):
    """What the service and the page of the holder say of a table by themselves."""
    asks = {"queries": [{"kind": "histogram", "column": "answer"}], "leakage": 0.1}
    for path in ("", "/budget", "/dummy?rows=2000", "/history"):
        yield running.send("GET", f"/api/tables/release{path}", token=token)
    for path in ("plan", "ask"):
        yield running.send("POST", f"/api/tables/release/{path}", asks, token)
    _, _, home = running.send("GET", "/", Cookie=cookie)
    form = re.search(rb'name="token" value="(\w+)"', home)[1].decode()
    begun = {"token": form, "table": running.source, "name": "mine"}
    yield running.send("POST", "/projects", urlencode(begun).encode(), Cookie=cookie, Origin=running.url)
    for step in ("schema", "questions", "plan", "budget"):
        yield running.send("GET", f"/p/mine/{step}", Cookie=cookie)


@pytest.mark.parametrize(
    ("kind", "holders"),
    [
        ("csv", HOLDERS),
        *(pytest.param(kind, few, marks=pytest.mark.slow) for kind in FORMATS for few in (1, 9)),
    ],
)
def test_a_default_flow_writes_and_replies_no_value_of_few_people(
    kind, holders, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    source = FORMATS[kind](planted(holders), tmp_path)
    given = str(source).removeprefix(f"{tmp_path}/")
    flow = (
        ("init", given),
        ("approve", "schema.toml", "--yes"),
        ("plan", "release.toml"),
        ("plan", "release.toml", "--json"),
        ("release", "release.toml", "-o", "out", "--yes"),
    )
    printed = [command(monkeypatch, capsys, *arguments) for arguments in flow]
    assert [found_in(text.encode(), WORDS) for text in printed] == [[]] * 5
    assert (tmp_path / "out" / "values.csv").stat().st_size > 100
    sessions = Sessions()
    with served(tmp_path, offers=("release.toml",), sessions=sessions) as running:
        _, headers, _ = running.send("GET", f"/start?token={sessions.start}")
        running.source = given
        cookie = headers["set-cookie"].partition(";")[0]
        replies = list(replies_of(running, running.token(), cookie))
    assert {status for status, _, _ in replies} <= {200, 303, 422}
    assert json.loads(replies[0][2])["table"] == "release"
    assert [found_in(body, WORDS) for _, _, body in replies] == [[]] * len(replies)
    assert found_below(tmp_path, WORDS, but=[tmp_path / given.partition("::")[0]]) == {}
    if "::" not in given:
        assert Project.found(tmp_path, "mine").notes.startswith("HOLDER ONLY")
