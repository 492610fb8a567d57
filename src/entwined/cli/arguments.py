"""Arguments that several commands share."""

import sys
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.errors import BadInput, BadLoss

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from entwined.bounds import ConcentratedLoss, Exposure, NoisyLinear
    from entwined.dependence import Dependence
    from entwined.loss import Loss

LARGEST_FILE = 1_000_000


class Knowledge(StrEnum):
    """What the adversary knows besides the model, where rows are released."""

    any = "any"
    model = "model"


class Adversary(StrEnum):
    """What the adversary knows besides the model, where a model is asked on its own."""

    any = "any"
    values = "values"
    model = "model"


# readable=False: whether a file can be read is said by who reads it, in one line
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A dependence model: JSON, TOML or BIF.", readable=False)
]
KnowledgeOption = Annotated[
    Knowledge,
    typer.Option(
        "--knowledge", help="The adversary may know anything of each other unit, or only the model."
    ),
]
KnownOption = Annotated[
    Adversary,
    typer.Option(
        "--knowledge",
        help="Of each other unit the adversary may know its value or anything that depends on it alone (any), "
        "its value or nothing (values), nothing (model).",
    ),
]
RequestFile = Annotated[
    Path, typer.Argument(metavar="RELEASE.toml", help="What to release: see `entwined init`.", readable=False)
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before going on.")]
ReceiptOption = Annotated[
    str | None,
    typer.Option(
        "--receipt",
        metavar="POSITION:HASH",
        help="Of an earlier release: a ledger without that entry is refused.",
    ),
]
EarlierOption = Annotated[
    bool, typer.Option("--with-earlier", help="Let numbers agree with earlier releases of the same rows.")
]
KeyFile = Annotated[
    Path | None,
    typer.Option("--key", help="Sign with this key: see `entwined key new`.", readable=False),
]
DeltaOption = Annotated[
    str | None, typer.Option("--delta", help="Gaussian noise: the chance with which the promise may fail.")
]
SeparableOption = Annotated[
    bool,
    typer.Option(
        "--separable", help="Gaussian noise: each unit's part of the release reads that unit alone."
    ),
]
TrustingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--trusting", help="An installed distribution whose own theorems you trust; may be repeated."
    ),
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
        return Loss.uniform(loss, model.units).without(model.hidden)
    return Loss.of(numbers(vector or "", "Loss vector"))


def by_distance(given: "Exposure") -> "Exposure":
    """Take pure losses as losses for each unit of distance."""
    from entwined.bounds import DistanceLoss
    from entwined.loss import Loss

    if not isinstance(given, Loss):
        raise BadLoss("--per-distance is about pure losses. Give --loss or --loss-vector with it, and no δ.")
    return DistanceLoss(given)


def noisy_sum_for(
    model: "Dependence",
    deviation: str | None,
    distance: str | None,
    delta: str | None,
    *,
    besides: "Sequence[object]",
) -> "Exposure":
    """Make the noisy sum of all values from --sd, --distance and --delta."""
    from entwined.bounds import NoisyLinear
    from entwined.numbers import float_above, float_below, positive_fraction

    if any(besides):
        raise BadLoss("--sd and --distance say all of a noisy sum. Leave out losses, ρ and --separable.")
    if deviation is None or distance is None or delta is None:
        raise BadLoss("A noisy sum of Gaussian values needs all three: --sd, --distance and --delta.")
    noise, apart = (
        float_below(positive_fraction(deviation, "Deviation")),
        float_above(positive_fraction(distance, "Distance")),
    )
    return NoisyLinear.total(model.units, noise, apart, delta)


def exposure_for(
    model: "Dependence",
    pure: tuple[str | None, str | None],
    gaussian: tuple[str | None, str | None],
    delta: str | None,
    *,
    separable: bool,
) -> "Exposure":
    """Make what is shown of each unit: pure losses, or those of Gaussian noise."""
    if gaussian == (None, None) and delta is None and not separable:
        return loss_for(model, *pure)
    if pure != (None, None):
        raise BadLoss("Give --loss for pure losses, or --rho with --delta for Gaussian noise, not both.")
    found = gaussian_loss_for(model, *gaussian, delta, separable=separable)
    return noisy_values_for(model, found) or found


def gaussian_loss_for(
    model: "Dependence", rho: str | None, vector: str | None, delta: str | None, *, separable: bool
) -> "ConcentratedLoss":
    """Make the loss of Gaussian noise from --rho or --rho-vector, whose zeros are units with no part of their own."""
    from entwined.bounds import ConcentratedLoss

    if delta is None:
        raise BadLoss("Gaussian noise has a promise only at some δ. Give --delta, such as 1e-6.")
    if (rho is None) == (vector is None):
        raise BadLoss("Give either --rho for all units or --rho-vector with one ρ a unit.")
    if rho is not None:
        every = ConcentratedLoss.uniform(rho, model.units, delta, gaussian=True, separable=separable)
        return every.without(model.hidden)
    return concentrated(amounts(vector or "", "ρ vector"), delta, separable=separable)


def noisy_values_for(model: "Dependence", loss: "ConcentratedLoss") -> "NoisyLinear | None":
    """Take losses under a Gaussian model for noise on each value, at a distance of 1; nothing under other models."""
    from entwined.bounds import NoisyLinear
    from entwined.dependence.gaussian import GaussianLaws

    if not isinstance(model, GaussianLaws):
        return None
    if not loss.separable:
        raise BadLoss(
            "Under a Gaussian model ρ is that of noise on each value, for two values 1 apart: add --separable. For the "
            "noisy sum of all values give --sd and --distance."
        )
    return NoisyLinear.each(loss.each, loss.delta)


def concentrated(rhos: "tuple[Fraction, ...]", delta: str, *, separable: bool) -> "ConcentratedLoss":
    """Make the loss of Gaussian noise with one ρ a unit, some of them 0."""
    from entwined.bounds import ConcentratedLoss
    from entwined.noise.lattice import probability

    return ConcentratedLoss(rhos, len(rhos), probability(delta, "δ"), gaussian=True, separable=separable)


def amounts(text: str, name: str) -> "tuple[Fraction, ...]":
    """Read exact numbers ≥ 0 separated by commas, not all of them 0."""
    from fractions import Fraction

    from entwined.numbers import positive_fraction

    try:
        zero = [float(part) == 0 for part in text.split(",")]
    except ValueError:
        raise BadLoss(f"{name} {text[:60]!r} is not a list of numbers. Write them as 0.1,0.2,0.3.") from None
    if all(zero):
        raise BadLoss(f"{name} {text[:60]!r} shows nothing of any unit. Give a number above zero.")
    return tuple(
        Fraction(0) if none else positive_fraction(part, name)
        for part, none in zip(text.split(","), zero, strict=True)
    )


def confirmed(question: str, *, yes: bool) -> None:
    """Ask whoever sits at the terminal; without one nothing is spent but with --yes."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(
            f"{question} There is no terminal to ask at, so nothing was charged. Say --yes to go on without asking."
        )
    ask(question)


def ask(question: str) -> None:
    """Stop unless the answer is yes; question and answer stay away from stdout."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise typer.Abort


def ledger_of(place: str) -> str:
    """Find the ledger that a place is, or that a request names; nothing else of the request is read."""
    if "://" in place or not place.lower().endswith(".toml"):
        return place
    from entwined.schema.files import LONG_KEY

    path = Path(place)
    try:
        if path.exists() and not path.is_file():  # opening a pipe would wait for ever
            raise BadInput(f"{place} is no file. Give a release.toml, or the ledger itself.")
        with path.open("rb") as file:
            text = file.read(LARGEST_FILE + 1)
        sound = len(text) <= LARGEST_FILE and not LONG_KEY.search(text.decode())
        named = tomllib.loads(text.decode()).get("ledger") if sound else None
    except OSError as failed:
        raise BadInput(f"{place} cannot be read: {failed.strerror}. Check its name.") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{place} is not TOML. Give a release.toml, or the ledger itself.") from None
    if not isinstance(named, str) or not named or "\0" in named:
        raise BadInput(f"{place} names no ledger. Give a release.toml, or the ledger itself.")
    return named if "://" in named else str(path.parent / named)
