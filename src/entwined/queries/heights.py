"""The greatest sum of weights at one atom or at two: exact, in whole numbers cut into digits that floats hold.

A digit has so few bits that every product and sum of digits below is a whole number that a float holds exactly.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from entwined.numbers import BitArray, FloatArray, IntArray

DIGIT: Final = 28  # three sums of as many numbers as there can be sets stay below 2^53
MASK: Final = (1 << DIGIT) - 1


def at_one_atom(inside: BitArray, ones: Sequence[Fraction]) -> Fraction:
    """Give the greatest sum of `one` over the sets that hold an atom; `inside` is atoms × sets."""
    numbers, under = _whole(ones)
    held = inside.astype(np.float64)
    return Fraction(_greatest([_ints(held @ digit) for digit in _digits(numbers)]), under)


def at_two_atoms(inside: BitArray, ones: Sequence[Fraction], boths: Sequence[Fraction]) -> Fraction:
    """Give the greatest sum, over two atoms, of `one` for sets holding one and `both` for sets holding both.

    Twice the sum at a and b is at most reach(a) + reach(b), where a set of reach max(2·one, both) reaches every
    atom that it holds. So atoms that could not beat a pair already found need not be looked at.
    """
    if len(ones) == 1 and inside.any():  # most sums are of one set
        return boths[0] if inside.all() else max(*ones, *boths)
    numbers, under = _whole([*ones, *boths])
    pairs = _Pairs(inside, numbers[: len(ones)], numbers[len(ones) :])
    reach, shift = pairs.reach()
    first = int(np.argmax(reach))
    found, partner = pairs.greatest_beside(first)
    found = max(found, pairs.greatest_beside(partner)[0])
    least = float(2 * found >> shift)
    rows = np.flatnonzero(2 * reach >= least)
    columns = np.flatnonzero(reach + reach[first] >= least)
    return Fraction(max(found, pairs.greatest(rows, columns)), under)


class _Pairs:
    """Sums at pairs of atoms: `one` over both atoms, and a set that holds both owes both − 2·one."""

    def __init__(self, inside: BitArray, ones: list[int], boths: list[int]) -> None:
        self._inside = inside
        self._most = [max(2 * one, both) for one, both in zip(ones, boths, strict=True)]
        owed = [both - 2 * one for one, both in zip(ones, boths, strict=True)]
        places = _places([*ones, *owed])
        self._ones, self._owed = _digits(ones, places), _digits(owed, places)

    def reach(self) -> tuple[FloatArray, int]:
        """Bound each atom's share of twice a sum, in units of 2^shift, from above."""
        shift = max(max(most.bit_length() for most in self._most) - DIGIT, 0)
        tops = np.array([(most >> shift) + 1 for most in self._most], dtype=np.float64)
        return self._inside.astype(np.float64) @ tops, shift

    def greatest_beside(self, atom: int) -> tuple[int, int]:
        """Give the greatest sum of pairs with this atom, and an atom that it is reached with."""
        digits = self._sums(np.array([atom]), np.arange(len(self._inside)))
        return _greatest(digits), int(np.argmax(_tops(digits)))

    def greatest(self, rows: IntArray, columns: IntArray) -> int:
        """Give the greatest sum of pairs of these atoms."""
        return _greatest(self._sums(rows, columns))

    def _sums(self, rows: IntArray, columns: IntArray) -> list[IntArray]:
        left, right = (self._inside[atoms].astype(np.float64) for atoms in (rows, columns))
        return [
            _ints((left * both) @ right.T + (left @ one)[:, None] + (right @ one)[None, :])
            for one, both in zip(self._ones, self._owed, strict=True)
        ]


def _whole(fractions: Sequence[Fraction]) -> tuple[list[int], int]:
    """Bring fractions to one denominator."""
    under = math.lcm(*{fraction.denominator for fraction in fractions})
    return [fraction.numerator * (under // fraction.denominator) for fraction in fractions], under


def _places(numbers: list[int]) -> int:
    return max(number.bit_length() for number in numbers) // DIGIT + 1


def _digits(numbers: list[int], places: int | None = None) -> list[FloatArray]:
    """Cut integers of any length into digits, lowest first; only the last may be negative."""
    last = (_places(numbers) if places is None else places) - 1
    cut = [[number >> DIGIT * place & MASK for number in numbers] for place in range(last)]
    cut.append([number >> DIGIT * last for number in numbers])
    return [np.array(digits, dtype=np.float64) for digits in cut]


def _ints(whole: FloatArray) -> IntArray:
    return whole.astype(np.int64)


def _carried(digits: list[IntArray]) -> list[IntArray]:
    """Make every digit but the highest one of DIGIT bits."""
    carried = list(digits)
    for place in range(len(carried) - 1):
        carried[place + 1] = carried[place + 1] + (carried[place] >> DIGIT)
        carried[place] = carried[place] & MASK
    return carried


def _tops(digits: list[IntArray]) -> IntArray:
    return _carried(digits)[-1]


def _greatest(digits: list[IntArray]) -> int:
    """Give the greatest of many long integers, all of their lowest digits first."""
    among = np.ones(digits[0].shape, dtype=np.bool_)
    greatest = 0
    for digit in reversed(_carried(digits)):
        best = int(digit[among].max())
        among &= digit == best
        greatest = (greatest << DIGIT) + best
    return greatest
