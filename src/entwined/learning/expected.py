"""What learning with a budget will give, by public facts; where that is nothing, it is refused before the charge.

The work after the charge is rehearsed on numbers that no row has: sums of columns that are uncorrelated and vary by a
stated part of their range, counts that are all alike. So options, files and sizes that would be refused afterwards are
refused before, and so is noise that would leave nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Final

import numpy as np

from entwined.bounds.attributes.learned_covariance import Interval, LearnedCovariance
from entwined.canonical import Document
from entwined.dependence import LearnedFrom, LearningCharge, MarkovChain
from entwined.errors import BadInput, BadModel, Refused
from entwined.learning.chains import CountedMoves
from entwined.learning.covariance import learned_from
from entwined.learning.kin import alike, equal_members, members_at_most
from entwined.learning.private import SURE, Budget, NoisyTables, drowned, rehearsed_noise
from entwined.mechanisms.moments import NoisyMoments
from entwined.mechanisms.parents import Search
from entwined.mechanisms.transitions import TransitionCounts
from entwined.promise.promise import Promise
from entwined.schema import Coded

USUAL_SPREAD: Final = Fraction(1, 4)
LARGEST_SPREAD: Final = Fraction(1, 2)  # of values that are all at the ends
DOUBLINGS: Final = 40
HALVINGS: Final = 12
REHEARSED: Final = LearnedFrom("a rehearsal", charge=LearningCharge("none", "none"))


@dataclass(frozen=True, slots=True)
class ExpectedCovariance:
    """The ends of a standard deviation, as parts of the range, and how far off a correlation of 0 is at most."""

    spread: Fraction
    deviation: tuple[float, float]
    correlation_within: float

    @property
    def document(self) -> Document:
        """The same as JSON."""
        low, high = self.deviation
        return {
            "spread": float(self.spread),
            "deviation_low": low,
            "deviation_high": high,
            "correlation_within": self.correlation_within,
        }

    @property
    def words(self) -> str:
        """What the loss affords, in a sentence."""
        low, high = self.deviation
        return (
            f"Expected of columns whose standard deviation is {float(self.spread):.3g} of their range: it is learned "
            f"as {low:.3g} to {high:.3g}, and a correlation of 0 as ± {self.correlation_within:.2g}."
        )


def expected_covariance(
    promise: Promise,
    mechanism: NoisyMoments,
    confidence: Fraction,
    spread: Fraction,
    members: int | None = None,
) -> ExpectedCovariance:
    """Say how exact a covariance will be if its columns vary by that part of their range; refuse it if not at all."""
    if not 0 < spread <= LARGEST_SPREAD:
        raise BadInput(
            f"--spread {float(spread):g}. Give the standard deviation as a part of the range, up to 0.5."
        )
    try:
        learned = _usable(mechanism, confidence, spread, members)
    except BadModel:
        enough = _least_loss(promise, mechanism, lambda other: _usable(other, confidence, spread, members))
        more = (
            "Have more rows, or fewer columns"
            if enough is None
            else f"Spend about {enough:.2g} times as much"
        )
        raise Refused(
            f"The noise would hide columns whose standard deviation is {float(spread):.3g} of their range, so nothing "
            f"would be learned. {more}; --spread 0.5 plans for the most."
        ) from None
    ends = [_parts_of_range(mechanism, learned, at) for at in range(len(learned.columns))]
    within = max(
        float(learned.scatter[one][other].sizes.high)
        / float(learned.scatter[one][one].low * learned.scatter[other][other].low) ** 0.5
        for one, other in combinations(range(len(learned.columns)), 2)
    )
    worst = min(low for low, _ in ends), max(high for _, high in ends)
    return ExpectedCovariance(spread, worst, min(within, 1.0))


def _usable(
    mechanism: NoisyMoments, confidence: Fraction, spread: Fraction, members: int | None
) -> LearnedCovariance:
    """Learn from the sums of columns that vary so much and are uncorrelated; refuse what nobody could use."""
    sums, rows = mechanism.sums, int(mechanism.sums.schema.rows or 0)
    squares = [
        int(rows * (spread * sums.sizes[one]) ** 2) if one == other else 0 for one, other in sums.pairs
    ]
    learned = learned_from(mechanism, (*[0] * len(sums.columns), *squares), confidence, REHEARSED)
    if any(learned.scatter[at][at].low <= 0 for at in range(len(sums.columns))):
        raise BadModel("By noise and sample a column may not vary at all.")
    if members is not None:
        alike(learned)
    return learned


def _parts_of_range(mechanism: NoisyMoments, learned: LearnedCovariance, at: int) -> tuple[float, float]:
    whole = float(mechanism.sums.steps[at] * mechanism.sums.sizes[at])
    low, high = ((float(end) / learned.rows) ** 0.5 / whole for end in learned.scatter[at][at])
    return low, min(high, float(LARGEST_SPREAD))


def _least_loss(
    promise: Promise, mechanism: NoisyMoments, tried: Callable[[NoisyMoments], object]
) -> float | None:
    """Find about how many times the loss would do, if any would."""

    def does(times: float) -> bool:
        try:
            tried(NoisyMoments.of(promise, mechanism.sums.columns, mechanism.loss * Fraction(times)))
        except BadModel:
            return False
        return True

    high = next((2.0**turn for turn in range(1, DOUBLINGS) if does(2.0**turn)), None)
    if high is None:
        return None
    low = high / 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if does(middle) else (middle, high)
    return high if promise.measure.is_pure else high**0.5  # ε grows as the root of ρ


def require_family(size: int | None, *, at_most: bool) -> None:
    """Refuse a family that no model can be made of."""
    if size is None:
        if at_most:
            raise BadInput("--at-most is about members of a family. Give --members with it.")
        return
    flat = tuple(
        tuple(Interval(Fraction(at == other), Fraction(at == other)) for other in range(2)) for at in range(2)
    )
    rehearsed = LearnedCovariance(("a", "b"), 1000, flat, (flat[0][0],) * 2, Fraction(1, 2), REHEARSED)
    (members_at_most if at_most else equal_members)(alike(rehearsed), size, REHEARSED)


def rehearsed_chain(
    mechanism: TransitionCounts, promise: Promise, length: int, smoothing: str, confidence: str | None
) -> MarkovChain:
    """Make a chain of made-up counts with the options that are given, and refuse noise above all that is counted."""
    schema = promise.schema
    within, rows = mechanism.noise.half_width(SURE), schema.rows_at_most
    if within >= rows:
        raise Refused(drowned(within, rows))
    states = schema.coded(mechanism.state).size
    counts = 7 * np.arange(states)[:, None] + 3 * np.arange(states)[None] + 1
    moves = CountedMoves(counts, REHEARSED, mechanism.noise)
    return (
        moves.smoothed(length, smoothing) if confidence is None else moves.with_margin(length, confidence)
    ).model


def rehearsed_tables(
    promise: Promise, budget: Budget, parents: int, smoothing: str, confidence: str | None
) -> tuple[float, int]:
    """Check the options on a made-up table; give the ± of a count and the most numbers that the model has."""
    noise = rehearsed_noise(promise, budget)
    counts = (np.array([3, 4], np.int64),)
    tables = NoisyTables(("a",), ((),), counts, counts, noise, 7, REHEARSED)
    if confidence is None:
        tables.smoothed(smoothing)
    else:
        tables.with_margin(confidence)
    sizes = tuple(column.size for column in promise.schema.columns if isinstance(column, Coded))
    scopes = Search(sizes, parents, Fraction(1)).scopes
    largest = max(prod(sizes[at] for at in scope) for scope in scopes)
    return noise.half_width(SURE), len(sizes) * largest * (1 if confidence is None else 2)
