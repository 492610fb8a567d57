"""Predicates over codes as SQL that every engine reads alike: integers, AND, OR."""

from collections.abc import Mapping

from entwined.queries.diagram import Range
from entwined.queries.predicate import Predicate


def holds(predicate: Predicate, names: Mapping[str, str]) -> str:
    """Say in SQL that a row is inside; `names` gives the SQL of each column's code, which is never empty."""
    if predicate.is_everything:
        return "1 = 1"
    boxes = [
        " AND ".join(
            _within(names[column], ranges, predicate.sizes[column]) for column, ranges in box.items()
        )
        for box in predicate.boxes
    ]
    return " OR ".join(f"({box})" for box in boxes) or "1 = 0"


def _within(code: str, ranges: tuple[Range, ...], size: int) -> str:
    singles = [str(low) for low, high in ranges if low == high]
    tests = [_between(code, low, high, size) for low, high in ranges if low < high]
    if singles:
        tests.append(f"{code} IN ({', '.join(singles)})")
    return tests[0] if len(tests) == 1 else f"({' OR '.join(tests)})"


def _between(code: str, low: int, high: int, size: int) -> str:
    if low == 0:
        return f"{code} <= {high}"
    return f"{code} >= {low}" if high == size - 1 else f"{code} BETWEEN {low} AND {high}"
