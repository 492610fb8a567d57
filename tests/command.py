"""Our command in a process of its own."""

import os
import subprocess
import sys

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
