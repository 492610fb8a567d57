"""The minimum of units that have a value before a proposal shows it: raised for all columns, lowered one by one."""

from typing import Annotated

import typer

from entwined.cli.arguments import ask
from entwined.errors import BadInput

MinUnitsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--min-units",
        metavar="N|COLUMN=N",
        help="Propose no value that fewer persons or rows have (10). Lower it for one column: --min-units town=5.",
    ),
]
UnitOption = Annotated[
    str | None,
    typer.Option("--unit", help="The column that names persons or households: values are counted by them."),
]


def minimum_of(given: list[str] | None, *, yes: bool) -> tuple[int, dict[str, int]]:
    """Read the minimum for all columns and for some, and ask about every column whose minimum is lowered."""
    from entwined.tables.units import MIN_UNITS, MinimumUnits

    everywhere, by_column = MIN_UNITS, {}
    for text in given or ():
        column, equals, number = text.rpartition("=")
        if not number.strip().isdecimal() or len(number) > 9:  # noqa: PLR2004  (more than any minimum)
            raise BadInput(f"--min-units {text!r:.60}: give a whole number, or COLUMN=5 for one column.")
        if equals:
            by_column[column] = int(number)
        else:
            everywhere = int(number)
    minimum = MinimumUnits(everywhere, by_column)
    for column, least in () if yes else minimum.lowered.items():
        ask(
            f"The proposal may then show values of {column!r:.60} that only {least} persons or rows have. Is that so?"
        )
    return everywhere, by_column
