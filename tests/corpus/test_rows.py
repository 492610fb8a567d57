"""Bad rows are told of in the same words whatever they hold, and what is only odd is answered rightly."""

# ruff: noqa: S608  (what is asked is put together of two parts)

import json
import tempfile

import pytest

from corpus import requests, sqls
from corpus.fine import FINE
from corpus.rows import ASKED, MALFORMED, ROWS
from corpus.run import SECONDS, Done, charges, indiscreet, run
from corpus.workshop import HEADER, NUMBER, ROW, SECRET, Workshop
from entwined.door.door import FAILED

OTHER = f"{SECRET} south,-{NUMBER},12.5,{SECRET} the other\n".encode()
FAILING = 100


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    """A place for anchors and for drafts of these tests alone; what is sound is released there first."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.setattr(tempfile, "tempdir", str(folder))
        place = Workshop(folder / "sound")
        assert run(place.release(query=ASKED), place.folder).code == 0
        yield folder


def released(table, row, folder):
    place = Workshop(folder)
    done = run(place.release(table=table.make(place, row), query=ASKED), folder)
    return done, charges(folder)


@pytest.mark.parametrize("table", ROWS, ids=lambda table: table.name)
def test_bad_rows_keep_the_charge_and_are_told_in_the_same_words(table, tmp_path):
    """TRUST 56 and 60: on neighbouring tables the same status and the same text."""
    for number, row in enumerate((ROW, OTHER)):
        done, charged = released(table, row, tmp_path / str(number))
        assert (done.code, done.out, done.err) == (1, "", f"entwined: {FAILED}\n")
        assert done.seconds < SECONDS
        assert charged == 1


@pytest.mark.parametrize("table", MALFORMED, ids=lambda table: table.name)
def test_malformed_rows_are_answered_like_any_other(table, tmp_path):
    """On neighbouring tables, and on one without such a row, the same status and the same shapes."""
    for number, row in enumerate((ROW, OTHER)):
        done, charged = released(table, row, tmp_path / str(number))
        assert (done.code, done.err, charged) == (0, "", 1)
        assert done.seconds < SECONDS
        assert not list(indiscreet(done.out))


@pytest.mark.parametrize("table", FINE, ids=lambda table: table.name)
def test_what_is_only_odd_is_answered_rightly(table, tmp_path):
    """TRUST 9, 10, 12 and 24; the noise is so small that it is zero but for a chance below 10⁻³⁰."""
    place = Workshop(tmp_path / "place")
    place.request(table=table.make(place), cap=20_000)
    for what, loss, right in (
        ("count(*)", "500", table.rows),
        ("sum(age)", "10000", {"number": str(table.ages)}),
    ):
        asked = [
            "sql",
            "--yes",
            f"SELECT {what} FROM t",
            "--request",
            "release.toml",
            "--loss",
            loss,
            "--json",
        ]
        done = run(asked, place.folder)
        assert (done.code, done.err) == (0, "")
        assert [answer["value"] for answer in json.loads(done.out)["answers"]] == [right]
        assert not list(indiscreet(done.out))


def failing():
    """A hundred requests that fail for what they ask, taken from all over the corpus."""
    asked = [
        case for case in (*sqls.CASES, *requests.CASES) if case.kind in {"SQL", "SQL in a request", "query"}
    ]
    return [asked[at * len(asked) // FAILING] for at in range(FAILING)]


def test_a_hundred_failing_requests_fail_alike_on_neighbouring_tables(tmp_path):
    """TRUST 60: the same status and the same bytes, whether a row is there, is another, or is not."""
    tables = (HEADER + ROW * 20, HEADER + ROW * 19 + OTHER, HEADER + ROW * 19, HEADER)
    cases = failing()
    assert len({(case.kind, case.name) for case in cases}) == FAILING
    for at, case in enumerate(cases):
        said = set()
        for number, table in enumerate(tables):
            place = Workshop(tmp_path / f"{at} {number}")
            place.file("survey.csv", table)
            done = run(case.make(place), place.folder)
            said.add((done.code, done.out, done.err.replace(str(place.folder), "")))
            assert charges(place.folder) == 0
        assert len(said) == 1, case.name
        assert {code for code, _, _ in said} <= {1, 2}


def test_a_difference_would_be_seen(tmp_path):
    """A command that told of its rows would differ, and be seen by the marks in every cell."""
    done = Done(1, "", f"entwined: {ROW.decode()}", 0)
    assert list(indiscreet(done.err)) == ["a word of the rows, or a password"]
    assert ROW != OTHER
    assert all(
        mark in cell for cell in ROW.decode().split(",") for mark in [SECRET if "Z" in cell else NUMBER]
    )
