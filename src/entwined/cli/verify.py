"""`entwined verify`: derive a certificate again, without any data."""

from pathlib import Path
from typing import Annotated

import typer

from entwined.cli.arguments import JsonOption
from entwined.cli.show import as_json, progress


def command(
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="A certificate that entwined wrote.")
    ],
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Check that a certificate is unchanged and that its bound follows from its inputs."""
    from entwined.bounds import verify
    from entwined.bounds.certificate import read_certificate

    with progress():
        verdict = verify(read_certificate(certificate), certificate.parent)
    if as_document:
        as_json({"valid": verdict.valid, "why": verdict.why})
    else:
        typer.echo(f"{'Valid' if verdict.valid else 'NOT valid'}. {verdict.why}")
    if not verdict.valid:
        raise typer.Exit(1)
