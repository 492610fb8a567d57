"""OpenDP's exact samplers (Canonne, Kamath, Steinke 2020), imported when first used because they are heavy.

OpenDP takes integers as they are, adds a draw in integers without bounds and puts the sum to the nearest
int64. Its bits come from a cryptographic generator that the operating system seeds, anew in every process.
Version 0.14 and those before it bent the law (its issue 2638); the tests of the law refuse them.
"""

from typing import Any

import numpy as np

from entwined.numbers import IntArray


def add_laplace(exact: IntArray, scale: float) -> IntArray:
    """Add to each integer a draw with P(k) ∝ exp(−|k|/scale)."""
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance

    return _draw(make_laplace(_vectors(), l1_distance(T="i64"), scale=scale), exact)


def add_gaussian(exact: IntArray, scale: float) -> IntArray:
    """Add to each integer a draw with P(k) ∝ exp(−k²/(2·scale²))."""
    from opendp.measurements import make_gaussian
    from opendp.metrics import l2_distance

    return _draw(make_gaussian(_vectors(), l2_distance(T="f64"), scale=scale), exact)


def _vectors() -> Any:
    from opendp.domains import atom_domain, vector_domain
    from opendp.mod import enable_features

    enable_features("contrib")  # OpenDP's name for everything that its editors have not yet vetted to the end
    return vector_domain(atom_domain(T="i64"))


def _draw(measurement: Any, exact: IntArray) -> IntArray:
    """Draw for a whole batch in one call."""
    noisy = measurement(np.ascontiguousarray(exact.reshape(-1)))
    return np.array(noisy, dtype=np.int64).reshape(exact.shape)
