"""Lists inside lists as flat arrays, and which of a million entries is wrong."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from entwined.errors import BadModel
from entwined.numbers import FloatArray, IntArray

PAIR = 2

Naming: TypeAlias = Callable[[int], str]  # stacked tables have a name each
Name: TypeAlias = str | Naming


def flattened(nested: Any, depth: int, what: str) -> tuple[list[Any], tuple[int, ...]]:
    """Take lists inside lists apart level by level; all lists of a level have one length."""
    level, shape = [nested], []
    for _ in range(depth):
        kinds = set(map(type, level))
        if np.ndarray in kinds:
            level = [entry.tolist() if isinstance(entry, np.ndarray) else entry for entry in level]
            kinds = set(map(type, level))
        if not kinds <= {list, tuple}:
            wrong = next(entry for entry in level if not isinstance(entry, (list, tuple)))
            raise BadModel(f"{what} holds {shown(wrong)} where a list is needed. Give lists of numbers.")
        lengths = set(map(len, level))
        if len(lengths) > 1:
            found = f"lists of {min(lengths)} and of {max(lengths)} entries side by side"
            raise BadModel(f"{what} has {found}. Give lists of equal length.")
        shape.append(lengths.pop() if lengths else 0)
        level = list(chain.from_iterable(level))
    return level, tuple(shape)


def flat_ends(entries: list[Any], what: str) -> tuple[FloatArray, FloatArray]:
    """Read numbers and pairs [low, high] as lower and upper ends; one array twice where all are numbers."""
    if not {list, tuple} & set(map(type, entries)):
        values = numbers(entries, what)
        return values, values
    pairs = [entry if isinstance(entry, (list, tuple)) else (entry, entry) for entry in entries]
    if set(map(len, pairs)) != {PAIR}:
        wrong = shown(next(pair for pair in pairs if len(pair) != PAIR))
        raise BadModel(
            f"{what} holds {wrong} where a number is needed. Give a number, or a pair [low, high]."
        )
    both = numbers(list(chain.from_iterable(pairs)), what).reshape(-1, PAIR)
    return both[:, 0].copy(), both[:, 1].copy()


def numbers(entries: list[Any], what: str) -> FloatArray:
    """Read an array of numbers; true and false are none, though Python counts with them."""
    for kind in set(map(type, entries)):
        if kind is bool or not issubclass(kind, (int, float, np.integer, np.floating)):
            wrong = shown(next(entry for entry in entries if type(entry) is kind))
            raise BadModel(f"{what} holds {wrong}, which is not a number. Give numbers, without quotes.")
    try:
        return np.array(entries, dtype=np.float64)
    except OverflowError:
        raise BadModel(f"{what} holds an integer too large for a float. Give numbers below 1e308.") from None


def shown(wrong: Any) -> str:
    """Say what was given, short enough for a message, however much it was."""
    if isinstance(wrong, (list, tuple)):
        return f"a list of {len(wrong)} entries"
    if isinstance(wrong, dict):
        return f"an object of {len(wrong)} entries"
    if wrong is None or isinstance(wrong, bool):
        return {None: "null", True: "true", False: "false"}[wrong]
    if isinstance(wrong, int) and abs(wrong) > 10**30:
        return "an integer of more than 30 digits"
    return f"{wrong!r:.40}"


def refuse_impossible(low: FloatArray, high: FloatArray, what: str) -> None:
    """Refuse entries that are not finite, and intervals with their lower end above their upper end."""
    if low.shape != high.shape:
        raise BadModel(f"{what} has lower and upper ends of different shapes. Give both for each entry.")
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        raise BadModel(f"{what} has an entry that is infinite or not a number. Give finite numbers.")
    if high is not low and (low > high).any():
        raise BadModel(f"{what} has an interval with its lower end above its upper. Write it as [low, high].")


def refuse_where(wrong: NDArray[np.bool_] | np.bool_, what: Name, says: str) -> None:
    """Name the first row that is wrong, and its table where tables are stacked."""
    if not wrong.any():
        return
    stacked = 0 if isinstance(what, str) else 1
    place = np.argwhere(wrong)[0].tolist()
    table = what if isinstance(what, str) else what(place[0])
    rows = place[stacked:]
    row = f", row {int(np.ravel_multi_index(rows, wrong.shape[stacked:])) + 1}," if rows else ""
    raise BadModel(f"{table}{row} {says}")


def by_rows(rows: IntArray) -> Iterator[tuple[tuple[int, ...], IntArray]]:
    """Group equal rows: each distinct row with the places where it stands."""
    if rows.size == 0:
        return
    order = np.lexsort(rows.T) if (rows != rows[0]).any() else np.arange(len(rows))
    ranked = rows[order]
    starts = np.flatnonzero((ranked[1:] != ranked[:-1]).any(axis=1)) + 1
    for places in np.split(order, starts):
        yield tuple(rows[places[0]].tolist()), places
