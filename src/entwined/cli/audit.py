"""`entwined audit`: run a release's mechanism many times on two made-up neighbouring tables, and test its claim."""

from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.arguments import JsonOption, RequestFile
from entwined.cli.show import about, as_json, progress, say, table

if TYPE_CHECKING:
    from entwined.audit.rehearsal import ReleaseAudit


def command(
    request_file: RequestFile,
    samples: Annotated[
        int | None, typer.Option("--samples", help="How often the release is run on each table.")
    ] = None,
    false_alarm: Annotated[
        float,
        typer.Option("--false-alarm", help="The chance that a release that keeps its claim is accused."),
    ] = 1e-4,
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Test by samples that a release shows no more than it claims; nothing is charged and no row is read."""
    from entwined.audit.rehearsal import audit_batch
    from entwined.request.request_file import read_request

    with progress():
        request = read_request(request_file)
        request.require_queries("audited")
        found = audit_batch(request.plan(), samples=samples, false_alarm=false_alarm)
    if as_document:
        as_json(found.document)
    else:
        show(found)
    if found.refuted:
        raise typer.Exit(1)


def show(found: "ReleaseAudit") -> None:
    """Print the audit for people."""
    say(
        f"{found.samples:,} runs on each of two made-up tables that differ in one unit. Chance of a false alarm: "
        f"{about(2 * found.found.false_alarm)}."
    )
    at = f" at δ = {about(found.delta)}" if found.delta else ""
    rows = [
        ["this release", about(found.found.epsilon), about(found.claimed), about(found.deviations.mu)],
        ["one table twice (control)", about(found.control.epsilon), "0", "–"],
        ["noise × 0.8 (planted)", about(found.planted.epsilon), "–", about(found.planted_deviations.mu)],
    ]
    rows[0].append(about(found.claimed_mu))
    for row in rows[1:]:
        row.append("–")
    table(
        "What the samples prove",
        ["what was run", f"#ε is at least{at}", "#claimed", "#μ is at least", "#claimed"],
        rows,
    )
    say(
        "REFUTED: it shows more than it claims."
        if found.refuted
        else "Not refuted: nothing shows more than is claimed."
    )
    caught = "is caught" if found.catches_planted else "is NOT caught: take more samples to learn more"
    say(f"The planted bug, noise of four fifths the scale, {caught}.")
