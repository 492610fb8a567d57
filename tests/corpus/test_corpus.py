"""Over a thousand bad files and calls: a refusal in one line, within 2 s, without a charge, and no word of the rows."""

import gc
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from corpus import (
    amounts,
    certificates,
    csv_headers,
    learners,
    ledgers,
    models,
    outputs,
    places,
    requests,
    schemas,
    sqls,
    table_files,
)
from corpus.calls import CALLS
from corpus.run import LONGEST, SECONDS, charges, indiscreet, run, unlike_a_refusal
from corpus.workshop import ROWS, Workshop
from entwined.errors import EntwinedError

MODULES = (
    csv_headers,
    table_files,
    places,
    requests,
    schemas,
    amounts,
    models,
    sqls,
    ledgers,
    outputs,
    certificates,
    learners,
)
CASES = [case for module in MODULES for case in module.CASES]
VERDICTS = {"forged certificate", "no certificate", "schema of a certificate"}
KINDS = {
    "CSV header", "gzip", "Parquet", "Parquet parts", "DuckDB", "DuckDB table", "survey file", "unknown kind of file",
    "no file", "hostile table name", "URL", "ledger URL", "no file for a command", "name for a command",
    "request text", "request field", "query", "schema approval", "schema text", "schema unit", "schema column",
    "amount in a request", "amount of SQL", "amount of a bound", "amount of each unit", "amount of a budget", "both or none",
    "model file", "model document", "model of a request", "options of a model", "no theorem",
    "SQL", "SQL in a request", "SQL by options", "ledger bytes", "ledger edited", "ledger's anchor", "ledger of something else",
    "ledger of another schema", "ledger that is another database", "no file for a ledger", "no file for a budget",
    "ledger name", "budget of a request", "folder of a release", "page of a plan", "export of a ledger", "proposal",
    "certificate of a bound", "no certificate", "forged certificate", "schema of a certificate", "folder of a demo", "learning", "proposals of a survey", "no file to learn from",
}  # fmt: skip
CALL_KINDS = {f"call: {what}" for what in ("loss", "leakage", "delta", "cap", "calibrate", "table", "describe", "frame", "schema", "query", "model", "file")}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    """A place for anchors and for drafts of these tests alone; what is sound is released there first."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        (folder / "drafts").mkdir()
        patch.setattr(tempfile, "tempdir", str(folder / "drafts"))
        place = Workshop(folder / "sound")
        for arguments in (place.release(), place.plan(), place.sql("SELECT avg(age) FROM t"), ["budget"]):
            done = run(arguments, place.folder)
            assert (done.code, done.err) == (0, "")
        assert charges(place.folder) == 2
        yield folder


def by_kind(given):
    found = defaultdict(list)
    for one in given:
        found[one.kind].append(one)
    return found


def test_the_corpus_is_large_and_of_every_kind():
    print(f"{len(CASES)} command lines and {len(CALLS)} calls")
    assert len(CASES) + len(CALLS) >= 300
    assert (set(by_kind(CASES)), set(by_kind(CALLS))) == (KINDS, CALL_KINDS)
    twice = [
        one
        for one, times in Counter((case.kind, case.name) for case in [*CASES, *CALLS]).items()
        if times > 1
    ]
    assert not twice


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_bad_file_is_refused_in_one_line_and_nothing_is_charged(kind, tmp_path, home):
    wrong = {}
    for at, case in enumerate(by_kind(CASES)[kind]):
        place = Workshop(tmp_path / str(at))
        arguments = case.make(place)
        before = charges(place.folder)
        done = run(arguments, place.folder)
        found = list(unlike_a_refusal(done, case.says, verdict=kind in VERDICTS))
        found += left_behind(place)
        if charges(place.folder) != before:
            found.append("a charge")
        if found:
            wrong[case.name] = (found, done.code, done.err[:300])
    assert not wrong
    if kept_in(home):
        gc.collect()  # what nothing refers to any more may still be waiting; looking for it takes long
    assert not kept_in(home)


def kept_in(home):
    """Give the drafts and spills that were not removed."""
    return [*(home / "drafts").glob("entwined-*"), *(home / "state" / "entwined" / "spill").iterdir()]


def left_behind(place):
    """Say what a refusal left that it should not."""
    if (place.folder / "out").exists() or (place.folder / "trapped").exists():
        yield "something that was not to be made"
    if (place.folder / "survey.csv").read_bytes() != ROWS:
        yield "another private table"
    if any(path.name.startswith(".entwined") for path in place.folder.iterdir()):
        yield "a draft"


@pytest.mark.parametrize("kind", sorted(CALL_KINDS))
def test_a_bad_call_ends_in_an_error_of_ours_and_nothing_is_charged(kind, tmp_path):
    wrong = {}
    for at, call in enumerate(by_kind(CALLS)[kind]):
        place = Workshop(tmp_path / str(at))
        start = time.process_time()
        try:
            found = [f"gave {call.act(place)!r:.100}"]
        except EntwinedError as refused:
            text = str(refused)
            found = list(indiscreet(text))
            if "\n" in text or len(text) > 10 * LONGEST:
                found.append("no line")
        if time.process_time() - start > SECONDS:
            found.append("too long")
        if charges(place.folder):
            found.append("a charge")
        if found:
            wrong[call.name] = found
    assert not wrong


USAGE = [
    [],
    ["nothing"],
    ["release"],
    ["release", "release.toml"],
    ["release", "release.toml", "-o"],
    ["release", "release.toml", "-o", "out", "--seed", "1"],
    ["release", "release.toml", "-o", "out", "--random-state=1"],
    ["release", "release.toml", "other.toml", "-o", "out"],
    ["plan", "release.toml", "--rng", "1"],
    ["sql"],
    ["sql", "SELECT 1", "--seed=1"],
    ["sql", "SELECT 1", "--knowledge", "none"],
    ["sql", "SELECT 1", "--knowledge", "ANY"],
    ["bound"],
    ["bound", "model.json", "--knowledge=some"],
    ["calibrate", "model.json"],
    ["calibrate", "model.json", "--leakage", "1", "--count", "x"],
    ["calibrate", "model.json", "--leakage", "1", "--count", "1.5"],
    ["budget", "a", "b"],
    ["verify"],
    ["describe", "survey.csv"],
    ["paper", "nothing", "-o", "x"],
]


@pytest.mark.parametrize("arguments", USAGE, ids=" ".join)
def test_a_command_that_is_none_is_met_with_its_usage(arguments, tmp_path):
    """TRUST 47: there is no option for a seed."""
    place = Workshop(tmp_path / "place")
    place.request()
    place.model({"kind": "groups", "largest": 2})
    done = run(arguments, place.folder)
    assert done.code == 2
    assert "Usage" in done.out + done.err or "requires an argument" in done.err
    assert not list(indiscreet((done.out + done.err).replace("─ Error ─", "")))
    assert not list(left_behind(place))
    assert charges(place.folder) == 0


def test_a_mistake_in_the_corpus_would_be_seen(tmp_path):
    """The checks themselves fail on what is sound, on what is charged, and on what quotes a row."""
    place = Workshop(tmp_path / "place")
    done = run(place.release(), place.folder)
    assert {"exit code 0", "something on stdout"} <= set(unlike_a_refusal(done))
    assert list(left_behind(place)) == ["something that was not to be made"]
    assert charges(place.folder) == 1
    (place.folder / "survey.csv").write_bytes(b"region\n")
    assert "another private table" in set(left_behind(place))
    assert list(indiscreet(f"entwined: {ROWS.decode()}"))
    assert Path(place.folder).exists()
