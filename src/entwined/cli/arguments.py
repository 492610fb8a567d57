"""Arguments that several commands share."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.errors import BadLoss

if TYPE_CHECKING:
    from entwined.dependence import Dependence
    from entwined.loss import Loss


class Knowledge(StrEnum):
    """What the adversary knows besides the model."""

    any = "any"
    model = "model"


# readable=False: whether a file can be read is said by who reads it, in one line
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A dependence model: JSON, TOML or BIF.", readable=False)
]
KnowledgeOption = Annotated[
    Knowledge, typer.Option("--knowledge", help="The adversary knows any other values, or only the model.")
]
RequestFile = Annotated[
    Path, typer.Argument(metavar="RELEASE.toml", help="What to release: see `entwined init`.", readable=False)
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before going on.")]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key", help="Sign with this key: see `entwined key new`.", readable=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def numbers(text: str, name: str) -> list[float]:
    """Read numbers separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise BadLoss(f"{name} {text[:60]!r} is not a list of numbers. Write them as 0.1,0.2,0.3.") from None


def loss_for(model: "Dependence", loss: str | None, vector: str | None) -> "Loss":
    """Make the loss of a model from --loss or --loss-vector."""
    from entwined.loss import Loss

    if (loss is None) == (vector is None):
        raise BadLoss("Give either --loss for all units or --loss-vector with one loss a unit.")
    if loss is not None:
        return Loss.uniform(loss, model.units)
    return Loss.of(numbers(vector or "", "Loss vector"))


def confirmed(question: str, *, yes: bool) -> None:
    """Ask whoever sits at the terminal; without one, or with --yes, go on."""
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        ask(question)


def ask(question: str) -> None:
    """Stop unless the answer is yes; question and answer stay away from stdout."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise typer.Abort
