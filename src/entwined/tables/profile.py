"""What one column of the holder's rows looks like. Only `describe` uses it, and all of it is private."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

Reading: TypeAlias = Literal["number", "time", "truth", "text", "nothing"]


class Frequency(NamedTuple):
    """How many rows have a value, and how many units: rows, or persons and households where a column names them."""

    rows: int
    units: int


@dataclass(frozen=True)
class Profile:
    """One column: how its values read, how many do, and where the bulk of them lies.

    `least` and `most` are the ends of the bulk, for the minimum number of units m: at least m units have a value up to
    `least`, and at least m have one from `most`; both are None where fewer units have a value. An end is `common`
    where at least m units have exactly that value. `decimals` and `step` are those of all values but those of fewer
    than m units. None of the fields names a value that fewer than m units have, but `least`, `most` and `values`:
    a proposal rounds the former and leaves the rare ones of the latter out.
    """

    name: str
    reading: Reading
    rows: int
    there: int
    fitting: int
    different: int
    minimum: int
    least: Any = None
    most: Any = None
    least_is_common: bool = False
    most_is_common: bool = False
    zero_or_one: bool = False
    infinite: int = 0
    decimals: int | None = 0
    step: str = "second"
    values: Mapping[str, Frequency] | None = None

    @property
    def unfit(self) -> int:
        """How many values are there but do not read."""
        return self.there - self.fitting

    @property
    def common_values(self) -> dict[str, Frequency]:
        """The listed values that at least the minimum number of units have."""
        listed = self.values or {}
        return {text: held for text, held in listed.items() if held.units >= self.minimum}
