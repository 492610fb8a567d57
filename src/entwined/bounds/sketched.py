"""Sharing a leakage where it takes long to work out: by sketches of it, each near where the last one led."""

from typing import Final, Protocol, Self

from entwined.bounds.allocate import Shared, SharingTerms, ceiling_of, searched, within
from entwined.errors import Unreachable
from entwined.numbers import FloatArray

SKETCHES: Final = 3
FORETOLD: Final = 0.01  # how far what is shown may be from what a sketch foretold, without another one


class QuickTerms(SharingTerms, Protocol):
    """About what statistics leak near some losses, quickly."""

    def beside(self, other: Self) -> Self:
        """The larger of what this one says and another."""


class Sketched(SharingTerms, Protocol):
    """Terms that can be sketched."""

    def sketch(self, ceiling: float, losses: FloatArray | None = None) -> QuickTerms:
        """About the same near some losses, or near some that are even."""


def foretold(terms: Sketched, weights: FloatArray, leakage: float) -> tuple[QuickTerms, Shared]:
    """Search by a first sketch alone; what it says is near what there is, and not held against the terms."""
    ceiling = ceiling_of(terms, weights, leakage)
    rough = terms.sketch(ceiling)
    return rough, searched(rough, rough.start, weights, ceiling)


def share_by_sketches(terms: Sketched, weights: FloatArray, leakage: float) -> Shared:
    """Search by sketches until one foretells what the next sees; what is found is brought to the target by the terms.

    The squared leakage grows about as a loss does, which tells of each try what it will cost.
    """
    ceiling = ceiling_of(terms, weights, leakage)
    rough, best = foretold(terms, weights, leakage)
    tried: list[Shared] = []
    for nth in range(SKETCHES):
        new = terms.sketch(ceiling, best.losses)
        leaked = new.leakage(best.losses)
        tried.append(Shared(best.losses, leaked, best.cost * (leaked.worst / ceiling) ** 2))
        if nth > 0 and abs(leaked.worst - ceiling) <= FORETOLD * ceiling:
            break
        rough = new if nth == 0 or leaked.worst < ceiling else rough.beside(new)
        try:
            best = searched(rough, best.losses, weights, ceiling)
        except Unreachable:  # so far from what it was drawn of the sketch says nothing
            break
    last = within(terms, best.losses, weights, ceiling)
    better = min(tried, key=lambda one: one.cost)
    if better.cost * (1 + FORETOLD) >= last.cost:
        return last
    return min(last, within(terms, better.losses, weights, ceiling), key=lambda one: one.cost)
