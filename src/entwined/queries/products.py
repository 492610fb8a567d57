"""Products of matrices with one long side, cut along it into blocks so small that one thread makes each of them.

All blocks of a product are made in one call, in which other threads may work too. Whoever asks sees to it that whole
numbers are exact in the floats that are given, in whatever order a block is added up.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from entwined.numbers import IntArray

PRODUCTS_AT_ONCE: Final = 2**18
FEWEST_ROWS: Final = 64

Floats = NDArray[np.floating[Any]]


def block_rows(first: int, second: int) -> int:
    """Say how long a block is of matrices whose short sides have these lengths: a power of two."""
    return _power(PRODUCTS_AT_ONCE // (first * second))


def rows_at_once(first: int, second: int, entries: int) -> int:
    """Say how many rows have so many entries in two matrices with these short sides: whole blocks, at least one."""
    return max(_power(entries // (first + second)), block_rows(first, second))


def _power(most: int) -> int:
    return max(1 << most.bit_length() >> 1, FEWEST_ROWS)


def spread(left: Floats, right: Floats, out: Floats) -> Floats:
    """Multiply by a matrix whose columns are many, and write the product out."""
    block, rows = block_rows(*left.shape), right.shape[1]
    whole = rows - rows % block
    if whole:
        np.matmul(left, _blocks(right[:, :whole], block), out=_blocks(out[:, :whole], block))
    if whole < rows:
        np.matmul(left, right[:, whole:], out=out[:, whole:])
    return out


def added(left: Floats, right: Floats) -> IntArray:
    """Multiply by the transpose of a matrix where both have many columns: whole numbers, exact block by block."""
    block, rows = block_rows(len(left), len(right)), left.shape[1]
    whole = rows - rows % block
    total = (left[:, whole:] @ right[:, whole:].T).astype(np.int64)
    if whole:
        blocks = _blocks(left[:, :whole], block), _blocks(right[:, :whole], block).transpose(0, 2, 1)
        total += np.matmul(*blocks).astype(np.int64).sum(axis=0)
    return total


def _blocks(matrix: Floats, block: int) -> Floats:
    """Look at a matrix as a stack of blocks of its columns; nothing is copied."""
    return matrix.reshape(len(matrix), -1, block).transpose(1, 0, 2)
