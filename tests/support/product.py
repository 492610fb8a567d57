"""The product's models made from the random draws."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from entwined.dependence import BayesNet, Box, Coupled, Couplings, Edge, MarkovChain, RandomField, Variable
from entwined.dependence.factors import Factors, couplings_of, pairs_of
from support import draw


@dataclass(frozen=True, eq=False)
class FactorGraph(Coupled):
    """Any factors, as message passing sees them."""

    size: int
    blocks: tuple[Factors, ...]
    kind: ClassVar[str] = "factor_graph"
    source = "declared"

    @property
    def units(self) -> int:
        return self.size

    @cached_property
    def couplings(self) -> Couplings:
        return couplings_of(self.size, self.blocks)

    @cached_property
    def pairs(self):
        return pairs_of(self.blocks)

    @property
    def document(self):
        return {"kind": self.kind}


def product_model(drawn: draw.Model) -> Coupled:
    """The model that a user would write for what was drawn."""
    if isinstance(drawn, draw.Chain):
        return MarkovChain(drawn.length, Box.exact(drawn.transition), drawn.initial)
    if isinstance(drawn, draw.Net):
        return BayesNet.of(
            [
                Variable(one.name, tuple(map(str, range(one.values))), one.parents, one.table.tolist())
                for one in drawn.variables
            ]
        )
    if all(len(scope) == 2 for scope, _ in drawn.factors):
        names = [f"x{place}" for place in range(len(drawn.sizes))]
        edges = [Edge((names[a], names[b]), table.tolist()) for (a, b), table in drawn.factors]
        return RandomField.of(dict(zip(names, drawn.sizes, strict=True)), edges)
    blocks = tuple(
        Factors(np.array([scope], dtype=np.int64), Box.exact(table[None]), conditional=False)
        for scope, table in drawn.factors
    )
    return FactorGraph(len(drawn.sizes), blocks)
