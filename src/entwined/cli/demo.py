"""`entwined demo`: the whole path on a real survey, in a folder that stays for play."""

import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from entwined.cli import approve, budget, plan, release, verify
from entwined.cli.show import say
from entwined.errors import BadInput

MARK = ".entwined-demo"


def command(
    folder: Annotated[Path, typer.Argument(help="Where to lay it out.")] = Path("demo"),
) -> None:
    """Go the whole path on a real survey: schema, plan, release, report, verification."""
    from entwined.demo import write_demo

    refuse_others(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARK).touch()
    write_demo(folder)
    request, schema, output = folder / "release.toml", folder / "schema.toml", folder / "out"
    if output.exists():
        shutil.rmtree(output)  # the demo's own; the ledger remembers what was released
    say("A survey of 944 voters, its schema, a model of who influences whom, and a request are in")
    say(f"{folder}. This is what happens next; nothing but the release itself spends anything.")
    step(f"entwined approve {schema} --yes")
    approve.command(schema, yes=True)
    step(f"entwined plan {request}")
    plan.command(request)
    step(f"entwined release {request} -o {output} --yes")
    release.command(request, output, yes=True)
    step(f"entwined verify {output / 'certificate.json'}")
    verify.command([output / "certificate.json"])
    step(f"entwined budget {request}")
    budget.command(str(request))
    say()
    say(f"Open {output / 'report.html'} in a browser. Then change {request} and plan again.")


def refuse_others(folder: Path) -> None:
    """Refuse a folder with files of others: what stands there would be approved, released and overwritten."""
    if (folder / MARK).is_file():
        return
    try:
        empty = not any(folder.iterdir())
    except FileNotFoundError:
        return
    except (OSError, ValueError):
        empty = False
    if not empty:
        raise BadInput(f"{folder!s:.200} is not empty and not of a demo before. Name a new folder.")


def step(line: str) -> None:
    """Show a command as it would be typed."""
    say()
    say(f"$ {line}")
    sys.stdout.flush()
