"""Charts, drawn as small SVG of our own: they print, scale and stay readable without any script.

Every text is made readable and escaped here, so no column, category or title can be taken for markup. Space
for labels is measured by the widest usual font: which one the reader has is not known here. What stands out
is hollow, so that nothing is told by colour alone.
"""

import itertools
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from markupsafe import escape

from entwined.report.scales import Scale, factors, sums, times
from entwined.report.words import readable

INK: Final = "#22303c"
FAINT: Final = "#d9dee3"
OURS: Final = "#2a6592"
OVER: Final = "#b3541e"
PALE: Final = (0xEA, 0xF1, 0xF7)
DARK: Final = (0x14, 0x42, 0x68)
WIDTH: Final = 430
STEP: Final = 27
TALL: Final = 36
DENSE: Final = 20
FONT: Final = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
FONT_SIZE: Final = 12.5
LETTER: Final = 0.62 * FONT_SIZE
LINE_HEIGHT: Final = 14.5
LINE: Final = 23
MANY: Final = 14
LINES: Final = 2
LONG_LINE: Final = 33
FAR: Final = 12
EDGE: Final = 14
SAID: Final = 62  # room for a figure after the longest bar
UNDER: Final = 40  # room for an axis and its title
HIGH: Final = 210  # of a line in its band
FEWEST_LETTERS: Final = 6
MOST_TURNED: Final = LETTER * LONG_LINE

Rows: TypeAlias = Sequence[Mapping[str, Any]]
Label: TypeAlias = tuple[str, ...]


def labelled(texts: Sequence[str]) -> list[Label]:
    """Break every label into one or two lines.

    >>> labelled(["a", "Somewhere very far away from here indeed, and farther"])
    [('a',), ('Somewhere very far away', 'from here indeed, and…')]
    """
    width, lines = (LINE, LINES) if len(texts) <= MANY else (LONG_LINE, 1)
    return [_lines(readable(text), width, lines) for text in texts]


def _lines(text: str, width: int, lines: int) -> Label:
    if _em(text) > LETTER * len(text):  # wide letters take the room of two
        width //= 2
    found = textwrap.wrap(text, width, max_lines=lines, placeholder="…", break_on_hyphens=False)
    return tuple(found) or ("",)


def bars(rows: Rows, unit: str) -> str:
    """Horizontal bars with whiskers, one a row of label, value, low and high."""
    step, left = _step(rows), _room(rows)
    scale = sums(_ends(rows), left, WIDTH - EDGE)
    drawn = [_bar(scale, row["value"], (at + 0.17) * step, 0.66 * step) for at, row in enumerate(rows)]
    return _drawn(
        step * len(rows),
        _across(scale, step * len(rows), unit),
        _group("bars", drawn, fill=OURS, fill_opacity="0.75"),
        _whiskers(rows, scale, step),
        _names(rows, step, left),
    )


def dots(rows: Rows, unit: str, *, dated: bool = False) -> str:
    """Dots with whiskers, for numbers that need not be seen from zero."""
    step, left = _step(rows), _room(rows) if len(rows) > 1 else EDGE
    ends = left + EDGE, WIDTH - 3 * EDGE
    scale = times(_ends(rows), *ends) if dated else sums(_ends(rows), *ends, zero=False)
    drawn = [_dot(scale.at(row["value"]), (at + 0.5) * step) for at, row in enumerate(rows)]
    return _drawn(
        step * len(rows),
        _across(scale, step * len(rows), unit),
        _whiskers(rows, scale, step),
        _group("dots", drawn, fill=OURS),
        _names(rows, step, left) if len(rows) > 1 else "",
    )


def line(rows: Rows, side: str, unit: str, *, dated: bool) -> str:
    """A stepped line in a band of intervals, for many cells that follow each other."""
    high = sums(_ends(rows), HIGH, 8.0, zero=False)
    left = max(_em(text) for _, text in high.ticks) + 12
    along = (times if dated else _plainly)([row["at"] for row in rows], left, WIDTH - 2 * EDGE)
    value, low, above = (
        [high.at(row.get(end, row["value"])) for row in rows] for end in ("value", "low", "high")
    )
    places = [along.at(row["at"]) for row in rows]
    out, back = _stairs(places, above), _stairs(places[::-1], low[::-1])
    return _drawn(
        HIGH,
        _along(high, left, unit),
        _across(along, HIGH, side, grid=False),
        _group("band", [f'<path d="M{out}L{back}Z"/>'], fill=OURS, fill_opacity="0.22"),
        _group(
            "line", [f'<path d="M{_stairs(places, value)}"/>'], fill="none", stroke=OURS, stroke_width="1.6"
        ),
        top=LINE_HEIGHT + 4,
    )


def heat(downs: Sequence[str], across: Sequence[str], values: Sequence[float], unit: str) -> str:
    """A table of two sides as tiles, row by row; intervals stand in the table beside it."""
    under = [_cut(readable(text), MOST_TURNED) for text in across]
    left = min(max(map(_em, downs)) + 12, MOST_TURNED, WIDTH - EDGE - LINE_HEIGHT * len(across))
    wide = min((WIDTH - EDGE - left) / len(across), 4 * STEP)
    scale = sums(values, 0.0, 1.0, zero=False)
    tiles = [
        f'<rect x="{_n(left + wide * (at % len(across)))}" y="{DENSE * (at // len(across))}" '
        f'width="{_n(wide)}" height="{DENSE}" fill="{_shade(scale.at(value))}"/>'
        for at, value in enumerate(values)
    ]
    names = [{"label": (_cut(readable(text), left - 12),)} for text in downs]
    turned = any(_em(text) > wide - 4 for text in under)
    deep = max(map(_em, under)) if turned else LINE_HEIGHT
    high = DENSE * len(downs)
    return _drawn(
        high,
        _group("tiles", tiles, stroke="#ffffff"),
        _names(names, DENSE, left),
        _moved(_under(under, left, wide, turned=turned), high),
        _moved(_shades(scale, unit, left), high + deep + 18),
        under=int(deep + 3 * LINE_HEIGHT + 24),
    )


def compared(rows: Rows, unit: str, promised: float | None = None) -> str:
    """Bars of one figure for each way of protecting, with what is promised; broken promises are hollow."""
    step, left = _step(rows), _room(rows)
    reach = [] if promised is None else [promised]
    scale = sums([*_ends(rows), *reach], left, WIDTH - SAID)
    drawn = [
        _bar(scale, row["value"], (at + 0.17) * step, 0.66 * step, stands_out=row["kept"] == "no")
        for at, row in enumerate(rows)
    ]
    limit = [] if promised is None else [f'<path d="M{_n(scale.at(promised))} 0V{_n(step * len(rows))}"/>']
    return _drawn(
        step * len(rows),
        _across(scale, step * len(rows), unit),
        _group("bars", drawn, fill=OURS, fill_opacity="0.85"),
        _group("limit", limit, stroke=INK, stroke_dasharray="4 3"),
        _figures(rows, scale, step, 5),
        _names(rows, step, left),
    )


def shifts(rows: Rows, unit: str) -> str:
    """From a hollow dot to a full one in each row, on a band of what is allowed; percents from 0 to 100."""
    step, left = TALL, _room(rows)
    scale = sums([0.0, 100.0], left + 8, WIDTH - SAID)
    middle = [(step * (at + 0.5), row) for at, row in enumerate(rows)]
    bands = [
        f'<rect x="{_n(scale.at(row["low"]))}" y="{_n(y - 9)}" '
        f'width="{_n(scale.at(row["high"]) - scale.at(row["low"]))}" height="18" rx="3"/>'
        for y, row in middle
    ]
    paths = [
        f'<path d="M{_n(scale.at(row["before"]))} {_n(y)}H{_n(scale.at(row["value"]))}"/>'
        for y, row in middle
    ]
    starts = [
        f'<circle cx="{_n(scale.at(row["before"]))}" cy="{_n(y)}" r="4.4" fill="#fff" stroke="{INK}" '
        'stroke-width="1.6"/>'
        for y, row in middle
    ]
    ends = [_dot(scale.at(row["value"]), y, stands_out=row["kept"] == "no") for y, row in middle]
    return _drawn(
        step * len(rows),
        _across(scale, step * len(rows), unit),
        _group("band", bands, fill=OURS, fill_opacity="0.16"),
        _group("way", paths, stroke=INK, stroke_width="1.6"),
        *starts,
        _group("dots", ends, fill=OURS),
        _figures([{**row, "value": max(row["before"], row["value"])} for row in rows], scale, step, 10),
        _names(rows, step, left),
    )


def spread(rows: Rows, unit: str) -> str:
    """Dots for each way of protecting, along a scale of factors where they are far apart."""
    step, left = _step(rows), _room(rows)
    scale = (factors if _is_wide(rows) else sums)(_ends(rows), left + 8, WIDTH - SAID)
    drawn = [
        _dot(scale.at(row["value"]), (at + 0.5) * step, stands_out=row["kept"] == "no")
        for at, row in enumerate(rows)
    ]
    return _drawn(
        step * len(rows),
        _across(scale, step * len(rows), unit, grid=False),
        _group("dots", drawn, fill=OURS),
        _figures(rows, scale, step, 9),
        _names(rows, step, left),
    )


def _is_wide(rows: Rows) -> bool:
    """Say whether values are too far apart for a scale of sums."""
    values = [row["value"] for row in rows]
    return bool(min(values) > 0 and max(values) / min(values) > FAR)


def _ends(rows: Rows) -> list[float]:
    return [row[end] for row in rows for end in ("value", "low", "high") if end in row]


def _plainly(values: Sequence[float], start: float, end: float) -> Scale:
    """Give a scale that ends where the values end."""
    fitted = sums(values, start, end, zero=False)
    low, high = min(values), max(values)
    return Scale(low, high, start, end, tuple(tick for tick in fitted.ticks if low <= tick[0] <= high))


def _stairs(places: Sequence[float], heights: Sequence[float]) -> str:
    """Step from one place to the next halfway between them."""
    turns = [(one + other) / 2 for one, other in itertools.pairwise(places)]
    parts = [f"{_n(places[0])} {_n(heights[0])}"]
    parts += [f"H{_n(turn)}V{_n(height)}" for turn, height in zip(turns, heights[1:], strict=True)]
    return "".join([*parts, f"H{_n(places[-1])}"])


# space


def _em(text: str) -> float:
    """Measure a text in the widest usual font."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return LETTER * len(text) + (FONT_SIZE * 1.05 - LETTER) * wide


def _width(labels: Iterable[Label]) -> float:
    return max(_em(text) for lines in labels for text in lines) + 12


def _room(rows: Rows) -> float:
    return _width([row["label"] for row in rows])


def _step(rows: Rows) -> int:
    if len(rows) > MANY:
        return DENSE
    return TALL if any(len(row["label"]) > 1 for row in rows) else STEP


def _cut(text: str, room: float) -> str:
    letters = max(int(room / LETTER), FEWEST_LETTERS)
    return text if _em(text) <= room or len(text) <= letters else text[: letters - 1] + "…"


# pieces


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _group(kind: str, parts: Sequence[str], **given: str) -> str:
    looks = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in given.items())
    return f'<g class="{kind}"{looks}>{"".join(parts)}</g>' if parts else ""


def _moved(part: str, down: float) -> str:
    return f'<g transform="translate(0 {_n(down)})">{part}</g>'


def _text(x: float, y: float, text: str, anchor: str = "middle", *, turned: bool = False) -> str:
    place = f'x="{_n(x)}" y="{_n(y)}"'
    if turned:
        place = f'transform="translate({_n(x)} {_n(y)}) rotate(-90)"'
    ends = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f"<text {place}{ends}>{escape(text)}</text>"


def _bar(scale: Scale, value: float, top: float, high: float, *, stands_out: bool = False) -> str:
    zero, end = scale.at(0.0), scale.at(value)
    looks = f' fill="#fff" stroke="{OVER}" stroke-width="2"' if stands_out else ""
    return f'<rect x="{_n(min(zero, end))}" y="{_n(top)}" width="{_n(abs(end - zero))}" height="{_n(high)}"{looks}/>'


def _dot(x: float, y: float, *, stands_out: bool = False) -> str:
    looks = f' fill="#fff" stroke="{OVER}" stroke-width="2.2"' if stands_out else ""
    return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{"4.4" if stands_out else "5.2"}"{looks}/>'


def _whiskers(rows: Rows, scale: Scale, step: float) -> str:
    drawn = [
        f"M{_n(scale.at(row['low']))} {_n(y - 4.5)}v9m0-4.5H{_n(scale.at(row['high']))}m0-4.5v9"
        for y, row in ((step * (at + 0.5), row) for at, row in enumerate(rows))
        if "low" in row and "high" in row
    ]
    paths = [f'<path d="{"".join(drawn)}"/>'] if drawn else []
    return _group("whiskers", paths, fill="none", stroke=INK, stroke_width="1.4")


def _names(rows: Rows, step: float, left: float) -> str:
    """Write the labels beside their bars, the lines of one around its middle."""
    texts = [
        _text(
            left - 8,
            step * (at + 0.5) + 4.3 + LINE_HEIGHT * (number - (len(row["label"]) - 1) / 2),
            text,
            "end",
        )
        for at, row in enumerate(rows)
        for number, text in enumerate(row["label"])
    ]
    return _group("names", texts)


def _figures(rows: Rows, scale: Scale, step: float, after: float) -> str:
    texts = [
        _text(scale.at(row["value"]) + after, step * (at + 0.5) + 4.3, row["said"], "start")
        for at, row in enumerate(rows)
    ]
    return _group("figures", texts)


def _under(texts: Sequence[str], left: float, wide: float, *, turned: bool) -> str:
    """Write the labels under tiles, turned where these are too narrow for them."""
    places = [(left + wide * (at + 0.5), text) for at, text in enumerate(texts)]
    if turned:
        return _group("under", [_text(x + 4.3, 6, text, "end", turned=True) for x, text in places])
    return _group("under", [_text(x, LINE_HEIGHT, text) for x, text in places])


def _across(scale: Scale, high: float, title: str, *, grid: bool = True) -> str:
    """Draw the axis under a chart, with as many of its numbers as do not meet."""
    lines = [f"M{_n(scale.at(tick))} 0V{_n(high)}" for tick, _ in scale.ticks] if grid else []
    lines.append(f"M{_n(scale.start)} {_n(high)}H{_n(scale.end)}")
    shown, free = [], -1.0
    for tick, text in scale.ticks:
        x = scale.at(tick)
        if x - _em(text) / 2 >= free:
            shown.append(_text(x, high + 16, text))
            free = x + _em(text) / 2 + 6
    middle = min(max((scale.start + scale.end) / 2, _em(title) / 2), WIDTH - _em(title) / 2)
    shown.append(_text(middle, high + 33, title))
    return _group("grid", [f'<path d="{"".join(lines)}"/>'], stroke=FAINT) + _group("axis", shown)


def _along(scale: Scale, left: float, title: str) -> str:
    """Draw the axis beside a chart, with its title above."""
    lines = "".join(f"M{_n(left)} {_n(scale.at(tick))}H{_n(WIDTH - 2 * EDGE)}" for tick, _ in scale.ticks)
    shown = [_text(left - 6, scale.at(tick) + 4.3, text, "end") for tick, text in scale.ticks]
    return _group("grid", [f'<path d="{lines}"/>'], stroke=FAINT) + _group(
        "axis", [*shown, _text(2, -6, title, "start")]
    )


def _shade(share: float) -> str:
    parts = [
        round(pale + (dark - pale) * min(max(share, 0.0), 1.0)) for pale, dark in zip(PALE, DARK, strict=True)
    ]
    return "#{:02x}{:02x}{:02x}".format(*parts)


def _shades(scale: Scale, unit: str, left: float) -> str:
    """Say which shade is which number."""
    wide = (WIDTH - EDGE - left) / len(scale.ticks)
    tiles = [
        f'<rect x="{_n(left + wide * at)}" y="0" width="{_n(wide - 3)}" height="7" fill="{_shade(scale.at(tick))}"/>'
        for at, (tick, _) in enumerate(scale.ticks)
    ]
    texts = [
        _text(left + wide * at, LINE_HEIGHT + 6, text, "start") for at, (_, text) in enumerate(scale.ticks)
    ]
    title = _text(left, 2 * LINE_HEIGHT + 7, _cut(unit, WIDTH - left), "start")
    return _group("key", [*tiles, *texts, title])


def _drawn(high: float, *parts: str, under: int = UNDER, top: float = 4) -> str:
    """Put the pieces of a chart together."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {_n(-top)} {WIDTH} {_n(high + under + top)}" '
        f'font-family="{FONT}" font-size="{FONT_SIZE}" fill="{INK}">{"".join(parts)}</svg>'
    )
