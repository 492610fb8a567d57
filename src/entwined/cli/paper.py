"""`entwined paper`: compute a paper's tables and figures again. Nothing that it writes is a release."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from entwined.canonical import Document
from entwined.cli.arguments import JsonOption
from entwined.cli.show import as_json, progress, table
from entwined.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from entwined.papers.dependent_dp.verdicts import Judged
    from entwined.papers.tabular_ddp.experiments import Results


class Paper(StrEnum):
    """What can be reproduced."""

    golden = "golden"
    tabular_ddp = "tabular-ddp"
    dependent_dp = "dependent-dp"
    bayesian_dp = "bayesian-dp"
    attribute_privacy = "attribute-privacy"
    datasynthesizer = "datasynthesizer"


def command(
    name: Annotated[Paper, typer.Argument(metavar="NAME", help=", ".join(Paper) + ".")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for figures and tables.")],
    trials: Annotated[
        int | None, typer.Option("--trials", help="How often noise is drawn; as in the paper if left out.")
    ] = None,
    beside: Annotated[
        Path | None,
        typer.Option("--beside", help="Error figures of other methods to show, in the form of accuracy.csv."),
    ] = None,
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Reproduce a paper's tables and figures, with what is wrong in them."""
    if output.exists() and not output.is_dir():
        raise BadInput(f"{output} is a file. Give a folder.")
    if name is Paper.tabular_ddp:
        tabular_ddp(output, trials, beside, as_document=as_document)
    elif name in REPRODUCED:
        if beside is not None:
            raise BadInput("Figures of other methods are shown beside tabular-ddp alone. Leave --beside out.")
        reproduce(REPRODUCED[name], output, trials, as_document=as_document)
    elif trials is not None or beside is not None:
        raise BadInput("The golden table is exact and stands alone. Leave --trials and --beside out.")
    else:
        golden(output, as_document=as_document)


def golden(output: Path, *, as_document: bool) -> None:
    """The noise that a chain of 100 steps needs, by every method."""
    from entwined.papers.drawing import require_charts
    from entwined.papers.golden import chart, golden_rows, show

    require_charts()
    with progress():
        rows = list(golden_rows())
    output.mkdir(parents=True, exist_ok=True)
    chart(rows, output / "golden.svg")
    if as_document:
        as_json({"rows": [row._asdict() for row in rows], "files": [str(output / "golden.svg")]})
        return
    show(rows)
    typer.echo(f"\nChart: {output / 'golden.svg'}")


def tabular_ddp(output: Path, trials: int | None, beside: Path | None, *, as_document: bool) -> None:
    """Maughan and Near's mechanism, which is not private: the first line says so."""
    from entwined.papers.drawing import require_charts
    from entwined.papers.tabular_ddp import NOTICE
    from entwined.papers.tabular_ddp.experiments import TRIALS, run
    from entwined.papers.tabular_ddp.pages import read_beside, write
    from entwined.papers.tabular_ddp.surveys import surveys

    require_charts()
    others = read_beside(beside) if beside is not None else []
    with progress():
        results = run(surveys(), TRIALS if trials is None else trials, others)
        files = write(results, output)
    if as_document:
        as_json({"notice": NOTICE, **results.document(), "files": [str(path) for path in files]})
        return
    typer.echo(f"{NOTICE}\n")
    show(results)
    typer.echo(
        f"\nThe whole of it is in {output / 'report.md'}, with {len(files) - 1} tables and figures beside."
    )


def show(results: "Results") -> None:
    """What matters most, for people."""
    from entwined.papers.tabular_ddp.pages import accuracy_rows, rounded

    table(
        f"L2 error over all histograms, chunks of 10 columns, mean of {results.trials} trials",
        ["survey", "method", "private", "ε = 0.1", "ε = 1", "ε = 10"],
        accuracy_rows(results),
    )
    typer.echo()
    table(
        "What is leaked where ε = 1 is promised",
        ["population", "reading", "k", "Laplace scale", "true leakage", "sound scale"],
        [
            [
                one.population,
                one.reading,
                str(one.width),
                *(rounded(shown) for shown in (one.scale, one.leakage_any, one.sound_scale)),
            ]
            for one in results.leaks
        ],
    )
    refuted = dict.fromkeys(one.claim for one in results.verdicts if one.refuted)
    typer.echo(f"\nRefuted by simulation: {', '.join(refuted) or 'nothing'}.")


class Written(NamedTuple):
    """What came of a paper: its notice, everything, the files, and a table of what matters most."""

    notice: str
    document: Document
    files: list[Path]
    title: str
    head: list[str]
    rows: list[list[str]]


def judged(notice: str, document: Document, files: list[Path], verdicts: "Sequence[Judged]") -> Written:
    """What is to be thought of each part matters most."""
    rows = [list(one) for one in verdicts]
    return Written(notice, document, files, "Verdicts", ["part", "verdict", "why"], rows)


def dependent_dp(output: Path, trials: int | None) -> Written:
    """Liu, Chakraborty and Mittal's figures, each with a verdict."""
    from entwined.papers.dependent_dp import NOTICE
    from entwined.papers.dependent_dp.experiments import TRIALS, paper_data, run
    from entwined.papers.dependent_dp.pages import document, write
    from entwined.papers.dependent_dp.verdicts import verdicts
    from entwined.papers.drawing import require_charts

    require_charts()
    found = run(paper_data(), TRIALS if trials is None else trials)
    return judged(NOTICE, document(found), write(found, output), verdicts(found))


def bayesian_dp(output: Path, releases: int | None) -> Written:
    """Lange and others' theorems and figures, each with a verdict, and the noise that real chains need."""
    from entwined.papers.bayesian_dp import NOTICE
    from entwined.papers.bayesian_dp.experiments import RELEASES, data_at_hand, run
    from entwined.papers.bayesian_dp.pages import document, write
    from entwined.papers.bayesian_dp.verdicts import bayesian_verdicts
    from entwined.papers.drawing import require_charts

    require_charts()
    found = run(data_at_hand(), RELEASES if releases is None else releases)
    return judged(NOTICE, document(found), write(found, output), bayesian_verdicts(found))


def attribute_privacy(output: Path, runs: int | None) -> Written:
    """Zhang, Ohrimenko and Cummings' releases and theorems, each with a verdict."""
    from entwined.papers.attribute_privacy import NOTICE
    from entwined.papers.attribute_privacy.experiments import RUNS, reproduce_all
    from entwined.papers.attribute_privacy.pages import document, write
    from entwined.papers.attribute_privacy.verdicts import attribute_verdicts
    from entwined.papers.drawing import require_charts

    require_charts()
    found = reproduce_all(RUNS if runs is None else runs)
    return judged(NOTICE, document(found), write(found, output), attribute_verdicts(found))


def datasynthesizer(output: Path, trials: int | None) -> Written:
    """Stoyanovich's lecture as a page that runs."""
    from entwined.papers.datasynthesizer import NOTICE
    from entwined.papers.datasynthesizer.experiments import TRIALS, run
    from entwined.papers.datasynthesizer.pages import document, write
    from entwined.papers.datasynthesizer.people import four_columns

    found = run(four_columns(), TRIALS if trials is None else trials)
    rows = [[one.rule, f"{one.epsilon:.3g}", one.holds] for one in found.composed]
    return Written(NOTICE, document(found), write(found, output), "Four queries", ["rule", "#ε", ""], rows)


REPRODUCED: Final[Mapping[Paper, Callable[[Path, int | None], Written]]] = {
    Paper.dependent_dp: dependent_dp,
    Paper.bayesian_dp: bayesian_dp,
    Paper.attribute_privacy: attribute_privacy,
    Paper.datasynthesizer: datasynthesizer,
}


def reproduce(
    paper: Callable[[Path, int | None], Written], output: Path, trials: int | None, *, as_document: bool
) -> None:
    """Reproduce a paper and say what came of it."""
    with progress():
        found = paper(output, trials)
    if as_document:
        as_json({**found.document, "files": [str(path) for path in found.files]})
        return
    typer.echo(f"{found.notice}\n")
    table(found.title, found.head, found.rows)
    typer.echo(f"\nThe whole of it is in {found.files[0]}, with {len(found.files) - 1} files beside.")
