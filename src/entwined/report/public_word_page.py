"""What may be published about a synthetic table as a page: the error bar of everything that was counted."""

from collections.abc import Mapping
from typing import Any, Final

from entwined.report import charts
from entwined.report.claims import Claims
from entwined.report.drawings import Drawing
from entwined.report.page import rendered
from entwined.report.relations_drawing import relations_drawing
from entwined.report.words import figure, readable
from entwined.synthetic.error_bars import TIMES, ErrorBar, PublicWord
from entwined.synthetic.likeness import of_a_hundred

MOST_LINES: Final = 200
MOST_BARS: Final = 15
LONGEST: Final = 60


def public_word_page(word: PublicWord, certificate: Mapping[str, Any] | None = None) -> str:
    """Write one HTML file that needs nothing else and has nothing in it that was not released."""
    return rendered(
        "public_word.html",
        many=False,
        title="What this synthetic table can be trusted with",
        word=word,
        lead=_lead(word),
        leakage=None if certificate is None else figure(Claims(certificate).leakage, up=True),
        worst=_worst(word),
        bars=[_line(bar, word) for bar in word.bars[:MOST_LINES]],
        more=max(0, len(word.bars) - MOST_LINES),
        times=TIMES,
        sweep={many: list(map(of_a_hundred, found.values())) for many, found in word.sweep().items()},
        relations=relations_drawing(word.columns, word.measured),
        unmeasured=[_title(pair) for pair in word.unmeasured[:MOST_LINES]],
        alone=[readable(name, LONGEST) for name in word.alone],
    )


def _title(columns: tuple[str, ...]) -> str:
    return " × ".join(readable(name, LONGEST) for name in columns)


def _sample(bar: ErrorBar, word: PublicWord) -> str:
    if bar.sample is None:
        return "–"
    return "more than all" if bar.sample > word.rows else f"{max(1, round(bar.sample)):,}"


def _line(bar: ErrorBar, word: PublicWord) -> list[str]:
    return [
        _title(bar.columns),
        f"{bar.cells:,}",
        f"± {bar.half_width:,.0f}",
        of_a_hundred(bar.misplaced),
        _sample(bar, word),
    ]


def _lead(word: PublicWord) -> str:
    first, last = word.bars[0], word.bars[-1]
    pairs = len(word.measured) + len(word.unmeasured)
    return (
        f"{len(word.bars):,} tables of about {word.rows:,.0f} {word.counted} were counted with noise. Noise puts from "
        f"{of_a_hundred(last.misplaced)} to {of_a_hundred(first.misplaced)} of 100 in a wrong cell of them. Of "
        f"{pairs:,} pairs of columns {len(word.measured):,} were counted together; the others never."
    )


def _worst(word: PublicWord) -> Drawing:
    chosen = word.bars[:MOST_BARS]
    labels = charts.labelled([_title(bar.columns) for bar in chosen])
    rows = [{"label": label, "value": 100 * bar.misplaced} for label, bar in zip(labels, chosen, strict=True)]
    caption = "How many people of 100 noise alone puts in a wrong cell, on average; the worst tables first."
    return Drawing(charts.bars(rows, "people of 100 in a wrong cell, by noise alone"), caption)
