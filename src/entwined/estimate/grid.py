"""The public grid on which every released number lies, settled before any row is read.

Counts, totals and quantiles lie on their own lattice, means of times on microseconds. Another ratio of noisy
integers could be any fraction: it is rounded to millionths of its column's step (of its square for a
variance).
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from entwined.queries import Answer, Query
from entwined.schema import Schema

Rounding: TypeAlias = Callable[[Fraction], int]


def placed(query: Query, schema: Schema, value: Answer, how: Rounding = round) -> Answer:
    """Put an answer on its grid: to the nearest point, or with floor and ceil to the one below or above."""
    step = query.grid(schema)
    return value if step is None or not isinstance(value, Fraction) else how(value / step) * step


def outward(query: Query, schema: Schema, ends: tuple[Answer, Answer]) -> tuple[Answer, Answer]:
    """Put the ends of an interval on the grid without making it shorter."""
    return placed(query, schema, ends[0], math.floor), placed(query, schema, ends[1], math.ceil)
