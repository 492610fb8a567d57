"""`entwined verify`: derive a certificate again, without any data."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entwined.cli.arguments import JsonOption
from entwined.cli.show import as_json, progress, say
from entwined.errors import BadCertificate

if TYPE_CHECKING:
    from entwined.bounds import Verdict

OF_RELEASE = "entwined release certificate 1"
SCHEMA = "schema.toml"


def command(
    certificate: Annotated[
        Path, typer.Argument(metavar="CERTIFICATE", help="A certificate that entwined wrote.", readable=False)
    ],
    as_document: JsonOption = False,  # noqa: FBT002
    schema: Annotated[
        Path | None,
        typer.Option("--schema", help=f"The schema of a release; by default the {SCHEMA} beside it."),
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option("--models", help="Where edge files that models name are; by default beside it."),
    ] = None,
) -> None:
    """Check that a certificate is unchanged and that its bound follows from its inputs."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # starting threads would take longer than they save
    from entwined.bounds import verify
    from entwined.bounds.certificate import read_certificate

    if certificate.exists() and not (certificate.is_file() or certificate.is_dir()):
        raise BadCertificate(f"{certificate} is a pipe or a device. Give the path of a certificate.")
    with progress():
        document = read_certificate(certificate)
        folder = certificate.parent if models is None else models
        if isinstance(document, dict) and document.get("format") == OF_RELEASE:
            verdict = of_release(document, schema or certificate.parent / SCHEMA, folder)
        else:
            verdict = verify(document, folder)
    if as_document:
        as_json({"valid": verdict.valid, "why": verdict.why})
    else:
        say(f"{'Valid' if verdict.valid else 'NOT valid'}. {verdict.why}")
    if not verdict.valid:
        raise typer.Exit(1)


def of_release(document: dict[str, Any], schema: Path, folder: Path) -> "Verdict":
    """Derive the certificate of a release, which rests on its schema."""
    from entwined.release import verify
    from entwined.schema import read_schema

    if not schema.exists():
        raise BadCertificate(
            f"The certificate is of a release, and its schema is not at {schema}. Name it with --schema."
        )
    return verify(document, read_schema(schema), folder)
