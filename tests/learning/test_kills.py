"""Learning with a budget is killed at any instant: no lease is left, and nothing is told that was not charged."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import support

WORKER = Path(support.__file__).parent / "learning_worker.py"


def kills(folder, times, *more):
    done = subprocess.run(
        [sys.executable, WORKER, folder, str(times), *more],
        capture_output=True,
        text=True,
        check=True,
        timeout=1800,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    return json.loads(done.stdout)


def test_kills_leave_no_lease_and_nothing_uncharged(tmp_path):
    found = kills(tmp_path, 20)
    assert found["wrong"] == 0
    assert found["kills"] == 20


@pytest.mark.slow
def test_200_kills_leave_no_lease_and_nothing_uncharged(tmp_path):
    found = kills(tmp_path, 200)
    assert found["wrong"] == 0
    assert 20 < found["told"] < 180  # some were stopped before they told anything, and some after


def test_the_kills_catch_what_is_told_without_a_charge(tmp_path):
    assert kills(tmp_path, 3, "mutant")["wrong"] == 3
