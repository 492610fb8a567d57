"""Which chart suits a statistic: bars, dots, a line in its band, tiles, or none if there is too much to see."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from entwined.canonical import Document
from entwined.report import charts
from entwined.report.findings import Cell, Finding, side_names
from entwined.report.scales import seconds
from entwined.report.words import readable
from entwined.schema import Moment

MOST_BARS: Final = 40
MOST_STEPS: Final = 2_000
MOST_TILES: Final = (40, 25)
FEW_STEPS: Final = 30


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart as SVG, with how to read it."""

    svg: str
    caption: str


def drawing_of(finding: Finding) -> Drawing | None:
    """Draw a statistic, if it can be seen at a glance."""
    if finding.size == 1:
        return _single(finding)
    if suits_bars(finding):
        return _bars(finding)
    if finding.is_ordered and finding.size <= MOST_STEPS:
        return _along(finding)
    if len(finding.axes) == len(MOST_TILES):
        return _tiles(finding)
    return None


def suits_bars(finding: Finding) -> bool:
    """Say whether every number can have a bar of its own."""
    return finding.size <= (FEW_STEPS if finding.is_ordered else MOST_BARS)


def _single(finding: Finding) -> Drawing | None:
    (cell,) = finding.cells()
    if cell.low is None:
        return None
    dated = isinstance(cell.value, datetime)
    chart = charts.dots(_rows([cell], [finding.name]), _unit(finding), dated=dated)
    return Drawing(chart, "The dot is the released number, the whisker its 95 % interval.")


def _bars(finding: Finding) -> Drawing:
    cells = list(finding.cells())
    rows = _rows(cells, [cell.name for cell in cells])
    if isinstance(cells[0].value, datetime):
        chart = charts.dots(rows, _unit(finding), dated=True)
        return Drawing(chart, "Dots are the released times, whiskers their 95 % intervals.")
    chart = charts.bars(rows, _unit(finding))
    return Drawing(chart, "Bars are the released numbers, whiskers their 95 % intervals.")


def _along(finding: Finding) -> Drawing:
    """Draw cells in their order; a cell for missing values has no place there."""
    (axis,) = finding.axes
    column = finding.schema.coded(axis.column)
    starts = [column.value(code) for code in axis.starts]
    rows = [_row(cell) | {"at": _number(start)} for start, cell in zip(starts, finding.cells(), strict=False)]
    side = readable(finding.titled(axis.title), 60)
    chart = charts.line(rows, side, _unit(finding), dated=isinstance(column, Moment))
    left_out = " Missing values are in the table only." if axis.keeps_missing else ""
    return Drawing(chart, f"The line is the released number, the band its 95 % interval.{left_out}")


def _tiles(finding: Finding) -> Drawing | None:
    down, across = ([name for name, _ in side_names(axis, finding.schema)] for axis in finding.axes)
    if len(down) > MOST_TILES[0] or len(across) > MOST_TILES[1]:
        return None
    first, second = (readable(finding.titled(side), 60) for side in finding.sides)
    values = [_number(cell.value) for cell in finding.cells()]
    return Drawing(
        charts.heat(down, across, values, _unit(finding)),
        f"Darker tiles are larger numbers, {first} down and {second} across; the intervals are in the table.",
    )


def _unit(finding: Finding) -> str:
    return readable(finding.unit, 60)


def _rows(cells: Sequence[Cell], names: Sequence[str]) -> list[Document]:
    return [_row(cell) | {"label": label} for cell, label in zip(cells, charts.labelled(names), strict=True)]


def _row(cell: Cell) -> Document:
    ends = {"value": cell.value, "low": cell.low, "high": cell.high}
    return {end: _number(number) for end, number in ends.items() if number is not None}


def _number(value: Any) -> float:
    return seconds(value) if isinstance(value, datetime) else float(value)
