"""Whether two laws, of one given the other and the other way round, can both be right."""

from typing import Final

import numpy as np

from entwined.errors import BadModel
from entwined.numbers import FloatArray

CLOSE: Final = 1e-6  # logs of probabilities that are written with some ten digits


def refuse_two_laws(onward: FloatArray, back: FloatArray, *, given_twice: bool) -> None:
    """Refuse kernels of which no joint law has both; of one kernel alone, that it holds either way.

    A joint law p(u, v) with p(v|u) = P and p(u|v) = Q has log P(u, v) − log Q(v, u) = log p(v) − log p(u), wherever
    it is above zero: a function of v less a function of u. One value is reached after another, and the next ones by
    what is known of these.
    """
    advice = (
        'Check that "kernel_back" is the other way round of the same joint law.'
        if given_twice
        else 'Give "kernel_back" too, the law of the first of a pair given the second.'
    )
    if onward.shape != back.shape[::-1]:
        raise BadModel(
            f"Kernels of shape {onward.shape} and {back.shape} are not of the same values. {advice}"
        )
    if ((onward > 0) != (back.T > 0)).any():
        raise BadModel(f"The kernel rules out a pair of values one way and not the other. {advice}")
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(onward > 0, np.log(onward) - np.log(back.T), np.nan)
    of_first, of_second = np.full(gap.shape[0], np.nan), np.full(gap.shape[1], np.nan)
    while np.isnan(of_first).any():
        of_first[np.argmax(np.isnan(of_first))] = 0.0
        _spread(gap, of_first, of_second)
    wrong = np.abs(gap - (of_second[None, :] - of_first[:, None])) > CLOSE * (1 + np.abs(gap))
    if wrong.any():
        raise BadModel(f"No joint law has the kernel both ways: it contradicts itself. {advice}")


def _spread(gap: FloatArray, of_first: FloatArray, of_second: FloatArray) -> None:
    """Work out what follows for the values that can be reached from those known, in place."""
    known = -1
    while known != (known := int(np.isfinite(of_first).sum() + np.isfinite(of_second).sum())):
        for to, frm, table in ((of_second, of_first, gap.T), (of_first, of_second, -gap)):
            found = table + frm[None, :]
            reached = np.isfinite(found).any(axis=1) & np.isnan(to)
            rows = np.flatnonzero(reached)
            to[rows] = found[rows, np.argmax(np.isfinite(found[rows]), axis=1)]
