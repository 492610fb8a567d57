"""Propose a schema from rows, for the holder's eyes: nothing of it is public before the holder approves it.

What is proposed may become public, so it holds no value that fewer than a minimum number of units have. What was
counted on the way goes into notes of their own, for the holder alone.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from entwined.errors import BadTable, EntwinedError, HolderError
from entwined.schema import Schema
from entwined.schema.files import text_of
from entwined.tables.engine import Engine
from entwined.tables.group_sizes import GroupSizes, write_sizes
from entwined.tables.profile import Profile
from entwined.tables.profiling import profiles
from entwined.tables.propose import Labels, Proposal, propose
from entwined.tables.scales import code_text
from entwined.tables.source import engine_of
from entwined.tables.survey import SURVEY_ENDS, survey_engine
from entwined.tables.units import MIN_UNITS, MinimumUnits
from entwined.writing import write_whole

HEAD: Final = """\
# PROPOSED from the rows, and private until approved. {minimum}
# Review every line: widen bounds and add values to what could be, whatever the rows hold. Then approve.
"""
NOTES_HEAD: Final = """\
HOLDER ONLY: counted in the real rows without noise and without a charge. Never publish it or send it on.
{minimum}
"""
ASIDE: Final = "set aside: it is never queried, and none of its values is listed"


@dataclass(frozen=True, repr=False)
class Description:
    """A proposed schema, not approved, with a proposal for each column and hints about the whole."""

    schema: Schema
    proposals: tuple[Proposal, ...]
    minimum: MinimumUnits
    hints: tuple[str, ...] = ()
    sizes: Mapping[str, GroupSizes] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Show what is proposed at a glance; `text` has it all."""
        return f"Proposed, to be reviewed: {self.schema!r}"

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return self.schema._repr_html_()

    @property
    def text(self) -> str:
        """The schema file: nothing but what the holder may approve, without what was counted in the rows."""
        lines = [HEAD.format(minimum=self._minimum)]
        waiting = iter(self.proposals)
        marked = False
        for line in text_of(self.schema).splitlines(keepends=True):
            if line == "[[column]]\n":
                if not marked:
                    lines.append("approved = false\n\n")
                    marked = True
                lines += [f"# {ASIDE}\n"] if next(waiting).set_aside else []
            lines.append(line)
        return "".join(lines)

    @property
    def notes(self) -> str:
        """What was counted in the rows and why each column is proposed so, for the holder alone."""
        lines = [NOTES_HEAD.format(minimum=self._minimum), *(f"{_plain(hint)}\n" for hint in self.hints)]
        for proposal in self.proposals:
            lines.append(f"\n{_plain(proposal.column.name)}\n")
            lines += [f"  {_plain(note)}\n" for note in proposal.notes]
        return "".join(lines)

    @property
    def _minimum(self) -> str:
        lowered = [f"{_plain(name)}: {least}" for name, least in self.minimum.lowered.items()]
        but = f", but {', '.join(lowered)}" if lowered else ""
        return f"No value in it is one that fewer than {self.minimum.everywhere} units have{but}."

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the schema file for review, and beside it the holder's notes, whose path is returned."""
        beside = notes_beside(path)
        write_whole(Path(path), self.text)
        write_whole(beside, self.notes, only_owner=True)
        write_sizes(path, self.sizes)
        return beside


def notes_beside(schema_file: str | os.PathLike[str]) -> Path:
    """Name the file of the holder's notes on a proposed schema."""
    path = Path(schema_file)
    return path.with_name(f"{path.stem}.holder-only.txt")


def describe(  # noqa: PLR0913  (each setting has its own name)
    source: Any,
    *,
    table: str | None = None,
    missing: tuple[str, ...] = (),
    codes: bool = False,
    min_units: int = MIN_UNITS,
    min_units_of: Mapping[str, int] | None = None,
    unit: str | None = None,
) -> Description:
    """Look at all rows of a source and propose a schema for it.

    Every value that is proposed belongs to at least `min_units` units, or for some columns to so many as `min_units_of`
    says; only there it may be below 10. Units are the values of the column `unit`, or of columns that are named like a
    person's or a household's identifier, and else the rows. The codes of `missing` stand for missing in every column,
    beside those that a survey file declares. With `codes` the whole numbers that occur are listed where they are few.
    """
    minimum = MinimumUnits(min_units, dict(min_units_of or {}), unit)
    engine, labels = _opened(source, table)
    labelled = [name for name in labels if labels[name].values]
    with closing(engine), _in_holders_words():
        found = profiles(engine, missing, minimum=minimum, labelled=labelled, codes=codes)
        proposals = _proposals(found, labels, missing)
        sizes = {
            proposal.column.name: measured
            for proposal in proposals
            if proposal.likely_unit and (measured := GroupSizes.measured(engine, proposal.column))
        }
    unnamed = len(found) - len(proposals)
    left_out = [f"{unnamed} columns without a name were left out"] if unnamed else []
    hints = [*left_out, *engine.notes, *_unit_hints(minimum, found)]
    hints += [f"column {name!r} may name the unit to protect: see its note" for name in sizes]
    proposals = tuple(_with_sizes(proposal, sizes.get(proposal.column.name)) for proposal in proposals)
    schema = Schema(tuple(proposal.column for proposal in proposals))
    return Description(schema, proposals, minimum, tuple(hints), sizes)


def measure_sizes(
    source: Any,
    schema_file: str | os.PathLike[str],
    schema: Schema,
    names: Sequence[str],
    table: str | None = None,
) -> dict[str, GroupSizes]:
    """Count the rows of every group that columns of a schema name, and write them beside it for the holder."""
    engine, _ = _opened(source, table)
    with closing(engine), _in_holders_words():
        found = {name: GroupSizes.measured(engine, schema.column(name)) for name in names}
    sizes = {name: measured for name, measured in found.items() if measured is not None}
    write_sizes(schema_file, sizes)
    return sizes


def _proposals(
    found: list[Profile], labels: Mapping[str, Labels], missing: tuple[str, ...]
) -> tuple[Proposal, ...]:
    named = [profile for profile in found if profile.name]
    if not named:
        raise BadTable("The source has no column with a name. Name its columns.")
    if labels:
        named = [_with_survey_codes(profile) for profile in named]
    return tuple(propose(profile, labels.get(profile.name, Labels()).without(missing)) for profile in named)


def _with_sizes(proposal: Proposal, sizes: GroupSizes | None) -> Proposal:
    """Say what a bound on the rows of each group would leave out, and propose one."""
    if sizes is None:
        return proposal
    unit = (
        f'{{kind = "person", column = "{proposal.column.name}", most = {sizes.proposed}, beyond = "scale"}}'
    )
    note = f"if it names a person or a group, say so with unit, for example unit = {unit}"
    return replace(proposal, notes=(*proposal.notes, sizes.words, note))


@contextmanager
def _in_holders_words() -> Iterator[None]:
    """Let the holder know why rows cannot be read."""
    try:
        yield
    except EntwinedError:
        raise
    except ImportError as lacking:
        raise BadTable(
            f"The package {lacking.name} that tables are read with is not installed. Run: pip install {lacking.name}."
        ) from lacking
    except Exception as failed:
        raise HolderError(f"The rows cannot be read: {failed}") from failed


def _unit_hints(minimum: MinimumUnits, found: list[Profile]) -> list[str]:
    units = minimum.columns(found)
    return [f"units are counted by {', '.join(map(repr, units))}" if units else "units are rows"]


def _with_survey_codes(profile: Profile) -> Profile:
    """Write the codes of a survey file as people know them: 1 for 1.0."""
    if profile.values is None:
        return profile
    return replace(profile, values={code_text(value): held for value, held in profile.values.items()})


def _opened(source: Any, table: str | None) -> tuple[Engine, dict[str, Labels]]:
    if isinstance(source, str | os.PathLike) and os.fspath(source).lower().endswith(SURVEY_ENDS):
        return survey_engine(source)
    return engine_of(source, table=table, declared={}), {}


def _plain(text: str) -> str:
    """Keep a note on its line."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)
