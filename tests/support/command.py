"""Our command in a process of its own, and what it must say."""

import json
import os
import subprocess
import sys

SECRET = "zanzibar-4711"  # noqa: S105  (a cell that must never be seen)
CODE = "import sys; sys.argv[0] = 'entwined'; from entwined.cli import main; main()"


def entwined(*arguments, folder, **more):
    """Run it in a folder; `more` is put into its environment."""
    return subprocess.run(
        [sys.executable, "-c", CODE, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **more},
    )


def document(done):
    code, out, err = done
    assert (code, err) == (0, ""), err
    assert out.count("\n") == 1
    return json.loads(out)
