"""Names around a circle with lines between them, as SVG: for anything that hangs together in pairs."""

from collections.abc import Mapping, Sequence
from math import cos, pi, sin
from typing import Final, NamedTuple

from markupsafe import escape

from entwined.report.charts import FAINT, FONT, INK, OURS
from entwined.report.words import readable

RADIUS: Final = 120
ROOM: Final = 100
MIDDLE: Final = RADIUS + ROOM
LONGEST: Final = 14
USUAL_WIDTH: Final = 1.5


class Chord(NamedTuple):
    """A line between two names, as wide as what it stands for is strong."""

    one: str
    other: str
    width: float = USUAL_WIDTH


def wheel(names: Sequence[str], lines: Sequence[Chord], words: str = "") -> str:
    """Draw names and lines; lines between names that are not there are left out. `words` say what it shows."""
    place = {name: _at(number, len(names)) for number, name in enumerate(names)}
    drawn = [one for one in lines if one.one in place and one.other in place]
    size = f"0 {ROOM - 30} {2 * MIDDLE} {2 * RADIUS + 60}"
    label = f' role="img" aria-label="{escape(words)}"' if words else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="{FONT}" font-size="12.5" '
        f'fill="{INK}"{label}>'
        f'<circle cx="{MIDDLE}" cy="{MIDDLE}" r="{RADIUS}" fill="none" stroke="{FAINT}"/>'
        f'<g class="line" stroke="{OURS}" stroke-linecap="round" fill="none">{_paths(drawn, place)}</g>'
        f"{''.join(_named(name, *place[name]) for name in names)}</svg>"
    )


def _paths(lines: Sequence[Chord], place: Mapping[str, tuple[float, float]]) -> str:
    """Draw the lines of one width as one path."""
    widths = sorted({one.width for one in lines})
    return "".join(
        f'<path stroke-width="{width:.2g}" d="'
        + "".join(
            f"M{place[one][0]:.1f} {place[one][1]:.1f}L{place[other][0]:.1f} {place[other][1]:.1f}"
            for one, other, its in lines
            if its == width
        )
        + '"/>'
        for width in widths
    )


def _at(number: int, count: int) -> tuple[float, float]:
    turn = 2 * pi * number / count - pi / 2
    return MIDDLE + RADIUS * cos(turn), MIDDLE + RADIUS * sin(turn)


def _named(name: str, x: float, y: float) -> str:
    right = x - MIDDLE
    anchor = "middle" if abs(right) < 1 else "start" if right > 0 else "end"
    beside = 0 if abs(right) < 1 else 8 if right > 0 else -8
    below = 16 if y > MIDDLE + RADIUS - 1 else -8 if y < MIDDLE - RADIUS + 1 else 4
    text = escape(readable(name, LONGEST))
    return (
        f'<circle class="dots" cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{OURS}"/>'
        f'<text x="{x + beside:.1f}" y="{y + below:.1f}" text-anchor="{anchor}">{text}</text>'
    )
