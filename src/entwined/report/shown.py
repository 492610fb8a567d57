"""Releases and plans as text for a terminal and as tables for other programs, one line a released number."""

from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Final

from entwined.errors import BadInput
from entwined.estimate.answers import Release
from entwined.mechanisms.batch import Batch
from entwined.report.cells import line_of
from entwined.report.claims import Claims
from entwined.report.findings import Finding, findings
from entwined.report.model_checks import failed_in
from entwined.report.notebook import to_html
from entwined.report.values import arrow_table
from entwined.report.words import figure, noise_words, plural

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["to_arrow", "to_html", "to_text"]

MOST_LINES: Final = 40


@singledispatch
def to_text(shown: object) -> str:
    """Show a release or a plan as lines of text."""
    raise TypeError(f"A {type(shown).__name__} has no lines. Give a release or a plan.")


@to_text.register
def _release(shown: Release) -> str:
    head = f"{plural(len(shown.answers), 'statistic')}"
    failed = failed_in(shown.certificate["models"]) if shown.certificate else ()
    if shown.certificate:
        head += f", leakage at most {figure(Claims(shown.certificate).leakage, up=True)}"
    lines = [line for one in _findings(shown) for line in _lines(one)]
    cut = [f"… and {len(lines) - MOST_LINES:,} lines more"] if len(lines) > MOST_LINES else []
    return "\n".join([*failed, head, *_aligned(lines[:MOST_LINES]), *cut])


@to_text.register
def _plan(shown: Batch) -> str:
    head = f"Planned, not yet charged: leakage at most {figure(float(shown.price.worst), up=True)}"
    failed = shown.promise.failures
    lines = [
        (query.words, "; ".join(noise_words(shown.statistics[use].law) for use in uses))
        for query, uses in zip(shown.queries, shown.uses, strict=True)
    ]
    return "\n".join([*failed, head, *_aligned(lines)])


def to_arrow(shown: object) -> "pa.Table":
    """Give a release as a table: statistic, cell, the columns along its sides, value, low, high."""
    if not isinstance(shown, Release):
        raise BadInput(f"A {type(shown).__name__} is no table. Give a release.")
    return arrow_table(_findings(shown))


def _findings(shown: Release) -> tuple[Finding, ...]:
    if shown.schema is None:
        raise BadInput(
            "This release was read from a file, and does not know its schema. Give it: release.under(schema)."
        )
    names = shown.names or tuple(Finding("", answer, shown.schema).question for answer in shown.answers)
    return findings(shown, names, shown.schema)


def _lines(one: Finding) -> Iterator[tuple[str, str, str]]:
    """One line a number: what it is, its value, and its interval."""
    of_people = () if one.of_people is None else (one.of_people,)
    for cell in (*one.cells(), *of_people):
        line = line_of(cell)
        name = one.name + (f" · {cell.name}" if cell.name else "")
        said = " to ".join(line["interval"]) if line["interval"] else ""
        rank = "" if one.ranks is None else f"rank ± {one.ranks:,}"
        yield name, line["value"], (said or rank) + ("" if one.usable else "  not usable")


def _aligned(lines: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  " + "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
