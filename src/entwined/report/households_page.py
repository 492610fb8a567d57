"""Persons or households, compared on one page: what may be published, and beside it what only the holder may see."""

from entwined.mechanisms.sheet import Sheet
from entwined.report import charts
from entwined.report.drawings import Drawing
from entwined.report.inspection_page import FIRST_LINE
from entwined.report.page import rendered
from entwined.report.words import readable
from entwined.synthetic.household_comparison import CellNoise, HouseholdComparison, TableBothWays
from entwined.synthetic.household_rehearsal import RehearsedWays
from entwined.synthetic.inspection import WARNING
from entwined.synthetic.likeness import of_a_hundred

LONGEST = 60
NEVER = "cannot be told"
HEADS = ["table", "tables", "cells, at most", "deviation of a count"]


def households_page(found: HouseholdComparison) -> str:
    """Write one HTML file that needs nothing else; it follows from the schema and the noise alone."""
    by_person, by_household = found.tables
    return rendered(
        "households.html",
        many=False,
        title="Release persons, or households?",
        found=found,
        lines=[_line(one) for one in found.lines],
        odds=[[f"{one.odds:g}", f"{one.loss:.3g}", f"± {one.noise.half_width:,.3g}"] for one in found.odds],
        anything=[f"{found.loss_of_a_person:.3g}", _near(found.lines[0].persons)],
        drawn=_drawn(found),
        heads=HEADS,
        persons=_shown(by_person.expected()),
        households=_shown(by_household.expected()),
    )


def rehearsal_page(found: RehearsedWays) -> str:
    """Write what was measured beside the real rows, for their holder alone."""
    rows = [
        [readable(one.title, LONGEST), *(NEVER if far is None else of_a_hundred(far) for far in one[1:])]
        for one in found.found
    ]
    page = rendered(
        "households_rehearsed.html",
        many=False,
        title="Persons or households: rehearsed on the rows themselves",
        warning=WARNING,
        found=found,
        rows=rows,
    )
    return FIRST_LINE + page


def _shown(sheet: Sheet) -> list[list[str]]:
    """The first columns of what is expected: the table, how many, how many cells, and the deviation of a count."""
    return [
        [readable(str(title), LONGEST), f"{many:,}", f"{cells:,}", f"{float(deviation or 0):,.3g}"]
        for title, many, cells, deviation, *_ in sheet.rows
    ]


def _line(one: TableBothWays) -> list[str]:
    moved = [None if noise is None else noise.misplaced(one.cells) for noise in (one.persons, one.households)]
    return [
        readable(one.title, LONGEST),
        f"{one.cells:,}",
        *(NEVER if noise is None else _near(noise) for noise in (one.persons, one.households)),
        *("–" if many is None else f"{many:,.3g}" for many in moved),
    ]


def _near(noise: CellNoise | None) -> str:
    return NEVER if noise is None else f"± {noise.half_width:,.3g}"


def _drawn(found: HouseholdComparison) -> Drawing:
    told = [
        (f"{readable(one.title, LONGEST)}, {way}", noise.half_width)
        for one in found.lines
        for way, noise in (("persons", one.persons), ("households", one.households))
        if noise is not None
    ]
    labels = charts.labelled([title for title, _ in told])
    rows = [{"label": label, "value": value} for label, (_, value) in zip(labels, told, strict=True)]
    caption = "How near the truth of one cell is in 95 cases of 100, by noise alone, each table asked for by itself."
    return Drawing(charts.bars(rows, "± in one cell, by noise alone"), caption)
