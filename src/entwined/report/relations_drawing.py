"""Columns around a circle, with a line between every two that were counted together. It is no causal graph."""

from collections.abc import Sequence
from math import cos, pi, sin
from typing import Final

from markupsafe import escape

from entwined.report.charts import FAINT, FONT, INK, OURS
from entwined.report.drawings import Drawing
from entwined.report.words import readable

RADIUS: Final = 120
ROOM: Final = 100
LONGEST: Final = 14
MOST: Final = 40
CAPTION: Final = (
    "A line joins two columns that were counted together. Not causal: it says what was measured, not why."
)


def relations_drawing(columns: Sequence[str], measured: Sequence[tuple[str, str]]) -> Drawing | None:
    """Draw which relations were measured, if there are not too many columns to see."""
    if not 1 < len(columns) <= MOST:
        return None
    place = {name: _at(number, len(columns)) for number, name in enumerate(columns)}
    lines = [
        f"M{place[one][0]:.1f} {place[one][1]:.1f}L{place[other][0]:.1f} {place[other][1]:.1f}"
        for one, other in measured
        if one in place and other in place
    ]
    side = 2 * (RADIUS + ROOM)
    size = f"0 {ROOM - 30} {side} {2 * RADIUS + 60}"
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="{FONT}" font-size="12.5" fill="{INK}">'
        f'<circle cx="{side / 2}" cy="{side / 2}" r="{RADIUS}" fill="none" stroke="{FAINT}"/>'
        f'<g class="line" stroke="{OURS}" stroke-width="1.5" fill="none"><path d="{"".join(lines)}"/></g>'
        f"{''.join(_named(name, *place[name]) for name in columns)}</svg>"
    )
    return Drawing(svg, CAPTION)


def _at(number: int, count: int) -> tuple[float, float]:
    turn = 2 * pi * number / count - pi / 2
    middle = RADIUS + ROOM
    return middle + RADIUS * cos(turn), middle + RADIUS * sin(turn)


def _named(name: str, x: float, y: float) -> str:
    middle = RADIUS + ROOM
    right = x - middle
    anchor = "middle" if abs(right) < 1 else "start" if right > 0 else "end"
    beside = 0 if abs(right) < 1 else 8 if right > 0 else -8
    below = 16 if y > middle + RADIUS - 1 else -8 if y < middle - RADIUS + 1 else 4
    text = escape(readable(name, LONGEST))
    return (
        f'<circle class="dots" cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{OURS}"/>'
        f'<text x="{x + beside:.1f}" y="{y + below:.1f}" text-anchor="{anchor}">{text}</text>'
    )
