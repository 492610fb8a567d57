"""Tilted transport: leakage messages on a chain or forest whose law is known, whatever else is known."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from entwined.bounds.kernel import TOO_SMALL, Forest, Kernel, Link, all_but_one, laws_of
from entwined.bounds.theorem import theorem
from entwined.bounds.tilted_frontier import Cases, TiltedFrontier, tilts_through
from entwined.bounds.transport import Run, add, both_ways, kernels_of
from entwined.dependence import Coupled, MarkovChain
from entwined.errors import DoesNotApply
from entwined.loss import Leakage, Loss
from entwined.numbers import ULP, FloatArray

Held = tuple[float, float]  # a sum of messages, and the same without the smallest
NOTHING: Final = -math.inf  # what is left of no messages without the smallest
UNITS_OF_ONE_VALUE: Final = Kernel(np.ones((1, 1)), 0.0)
REACH: Final = 2  # how many steps back the tilt of a chain's step looks
FEW: Final = 3  # so many other neighbours' values are gone through one by one,
MOST_TOLD: Final = 1_024  # if that needs no more comparisons than this
MOST_IN_ALL: Final = 20_000_000  # about half a minute
MOST_IN_ONE: Final = 4_000_000  # about half a gigabyte


@theorem("values", yields_to=("transport",))
def tilted_transport_bound(loss: Loss, model: Coupled) -> Leakage:
    """Bound the leakage on a chain or tree by its exact law, tilted by whatever values an adversary knows.

    Theorem. Let the units form a Markov chain, a tree or a forest with a known law. For neighbours k and
    j and values u, v of x_j let T_kj(R; u, v) be the largest log [1 + (e^R − 1) P(x_k ∈ A | u)] / [1 +
    (e^R − 1) P(x_k ∈ A | v)] over sets A; for R = ∞ that is the largest log P(x_k = w | u) / P(x_k = w |
    v). Let quiet_kj(u, v) = T_kj(R_k; u, v), where R_k is the largest sum of T_lk(∞; ·, ·) over the
    neighbours l ≠ j of k. Let told_kj(u, v) be the largest of quiet_kj(u, v) and all log P(x_k = w | u) /
    P(x_k = w | v) for values w under which x_j has at least two possible values.

    For neighbours j and i, a weight σ and a table D on the values of x_j, let P(v|a) stand for the law of
    x_j given x_i = a times σ(v), scaled to sum to one, and D(u, ·) and D(·, v) for the largest entries of
    a row and of a column. Let Φ_ji(L; σ, D) be the largest log [1 + (e^L − 1) p] / [1 + (e^L − 1) q] over
    values a and b that x_i can take, sets A of the values v with the largest P(v|a)/P(v|b), and chances p
    and q within three limits. The odds of p are at most Σ_{u∈A} P(u|a) e^{D(u,·)} / P(not A|a), and at
    most P(A|a) / Σ_{v∉A} P(v|a) e^{−D(·,v)}. The odds of 1 − q are at most the same with b for a and A
    and its complement exchanged. The log odds ratio of p to q is at most the range of log P(v|a)/P(v|b),
    and at most that of P(A|a) to P(A|b) plus T(R; Δ) inside A plus the same outside, where Δ is the range
    of log P(v|a)/P(v|b) in the set, R the smaller of the largest D(u, ·) and the largest D(·, v) there,
    and T(R; Δ) = 4 atanh(tanh(R/4) tanh(Δ/4)).

    With L = ε_j + Σ_{k≠i} F_{k→j}, let F_{j→i} be the largest of Φ_ji(L; 1, Σ_{k≠i} quiet_kj) and, over
    the other neighbours k of j and the values w as above, of Φ_ji(L − min_{l≠i} F_{l→j}; P(x_k = w | ·),
    Σ_{l≠i,k} told_lj); where there are many such w, of Φ_ji(L − min_{l≠i} F_{l→j}; 1, Σ_{l≠i} told_lj) in
    their stead. Then for every unit i, values a and b, known values of any other units, and output set S:
    |log Pr[M ∈ S | x_i = a, known] − log Pr[M ∈ S | x_i = b, known]| ≤ ε_i + Σ_j F_{j→i}.

    Checked. The model has one law, its graph has no cycle, and the kernels in both directions are
    computed from the joint law. Zeros make tilts infinite. Rounding, and the distance of a long chain
    from the law in which it settles, are covered by widening the tilts and the result.

    Trusted. The true law is the model: how likely each value is as well as what depends on what. Under
    another law with the same log odds but other marginals the leakage may be larger. The adversary knows the
    values of some other units and nothing of the rest: who knows something about a value but not the value,
    such as a set that it is in, may learn more. Message passing covers both.

    Proof. Count a unit as known if a known neighbour leaves it a single possible value: that changes no
    law. Given x_i and what is known, the branches behind the neighbours of i are independent. Move x_i
    from a to b in the likelihood f of the output (at most ε_i), then in the law of one branch at a time.
    A branch behind a known j does not change. Else f, averaged over all but x_j, is a function h of x_j.
    By induction on the size of the branch its log has a range of at most ε_j plus the F_{k→j} of the k
    that are not known. The law of x_j given a is in proportion to P(v|a) τ(v), where τ is the product
    over k ≠ i of β_k(v), the chance given x_j = v of what is known in the branch behind k. If k is known
    to be w, that is P(x_k = w | v) times a constant, and x_j has two possible values under w. If not, it
    is the mean of τ_k given x_j = v, where τ_k is such a product itself. Each of its factors is a mean of
    chances given the values of a neighbour l of k, so its log ratios are at most T_lk(∞; ·, ·); hence log
    τ_k has a range of at most R_k, and log β_k(u)/β_k(v) ≤ quiet_kj(u, v). So if no k is known, log
    τ(u)/τ(v) is at most the sum of quiet_kj(u, v). If k is, τ is P(x_k = w | ·) times a tilt within the
    sum of told_lj(u, v) over the others, τ as a whole is within the sum of all, and h lacks F_{k→j}.

    It remains to bound the ratio of the means of h under two laws in proportion to P(v|a) τ(v) and P(v|b)
    τ(v), where log τ(u)/τ(v) ≤ D(u, v). It is largest where h takes two values, 1 and e^L, the latter
    where the ratio of the two laws is large: on a set A as above. Let p and q be its chances under the
    two. Summing τ(u) ≤ e^{D(u,·)} τ(v), or τ(v) ≥ e^{−D(·,v)} τ(u), over v ∉ A and then over u ∈ A limits
    the odds of p, and likewise those of 1 − q. The tilt multiplies the odds ratio of A by the mean of τ
    in A given a over that given b, and by the like outside A with a and b exchanged; Birkhoff's
    contraction limits both. The odds ratio is one of means of P(v|a)/P(v|b) in A and outside, so it stays
    in the range. Φ increases in L, so what else is known does no harm.

    Source. New here. With no tilt it is the transport of Cao, Yoshikawa, Xiao, Xiong (2017); T is
    Birkhoff (1957).
    """
    if isinstance(model, MarkovChain):
        total = both_ways(loss, *chain_passages(model), through_step)
    else:
        forest, passages = forest_passages(model)
        own = [(epsilon, NOTHING) for epsilon in loss.per_unit.tolist()]
        held = forest.sweep(own, lambda j, i, behind: (passages[j, i](*behind), 0.0), join)
        total = np.array([whole for whole, _ in held])
    return Leakage(np.minimum(total, model.group_totals(loss)))


def through_step(passage: "Passage", own: float, behind: float) -> float:
    """Pass on what a step of a chain leaks itself and what comes from behind it."""
    return passage(add(own, behind), own)


def join(one: Held, other: Held) -> Held:
    """Add up messages, and all but one of them: the sum is largest if it lacks the smallest."""
    return add(one[0], other[0]), max(add(one[1], other[0]), add(one[0], other[1]))


@dataclass(frozen=True, slots=True)
class Passage:
    """What gets from j to a neighbour, while no other neighbour of j is known (quiet) or some are (told)."""

    quiet: TiltedFrontier
    told: TiltedFrontier

    def __call__(self, whole: float, without_smallest: float) -> float:
        """Give F_{j→i}."""
        value = self.quiet(whole)
        return max(value, self.told(without_smallest)) if without_smallest > value else value


@dataclass(frozen=True, eq=False, slots=True)
class Neighbour:
    """The law of k given j, and how far k tilts j at most: log τ(u)/τ(v) ≤ told[u, v]."""

    kernel: Kernel
    told: FloatArray


@lru_cache(maxsize=4)
def forest_passages(model: Coupled) -> tuple[Forest, Mapping[Link, Passage]]:
    """Give the passages between all neighbours."""
    forest, laws = laws_of(model)
    links, kernels = list(laws), [Kernel(possible(law), forest.error) for law in laws.values()]
    refuse_long(kernels)
    beside: dict[int, list[int]] = {}
    for k, j in links:
        beside.setdefault(j, []).append(k)
    behind = from_others(links, tilts_through(kernels, [math.inf] * len(links)))
    quiet, told = tilts_of(kernels, [float(tilt.max()) for tilt in behind])
    neighbour = dict(zip(links, map(Neighbour, kernels, told), strict=True))
    few = [
        [neighbour[k, j] for k in beside[j] if k != i] if len(beside[j]) <= FEW + 1 else [] for j, i in links
    ]
    found = passages(kernels, from_others(links, quiet), from_others(links, told), few)
    return forest, dict(zip(links, found, strict=True))


def refuse_long(kernels: Sequence[Kernel]) -> None:
    """Refuse what would take minutes, or a kernel that would take gigabytes."""
    cells = [len(kernel.law) * kernel.law.size for kernel in kernels]
    if sum(cells) > MOST_IN_ALL or max(cells, default=0) > MOST_IN_ONE:
        raise DoesNotApply(
            f"This bound would compare {sum(cells):,} chances, which takes long. The messages cover it."
        )


def possible(law: FloatArray) -> FloatArray:
    """Drop the values that cannot occur."""
    return law[:, law.any(axis=0)]


def tilts_of(
    kernels: Sequence[Kernel], spreads: Sequence[float]
) -> tuple[list[FloatArray], list[FloatArray]]:
    """For each law of k given j, give how far j is tilted if k is not known, and how far if it may be.

    A value of k that leaves j no choice is left out: j is then as good as known itself.
    """
    quiet = tilts_through(kernels, spreads)
    open_ended = [
        Kernel(kernel.law * (np.count_nonzero(kernel.law, axis=0) > 1), kernel.error) for kernel in kernels
    ]
    known = tilts_through(open_ended, [math.inf] * len(kernels))
    return quiet, [np.maximum(*pair) for pair in zip(quiet, known, strict=True)]


def from_others(links: Sequence[Link], tilts: Sequence[FloatArray]) -> list[FloatArray]:
    """For each link from j to i, add up the tilts of j by its other neighbours."""
    toward: dict[int, list[tuple[int, FloatArray]]] = {}
    for (k, j), tilt in zip(links, tilts, strict=True):
        toward.setdefault(j, []).append((k, tilt))
    found: dict[Link, FloatArray] = {}
    for j, given in toward.items():
        held = [np.zeros_like(given[0][1]), *(tilt for _, tilt in given)]
        rest = all_but_one(held, lambda one, other: (one + other) * (1 + ULP))[1:]
        found.update(((j, k), tilt) for (k, _), tilt in zip(given, rest, strict=True))
    return [found[link] for link in links]


def passages(
    kernels: Sequence[Kernel],
    quiet: Sequence[FloatArray],
    told: Sequence[FloatArray],
    few: Sequence[Sequence[Neighbour]],
) -> Iterator[Passage]:
    """Give the passages through kernels, from the tilts if quiet and told and, where few, the neighbours."""
    if_quiet = [
        Cases(kernel.law[None], tilt[None], kernel.error) for kernel, tilt in zip(kernels, quiet, strict=True)
    ]
    if_told = map(told_cases, kernels, told, few)
    return map(Passage, TiltedFrontier.each(if_quiet), TiltedFrontier.each([*if_told]))


def told_cases(kernel: Kernel, told: FloatArray, others: Sequence[Neighbour]) -> Cases:
    """Go through the values of each other neighbour, if they are few; else take any tilt within bounds."""
    values = sum(other.kernel.law.shape[1] for other in others)
    if not 0 < values * len(kernel.law) * kernel.law.size <= MOST_TOLD:
        return Cases(kernel.law[None], told[None], kernel.error)
    laws, tilts = [np.zeros_like(kernel.law)], [np.zeros_like(told)]  # a case where nothing is left to learn
    for known in others:
        rest = sum((other.told for other in others if other is not known), tilts[0]) * (1 + FEW * ULP)
        columns = [column for column in known.kernel.law.T if np.count_nonzero(column) > 1]
        laws += [product(kernel.law, column) for column in columns]
        tilts += [rest] * len(columns)
    error = kernel.error + max(other.kernel.error for other in others)
    return Cases(np.stack(laws), np.stack(tilts), error)


def product(law: FloatArray, column: FloatArray) -> FloatArray:
    """Multiply each row, or say that a chance is lost to underflow."""
    with np.errstate(under="raise"):
        try:
            return np.asarray(law * (column / column.max()))
        except FloatingPointError:
            raise DoesNotApply(TOO_SMALL) from None


@lru_cache(maxsize=4)
def chain_passages(chain: MarkovChain) -> tuple[tuple[Run[Passage], ...], tuple[Run[Passage], ...]]:
    """Give the passages of all steps: forth from the first (past), and back from the last (future)."""
    walks = [tuple(windows(runs)) for runs in kernels_of(chain)]
    needed = list({window: None for walk in walks for run in walk for window in run.turn})
    kernels = [Kernel(possible(window[0].law), window[0].error) for window in needed]
    refuse_long(kernels)
    nearest, behind = [window[1] for window in needed], [window[2] for window in needed]
    beyond = tilts_through(behind, [math.inf] * len(needed))
    quiet, told = tilts_of(nearest, [float(tilt.max()) for tilt in beyond])
    few = [[one] for one in map(Neighbour, nearest, told)]
    made = dict(zip(needed, passages(kernels, quiet, told, few), strict=True))
    past, future = (
        tuple(Run(tuple(made[window] for window in run.turn), run.steps) for run in walk) for walk in walks
    )
    return past, future


def windows(runs: Sequence[Run[Kernel]]) -> Iterator[Run[tuple[Kernel, ...]]]:
    """Give each kernel with the two before it, the nearest first; what is missing there tilts nothing."""
    first = next((run.turn[0] for run in runs if run.steps), UNITS_OF_ONE_VALUE)
    before = (Kernel(np.ones((possible(first.law).shape[1], 1)), 0.0), UNITS_OF_ONE_VALUE)
    for run in runs:
        period = len(run.turn)
        for k in range(min(REACH, run.steps)):
            yield Run(((run.turn[k % period], *before),), 1)
            before = (run.turn[k % period], before[0])
        if run.steps > REACH:
            turn = [(run.turn[k], run.turn[k - 1], run.turn[(k - 2) % period]) for k in range(period)]
            left = run.steps - REACH
            yield Run(tuple(turn[(k + REACH) % period] for k in range(min(period, left))), left)
            before = turn[run.steps % period][1:]
