"""`entwined budget`: what has been spent, what is left, and by whom; only the ledger is opened.

With `migrate`, `adopt` or `check` behind it, it keeps the ledger: see `cli.keeping`.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.canonical import Document
from entwined.cli import keeping, reserving, restoring
from entwined.cli.arguments import JsonOption, ledger_of
from entwined.cli.first_unnamed import FirstUnnamed
from entwined.cli.show import as_json, number, progress, say, table
from entwined.errors import BadInput, Refused
from entwined.writing import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from entwined.ledger import Book
    from entwined.promise.part import Part

USUAL = ("release.toml", "ledger.sqlite")
LAST = 10  # releases that are shown
COLUMNS = ("position", "time", "request", "analyst", "outcome", "asked", "queries", "nominal", "leakage")
LONGEST_ASKED = 60


class BudgetSeen(FirstUnnamed):
    """`entwined budget LEDGER` shows what has been spent."""

    first = "show"


app = typer.Typer(
    name="budget", cls=BudgetSeen, help="Tell what has been spent of the cap, and keep the ledger in order."
)
app.command("migrate")(keeping.migrate)
app.command("adopt")(keeping.adopt)
app.command("check")(keeping.check)
app.command("restore")(restoring.restore)
app.command("reserve")(reserving.reserve)


@app.command("show")
def command(
    place: Annotated[
        str | None,
        typer.Argument(metavar="[LEDGER or RELEASE.toml]", help="By default the one in this folder."),
    ] = None,
    as_document: JsonOption = False,  # noqa: FBT002
    export: Annotated[
        Path | None, typer.Option("--export", help="Write the history to this file, .csv or .json.")
    ] = None,
    what_if: Annotated[
        str | None,
        typer.Option("--what-if", metavar="LOSS", help="What if the release were made with this nominal ε?"),
    ] = None,
) -> None:
    """Tell what has been spent of the cap, what is left, and what was asked; `show` may be left out."""
    from entwined.ledger import Book

    given = _usual() if place is None else place
    ledger = ledger_of(given)
    with progress():
        book = Book(ledger)
        try:
            found = document(book, ledger)
        finally:
            book.close()
        if what_if is not None:
            found["what_if"] = supposed(given, found, what_if)
    if export is not None:
        exported(found["history"], export)
    if as_document:
        as_json(found)
    else:
        show(found)


def _usual() -> str:
    for name in USUAL:
        if Path(name).exists():
            return name
    raise BadInput(f"There is no {' and no '.join(USUAL)} here. Name a ledger or a release.toml.")


def document(book: "Book", ledger: str) -> Document:
    """Everything that a ledger says, as JSON."""
    from entwined.ledger.history import charge_documents, floats_of

    spent = book.spent()
    counted = _whole_series(book.promised(), spent.parts)
    return {
        "ledger": book.store.name if "://" in ledger else ledger,  # a URL may hold a password
        "cap": float(spent.cap),
        "spent": floats_of(spent.price),
        **counted,
        **_reserve_left(book.promised(), spent.parts),
        "left": max(float(spent.cap - spent.price.worst), 0.0),
        "calendar": [one.document | {"words": one.words} for one in spent.periods],
        "entries": spent.entries,
        "history": list(charge_documents(book)),
    }


def _whole_series(terms: Document, parts: "Iterable[Part]") -> Document:
    """Count the losses for a whole series of a panel, where the ledger is for one."""
    if not any(one.get("panel") for one in terms.get("models", ())):
        return {}
    from entwined.numbers import float_above
    from entwined.promise.panel import series_in_all

    whole = series_in_all(terms, parts)
    return {} if whole is None else {"series_in_all": float_above(whole)}


def _reserve_left(terms: Document, parts: "Iterable[Part]") -> Document:
    """Tell what is left of what was reserved for each column, where something was."""
    if "reserve" not in terms:
        return {}
    from entwined.promise.reserve import left_of

    return {
        "reserve": terms["reserve"],
        "reserve_left": {k: list(v) for k, v in left_of(terms, parts).items()},
    }


def supposed(place: str, found: Document, loss: str) -> Document:
    """Price what a request would add with another loss; without its models only an ε can be added up."""
    from entwined.numbers import positive_fraction

    exact = positive_fraction(loss, "Loss")
    if place.lower().endswith(".toml"):
        from entwined.request.bill import bill_of
        from entwined.request.funds import funds_of
        from entwined.request.request_file import read_request

        request = read_request(place)
        asked = request.asking(request.questions, None, exact)
        funds = funds_of(asked, bill_of(asked, asked.plan())).document
        return {"loss": float(exact), **{key: funds[key] for key in ("after", "left", "refused")}}
    if found["spent"]["leakage"]:
        raise Refused(
            "The cap of this ledger is on a leakage, and its models stand in a release.toml. Name that file."
        )
    after = found["spent"]["nominal"] + float(exact)
    over = after > found["cap"]
    return {
        "loss": float(exact),
        "after": {"nominal": after, "leakage": {}},
        "left": found["left"] if over else found["cap"] - after,
        "refused": f"The total would leak {after:.6g}, over the cap of {found['cap']:.6g}." if over else None,
    }


def exported(rows: list[Document], path: Path) -> None:
    """Write the history as CSV or JSON."""
    match path.suffix.lower():
        case ".json":
            write_whole(path, json.dumps(rows, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
        case ".csv":
            write_whole(path, _csv(rows))
        case other:
            raise BadInput(f"The history cannot be written as {other!r}. Name a file .csv or .json.")


def _csv(rows: list[Document]) -> str:
    import csv
    import io

    from entwined.writing import harmless

    text = io.StringIO(newline="")
    lines = csv.writer(text)
    lines.writerow(COLUMNS)
    for row in rows:
        given = [json.dumps(row[key]) if isinstance(row[key], dict | list) else row[key] for key in COLUMNS]
        lines.writerow([harmless(value) if isinstance(value, str) else value for value in given])
    return text.getvalue()


def show(found: Document) -> None:
    """Print the budget for people."""
    say(f"Ledger {found['ledger']}")
    worst = max(found["spent"]["leakage"].values(), default=found["spent"]["nominal"])
    say(f"  cap    {number(found['cap'])}")
    say(f"  spent  {number(worst)}   (nominal ε {number(found['spent']['nominal'])})")
    for name, amount in found["spent"]["leakage"].items():
        say(f"         {number(amount)} under {name}")
    if "series_in_all" in found:
        say(f"         {number(found['series_in_all'])} counted for a whole series, without the chain")
    say(f"  left   {number(found['left'])}")
    if found["history"] and "unguarded" in found["history"][-1]:
        say(f"WARNING: {found['history'][-1]['unguarded']}")
    for name, left in found.get("reserve_left", {}).items():
        least = "" if len(left) == 1 else f" at the step with least, {max(left):.1%} at the one with most"
        say(f"         {min(left):.1%} of what is reserved for {name}{least}")
    for one in found["calendar"]:
        say(f"         {one['words']}")
    if "what_if" in found:
        say(_if(found["what_if"]))
    last = found["history"][-LAST:]
    if last:
        say()
        rows = [
            [
                str(row["position"]),
                row["time"],
                row["analyst"],
                _asked(row["asked"])
                + (f" (again, after entry {row['again_after']})" if "again_after" in row else ""),
                row["outcome"],
                number(max(row["leakage"].values(), default=row["nominal"])),
            ]
            for row in last
        ]
        shown = f"The last {len(last)} of {len(found['history'])} charges"
        table(shown, ["#entry", "time", "analyst", "asked", "outcome", "#spent after"], rows)


def _asked(said: list[str]) -> str:
    """Say in a line what was asked."""
    first = said[0] if len(said[0]) <= LONGEST_ASKED else said[0][: LONGEST_ASKED - 1] + "…"
    return first if len(said) == 1 else f"{first} and {len(said) - 1} more"


def _if(supposed_: Document) -> str:
    if supposed_["refused"]:
        return f"With a loss of {number(supposed_['loss'])} it would be refused: {supposed_['refused']}"
    after = supposed_["after"]
    worst = max(after["leakage"].values(), default=after["nominal"])
    return (
        f"With a loss of {number(supposed_['loss'])} the total would be {number(worst)}, and "
        f"{number(supposed_['left'])} would be left."
    )
