"""A ledger put back from an old copy is refused until the holder says what was spent since; that is charged first."""

import json
import shutil

import pytest

from support.served import people
from support.warm import entwined


@pytest.fixture
def put_back(tmp_path):
    """A folder whose ledger was put back to what it was before its second release."""
    folder = people(tmp_path, cap=3)
    assert entwined("release", "people.toml", "-o", "one", "--yes", folder=folder).returncode == 0
    shutil.copy(folder / "ledger.sqlite", tmp_path / "copy")
    asked = (folder / "people.toml").read_text()
    (folder / "people.toml").write_text(asked.replace('column = "ill"', 'column = "age"'))
    assert entwined("release", "people.toml", "-o", "two", "--yes", folder=folder).returncode == 0
    for path in folder.glob("ledger.sqlite-*"):
        path.unlink()
    shutil.copy(tmp_path / "copy", folder / "ledger.sqlite")
    return folder


def test_an_old_copy_is_refused_until_what_was_spent_since_is_charged(put_back):
    refused = entwined("release", "people.toml", "-o", "three", "--yes", folder=put_back)
    assert refused.returncode == 1
    assert "old copy" in refused.stderr
    over = entwined("budget", "restore", "people.toml", "--spent-since", "2", "--yes", folder=put_back)
    assert over.returncode == 1
    assert "more than the cap" in over.stderr
    assert entwined("budget", "check", "people.toml", folder=put_back).returncode == 1  # refused as before
    done = entwined(
        "budget", "restore", "people.toml", "--spent-since", "0.5", "--yes", "--json", folder=put_back
    )
    assert json.loads(done.stdout)["spent"] == pytest.approx(2)  # two of a home
    assert entwined("budget", "check", "people.toml", folder=put_back).returncode == 0
    assert entwined("release", "people.toml", "-o", "three", "--yes", folder=put_back).returncode == 0
