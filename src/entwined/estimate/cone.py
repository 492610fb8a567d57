"""Numbers that are not negative and whose sums are nearest to given ones: least squares in a cone."""

from typing import Final

import numpy as np

from entwined.numbers import FloatArray

STEPS: Final = 60
CLOSE: Final = 1e-16  # how near x · s is to zero in the end, of numbers of size 1
FLAT: Final = 1e-12  # and how near the pull of the sums is to that of the walls
FIRST: Final = 1e-3  # the least that numbers and walls' pulls are at the start
INSIDE: Final = 0.995  # the part of the way to a wall that is gone at most
RIDGE: Final = 1e-14


def nearest_not_negative(matrix: FloatArray, wanted: FloatArray) -> FloatArray:
    """Find x ≥ 0 with matrix · x nearest to what is wanted, by steps inside the cone.

    A step solves for both x and the pull s of the walls, x · s going to zero (Mehrotra's interior point method).

    >>> nearest_not_negative(np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]), np.array([2.0, -1.0])).round(3).tolist()
    [2.0, 0.0, 0.0]
    """
    size = max(float(np.abs(wanted).max(initial=0.0)), 1.0)
    goal, numbers = wanted / size, matrix.shape[1]
    even = matrix.sum(axis=1)
    x = np.full(numbers, max(float(even @ goal) / max(float(even @ even), FIRST), FIRST))
    s = np.full(numbers, max(float(np.abs(matrix.T @ (matrix @ x - goal)).max(initial=0.0)), FIRST))
    gram = matrix.T @ matrix
    gram.flat[:: numbers + 1] += RIDGE * gram.max(initial=0.0)
    for _ in range(STEPS):
        pull = matrix.T @ (matrix @ x - goal)
        mean = float(x @ s) / numbers
        if mean < CLOSE and float(np.abs(pull - s).max()) < FLAT:
            break
        room = x / s
        inverse = _inverse(gram, room)
        step = inverse @ -pull
        turn = -s - step / room
        length = min(_length(x, step), _length(s, turn))
        reached = float((x + length * step) @ (s + length * turn)) / numbers
        centring = ((reached / mean) ** 3 * mean - step * turn) / x
        step = inverse @ (centring - pull)
        turn = centring - s - step / room
        length = min(1.0, INSIDE * min(_length(x, step), _length(s, turn)))
        x, s = x + length * step, s + length * turn
    return np.where(x > s, x, 0.0) * size


def _length(here: FloatArray, step: FloatArray) -> float:
    """Give how many such steps stay inside, at most a few."""
    back = step < 0
    return float((here[back] / -step[back]).min(initial=2.0))


def _inverse(gram: FloatArray, room: FloatArray) -> FloatArray:
    """Invert matrixᵀ · matrix + 1 / room."""
    middle = gram.copy()
    middle.flat[:: len(middle) + 1] += 1.0 / room
    return np.asarray(np.linalg.inv(middle))
