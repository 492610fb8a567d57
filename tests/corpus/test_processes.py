"""The same in processes of their own: bombs that stay small in memory, folders that may only be read, real exit codes."""

import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from corpus import certificates, csv_headers, ledgers, sqls
from corpus.run import Done, charges, run, unlike_a_refusal
from corpus.workshop import HEADER, ROW, Workshop

COMMAND = """
import atexit
from pathlib import Path

atexit.register(lambda: Path("memory").write_text(Path("/proc/self/status").read_text()))
from entwined.cli import main
main()
"""
MEGABYTES = 512
SECONDS = 10


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory):
    """A place for anchors of these tests alone."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield folder


def apart(arguments, folder):
    """Run the command in a process of its own; also give the most memory it had, in megabytes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    most = next(line for line in (folder / "memory").read_text().splitlines() if line.startswith("VmHWM"))
    return Done(done.returncode, done.stdout, done.stderr, seconds), int(most.split()[1]) / 1000


def holes(place, name):
    """A file of 3 GB that takes no room on the disk."""
    with (place.folder / name).open("wb") as file:
        file.truncate(3_000_000_000)
    return name


def large_cell(place, size):
    """A Parquet file with one cell that unpacks to far more than the file has."""
    rows = {"region": ["x" * size], "age": [1], "income": [1.0], "who": [""]}
    pq.write_table(pa.table(rows), place.folder / "bad.parquet", compression="zstd", write_statistics=False)
    return "bad.parquet"


def wide_parquet(place):
    """60,000 columns."""
    one = pa.array([1])
    rows = pa.Table.from_arrays([one] * 60_000, [f"c{at}" for at in range(60_000)])
    pq.write_table(rows, place.folder / "bad.parquet", use_dictionary=False, write_statistics=False)
    return "bad.parquet"


BOMBS = {
    "gz of 1 GB without a line end": lambda place: place.release(
        table=place.file("bad.csv.gz", gzip.compress(bytes(10**7), 1) * 100)
    ),
    "a cell of 200 MB in a small file": lambda place: place.release(table=large_cell(place, 200_000_000)),
    "60,000 columns": lambda place: place.release(table=wide_parquet(place)),
    "a request of 3 GB": lambda place: ["release", holes(place, "release.toml"), "-o", "out", "--yes"],
    "a schema of 3 GB": lambda place: [
        *place.release()[:2],
        "-o",
        str(holes(place, "schema.toml") and "out"),
    ],
    "a model of 3 GB": lambda place: ["bound", holes(place, "model.json"), "--loss", "1"],
    "a certificate of 3 GB": lambda place: ["verify", holes(place, "certificate.json")],
    "a ledger of 3 GB": lambda place: place.release(ledger=holes(place, "ledger.sqlite")),
    "a DuckDB of 3 GB": lambda place: place.release(table=holes(place, "bad.duckdb") + "::t"),
    "a Parquet of 3 GB": lambda place: place.release(table=holes(place, "bad.parquet")),
    "a survey of 3 GB": lambda place: place.release(table=holes(place, "bad.sav")),
    "a CSV of 3 GB": lambda place: place.release(table=holes(place, "bad.csv")),
    "numbers that would fill the memory": lambda place: [
        "sql",
        "SELECT count(*) FROM t",
        "--request",
        place.request(),
        "--loss",
        "1e999999999",
    ],
}


BOMBS_GO_OFF = """
import dataclasses, json, sys
from pathlib import Path

from corpus.run import run

found = {}
for bomb, (arguments, folder) in json.loads(Path(sys.argv[1]).read_text()).items():
    done = dataclasses.astuple(run(arguments, Path(folder)))
    status = Path("/proc/self/status").read_text().splitlines()
    most = next(line for line in status if line.startswith("VmHWM"))
    found[bomb] = (done, int(most.split()[1]) / 1000)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def gone_off(tmp_path_factory, home):
    """Let them go off one after the other in one process; the most memory so far is that of all before."""
    folder = tmp_path_factory.mktemp("bombs")
    asked = {}
    for at, (bomb, make) in enumerate(BOMBS.items()):
        place = Workshop(folder / str(at))
        asked[bomb] = (make(place), str(place.folder))
    (folder / "asked.json").write_text(json.dumps(asked))
    done = child(BOMBS_GO_OFF, str(folder / "asked.json"))
    return {
        bomb: (Done(*fields), megabytes, Path(asked[bomb][1]))
        for bomb, (fields, megabytes) in json.loads(done).items()
    }


def child(code, *arguments, **environment):
    """Run Python with the corpus at hand, and give what it prints."""
    folders = os.pathsep.join([str(Path(__file__).parent.parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": folders, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_within_bounded_memory(bomb, gone_off):
    """TRUST 62; what is imported first takes part of the time."""
    done, megabytes, folder = gone_off[bomb]
    assert not [wrong for wrong in unlike_a_refusal(done) if not wrong.endswith(" s")]
    assert done.seconds < SECONDS
    assert megabytes < MEGABYTES
    assert charges(folder) in {0, "LedgerDamaged"}


def test_rows_that_unpack_to_far_more_stay_within_memory(tmp_path):
    """TRUST 62: a row that is too long is one row without a value."""
    place = Workshop(tmp_path / "place")
    data = HEADER + ROW * 30_000 + bytes(10**8) + ROW * 100
    arguments = place.release(
        table=place.file("bad.csv.gz", gzip.compress(data, 1)), query={"kind": "mean", "column": "age"}
    )
    done, megabytes = apart(arguments, place.folder)
    assert (done.code, done.err) == (0, "")
    assert done.seconds < SECONDS
    assert megabytes < MEGABYTES


def test_a_cell_that_unpacks_to_far_more_is_only_a_cell(tmp_path):
    """50 MB in 3 kB: it is no declared value, so it is missing; it takes one copy of itself at most."""
    place = Workshop(tmp_path / "place")
    arguments = place.release(
        table=large_cell(place, 5 * 10**7), query={"kind": "histogram", "column": "region"}
    )
    done, megabytes = apart(arguments, place.folder)
    assert (done.code, done.err) == (0, "")
    assert megabytes < MEGABYTES


@pytest.mark.parametrize(
    "module",
    [csv_headers, sqls, ledgers, certificates],
    ids=lambda module: module.__name__,
)
def test_a_real_process_ends_as_the_corpus_says(module, tmp_path):
    """One of each, by what a shell sees: the exit code, one line on stderr, nothing on stdout."""
    case = module.CASES[len(module.CASES) // 2]
    here, there = Workshop(tmp_path / "here"), Workshop(tmp_path / "there")
    done, megabytes = apart(case.make(here), here.folder)
    same = run(case.make(there), there.folder)
    assert (done.code, done.out) == (same.code, same.out)
    assert done.err == same.err.replace(str(there.folder), str(here.folder))
    assert done.code in {1, 2}
    assert megabytes < MEGABYTES


# ---- what may not be written or read


@pytest.fixture(scope="module")
def common():
    """A folder that everyone may enter."""
    folder = Path(tempfile.mkdtemp(prefix="corpus-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


NOBODY = 65534
NOBODY_RUNS = """
import dataclasses, json, os, sys, tempfile
from pathlib import Path

from corpus.run import run
from corpus.workshop import Workshop

common = Path(sys.argv[1])
sound = Workshop(common / "sound")  # imports all that nobody could not
query = [{"kind": "mean", "column": "age"}, {"kind": "histogram", "column": "region"}]
for arguments in (sound.release(query=query), [*sound.plan(), "--html", "a.html"], ["budget"], ["describe", "survey.csv", "-o", "new.toml"]):
    if run(arguments, sound.folder).code:
        sys.exit("what is sound is refused")
if os.geteuid() == 0:
    os.setuid(int(sys.argv[2]))
found = {}
for what, (arguments, folder, state) in json.loads((common / "asked.json").read_text()).items():
    os.environ["XDG_STATE_HOME"] = tempfile.tempdir = state
    found[what] = dataclasses.astuple(run(arguments, Path(folder)))
print(json.dumps(found))
"""


def owned(path):
    """Give everything in a folder to nobody."""
    for one in (path, *path.rglob("*")):
        if os.geteuid() == 0:
            os.lchown(one, NOBODY, NOBODY)


def read_only(place):
    (place.folder / "fixed").mkdir()
    return "fixed"


LOCKED = {
    "an output folder": (
        lambda place: [*place.release()[:2], "-o", f"{read_only(place)}/out"],
        "fixed",
        0o555,
    ),
    "a folder for a ledger": (
        lambda place: place.release(ledger=f"{read_only(place)}/ledger.sqlite"),
        "fixed",
        0o555,
    ),
    "a ledger": (lambda place: [*place.release(), str(place.ledger() and "--json")], "ledger.sqlite", 0o444),
    "a ledger that may not be read": (
        lambda place: [*place.release(), str(place.ledger() and "--json")],
        "ledger.sqlite",
        0,
    ),
    "a budget": (lambda place: ["budget", place.ledger()], "ledger.sqlite", 0),
    "a table": (lambda place: place.release(), "survey.csv", 0),
    "a Parquet table": (lambda place: place.release(table=large_cell(place, 1)), "bad.parquet", 0),
    "a schema": (lambda place: place.release(), "schema.toml", 0),
    "a schema to approve": (
        lambda _: ["approve", "schema.toml", "--yes", "--json"],
        "schema.toml",
        0o444,
    ),
    "a request": (lambda place: place.release(), "release.toml", 0),
    "a model": (
        lambda place: ["bound", place.model({"kind": "groups", "largest": 2}), "--loss", "1"],
        "model.json",
        0,
    ),
    "a certificate": (lambda place: ["verify", place.file("certificate.json", "{}")], "certificate.json", 0),
    "a page": (lambda place: [*place.plan(), "--html", f"{read_only(place)}/plan.html"], "fixed", 0o555),
    "a proposal": (
        lambda place: ["describe", "survey.csv", "-o", f"{read_only(place)}/new.toml"],
        "fixed",
        0o555,
    ),
    "a first request": (
        lambda place: ["init", "survey.csv", "-o", f"{read_only(place)}/new.toml"],
        "fixed",
        0o555,
    ),
    "an export": (
        lambda place: ["budget", place.ledger(), "--export", f"{read_only(place)}/a.csv"],
        "fixed",
        0o555,
    ),
    "a certificate to write": (
        lambda place: [
            "bound",
            place.model({"kind": "groups", "largest": 2}),
            "--loss",
            "1",
            "-o",
            f"{read_only(place)}/a.json",
        ],
        "fixed",
        0o555,
    ),
}


@pytest.fixture(scope="module")
def without_rights(common):
    """Run all of it in one process that gives its rights away: for root nothing is read-only."""
    asked = {}
    for what, (make, name, mode) in LOCKED.items():
        place = Workshop(common / what)
        state = place.folder / "state"
        state.mkdir()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", str(state))
            arguments = make(place)
        owned(place.folder)
        (place.folder / name).chmod(mode)
        asked[what] = (arguments, str(place.folder), str(state))
    (common / "asked.json").write_text(json.dumps(asked))
    rights = {"XDG_STATE_HOME": str(common / "state"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = child(NOBODY_RUNS, str(common), str(NOBODY), **rights)
    for what, (_, name, _) in LOCKED.items():
        (common / what / name).chmod(0o755)
    return {what: Done(*fields) for what, fields in json.loads(done).items()}


@pytest.mark.parametrize("what", LOCKED)
def test_what_may_not_be_read_or_written_is_refused_before_the_charge(
    what, without_rights, common, monkeypatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(common / what / "state"))
    done = without_rights[what]
    assert not list(unlike_a_refusal(done))
    assert any(
        words in done.err for words in ("may not", "may only", "can be opened", "cannot be", "Permission")
    )
    assert "module" not in done.err
    assert not (common / what / "out").exists()
    assert charges(common / what) == 0
