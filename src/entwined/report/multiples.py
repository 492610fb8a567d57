"""Many statistics on one page: small tables of which every line is a bar, in sections with one scale each."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final, TypeAlias

from entwined.canonical import Document
from entwined.report.cells import MOST_LINES, ShareShown, line_of, shares_of
from entwined.report.drawings import Drawing, drawing_of, suits_bars
from entwined.report.findings import Cell, Finding
from entwined.report.scales import Scale, sums
from entwined.report.sections import Labelled, Section, sections
from entwined.report.words import noise_words, readable

FEW: Final = 24  # statistics that each get a chart and a table beside it
LONGEST_TITLE: Final = 160
LONGEST_WARNING: Final = 1000

Shape: TypeAlias = tuple[str, int, bool]


@dataclass(frozen=True, slots=True)
class CardLine:
    """One line of a card: a name, a number, an interval, and how they are drawn."""

    name: str
    value: str
    interval: str
    share: str
    share_interval: str
    style: str
    quality: str
    adjusted: str


@dataclass(frozen=True)
class Card:
    """One statistic of many."""

    place: int
    finding: Finding
    section: Section
    scale: Scale | None

    @property
    def title(self) -> str:
        """What it is called: by the label of its column, if nobody gave it another name."""
        one = self.finding
        return self.section.without_topic(title_of(one.name, one.query.words, labelled_of(one).label))

    @property
    def code(self) -> str:
        """The column that it is about, where the title does not say so."""
        column = labelled_of(self.finding).column
        return "" if column in self.title else readable(column, 60)

    @property
    def note(self) -> str:
        """What was asked in full, where the title is not all of it."""
        return "" if self.is_plain else f"{self.finding.question}."

    @property
    def is_plain(self) -> bool:
        """Whether it is about all rows and one column."""
        return len(self.finding.sides) == 1 and self.finding.query.words == self.finding.name

    @property
    def quality(self) -> str:
        """How many of its numbers can be published."""
        return self.finding.quality_words

    @property
    def is_drowned(self) -> bool:
        """Whether none of its numbers could be published."""
        return self.finding.is_drowned

    @property
    def drawing(self) -> Drawing | None:
        """A chart of its own, for what has too many numbers for bars."""
        return None if suits_bars(self.finding) or self.finding.size == 1 else drawing_of(self.finding)

    @property
    def bars(self) -> list[CardLine]:
        """The numbers, as many as are shown."""
        shares = itertools.chain(self.shares, itertools.repeat(ShareShown("", "")))
        cells = itertools.islice(self.finding.cells(), MOST_LINES)
        return [self._bar(cell, share) for cell, share in zip(cells, shares, strict=False)]

    @cached_property
    def shares(self) -> list[ShareShown]:
        """The numbers as percentages, where they are parts of a whole."""
        return shares_of(self.finding)

    @property
    def base(self) -> str:
        """The rows that the percentages are of."""
        return "" if self.finding.dividing is None else readable(self.finding.dividing.base, LONGEST_TITLE)

    @property
    def hidden(self) -> int:
        """How many numbers are not shown."""
        return max(self.finding.size - MOST_LINES, 0)

    @property
    def ends(self) -> tuple[str, str]:
        """What stands at both ends of the scale."""
        return ("", "") if self.scale is None else (self.scale.ticks[0][1], self.scale.ticks[-1][1])

    @property
    def noise(self) -> str:
        """The noise in words."""
        return "; ".join(noise_words(noise) for noise in self.finding.answer.noise)

    @property
    def unit(self) -> str:
        """What the numbers are numbers of."""
        return readable(self.finding.unit, 60)

    @property
    def heading(self) -> str:
        """What stands above the names of the numbers."""
        return " · ".join(self.finding.headings) if len(self.finding.sides) > 1 else "answer"

    @property
    def ranks(self) -> int | None:
        """For a choice: its rank is within so many rows of the one asked for."""
        return self.finding.ranks

    @property
    def people(self) -> Document | None:
        """The number as one of the population, where its sampling error was released."""
        return None if self.finding.of_people is None else line_of(self.finding.of_people)

    @property
    def is_adjusted(self) -> bool:
        """Whether adjusted numbers stand beside the values."""
        return self.finding.answer.adjusted is not None

    @property
    def caveat(self) -> str:
        """For which counts adjusting adds to the error."""
        return self.finding.caveat

    @property
    def warning(self) -> str:
        """Which declarations its numbers contradict."""
        return readable(self.finding.warning, LONGEST_WARNING)

    @property
    def moved(self) -> bool:
        """Whether adjusting moved some number out of its interval."""
        return any(cell.is_outside for cell in self.finding.cells())

    def _bar(self, cell: Cell, share: ShareShown) -> CardLine:
        line = line_of(cell)
        return CardLine(
            " · ".join(line["names"]),
            line["value"],
            " to ".join(line["interval"]) if line["interval"] else "",
            share.value,
            share.interval,
            _style(cell, self.scale),
            cell.quality,
            line.get("adjusted", ""),
        )


@dataclass(frozen=True, slots=True)
class Topic:
    """A section of a page."""

    number: int
    title: str
    cards: tuple[Card, ...]


def topics(found: Sequence[Finding]) -> list[Topic]:
    """Sort statistics into sections; bars of one section that count the same have one scale."""
    return [
        Topic(number, readable(one.title, 80), tuple(_cards(one, found)))
        for number, one in enumerate(sections([labelled_of(finding) for finding in found]))
    ]


def title_of(name: str, unnamed: str, label: str) -> str:
    """Call a statistic by its own name, or by the label of its column where it was given none."""
    return readable(label if label and name == unnamed else name, LONGEST_TITLE)


def labelled_of(finding: Finding) -> Labelled:
    """Say which column a statistic is about first of all."""
    column = next(iter(finding.sides or finding.query.values), "")
    known = finding.schema.label(column) if column else ""
    return Labelled(column, known or "")


def _cards(section: Section, found: Sequence[Finding]) -> Iterator[Card]:
    """Give statistics of one shape one scale."""
    inside = [found[at] for at in section.places]
    ends: dict[Shape, list[float]] = {}
    for one in inside:
        ends.setdefault(_shape(one), []).extend(_ends(one))
    scales = {shape: sums(some, 0.0, 100.0, most=2) for shape, some in ends.items() if some}
    for at, one in zip(section.places, inside, strict=True):
        yield Card(at, one, section, scales.get(_shape(one)))


def _shape(finding: Finding) -> Shape:
    """Say what must be alike for one scale; noise that drowns one answer must not flatten the others."""
    return finding.unit, finding.size, finding.is_drowned


def _ends(finding: Finding) -> Iterator[float]:
    """Give the numbers that a scale must hold; one number alone needs no scale, and times have none."""
    if finding.size == 1 or not suits_bars(finding):
        return
    for cell in finding.cells():
        yield from (end for end in _numbers(cell) if end is not None)


def _numbers(cell: Cell) -> list[float | None]:
    """Give the value and the ends of its interval; times have no length that could be drawn."""
    ends = cell.value, cell.low, cell.high
    return [None if end is None or isinstance(end, datetime) else float(end) for end in ends]


def _style(cell: Cell, scale: Scale | None) -> str:
    """Place a bar from zero to its value, and a whisker from one end of the interval to the other."""
    value, low, high = _numbers(cell)
    if scale is None or value is None:
        return ""
    zero, end = scale.at(0.0), scale.at(value)
    bar = {"x": min(zero, end), "v": abs(end - zero)}
    if low is not None and high is not None:
        bar |= {"a": scale.at(low), "z": scale.at(high) - scale.at(low)}
    return ";".join(f"--{name}:{place:.4g}%" for name, place in bar.items() if place or name != "x")
