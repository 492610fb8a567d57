"""Places of people at the door: the cells of a model's city are the values of two columns of the table."""

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Final

from entwined.dependence import City
from entwined.errors import BadModel
from entwined.promise.distances import bounds_of, check_along
from entwined.schema import Schema
from entwined.schema.grids import Numeric

AS_A_GRAPH: Final = (
    "Or leave `columns` out: then any two places are a secret, by the log odds of the whole city."
)


def check_places(
    title: str, model: City, columns: Sequence[str], says_nothing: Collection[str], schema: Schema
) -> None:
    """Refuse columns that are not the cells of the city: as many values as it has cells, and as far apart."""
    sides = cells_of(model)[: len(columns)]
    if len(sides) < len(columns) or any(cells > 1 for cells, _ in cells_of(model)[len(columns) :]):
        raise BadModel(
            f"The model {title!r} is a city of {model.grid.across} × {model.grid.down} cells, and columns named are "
            f"{len(columns)}. Say in `columns` which two tell how far across and how far down. {AS_A_GRAPH}"
        )
    for name, (cells, side) in zip(columns, sides, strict=True):
        column = schema.coded(name)
        bounds_of(column)  # refuses what has no distances
        if isinstance(column, Numeric) and (column.levels, column.spacing) != (cells, side):
            raise BadModel(
                f"The model {title!r} has {cells} cells of {float(side):g} in the direction of {name!r}, and that "
                f"column has {column.levels} values, {float(column.spacing):g} apart. Declare the middles of the cells "
                f"as its values: two bounds and their step. {AS_A_GRAPH}"
            )
    check_along(title, columns, says_nothing, schema)


def cells_of(model: City) -> tuple[tuple[int, Fraction], tuple[int, Fraction]]:
    """How many cells there are across and down, and how long a cell is."""
    grid = model.grid
    return (
        (grid.across, Fraction(str(grid.width)) / grid.across),
        (grid.down, Fraction(str(grid.height)) / grid.down),
    )


def diameter(model: City) -> Fraction:
    """How far two cells are apart at most, along the streets."""
    return sum(((cells - 1) * side for cells, side in cells_of(model)), Fraction(0))


def reach(title: str, model: City, within: Fraction | None) -> Fraction:
    """How far apart two places of a secret are at most: as declared, or as far as the city goes."""
    if within is None:
        return diameter(model)
    shortest = min((side for cells, side in cells_of(model) if cells > 1), default=Fraction(0))
    if not 0 < shortest <= within:
        raise BadModel(
            f"The model {title!r} keeps secret which of two places at most {float(within):g} apart someone is at, and "
            f"its cells are {float(shortest):g} apart. Give a longer distance, or a finer grid."
        )
    return within
