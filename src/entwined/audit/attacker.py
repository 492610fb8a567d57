"""The adversary of Liu, Chakraborty and Mittal (2016), section IV, exactly: posterior ∝ likelihood × prior.

It believes a joint law, knows the values of some units, and sees noisy integers. A vector that takes only one table of
unknown units is evidence about these units; of vectors that add up many units the law of the sum is kept. Both are
summed over everything unknown by `dependence.summing_out`, for many releases at once, so no posterior is simulated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Final, NamedTuple

import numpy as np

from entwined.audit.vectors import NoisyVector
from entwined.dependence import ProductLaw
from entwined.dependence.product_law import IMPOSSIBLE
from entwined.dependence.summing_out import (
    SumTable,
    adding_table,
    order_of,
    plain_table,
    put_in,
    summed_out,
)
from entwined.errors import BadInput, Refused
from entwined.numbers import FloatArray, IntArray

AT_ONCE: Final = 50  # releases that are looked at together
FARTHEST: Final = (
    600.0  # nats: what is less likely than this is taken to be so likely, so that no chance becomes 0
)
LEAST: Final = 1e-200  # what is less likely is not looked at: near the end of floats ratios are rounded
MOST_CODES: Final = 2**62
MOST_ANSWERS: Final = 20_000


class Looked(NamedTuple):
    """What was believed of each value of the target before releases, one a row, and by how much the logs moved.

    A value that cannot be, given what is known, or hardly (`LEAST`), has moved by NaN.
    """

    prior: FloatArray
    log_shifts: FloatArray

    @property
    def posterior(self) -> FloatArray:
        """What is believed afterwards."""
        return np.asarray(self.prior * np.exp(np.where(self.prior > LEAST, self.log_shifts, 0.0)))


def shifted(prior: FloatArray, seen: FloatArray) -> Looked:
    """Work out by how much logs moved, where `seen` is prior × likelihood up to a constant of each row."""
    with np.errstate(divide="ignore", invalid="ignore"):  # what cannot be has no logarithm
        logs = np.where(prior > LEAST, np.log(seen), -np.inf)
        top = logs.max(axis=1, keepdims=True)
        posterior = logs - top - np.log(np.exp(logs - top).sum(axis=1, keepdims=True))
        return Looked(prior, np.where(prior > LEAST, posterior - np.log(prior), np.nan))


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

    def learn(self, people: IntArray, outputs: IntArray) -> Looked:
        """Look at releases, each of the people in the same row, of whom only those that are known are looked at."""
        cuts = range(AT_ONCE, len(outputs), AT_ONCE)
        parts = [
            _Sight(self, told).learn(seen)
            for told, seen in zip(np.split(people, cuts), np.split(outputs, cuts), strict=True)
        ]
        return Looked(*map(np.vstack, zip(*parts, strict=True)))

    def answers(self, person: IntArray) -> IntArray | None:
        """Give every number that could be the exact answer, if it is one number: noise shifts log odds most there."""
        opened = _Sight(self, person[None]).opened
        if sum(one.vector.size for one in opened) != 1 or not opened[0].addends:
            return None
        low, high = (int(_ends(opened[0], end)[0]) for end in (np.min, np.max))
        return None if high - low > MOST_ANSWERS else np.arange(low, high + 1)[:, None] + opened[0].known


class _Left(NamedTuple):
    """What is left of an addend where known values are put in: numbers[copy, value of each unit, place]."""

    scope: tuple[int, ...]
    numbers: IntArray


class _Open(NamedTuple):
    """A vector where known values are put in: what is left open, what is known already, and its places in a release."""

    vector: NoisyVector
    addends: tuple[_Left, ...]
    known: IntArray
    places: slice


@dataclass(frozen=True, eq=False)
class _Sight:
    """An attacker who was told the known values of some populations, or of one that serves for all releases."""

    attacker: Attacker
    people: IntArray

    @cached_property
    def told(self) -> dict[int, IntArray]:
        """The known values, one a release; one for all where they are the same."""
        values = self.people[:, list(self.attacker.known)]
        same = bool((values == values[:1]).all())
        return dict(zip(self.attacker.known, (values[:1] if same else values).T, strict=True))

    def learn(self, outputs: IntArray) -> Looked:
        """Give priors and shifts, one release a row."""
        weights = self._summed([self._own, *self.attacker.law.terms(self.told)]).weights[..., 0]
        total = weights.sum(axis=1, keepdims=True)
        if not (total > 0).all():
            raise BadInput(IMPOSSIBLE)
        prior = np.broadcast_to(weights / total, (len(outputs), weights.shape[1]))
        return shifted(prior, self._seen(outputs))

    def _seen(self, outputs: IntArray) -> FloatArray:
        """Give prior × likelihood up to a constant of each release."""
        alone = [_evidence(one, outputs) for one in self.opened if len(one.addends) == 1]
        pooled = _Codes.of([one for one in self.opened if len(one.addends) > 1])
        found = self._summed([self._own, *self.attacker.law.terms(self.told), *pooled.tables, *alone])
        logs = pooled.log_weights(outputs, found.sums)
        chances = np.exp(np.maximum(logs - logs.max(axis=1, keepdims=True), -FARTHEST))
        return np.asarray((found.weights * chances[:, None]).sum(axis=2))

    @property
    def _own(self) -> SumTable:
        return plain_table(
            (self.attacker.target,), np.ones((1, self.attacker.law.sizes[self.attacker.target]))
        )

    def _summed(self, tables: Sequence[SumTable]) -> SumTable:
        sizes = self.attacker.law.sizes
        order = order_of([table.scope for table in tables], sizes, (self.attacker.target,))
        return summed_out(tables, order, sizes)

    @cached_property
    def opened(self) -> tuple[_Open, ...]:
        """The vectors with known values put in."""
        found, first = [], 0
        for vector in self.attacker.shown:
            each = [_Left(*put_in(scope, numbers, self.told)) for scope, numbers in vector.addends]
            known = sum((one.numbers for one in each if not one.scope), np.zeros((1, vector.size), np.int64))
            left = tuple(one for one in each if one.scope)
            found.append(_Open(vector, left, known, slice(first, first + vector.size)))
            first += vector.size
        return tuple(found)


def _evidence(one: _Open, outputs: IntArray) -> SumTable:
    """Turn a vector that takes one table of unknown units into weights of their values, release by release."""
    ((scope, numbers),) = one.addends
    units = [1] * len(scope)
    seen = (outputs[:, one.places] - one.known).reshape(len(outputs), *units, -1)
    logs = one.vector.log_weights(seen, numbers)
    logs = logs - logs.max(axis=tuple(range(1, logs.ndim)), keepdims=True)
    return plain_table(scope, np.exp(np.maximum(logs, -FARTHEST)))


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
        return cls(vectors, lows, widths)

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
            for scope, numbers in one.addends:
                low = numbers.reshape(-1, one.vector.size).min(axis=0)
                found.append(adding_table(scope, (numbers - low) @ strides))
            first += one.vector.size
        return found

    def log_weights(self, outputs: IntArray, sums: IntArray) -> FloatArray:
        """Give the log of the chance of each release (rows) where a sum of the integers (columns) is exact."""
        numbers = sums[:, None] // self.strides % self.widths + self.lows
        logs, first = np.zeros((len(outputs), sums.size)), 0
        for one in self.vectors:
            exact = numbers[:, first : first + one.vector.size]
            logs += one.vector.log_weights((outputs[:, one.places] - one.known)[:, None], exact)
            first += one.vector.size
        return logs


def _ends(one: _Open, end: Callable[..., IntArray]) -> IntArray:
    """Give the least or the most of every place that unknown units can add up to."""
    each = [end(left.numbers.reshape(-1, one.vector.size), axis=0) for left in one.addends]
    return np.asarray(np.sum(each, axis=0), np.int64)
