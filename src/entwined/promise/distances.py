"""Losses along the distances of a column's values: what a release under a Gaussian model is made of.

A sum of a clipped column moves in proportion to the distance of two values, and the number of values does not move
with them at all: such statistics are charged to a part of their own. What reads anything else of a row is charged for
any change of it. The theorem "clipped values" says what both leak: of the first, as much as the values of a group move
together; of the second, as much as a group of that size.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from entwined.bounds.clipped_values import ClippedValues
from entwined.bounds.near_places import NearPlaces
from entwined.errors import BadModel
from entwined.promise.measure import Measure
from entwined.promise.part import Part
from entwined.promise.places import place_of
from entwined.queries import Layers
from entwined.schema import Coded, Numeric, Schema

DOUBLES: Final = Fraction(1, 2**48)  # of the size of a bound: above what floating point adds to a rounding


@dataclass(frozen=True, slots=True)
class Along:
    """What a value that goes from one bound of a column to the other costs, and any change to what else is read."""

    moved: tuple[Fraction, ...]
    besides: Fraction

    def times(self, factor: Fraction) -> "Along":
        """So many times as much."""
        return Along(tuple(loss * factor for loss in self.moved), self.besides * factor)

    def of_values(self, own: Fraction, column: Coded, units: int, measure: Measure) -> ClippedValues:
        """What these losses show of the values of a group of so many rows."""
        low, high, rounding = bounds_of(column)
        delta = measure.delta or Fraction(0)
        (moved,) = self.moved
        return ClippedValues(own, moved, self.besides, (low, high), rounding, units, delta)

    def of_places(self, own: Fraction, columns: Sequence[Coded], within: Fraction, units: int) -> NearPlaces:
        """What these losses show of the places of people: most along the column that costs most for its length."""
        ends = [bounds_of(column) for column in columns]
        rates = [
            loss / (high - low) for loss, (low, high, _) in zip(self.moved, ends, strict=True) if low < high
        ]
        return NearPlaces(own, max(rates, default=Fraction(0)), self.besides, within, units)


def along(names: tuple[str, ...], parts: Iterable[Part], *, absent: bool) -> Along:
    """Tell the losses along some columns' distances from all others; those of a row that may be absent are others."""
    moved, others = dict.fromkeys(names, Fraction(0)), []
    for part in parts:
        place = place_of(part.key)
        if place.distance in moved:
            moved[place.distance] += part.both
        else:
            others.append((place.where, part.one, part.both))
    return Along(tuple(moved.values()), Layers.of(others).at_two(absent=absent).value)


def bounds_of(column: Coded) -> tuple[Fraction, Fraction, Fraction]:
    """Give the two bounds of a column of numbers, and by how much rounding can move two values further apart."""
    if not isinstance(column, Numeric):
        raise BadModel(
            f"Column {column.name!r} is {column.kind}, and the model is about distances. Take integers or real numbers."
        )
    low = column.origin
    high = low + (column.levels - 1) * column.spacing
    return low, high, column.spacing + (abs(low) + abs(high)) * DOUBLES


def check_distances(
    title: str, columns: Sequence[str], says_nothing: Collection[str], schema: Schema
) -> None:
    """Refuse a model of distances that is not about one clipped column of numbers, or units of several rows."""
    if len(columns) != 1:
        raise BadModel(
            f"The model {title!r} is Gaussian, and {len(columns)} columns are named for it. Say in `columns` which one "
            "its values are in."
        )
    (name,) = columns
    low, high, _ = bounds_of(schema.coded(name))
    if low == high:
        raise BadModel(
            f"The model {title!r} is about distances, and column {name!r} has one value alone. Give it two bounds."
        )
    check_along(title, columns, says_nothing, schema)


def check_along(title: str, columns: Sequence[str], says_nothing: Collection[str], schema: Schema) -> None:
    """Refuse columns that are not clipped or may be missing without a word, and units of several rows."""
    dropping = [name for name in columns if getattr(schema.coded(name), "outside", None) != "clamp"]
    if dropping:
        raise BadModel(
            f"The model {title!r} is about distances, and column {dropping[0]!r} drops what lies outside its bounds. "
            'Give it outside = "clamp".'
        )
    if schema.unit.most_rows > 1:
        raise BadModel(
            f"The model {title!r} has one value for each unit, and a person may have {schema.unit.most_rows} rows. Let "
            "one row a person count, or declare groups."
        )
    if set(says_nothing) != set(columns):
        listed = " and ".join(map(repr, columns))
        raise BadModel(
            f"The model {title!r} has no word for a missing value. If it says nothing about anything whether {listed} "
            "is missing, name just this in missing_says_nothing; otherwise declare groups."
        )
