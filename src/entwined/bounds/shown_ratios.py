"""What values show of a secret: the largest log ratio of their laws given two of its values."""

import numpy as np

from entwined.numbers import ULP, FloatArray


def shown_ratios(weights: FloatArray, error: float) -> FloatArray:
    """For each two values of a secret (rows) the largest log ratio of what is shown (columns), rounded up.

    `weights` are joint chances up to one constant, each right up to e^±error. Entry (a, b) is log p(x | a) / p(x | b)
    at its largest over the x that can occur given a: infinite where b rules one out, and 0 where a or b cannot occur,
    which is no secret.
    """
    totals = weights.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(weights) - np.log(totals)[:, None]
        gaps = np.stack([np.fmax.reduce(row - logs, axis=1) for row in logs])  # 0/0 shows nothing
    largest = float(np.max(-logs, where=np.isfinite(logs), initial=0.0))
    possible = totals > 0
    secret = possible[:, None] & possible & ~np.eye(len(totals), dtype=bool)
    summed = (weights.shape[1] + 8) * ULP
    return np.where(secret, np.maximum(gaps, 0.0) + 4 * (error + summed) + 8 * ULP * (1.0 + largest), 0.0)
