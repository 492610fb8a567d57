"""The files of a folder that follow from its numbers and its plan: written by a release, and again by `verify`.

Nothing else goes in, no clock and no chance, so that the same numbers give the same files.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from entwined.canonical import Document
from entwined.errors import EntwinedError
from entwined.estimate.answers import Release
from entwined.estimate.compared import ComparedNumbers
from entwined.report.computed_files import write_json, write_sheets
from entwined.report.computed_page import computed_page
from entwined.report.findings import Finding, findings
from entwined.report.formats import Format
from entwined.report.release_page import report_page
from entwined.report.values import write_values
from entwined.request.computed import Computation
from entwined.request.published import COMPARISONS, NUMBERS, PLAN
from entwined.schema import Schema

REPORT: Final = "report.html"


def carried_out(outlook: Mapping[str, Any], budget: Mapping[str, Any]) -> Document:
    """Give a plan with what the ledger says after it, as it is read back from its file; broken where it cannot be."""
    plan = {**outlook, "budget": dict(budget)}
    try:
        read: Document = json.loads(json.dumps(plan, allow_nan=False))
    except ValueError:
        return plan
    return read


@dataclass(frozen=True, eq=False)
class ReleaseFiles:
    """The numbers of a batch in all their forms, with those of mechanisms beside them."""

    release: Release
    names: Sequence[str]
    schema: Schema
    plan: Mapping[str, Any]
    computed: Sequence[Computation] = ()
    compared: Sequence[ComparedNumbers] = ()
    also: Sequence[Format] = ()

    def write(self, folder: Path) -> list[str]:
        """Write all of them; give what could not be made of what is for show."""
        named = findings(self.release, self.names, self.schema)
        write_values(named, folder)
        write_json(folder / NUMBERS, self.release.document())
        if self.compared:
            comparisons = {"comparisons": [each.document for each in self.compared]}
            write_json(folder / COMPARISONS, comparisons)
        write_sheets(folder, self.computed)
        page = partial(
            report_page,
            self.release,
            names=self.names,
            schema=self.schema,
            outlook=self.plan,
            budget=self.plan["budget"],
            computed=self.computed,
            compared=self.compared,
        )
        return [*_also(folder, named, self.also), *_shown(folder, self.plan, page)]


@dataclass(frozen=True, eq=False)
class ComputedFiles:
    """What mechanisms gave, where no question was asked beside them."""

    computed: Sequence[Computation]
    schema: Schema
    plan: Mapping[str, Any]

    def write(self, folder: Path) -> list[str]:
        """Write all of them; give what could not be made of what is for show."""
        write_sheets(folder, self.computed)
        page = partial(
            computed_page, self.computed, schema=self.schema, outlook=self.plan, budget=self.plan["budget"]
        )
        return _shown(folder, self.plan, page)


def _also(folder: Path, named: Sequence[Finding], also: Sequence[Format]) -> list[str]:
    """Write the numbers in other formats, each whole or not at all."""
    tried = {each.file: _tried(partial(each.write, named, folder / each.file)) for each in also}
    failed = {file: why for file, why in tried.items() if why}
    for file in failed:
        (folder / file).unlink(missing_ok=True)
    return [f"{file} could not be written: {why}" for file, why in failed.items()]


def _shown(folder: Path, plan: Mapping[str, Any], page: Callable[[], str]) -> list[str]:
    """Write what is only for show; say why it could not be done, if so."""

    def draw() -> None:
        write_json(folder / PLAN, dict(plan))
        (folder / REPORT).write_text(page(), encoding="utf-8", newline="\n")

    why = _tried(draw)
    return [f"The report could not be drawn: {why}"] if why else []


def _tried(write: Callable[[], None]) -> str:
    """Write a file that can be done without; say why it could not be written, if so."""
    try:
        write()
    except EntwinedError as reason:
        return str(reason)
    except OSError:
        raise
    except Exception as reason:  # noqa: BLE001  (the answer is paid for: nothing may keep it from being written)
        return f"{type(reason).__name__}."
    return ""
