"""Propose a schema from rows, for the holder's eyes: nothing of it is public before the holder approves it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entwined.errors import BadTable, EntwinedError, HolderError
from entwined.schema import Schema
from entwined.schema.files import text_of
from entwined.tables.engine import Engine
from entwined.tables.profile import profiles
from entwined.tables.propose import Labels, Proposal, propose
from entwined.tables.source import engine_of
from entwined.tables.survey import SURVEY_ENDS, survey_engine

HEAD = """\
# PROPOSED from the rows, and private: a bound, a value or a comment below may tell about somebody.
# Review every line, widen bounds to what could be, delete these comments, then approve.
"""


@dataclass(frozen=True, repr=False)
class Description:
    """A proposed schema, not approved, with a proposal for each column and hints about the whole."""

    schema: Schema
    proposals: tuple[Proposal, ...]
    hints: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Show what is proposed at a glance; `text` has it all."""
        return f"Proposed, to be reviewed: {self.schema!r}"

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return self.schema._repr_html_()

    @property
    def text(self) -> str:
        """The schema file, with comments on what was proposed and why."""
        lines = [HEAD, *(f"# {_plain(hint)}\n" for hint in self.hints)]
        waiting = iter(self.proposals)
        marked = False
        for line in text_of(self.schema).splitlines(keepends=True):
            if line == "[[column]]\n":
                if not marked:
                    lines.append("approved = false\n\n")
                    marked = True
                lines += [f"# {_plain(note)}\n" for note in next(waiting).notes]
            lines.append(line)
        return "".join(lines)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the schema file for review."""
        Path(path).write_text(self.text, encoding="utf-8")


def describe(
    source: Any, *, table: str | None = None, missing: tuple[str, ...] = (), codes: bool = False
) -> Description:
    """Look at all rows of a source and propose a schema for it.

    The codes of `missing` stand for missing in every column, beside those that a survey file declares. With `codes`
    the whole numbers that occur are listed where they are few.
    """
    engine, labels = _opened(source, table)
    try:
        found = profiles(engine, missing, codes=codes)
    except EntwinedError:
        raise
    except ImportError as lacking:
        raise BadTable(
            f"The package {lacking.name} that tables are read with is not installed. Run: pip install {lacking.name}."
        ) from lacking
    except Exception as failed:
        raise HolderError(f"The rows cannot be read: {failed}") from failed
    finally:
        engine.close()
    named = [one for one in found if one.name]
    if not named:
        raise BadTable("The source has no column with a name. Name its columns.")
    proposals = tuple(propose(one, labels.get(one.name, Labels()).without(missing)) for one in named)
    hints = (
        [f"{len(found) - len(named)} columns without a name were left out"] if len(named) < len(found) else []
    )
    hints += [*engine.notes]
    hints += [
        f"column {one.column.name!r} may name the unit to protect: see its comment"
        for one in proposals
        if one.likely_unit
    ]
    return Description(Schema(tuple(one.column for one in proposals)), proposals, tuple(hints))


def _opened(source: Any, table: str | None) -> tuple[Engine, dict[str, Labels]]:
    if isinstance(source, str | os.PathLike) and os.fspath(source).lower().endswith(SURVEY_ENDS):
        return survey_engine(source)
    return engine_of(source, table=table, declared={}), {}


def _plain(text: str) -> str:
    """Keep a comment on its line."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)
