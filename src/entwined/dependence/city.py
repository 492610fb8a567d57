"""Friends in a city: who is tied to whom, and where someone is given where a friend is, on the cells of a grid."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import ClassVar, Final

import numpy as np

from entwined.canonical import Document
from entwined.dependence.fields import Fields
from entwined.dependence.graph import Graph
from entwined.dependence.graph_files import graph_from
from entwined.dependence.narrower import Narrower, Tie
from entwined.dependence.odds import exact_axis
from entwined.dependence.places import FALL, NEARNESS, CityGrid, friends_places
from entwined.dependence.product_law import ProductLaw, UnitTable
from entwined.errors import BadModel
from entwined.numbers import FloatArray

MOST_CELLS: Final = 1_024  # beyond it the log odds of all pairs of cells take long
ABOUT_EDGES: Final = ("edges", "units", "edges_digest")
ABOUT_CITY: Final = ("across", "down", "width", "height", "nearness", "fall")


@dataclass(frozen=True, eq=False, repr=False)
class City(Graph):
    """Every law of people's cells with a factor (distance + b)^−c for each tie.

    Distances are along the streets of the grid, in whatever unit its width and height have. Its log odds are those of
    the whole city; what a small step tells is less, and is bounded for losses by distance.

    >>> pair = City.of(2, np.array([[0, 1]]), CityGrid(20, 20))
    >>> round(float(pair.log_odds[0]), 3)
    4.976
    """

    grid: CityGrid = CityGrid(20, 20)  # noqa: RUF009  (a frozen value)
    nearness: float = NEARNESS
    fall: float = FALL
    kind: ClassVar[str] = "places"
    plural: ClassVar[str] = "places of people"
    strength: ClassVar[str] = "how fast ties fall with distance"

    def __post_init__(self) -> None:
        if self.grid.cells > MOST_CELLS:
            raise BadModel(
                f"A city of {self.grid.cells:,} cells; the most are {MOST_CELLS:,}. Take larger cells."
            )
        object.__setattr__(self, "log_odds", np.asarray(widest(self.grid, self.nearness, self.fall)))
        super().__post_init__()

    @classmethod
    def of(
        cls, size: int, ends: np.ndarray, grid: CityGrid, nearness: float = NEARNESS, fall: float = FALL
    ) -> "City":
        """People numbered from 0 and the pairs that are tied, in a city."""
        return cls(size, np.asarray(ends), np.zeros(()), grid=grid, nearness=nearness, fall=fall)

    @cached_property
    def kernel(self) -> FloatArray:
        """Where a friend is, a row for each cell that one may be in; the same in both directions along a tie."""
        return friends_places(self.grid.distances(), nearness=self.nearness, fall=self.fall)

    def member(self, values: int = 2) -> ProductLaw:  # noqa: ARG002  (its cells are its values)
        """The law that weighs each cell so that, where ties are a forest, places follow the kernel both ways."""
        factor = (self.grid.distances() + self.nearness) ** -self.fall
        about = factor.sum(axis=1) / factor.sum(axis=1).max()
        ties = np.bincount(self.ends.reshape(-1), minlength=self.size).tolist()
        alone = (UnitTable((unit,), about ** (1 - count)) for unit, count in enumerate(ties))
        pairs = (UnitTable((first, second), factor) for first, second in self.ends.tolist())
        return ProductLaw((self.grid.cells,) * self.size, (*alone, *pairs))

    @property
    def city(self) -> Document:
        """What the model file says of the city."""
        grid = self.grid
        sides = {"across": grid.across, "down": grid.down, "width": grid.width, "height": grid.height}
        return {**sides, "nearness": self.nearness, "fall": self.fall}

    @property
    def document(self) -> Document:
        """The model as the fields of its file."""
        return super().document | self.city

    @property
    def written_out(self) -> Document:
        """The model with its ties as pairs."""
        about = {"kind": self.kind, "units": self.size, "edges": self.ends.tolist(), "source": self.source}
        return about | self.city

    def times_as_strong(self, factor: float) -> "City":
        """Let ties fall faster: log odds grow in proportion to c."""
        return replace(self, fall=self.fall * factor)

    def ties(self, place: int) -> Iterator[Tie["Graph"]]:  # noqa: ARG002  (all ties are alike)
        """None to be taken for weaker by itself."""
        yield from ()

    def narrower(self) -> Iterator[Narrower]:
        """None: a city has no cap on ties."""
        yield from ()


def city_from(fields: Fields, folder: Path) -> City:
    """Read who is tied to whom, and the city."""
    fields.only(*ABOUT_EDGES, *ABOUT_CITY)
    numbers = {name: _number(fields, name) for name in ABOUT_CITY[2:] if fields.has(name)}
    cells = fields.integer("across"), fields.integer("down")
    grid = CityGrid(*cells, numbers.get("width", 1.0), numbers.get("height", 1.0))
    told = {name: fields.values[name] for name in (*ABOUT_EDGES, "source") if fields.has(name)}
    graph = graph_from(Fields({"kind": Graph.kind, "log_odds": 1, **told}), folder)
    if not (graph.log_odds == 1).all():
        raise BadModel(
            "The ties of people in a city have log odds of their own. Leave these out of the edges."
        )
    said = tuple((name, value) for name, value in graph.fields if name != "log_odds")
    about = graph.size, graph.ends, np.zeros(()), fields.source, said, graph.edges_digest, graph.edges_file
    near, fall = numbers.get("nearness", NEARNESS), numbers.get("fall", FALL)
    return City(*about, label=graph.label, grid=grid, nearness=near, fall=fall)


def _number(fields: Fields, name: str) -> float:
    table = fields.table(name, 0)
    if not table.is_exact:
        raise BadModel(f'"{name}" is an interval. Give one number.')
    return float(table.high)


@lru_cache(maxsize=16)
def widest(grid: CityGrid, nearness: float, fall: float) -> float:
    """The largest log odds between any two cells."""
    kernel = friends_places(grid.distances(), nearness=nearness, fall=fall)
    return float(exact_axis(kernel[None], 1)[0])
