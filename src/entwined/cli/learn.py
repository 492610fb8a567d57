"""`entwined learn`: a dependence model over columns, from a public table of the same questions."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entwined.canonical import Document
from entwined.cli.arguments import JsonOption, Knowledge, KnowledgeOption, YesOption
from entwined.cli.learn_and_check import CheckOption, KeepTreeOption, paths_beside, show_check
from entwined.cli.learn_with_budget import learn_with_budget, require_free
from entwined.cli.show import as_json, number, progress, say, table
from entwined.errors import BadInput

if TYPE_CHECKING:
    from entwined.bounds.calibrate import Calibration
    from entwined.bounds.curve import Point
    from entwined.dependence import BayesNet
    from entwined.learning import Codes, Learned
    from entwined.learning.check import Checked


PublicTable = Annotated[
    str,
    typer.Argument(
        metavar="PUBLIC|RELEASE.toml",
        help="A public table: an earlier wave, a pilot. Not the private one; with --budget its release.toml.",
    ),
]
OutputOption = Annotated[
    Path, typer.Option("--output", "-o", help="Where to write the model, .json or .toml.")
]
SchemaOption = Annotated[
    Path | None, typer.Option("--schema", help="The schema of the private table, with a public table.")
]
BudgetOption = Annotated[
    str | None,
    typer.Option("--budget", help="Learn from the private rows of a release.toml, charging this loss."),
]
ParentsOption = Annotated[
    int, typer.Option("--parents", min=1, max=4, help="Parents of a column; 1 is a tree.")
]
SmoothingOption = Annotated[str, typer.Option("--smoothing", help="What is added to every count.")]
ConfidenceOption = Annotated[
    str | None, typer.Option("--confidence", help="Instead of smoothing: intervals of this confidence.")
]

DeltaOption = Annotated[
    str | None,
    typer.Option("--delta", help="Gaussian noise with this δ, one part a column; Laplace without."),
]


def command(  # noqa: PLR0913, PLR0917  (options of one command)
    public: PublicTable,
    output: OutputOption,
    schema: SchemaOption = None,
    budget: BudgetOption = None,
    parents: ParentsOption = 1,
    smoothing: SmoothingOption = "1",
    confidence: ConfidenceOption = None,
    knowledge: KnowledgeOption = Knowledge.any,
    check: CheckOption = False,  # noqa: FBT002
    keep_tree: KeepTreeOption = False,  # noqa: FBT002
    delta: DeltaOption = None,
    as_document: JsonOption = False,  # noqa: FBT002
    yes: YesOption = False,  # noqa: FBT002
) -> None:
    """Learn what depends on what between columns: from a public table for nothing, or with a budget from the rows."""
    if budget is not None:
        if schema is not None:
            raise BadInput("--schema is given, and the request says that. Leave it out with --budget.")
        if check or keep_tree or delta:
            raise BadInput("A check reads rows for nothing, so they must be public. Leave --budget out.")
        learn_with_budget(
            Path(public),
            budget,
            output,
            parents=parents,
            smoothing=smoothing,
            confidence=confidence,
            as_document=as_document,
            yes=yes,
        )
        return
    if schema is None:
        raise BadInput(
            "--schema is missing: a public table is coded by the schema of the private one. Give it."
        )
    options = PublicOptions(parents, smoothing, confidence, knowledge, check, keep_tree, delta)
    learn_publicly(public, schema, output, options, as_document=as_document)


@dataclass(frozen=True, slots=True)
class PublicOptions:
    """How to learn from a public table, and what noise the model is held against."""

    parents: int
    smoothing: str
    confidence: str | None
    knowledge: Knowledge
    check: bool
    keep_tree: bool
    delta: str | None


def learn_publicly(
    public: str, schema: Path, output: Path, options: PublicOptions, *, as_document: bool
) -> None:
    """Learn from a public table; nothing is charged, and its name is kept."""
    from entwined.bounds.curve import curve
    from entwined.dependence import write_model
    from entwined.learning import public_codes
    from entwined.learning.check import check
    from entwined.schema import read_schema

    require_free(output)
    with progress():
        codes = public_codes(public, read_schema(schema))
        found = learned(codes, Path(public).name, options)
        allowed = calibrated(found.model, options)
        points = (
            ()
            if options.confidence
            else curve(
                found.model,
                allowed.exposure,
                options.knowledge.value,
                theorems=[allowed.theorem] if options.delta else [],
            ).points
        )
        checked = check(found, codes, allowed.exposure, options.knowledge.value) if options.check else None
    beside = [] if checked is None or options.keep_tree else paths_beside(checked, output)
    for path in beside:
        require_free(path)
    write_model(found.model if checked is None else checked.tree.model, output)
    for path, law in zip(beside, checked.covering if checked else (), strict=False):
        write_model(law.model, path)
    shown = LearnedShown(found, output, allowed, points, checked, tuple(beside))
    as_json(shown.document) if as_document else shown.say()


def learned(codes: "Codes", table_name: str, options: PublicOptions) -> "Learned":
    """Learn a tree or network, smoothed or by intervals."""
    from entwined.learning import learn, learn_with_margin

    if options.confidence is None:
        return learn(codes, table_name, parents=options.parents, smoothing=options.smoothing)
    return learn_with_margin(codes, table_name, options.confidence, parents=options.parents)


def calibrated(model: "BayesNet", options: PublicOptions) -> "Calibration[Any]":
    """Find equal noise of every column that leaks 1: Laplace, or with a δ Gaussian."""
    from entwined.bounds import ConcentratedLoss, calibrate
    from entwined.bounds.calibrate import largest_multiple
    from entwined.bounds.separable import separable_messages_bound, separable_transport_bound

    if options.delta is None:
        return calibrate(model, 1.0, options.knowledge.value)
    equal = ConcentratedLoss.uniform(1, model.units, options.delta, gaussian=True, separable=True)
    best = separable_transport_bound if options.knowledge.value == "model" else separable_messages_bound
    return largest_multiple(best, model, equal, 1.0, options.knowledge.value)


@dataclass(frozen=True, eq=False)
class LearnedShown:
    """What was learned, as it is shown."""

    found: "Learned"
    output: Path
    allowed: "Calibration[Any]"
    points: "tuple[Point, ...]"
    checked: "Checked | None"
    beside: tuple[Path, ...]

    @property
    def document(self) -> Document:
        """The same as JSON."""
        told = {"model": str(self.output), "learned": self.found.title, "columns": self.found.model.units}
        shown = {f"{point.share:g}": point.leakage for point in self.points}
        kind = "rho_of_leakage_1" if self.allowed.exposure.delta else "loss_of_leakage_1"
        told |= {kind: self.allowed.multiple, "curve": shown}
        if self.checked is None:
            return told
        return told | {"check": self.checked.figures.document, "beside": list(map(str, self.beside))}

    def say(self) -> None:
        """Print it; whether a check was passed stands first."""
        if self.checked is not None:
            show_check(self.checked.figures, self.found.title, list(self.beside))
            say()
        loss = "ρ = " if self.allowed.exposure.delta else ""
        say(f"A model of {self.found.model.units} columns, {self.found.title}, is in {self.output}.")
        say(f"Equal losses of {loss}{number(self.allowed.multiple)} a column leak at most 1 by it.")
        if self.points:
            show(self.points)


def show(points: "tuple[Point, ...]") -> None:
    """Print the sensitivity curve."""
    say()
    rows = [[f"{point.share:+.0%}", number(point.leakage)] for point in points]
    table("What the same losses leak if every log odds were larger", ["log odds", "#leakage"], rows)
