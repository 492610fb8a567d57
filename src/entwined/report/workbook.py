"""The released numbers as a workbook for Excel: contents with links, a sheet a table, and one of single numbers.

Sheets are written row by row and closed one after the other: neither their number nor their length needs memory.
"""

import importlib.util
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from entwined.estimate.spans import CONFIDENCE
from entwined.report.findings import Finding
from entwined.report.long_table import SIDE, LongTable, sided
from entwined.report.words import readable

CONTENTS: Final = "Contents"
SINGLE: Final = "Single numbers"
LONGEST_NAME: Final = 31
LONGEST_TEXT: Final = 32_000  # a cell holds 32,767 characters
MOST_LINES: Final = 1_000_000  # a sheet holds 1,048,576 rows
FORBIDDEN: Final = re.compile(r"[\[\]:*?/\\\x00-\x1f\x7f]")
UNSEEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
OF_THE_SHEET: Final = (
    "statistic", "kind", "condition", "unit", "share_of", "confidence", "noise", "warning", "caveat",
)  # fmt: skip
PERCENT: Final = {"share", "share_low", "share_high", "relative_error"}
WIDE: Final = 40
NARROW: Final = 13
ADJUSTED: Final = "Values are unbiased estimates. Adjusted numbers are whole, not negative, and add up."
SURE: Final = f"Low and high hold the truth with {float(CONFIDENCE):.0%} confidence."
TOO_LONG: Final = "Too many for a sheet: they are in values.csv."


@dataclass(frozen=True, slots=True)
class Styled:
    """What a cell shows: bold, as a percentage, or as a link to a sheet."""

    value: Any
    bold: bool = False
    percent: bool = False
    to: str = ""


def no_workbooks() -> str:
    """Say what is lacking to write workbooks and how to install it, or nothing."""
    if importlib.util.find_spec("openpyxl") is not None:
        return ""
    return "A workbook for Excel needs openpyxl, which cannot be found. Install it with: pip install 'entwined[excel]'."


def write_workbook(findings: Sequence[Finding], path: Path) -> None:
    """Write all numbers: tables on sheets of their own, numbers that stand alone together on one."""
    from openpyxl import Workbook

    single = [one for one in findings if one.size == 1]
    tables = [one for one in findings if one.size > 1]
    named = list(zip(tables, sheet_names(map(_called, tables)), strict=True))
    book = Workbook(write_only=True)
    _fill(book.create_sheet(CONTENTS), _contents(single, named), (WIDE, 2 * WIDE, NARROW, WIDE))
    if single:
        names = [name for name in LongTable(single).kinds if name not in {"confidence", "noise"}]
        _fill(book.create_sheet(SINGLE), _sheet(single, names, names, [SURE]), map(_width, names))
    for one, name in named:
        names = [name for name in LongTable([one]).kinds if name not in _common_to(one)]
        about = [
            one.name,
            *_warned(one),
            one.quality_words,
            one.question,
            f"In {one.unit}. {SURE}",
            *_base(one),
        ]
        about += [f"{ADJUSTED} {one.caveat}".rstrip()] if one.answer.adjusted is not None else []
        _fill(book.create_sheet(name), _sheet([one], names, _headings(one, names), about), map(_width, names))
    book.save(path)


def sheet_names(wanted: Iterable[str]) -> Iterator[str]:
    """Name sheets as Excel allows it, each by a name of its own, whatever the case of its letters.

    >>> list(sheet_names(["q1", "Q1", "a/b", "", "Contents", "x" * 40]))
    ['q1', 'Q1 (2)', 'a b', 'sheet', 'Contents (2)', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx']
    """
    taken = {CONTENTS.casefold(), SINGLE.casefold(), "history"}  # Excel keeps the last for itself
    last: dict[str, int] = {}
    for one in wanted:
        clean = readable(FORBIDDEN.sub(" ", one), LONGEST_NAME).strip(" '…") or "sheet"
        name = clean
        while name.casefold() in taken:
            number = last[clean] = last.get(clean, 1) + 1
            mark = f" ({number})"
            name = clean[: LONGEST_NAME - len(mark)].rstrip(" '") + mark
        taken.add(name.casefold())
        yield name


def _called(one: Finding) -> str:
    """Call a sheet by its questions, as surveys do, unless it is about some rows only."""
    return one.name if one.condition else " × ".join(one.sides) or one.name


def _base(one: Finding) -> list[str]:
    """Name the rows that shares are of."""
    return [] if one.dividing is None else [f"Shares are of {one.dividing.base}."]


def _warned(one: Finding) -> list[str]:
    """Say what its numbers contradict, if they do."""
    return [f"WARNING: {one.warning}"] if one.warning else []


def _common_to(one: Finding) -> Collection[str]:
    """Name the columns that would say the same on every line of a sheet."""
    questions = (sided(name, at) for at in range(max(len(one.sides), 1)) for name in SIDE[:2])
    return {*OF_THE_SHEET, *questions}


def _headings(one: Finding, names: Sequence[str]) -> list[str]:
    """Put the questions themselves above the answers."""
    called = {sided("answer", at): side for at, side in enumerate(one.sides)}
    called |= {sided("answer_label", at): one.titled(side) for at, side in enumerate(one.sides)}
    return [called.get(name, name.replace("_", " ")) for name in names]


def _contents(single: Sequence[Finding], named: Sequence[tuple[Finding, str]]) -> Iterator[list[Styled]]:
    """List all sheets, each with a link."""
    yield [
        Styled("Sheet", bold=True),
        Styled("Question", bold=True),
        Styled("Numbers", bold=True),
        Styled("Quality", bold=True),
    ]
    if single:
        yield [Styled(SINGLE, to=SINGLE), Styled("Numbers that stand alone"), Styled(len(single))]
    for one, name in named:
        more = [one.quality_words, *([TOO_LONG] if one.size > MOST_LINES else [])]
        yield [Styled(name, to=name), Styled(one.question), Styled(one.size), *map(Styled, more)]


def _sheet(
    findings: Sequence[Finding], names: Sequence[str], headings: Sequence[str], about: Sequence[str]
) -> Iterator[list[Styled]]:
    """Say what a sheet is about, then give a line a number."""
    yield [Styled(CONTENTS, to=CONTENTS)]
    yield from ([Styled(text, bold=text is about[0])] for text in about)
    yield []
    yield [Styled(heading, bold=True) for heading in headings]
    if sum(one.size for one in findings) > MOST_LINES:
        yield [Styled(TOO_LONG)]
        return
    for block in LongTable(findings).blocks():
        for line in zip(*(block.column(name) for name in names), strict=True):
            yield [Styled(value, percent=name in PERCENT) for name, value in zip(names, line, strict=True)]


def _width(name: str) -> int:
    return WIDE if name.startswith(("answer_label", "statistic", "condition", "question")) else NARROW


def _fill(sheet: Any, lines: Iterable[Sequence[Styled]], widths: Iterable[int]) -> None:
    """Write the rows of a sheet, and be done with it."""
    for letter, width in zip(_letters(), widths, strict=False):
        sheet.column_dimensions[letter].width = width
    for line in lines:
        sheet.append([_cell(sheet, shown) for shown in line])
    sheet.close()


def _letters() -> Iterator[str]:
    from openpyxl.utils import get_column_letter

    return map(get_column_letter, itertools.count(1))


def _cell(sheet: Any, shown: Styled) -> Any:
    """Make a cell whose text is never taken for a formula."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.worksheet.hyperlink import Hyperlink

    value = shown.value
    if value is None or isinstance(value, int | float | datetime):
        cell = WriteOnlyCell(sheet, value)
    elif isinstance(value, str):
        cell = WriteOnlyCell(sheet, UNSEEN.sub("�", value)[:LONGEST_TEXT])
        cell.data_type = "s"
    else:
        cell = WriteOnlyCell(sheet, float(value))
    if shown.percent:
        cell.number_format = "0.0%"
    if shown.to:
        target = shown.to.replace("'", "''")
        cell.hyperlink = Hyperlink(ref="A1", location=f"'{target}'!A1")
        cell.font = Font(color="0563C1", underline="single")
    elif shown.bold:
        cell.font = Font(bold=True)
    return cell
