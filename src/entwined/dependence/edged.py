"""Models of who is tied to whom: their edges stand in a file beside the model, or are written out in it."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Self

import numpy as np

from entwined.canonical import Document
from entwined.dependence.model import Coupled, Source
from entwined.errors import BadModel
from entwined.numbers import IntArray


class Edged(Coupled):
    """A model over nodes and the edges between them.

    `fields` is what the model file said of them, `edges_digest` the SHA-256 of the edge file it named, `edges_file`
    where that was found, and `label` what a node is called there.
    """

    size: int
    ends: IntArray
    source: Source
    fields: tuple[tuple[str, Any], ...]
    edges_digest: str
    edges_file: Path | None
    label: Callable[[int], str] | None
    unfiled: ClassVar[dict[str, Any]] = {"fields": (), "edges_digest": "", "edges_file": None}

    @property
    def units(self) -> int:
        """How many nodes there are."""
        return self.size

    def called(self, place: int) -> str:
        """Name a node by its number: what is published does not point at people."""
        return numbered(place)

    def named(self, place: int) -> str:
        """Name a node as its file does, for the holder's eyes."""
        return numbered(place) if self.label is None else self.label(place)

    @property
    def degrees(self) -> IntArray:
        """How many edges each node has."""
        return np.bincount(self.ends.reshape(-1), minlength=self.size).astype(np.int64)

    @property
    def document(self) -> Document:
        """The model as the fields of its file; where it was not read from one, with the edges written out."""
        if not self.fields:
            return self.written_out
        digest = {"edges_digest": self.edges_digest} if self.edges_digest else {}
        return {"kind": self.kind, **dict(self.fields), **digest, "source": self.source}

    @property
    @abstractmethod
    def written_out(self) -> Document:
        """The model with its edges as lists."""

    @property
    def published(self) -> Self:
        """The same model with its edge file named by its last name alone: it says nothing of the holder's folders."""
        named = str(dict(self.fields).get("edges", ""))
        return self.renamed(PurePosixPath(named).name) if "/" in named else self

    def renamed(self, name: str) -> Self:
        """Name the edge file otherwise."""
        return replace(self, fields=tuple((dict(self.fields) | {"edges": name}).items()))  # type: ignore[type-var]  # its subclasses are dataclasses


def refuse_strangers(ends: IntArray, units: int) -> None:
    """Refuse edges that are no pairs of units."""
    if ends.ndim != 2 or ends.shape[1] != 2 or ends.dtype.kind not in "iu":  # noqa: PLR2004  (two ends)
        raise BadModel(
            f"Edges of shape {ends.shape} and type {ends.dtype} are no pairs. Give two integers an edge."
        )
    if ends.size and (ends.min() < 0 or ends.max() >= units):
        raise BadModel(f"An edge leads to a node that is not from 0 to {units - 1}. Number the nodes from 0.")


def numbered(place: int) -> str:
    """Call a node by its number."""
    return f"node {place}"


def refuse_repeats(ends: IntArray, units: int, name: Callable[[int], str] = numbered) -> None:
    """Refuse a unit joined to itself, and a pair that is listed twice."""
    if ends.size == 0:
        return
    first, second = ends[:, 0], ends[:, 1]
    loops = first == second
    if loops.any():
        place = int(np.argmax(loops))
        raise BadModel(f"Edge {place + 1} joins {name(int(first[place]))} to itself: a self loop. Remove it.")
    keys = np.minimum(first, second) * np.int64(units) + np.maximum(first, second)
    keys.sort()
    again = keys[1:] == keys[:-1]
    if again.any():
        one, other = map(name, divmod(int(keys[1:][again][0]), units))
        raise BadModel(f"The edge between {one} and {other} is listed twice. List each pair once.")
