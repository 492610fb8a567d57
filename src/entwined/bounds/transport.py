"""Exact one-step transport: leakage messages on a chain or forest whose law is known."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import cycle, repeat
from typing import Final, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from entwined.bounds.frontier import SMALLEST, Frontier
from entwined.bounds.kernel import (
    MOST_KERNELS,
    MOST_POINTS,
    TOO_SMALL,
    Kernel,
    frontiers_of,
    start_and_step,
)
from entwined.bounds.theorem import theorem
from entwined.dependence import Box, Coupled, MarkovChain
from entwined.dependence.odds import log_odds
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray, round_up

NEAR: Final = 1e-10  # a message that moves by less than this share is tried as a ceiling for all that follow
SETTLED: Final = 1e-9  # laws of the state this close together, in log ratios, share a kernel
FADING: Final = 100.0  # with log odds above it, errors hardly fade from step to step

Item = TypeVar("Item")


@theorem("model", yields_to=("block transport",))
def transport_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage on a chain or tree by the exact law of each neighbour, if only that law is known.

    Theorem. Let the units form a Markov chain, a tree or a forest with a known law. For neighbours i and j
    let P hold the law of x_j given x_i, and let T_P(L) be the largest
    log [1 + (e^L − 1) P(A|a)] / [1 + (e^L − 1) P(A|b)] over values a, b that x_i can take and sets A of
    values of x_j. Let F_{j→i} = T_P(ε_j + Σ_{k≠i} F_{k→j}), the sum over the other neighbours k of j. Then
    for every unit i, values a and b that it can take, and output set S:
    |log Pr[M ∈ S | x_i = a] − log Pr[M ∈ S | x_i = b]| ≤ ε_i + Σ_j F_{j→i}.

    Checked. The model has one law, its graph has no cycle, and the kernels in both directions are computed
    from the joint law. Rounding, and the distance of a long chain from the law in which it settles, are
    covered by widening the kernels.

    Trusted. The true law is the model, its initial law included, and the adversary knows the value of no
    unit. One who knows some values may learn more than this bound says.

    Proof. Given x_i the subtrees behind its neighbours are independent. Move x_i from a to b in the
    likelihood f of the output (at most ε_i), then in the law of one subtree at a time. Averaged over the
    other subtrees, f still changes by at most e^{ε_k} when unit k alone changes. Averaged over all that is
    behind j given x_j, it is a function h of x_j. By induction log h has range at most
    L = ε_j + Σ_{k≠i} F_{k→j}, the leakage of j in its own subtree. The ratio of the means of h under P(·|a)
    and P(·|b) is quasi-convex in h, so it is largest where h takes the values 1 and e^L only, and that
    maximum is T_P(L).

    Source. For chains, the temporal leakage of Cao, Yoshikawa, Xiao, Xiong (2017). For trees, new here.
    """
    if isinstance(model, MarkovChain):
        total = chain_leakage(loss, model)
    else:
        forest, frontiers = frontiers_of(model)
        losses = loss.per_unit.tolist()
        total = np.array(forest.sweep(losses, lambda j, i, held: frontiers[j, i](held), add))
    return Leakage(np.minimum(total, model.group_totals(loss)))


def add(one: float, other: float) -> float:
    """Add, rounded up."""
    return (one + other) * (1 + ULP)


@dataclass(frozen=True, slots=True)
class Run(Generic[Item]):
    """Steps of a chain that take the given items in turn, over and over."""

    turn: tuple[Item, ...]
    steps: int


def chain_leakage(loss: Loss, chain: MarkovChain) -> FloatArray:
    """ε_t plus what comes in from the past and from the future."""
    return both_ways(loss, *passages(chain), lambda frontier, own, behind: frontier(add(own, behind)))


def both_ways(
    loss: Loss,
    past: Sequence[Run[Item]],
    future: Sequence[Run[Item]],
    send: Callable[[Item, float, float], float],
) -> FloatArray:
    """Relay messages from the first step and from the last, and add up what each step gets."""
    same = loss.common
    forth, back = (
        repeat(same) if same is not None else iter(losses.tolist())
        for losses in (loss.per_unit, loss.per_unit[::-1])
    )
    total = np.array(loss.per_unit)
    total[1:] += relay(past, forth, send, loss.units - 1, steady=same)
    total[:-1] += relay(future, back, send, loss.units - 1, steady=same)[::-1]
    return round_up(total)


def relay(
    runs: Sequence[Run[Item]],
    losses: Iterator[float],
    send: Callable[[Item, float, float], float],
    steps: int,
    *,
    steady: float | None,
) -> FloatArray:
    """F ← send(ε, F), the message that each step sends on; with equal losses only until it stands still."""
    messages = np.empty(steps)
    message, first = 0.0, 0
    for run in runs:
        last = first + run.steps
        for step, item in zip(range(first, last), cycle(run.turn), strict=False):
            before, message = message, send(item, next(losses), message)
            messages[step] = message
            if steady is None or len(run.turn) > 1 or abs(message - before) > NEAR * message:
                continue
            ceiling = message if send(item, steady, message) <= message else message * (1 + NEAR)
            if send(item, steady, ceiling) <= ceiling:  # it is increasing, so no later message gets above
                message = messages[step + 1 : last] = ceiling
                break
        first = last
    return messages


@lru_cache(maxsize=4)
def passages(chain: MarkovChain) -> tuple[tuple[Run[Frontier], ...], tuple[Run[Frontier], ...]]:
    """Give the frontiers of all steps: forth from the first (past), and back from the last (future)."""

    @cache
    def frontier(kernel: Kernel) -> Frontier:
        return Frontier.of(kernel.law, kernel.error)

    past, future = (
        tuple(Run(tuple(map(frontier, run.turn)), run.steps) for run in runs) for runs in kernels_of(chain)
    )
    return past, future


def kernels_of(chain: MarkovChain) -> tuple[tuple[Run[Kernel], ...], tuple[Run[Kernel], ...]]:
    """Give the kernels of all steps: forth from the first (past), and back from the last (future).

    Leakage gets from t to t+1 by the law of x_t given x_{t+1}, and back by the law of x_{t+1} given x_t.
    """
    start, step = start_and_step(chain)
    if chain.log_odds == 0 or chain.length == 1:
        idle = (Run((Kernel(np.ones((1, 1)), 0.0),), chain.length - 1),)
        return idle, idle
    with np.errstate(under="raise"):
        try:
            course = StepLaws.of(start, step, chain.length - 1)
            laws = course.backward(step)
        except FloatingPointError:
            raise DoesNotApply(TOO_SMALL) from None
    rounding = (chain.states + 4) * ULP
    past = [Kernel(law, error + rounding) for law, error in zip(laws, course.errors, strict=True)]
    onward = {rows.tobytes(): Kernel(step[rows], rounding) for rows in course.possible}
    future = [onward[rows.tobytes()] for rows in course.possible]
    return course.runs(past), course.reversed_runs(future)


@dataclass(frozen=True, eq=False, slots=True)
class StepLaws:
    """The laws of the state at steps 0, 1, … until, from `start` on, they return every `period` steps.

    `laws` holds one more than the distinct steps; `errors[t]` is how far, in Hilbert's distance, laws[t] may
    be from the laws that it stands for.
    """

    laws: tuple[FloatArray, ...]
    errors: tuple[float, ...]
    start: int
    period: int
    steps: int

    @classmethod
    def of(cls, start: FloatArray, step: FloatArray, steps: int) -> Self:
        """Follow the state until its law stands still or comes back, or the chain ends."""
        most = min(MOST_KERNELS, MOST_POINTS // len(start) ** 3)
        noise = (len(start) + 2) * ULP  # what rounding adds to the distance in one step
        span = memory(step, steps)
        laws, anchor = [start], 0
        for t in range(1, min(steps, most) + 1):
            laws.append((laws[-1][:, None] * step).sum(axis=0))
            for first in (t - 1, anchor):
                rounds, gap = min(steps / (t - first) + 1, span), distance(laws[first], laws[t])
                if gap <= max(4 * noise, SETTLED / rounds):
                    drift = rounds * (gap + (min(t - first, span) + 2) * noise)
                    errors = [min(k, span) * noise + (drift if k >= first else 0.0) for k in range(t)]
                    return cls(tuple(laws), tuple(errors), first, t - first, steps)
            if t & (t - 1) == 0:  # Brent's search for a cycle: the anchor moves to each power of two
                anchor = t
        if steps > most:
            raise DoesNotApply(
                f"The law of the state still changes after {most:,} steps, and transport needs one that "
                "settles. Start from the stationary law, or use the messages."
            )
        return cls(tuple(laws), tuple(min(k, span) * noise for k in range(steps)), steps, 1, steps)

    @property
    def possible(self) -> list[NDArray[np.bool_]]:
        """Which states can occur at each distinct step."""
        return [law > 0 for law in self.laws[:-1]]

    def backward(self, step: FloatArray) -> list[FloatArray]:
        """Give the law of x_t given x_{t+1} for each distinct step, one row a state possible at t+1."""
        joints = [(law[:, None] * step).T for law in self.laws[:-1]]
        rows = [joint[joint.max(axis=1) > 0] for joint in joints]
        return [row / row.sum(axis=1, keepdims=True) for row in rows]

    def runs(self, each: Sequence[Item]) -> tuple[Run[Item], ...]:
        """Give each step its item, the first step first."""
        early = [Run((item,), 1) for item in each[: self.start]]
        return (*early, Run(tuple(each[self.start :]), self.steps - self.start))

    def reversed_runs(self, each: Sequence[Item]) -> tuple[Run[Item], ...]:
        """Give each step its item, the last step first."""
        late = self.steps - self.start
        places = [(late - 1 - k) % self.period for k in range(min(self.period, late))]
        turn = tuple(each[self.start + place] for place in places)
        early = [Run((item,), 1) for item in reversed(each[: self.start])]
        return (Run(turn[:1] if len(set(map(id, turn))) == 1 else turn, late), *early)


def distance(one: FloatArray, other: FloatArray) -> float:
    """Hilbert's distance of two laws, the range of their log ratio. No step of a chain makes it larger."""
    possible = one > 0
    if not np.array_equal(possible, other > 0):
        return math.inf
    return float(np.ptp(np.log(one[possible] / other[possible])))


def memory(step: FloatArray, steps: int) -> float:
    """Say how many steps' worth of small errors in the law of the state can ever add up.

    m steps multiply Hilbert's distance by τ = tanh(Δ/4) or less, Δ the log odds of m steps at once, so errors
    of one unit a step stay below m / (1 − τ).
    """
    longest, power, table, pattern = float(steps), 1, step, step > 0
    while power < longest and table[pattern].min() > SMALLEST:  # else an entry is lost, and Δ with it
        odds = float(log_odds(Box.exact(table[None]), conditional=False).max())
        odds += 4 * power * len(step) * ULP  # the rounding of the powers
        if odds < FADING:
            longest = min(longest, power * (math.exp(odds / 2) + 1) / 2)
        with np.errstate(under="ignore"):
            table, power = table @ table, 2 * power
        pattern = pattern.astype(float) @ pattern > 0
    return longest
