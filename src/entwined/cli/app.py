"""The `entwined` command and how its failures look."""

import gc
import sys
from collections.abc import Callable
from functools import cache
from typing import Annotated

import typer
from typer.main import get_command

from entwined.cli import (
    approve,
    attack,
    audit,
    bound,
    budget,
    calibrate,
    demo,
    describe,
    households,
    init,
    inspect,
    key,
    learn_what,
    paper,
    plan,
    release,
    serve,
    sql,
    stream,
    survey,
    synth,
    token,
    verify,
)
from entwined.cli.show import fail
from entwined.errors import EntwinedError
from entwined.version import __version__
from entwined.writing import why_not

MANY = 100_000  # objects between two collections
UNFORESEEN = 70  # the exit code of a defect of ours, as sysexits.h has it

app = typer.Typer(
    name="entwined",
    help="Release statistics from rows and columns that depend on each other, and prove what they leak.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.command)
app.command("init")(init.command)
app.command("describe")(describe.command)
app.command("approve")(approve.command)
app.command("plan")(plan.command)
app.command("release")(release.command)
app.command("sql")(sql.command)
app.command("stream")(stream.command)
app.add_typer(budget.app)
app.command("verify")(verify.command)
app.add_typer(key.app)
app.add_typer(learn_what.app)
app.add_typer(survey.app)
app.command("synth")(synth.command)
app.command("households")(households.command)
app.command("inspect")(inspect.command)
app.command("bound")(bound.command)
app.command("calibrate")(calibrate.command)
app.command("attack")(attack.command)
app.command("audit")(audit.command)
app.command("paper")(paper.command)
app.command("serve")(serve.command)
app.add_typer(token.app)


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


@cache
def built() -> Callable[[], object]:
    """Build the command, which takes longer than to read its arguments, once for all runs of a process."""
    return get_command(app)


def main() -> None:
    """Run the command; a refusal is one line on stderr, exit 1, and bad input the same with exit 2."""
    gc.set_threshold(MANY)  # what is imported stays, so looking for garbage meanwhile is a waste
    try:
        built()()
    except EntwinedError as error:
        fail(str(error))
        sys.exit(error.exit_code)
    except OSError as error:
        fail(f"{str(error.filename)[:200]} cannot be used: {why_not(error)}")
        sys.exit(2)
    except MemoryError:
        fail("The model does not fit into memory. Split it, or describe it in a smaller form.")
        sys.exit(2)
    except KeyboardInterrupt:
        fail("Stopped.")
        sys.exit(130)
    except Exception as unforeseen:  # noqa: BLE001  (the last resort: no traceback, which may quote rows)
        fail(unforeseen_words(unforeseen))
        sys.exit(UNFORESEEN)


def unforeseen_words(error: Exception) -> str:
    """Say where a defect of entwined showed, for a report; nothing of the error's own text, which may quote rows."""
    frame, place = error.__traceback__, ""
    while frame is not None:
        name = frame.tb_frame.f_globals.get("__name__", "")
        if name.startswith("entwined"):
            place = f"{name}:{frame.tb_lineno}"
        frame = frame.tb_next
    return (
        f"This is a defect of entwined {__version__}: {type(error).__name__} at {place}. Please report this line with "
        "the command, without any rows. Charges in the ledger stand: see `entwined budget`."
    )
