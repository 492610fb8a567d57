"""Our command, and scripts, in processes forked from a warm one: each has its own folder, environment, output and exit code.

Most of what a new Python does for a command is to import; here that was done once. What is said about starting up is
for `support.command`, which starts anew.
"""

import atexit
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
from functools import cache
from importlib import import_module

IMPORTED = (  # without those that start threads when they are imported
    "altair", "duckdb", "ibis.backends.duckdb", "jinja2", "numpy", "opendp.measurements", "pyarrow.parquet", "rich.progress", "scipy.optimize", "scipy.sparse",
    "scipy.special", "scipy.stats", "sqlglot", "typer._adapters",
    "entwined.audit", "entwined.cli", "entwined.cli.app", "entwined.demo.survey", "entwined.learning", "entwined.report", "entwined.tables.duck",
)  # fmt: skip


def entwined(*arguments, folder, timeout=120, **more):
    """Run the command in a folder; `more` is put into its environment."""
    return _run(["entwined", *arguments], folder, timeout, more)


def python(*arguments, folder, timeout=120, **more):
    """Run a script in a folder, as `python FILE` does there."""
    return _run(["python", *arguments], folder, timeout, more)


def _run(arguments, folder, timeout, more):
    warm = _warm()
    with _LOCK, tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        asked = {
            "arguments": list(map(str, arguments)),
            "folder": str(folder),
            "environment": {**os.environ, **more},
            "streams": [f"/proc/{os.getpid()}/fd/{stream.fileno()}" for stream in (out, errors)],
            "seconds": timeout,
        }
        warm.stdin.write(json.dumps(asked) + "\n")
        warm.stdin.flush()
        code = json.loads(warm.stdout.readline())
        for stream in (out, errors):
            stream.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read(), errors.read())


_LOCK = threading.Lock()


@cache
def _warm():
    started = subprocess.Popen(
        [sys.executable, "-P", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    atexit.register(started.wait)
    atexit.register(started.stdin.close)  # it ends when nobody asks any more
    return started


def serve():
    """Fork for every line; the fork returns its arguments, and the warm process never returns."""
    for name in IMPORTED:
        import_module(name)
    sys.modules["entwined.cli.app"].built()
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            become(asked)
            return
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    os._exit(0)


def become(asked):
    """Be the process that was asked for."""
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    streams = [os.open(path, os.O_WRONLY) for path in asked["streams"]]
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, stream in enumerate([nothing, *streams]):
        os.dup2(stream, number)
    signal.alarm(asked["seconds"])
    sys.argv = asked["arguments"]


def work():
    """Do what was asked for: our command, or a script."""
    if sys.argv[0] == "entwined":
        sys.modules["entwined.cli"].main()
        return
    del sys.argv[0]
    sys.path.insert(0, "")
    runpy.run_path(sys.argv[0], run_name="__main__")


def leave(code):
    """End as Python does, but without taking apart what a warm process had imported: that copies all of it."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


if __name__ == "__main__":
    serve()
    try:
        work()
    except SystemExit as end:
        leave(end.code or 0)
    except BaseException:  # noqa: BLE001  (whatever it was, it is shown as Python shows it)
        sys.excepthook(*sys.exc_info())
        leave(1)
    leave(0)
