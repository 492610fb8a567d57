"""`entwined bound`: what a loss leaks under a dependence model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    by_distance,
    exposure_for,
    noisy_sum_for,
)
from entwined.cli.show import as_json, number, progress, show_hints, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from entwined.bounds import Bound, Exposure

LossOption = Annotated[str | None, typer.Option("--loss", help="The base loss of every unit.")]
LossesOption = Annotated[str | None, typer.Option("--loss-vector", help="One loss a unit: 0.1,0.2,…")]
CertificateOption = Annotated[
    Path | None, typer.Option("--certificate", "-o", help="Write the certificate to this file.")
]
WhoOption = Annotated[
    int, typer.Option("--who", min=0, help="Name so many units that leak most: for the holder only.")
]
RhoOption = Annotated[
    str | None, typer.Option("--rho", help="Gaussian noise: the concentrated loss of every unit.")
]
RhosOption = Annotated[
    str | None, typer.Option("--rho-vector", help="Gaussian noise: one ρ a unit, 0 for a hidden unit.")
]

DeviationOption = Annotated[
    str | None, typer.Option("--sd", help="Gaussian values: the deviation of the noise on the sum of all.")
]
DistanceOption = Annotated[
    str | None, typer.Option("--distance", help="With --sd: how far apart two values of a secret are.")
]
PerDistanceOption = Annotated[
    bool,
    typer.Option("--per-distance", help="Losses are for each unit of distance: places, Gaussian values."),
]


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    model_file: ModelFile,
    loss: LossOption = None,
    loss_vector: LossesOption = None,
    rho: RhoOption = None,
    rho_vector: RhosOption = None,
    deviation: DeviationOption = None,
    distance: DistanceOption = None,
    per_distance: PerDistanceOption = False,  # noqa: FBT002
    delta: DeltaOption = None,
    separable: SeparableOption = False,  # noqa: FBT002
    knowledge: KnownOption = Adversary.any,
    certificate: CertificateOption = None,
    trusting: TrustingOption = None,
    who: WhoOption = 0,
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Bound what an adversary who knows the dependence learns about each unit."""
    from entwined.bounds import bound, certify
    from entwined.bounds.certificate import write_certificate
    from entwined.dependence.files import read_model

    with progress():
        model = read_model(model_file)
        pure, noisy = (loss, loss_vector), (rho, rho_vector)
        exposure = (
            exposure_for(model, pure, noisy, delta, separable=separable)
            if deviation is None and distance is None
            else noisy_sum_for(model, deviation, distance, delta, besides=(*pure, *noisy, separable))
        )
        shown = by_distance(exposure) if per_distance else exposure
        found = bound(model, shown, knowledge.value, trusting=trusting or ())
        if certificate is not None:
            write_certificate(certify(seen_from(found, model_file.parent, certificate.parent)), certificate)
    if as_document:
        as_json(document(found, who))
    else:
        show(found, certificate)
        show_drivers(found, who)


def seen_from(found: "Bound[Exposure]", model_folder: Path, folder: Path) -> "Bound[Exposure]":
    """Name an edge file as it is seen from the certificate's folder."""
    from dataclasses import replace
    from os.path import relpath

    from entwined.dependence import Edged

    model = found.model
    if not isinstance(model, Edged) or not model.fields:
        return found
    name = relpath(model_folder / dict(model.fields)["edges"], folder)
    return replace(found, model=model.renamed(name))


def document(found: "Bound[Exposure]", who: int = 0) -> Document:
    """The contract's JSON; with the units that leak most, by their names, if asked for."""
    from entwined.bounds.certificate import listed
    from entwined.bounds.drivers import drivers
    from entwined.bounds.hints import documents_of

    return {
        "leakage": found.leakage.worst,
        "theorem": found.theorem.name,
        "per_unit": listed(found.leakage),
        "spread": found.leakage.spread,
        **({"who": [one.document for one in drivers(found.model, found.leakage, who)]} if who else {}),
        "alternatives": [
            {"theorem": said.theorem.name, "why_not": said.why_not}
            if said.leakage is None
            else {"theorem": said.theorem.name, "leakage": said.leakage.worst}
            for said in found.alternatives
        ],
        "hints": documents_of(found),
    }


def show(found: "Bound[Exposure]", certificate: Path | None) -> None:
    """The same for people: what bounds this model, and why others about such models do not."""
    from entwined.bounds.hints import NOT_TRIED, are_tried

    typer.echo(f"{found.guarantee}\n")
    about = [
        said
        for said in found.alternatives
        if isinstance(found.model, said.theorem.about) and said.theorem.covers(found.knowledge)
    ]
    about.sort(key=lambda said: said.leakage.worst if said.leakage else float("inf"))
    rows = [[found.theorem.name, number(found.leakage.worst), "the smallest valid bound"]]
    rows += [
        [said.theorem.name, number(said.leakage.worst) if said.leakage else "-", said.why_not or ""]
        for said in about
    ]
    table(f"Leakage, the largest of {found.model.units} units", ["theorem", "leakage", "note"], rows)
    others = len(found.alternatives) - len(about)
    typer.echo(f"\n{others} other theorems are about other models or adversaries; --json says why for each.")
    for line in remarks(found):
        typer.echo(line)
    show_hints(map(str, found.hints()))
    if not are_tried(found.model, found.exposure):
        typer.echo(NOT_TRIED)
    if certificate is not None:
        typer.echo(f"Certificate written to {certificate}; check it with: entwined verify {certificate}")


def remarks(found: "Bound[Exposure]") -> "Iterator[str]":
    """Say how leakage is spread over the units, what a network forgets, and what others would say without a proof."""
    from entwined.bounds.drivers import says_no_more_than_the_group, spread_words
    from entwined.dependence import Ties
    from entwined.loss import Loss

    yield from spread_words(found.leakage)
    said = {one.theorem.name: one.leakage.worst for one in found.alternatives if one.leakage}
    said[found.theorem.name] = found.leakage.worst
    same = says_no_more_than_the_group(found.model, said.get("message passing"), said.get("group"))
    if same:
        yield same
    if isinstance(found.model, Ties) and isinstance(found.exposure, Loss):
        taken = found.model.correlated_sensitivity(found.exposure.per_unit)
        yield (
            f"WITHOUT A GUARANTEE, to compare: linear correlations (Zhu, Xiong, Li, Zhou 2015) would take it for "
            f"{number(taken)}. Nothing is released by that."
        )


def show_drivers(found: "Bound[Exposure]", who: int) -> None:
    """Name the units that leak most, for whoever holds the table."""
    from entwined.bounds.drivers import drivers

    if not who:
        return
    rows = [
        [one.name, number(one.leakage), "–" if one.ties is None else str(one.ties)]
        for one in drivers(found.model, found.leakage, who)
    ]
    typer.echo()
    table("Who drives the noise (it names units: for the holder only)", ["unit", "#leakage", "#ties"], rows)
