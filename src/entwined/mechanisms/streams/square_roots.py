"""Running totals where a δ pays: the square root of summing (Henzinger, Upadhyay 2022; Fichtenberger et al. 2023).

Adding up is a lower triangular matrix of ones, and its square root is the matrix of f_{i−j}, f_k = C(2k, k)/4ᵏ. So a
total is the root of (the root of the steps, with noise).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadQuery
from entwined.mechanisms.streams.counter import Advanced, Draw, Kept, NoiseShare
from entwined.numbers import FloatArray, IntArray

LONGEST: Final = 100_000  # each step looks back at all before it
FINEST: Final = 32
COARSEST: Final = 16
ROOM: Final = 2**60


@dataclass(frozen=True, slots=True)
class Roots:
    """The steps so far as they came in, and their root with noise."""

    steps: tuple[int, ...] = ()
    noisy: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SquareRoots:
    """Running totals of steps that are at most `largest`, through the square root of summing.

    The root is rounded to multiples of 2^−bits, and so is the noise: what is drawn around is a whole number of these,
    exactly. The answer is the exact root of that, in floats: post-processing. What rounding the first root costs the
    total is below horizon^1.5 · largest · 2^−bits.
    """

    horizon: int
    largest: int
    kind: ClassVar[str] = "square roots"

    def __post_init__(self) -> None:
        if not 1 <= self.horizon <= LONGEST:
            raise BadQuery(
                f"A horizon of {self.horizon:,} steps with Gaussian noise: each answer reads all earlier steps, so "
                f"{LONGEST:,} are the most. Leave use_delta out: a tree takes any horizon."
            )
        if self.bits < COARSEST:
            raise BadQuery(
                f"Steps of up to {self.largest:,} units, {self.horizon:,} of them, leave no room for exact sums. "
                "Declare narrower values or a coarser step, or leave use_delta out."
            )

    @property
    def bits(self) -> int:
        """How fine the grid is: as fine as whole numbers of 64 bits have room for."""
        room = ROOM // (max(self.largest, 1) * 2 * (int(self.horizon**0.5) + 1))
        return min(FINEST, room.bit_length() - 1)

    @property
    def document(self) -> Document:
        """The strategy as JSON."""
        return {"kind": self.kind, "horizon": self.horizon, "largest": self.largest}

    @property
    def stretch(self) -> int:
        """The squared length of the longest column, in squared units of the grid."""
        return _stretch(self.horizon, self.bits)

    def share(self, level: int) -> Fraction:
        """All of it in the one root."""
        return Fraction(level == 0)

    def shares(self, step: int) -> tuple[NoiseShare, ...]:
        """A sum of normal draws is one of their joint variance, and on a grid as fine as this it is nearly so."""
        root = roots(self.horizon)[:step]
        return (NoiseShare(0, float(np.sqrt(root @ root)) / 2**self.bits, 1),)

    def mean_copies(self) -> tuple[tuple[int, float], ...]:
        """The squared length of the root up to a step, averaged over the horizon."""
        return ((0, float(np.cumsum(roots(self.horizon) ** 2).mean()) / 4.0**self.bits),)

    @property
    def words(self) -> str:
        """The strategy in words."""
        return "the square root of summing"

    def begin(self) -> Roots:
        """No steps."""
        return Roots()

    def restored(self, kept: Sequence[Kept]) -> Roots:
        """Every step with its root."""
        return Roots(tuple(one for one, _ in kept), tuple(root for _, root in kept))

    def advance(self, state: Roots, exact: Sequence[int], draw: Draw) -> Advanced:
        """Take the root exactly, add noise, and take the root of that."""
        start, size = len(state.steps), len(exact)
        exact = [max(-self.largest, min(int(one), self.largest)) for one in exact]
        coded, root = grid_roots(self.horizon, self.bits), roots(self.horizon)
        steps, noisy = np.empty(start + size, np.int64), np.empty(start + size)
        steps[:start], noisy[:start] = state.steps, state.noisy
        drawn, answers = draw(0, size), list[int]()
        found = list[int]()
        for at, (one, noise) in enumerate(zip(exact, drawn, strict=True), start=start):
            steps[at] = one
            found.append(int(coded[at::-1] @ steps[: at + 1]) + noise)
            noisy[at] = found[-1]
            answers.append(round(float(root[at::-1] @ noisy[: at + 1]) / 2**self.bits))
        kept = tuple(map(list, zip(exact, found, strict=True)))
        after = Roots((*state.steps, *exact), (*state.noisy, *found))
        return Advanced(after, tuple(answers), kept)


@lru_cache(maxsize=8)
def roots(horizon: int) -> FloatArray:
    """f_0, f_1, …: each is (2k − 1)/2k of the one before."""
    at = np.arange(1.0, horizon)
    return np.concatenate([[1.0], np.cumprod((2 * at - 1) / (2 * at))])


@lru_cache(maxsize=8)
def grid_roots(horizon: int, bits: int) -> IntArray:
    """The same in whole units of the grid."""
    return np.rint(roots(horizon) * 2.0**bits).astype(np.int64)


@lru_cache(maxsize=8)
def _stretch(horizon: int, bits: int) -> int:
    return sum(one * one for one in grid_roots(horizon, bits).tolist())
