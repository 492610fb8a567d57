"""Attacks on a synthetic table, by somebody who holds the real rows. They are weak evidence.

An attack that succeeds shows a leak. One that fails shows nothing but that this attack failed: it looks at rows as they
lie, at few of them, and at one draw. What nobody can learn is what the certificate says.
"""

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from entwined.learning.codes import Codes
from entwined.numbers import IntArray
from entwined.synthetic.telling_apart import QUANTILE, area_under_curve, evenly

MOST_TARGETS: Final = 500
AT_ONCE: Final = 2**22  # distances in memory


class Copies(NamedTuple):
    """People who are alone in all of their cells, and how many of them a table has a row for.

    Half of the real people are looked for, in as many synthetic rows as there are people in the other half.
    """

    unique: int
    matched: int
    """Whom a synthetic row describes in every column."""
    unrelated: int
    """Whom somebody of the other half describes: so many are matched by people who never saw them."""


class Membership(NamedTuple):
    """Who was in the real table, guessed by how near the nearest synthetic row is; a half is guessing."""

    area: float
    half_width: float
    members: int
    strangers: int


def copies(real: Codes, synthetic: Codes) -> Copies:
    """Look for the unique people of one half of the real table among synthetic rows, and among the other half."""
    half, other = real.some(np.arange(0, real.rows, 2)), real.some(np.arange(1, real.rows, 2))
    made = synthetic.some(evenly(synthetic.rows, max(other.rows, 1)))
    wanted, theirs, ours = _keys(half, other, made)
    known, counts = np.unique(wanted, return_counts=True)
    unique = known[counts == 1]
    return Copies(len(unique), int(np.isin(unique, ours).sum()), int(np.isin(unique, theirs).sum()))


def membership(real: Codes, synthetic: Codes, strangers: Codes) -> Membership:
    """Compare how near members and strangers are to the synthetic table, in columns that differ."""
    near = [
        _nearest(codes.values[evenly(codes.rows, MOST_TARGETS)], synthetic.values)
        for codes in (strangers, real)
    ]
    far, close = (one.astype(np.float64) for one in near)
    spread = np.sqrt((len(far) + len(close) + 1) / (12 * len(far) * len(close)))
    return Membership(area_under_curve(far, close), QUANTILE * float(spread), len(close), len(far))


def _nearest(targets: NDArray[Any], rows: NDArray[Any]) -> IntArray:
    """Count in how many columns the nearest row differs."""
    step = max(1, AT_ONCE // max(len(rows), 1))
    found = [np.zeros(0, np.int64)]
    for start in range(0, len(targets), step):
        part = targets[start : start + step]
        differ = np.zeros((len(part), len(rows)), np.int16)
        for column in range(rows.shape[1]):
            differ += part[:, None, column] != rows[None, :, column]
        found.append(differ.min(axis=1).astype(np.int64))
    return np.concatenate(found)


def _keys(*tables: Codes) -> list[IntArray]:
    """Give one number a different row, the same in all tables."""
    values = np.ascontiguousarray(np.concatenate([table.values for table in tables]))
    whole = values.view(np.dtype((np.void, values.dtype.itemsize * values.shape[1]))).ravel()
    place = np.unique(whole, return_inverse=True)[1]
    return np.split(place, np.cumsum([table.rows for table in tables])[:-1])
