"""Cells of tables in SQL: the number of the cell that a code lies in, and how often each number comes."""

from collections.abc import Sequence

from entwined.queries.axes import Axis


def along(axis: Axis, code: str) -> str:
    """Number the cell of a code along an axis."""
    if axis.cuts:
        return banded(code, (*axis.cuts, axis.levels) if axis.keeps_missing else axis.cuts)
    if axis.width == 1:
        return code
    quotient = f"CAST(({code} - {code} % {axis.width}) / {axis.width} AS INTEGER)"  # whole in every engine
    if not axis.keeps_missing:
        return quotient
    return f"CASE WHEN {code} >= {axis.levels} THEN {axis.cells - 1} ELSE {quotient} END"


def banded(code: str, starts: Sequence[int], first: int = 0) -> str:
    """Number the range that a code lies in, by halves: few comparisons a row, however many ranges there are."""
    if len(starts) == 1:
        return str(first)
    half = len(starts) // 2
    below, above = banded(code, starts[:half], first), banded(code, starts[half:], first + half)
    return f"CASE WHEN {code} < {starts[half]} THEN {below} ELSE {above} END"


def grouped(names: Sequence[str]) -> str:
    """Count the numbers of several tables at once: which table, its number, how often."""
    listed = ", ".join(names)
    if len(names) == 1:
        return f"SELECT 0 AS which, {listed}, COUNT(*) AS n FROM keyed GROUP BY {listed}"
    which = " ".join(f"WHEN GROUPING({name}) = 0 THEN {at}" for at, name in enumerate(names))
    sets = ", ".join(f"({name})" for name in names)
    return f"SELECT CASE {which} END AS which, {listed}, COUNT(*) AS n FROM keyed GROUP BY GROUPING SETS ({sets})"
