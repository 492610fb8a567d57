"""A ledger put back from an old copy is refused until the holder says what was spent since; that is charged first."""

import json
import shutil

import pytest

from corpus.run import run
from entwined.ledger import Book
from support.served import people
from support.warm import python


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A folder whose ledger was put back to what it was before its second release, and the holder's state."""
    place = tmp_path_factory.mktemp("restoring")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(place / "now" / "state"))
        folder = people(place / "now", cap=3)
        assert done("release", "people.toml", "-o", "one", "--yes", folder=folder).code == 0
        shutil.copy(folder / "ledger.sqlite", folder / "copy")
        asked = (folder / "people.toml").read_text()
        (folder / "people.toml").write_text(asked.replace('column = "ill"', 'column = "age"'))
        assert done("release", "people.toml", "-o", "two", "--yes", folder=folder).code == 0
    back(folder)
    shutil.copytree(place / "now", place / "then")
    return place


@pytest.fixture
def put_back(kept, monkeypatch):
    """That folder as it was first, at the same place."""
    monkeypatch.setenv("XDG_STATE_HOME", str(kept / "now" / "state"))
    shutil.rmtree(kept / "now")
    shutil.copytree(kept / "then", kept / "now")
    return kept / "now"


def back(folder):
    for path in folder.glob("ledger.sqlite-*"):
        path.unlink()
    shutil.copy(folder / "copy", folder / "ledger.sqlite")


def done(*arguments, folder):
    return run(list(arguments), folder)


def test_an_old_copy_is_refused_until_what_was_spent_since_is_charged(put_back):
    refused = done("release", "people.toml", "-o", "three", "--yes", folder=put_back)
    assert refused.code == 1
    assert "old copy" in refused.err
    over = done("budget", "restore", "people.toml", "--spent-since", "2", "--yes", folder=put_back)
    assert over.code == 1
    assert "more than the cap" in over.err
    assert done("budget", "check", "people.toml", folder=put_back).code == 1  # refused as before
    made = done(
        "budget", "restore", "people.toml", "--spent-since", "0.5", "--yes", "--json", folder=put_back
    )
    assert json.loads(made.out)["spent"] == pytest.approx(2)  # two of a home
    assert done("budget", "check", "people.toml", folder=put_back).code == 0
    assert done("release", "people.toml", "-o", "three", "--yes", folder=put_back).code == 0


def charges(folder):
    book = Book(folder / "ledger.sqlite")
    try:
        lost = [entry for entry in book.history() if entry.fields.get("document", {}).get("kind") == "lost"]
        return len(lost), float(book.spent().price.worst)
    finally:
        book.close()


def restored(folder, loss="0.5"):
    return done("budget", "restore", "people.toml", "--spent-since", loss, "--yes", folder=folder)


def test_a_ledger_that_is_no_old_copy_is_refused_and_not_charged(tmp_path):
    folder = people(tmp_path / "people", cap=3)
    assert done("release", "people.toml", "-o", "one", "--yes", folder=folder).code == 0
    for _ in range(2):
        refused = restored(folder)
        assert refused.code == 1
        assert "no old copy" in refused.err
        assert charges(folder) == (0, pytest.approx(1))


def test_restoring_once_is_enough_and_is_charged_once(put_back):
    assert restored(put_back).code == 0
    before = charges(put_back)
    again = restored(put_back)
    assert again.code == 1
    assert "was charged at its entry" in again.err
    assert charges(put_back) == before == (1, pytest.approx(2))


KILLED = """
import os, sys
import entwined.ledger.{module} as place
real = place.{owner}.{name}
def dying(*given, **more):
    found = real(*given, **more) if {after} else None
    os._exit(9)
place.{owner}.{name} = dying
from entwined.cli import main
sys.argv = ["entwined", "budget", "restore", "people.toml", "--spent-since", "0.5", "--yes"]
main()
"""


POINTS = [
    (module, owner, name, after)
    for module, owner, name in (
        ("ledger", "Ledger", "reserve"),
        ("ledger", "Ledger", "fail"),
        ("anchor", "Anchor", "replace"),
        ("witness", "Witness", "forget"),
        ("witness", "Witness", "bind"),
    )
    for after in (False, True)
]
QUICK = {("Ledger", "reserve", True), ("Anchor", "replace", True)}


@pytest.mark.parametrize(
    ("module", "owner", "name", "after"),
    [pytest.param(*point, marks=() if point[1:] in QUICK else pytest.mark.slow) for point in POINTS],
)
def test_a_restoring_that_was_killed_is_charged_once_when_it_is_said_again(
    put_back, module, owner, name, after
):
    (put_back / "killed.py").write_text(KILLED.format(module=module, owner=owner, name=name, after=after))
    assert python("killed.py", folder=put_back).returncode == 9
    for _ in range(2):
        restored(put_back)
    assert charges(put_back) == (1, pytest.approx(2))
    assert done("budget", "check", "people.toml", folder=put_back).code == 0


def test_an_older_copy_put_back_again_is_charged_again(put_back):
    assert restored(put_back).code == 0
    back(put_back)
    assert restored(put_back).code == 0
    assert charges(put_back) == (1, pytest.approx(2))
    assert restored(put_back).code == 1
