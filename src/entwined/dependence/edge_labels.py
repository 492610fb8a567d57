"""Nodes numbered from 0 in the order of their labels, whether these are integers or names."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from entwined.dependence.model import checked_units
from entwined.errors import BadModel
from entwined.numbers import IntArray

DENSE: Final = 4  # integers spread over this many times as many values as there are edges get a look-up table
SPARE: Final = 1_000_000
SAME_NUMBER: Final = r"^\+?0*([0-9]+?)(\.0*)?$"


@dataclass(frozen=True, eq=False, slots=True)
class Numbered:
    """The ends of the edges as numbers, and the label that each number stands for."""

    nodes: int
    ends: IntArray
    label: Callable[[int], str]

    @classmethod
    def of(cls, first: Any, second: Any, units: int | None) -> Self:
        """Give numbers to integers (numpy) or names (arrow); with `units`, they are numbers already."""
        integers = isinstance(first, np.ndarray)
        if units is not None:
            if not integers:
                raise BadModel(f'An end of an edge is a name, but "units" is {units}. Label nodes from 0.')
            return cls.as_given(first, second, units)
        if len(first) == 0:
            raise BadModel('There is no edge, so no node. Add edges, or say "units" in the model.')
        if not integers:
            return cls.of_names(first, second)
        low = int(min(first.min(), second.min()))
        high = int(max(first.max(), second.max()))
        if high - low < DENSE * first.size + SPARE:
            return cls.of_dense(first, second, low, high)
        labels, inverse = np.unique(np.stack([first, second], axis=1), return_inverse=True)
        checked_units(labels.size)
        return cls(labels.size, inverse.reshape(-1, 2).astype(np.int64), lambda node: f"node {labels[node]}")

    @classmethod
    def as_given(cls, first: IntArray, second: IntArray, units: int) -> Self:
        """Take labels from 0 to units - 1 as they are."""
        checked_units(units)
        ends = np.stack([first, second], axis=1)
        outside = (ends < 0) | (ends >= units)
        if outside.any():
            wrong = int(ends[outside][0])
            raise BadModel(f'Node {wrong} is not from 0 to {units - 1}, as "units" says. Renumber the nodes.')
        return cls(units, ends, lambda node: f"node {node}")

    @classmethod
    def of_dense(cls, first: IntArray, second: IntArray, low: int, high: int) -> Self:
        """Give numbers to integers that lie close together, without sorting them."""
        present = np.zeros(high - low + 1, dtype=np.bool_)
        present[first - low] = True
        present[second - low] = True
        place = np.cumsum(present, dtype=np.int32) - 1
        nodes = checked_units(int(place[-1]) + 1)
        ends = np.empty((first.size, 2), dtype=np.int64)
        ends[:, 0], ends[:, 1] = place[first - low], place[second - low]
        return cls(nodes, ends, lambda node: f"node {np.flatnonzero(present)[node] + low}")

    @classmethod
    def of_names(cls, first: Any, second: Any) -> Self:
        """Give numbers to names in alphabetical order."""
        import pyarrow as pa
        from pyarrow import compute

        encoded = pa.chunked_array([*first.chunks, *second.chunks]).dictionary_encode().combine_chunks()
        names = encoded.dictionary
        refuse_same_number(names)
        nodes = checked_units(len(names))
        order = compute.sort_indices(names).to_numpy()
        place = np.empty(nodes, dtype=np.int64)
        place[order] = np.arange(nodes)
        ends = place[encoded.indices.to_numpy()].reshape(2, -1).T
        return cls(nodes, np.ascontiguousarray(ends), lambda node: f"{names[int(order[node])].as_py()!r:.60}")


def refuse_same_number(names: Any) -> None:
    """Refuse "7", "7.0" and "007" side by side: one person as two nodes would hide what depends on what."""
    from pyarrow import compute

    plain = compute.replace_substring_regex(names, pattern=SAME_NUMBER, replacement=r"\1")
    if compute.count_distinct(plain).as_py() == len(names):
        return
    seen: dict[str, str] = {}
    for name, number in zip(names.to_pylist(), plain.to_pylist(), strict=True):
        if number in seen:
            raise BadModel(
                f"The nodes {seen[number]!r:.60} and {name!r:.60} are the same number. Write it in one way."
            )
        seen[number] = name
