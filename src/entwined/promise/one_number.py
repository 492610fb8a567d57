"""A single released number, as a charge names it: what each row adds to it, and the noise that it was drawn with."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

from entwined.canonical import Document, fraction_from, fraction_text
from entwined.promise.part import Part
from entwined.queries.row_weights import RowWeights


@dataclass(frozen=True, slots=True)
class OneNumber:
    """A count or a total over all rows, with discrete Laplace noise of a scale.

    `once` is the loss of one draw, as a part is charged it: of a part that was charged more there were several draws.
    """

    added: RowWeights
    scale: Fraction
    once: tuple[Fraction, Fraction]

    @property
    def document(self) -> Document:
        """The number as JSON."""
        return {
            "columns": list(self.added.columns),
            "weights": list(self.added.weights),
            "scale": fraction_text(self.scale),
            "once": [fraction_text(loss) for loss in self.once],
        }

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read a number back."""
        one, both = map(fraction_from, given["once"])
        added = RowWeights(tuple(given["columns"]), tuple(map(int, given["weights"])))
        return cls(added, fraction_from(given["scale"]), (one, both))

    def is_all_of(self, part: Part) -> bool:
        """Whether a part was charged for one draw alone."""
        return (part.one, part.both) == self.once

    def times(self, factor: Fraction) -> "OneNumber":
        """The same number with noise of so many times the loss."""
        one, both = self.once
        return replace(self, scale=self.scale / factor, once=(one * factor, both * factor))
