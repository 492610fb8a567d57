"""Full disks and read-only file systems: the message says which it is and what to do, and nothing is half done.

The file systems are real ones in memory, which takes the right to mount them.
"""

import os
import subprocess

import pytest

from corpus.run import run
from entwined.ledger import Book
from support.served import people

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a file system")


def mount(*arguments):
    return subprocess.run(["mount", *map(str, arguments)], capture_output=True, check=False).returncode == 0


@pytest.fixture
def disk(tmp_path):
    """A disk of one megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    if not mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", place):
        pytest.skip("no file system can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False)


def fill(disk):
    with (disk / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


def lock(disk):
    assert mount("-o", "remount,ro", disk)


def release(folder, to="out"):
    return run(["release", "people.toml", "-o", str(to), "--yes"], folder)


def entries(place):
    book = Book(place)
    try:
        return book.spent().entries
    finally:
        book.close()


@pytest.mark.parametrize(("spoil", "says"), [(fill, "the disk is full"), (lock, "mounted read-only")])
def test_a_ledger_that_cannot_grow_says_why_and_charges_nothing(tmp_path, disk, spoil, says):
    folder = people(tmp_path / "people", ledger=str(disk / "ledger.sqlite"))
    assert release(folder).code == 0
    before = entries(disk / "ledger.sqlite")
    asked = (folder / "people.toml").read_text()
    (folder / "people.toml").write_text(asked.replace('column = "ill"', 'column = "age"'))
    spoil(disk)
    refused = release(folder, "more")
    assert refused.code == 1
    assert says in refused.err
    assert "right" not in refused.err
    (mount("-o", "remount,rw", disk), (disk / "filler").unlink(missing_ok=True))
    assert entries(disk / "ledger.sqlite") == before
    assert release(folder, "more").code == 0


@pytest.mark.parametrize(("spoil", "says"), [(fill, "the disk is full"), (lock, "mounted read-only")])
def test_a_place_for_what_comes_out_is_tried_before_anything_is_charged(tmp_path, disk, spoil, says):
    folder = people(tmp_path / "people")
    spoil(disk)
    refused = release(folder, disk / "out")
    assert says in refused.err
    assert "Nothing was charged" in refused.err
    assert ".entwined-draft" not in refused.err
    assert not (folder / "ledger.sqlite").exists()


def test_a_disk_without_room_for_the_anchor_leaves_no_ledger_behind(tmp_path, disk, monkeypatch):
    folder = people(tmp_path / "people")
    monkeypatch.setenv("XDG_STATE_HOME", str(disk))
    assert run(["plan", "people.toml"], folder).code == 0  # the folders are there
    fill(disk)
    refused = release(folder)
    assert "anchor" in refused.err
    assert "the disk is full" in refused.err
    assert not (folder / "ledger.sqlite").exists()
    (disk / "filler").unlink()
    assert release(folder).code == 0
