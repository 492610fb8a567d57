"""People in a network: one pairwise strength an edge, whatever the values are."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from entwined.dependence.couplings import Couplings
from entwined.dependence.model import Coupled, Source, checked_source, checked_units
from entwined.errors import BadModel
from entwined.numbers import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Graph(Coupled):
    """Every law whose units interact only along the edges, each with log odds ratios of at most `log_odds`.

    `edges_file` and `file_digest` say where the edges were read, so that the model can be written down short.
    """

    size: int
    ends: IntArray
    log_odds: FloatArray
    source: Source = "declared"
    fields: tuple[tuple[str, Any], ...] = ()
    kind: ClassVar[str] = "graph"
    plural: ClassVar[str] = "graphs"

    def __post_init__(self) -> None:
        checked_units(self.size)
        checked_source(self.source)
        strengths = np.broadcast_to(np.asarray(self.log_odds, dtype=np.float64), (len(self.ends),))
        if np.isnan(strengths).any() or (strengths < 0).any():
            raise BadModel("An edge has a log odds that is negative or not a number. Give its largest size, ≥ 0.")
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

    @property
    def document(self) -> dict[str, Any]:
        """The model as the fields of its file."""
        return {"kind": self.kind, **dict(self.fields), "source": self.source}


def numbered(place: int) -> str:
    """Call a node by its number."""
    return f"node {place}"


def refuse_repeats(ends: IntArray, units: int, name: Callable[[int], str] = numbered) -> None:
    """A pair of different units interacts once."""
    if ends.size == 0:
        return
    loops = ends[:, 0] == ends[:, 1]
    if loops.any():
        place = int(np.argmax(loops))
        raise BadModel(f"Edge {place + 1} joins {name(int(ends[place, 0]))} to itself: a self loop. Remove it.")
    keys = np.sort(ends.min(axis=1) * np.int64(units) + ends.max(axis=1))
    again = keys[1:] == keys[:-1]
    if again.any():
        first, second = map(name, divmod(int(keys[1:][again][0]), units))
        raise BadModel(f"The edge between {first} and {second} is listed twice. List each pair once.")
