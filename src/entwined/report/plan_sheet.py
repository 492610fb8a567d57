"""A plan of many statistics: one line each, in sections, with the half-widths of all ways side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from entwined.report.multiples import title_of
from entwined.report.quality_note import quality_words
from entwined.report.scales import Scale, sums
from entwined.report.sections import Labelled, Section, sections
from entwined.report.words import figure, readable


@dataclass(frozen=True, slots=True)
class Expected:
    """One statistic of many: what it is called, and how exact it will be on each way."""

    place: int
    title: str
    code: str
    cells: str
    quality: str
    quality_words: str
    mine: Mapping[str, Any] | None
    part: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SheetTopic:
    """A section of the plan, and the end of the scale of its bars."""

    number: int
    title: str
    end: str
    lines: tuple[Expected, ...]


def sheet(statistics: Sequence[Mapping[str, Any]], shown: Sequence[Mapping[str, Any]]) -> list[SheetTopic]:
    """Sort the statistics of a plan into sections; `shown` has their figures on each way, in the same order."""
    found = []
    for number, section in enumerate(sections([_labelled(one) for one in statistics])):
        reach = [_mine(shown[at])["half_width"] for at in section.places if _mine(shown[at])]
        scale = sums([one for one in reach if one is not None], 0.0, 100.0, most=2)
        lines = tuple(_expected(at, statistics[at], shown[at], section, scale) for at in section.places)
        found.append(SheetTopic(number, readable(section.title, 80), scale.ticks[-1][1], lines))
    return found


def _labelled(statistic: Mapping[str, Any]) -> Labelled:
    column = (statistic.get("query") or {}).get("column")
    return Labelled(str(column or ""), str(statistic.get("label") or ""))


def _mine(shown: Mapping[str, Any]) -> Mapping[str, Any]:
    return next((line for line in shown["lines"] if line["mine"]), {})


def _expected(
    place: int,
    statistic: Mapping[str, Any],
    shown: Mapping[str, Any],
    section: Section,
    scale: Scale,
) -> Expected:
    mine = _mine(shown)
    half_width = mine.get("half_width")
    asked = _labelled(statistic)
    title = section.without_topic(
        title_of(statistic["name"], statistic.get("sql_or_text") or "", asked.label)
    )
    return Expected(
        place=place,
        title=title,
        code="" if asked.column in title else readable(asked.column, 60),
        cells=figure(shown["cells"]),
        quality=statistic["quality"],
        quality_words=quality_words(statistic),
        mine=mine or None,
        part="0%" if half_width is None else f"{scale.at(half_width):.4g}%",
        others=tuple(_other(line) for line in shown["lines"] if not line["mine"]),
    )


def _other(line: Mapping[str, Any]) -> str:
    """Write a half-width; in brackets on a way that breaks the promise."""
    return str(line["reach"]) if line["keeps"] else f"({line['reach']})"
