"""What all models of steps in a row share: how many there are, their states, and the law of the first."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from entwined.dependence.box import Box, normalised
from entwined.dependence.model import Coupled
from entwined.errors import BadModel
from entwined.numbers import FloatArray


class Chained(Coupled):
    """Steps of one series, each of which depends on the one before alone."""

    plural: ClassVar[str] = "Markov chains"
    length: int
    initial: FloatArray | None

    @property
    def has_values(self) -> bool:
        """It says which values its units take."""
        return True

    @property
    def units(self) -> int:
        """How many steps there are."""
        return self.length

    @property
    @abstractmethod
    def states(self) -> int:
        """How many states there are."""

    def reaches(self, steps: int | None) -> bool:
        """Whether it is so long."""
        return steps is not None and steps <= self.length

    def called(self, place: int) -> str:
        """Name a step."""
        return f"step {place}"


def checked_transitions(tables: Box, depth: int, what: str) -> Box:
    """Refuse tables that do not lead from states to the same states; keep rows that are probabilities."""
    shape = tables.shape
    if 0 in shape:
        raise BadModel(f"{what} is empty. Give one row and one column a state.")
    if len(shape) != depth or shape[-1] != shape[-2]:
        size = " × ".join(map(str, shape))
        raise BadModel(f"{what} is {size}, not square. Give one row and one column a state.")
    return tables.as_probabilities(what)


def checked_initial(initial: FloatArray, states: int) -> FloatArray:
    """Refuse a law of the first step that is none."""
    if initial.shape != (states,):
        raise BadModel(
            f"The initial law has {initial.size} states, the transition matrix {states}. Give one probability a state."
        )
    if not np.isfinite(initial).all():
        raise BadModel("The initial law has an entry that is infinite or not a number. Give probabilities.")
    return normalised(initial, "The initial law")
