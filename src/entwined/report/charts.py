"""Charts, drawn once as SVG through Vega: they print, scale and stay readable without any script.

Every field has a name of ours and every text has been made readable, so no column, category or title can be
taken for a Vega expression or for markup. Space for labels is measured by the widest usual font: which one
the reader has is not known here.
"""

import importlib.util
import textwrap
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.report.words import readable

if TYPE_CHECKING:
    import altair as alt

INK: Final = "#22303c"
FAINT: Final = "#d9dee3"
OURS: Final = "#2a6592"
OVER: Final = "#b3541e"
WIDTH: Final = 430
STEP: Final = 27
DENSE: Final = 20
FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
FONT_SIZE: Final = 12.5
LETTER: Final = 0.62 * FONT_SIZE
LINE: Final = 23
MANY: Final = 14
LINES: Final = 2
LONG_LINE: Final = 29
LARGE: Final = 100_000
FAR: Final = 12
SHORT: Final = 2  # letters that fit over the narrowest tile
SAID: Final = 56  # room for a figure after the longest bar
OWN_LINES: Final = "slice(split(datum.label, '\\n'), 1)"  # a label starts with its number, so that all differ

MOST_KNOWN: Final = 64  # looks of charts that are remembered

Rows: TypeAlias = Sequence[Mapping[str, Any]]


def no_charts() -> str:
    """Say what is lacking to draw charts and how to install it, or nothing."""
    lacking = [name for name in ("altair", "vl_convert") if importlib.util.find_spec(name) is None]
    if not lacking:
        return ""
    return (
        f"The report needs charts, and {' and '.join(lacking)} cannot be found. "
        "Install what is lacking with: pip install 'entwined[charts]'."
    )


def require_charts() -> None:
    """Refuse a page that could not be drawn."""
    if lacking := no_charts():
        raise BadInput(lacking)


def svg(chart: "alt.LayerChart | Mapping[str, Any]") -> str:
    """Draw a chart."""
    import altair as alt
    import vl_convert

    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    drawn = chart if isinstance(chart, Mapping) else _written(chart)
    return str(vl_convert.vegalite_to_svg(dict(drawn), vl_version=version))


def _written(chart: "alt.LayerChart") -> Document:
    """Write a chart down; the tests draw every kind, and checking it each time takes half of the time."""
    return dict(chart.to_dict(validate=False))


def _shared(draw: "Callable[[Rows, str], alt.LayerChart]") -> Callable[[Rows, str], Document]:
    """Build charts that differ in nothing but their rows once: Altair takes as long as the drawing itself."""
    known: dict[Hashable, Document] = {}

    @wraps(draw)
    def shared(rows: Rows, unit: str) -> Document:
        looks = unit, _widest(rows), _height(rows), tuple(_short(rows)), _is_wide(rows)
        if looks not in known:
            if len(known) >= MOST_KNOWN:
                known.clear()
            known[looks] = _written(draw(rows, unit))
        return known[looks] | {"data": {"values": [dict(row) for row in rows]}}

    return shared


def labelled(texts: Sequence[str]) -> list[str]:
    r"""Give every label a number and one or two lines; labels that are cut alike stay apart.

    >>> labelled(["a", "Somewhere very far away from here indeed, and farther"])
    ['0\na', '1\nSomewhere very far away\nfrom here indeed, and…']
    """
    width, lines = (LINE, LINES) if len(texts) <= MANY else (LONG_LINE, 1)
    return [f"{at}\n" + "\n".join(_lines(readable(text), width, lines)) for at, text in enumerate(texts)]


def _lines(text: str, width: int, lines: int) -> list[str]:
    return textwrap.wrap(text, width, max_lines=lines, placeholder="…", break_on_hyphens=False) or [""]


@_shared
def bars(rows: Rows, unit: str) -> "alt.LayerChart":
    """Horizontal bars with whiskers, one a row of label, value, low and high."""
    import altair as alt

    base = alt.Chart(_data(rows)).encode(y=_names(rows))
    amount = _amount(rows, unit)
    bar = base.mark_bar(color=OURS, opacity=0.75, height=alt.RelativeBandSize(0.66)).encode(x=amount)
    return _finished(_marked(bar, base, "quantitative"), height=_height(rows))


def dots(rows: Rows, unit: str, *, times: bool = False) -> "alt.LayerChart":
    """Dots with whiskers, for numbers that need not be seen from zero."""
    import altair as alt

    base = alt.Chart(_data(rows)).encode(y=_names(rows, shown=len(rows) > 1))
    kind: Any = "temporal" if times else "quantitative"
    scale = alt.Scale(padding=14) if times else alt.Scale(zero=False, nice=True, padding=14)
    dot = base.mark_point(color=OURS, filled=True, size=90, opacity=1).encode(
        x=_amount(rows, unit, type=kind, scale=scale)
    )
    return _finished(_marked(dot, base, kind), height=_height(rows) + 8)


def line(rows: Rows, side: str, unit: str, *, times: bool) -> "alt.LayerChart":
    """A stepped line in a band of intervals, for many cells that follow each other."""
    import altair as alt

    kind: Any = "temporal" if times else "quantitative"
    along = alt.X("at", type=kind, title=side, scale=alt.Scale(zero=False, nice=False))
    base = alt.Chart(_data(rows)).encode(x=along)
    amount = alt.Y("low", type="quantitative", title=unit, axis=alt.Axis(tickCount=5))
    band = base.mark_area(color=OURS, opacity=0.22, interpolate="step").encode(y=amount, y2="high")
    drawn = base.mark_line(color=OURS, strokeWidth=1.6, interpolate="step").encode(
        y=alt.Y("value", type="quantitative", title=unit)
    )
    return _finished(_layered(band, drawn), height=210)


def heat(rows: Rows, unit: str) -> "alt.LayerChart":
    """A table of two sides as tiles; intervals stand in the table beside it."""
    import altair as alt

    across = alt.X("column", type="nominal", sort=None, title=None)
    shade = alt.Color("value", type="quantitative", title=unit, scale=alt.Scale(scheme="blues"))
    tiles = (
        alt.Chart(_data(rows))
        .mark_rect(stroke="white")
        .encode(
            x=across.axis(labelExpr=OWN_LINES, labelLimit=0, labelAngle=_angle(rows)),
            y=_names(rows),
            color=shade.legend(type="symbol", symbolType="square", tickCount=4),
        )
    )
    return _finished(_layered(tiles), height=20 * len({row["label"] for row in rows}))


def _angle(rows: Rows) -> int:
    """Turn the labels under tiles that are too narrow for them."""
    return 0 if all(len(row["column"].partition("\n")[2]) <= SHORT for row in rows) else -90


def compared(rows: Rows, unit: str, promised: float | None = None) -> "alt.LayerChart":
    """Bars of one figure for each way of protecting, with what is promised; broken promises stand out."""
    import altair as alt

    kept = alt.Color("kept", type="nominal", legend=None).scale(domain=["yes", "no"], range=[OURS, OVER])
    base = alt.Chart(_data(rows)).encode(y=_names(rows))
    amount = _amount(rows, unit)
    bar = base.mark_bar(opacity=0.85, height=alt.RelativeBandSize(0.66)).encode(x=amount, color=kept)
    text = base.mark_text(align="left", dx=5, color=INK, fontSize=FONT_SIZE).encode(x=amount, text="said:N")
    layers = [bar, text]
    if promised is not None:
        promise = alt.Chart(_data([{"value": promised}])).mark_rule(color=INK, strokeDash=[4, 3])
        layers.append(promise.encode(x="value:Q"))
    return _finished(_layered(*layers), height=_height(rows), right=SAID)


@_shared
def spread(rows: Rows, unit: str) -> "alt.LayerChart":
    """Dots for each way of protecting, along a scale of factors where they are far apart."""
    import altair as alt

    scale = alt.Scale(type="log", nice=True, padding=10) if _is_wide(rows) else alt.Scale(zero=True)
    kept = alt.Color("kept", type="nominal", legend=None).scale(domain=["yes", "no"], range=[OURS, OVER])
    base = alt.Chart(_data(rows)).encode(y=_names(rows))
    amount = _amount(rows, unit, scale=scale).axis(grid=False, tickCount=4)
    dot = base.mark_point(filled=True, size=90, opacity=1).encode(x=amount, color=kept)
    text = base.mark_text(align="left", dx=9, color=INK, fontSize=FONT_SIZE).encode(x=amount, text="said:N")
    return _finished(_layered(dot, text), height=_height(rows), right=SAID)


def _is_wide(rows: Rows) -> bool:
    """Say whether values are too far apart for a scale of sums."""
    values = [row["value"] for row in rows if isinstance(row["value"], int | float)]
    return bool(values) and min(values) > 0 and max(values) / min(values) > FAR


def _marked(drawn: "alt.Chart", base: "alt.Chart", kind: Any) -> "alt.LayerChart":
    """Lay whiskers over what is drawn."""
    import altair as alt

    there = base.transform_filter("isValid(datum.low)")
    low, high = (alt.X(end, type=kind) for end in ("low", "high"))
    reach = there.mark_rule(color=INK, strokeWidth=1.4).encode(x=low, x2="high")
    ends = [there.mark_tick(color=INK, thickness=1.4, size=9).encode(x=end) for end in (low, high)]
    return _layered(drawn, reach, *ends)


def _layered(*layers: "alt.Chart") -> "alt.LayerChart":
    import altair as alt

    return alt.LayerChart(layer=list(layers))


def _names(rows: Rows, *, shown: bool = True) -> "alt.Y":
    import altair as alt

    axis = alt.Axis(
        labelExpr=OWN_LINES,
        labelLimit=0,
        minExtent=_widest(rows) * LETTER + 6,
        ticks=False,
        domain=False,
        labelPadding=6,
    )
    return alt.Y("label", type="nominal", sort=None, title=None, axis=axis if shown else None)


def _widest(rows: Rows) -> int:
    return max(len(part) for row in rows for part in row["label"].split("\n")[1:])


def _short(rows: Rows) -> dict[str, str]:
    """Say how large numbers are written."""
    numbers = [row[end] for row in rows for end in ("value", "high") if isinstance(row.get(end), int | float)]
    return {"format": "~s"} if numbers and max(numbers) >= LARGE else {}


def _amount(rows: Rows, unit: str, **given: Any) -> "alt.X":
    import altair as alt

    short = _short(rows)
    if given.get("type") == "temporal":
        short = {"format": "%Y-%m-%d"}
    axis = alt.Axis(tickCount=4, **short)  # type: ignore[arg-type]  # one known key
    return alt.X("value", title=unit, axis=axis, **({"type": "quantitative"} | given))


def _data(rows: Rows) -> "alt.InlineData":
    import altair as alt

    return alt.InlineData(values=[dict(row) for row in rows])


def _height(rows: Rows) -> int:
    if len(rows) > MANY:
        return DENSE * len(rows)
    tall = any(row["label"].count("\n") > 1 for row in rows)
    return (STEP + 9 * tall) * len(rows)


def _finished(chart: "alt.LayerChart", height: int, *, right: int = 14) -> "alt.LayerChart":
    """Give every chart the same calm look."""
    import altair as alt

    sized = chart.properties(
        width=WIDTH,
        height=max(height, STEP),
        autosize=alt.AutoSizeParams(type="fit-x", contains="padding"),
        background="transparent",
        padding={"left": 2, "right": right, "top": 4, "bottom": 2},
    )
    calm = sized.configure(font=FONT).configure_view(stroke=None)
    calm = calm.configure_legend(
        labelColor=INK,
        titleColor=INK,
        labelFontSize=FONT_SIZE,
        titleFontSize=FONT_SIZE,
        titleFontWeight="normal",
    )
    finished: alt.LayerChart = calm.configure_axis(
        labelColor=INK,
        titleColor=INK,
        labelFontSize=FONT_SIZE,
        titleFontSize=FONT_SIZE,
        titleFontWeight="normal",
        gridColor=FAINT,
        domainColor=FAINT,
        tickColor=FAINT,
    )
    return finished
