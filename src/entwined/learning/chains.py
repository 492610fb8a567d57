"""A chain learned from transition counts: smoothed, or by intervals that hold with a stated confidence.

Intervals of the sample. The states that follow the visits of a state a are independent draws from its row of P, but how
many there are depends on where the chain went. So an interval has to hold for every number n of visits at once: each n
may miss by a share 1 / (n (n + 1)) of what its cell may miss, and these shares add up to one.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from entwined.dependence import Box, LearnedFrom, MarkovChain
from entwined.errors import BadTable
from entwined.learning.models import SMOOTHING, chance_intervals, chances
from entwined.learning.origin import learned_model
from entwined.learning.series import PublicSeries
from entwined.noise import Additive
from entwined.noise.lattice import probability
from entwined.numbers import FloatArray, IntArray, positive_fraction

NATS: Final = 0.005  # a second step back that says less a step is taken to say nothing
SURE: Final = 2.0  # standard errors


@dataclass(frozen=True, eq=False)
class CountedMoves:
    """How often each state was followed by each, perhaps with noise, and where that comes from."""

    counts: IntArray
    origin: LearnedFrom
    noise: Additive | None = None

    @classmethod
    def of(cls, series: PublicSeries, table: str) -> "CountedMoves":
        """Count the moves of public series."""
        pairs = series.runs(1)
        if not len(pairs):
            raise BadTable(
                "No series of the table has two steps in a row. Check which columns say whose rows they are and when."
            )
        counts = np.zeros((series.states, series.states), np.int64)
        np.add.at(counts, (pairs[:, 0], pairs[:, 1]), 1)
        return cls(counts, replace(series.origin, table=table))

    def smoothed(self, length: int, added: float | str | Fraction = SMOOTHING) -> "LearnedChain":
        """Take the shares of the counts plus `added`: a likely chain, trusted as it is."""
        more = float(positive_fraction(added, "Smoothing"))
        table = chances(np.maximum(self.counts, 0), more)
        return self._learned(table, length, f"{more:g} added to every {self._named}")

    def with_margin(self, length: int, confidence: str | float | Fraction) -> "LearnedChain":
        """Take all chains that the sample, and the noise if there is some, leave open at this confidence."""
        missed = 1 - probability(confidence, "Confidence")
        cells = self.counts.size * (1 if self.noise is None else 2)
        reach = 0 if self.noise is None else self.noise.accuracy(missed / cells)
        least, most = np.maximum(self.counts - reach, 0), np.maximum(self.counts + reach, 0)
        visits = np.maximum(most.sum(axis=1, keepdims=True).astype(np.float64), 1.0)
        table = chance_intervals(least, most, float(missed) / cells / (visits * (visits + 1.0)))
        return self._learned(table, length, f"intervals of confidence {float(1 - missed):g}")

    @property
    def _named(self) -> str:
        return "count" if self.noise is None else "noisy count"

    def _learned(self, table: Box, length: int, how: str) -> "LearnedChain":
        total = int(np.maximum(self.counts, 0).sum())
        return LearnedChain(learned_model(MarkovChain(length, table), self.origin), total, how)


@dataclass(frozen=True, eq=False)
class LearnedChain:
    """A chain with the words that name it."""

    model: MarkovChain
    moves: int
    how: str

    @property
    def table(self) -> str:
        """The table that it was learned from."""
        return self.model.learned_from.table if self.model.learned_from else ""

    @property
    def title(self) -> str:
        """What the model is called."""
        return f"learned from {self.table} ({self.moves:,} moves, {self.how})"


@dataclass(frozen=True, slots=True)
class SecondStep:
    """How well the state is foretold from one step back and from two, on series held out; log losses in nats a step."""

    steps: int
    one: float
    two: float
    error: float

    @property
    def gained(self) -> float:
        """What the second step back says more of a step, in nats."""
        return self.one - self.two

    @property
    def is_needed(self) -> bool:
        """Whether it says more than chance would make it seem."""
        return self.gained > max(NATS, SURE * self.error)

    @property
    def words(self) -> str:
        """What was found, in a sentence."""
        found = (
            f"On {self.steps:,} steps held out a state is foretold with a log loss of {self.one:.4f} nats from the "
            f"state before, and of {self.two:.4f} from the two before: a second step back says {self.gained:+.4f} nats "
            f"(± {SURE * self.error:.4f})"
        )
        if self.is_needed:
            return (
                f"{found}. The chain fails its check: whoever looks back further knows more than it says. Let a state "
                "be that of two steps, or declare groups."
            )
        return f"{found}, nothing to speak of."


def second_step(series: PublicSeries) -> SecondStep:
    """Ask whether a second step back says more: each half is foretold by counts of the other."""
    halves = [half.runs(2) for half in series.halves()]
    if min(map(len, halves)) == 0:
        raise BadTable(
            "No two halves of the series have three steps in a row, so nothing can be held out. Leave the check out."
        )
    losses = np.concatenate(
        [_log_losses(known, new, series.states) for known, new in (halves, halves[::-1])], axis=1
    )
    one, two = losses
    error = float((one - two).std(ddof=1) / np.sqrt(len(one))) if len(one) > 1 else float("inf")
    return SecondStep(len(one), float(one.mean()), float(two.mean()), error)


def _log_losses(known: IntArray, new: IntArray, states: int) -> FloatArray:
    """The log loss of each new step by one step back and by two, which goes by one where it saw few."""
    pairs, triples = np.zeros((states,) * 2), np.zeros((states,) * 3)
    np.add.at(pairs, tuple(known[:, 1:].T), 1.0)
    np.add.at(triples, tuple(known.T), 1.0)
    near = (pairs + 1 / states) / (pairs.sum(axis=-1, keepdims=True) + 1)
    far = (triples + near[None]) / (triples.sum(axis=-1, keepdims=True) + 1)
    before, last, now = new.T
    return np.asarray(-np.log(np.stack([near[last, now], far[before, last, now]])))
