"""Planted privacy bugs, each with the tests that must notice it; `make slow` plants them one at a time."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = HERE.parent.parent / "src" / "entwined"


@dataclass(frozen=True)
class Mutant:
    """A text of a source file, what stands in its place, and what pytest is asked to run."""

    name: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]

    def planted(self, text):
        """Give the file with the bug in it; the text must be there once."""
        before, after = self.before.strip("\n"), self.after.strip("\n")
        if text.count(before) != 1:
            raise LookupError(f"{self.file} has {text.count(before)} times: {before}")
        return text.replace(before, after)


def mutants():
    """Read all of them."""
    return [
        Mutant(**entry | {"tests": tuple(entry["tests"])})
        for path in sorted(HERE.glob("*.toml"))
        if path.name != "equivalent.toml"
        for entry in tomllib.loads(path.read_text())["mutant"]
    ]
