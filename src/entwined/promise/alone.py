"""The price of a single number that is all that was ever released: by its own law, where that is less.

Base losses add up, so a ledger prices whatever was charged by their total, and a theorem about losses holds for every
release that has them. One count or total over series of which the law is known leaks less than the worst release of its
loss, and how much exactly is known (`bounds/series_sum`). That number is the price as long as one draw of it is all
that was charged; from the second charge on the price is that of the total loss, the first one included.

Why that is sound, however later questions are chosen. What is claimed is that of any unit no more leaks from all that
was released than the price of all that was charged. Look at one whole record of answers. If it ends after the number,
its probability given two values of a unit is that of the number, and the theorem about one number bounds the ratio. If
it goes on, the theorem about losses bounds the ratio of the whole record, the number included, whatever the first
answer made others ask: pure losses add up record by record. Either way the ratio of that record is within its own
price, and no price is above the cap. A record that might have gone on and did not is a record that ends.

Why prices never fall. The price of one number is the smaller of both, so at most that of its loss, and whatever comes
later is priced by no less than that loss.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Final

from entwined.bounds import Bound, Exposure, Knowledge
from entwined.bounds.noisy_sum import SeriesSum
from entwined.dependence import Chained
from entwined.errors import DoesNotApply, NoTheorem, Unreachable
from entwined.numbers import float_below
from entwined.promise.declared import Declared
from entwined.promise.judge import Judge
from entwined.promise.one_number import OneNumber
from entwined.promise.part import Part
from entwined.promise.places import place_of
from entwined.queries import Aggregate
from entwined.queries.row_weights import RowWeights
from entwined.schema import Schema

LARGEST: Final = 10**6  # what a row may add, signs left out
BETTER: Final = 1e-6  # how much less has to leak for a price that a second release would undo


def the_only(parts: Iterable[Part]) -> OneNumber | None:
    """Find the number that is all that was charged, if it is one draw of one number."""
    charged = tuple(parts)
    if len(charged) != 1:
        return None
    number = place_of(charged[0].key).number
    return number if number is not None and number.is_all_of(charged[0]) else None


@dataclass(frozen=True, slots=True)
class SingleNumbers:
    """Which single numbers have a law that is known under a promise, and what they leak.

    `kept` is the model by which an engine picks rows. A sum is then over the rows that are kept: under that model they
    are the first steps of its series, and under any other one they are whichever rows were left.
    """

    schema: Schema
    knowledge: Knowledge
    pure: bool
    kept: Declared | None = None

    def added(self, aggregate: Aggregate, declared: Iterable[Declared]) -> RowWeights | None:
        """Say what a row adds to a number, where its law is known under some model."""
        models = [one for one in declared if isinstance(one.model, Chained)]
        found = RowWeights.of(aggregate, self.schema) if models and not self._refused() else None
        return found if any(not self.why_not(one, found) for one in models) else None

    def tighter(
        self, one: Declared, judge: Judge, number: OneNumber, found: Bound[Exposure]
    ) -> Bound[Exposure]:
        """Give what is proved of the number, where that is less than what is proved of its loss."""
        with suppress(DoesNotApply, NoTheorem):
            alone = judge.bound(self.exposure(one, number))
            if alone.leakage.worst < found.leakage.worst * (1 - BETTER):
                return alone
        return found

    def larger(
        self, one: Declared, judge: Judge, number: OneNumber, leakage: Fraction, most: float
    ) -> float | None:
        """Find the multiple of the number's loss that leaks so much, where that is more than `most`."""
        with suppress(DoesNotApply, NoTheorem, Unreachable):
            found = judge.largest(self.exposure(one, number), leakage, first=most)
            return found if found > most * (1 + BETTER) else None
        return None

    def exposure(self, one: Declared, number: OneNumber) -> SeriesSum:
        """Say what the number shows of the steps of a model, or why nothing is known of its law."""
        reason = self.why_not(one, number.added)
        if reason:
            raise DoesNotApply(reason)
        states = one.states(self.schema)
        left_out = one.missing_says_nothing
        sizes = [self.schema.coded(name).size - (name in left_out) for name in states]
        weights = tuple(
            self._weight(number.added, dict(zip(states, codes, strict=True)))
            for codes in product(*map(range, sizes))
        )
        if max(map(abs, weights)) > LARGEST:
            raise DoesNotApply(
                "What a row adds is too large to follow every sum. A bound for all queries covers it."
            )
        return SeriesSum(weights, float_below(number.scale), one.model.units)

    def _weight(self, added: RowWeights, row: dict[str, int]) -> int:
        place = 0
        for name in added.columns:
            place = place * self.schema.coded(name).size + row[name]
        return added.weights[place]

    def why_not(self, one: Declared, added: RowWeights | None) -> str:
        """Say why the law of a number is not known under a model; nothing if it is."""
        if not isinstance(one.model, Chained):
            return f"It is about Markov chains, not about {one.model.plural}."
        if self._refused():
            return self._refused()
        if self.kept is not None and self.kept is not one:
            return (
                f"It is for sums over all steps of a series, and rows are left out by {self.kept.by!r}, as the model "
                f"{self.kept.title!r} says."
            )
        if one.panel:
            return "It needs series without gaps, and in a panel a series may lack a row at any step."
        if added is None:
            return "It is for one count or one total; this batch is something else."
        aside = [name for name in added.columns if name not in one.states(self.schema)]
        if aside:
            return (
                f"It is about sums over the states of a chain, and {aside[0]!r} is no part of a row's state."
            )
        open_ = [
            name
            for name in added.columns
            if name in one.missing_says_nothing and name not in one.never_missing
        ]
        if open_:
            return (
                f"It needs the law of every row, and a value of {open_[0]!r} may be missing. If no row lacks one, name "
                "the column in never_missing; or describe missing as a state."
            )
        return ""

    def _refused(self) -> str:
        """Say why no single number has a price of its own under this promise."""
        if self.knowledge != "model":
            return "It covers only an adversary who knows no values; ask with knowledge 'model'."
        if not self.pure:
            return "It is for Laplace noise: leave delta out."
        unit = self.schema.unit
        if unit.by_column or unit.person is not None or self.schema.neighbours != "replace":
            return "It is about rows that are all there: protect rows, and replace them."
        return ""
