"""About what neighbours tell near losses at which it is known: each message a power of what it is made of.

A message is summed up by one number for each pair of values, its moment at the order that decides. Such numbers add up
where parts compose. How much more a link gives where it takes more is seen by making all losses a little larger.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from entwined.bounds.flow import Flow
from entwined.bounds.kernel import ROOT, Forest, Link
from entwined.numbers import FloatArray, IntArray

SMALLEST = 1e-12


class LinkMoments(NamedTuple):
    """What a link took and gave of each pair of values, and whose pair moves each that was given."""

    took: FloatArray
    gave: FloatArray
    origin: IntArray


Swept: TypeAlias = Mapping[Link, LinkMoments]


class Power(NamedTuple):
    """What a link gives: `scale` times a power of what it takes of the pairs of `origin`."""

    scale: FloatArray
    power: FloatArray
    origin: IntArray

    @classmethod
    def of(cls, before: LinkMoments, after: LinkMoments) -> "Power":
        """Through what it gave before and after."""
        origin = np.minimum(before.origin, before.took.size - 1)
        there = np.minimum(before.origin, after.took.size - 1)
        taken, given = np.maximum(before.took[origin], SMALLEST), np.maximum(before.gave, SMALLEST)
        more = np.log(np.maximum(after.took[there], SMALLEST) / taken)
        grown = np.log(np.maximum(np.broadcast_to(after.gave, given.shape), SMALLEST) / given)
        power = np.clip(np.divide(grown, more, out=np.ones(given.size), where=more > 0), 0.0, 4.0)
        return cls(given / taken**power, power, origin)


@dataclass(frozen=True, eq=False)
class PowerLaws:
    """All links of a forest; a part of loss ρ has the moment `unit` times ρ."""

    forest: Forest
    links: Mapping[Link, Power]
    unit: float

    def heard(self, rhos: FloatArray) -> "Heard":
        """Pass numbers from node to node."""
        own = [np.array([self.unit * rho]) for rho in rhos.tolist()]
        held, took, gave = own, {}, {}
        order, parent = self.forest.order, self.forest.parent

        def pass_on(link: Link, taken: FloatArray) -> None:
            law = self.links[link]
            took[link] = taken[np.minimum(law.origin, taken.size - 1)]
            gave[link] = law.scale * took[link] ** law.power

        for node in reversed(order):
            above = parent[node]
            if above != ROOT:
                pass_on((node, above), held[node])
                held[above] = held[above] + gave[node, above]
        for node in order:
            above = parent[node]
            if (above, node) in self.links:  # else nobody asks
                pass_on((above, node), np.maximum(held[above] - gave[node, above], 0.0))
                held[node] = held[node] + gave[above, node]
        return Heard(self, held, took, gave)


@dataclass(frozen=True, eq=False)
class Heard:
    """What each node holds of each pair in the end, and what links took (of the pairs that move them) and gave."""

    laws: PowerLaws
    held: Sequence[FloatArray]
    took: Mapping[Link, FloatArray]
    gave: Mapping[Link, FloatArray]

    @cached_property
    def worst(self) -> FloatArray:
        """The most that a node holds of a pair."""
        return np.array([one.max() for one in self.held])

    def slopes(self, nodes: IntArray) -> FloatArray:
        """How the most of each of some nodes moves with the loss of every part."""
        gain = {
            link: self.laws.links[link].power * gave / np.maximum(self.took[link], SMALLEST)
            for link, gave in self.gave.items()
        }
        flow = Flow(self.laws.forest, gain, {link: law.origin for link, law in self.laws.links.items()})
        loudest = np.array([int(np.argmax(self.held[node])) for node in nodes.tolist()], np.int64)
        return self.laws.unit * flow.slopes(nodes, loudest)
