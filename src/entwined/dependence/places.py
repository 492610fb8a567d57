"""Places: the cells of a grid, how far apart they are, and where the friends of someone in one of them are."""

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from entwined.dependence.model import checked_units
from entwined.errors import BadModel
from entwined.numbers import FloatArray, IntArray

Norm = Literal["cityblock", "euclidean"]

NEARNESS: Final = 0.196  # b and c as Backstrom, Sun and Marlow (2010) found them among users of Facebook
FALL: Final = 1.05
PLANE: Final = 2
MOST_CELLS: Final = 4096  # of which 4096² distances still fit


@dataclass(frozen=True, slots=True)
class CityGrid:
    """A rectangle of so many cells across and down; a cell has the number down · across + how far across it is.

    >>> CityGrid(2, 2).distances().tolist()[0]
    [0.0, 0.5, 0.5, 1.0]
    """

    across: int
    down: int
    width: float = 1.0
    height: float = 1.0

    def __post_init__(self) -> None:
        checked_units(self.across)
        checked_units(self.down)
        if self.across * self.down > MOST_CELLS:
            raise BadModel(
                f"A grid of {self.across} × {self.down} cells; the most are {MOST_CELLS}. Take larger ones."
            )
        if not (0 < self.width < math.inf and 0 < self.height < math.inf):
            raise BadModel(f"A grid of {self.width} by {self.height}. Give a width and a height above zero.")

    @property
    def cells(self) -> int:
        """How many there are."""
        return self.across * self.down

    @property
    def centres(self) -> FloatArray:
        """Where the middle of each cell is: x and y, a row a cell."""
        x = (np.arange(self.across) + 0.5) * (self.width / self.across)
        y = (np.arange(self.down) + 0.5) * (self.height / self.down)
        return np.column_stack([np.tile(x, self.down), np.repeat(y, self.across)])

    def cells_of(self, points: FloatArray) -> IntArray:
        """The cell that each point (x and y, a row a point) lies in; what lies outside goes to the nearest edge."""
        given = np.asarray(points, dtype=np.float64)
        if given.ndim != PLANE or given.shape[1] != PLANE or np.isnan(given).any():
            raise BadModel("The points are no pairs of numbers. Give x and y, a row a point.")
        sides = np.array([self.across, self.down])
        steps = np.floor(np.clip(given / [self.width, self.height], 0.0, 1.0) * sides).astype(np.int64)
        x, y = np.minimum(steps, sides - 1).T
        return np.asarray(y * self.across + x)

    def distances(self, norm: Norm = "cityblock") -> FloatArray:
        """How far the middles of any two cells are apart."""
        apart = np.abs(self.centres[:, None, :] - self.centres[None, :, :])
        match norm:
            case "cityblock":
                return np.asarray(apart.sum(axis=2))
            case "euclidean":
                return np.hypot(apart[..., 0], apart[..., 1])
        raise BadModel(f"The distance {norm!r:.60} is unknown. Use 'cityblock' or 'euclidean'.")


def friends_places(distances: FloatArray, *, nearness: float = NEARNESS, fall: float = FALL) -> FloatArray:
    """Where a friend is given where one is (a row a place): in proportion to (distance + b)^−c, b > 0.

    Equation 26 of Liu, Chakraborty and Mittal (2016); its factor a cancels, for a friend is somewhere.
    """
    apart = np.asarray(distances, dtype=np.float64)
    if apart.ndim != PLANE or not (np.isfinite(apart).all() and (apart >= 0).all()):
        raise BadModel("The distances are no table of numbers from 0 on. Give those of a grid.")
    if not (0 < nearness < math.inf and 0 <= fall < math.inf):
        raise BadModel(
            f"b = {nearness} and c = {fall} are no nearness and fall. Give b above 0 and c from 0 on."
        )
    weights = (apart + nearness) ** -fall
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
