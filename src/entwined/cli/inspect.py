"""`entwined inspect`: what can be said of a synthetic table in public, and what its holder alone may see of it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.arguments import JsonOption
from entwined.cli.show import about, as_json, progress, say
from entwined.cli.show import table as printed
from entwined.errors import BadInput

if TYPE_CHECKING:
    from entwined.synthetic.error_bars import PublicWord
    from entwined.synthetic.inspection import Inspection

MOST_LINES = 15
MARK = "holder-only"
SweepOption = Annotated[
    bool, typer.Option("--sweep", help="Try other ε and numbers of parents on the real rows: for the holder.")
]


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    synthetic: Annotated[
        Path,
        typer.Argument(metavar="DIR|SYNTHETIC", help="What `entwined synth` wrote, or any synthetic table."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The page, such as page.html.")],
    table: Annotated[
        str | None, typer.Option("--table", help="The real table: what is found is for its holder only.")
    ] = None,
    schema: Annotated[
        Path | None, typer.Option("--schema", help="The approved schema of both tables.", readable=False)
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", help="A column that a model trained on the table foretells.")
    ] = None,
    held_out: Annotated[
        str | None, typer.Option("--held-out", help="Rows like the real ones that were not among them.")
    ] = None,
    sweep: SweepOption = False,  # noqa: FBT002
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Say how good a synthetic table is: in public from its noise alone, to the holder beside the real table."""
    from entwined.synthetic.inspection import DESCRIPTION, compared

    if table is None and (target or held_out or sweep):
        raise BadInput("--target, --held-out and --sweep need the real rows. Give them with --table.")
    described = synthetic / DESCRIPTION
    if not described.is_file() and table is None:
        raise BadInput(
            f"{synthetic} comes without a description, so nothing is known of its noise. Give the folder "
            "that `entwined synth RELEASE.toml` wrote, or the real table with --table and --schema."
        )
    word = write_in_public(described, output, as_document=as_document) if described.is_file() else None
    if table is None:
        return
    with progress():
        found = compared(synthetic, table, schema, target, held_out, sweep=sweep)
    write_for_holder(found, *holders_files(output), quiet=as_document)
    if as_document and word is None:
        as_json({"files": list(map(str, holders_files(output)))})


def write_in_public(description: Path, output: Path, *, as_document: bool) -> "PublicWord":
    """Write what may be published, from the released noise alone."""
    from entwined.bounds.certificate import read_certificate
    from entwined.report.public_word_page import public_word_page
    from entwined.synthetic.error_bars import word_of
    from entwined.writing import write_whole

    document = read_certificate(description)
    word = word_of(document)
    write_whole(output, public_word_page(word, document["certificate"]))
    if as_document:
        as_json({**word.document, "files": [str(output)]})
        return word
    say(f"May be published: {output}. It follows from the released noise alone.")
    worst = [
        [
            " × ".join(bar.columns),
            f"{bar.cells:,}",
            f"{bar.half_width:,.0f}",
            about(100 * bar.misplaced),
            about(bar.sample),
        ]
        for bar in word.bars[:MOST_LINES]
    ]
    heads = ["table", "#cells", f"#± {word.counted} in a cell", "#of 100 misplaced", "#as a sample of"]
    printed("What was counted, worst first", heads, worst)
    say(f"{len(word.measured):,} pairs of columns were counted together, {len(word.unmeasured):,} were not.")
    return word


def holders_files(output: Path) -> tuple[Path, Path]:
    """Name the files that only the holder may see: a page and its figures."""
    page = output.with_name(f"{output.stem}.{MARK}{output.suffix or '.html'}")
    return page, page.with_suffix(".json")


def write_for_holder(found: "Inspection", page: Path, figures: Path, *, quiet: bool) -> None:
    """Write what the holder may see, readable for nobody else, and say so."""
    from entwined.report.inspection_page import inspection_page
    from entwined.synthetic.summing_up import sentences
    from entwined.writing import write_whole

    document = json.dumps(found.document, ensure_ascii=False, allow_nan=False, indent=1)
    for path, text in ((page, inspection_page(found)), (figures, document + "\n")):
        write_whole(path, text, only_owner=True)
    if quiet:
        return
    say(f"For the holder only, never to be published: {page} and {figures}.")
    for sentence in sentences(found):
        say(f"  {sentence}")
