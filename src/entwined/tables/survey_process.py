"""The process that survey files are read in: begun when the first is opened, and ended with this one.

It reads nothing itself. For each file it forks, and the fork has limits of time and memory: one that a broken file ends
leaves the process as it was.
"""

import atexit
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final
from uuid import uuid4

from entwined.canonical import Document
from entwined.errors import BadTable
from entwined.tables.limits import SECONDS, reading_seconds

COMMAND: Final = "from entwined.tables.survey_reading import served; served()"
ALONE: Final = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
TIME_OVER: Final = -14
"""How a fork ends whose time is over."""


class SurveyProcess:
    """One process of this one, asked by one thread at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started: subprocess.Popen[str] | None = None

    def run(self, job: Document) -> int:
        """Have a job done, and give the code that its fork ended with."""
        with self._lock:
            started = self._running()
            try:
                started.stdin.write(json.dumps(job) + "\n")  # type: ignore[union-attr]  # it is a pipe
                started.stdin.flush()  # type: ignore[union-attr]
                return int(started.stdout.readline())  # type: ignore[union-attr]
            except (OSError, ValueError):
                self.close()
                raise BadTable("The process that reads survey files cannot be started. Try again.") from None

    def _running(self) -> "subprocess.Popen[str]":
        if self._started is None or self._started.poll() is not None:
            paths = os.pathsep.join(path for path in sys.path if path)
            self._started = subprocess.Popen(  # noqa: S603  (our own command)
                [sys.executable, "-P", "-c", COMMAND],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, **ALONE, "PYTHONPATH": paths},
            )
            atexit.register(self.close)
        return self._started

    def let_go(self) -> object:
        """Close our ends of its pipes, and give it to be kept where nobody waits for it."""
        started, self._started = self._started, None
        for stream in () if started is None else (started.stdin, started.stdout):
            if stream is not None:
                stream.close()
        return started

    def close(self) -> None:
        """End it."""
        if self._started is not None:
            for stream in (self._started.stdin, self._started.stdout):
                if stream is not None:
                    stream.close()
            self._started.wait()
            self._started = None
        atexit.unregister(self.close)


_process = SurveyProcess()


_of_parents: Final[list[object]] = []


def _start_anew() -> None:
    """Let a fork of this process have one of its own: the other is its parent's, and is neither used nor awaited."""
    global _process  # noqa: PLW0603  (there is one for each process)
    _of_parents.append(_process.let_go())
    _process = SurveyProcess()


os.register_at_fork(after_in_child=_start_anew)


def asked(job: Document, folder: Path) -> Document | None:
    """Have a file read, and give what was found; None where it cannot be read."""
    reply, seconds = folder / f"{uuid4().hex}.json", reading_seconds()
    code = _process.run({**job, "reply": str(reply), "seconds": seconds})
    try:
        if code == TIME_OVER:
            raise BadTable(f"{job['path']} was not read within {seconds:g} seconds. Give a larger {SECONDS}.")
        found: Document | None = None if code else json.loads(reply.read_text(encoding="utf-8"))
        return found
    finally:
        reply.unlink(missing_ok=True)
