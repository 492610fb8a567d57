"""Who has a value: how many units must have one before a proposal shows it, and which columns name units."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from entwined.errors import BadInput, BadTable
from entwined.tables.profile import Profile

MIN_UNITS: Final = 10
MOST_UNITS: Final = 10_000  # that a minimum may be
UNIQUE: Final = 0.9
ENOUGH: Final = 100
FEW_ROWS: Final = 1 / 1000  # of the rows are different values of a column that is called like an identifier
IDENTIFIER: Final = re.compile(
    r"(^|[^a-z])(id|ids|uuid|guid|ssn|nin|nr|key|code|pid|hid|hhid|email|phone|name)([^a-z]|$)", re.IGNORECASE
)
GROUP: Final = re.compile(
    r"person|patient|user|customer|client|member|student|pupil|employee|respondent|subject|household|hhid|"
    r"family|school|class|ward|hospital|company|firm",
    re.IGNORECASE,
)
UNIT: Final = re.compile(
    r"(person|patient|user|customer|client|student|pupil|employee|respondent|participant|household|family|home)s?"
    r"(?P<of>[_ .-]?(id|nr|no|number|key|code))?|(?P<alone>id|pid|hid|hhid|uuid|guid|ssn|nin)",
    re.IGNORECASE,
)
MOST_MEMBERS: Final = 20  # a number called family or household may be its size


@dataclass(frozen=True, slots=True)
class MinimumUnits:
    """The least number of units that have a value before a proposal shows it.

    It may be raised for all columns; below 10 it is given column by column, in `by_column`. Units are the different
    values of `unit`, or, if none is given, of every column that is named like one; rows where there is none.
    """

    everywhere: int = MIN_UNITS
    by_column: Mapping[str, int] = field(default_factory=dict)
    unit: str | None = None

    def __post_init__(self) -> None:
        if not MIN_UNITS <= self.everywhere <= MOST_UNITS:
            raise BadInput(
                f"A minimum of {self.everywhere} units for all columns: give {MIN_UNITS} to {MOST_UNITS:,}. Lower it "
                "for one column alone, as COLUMN=5."
            )
        for name, least in self.by_column.items():
            if not 1 <= least <= MOST_UNITS:
                raise BadInput(
                    f"A minimum of {least} units for {name!r:.60}: give a number from 1 to {MOST_UNITS:,}."
                )

    @property
    def lowered(self) -> dict[str, int]:
        """The columns whose values are shown though fewer units have them than by default."""
        return {name: least for name, least in self.by_column.items() if least < MIN_UNITS}

    def of(self, column: str) -> int:
        """Give the minimum for a column."""
        return self.by_column.get(column, self.everywhere)

    def require_columns(self, names: Sequence[str]) -> None:
        """Refuse settings for columns that are not there."""
        wanted = [*self.by_column, *([] if self.unit is None else [self.unit])]
        unknown = next((name for name in wanted if name not in names), None)
        if unknown is not None:
            raise BadTable(f"The table has no column {unknown!r:.60}. Check the name.")

    def columns(self, profiles: Sequence[Profile]) -> tuple[str, ...]:
        """List the columns whose different values are the units."""
        if self.unit is not None:
            return (self.unit,)
        return tuple(profile.name for profile in profiles if names_units(profile))


def names_units(profile: Profile) -> bool:
    """Whether the values of a column seem to name persons, households or other groups of rows."""
    return _repeats(profile) and (is_named_like_units(profile) or is_identifier(profile))


def is_identifier(profile: Profile) -> bool:
    """A whole number or text that is nearly different in every row, or whose name says so and that varies much."""
    if not _could_name(profile):
        return False
    share = profile.different / max(profile.there, 1)
    if is_named_like_units(profile):
        return True
    if profile.different <= ENOUGH:
        return False
    if share > UNIQUE and (profile.reading == "text" or _counts_up(profile)):
        return True
    return is_named_like_one(profile) and share > FEW_ROWS


def is_named_like_units(profile: Profile) -> bool:
    """Whether a column has the very name of a unit, such as patient or household_id, and could name some."""
    name = UNIT.fullmatch(profile.name)
    if name is None or not _could_name(profile):
        return False
    bare = profile.reading == "number" and not (name["of"] or name["alone"])
    return profile.different > (MOST_MEMBERS if bare else 2)


def is_named_like_one(profile: Profile) -> bool:
    """Whether the name of a column speaks of identifiers or groups."""
    return bool(IDENTIFIER.search(profile.name) or GROUP.search(profile.name))


def _could_name(profile: Profile) -> bool:
    return profile.reading == "text" or (profile.reading == "number" and profile.decimals == 0)


def _repeats(profile: Profile) -> bool:
    return profile.there / max(profile.different, 1) > 1 / UNIQUE


def _counts_up(profile: Profile) -> bool:
    """Whether the bulk of whole numbers is a run in which hardly any is left out, as row numbers are."""
    if profile.least is None or profile.decimals != 0:
        return False
    return bool(profile.most - profile.least < profile.there / UNIQUE)
