"""Files below one folder and nowhere else: whatever a name says, and wherever a link leads."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from entwined.errors import BadInput

TABLES: Final = (".csv", ".csv.gz", ".tsv", ".parquet", ".sav", ".zsav", ".por", ".dta")
MODELS: Final = (".json", ".toml", ".bif")
MOST_LISTED: Final = 500
DEEPEST: Final = 4
LONGEST: Final = 500
NOT_HERE: Final = "There is no such file below the folder of this service. Choose one from the list."


def below(folder: Path, given: str) -> Path:
    """Find a regular file below a folder; hidden ones and those of links that lead out are not there."""
    parts = Path(given).parts if given and len(given) <= LONGEST and "\0" not in given else ()
    if not parts or Path(given).is_absolute() or any(part.startswith(".") for part in parts):
        raise BadInput(NOT_HERE)
    try:
        top = folder.resolve(strict=True)
        found = (top / given).resolve(strict=True)
    except (OSError, RuntimeError, ValueError):
        raise BadInput(NOT_HERE) from None
    if not found.is_relative_to(top) or not found.is_file():
        raise BadInput(NOT_HERE)
    return found


def listed(folder: Path, ends: tuple[str, ...]) -> list[str]:
    """List the files below a folder with these endings, by their paths from there."""
    found = (one for one in _walked(folder, folder, 0) if one.lower().endswith(ends))
    return sorted(one for one, _ in zip(found, range(MOST_LISTED), strict=False))


def _walked(folder: Path, top: Path, depth: int) -> Iterator[str]:
    with os.scandir(folder) as inside:
        for one in sorted(inside, key=lambda entry: entry.name):
            if one.name.startswith("."):
                continue
            if one.is_dir(follow_symlinks=False) and depth < DEEPEST:
                yield from _walked(Path(one.path), top, depth + 1)
            elif one.is_file(follow_symlinks=False):
                yield str(Path(one.path).relative_to(top))
