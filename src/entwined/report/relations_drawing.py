"""Columns around a circle, with a line between every two that were counted together. It is no causal graph."""

from collections.abc import Sequence
from typing import Final

from entwined.report.drawings import Drawing
from entwined.report.wheel import Chord, wheel

MOST: Final = 40
CAPTION: Final = (
    "A line joins two columns that were counted together. Not causal: it says what was measured, not why."
)


def relations_drawing(columns: Sequence[str], measured: Sequence[tuple[str, str]]) -> Drawing | None:
    """Draw which relations were measured, if there are not too many columns to see."""
    if not 1 < len(columns) <= MOST:
        return None
    return Drawing(wheel(columns, [Chord(*pair) for pair in measured]), CAPTION)
