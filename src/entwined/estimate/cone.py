"""Numbers that are not negative and whose sums are nearest to given ones: least squares in a cone."""

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from entwined.numbers import FloatArray

STEPS: Final = 60
CLOSE: Final = 1e-16  # how near x · s is to zero in the end, of numbers of size 1
FLAT: Final = 1e-12  # and how near the pull of the sums is to that of the walls
FIRST: Final = 1e-3  # the least that numbers and walls' pulls are at the start
INSIDE: Final = 0.995  # the part of the way to a wall that is gone at most
RIDGE: Final = 1e-14
SPARSE: Final = 1 / 16  # the share of entries up to which a matrix is one of few entries

Solver: TypeAlias = Callable[[FloatArray], FloatArray]


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
    products = _products(matrix)
    for _ in range(STEPS):
        pull = matrix.T @ (matrix @ x - goal)
        mean = float(x @ s) / numbers
        if mean < CLOSE and float(np.abs(pull - s).max()) < FLAT:
            break
        room = x / s
        solve = _solver(matrix, room, products)
        step = solve(-pull)
        turn = -s - step / room
        length = min(_length(x, step), _length(s, turn))
        reached = float((x + length * step) @ (s + length * turn)) / numbers
        centring = ((reached / mean) ** 3 * mean - step * turn) / x
        step = solve(centring - pull)
        turn = centring - s - step / room
        length = min(1.0, INSIDE * min(_length(x, step), _length(s, turn)))
        x, s = x + length * step, s + length * turn
    return np.where(x > s, x, 0.0) * size


def _length(here: FloatArray, step: FloatArray) -> float:
    """Give how many such steps stay inside, at most a few."""
    back = step < 0
    return float((here[back] / -step[back]).min(initial=2.0))


def _products(matrix: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Prepare matrix · diagonal · matrixᵀ, or matrixᵀ · matrix where there are fewer numbers than sums."""
    from scipy.sparse import csr_array

    if matrix.shape[1] <= matrix.shape[0]:
        gram = matrix.T @ matrix
        gram.flat[:: len(gram) + 1] += RIDGE * gram.max(initial=0.0)
        return lambda _: gram
    if np.count_nonzero(matrix) > SPARSE * matrix.size:
        return lambda diagonal: np.asarray((matrix * diagonal) @ matrix.T)
    few = csr_array(matrix)
    return lambda diagonal: np.asarray((csr_array(few.multiply(diagonal)) @ few.T).todense())


def _solver(matrix: FloatArray, room: FloatArray, products: Callable[[FloatArray], FloatArray]) -> Solver:
    """Invert matrixᵀ · matrix + 1 / room, in as few unknowns as there are numbers or sums."""
    middle = products(room).copy()
    if matrix.shape[1] <= matrix.shape[0]:
        middle.flat[:: len(middle) + 1] += 1.0 / room
        whole = np.linalg.inv(middle)
        return lambda right: np.asarray(whole @ right)
    middle.flat[:: len(middle) + 1] += 1.0
    inverse = np.linalg.inv(middle)
    return lambda right: np.asarray(room * (right - matrix.T @ (inverse @ (matrix @ (room * right)))))
