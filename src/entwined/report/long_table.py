"""The released numbers as one long table: a line a number, the same columns for every kind of statistic.

    statistic │ kind │ question │ its label │ answer │ its label │ value │ low │ high │ adjusted │ … │ share │ … │ unit

A table of several columns has `question_2`, `answer_2` and so on beside the first; a mean, a total or a quantile has a
question and no answer. A column that would be empty on every line is left out.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

import numpy as np

from entwined.estimate.spans import CONFIDENCE
from entwined.report.findings import Cell, Finding
from entwined.report.words import noise_words

AT_ONCE: Final = 50_000
SHARES: Final = ("share", "share_low", "share_high")
BEFORE: Final = {"statistic": "string", "kind": "string", "condition": "string"}
SIDE: Final = ("question", "question_label", "answer", "answer_label")
AFTER: Final = {
    **dict.fromkeys(("value", "low", "high"), "float64"),
    **dict.fromkeys(("adjusted", "adjusted_low", "adjusted_high"), "float64"),
    **dict.fromkeys(("population_low", "population_high"), "float64"),
    **dict.fromkeys(("value_time", "low_time", "high_time"), "timestamp"),
    **dict.fromkeys(SHARES, "float64"),
    "share_of": "string",
    "ranks_within": "int64",
    "unit": "string",
    "quality": "string",
    "relative_error": "float64",
    "warning": "string",
    "caveat": "string",
    "confidence": "float64",
    "noise": "string",
    "counted_rows": "string",
}


@dataclass(frozen=True, slots=True)
class Block:
    """Some numbers of one statistic: what they have in common, and the columns in which they differ."""

    rows: int
    common: Mapping[str, Any]
    columns: Mapping[str, Sequence[Any]]

    def column(self, name: str) -> Iterable[Any]:
        """Give what stands in a column, line by line."""
        return self.columns.get(name) or itertools.repeat(self.common.get(name), self.rows)


@dataclass(frozen=True)
class LongTable:
    """All numbers of some statistics."""

    findings: Sequence[Finding]

    @cached_property
    def kinds(self) -> dict[str, str]:
        """What each column holds, in their order; those that would be empty are left out."""
        there = {name for one in self.findings for name in _there(one)}
        sides = max((len(_questions(one)) for one in self.findings), default=0)
        names = [*BEFORE, *(sided(name, at) for at in range(max(sides, 1)) for name in SIDE), *AFTER]
        kinds = BEFORE | AFTER
        return {name: kinds.get(name, "string") for name in names if name in there}

    def blocks(self) -> Iterator[Block]:
        """Take the numbers of each statistic so many at a time, so that a large table needs little memory."""
        for one in self.findings:
            common, cells = _common(one), one.cells()
            while some := list(itertools.islice(cells, AT_ONCE)):
                yield Block(len(some), common, {**_answers(some), **_numbers(one, some)})


def sided(name: str, at: int) -> str:
    """Name a column of a table's first side, or of a further one by its number."""
    return name if at == 0 else f"{name}_{at + 1}"


def _questions(one: Finding) -> list[str]:
    """The columns along the sides of a table; of anything else what it looks at, in one name."""
    looked_at = ", ".join(one.query.values)
    return list(one.sides) or ([looked_at] if looked_at else [])


def _label(one: Finding, question: str) -> str:
    names = (question,) if one.sides else one.query.values
    return ", ".join(one.schema.label(name) or name for name in names)


def _common(one: Finding) -> dict[str, Any]:
    """What all numbers of a statistic share."""
    questions = {sided("question", at): name for at, name in enumerate(_questions(one))}
    labels = {sided("question_label", at): _label(one, name) for at, name in enumerate(_questions(one))}
    people = one.of_people
    common = {
        "statistic": one.name,
        "kind": one.query.kind,
        "condition": one.condition or None,
        "population_low": None if people is None else people.low,
        "population_high": None if people is None else people.high,
        "share_of": None if one.dividing is None else one.dividing.base,
        "ranks_within": one.ranks,
        "unit": one.unit,
        "warning": one.warning or None,
        "caveat": one.caveat or None,
        "confidence": float(CONFIDENCE),
        "noise": "; ".join(map(noise_words, one.answer.noise)),
        "counted_rows": one.counted_rows or None,
    }
    return {name: value for name, value in {**common, **questions, **labels}.items() if value is not None}


def _there(one: Finding) -> Iterator[str]:
    """Name the columns that a statistic has something for."""
    first = next(one.cells())
    if any(cell.relative_error is not None for cell in one.cells()):
        yield "relative_error"
    yield from _common(one)
    if one.dividing is not None and not np.isnan(one.dividing(slice(0, None)).value).all():
        yield from SHARES
    yield from _answers([first])
    yield from (name for name, found in _numbers(one, [first]).items() if found[0] is not None)


def _answers(cells: list[Cell]) -> dict[str, list[Any]]:
    """Give the codes of the answers and what they stand for, side by side."""
    columns = {}
    for at in range(len(cells[0].names)):
        codes = [cell.keys[at] for cell in cells] if cells[0].keys else [cell.names[at] for cell in cells]
        columns[sided("answer", at)] = codes
        columns[sided("answer_label", at)] = [cell.names[at] for cell in cells]
    return columns


def _numbers(one: Finding, cells: list[Cell]) -> dict[str, list[Any]]:
    """Give values, intervals and shares; times have columns of their own."""
    mark = "_time" if isinstance(cells[0].value, datetime) else ""
    columns: dict[str, list[Any]] = {f"value{mark}": [cell.value for cell in cells]}
    if cells[0].low is not None:
        columns |= {f"low{mark}": [cell.low for cell in cells], f"high{mark}": [cell.high for cell in cells]}
    if cells[0].adjusted is not None:
        for name in ("adjusted", "adjusted_low", "adjusted_high"):
            columns[name] = [getattr(cell, name) for cell in cells]
    columns["quality"] = [cell.quality for cell in cells]
    columns["relative_error"] = [cell.relative_error for cell in cells]
    if one.dividing is not None:
        first, last = cells[0].place, cells[-1].place
        places = [cell.place - first for cell in cells]
        found = (ends[places] for ends in one.dividing(slice(first, last + 1)))
        named = zip(SHARES, found, strict=True)
        columns |= {name: [None if each != each else each for each in ends.tolist()] for name, ends in named}  # noqa: PLR0124  (no number is not itself)
    return columns
