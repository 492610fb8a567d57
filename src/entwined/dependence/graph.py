"""People in a network: one pairwise strength an edge, whatever the values are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

import numpy as np

from entwined.canonical import Document
from entwined.dependence.couplings import Couplings
from entwined.dependence.model import Coupled, Source, checked_source, checked_units
from entwined.dependence.narrower import Tie
from entwined.errors import BadModel
from entwined.numbers import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Coupled):
    """Every law whose units interact only along the edges, each with log odds ratios of at most `log_odds`.

    `fields` is what the model file said of the edges, `edges_digest` the SHA-256 of the edge file it named,
    and `edges_file` where that was found.
    """

    size: int
    ends: IntArray
    log_odds: FloatArray
    source: Source = "declared"
    fields: tuple[tuple[str, Any], ...] = ()
    edges_digest: str = ""
    edges_file: Path | None = None
    kind: ClassVar[str] = "graph"
    plural: ClassVar[str] = "graphs"

    def __post_init__(self) -> None:
        checked_units(self.size)
        checked_source(self.source)
        refuse_strangers(self.ends, self.size)
        try:
            strengths = np.broadcast_to(np.asarray(self.log_odds, dtype=np.float64), (len(self.ends),))
        except ValueError:
            raise BadModel(
                f"There are {len(self.ends)} edges. Give one log odds for all, or one an edge."
            ) from None
        if np.isnan(strengths).any() or (strengths < 0).any():
            raise BadModel(
                "An edge has a log odds that is negative or not a number. Give its largest size, ≥ 0."
            )
        refuse_repeats(self.ends, self.size)
        object.__setattr__(self, "log_odds", strengths)

    @property
    def units(self) -> int:
        """How many nodes there are."""
        return self.size

    @cached_property
    def couplings(self) -> Couplings:
        """Each edge."""
        return Couplings.pairs(self.size, self.ends, self.log_odds)

    def times_as_strong(self, factor: float) -> "Graph":
        """Multiply the log odds of every edge; it is no longer the model of a file."""
        return self._with(self.log_odds * factor)

    def _with(self, log_odds: FloatArray) -> "Graph":
        return replace(self, log_odds=log_odds, fields=(), edges_digest="", edges_file=None)

    def called(self, place: int) -> str:
        """Name a node."""
        return numbered(place)

    def ties(self, place: int) -> Iterator[Tie["Graph"]]:
        """Give every edge of a node."""
        for edge in np.flatnonzero((self.ends == place).any(axis=1)).tolist():
            first, second = map(self.called, self.ends[edge].tolist())

            def weaker(factor: float, edge: int = edge) -> "Graph":
                return self._with(np.where(np.arange(len(self.ends)) == edge, factor, 1.0) * self.log_odds)

            if 0 < self.log_odds[edge] < np.inf:
                yield Tie(f"of the edge between {first} and {second}", float(self.log_odds[edge]), weaker)

    @property
    def document(self) -> Document:
        """The model as the fields of its file; where it was not read from one, with the edges written out."""
        if not self.fields:
            return self.written_out
        digest = {"edges_digest": self.edges_digest} if self.edges_digest else {}
        return {"kind": self.kind, **dict(self.fields), **digest, "source": self.source}

    @property
    def published(self) -> "Graph":
        """The same model with its edge file named by its last name alone: it says nothing of the holder's folders."""
        named = str(dict(self.fields).get("edges", ""))
        if "/" not in named:
            return self
        return replace(self, fields=tuple((dict(self.fields) | {"edges": PurePosixPath(named).name}).items()))

    @property
    def written_out(self) -> Document:
        """The model with its edges as [node, node, log odds]; JSON has no infinity, so it is "inf"."""
        strengths = ["inf" if strength == np.inf else strength for strength in self.log_odds.tolist()]
        edges = [[*pair, strength] for pair, strength in zip(self.ends.tolist(), strengths, strict=True)]
        return {"kind": self.kind, "units": self.size, "edges": edges, "source": self.source}


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
