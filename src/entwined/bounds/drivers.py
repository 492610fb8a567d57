"""Whose leakage the noise is for: by name for the holder, and for everybody as shares of all units."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from entwined.canonical import Document
from entwined.dependence import Dependence, Edged
from entwined.loss import Leakage

ROUNDING: Final = 1e-9
ALIKE: Final = 0.01  # what is nearer to the group than this says no more than the group


@dataclass(frozen=True, slots=True)
class Driver:
    """A unit that is among those that leak most. It is named, so it is for the holder's eyes."""

    name: str
    leakage: float
    ties: int | None

    @property
    def document(self) -> Document:
        """The same as a part of what the holder sees."""
        return {"name": self.name, "leakage": self.leakage, "ties": self.ties}


def drivers(model: Dependence, leakage: Leakage, most: int) -> tuple[Driver, ...]:
    """Name the units that leak most, the worst first; of equal ones those with more ties."""
    units = np.delete(np.arange(leakage.per_unit.size), list(leakage.hidden))
    ties = model.degrees if isinstance(model, Edged) else np.zeros(leakage.per_unit.size, dtype=np.int64)
    order = np.lexsort((units, -ties[units], -leakage.per_unit[units]))[:most]
    return tuple(
        Driver(
            model.named(place) if isinstance(model, Edged) else model.called(place),
            float(leakage.per_unit[place]),
            int(ties[place]) if isinstance(model, Edged) else None,
        )
        for place in units[order].tolist()
    )


def says_no_more_than_the_group(model: Dependence, messages: float | None, group: float | None) -> str:
    """Say so where the messages along the edges of a network forget next to nothing, and what would help."""
    if not isinstance(model, Edged) or not messages or not group or messages < group * (1 - ALIKE):
        return ""
    joined = int(np.bincount(model.couplings.components).max())
    if joined == 1:
        return ""
    strongest = float(model.couplings.log_odds.max(initial=0.0))
    one_by_one = (
        ""
        if model.assuming
        else ' Or ties that are taken one by one (kind "ties"), if what they rest on can be believed.'
    )
    return (
        f"With log odds up to {strongest:.4g} the messages along the ties say no more than the group: all {joined:,} "
        "units that hang together count in full. What helps: weaker ties, if that is true, fewer of them, so that the "
        f'network falls into smaller parts, or a cap on how many of anyone\'s ties tell ("most_ties").{one_by_one}'
    )


def spread_words(leakage: Leakage) -> Iterator[str]:
    """Say what shares of all units leak at most, where they differ."""
    spread = leakage.spread
    if spread["0"] < spread["1"] * (1 - ROUNDING):
        yield (
            f"Of all units half leak at most {spread['0.5']:.4g}, 90 % at most {spread['0.9']:.4g}, 99 % at most "
            f"{spread['0.99']:.4g}, and the most is {spread['1']:.4g}."
        )
