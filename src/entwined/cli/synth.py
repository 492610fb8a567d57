"""`entwined synth`: describe a table under a budget, and make up rows from the description, as many as wanted."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entwined.canonical import Document
from entwined.cli.arguments import DeltaOption, JsonOption, KeyFile, ReceiptOption, YesOption
from entwined.cli.household_options import (
    ChildOption,
    HeadOption,
    HouseholdOption,
    HouseholdWish,
    LargestOption,
    PartnerOption,
    RoleOption,
    SharedOption,
    YoungerOption,
)
from entwined.cli.release import OutputOption, confirm_price, outputs, show_computed, spent
from entwined.cli.show import as_json, progress, say
from entwined.errors import BadInput

if TYPE_CHECKING:
    from entwined.report.synthetic_folder import WantedRows
    from entwined.request.computed import Computed
    from entwined.request.request import Request
    from entwined.request.tasks import Task
    from entwined.synthetic.reading import Making

RANDOM = "random"
MOST_COPIES = 1000

Source = Annotated[
    str,  # a path would take a stroke out of postgresql://
    typer.Argument(
        metavar="SOURCE",
        help="A release.toml, a table (with --schema, --ledger and --cap), a description.json that was written before, "
        "or with --mode random a schema.",
    ),
]
ModeOption = Annotated[
    str | None, typer.Option("--mode", help="adaptive (usual), correlated, independent or random.")
]
RowsOption = Annotated[
    int | None, typer.Option("--rows", help="How many rows; about as many as there are, unless given.")
]
LeakageOption = Annotated[str | None, typer.Option("--leakage", help="The most that it may leak.")]
LossOption = Annotated[str | None, typer.Option("--loss", help="Its nominal ε, instead of a leakage.")]
SchemaOption = Annotated[
    Path | None, typer.Option("--schema", help="The schema of a table, or of a description.")
]
LedgerOption = Annotated[str | None, typer.Option("--ledger", help="The ledger of a table.")]
CapOption = Annotated[str | None, typer.Option("--cap", help="The most that a new ledger may leak.")]
CopiesOption = Annotated[int, typer.Option("--copies", help="How many tables of so many rows.")]
FormatOption = Annotated[
    list[str] | None, typer.Option("--format", help="csv or parquet; repeat it for both. Usually both.")
]


def command(  # noqa: PLR0913, PLR0917  (options of a command are named, not counted)
    source: Source,
    output: OutputOption,
    mode: ModeOption = None,
    leakage: LeakageOption = None,
    loss: LossOption = None,
    rows: RowsOption = None,
    copies: CopiesOption = 1,
    format_names: FormatOption = None,
    schema_file: SchemaOption = None,
    ledger: LedgerOption = None,
    cap: CapOption = None,
    delta: DeltaOption = None,
    household: HouseholdOption = None,
    largest: LargestOption = None,
    role: RoleOption = None,
    head: HeadOption = None,
    partner: PartnerOption = None,
    child: ChildOption = None,
    shared: SharedOption = None,
    younger: YoungerOption = None,
    receipt: ReceiptOption = None,
    key_file: KeyFile = None,
    as_document: JsonOption = False,  # noqa: FBT002
    yes: YesOption = False,  # noqa: FBT002
) -> None:
    """Make up rows that are like a table's: described once under a budget, generated as often as wanted."""
    wanted = _wanted(output, rows, copies, format_names)
    if mode == RANDOM:
        _at_random(Path(source), output, wanted, as_document=as_document)
    elif Path(source).suffix == ".json":
        _again(Path(source), schema_file, output, wanted, as_document=as_document)
    else:
        lists = {"head": head, "partner": partner, "child": child, "shared": shared}
        wish = _Wish(mode, HouseholdWish(household, largest, role, lists, younger), (leakage, loss))
        with progress():
            request = wish.request(source, (schema_file, ledger, cap, delta))
        _described(request, output, wanted, key_file, receipt, as_document=as_document, yes=yes)


def _wanted(output: Path, rows: int | None, copies: int, formats: Sequence[str] | None) -> "WantedRows":
    """Say what is to be written; refuse copies that nobody wants, and a folder that is not free."""
    from entwined.report import require_free
    from entwined.report.synthetic_folder import WantedRows

    if not 1 <= copies <= MOST_COPIES:
        raise BadInput(f"--copies {copies}. Give 1 to {MOST_COPIES:,}.")
    require_free(output)
    return WantedRows(rows, copies, tuple(formats or ("csv", "parquet")))


def _at_random(source: Path, output: Path, wanted: "WantedRows", *, as_document: bool) -> None:
    """Write rows of the declared types; nothing is read and nothing charged."""
    from entwined.schema import read_schema
    from entwined.synthetic import MadeUpRows

    public = read_schema(source)
    usual = 1000 if public.rows is None else public.rows
    _written(
        output,
        wanted,
        lambda many: MadeUpRows(public, usual if many is None else many),
        as_document=as_document,
    )


def _again(
    source: Path, schema_file: Path | None, output: Path, wanted: "WantedRows", *, as_document: bool
) -> None:
    """Write more rows of a description: it was paid for."""
    from entwined.synthetic.reading import making, read_synthetic

    with progress():
        found = read_synthetic(source, schema_file)
    _written(output, wanted, making(found), as_document=as_document)


def _written(output: Path, wanted: "WantedRows", made: "Making", *, as_document: bool) -> None:
    from entwined.report.folder import write_files

    def fill(draft: Path) -> list[str]:
        wanted.write(draft, made)
        return []

    with progress():
        files = write_files(output, fill)
    names = [path.name for path in files]
    if as_document:
        as_json({"folder": str(output), "files": names, "charged": 0})
    else:
        say(f"Made up {', '.join(names)} in {output}. Nothing was read and nothing was charged.")


class _Wish:
    """What is asked for by options: a mode or households, and what they may cost."""

    def __init__(
        self, mode: str | None, homes: HouseholdWish, amounts: tuple[str | None, str | None]
    ) -> None:
        if mode is not None and homes.is_given:
            raise BadInput("Households have a mode of their own. Leave --mode out.")
        self.about = homes.fields if homes.is_given else {} if mode is None else {"mode": mode}
        self.homes, self.amounts = homes, amounts

    def request(
        self, source: str, terms: tuple[Path | None, str | None, str | None, str | None]
    ) -> "Request":
        """Read what is to be described: a release file, or a table with its terms."""
        from entwined.request.request_file import read_with_task

        if Path(source).suffix == ".toml":
            return self.homes.protecting(read_with_task(Path(source), self.task))
        return self.homes.protecting(_of_table(source, self.task(()), terms))

    def task(self, given: "Sequence[Task]") -> "Task":
        """Take the description that a file asks for, changed as options say, or the usual one."""
        from entwined.mechanisms.households.household_tables import HouseholdTables
        from entwined.mechanisms.marginals.synthesis import Synthesis
        from entwined.numbers import positive_fraction
        from entwined.request.tasks import Task
        from entwined.synthetic.description import NAME

        leakage, loss = (
            None if one is None else positive_fraction(one, name)
            for one, name in zip(self.amounts, ("Leakage", "Loss"), strict=True)
        )
        usual = HouseholdTables if self.homes.is_given else Synthesis
        for one in given:
            if one.kind is usual or (one.kind is HouseholdTables and not self.about):
                mine = (one.leakage, one.loss) if leakage is None and loss is None else (leakage, loss)
                about = {**one.given, **self.about}
                return replace(one, name=NAME, given=about, leakage=mine[0], loss=mine[1])
        if leakage is None and loss is None:
            raise BadInput(
                "Nothing says how much a synthetic table may leak. Give --leakage 1, or a [[mechanism]] of kind "
                f"{usual.kind}."
            )
        return Task(NAME, usual, self.about, leakage, loss)


def _of_table(
    source: str, task: "Task", terms: tuple[Path | None, str | None, str | None, str | None]
) -> "Request":
    """Describe a table without a release file."""
    from entwined.numbers import positive_fraction
    from entwined.request.request import Request
    from entwined.schema import read_schema

    schema, ledger, cap, delta = terms
    if schema is None or ledger is None:
        raise BadInput(f"{source:.200} is taken for a table. Give its --schema and --ledger with it.")
    return Request(
        table=source,
        schema=read_schema(schema),
        ledger=ledger,
        questions=(),
        cap=None if cap is None else positive_fraction(cap, "Cap"),
        delta=None if delta is None else positive_fraction(delta, "δ"),
        tasks=(task,),
    )


def _described(  # noqa: PLR0913  (all that goes into a folder)
    request: "Request",
    output: Path,
    wanted: "WantedRows",
    key_file: Path | None,
    receipt: str | None,
    *,
    as_document: bool,
    yes: bool,
) -> None:
    """Charge, describe, make up rows, and write both with their certificate."""
    from entwined.report import require_free
    from entwined.report.synthetic_folder import describe_into
    from entwined.request.bill import bill_of
    from entwined.request.tasks_outlook import tasks_outlook
    from entwined.signing import Key

    key = None if key_file is None else Key.read(key_file)
    require_free(output, [one.model for one in request.dependence])
    with progress():
        ahead = tasks_outlook(request)
    foreseen = ahead.document["mechanisms"][0]["expected"]
    if not as_document:
        for note in foreseen["notes"]:
            say(note)
    confirm_price(bill_of(request), ahead.funds, yes=yes)
    with progress():
        files, done = describe_into(output, ahead, wanted, key, receipt)
    names = [path.name for path in files]
    _told(output, names, done, foreseen.get("relations"), as_document=as_document)


def _told(
    output: Path, names: list[str], done: "Computed", relations: Document | None, *, as_document: bool
) -> None:
    """Say what was written, what it cost, and how to go on."""
    if as_document:
        there = {"folder": str(output), "files": names, "outputs": outputs(done.found)}
        as_json({**there, "relations": relations, "budget": done.funds.document})
        return
    show_computed(done.found)
    say(f"Made up a synthetic table in {output}: {', '.join(names)}.")
    say(spent(done.funds.document, stored=done.was_stored))
    say(f"receipt {done.funds.receipt}")
    say(f"Check the promise with: entwined verify {output / 'description.json'}")
    say(f"More rows cost nothing: entwined synth {output / 'description.json'} -o FOLDER --rows N")
