"""How much a released number changed from one wave of a survey to the next, with intervals.

Each wave's interval holds its own truth. If waves were drawn apart, their errors are independent, and the squares of
the distances to the ends add up (Zou and Donner 2008, "the method of variance estimates recovery"): for normal errors
that is their law, and for flatter ones, as of Laplace noise, it is longer than it has to be. If they share people
nothing is said about how their errors hang together: the ends are subtracted as they are, and both intervals hold at
once with twice the chance of a miss.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from entwined.errors import BadQuery
from entwined.estimate.population import Ends, Estimated


@dataclass(frozen=True, slots=True)
class Trend:
    """By how much a number rose, of the rows in both tables (`sample`) and of the people they stand for."""

    value: Fraction
    sample: Ends
    population: Ends
    confidence: Fraction


def trend(before: Estimated, after: Estimated, *, independent: bool = True) -> Trend:
    """Say by how much an answer rose between two waves, each released with noise of its own.

    With `independent` off, as for a panel, the confidence is that both intervals hold: 95 % from two of 97.5 %.
    """
    if before.asked != after.asked:
        raise BadQuery(f"{before.asked!r} and {after.asked!r} are compared. Ask both waves the same.")
    if before.confidence != after.confidence:
        raise BadQuery(
            f"Intervals of {float(before.confidence):.1%} and {float(after.confidence):.1%} are compared. "
            "Give both the same confidence."
        )
    found = after.value - before.value
    pairs = (before.sample, after.sample), (before.population, after.population)
    if not independent:
        sample, population = (subtracted(*pair) for pair in pairs)
        return Trend(found, sample, population, 2 * before.confidence - 1)
    sample, population = (recovered((before.value, one), (after.value, two)) for one, two in pairs)
    return Trend(found, sample, population, before.confidence)


def subtracted(before: Ends, after: Ends) -> Ends:
    """Give the ends of what is left, whatever two errors have to do with each other."""
    return after[0] - before[1], after[1] - before[0]


def recovered(before: tuple[Fraction, Ends], after: tuple[Fraction, Ends]) -> Ends:
    """Add up the squares of the distances from each value to its ends."""
    (old, (old_low, old_high)), (new, (new_low, new_high)) = before, after
    below = math.hypot(new - new_low, old_high - old)
    above = math.hypot(new_high - new, old - old_low)
    return new - old - Fraction(below), new - old + Fraction(above)
