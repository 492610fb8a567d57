"""People in a network: one pairwise strength an edge, whatever the values are."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from entwined.canonical import Document
from entwined.dependence.couplings import Couplings
from entwined.dependence.edged import Edged, refuse_repeats, refuse_strangers
from entwined.dependence.model import Source, checked_source, checked_units
from entwined.dependence.narrower import Narrower, Tie
from entwined.dependence.product_law import ProductLaw, over_units
from entwined.errors import BadModel
from entwined.numbers import FloatArray, IntArray


@dataclass(frozen=True, eq=False, repr=False)
class Graph(Edged):
    """Every law whose units interact only along the edges, each with log odds ratios of at most `log_odds`.

    A log odds ratio is the same from either end, so an edge has one strength and no direction. Of the edges of a unit
    no more than `most_ties` say anything, if that is given; which ones is left open.
    """

    size: int
    ends: IntArray
    log_odds: FloatArray
    source: Source = "declared"
    fields: tuple[tuple[str, Any], ...] = ()
    edges_digest: str = ""
    edges_file: Path | None = None
    label: Callable[[int], str] | None = None
    most_ties: int | None = None
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
        if self.most_ties is not None and self.most_ties < 1:
            raise BadModel(
                f'"most_ties" is {self.most_ties}. Give a whole number from 1 on, or leave it out.'
            )
        refuse_repeats(self.ends, self.size)
        object.__setattr__(self, "log_odds", strengths)

    @cached_property
    def couplings(self) -> Couplings:
        """Each edge."""
        return Couplings.pairs(self.size, self.ends, self.log_odds)

    def member(self, values: int = 2) -> ProductLaw:
        """The Potts field (for two values the Ising model) whose edges have these log odds ratios: neighbours agree.

        Under a cap the strongest edges that it allows have them, and the others say nothing.
        """
        strengths = np.where(self._telling, self.log_odds, 0.0)
        tables = np.where(np.eye(values, dtype=bool), 1.0, np.exp(-strengths / 2)[:, None, None])
        return ProductLaw((values,) * self.size, over_units(self.ends.tolist(), tables))

    @property
    def _telling(self) -> NDArray[np.bool_]:
        """Choose edges that the cap allows, the strongest first: all of them where there is none."""
        if self.most_ties is None:
            return np.ones(len(self.ends), bool)
        chosen, held = np.zeros(len(self.ends), bool), [0] * self.size
        ends = self.ends.tolist()
        for edge in np.argsort(-self.log_odds, kind="stable").tolist():
            chosen[edge] = all(held[end] < self.most_ties for end in ends[edge])
            for end in ends[edge] if chosen[edge] else ():
                held[end] += 1
        return chosen

    def times_as_strong(self, factor: float) -> "Graph":
        """Multiply the log odds of every edge; it is no longer the model of a file."""
        return self._with(self.log_odds * factor)

    def _with(self, log_odds: FloatArray) -> "Graph":
        return replace(self, log_odds=log_odds, **self.unfiled)

    def ties(self, place: int) -> Iterator[Tie["Graph"]]:
        """Give every edge of a node."""
        for edge in np.flatnonzero((self.ends == place).any(axis=1)).tolist():
            first, second = map(self.called, self.ends[edge].tolist())

            def weaker(factor: float, edge: int = edge) -> "Graph":
                return self._with(np.where(np.arange(len(self.ends)) == edge, factor, 1.0) * self.log_odds)

            if 0 < self.log_odds[edge] < np.inf:
                yield Tie(f"of the edge between {first} and {second}", float(self.log_odds[edge]), weaker)

    def narrower(self) -> Iterator[Narrower]:
        """Suppose that half of the ties of whoever has most say nothing."""
        most = int(self.degrees.max(initial=0))
        half = (min(most, self.most_ties or most) + 1) // 2
        if half < most:
            knowing = f"that no more than {half} of anyone's ties say anything (most_ties = {half}), of up to {most}"
            yield Narrower("ties", knowing, replace(self, most_ties=half, **self.unfiled))

    @property
    def written_out(self) -> Document:
        """The model with its edges as [node, node, log odds]; JSON has no infinity, so it is "inf"."""
        strengths = ["inf" if strength == np.inf else strength for strength in self.log_odds.tolist()]
        edges = [[*pair, strength] for pair, strength in zip(self.ends.tolist(), strengths, strict=True)]
        capped = {} if self.most_ties is None else {"most_ties": self.most_ties}
        return {"kind": self.kind, "units": self.size, "edges": edges, **capped, "source": self.source}
