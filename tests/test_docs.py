"""Every command in the documentation is run, in order, and prints what the page says."""

import os
import re
import shlex
import subprocess
import sys
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path

import pytest

import entwined
from support import warm
from support.source import layers

ROOT = Path(__file__).parent.parent
QUOTED = re.compile(r"""'[^']*'|"[^"$`]*\"""")
OF_THE_SHELL = re.compile(r"[|&;<>()$`*?\[\]{}~#\n]")
SCREEN = {"COLUMNS": "120", "NO_COLOR": "1"}
BLOCK = re.compile(r"(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>\w+)\n(?P<text>.*?)```", re.DOTALL)
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if "```console" in page.read_text()
]


def commands(text):
    """Give the commands of a block, each with what it prints; a trailing backslash goes on."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        count = 1
        while lines[count - 1].endswith("\\\n"):
            count += 1
        yield "".join(lines[:count]), "".join(lines[count:])


def run(command, folder):
    """Run what the page says: our command or a script in a process of its own, all else by the shell."""
    line = command.replace("\\\n", " ").strip()
    if line.startswith(("entwined ", "python ")) and not OF_THE_SHELL.search(QUOTED.sub("", line)):
        program, *arguments = shlex.split(line)
        found = getattr(warm, program)(*arguments, folder=folder, **SCREEN)
        return found.stdout + found.stderr
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    found = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": here, **SCREEN},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return found.stdout + found.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_page_does_what_it_says(page, tmp_path):
    ran = 0
    for block in BLOCK.finditer(page.read_text()):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["text"])
        elif block["kind"] == "console":
            for command, expected in commands(block["text"]):
                ran += 1
                said = run(command, tmp_path)
                assert OutputChecker().check_output(expected, said, ELLIPSIS | NORMALIZE_WHITESPACE), (
                    f"$ {command}printed\n{said}\nand the page says\n{expected}"
                )
    assert ran


def test_a_page_that_says_otherwise_is_caught(tmp_path):
    ((command, expected),) = commands("$ echo one\ntwo\n")
    assert not OutputChecker().check_output(expected, run(command, tmp_path), ELLIPSIS | NORMALIZE_WHITESPACE)


def test_the_reference_names_everything_that_is_public():
    page = (ROOT / "docs" / "python.md").read_text()
    assert [name for name in entwined.__all__ if f"ew.{name}" not in page] == []


def test_the_house_is_drawn_as_it_is_built():
    """Every room of the import rules stands in the drawing, none above one that it may not import."""
    drawing = re.search(r"```text\n(.*?)```", (ROOT / "docs" / "architecture.md").read_text(), re.DOTALL)[1]
    rooms = re.compile(r"(?:^|[│·])\s*\d*\s*([a-z]+)")
    floors = {room: line for line, text in enumerate(drawing.splitlines()) for room in rooms.findall(text)}
    heights = {name.removeprefix("entwined."): height for name, height in layers().items()}
    assert floors.keys() == heights.keys()
    drawn = sorted(heights, key=lambda room: (floors[room], -heights[room]))
    assert [heights[room] for room in drawn] == sorted(heights.values(), reverse=True)
