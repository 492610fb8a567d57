"""What every dependence model can say of itself."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from operator import index
from typing import ClassVar, Literal, get_args

import numpy as np

from entwined.canonical import Document
from entwined.dependence.couplings import Couplings
from entwined.dependence.learned_from import LearnedFrom
from entwined.dependence.luck import made_up_luck
from entwined.dependence.model_check import ModelCheck
from entwined.dependence.narrower import Narrower, Tie
from entwined.dependence.product_law import ProductLaw
from entwined.errors import BadInput, BadModel, DoesNotApply
from entwined.loss import Loss
from entwined.numbers import BoolArray, FloatArray, IntArray
from entwined.showing import Tabled

Source = Literal["declared", "proxy", "learned", "exploratory"]

MOST_UNITS = 50_000_000


class Dependence(Tabled, ABC):
    """A class of joint laws of the units: what the adversary knows about what depends on what."""

    kind: ClassVar[str]
    plural: ClassVar[str] = "all models"
    strength: ClassVar[str] = "every log odds ratio"  # what `stronger` makes larger
    assuming: ClassVar[str] = ""  # what theorems about such models alone take an adversary to do without
    alike: ClassVar[bool] = False  # whether every unit is tied alike, so that bounds are quick for many
    by_distance: ClassVar[bool] = False  # whether a leakage is for each unit of distance between two values
    source: Source
    learned_from: LearnedFrom | None = None
    check: ModelCheck | None = None
    hidden: tuple[int, ...] = ()  # units that no table has and nobody asks about: nothing is promised of them

    @property
    def unprotected(self) -> tuple[int, ...]:
        """Units of which nothing is promised: the hidden ones, and what is public."""
        return self.hidden

    @property
    @abstractmethod
    def units(self) -> int:
        """How many units the law is about."""

    @property
    def has_values(self) -> bool:
        """Whether it says which values its units take."""
        return False

    def possible(self) -> Sequence[BoolArray]:
        """Give the values that each unit can take, as far as the law leaves some out; none where it leaves out none."""
        return ()

    def fits(self, units: int) -> bool:
        """Whether a loss over this many units speaks of the same units."""
        return units == self.units

    @property
    @abstractmethod
    def document(self) -> Document:
        """The model as the fields of its file."""

    @abstractmethod
    def group_totals(self, loss: Loss) -> FloatArray:
        """For each unit, the losses of all units that its value can have a bearing on, summed."""

    @property
    def secrets(self) -> str:
        """Say which units are no secrets, if some are not."""
        return f" but the {len(self.hidden)} hidden ones" if self.hidden else ""

    def stronger(self, share: float) -> "Dependence":
        """Give the model of the same units whose dependence is stronger: its `strength` larger by a share."""
        if not 0 <= share < math.inf:
            raise BadInput(f"Dependence that is larger by {share}. Give a share from 0, such as 0.25.")
        return self if share == 0 else self.times_as_strong(1.0 + share)

    def times_as_strong(self, factor: float) -> "Dependence":
        """Multiply the `strength` of the model; refuse where there would be no such law."""
        raise DoesNotApply(f"A model of kind {self.kind} cannot be made {factor:g} times as strong.")

    def until(self, steps: int) -> "Dependence | None":  # noqa: ARG002  (most models have no steps)
        """Give the first steps of a series; none where units are not the steps of one."""
        return None

    def reaches(self, steps: int | None) -> bool:  # noqa: ARG002
        """Whether it speaks of a series of so many steps, or of one without an end, where it is about series."""
        return True

    def called(self, place: int) -> str:
        """Name a unit."""
        return f"unit {place}"

    def member(self, values: int = 2) -> ProductLaw:  # noqa: ARG002  (most models say how many values there are)
        """Give one law of the class, to draw people from and to attack.

        `values` is how many a unit has where the model leaves it open.
        """
        raise DoesNotApply(
            f"A model of kind {self.kind} has no law over finitely many values. Attack groups, a chain, a network, a "
            "field or a graph instead."
        )

    def around(self, place: int, values: int = 2) -> ProductLaw:  # noqa: ARG002  (one law serves for all units)
        """Give one law of the class to attack this unit under."""
        return self.member(values)

    def draw(self, count: int, generator: np.random.Generator | None = None, *, values: int = 2) -> IntArray:
        """Draw populations from one law of the class, one a row; from the system's entropy if no generator is given."""
        return self.member(values).draw(count, generator or made_up_luck())

    def narrower(self) -> Iterator[Narrower]:
        """Give smaller classes that it would be if more were known, as examples."""
        yield from ()

    def ties(self, place: int) -> Iterator[Tie["Dependence"]]:  # noqa: ARG002  (most models have none to name)
        """Give what ties a unit to others, one by one."""
        yield from ()


class Coupled(Dependence):
    """A model of finitely many values, written as factors that couple units."""

    plural: ClassVar[str] = "models of finitely many values (chains, networks, fields, graphs)"

    @property
    @abstractmethod
    def couplings(self) -> Couplings:
        """Who shares a factor with whom, and how strongly."""

    @property
    def pairs(self) -> tuple[IntArray, FloatArray]:
        """The pairs that share a factor, with Δ between the two while all other units are held fixed."""
        return self.couplings.unit.reshape(-1, 2), self.couplings.log_odds[::2]

    def group_totals(self, loss: Loss) -> FloatArray:
        """Sum the losses of each connected component."""
        return self.couplings.component_totals(loss.per_unit)


def checked_units(units: int) -> int:
    """Refuse a number of units that cannot be or cannot fit."""
    try:
        index(units)
    except TypeError:
        raise BadModel(f"A model of {units!r:.60} units. Give a whole number.") from None
    if units < 1:
        raise BadModel(f"A model of {units} units is empty. Give at least one unit.")
    if units > MOST_UNITS:
        raise BadModel(
            f"A model of {units} units does not fit; the most is {MOST_UNITS}. Split the table first."
        )
    return units


def distinct_places(names: Sequence[str]) -> dict[str, int]:
    """Give each name its place; refuse one that is given twice."""
    position = dict(zip(names, range(len(names)), strict=True))
    if len(position) < len(names):
        again = next(name for place, name in enumerate(names) if position[name] != place)
        raise BadModel(f"Two variables have the name {again!r:.60}. Give each variable a name of its own.")
    return position


def checked_source(source: str) -> Source:
    """Refuse a source that is none of the four."""
    for known in get_args(Source):
        if source == known:
            return known  # type: ignore[no-any-return]
    raise BadModel(f"Source {source!r} is unknown. Use one of {', '.join(get_args(Source))}.")
