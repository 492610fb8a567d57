"""Counts with Laplace noise under a δ, as a charge names them: they move by one each, so their own profile is known.

A charge of ρ says that Laplace noise shows no more than Gaussian noise of that ρ, which is what totals add up by. That
is loose: a few counts with Laplace noise show far less at a small δ, and many of them about two thirds of it. Where a
promise is for one batch, whose noise is fixed before anything is seen, each count enters by its own profile instead.

Where batches may be chosen as one goes, it is not claimed: an own profile is an average over all that might have been
seen, and how far later noise may hang on earlier answers is only bounded for totals of ρ (Smith, Thakurta 2022). Nor
is it where a condition reads another column, for a change of that one moves the same counts, where a form decides who
is asked, or where anything else than counts was charged beside them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self, TypeAlias

from entwined.bounds.profiles.bits import Bits
from entwined.canonical import Document, fraction_from, fraction_text
from entwined.promise.part import Part

ColumnBits: TypeAlias = Mapping[str, Bits]


@dataclass(frozen=True, slots=True)
class MovedByOne:
    """Counts with discrete Laplace noise of a scale, of which a change of a cell moves at most so many by one each.

    `once` is the loss of one draw, as a part is charged it: of a part that was charged more there were several draws.
    """

    scale: Fraction
    most: int
    once: tuple[Fraction, Fraction]

    @property
    def document(self) -> Document:
        """The counts as JSON."""
        return {
            "scale": fraction_text(self.scale),
            "most": self.most,
            "once": [fraction_text(loss) for loss in self.once],
        }

    @classmethod
    def from_document(cls, given: Mapping[str, Any]) -> Self:
        """Read them back."""
        one, both = map(fraction_from, given["once"])
        return cls(fraction_from(given["scale"]), int(given["most"]), (one, both))

    def bits(self, part: Part) -> Bits:
        """What all draws of a part show; nothing is known of it where it was not charged for whole draws."""
        draws = (part.one + part.both) / sum(self.once)
        whole = draws.denominator == 1 and (part.one, part.both) == tuple(loss * draws for loss in self.once)
        return ((1 / self.scale, self.most * int(draws)),) if whole else ()


def bits_of(parts: Iterable[tuple[str, Part, MovedByOne | None]]) -> ColumnBits:
    """What counts show of each column, where all that was charged is such counts; nothing where it is not."""
    found: defaultdict[str, dict[Fraction, int]] = defaultdict(dict)
    for column, part, counts in parts:
        bits = () if counts is None else counts.bits(part)
        if not bits:
            return {}
        for loss, many in bits:
            found[column][loss] = found[column].get(loss, 0) + many
    return {column: tuple(sorted(each.items())) for column, each in found.items()}
