"""Leakage messages on any factor graph: from the group bound down; every iterate is a valid bound."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from entwined.bounds.contraction import LARGEST, contract, hindrance, let_through
from entwined.dependence import Couplings
from entwined.numbers import ULP, FloatArray, IntArray
from entwined.progress import report

TOLERANCE = 1e-10
MANY_MESSAGES, TOLERANCE_OF_MANY = 500_000, 1e-6  # every iterate is a bound, and these take seconds
MOST_UPDATES = 160_000_000  # message updates after which a good bound is good enough
BLOCK = 1 << 16  # entries at a time: they stay in the processor's cache
LEAP_EVERY = 12
MANY_BLOCKS = 16


@dataclass(frozen=True, eq=False)
class Messages:
    """The map from factor-to-unit messages F to better ones: increasing and concave."""

    losses: FloatArray
    graph: Couplings

    @cached_property
    def starts(self) -> IntArray:
        """Where each factor's entries begin."""
        return np.concatenate([[0], np.cumsum(self.graph.sizes)[:-1]])

    @cached_property
    def slack(self) -> FloatArray:
        """For each unit, a factor above 1 that covers the rounding of its sums."""
        return np.asarray(
            1 + ULP * (np.bincount(self.graph.unit, minlength=self.graph.units) + 3.0), np.float64
        )

    def leakage(self, messages: FloatArray) -> FloatArray:
        """ε_i + Σ_c F_{c→i}."""
        incoming = np.bincount(self.graph.unit, weights=messages, minlength=self.graph.units)
        return (self.losses + incoming) * self.slack

    @cached_property
    def most(self) -> FloatArray:
        """The most that M_{j→c} can be: j's group without the other units of c, which are held fixed."""
        groups = self.graph.component_totals(self.losses)[self.graph.unit]
        own = self.losses[self.graph.unit]
        others = np.add.reduceat(own, self.starts)[self.graph.factor] - own if own.size else own
        return np.maximum(groups - others * (1 - 8 * ULP), own)

    @cached_property
    def at_zero(self) -> FloatArray:
        """Where the map takes messages of zero: the least that they can be."""
        return self.step(np.zeros(self.graph.unit.size))

    def step(self, messages: FloatArray) -> FloatArray:
        """F_{c→i} = T(Σ_{j∈S_c∖i} M_{j→c}; Δ_{c,i}) with M_{j→c} = ε_j + Σ_{c'≠c} F_{c'→j}, at most j's
        group.
        """
        leakage = self.leakage(messages)
        if not self.graph.pairwise:
            return contract(self.gathered(leakage, messages), self.graph.log_odds)
        better = np.empty_like(messages)
        starts = range(0, messages.size, BLOCK)

        def improve(start: int) -> None:
            part = slice(start, start + BLOCK)
            outgoing = np.minimum(leakage[self.graph.unit[part]] - messages[part], self.most[part])
            swapped = outgoing.reshape(-1, 2)[:, ::-1].reshape(-1)
            better[part] = self.passed(swapped, part)

        if len(starts) < MANY_BLOCKS:
            for start in starts:
                improve(start)
        else:
            with ThreadPoolExecutor() as workers:  # numpy lets go of the interpreter while it computes
                list(workers.map(improve, starts))
        return better

    @cached_property
    def hindered(self) -> FloatArray:
        """What is needed of the strengths, worked out once."""
        return hindrance(self.graph.log_odds)

    def passed(self, leakage: FloatArray, part: slice) -> FloatArray:
        """T of some messages, by the quick form where it holds; at most what comes in."""
        if leakage.size and leakage.max() > LARGEST:
            return contract(leakage, self.graph.log_odds[part])
        return np.minimum(let_through(leakage, self.hindered[part]), leakage)

    def gathered(self, leakage: FloatArray, messages: FloatArray) -> FloatArray:
        """Σ_{j∈S_c∖i} M_{j→c} for each entry, whatever the sizes of the factors."""
        outgoing = np.minimum(leakage[self.graph.unit] - messages, self.most)
        if outgoing.size == 0:
            return outgoing
        totals = np.add.reduceat(outgoing, self.starts) * (1 + ULP * (self.graph.sizes + 2))
        gathered: FloatArray = totals[self.graph.factor] - outgoing
        return gathered

    def leap(self, messages: FloatArray, last: FloatArray, before: FloatArray) -> FloatArray:
        """Guess where the iteration ends, and raise the guess until it is proved to lie above.

        `last` and `before` are the last two decreases. The map G is increasing and concave with G(0) > 0,
        so it has one fixed point, and every F with G(F) ≤ F lies above it. If G(H) − H ≤ η/(1+η)·G(0)
        then F = (1+η)H is such an F, since G((1+η)H) ≤ (1+η)G(H) − ηG(0). The test is made again on F
        itself; where it fails nothing changes.
        """
        at_zero, speed = self.at_zero, float(before @ before)
        if speed == 0 or at_zero.min() <= 0:
            return messages
        rate = min(float(last @ before) / speed, 0.98)
        guess = np.maximum(messages - last * (rate / (1 - rate)), at_zero)
        short = float(np.max((self.step(guess) - guess) / at_zero))
        if short >= 0.5:  # noqa: PLR2004  (the guess is useless yet)
            return messages
        raised = guess * (1 + max(short, 0.0) / (1 - short) + 8 * ULP)
        better = self.step(raised)
        return np.minimum(better, messages) if (better <= raised).all() else messages


def settled_messages(losses: FloatArray, couplings: Couplings) -> tuple[Messages, FloatArray]:
    """Iterate from the group bound until nothing moves any more, or enough work is done."""
    graph = couplings.binding
    system = Messages(losses, graph)
    messages = contract(couplings.component_totals(losses)[graph.unit], graph.log_odds)
    most = max(8, MOST_UPDATES // max(1, messages.size))
    last = np.zeros_like(messages)
    tolerance = TOLERANCE if messages.size < MANY_MESSAGES else TOLERANCE_OF_MANY
    for iteration in range(1, most + 1):
        better = np.minimum(system.step(messages), messages)
        before, last, messages = last, messages - better, better
        report("passing messages", iteration, most)
        if float(np.max(last / np.maximum(better, 1e-300), initial=0.0)) <= tolerance:
            break
        if iteration % LEAP_EVERY == 0:
            messages = system.leap(messages, last, before)
    return system, messages


def loopy_leakage(losses: FloatArray, couplings: Couplings) -> FloatArray:
    """Bound each unit by its settled messages, and by its group."""
    system, messages = settled_messages(losses, couplings)
    return np.minimum(system.leakage(messages), couplings.component_totals(losses))
