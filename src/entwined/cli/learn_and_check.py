"""`entwined learn --check`: whether a learned model holds, and the richer laws that are written beside it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.show import about, say, table

if TYPE_CHECKING:
    from entwined.dependence import ModelCheck
    from entwined.learning.check import Checked

CheckOption = Annotated[
    bool,
    typer.Option("--check", help="Hold the model against richer laws and a strong learner, on these rows."),
]
KeepTreeOption = Annotated[
    bool, typer.Option("--keep-tree", help="Write the tree alone even if it fails its check; reports say so.")
]

LOOSE = " (loose)"


def paths_beside(checked: "Checked", output: Path) -> list[Path]:
    """Name a file for every law that must be declared beside the model."""
    count = len(checked.covering)
    return [output.with_name(f"{output.stem}.beside-{turn + 1}{output.suffix}") for turn in range(count)]


def show_check(check: "ModelCheck", title: str, beside: list[Path]) -> None:
    """Print what a check found; the first line says whether the model passed."""
    if not check.needed:
        say("The model passed its check.")
    elif not beside:
        say(check.failed(title, check.needed))
    else:
        named = ", ".join(map(str, beside))
        say(f"The tree alone failed its check. What covers it stands beside it: declare {named}, too.")
    for words in check.words:
        say(words)
    say()
    rows = [
        [
            one.law,
            about(one.row),
            about(one.answer),
            about(one.leakage) + LOOSE * (one.loose and one.leakage is not None),
            "yes" if one.law in check.needed else "",
        ]
        for one in check.laws
    ]
    heads = ["law", "#nats a row", "#nats an answer", "#leakage", "needed"]
    table("Log loss of rows held out, and what the same noise leaks", heads, rows)
