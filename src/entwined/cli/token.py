"""`entwined token`: who may ask a service, how much each may spend, and what was asked."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.cli.arguments import JsonOption
from entwined.cli.serve import Folder
from entwined.cli.show import as_json, say, table

if TYPE_CHECKING:
    from entwined.web.passes import Passes

app = typer.Typer(
    name="token", no_args_is_help=True, help="Who may ask a service, and how much each may spend."
)


@app.command("add")
def add(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    folder: Folder,
    analyst: Annotated[str, typer.Argument(metavar="ANALYST", help="The analyst's name.")],
    most: Annotated[
        str | None, typer.Option("--most", help="The most that this analyst's answers may leak in all.")
    ] = None,
    days: Annotated[float, typer.Option("--days", help="For how long it is good.")] = 90,
    scope: Annotated[
        list[str] | None, typer.Option("--scope", help="plan or ask; both if not given.")
    ] = None,
    tables: Annotated[list[str] | None, typer.Option("--table", help="For these tables alone.")] = None,
    issuer: Annotated[
        str | None,
        typer.Option("--issuer", help="Instead of a token: the issuer who vouches for the analyst."),
    ] = None,
    subject: Annotated[
        str | None, typer.Option("--subject", help="What that issuer calls the analyst.")
    ] = None,
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Make a token, which is shown once and kept nowhere; or take the tokens of an issuer for an analyst."""
    passes, good_for = (
        _passes(folder),
        {"scopes": tuple(scope or ("plan", "ask")), "tables": tuple(tables or ())},
    )
    if issuer is not None or subject is not None:
        known = passes.add_subject(analyst, issuer or "", subject or "", days=days, most=most, **good_for)
        as_json({"analyst": analyst, "id": known}) if as_document else say(f"Taken as {analyst}: {known}.")
        return
    made = passes.add(analyst, days=days, most=most, **good_for)
    if as_document:
        as_json({"analyst": analyst, "token": made})
        return
    say(made)


@app.command("list")
def show(folder: Folder, as_document: JsonOption = False) -> None:  # noqa: FBT002
    """List tokens by their ids, and what each analyst may spend."""
    listed = _passes(folder).listed()
    marks = {name: float(most) for name, most in listed.earmarks}
    if as_document:
        tokens = [
            {key: value for key, value in one.document.items() if key != "digest"} for one in listed.passes
        ]
        as_json({"tokens": tokens, "most": marks})
        return
    rows = [
        [
            one.id,
            one.analyst,
            f"{marks[one.analyst]:g}",
            ", ".join(one.scopes),
            ", ".join(one.tables) or "all",
            f"{one.expires:%Y-%m-%d %H:%M}",
            "good" if one.is_good else "ended",
        ]
        for one in listed.passes
    ]
    table("Tokens", ["id", "analyst", "#may spend", "for", "tables", "until (UTC)", "state"], rows)


@app.command("revoke")
def revoke(
    folder: Folder, name: Annotated[str, typer.Argument(metavar="ID or ANALYST", help="What to end.")]
) -> None:
    """End a token by its id, or all of an analyst; it is refused from the next request on."""
    say(f"Ended {_passes(folder).revoke(name)} that were good until now.")


@app.command("log")
def log(
    folder: Folder,
    last: Annotated[int, typer.Option("--last", min=1, max=1_000_000, help="How many lines.")] = 100,
    as_document: JsonOption = False,  # noqa: FBT002
) -> None:
    """Tell who asked what of the service, and how it was replied."""
    from entwined.web.house import RECORDS, STATE
    from entwined.web.records import Records

    path = folder / STATE / RECORDS
    lines = Records(path).logged(last) if path.exists() else []
    if as_document:
        as_json({"log": [one._asdict() for one in lines]})
        return
    rows = [[one.time, one.analyst, one.place, one.act, one.request, str(one.status)] for one in lines]
    table("Requests", ["time (UTC)", "analyst", "table", "act", "request", "#status"], rows)


def _passes(folder: Path) -> "Passes":
    from entwined.web.house import PASSES, STATE
    from entwined.web.passes import Passes

    return Passes(folder / STATE / PASSES)
