"""The adversary of Liu, Chakraborty and Mittal (2016), section IV, exactly: posterior ∝ likelihood × prior.

It believes a joint law, knows the values of some units, and sees noisy integers. A vector that takes only one table of
unknown units is evidence about these units; of vectors that add up many units the law of the sum is kept. Both are
summed over everything unknown by `dependence.summing_out`, so no posterior is simulated.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final, NamedTuple

import numpy as np

from entwined.audit.vectors import Addend, NoisyVector
from entwined.dependence import ProductLaw
from entwined.dependence.summing_out import (
    NO_SUM,
    SumTable,
    adding_table,
    order_of,
    plain_table,
    summed_out,
)
from entwined.errors import BadInput, Refused
from entwined.numbers import FloatArray, IntArray

AT_ONCE: Final = 50  # releases that are looked at together
FARTHEST: Final = (
    600.0  # nats: what is less likely than this is taken to be so likely, so that no chance becomes 0
)
MOST_CODES: Final = 2**62
MOST_OUTPUTS: Final = 20_000


class _Open(NamedTuple):
    """A vector where known values are put in: what is left open, what is known already, and its places in a release."""

    vector: NoisyVector
    addends: tuple[Addend, ...]
    known: IntArray
    places: slice


@dataclass(frozen=True, eq=False)
class Attacker:
    """Who believes a law, knows the values of some units, and wants that of the target."""

    law: ProductLaw
    shown: tuple[NoisyVector, ...]
    target: int
    known: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.target not in self.law.people or self.target in self.known:
            raise BadInput(f"Unit {self.target} is hidden, known or nobody. Attack one of the others.")
        if not set(self.known) <= set(self.law.people):
            raise BadInput("A hidden unit is known, or one that is not there. Name units of the law.")

    def knowing(self, person: IntArray) -> "Sight":
        """Tell the attacker the known values of one population."""
        return Sight(self, {unit: int(person[unit]) for unit in self.known})


@dataclass(frozen=True, eq=False)
class Sight:
    """What an attacker believes of the target before and after releases, where these values are known."""

    attacker: Attacker
    values: Mapping[int, int]

    @cached_property
    def prior(self) -> FloatArray:
        """The law of the target before anything is published."""
        return self.attacker.law.marginal(self.attacker.target, self.values)

    def log_shifts(self, outputs: IntArray) -> FloatArray:
        """Give log posterior − log prior of each value (columns) after each release (rows), NaN where it cannot be."""
        parts = np.split(outputs, range(AT_ONCE, len(outputs), AT_ONCE))
        there = self.prior > 0
        logs = np.vstack([self._log_weights(part) for part in parts])[:, there]
        top = logs.max(axis=1, keepdims=True)
        posterior = logs - top - np.log(np.exp(logs - top).sum(axis=1, keepdims=True))
        shifts = np.full((len(outputs), there.size), np.nan)
        shifts[:, there] = posterior - np.log(self.prior[there])
        return shifts

    def posteriors(self, shifts: FloatArray) -> FloatArray:
        """Give the law of the target after each release, one a row."""
        return np.asarray(self.prior * np.exp(np.where(self.prior > 0, shifts, 0.0)))

    @cached_property
    def answers(self) -> IntArray | None:
        """Every number that could be the exact answer, if it is one number: noise shifts log odds most there."""
        if sum(one.vector.size for one in self._open) != 1:
            return None
        (only,) = self._open
        low, high = (int(_ends(only, end)[0]) for end in (np.min, np.max))
        return None if high - low > MOST_OUTPUTS else np.arange(low, high + 1)[:, None] + only.known

    @cached_property
    def _open(self) -> tuple[_Open, ...]:
        found, first = [], 0
        for vector in self.attacker.shown:
            each = [addend.where(self.values) for addend in vector.addends]
            known = sum((one.numbers for one in each if not one.scope), np.zeros(vector.size, np.int64))
            left = tuple(one for one in each if one.scope)
            found.append(_Open(vector, left, known, slice(first, first + vector.size)))
            first += vector.size
        return tuple(found)

    @cached_property
    def _alone(self) -> list[_Open]:
        return [one for one in self._open if len(one.addends) == 1]

    @cached_property
    def _pooled(self) -> "_Codes":
        return _Codes.of([one for one in self._open if len(one.addends) > 1])

    @cached_property
    def _tables(self) -> list[SumTable]:
        target = self.attacker.target
        own = plain_table((target,), np.ones(self.attacker.law.sizes[target]))
        return [own, *self.attacker.law.terms(self.values), *self._pooled.tables]

    def _log_weights(self, outputs: IntArray) -> FloatArray:
        """Give log (prior × likelihood) up to a constant of each release."""
        evidence = [_evidence(one, outputs) for one in self._alone]
        found = self._summed(evidence) if evidence else self._unseen
        logs = self._pooled.log_weights(outputs, found.sums)
        chances = np.exp(np.maximum(logs - logs.max(axis=1, keepdims=True), -FARTHEST))
        weights = np.broadcast_to(found.weights, (len(outputs), *found.weights.shape[1:]))
        with np.errstate(divide="ignore"):  # what cannot be has no logarithm
            return np.asarray(np.log(np.einsum("rva,ra->rv", weights, chances)))

    def _summed(self, evidence: Sequence[SumTable]) -> SumTable:
        sizes, tables = self.attacker.law.sizes, [*self._tables, *evidence]
        order = order_of([table.scope for table in tables], sizes, (self.attacker.target,))
        return summed_out(tables, order, sizes)

    @cached_property
    def _unseen(self) -> SumTable:
        """What serves all releases where there is no evidence about single units."""
        return self._summed(())


def _evidence(one: _Open, outputs: IntArray) -> SumTable:
    """Turn a vector that takes one table of unknown units into weights of their values, release by release."""
    (addend,) = one.addends
    seen = outputs[:, one.places].reshape(len(outputs), *[1] * len(addend.scope), -1)
    logs = one.vector.log_weights(seen, addend.numbers + one.known)
    logs = logs - logs.max(axis=tuple(range(1, logs.ndim)), keepdims=True)
    weights = np.exp(np.maximum(logs, -FARTHEST))
    order = np.argsort(addend.scope)
    return SumTable(tuple(sorted(addend.scope)), NO_SUM, weights.transpose(0, *(order + 1))[..., None])


@dataclass(frozen=True, eq=False)
class _Codes:
    """The places of several vectors written as one integer, in which no place runs over into the next."""

    vectors: Sequence[_Open]
    lows: IntArray
    widths: IntArray

    @classmethod
    def of(cls, vectors: Sequence[_Open]) -> "_Codes":
        """Find the least and the most of every place."""
        lows, highs = (
            np.concatenate([np.zeros(0, np.int64), *(_ends(one, end) for one in vectors)])
            for end in (np.min, np.max)
        )
        widths = highs - lows + 1
        if prod(widths.tolist()) > MOST_CODES:
            raise Refused(
                f"{widths.size} published numbers that many units enter have too many sums to look at together. Let "
                "more units be known, or publish fewer numbers."
            )
        return cls(vectors, lows.astype(np.int64), widths.astype(np.int64))

    @property
    def strides(self) -> IntArray:
        """What one step of each place adds to the integer."""
        return np.asarray(np.append(1, np.cumprod(self.widths))[: self.widths.size], np.int64)

    @property
    def tables(self) -> list[SumTable]:
        """What each addend adds to the integer."""
        found, first = [], 0
        for one in self.vectors:
            strides = self.strides[first : first + one.vector.size]
            for addend in one.addends:
                low = addend.numbers.reshape(-1, one.vector.size).min(axis=0)
                found.append(adding_table(addend.scope, (addend.numbers - low) @ strides))
            first += one.vector.size
        return found

    def log_weights(self, outputs: IntArray, sums: IntArray) -> FloatArray:
        """Give the log of the chance of each release (rows) where a sum of the integers (columns) is exact."""
        numbers = sums[:, None] // self.strides % self.widths + self.lows
        logs, first = np.zeros((len(outputs), sums.size)), 0
        for one in self.vectors:
            exact = numbers[:, first : first + one.vector.size] + one.known
            logs += one.vector.log_weights(outputs[:, None, one.places], exact)
            first += one.vector.size
        return logs


def _ends(one: _Open, end: Callable[..., IntArray]) -> IntArray:
    """Give the least or the most of every place that unknown units can add up to."""
    each = [end(addend.numbers.reshape(-1, one.vector.size), axis=0) for addend in one.addends]
    return np.asarray(np.sum(each, axis=0), np.int64)
