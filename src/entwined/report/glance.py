"""What is seen of a value at a glance: a caption, a few lines, a chart and notes, however large the value is.

`glance(value)` is told for each kind of value in `glances_of_bounds`, `glances_of_data` and `glances_of_releases`;
text, HTML, frames and charts are all made of it, so that they say the same.
"""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from entwined.errors import BadInput
from entwined.report import charts
from entwined.report.drawings import Drawing
from entwined.report.page import rendered
from entwined.report.words import figure, number, readable
from entwined.writing import write_whole

if TYPE_CHECKING:
    import pyarrow as pa

MOST_LINES: Final = 20
MOST_BARS: Final = 12
LONGEST_TEXT: Final = 1_900
LONGEST_HTML: Final = 29_000
LONGEST_CELL: Final = 160
LONGEST_NOTE: Final = 320
MOST_NOTES: Final = 6
LEFT_OUT: Final = "  … and more lines"
FRAMES: Final = ("pandas", "polars")


class Spelled(NamedTuple):
    """A number with how it is written where that is not the usual way."""

    value: object
    text: str


class Dot(NamedTuple):
    """One bar of a chart, with its interval if it has one."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Glance:
    """What is seen of a value.

    `columns` hold the first lines, `lines` says how many there are, and `whole` gives all of them as a frame; without
    it the columns are all. `alarms` stand first, `notes` last, and the `bars` measure `axis`.
    """

    caption: str
    columns: Mapping[str, Sequence[object]]
    lines: int | None = None
    whole: "Callable[[], pa.Table] | None" = None
    alarms: Sequence[str] = ()
    notes: Sequence[str] = ()
    bars: Sequence[Dot] = ()
    axis: str = ""

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The first lines, written."""
        return [
            tuple(map(written, row)) for row in islice(zip(*self.columns.values(), strict=True), MOST_LINES)
        ]

    @property
    def more(self) -> int:
        """How many lines are left out."""
        there = max(map(len, self.columns.values()), default=0) if self.lines is None else self.lines
        return max(there - len(self.rows), 0)

    @property
    def left_out(self) -> list[str]:
        """Say how many lines are left out, if some are."""
        return [f"… and {self.more:,} lines more"] if self.more else []

    @property
    def said(self) -> list[str]:
        """The notes, the first few."""
        cut = [f"… and {len(self.notes) - MOST_NOTES} notes more"] if len(self.notes) > MOST_NOTES else []
        return [*(readable(note, LONGEST_NOTE) for note in self.notes[:MOST_NOTES]), *cut]


@singledispatch
def glance(shown: object) -> Glance:
    """See what a value shows; each kind of value is told apart once, where its glance is made."""
    raise TypeError(f"A {type(shown).__name__} has no table. Give a release, a plan, a bound, a calibration.")


def written(value: object) -> str:
    """Write one value of a table: leakages are rounded up."""
    match value:
        case Spelled(text=text):
            return text
        case None:
            return "–"
        case bool():
            return "yes" if value else "no"
        case int():
            return number(value)
        case float():
            return figure(value, up=True)
    return readable(value, LONGEST_CELL)


def to_text(shown: object) -> str:
    """Show a value as a few lines of text."""
    seen = glance(shown)
    head = [*(readable(alarm, LONGEST_NOTE) for alarm in seen.alarms), readable(seen.caption, LONGEST_NOTE)]
    rows = _aligned([row for row in seen.rows if any(row)])
    tail = [*_indented(seen.left_out), *seen.said]
    while rows and len("\n".join([*head, *rows, *tail])) > LONGEST_TEXT:
        rows, tail = rows[:-1], [LEFT_OUT, *(tail[1:] if tail[:1] == [LEFT_OUT] else tail[bool(seen.more) :])]
    return "\n".join([*head, *rows, *tail])[:LONGEST_TEXT]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    cut = [tuple(readable(text, LONGEST_CELL // 2) for text in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*cut, strict=True)]
    return _indented(
        [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in cut
        ]
    )


def to_html(shown: object) -> str:
    """Show a value as a small HTML table with its chart, which needs no network."""
    seen = glance(shown)
    drawn = _svg(seen) if len(seen.bars) > 1 or any(map(_ends, seen.bars)) else ""  # a dot alone says nothing
    pages = [_html(seen, seen.rows, drawn), _html(seen, seen.rows, ""), _html(seen, [], "")]
    return next((page for page in pages if len(page) <= LONGEST_HTML), pages[-1])


def _html(seen: Glance, rows: list[tuple[str, ...]], svg: str) -> str:
    return rendered(
        "table.html",
        caption=readable(seen.caption, LONGEST_NOTE),
        alarms=[readable(alarm, LONGEST_NOTE) for alarm in seen.alarms],
        headings=tuple(map(readable, seen.columns)),
        rows=rows,
        left_out=seen.left_out,
        notes=seen.said,
        drawing=Drawing(svg, seen.axis) if svg else None,
    )


def to_arrow(shown: object) -> "pa.Table":
    """Give all lines of a value as an Arrow table."""
    seen = glance(shown)
    return tabled(seen.columns) if seen.whole is None else seen.whole()


def tabled(columns: Mapping[str, Sequence[object]]) -> "pa.Table":
    """Give columns as an Arrow table."""
    import pyarrow as pa

    bare = {
        name: [cell.value if isinstance(cell, Spelled) else cell for cell in cells]
        for name, cells in columns.items()
    }
    return pa.table({name: _one_kind(cells) for name, cells in bare.items()})


def _one_kind(cells: list[Any]) -> list[Any]:
    """Keep numbers where all are numbers, else write texts."""
    numbers = all(cell is None or isinstance(cell, int | float | bool) for cell in cells)
    return (
        cells
        if numbers
        else [None if cell is None else cell if isinstance(cell, str) else written(cell) for cell in cells]
    )


def to_frame(shown: object) -> Any:
    """Give all lines as a frame of the first library that is installed, else as an Arrow table."""
    table = to_arrow(shown)
    for library in FRAMES:
        if importlib.util.find_spec(library) is not None:
            return _into(library, table)
    return table


def _into(library: str, table: Any) -> Any:
    if library == "pandas":
        return table.to_pandas()
    from polars import from_arrow

    return from_arrow(table)


@dataclass(frozen=True, slots=True, repr=False)
class Picture:
    """A chart as SVG, as a notebook shows it."""

    svg: str

    def __repr__(self) -> str:
        """Say what it is."""
        return f"<chart of {len(self.svg):,} letters; .write(path) keeps it>"

    def _repr_svg_(self) -> str:
        """Show it in a notebook."""
        return self.svg

    def write(self, path: str | Path) -> None:
        """Keep it in a file."""
        write_whole(Path(path), self.svg)


def to_picture(shown: object) -> Picture:
    """Draw the chart of a value, or say why there is none."""
    seen = glance(shown)
    if not seen.bars:
        raise BadInput(f"A {type(shown).__name__} such as this one has no chart. Look at its .table().")
    return Picture(_svg(seen).replace("<svg", '<svg style="max-width: 34em"', 1))


def _svg(seen: Glance) -> str:
    bars = seen.bars[:MOST_BARS]
    rows = [
        {"label": label, "value": bar.value, "said": written(bar.value), "kept": "yes"} | _ends(bar)
        for label, bar in zip(charts.labelled([bar.label for bar in bars]), bars, strict=True)
    ]
    draw = charts.bars if any(map(_ends, bars)) else charts.spread
    return draw(rows, seen.axis)


def _ends(bar: Dot) -> dict[str, float]:
    return {} if bar.low is None or bar.high is None else {"low": bar.low, "high": bar.high}
