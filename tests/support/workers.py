"""A process of the ledger's tests, started and listened to."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def worker(*arguments, timeout=300):
    """Run one command of ledger_worker.py and return what it prints; anything on stderr is a failure."""
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as errors,
    ):  # an orphan may keep a pipe open
        subprocess.run(
            [sys.executable, HERE / "ledger_worker.py", *map(str, arguments)],
            stdout=out,
            stderr=errors,
            timeout=timeout,
            check=False,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        for stream in (out, errors):
            stream.seek(0)
        assert not errors.read().decode()
        return json.loads(out.read())
