"""`entwined calibrate`: how much loss, and so how little noise, a target leakage allows."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from entwined.canonical import Document
from entwined.cli.arguments import Adversary, JsonOption, KnownOption, ModelFile, numbers
from entwined.cli.show import as_json, number, progress
from entwined.errors import BadInput

if TYPE_CHECKING:
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
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Find the largest loss whose leakage stays within a target, and the Laplace scale that gives it."""
    from entwined.dependence.files import read_model

    if sum(option is not None for option in (weights, importance, count)) > 1:
        raise BadInput("Give at most one of --weights, --importance and --count.")
    with progress():
        model = read_model(model_file)
        found = (
            counted(model, leakage, knowledge, count)
            if count is not None
            else calibrated(model, leakage, knowledge.value, sensitivity, (weights, importance))
        )
    if as_document:
        as_json(found)
        return
    typer.echo(f"A leakage of at most {leakage} allows, by the theorem {found['theorem']!r},")
    if isinstance(found["loss"], list):
        typer.echo(f"  losses         {', '.join(number(one) for one in found['loss'][:20])}")
        typer.echo(f"  Laplace scales {', '.join(number(one) for one in found['laplace_scale'][:20])}")
    else:
        typer.echo(
            f"  loss {number(found['loss'])} for every unit\n  Laplace scale {number(found['laplace_scale'])}"
        )


def calibrated(
    model: "Dependence",
    leakage: str,
    knowledge: Any,
    sensitivity: str,
    options: tuple[str | None, str | None],
) -> Document:
    """Loss and scale for any statistic."""
    from entwined.bounds import allocate, calibrate
    from entwined.loss import Loss
    from entwined.numbers import float_above, positive_fraction, round_up_float

    weights, importance = options
    size = float_above(positive_fraction(sensitivity, "Sensitivity"))
    if importance is not None:
        found = allocate(model, leakage, Loss.of(numbers(importance, "Importance")), knowledge)
    else:
        shape = Loss.uniform(1, model.units) if weights is None else Loss.of(numbers(weights, "Weights"))
        found = calibrate(model, leakage, knowledge, shape)
    if weights is None and importance is None:
        return {
            "loss": found.multiple,
            "laplace_scale": round_up_float(size / found.multiple),
            "theorem": found.theorem.name,
        }
    losses = found.exposure.per_unit.tolist()
    scales = [round_up_float(size / one) if one else None for one in losses]
    return {"loss": losses, "laplace_scale": scales, "theorem": found.theorem.name}


def counted(model: "Dependence", leakage: str, knowledge: Adversary, state: int) -> Document:
    """Scale for the count of one state of a chain, exact."""
    from entwined.bounds.scalar import exact_scalar_accountant_bound, least_scale
    from entwined.dependence import MarkovChain
    from entwined.numbers import float_below, positive_fraction

    if not isinstance(model, MarkovChain) or knowledge is not Adversary.model:
        raise BadInput(
            "--count is for a markov_chain against knowledge 'model'. Add --knowledge model, or leave it out."
        )
    if not 0 <= state < model.states:
        raise BadInput(f"State {state} is not among 0 to {model.states - 1}. Count a state of the chain.")
    weights = [int(place == state) for place in range(model.states)]
    scale = least_scale(model, weights, float_below(positive_fraction(leakage, "Leakage")))
    if scale == 0:
        raise BadInput(
            f"The count of state {state} never changes, so it needs no noise. Count another state."
        )
    return {"loss": 1 / scale, "laplace_scale": scale, "theorem": exact_scalar_accountant_bound.name}
