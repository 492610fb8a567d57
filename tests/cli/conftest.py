"""Our command in this process."""

import io
import sys

import pytest

from entwined.cli import main
from support.command import SECRET


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command in this process, and give its exit code and what it printed."""

    def run(*arguments, typed=""):
        monkeypatch.setattr(sys, "argv", ["entwined", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as ended:
            main()
        shown = capsys.readouterr()
        assert SECRET not in shown.out + shown.err
        assert "Traceback" not in shown.err
        return ended.value.code or 0, shown.out, shown.err

    return run
