"""`entwined calibrate`: how much loss, and so how little noise, a target leakage allows."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from entwined.canonical import Document
from entwined.cli.arguments import (
    Adversary,
    DeltaOption,
    JsonOption,
    KnownOption,
    ModelFile,
    SeparableOption,
    TrustingOption,
    amounts,
    concentrated,
    noisy_values_for,
    numbers,
)
from entwined.cli.show import as_json, number, progress, show_hints
from entwined.errors import BadInput

if TYPE_CHECKING:
    from entwined.bounds import ConcentratedLoss
    from entwined.dependence import Dependence


LeakageOption = Annotated[str, typer.Option("--leakage", help="The most that any unit may leak.")]
SensitivityOption = Annotated[
    str, typer.Option("--sensitivity", help="How far one unit can move the statistic.")
]
WeightsOption = Annotated[
    str | None, typer.Option("--weights", help="Losses in these proportions, one a unit: 1,2,…")
]
ImportanceOption = Annotated[
    str | None,
    typer.Option("--importance", help="Share the leakage so that Σ importance × noise² is least: 1,2,…"),
]
CountOption = Annotated[
    int | None,
    typer.Option("--count", help="Exact noise for the count of this state (0, 1, …) of a chain."),
]


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    model_file: ModelFile,
    leakage: LeakageOption,
    knowledge: KnownOption = Adversary.any,
    sensitivity: SensitivityOption = "1",
    weights: WeightsOption = None,
    importance: ImportanceOption = None,
    count: CountOption = None,
    delta: DeltaOption = None,
    separable: SeparableOption = False,  # noqa: FBT002
    trusting: TrustingOption = None,
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Find the largest loss whose leakage stays within a target, and the Laplace scale that gives it.

    With --delta the noise is Gaussian: the largest ρ, and the standard deviation that gives it.
    """
    from entwined.dependence.files import read_model

    if sum(option is not None for option in (weights, importance, count)) > 1:
        raise BadInput("Give at most one of --weights, --importance and --count.")
    if delta is None and separable:
        raise BadInput("--separable is about Gaussian noise. Give --delta, such as 1e-6.")
    if delta is not None and (importance is not None or count is not None):
        raise BadInput("--importance and --count are about Laplace noise. Leave out --delta.")
    if trusting and (importance is not None or count is not None):
        raise BadInput("--importance and --count know the theorems of entwined alone. Leave --trusting out.")
    with progress():
        model = read_model(model_file)
        if delta is not None:
            shape = concentrated(amounts(weights or "1", "Weights"), delta, separable=separable)
            found = gaussian(model, leakage, knowledge.value, sensitivity, shape, trusting or [])
        elif count is not None:
            found = counted(model, leakage, knowledge, count)
        else:
            options = weights, importance
            found = calibrated(model, leakage, knowledge.value, sensitivity, options, trusting or [])
    if as_document:
        as_json(found)
    else:
        show(found, leakage)


def show(found: Document, leakage: str) -> None:
    """The same for people."""
    from entwined.bounds.hints import NOT_TRIED

    typer.echo(f"A leakage of at most {leakage} allows, by the theorem {found['theorem']!r},")
    for name, word in (
        ("loss", "loss"),
        ("rho", "ρ"),
        ("laplace_scale", "Laplace scale"),
        ("gaussian_scale", "standard deviation of Gaussian noise"),
        ("wasserstein_scale", "by the Wasserstein mechanism it would be a scale of"),
    ):
        if isinstance(found.get(name), list):
            shown = ", ".join("none" if one is None else number(one) for one in found[name][:20])
            typer.echo(f"  {word}, one a unit: {shown}")
        elif name in found:
            every = " for every unit" if name in {"loss", "rho"} else ""
            typer.echo(f"  {word} {number(found[name])}{every}")
    hints = found.get("hints", [])
    if hints is None:
        typer.echo(NOT_TRIED)
    show_hints(hint["says"] for hint in hints or [])


def calibrated(
    model: "Dependence",
    leakage: str,
    knowledge: Any,
    sensitivity: str,
    options: tuple[str | None, str | None],
    trusting: list[str],
) -> Document:
    """Loss and scale for any statistic."""
    from entwined.bounds import allocate, calibrate
    from entwined.bounds.hints import documents_of
    from entwined.loss import Loss
    from entwined.numbers import float_above, positive_fraction, round_up_float

    weights, importance = options
    size = float_above(positive_fraction(sensitivity, "Sensitivity"))
    if importance is not None:
        found = allocate(model, leakage, Loss.of(numbers(importance, "Importance")), knowledge)
    else:
        every = Loss.uniform(1, model.units).without(model.hidden)
        shape = every if weights is None else Loss.of(numbers(weights, "Weights"))
        found = calibrate(model, leakage, knowledge, shape, trusting=trusting)
    hints = documents_of(found)
    if weights is None and importance is None:
        return {
            "loss": found.multiple,
            "laplace_scale": round_up_float(size / found.multiple),
            "theorem": found.theorem.name,
            "hints": hints,
        }
    losses = found.exposure.per_unit.tolist()
    scales = [round_up_float(size / one) if one else None for one in losses]
    return {"loss": losses, "laplace_scale": scales, "theorem": found.theorem.name, "hints": hints}


def gaussian(
    model: "Dependence",
    leakage: str,
    knowledge: Any,
    sensitivity: str,
    shape: "ConcentratedLoss",
    trusting: list[str],
) -> Document:
    """ρ and the standard deviation of Gaussian noise, in the proportions of the shape; one for all if it has one."""
    from dataclasses import replace
    from fractions import Fraction
    from math import sqrt

    from entwined.bounds import calibrate
    from entwined.bounds.hints import documents_of
    from entwined.bounds.profiles.curves import largest_shift
    from entwined.numbers import float_above, float_below, positive_fraction, round_up_float

    size = float_above(positive_fraction(sensitivity, "Sensitivity"))
    alone = (
        largest_shift(positive_fraction(leakage, "Leakage"), shape.delta) ** 2 / 2 / float(max(shape.rhos))
    )
    one = len(shape.rhos) == 1
    units = model.units if one else shape.units
    shape = replace(shape, units=units)
    asked = (shape.without(model.hidden) if one else shape) * alone
    values = noisy_values_for(model, asked)
    found = calibrate(model, leakage, knowledge, values or asked, trusting=trusting)
    times = Fraction(found.multiple) ** (
        2 if values else 1
    )  # noise shrinks by the multiple, ρ grows by its square
    rhos = [float_below(rho * times) for rho in asked.rhos]
    scales = [round_up_float(size / sqrt(2 * rho)) if rho else None for rho in rhos]
    one = len(rhos) == 1
    return {
        "rho": rhos[0] if one else rhos,
        "gaussian_scale": scales[0] if one else scales,
        "theorem": found.theorem.name,
        "hints": documents_of(found),
    }


def counted(model: "Dependence", leakage: str, knowledge: Adversary, state: int) -> Document:
    """Scale for the count of one state of a chain, exact, and what the Wasserstein mechanism would ask for."""
    from entwined.bounds.scalar import exact_scalar_accountant_bound, least_scale
    from entwined.bounds.wasserstein import wasserstein_scale
    from entwined.dependence import MarkovChain
    from entwined.numbers import float_below, positive_fraction

    if not isinstance(model, MarkovChain) or knowledge is not Adversary.model:
        raise BadInput(
            "--count is for a markov_chain against knowledge 'model'. Add --knowledge model, or leave it out."
        )
    if not 0 <= state < model.states:
        raise BadInput(f"State {state} is not among 0 to {model.states - 1}. Count a state of the chain.")
    weights = [int(place == state) for place in range(model.states)]
    target = float_below(positive_fraction(leakage, "Leakage"))
    scale = least_scale(model, weights, target)
    if scale == 0:
        raise BadInput(
            f"The count of state {state} never changes, so it needs no noise. Count another state."
        )
    return {
        "loss": 1 / scale,
        "laplace_scale": scale,
        "theorem": exact_scalar_accountant_bound.name,
        "wasserstein_scale": wasserstein_scale(model, weights, target),
    }
