"""A plugin of pytest that notes which test runs which line: `pytest -p mutants.reaching`, data where REACH says."""

import os
from pathlib import Path

from coverage import Coverage, CoverageData

from mutants import SOURCE

VARIABLE = "ENTWINED_REACH"
_running = []


def pytest_configure(config):
    """Start to note; each worker of xdist writes a file of its own."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        folder = Path(os.environ[VARIABLE])
        folder.mkdir(parents=True, exist_ok=True)
        watch = Coverage(
            data_file=str(folder / "lines"),
            data_suffix=True,
            source=[str(SOURCE)],
            config_file=False,
            messages=False,
        )
        watch.start()
        _running.append(watch)


def pytest_runtest_setup(item):
    """From here on lines are run for this test."""
    for watch in _running:
        watch.switch_context(item.nodeid.partition("[")[0])


def pytest_unconfigure():
    """Write what was noted."""
    while _running:
        watch = _running.pop()
        watch.stop()
        watch.save()


class Reach:
    """Which tests run which lines of which files, as was noted in a folder."""

    def __init__(self, folder):
        self._lines = {}
        for path in Path(folder).glob("lines.*"):
            data = CoverageData(basename=str(path))
            data.read()
            for file in data.measured_files():
                name = str(Path(file).relative_to(SOURCE))
                mine = self._lines.setdefault(name, {})
                for line, contexts in data.contexts_by_lineno(file).items():
                    mine.setdefault(line, set()).update(filter(None, contexts))

    def tests(self, file, line):
        """The tests that run a line; of what is run when a module is imported, those that run anything of its file."""
        lines = self._lines.get(file, {})
        return sorted(lines.get(line) or (set().union(*lines.values()) if line in lines else ()))

    def is_run(self, file, line):
        """Whether a test runs a line."""
        return bool(self._lines.get(file, {}).get(line))
