"""The `entwined` command and how its failures look."""

import sys
from typing import Annotated

import typer

from entwined.cli import bound, calibrate, describe, verify
from entwined.cli.show import fail
from entwined.errors import EntwinedError
from entwined.version import __version__

app = typer.Typer(
    name="entwined",
    help="Release statistics from rows and columns that depend on each other, and prove what they leak.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("bound")(bound.command)
app.command("calibrate")(calibrate.command)
app.command("verify")(verify.command)
app.command("describe")(describe.command)


def version_wanted(wanted: bool) -> None:  # noqa: FBT001  (typer hands options over by position)
    """Print the version and stop."""
    if wanted:
        typer.echo(f"entwined {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[  # noqa: FBT002
        bool, typer.Option("--version", callback=version_wanted, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Read the options that come before a command."""


def main() -> None:
    """Run the command; a refusal is one line on stderr, exit 1, and bad input the same with exit 2."""
    try:
        app()
    except EntwinedError as error:
        fail(str(error))
        sys.exit(error.exit_code)
    except MemoryError:
        fail("The model does not fit into memory. Split it, or describe it in a smaller form.")
        sys.exit(2)
    except KeyboardInterrupt:
        fail("Stopped.")
        sys.exit(130)
