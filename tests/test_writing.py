"""Files and folders appear whole or not at all, and what a killed process left behind is swept."""

import json
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from entwined.errors import BadInput
from entwined.writing import PREFIX, drafted, sweep, write_whole

DIES = """
import json, os, signal, stat, sys
from pathlib import Path
import entwined.request.fulfil, entwined.request.outlook, entwined.request.request_file
import entwined.report.folder as folder
import entwined.report.release_files as files
import entwined.writing as writing
from corpus.run import run

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def release(point, out):
    write, remove = files.write_values, writing.shutil.rmtree
    if point == "before the lock":
        writing._locked = die
    elif point == "after the first file":
        files.write_values = lambda *given: (write(*given), die())
    elif point == "before the certificate":
        folder.covering = die
    elif point == "before the move":
        Path.replace = die
    elif point == "after the move":
        writing.shutil.rmtree = lambda *given, **more: die() if Path(out).exists() else remove(*given, **more)
    run(["release", "release.toml", "-o", out, "--yes"], Path.cwd())
    os._exit(0)

found = {}
for number, point in enumerate(sys.argv[1:]):
    child = os.fork() or release(point, f"out{number}")
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = [path for path in Path.cwd().iterdir() if path.name.startswith(writing.PREFIX)]
    modes = [stat.S_IMODE(path.stat().st_mode) for path in left]
    found[point] = (ended, Path(f"out{number}").is_dir(), modes)
print(json.dumps(found))
"""
POINTS = (
    "before the lock",
    "after the first file",
    "before the certificate",
    "before the move",
    "after the move",
)


def drafts(folder):
    return [path for path in folder.iterdir() if path.name.startswith(PREFIX)]


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A release killed at every point, each with `kill -9`, into folders beside each other."""
    from corpus.workshop import Workshop

    place = Workshop(tmp_path_factory.mktemp("killed") / "place")
    place.request()
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    state = {"XDG_STATE_HOME": str(place.folder.parent / "state"), "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", DIES, *POINTS],
        cwd=place.folder, env={**os.environ, **state}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return place, json.loads(done.stdout)


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_release_leaves_a_whole_folder_or_none(killed, point):
    place, found = killed
    code, there, modes = found[point]
    assert code == -signal.SIGKILL
    assert there == (point == "after the move")
    if there:
        names = {path.name for path in (place.folder / f"out{POINTS.index(point)}").iterdir()}
        assert {"certificate.json", "release.json", "values.csv", "report.html"} <= names
    assert modes == [0o700]  # one draft, its own: each swept what the one before had left


def test_the_next_to_write_there_sweeps_what_the_dead_left(killed):
    place, _ = killed
    assert drafts(place.folder)
    write_whole(place.folder / "note.txt", "x")
    assert not drafts(place.folder)


def test_a_draft_of_the_living_stays(tmp_path):
    with drafted(tmp_path / "one") as first:
        first.write_text("1")
        (draft,) = drafts(tmp_path)
        sweep(tmp_path)
        write_whole(tmp_path / "two", "2")
        assert drafts(tmp_path) == [draft]
    assert not drafts(tmp_path)
    assert (tmp_path / "one").read_text() == "1"


def test_what_is_not_ours_is_never_swept(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("x")
    (tmp_path / f"{PREFIX}link").symlink_to(elsewhere)
    (tmp_path / f"{PREFIX}file").write_text("x")
    (tmp_path / ".entwined").mkdir()
    sweep(tmp_path)
    assert (elsewhere / "kept").exists()
    assert len(list(tmp_path.iterdir())) == 4


def test_many_at_once_never_take_each_other_for_dead(tmp_path):
    failed = []

    def work(number):
        for turn in range(30):
            try:
                write_whole(tmp_path / f"{number}.txt", f"{number} {turn}")
            except BaseException as reason:  # noqa: BLE001
                failed.append(reason)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not failed
    assert {path.read_text() for path in tmp_path.iterdir()} == {f"{number} 29" for number in range(6)}


def test_rights_are_kept_and_new_files_have_the_usual_ones(tmp_path):
    usual = tmp_path / "usual"
    usual.write_text("x")
    write_whole(tmp_path / "new", "x")
    assert (tmp_path / "new").stat().st_mode == usual.stat().st_mode
    usual.chmod(0o640)
    write_whole(usual, "y")
    assert stat.S_IMODE(usual.stat().st_mode) == 0o640
    assert usual.read_text() == "y"


def test_a_link_leads_on_to_its_file(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("x")
    (tmp_path / "link").symlink_to("folder/file")
    write_whole(tmp_path / "link", "y")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "file").read_text() == "y"


@pytest.mark.parametrize("name", [".", "loop", "folder", "pipe", "folder/no/a", "a\0b", "x" * 300])
def test_what_cannot_be_a_file_is_refused_and_leaves_nothing(tmp_path, name):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(BadInput):
        write_whole(tmp_path / name, "x")
    assert sorted(tmp_path.rglob("*")) == before


RIGHTS = """
import os, stat, sys
from pathlib import Path
from entwined.writing import write_whole

moved = []

def watch(event, given):
    if event == "os.rename":
        moved.append(stat.S_IMODE(os.stat(given[0]).st_mode))

os.umask(0)
Path("old").write_text("x")
sys.addaudithook(watch)
for name in ("new", "old"):
    write_whole(Path(name), "rows", only_owner=True)
print(*map(oct, moved))
"""


def test_what_one_may_see_alone_is_never_where_others_could(tmp_path):
    """It has its rights before it is moved to its place: whoever dies in between leaves nothing open."""
    done = subprocess.run(
        [sys.executable, "-c", RIGHTS], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0o600", "0o600"]
