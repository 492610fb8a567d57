"""What Algorithm 1 truly leaks, by enumeration over small populations that are known exactly.

The adversary knows the law of a respondent's answers and all other respondents, and either nothing else or any of the
respondent's other answers. A published count moves by 1 when an answer is the counted one, so under Laplace noise of
scale b the density at any output is multiplied by u in [exp(−1/b), exp(1/b)], and every u in there is reached. The
ratio of two mixtures is monotone in each such u, so its supremum is at a corner, and there are finitely many.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product
from math import inf, log

import numpy as np

from entwined.bounds import calibrate
from entwined.bounds.theorem import Knowledge
from entwined.dependence import BayesNet, Variable
from entwined.numbers import FloatArray
from entwined.papers.tabular_ddp.mechanism import split_columns
from entwined.papers.tabular_ddp.network import Counts, Network
from entwined.papers.tabular_ddp.populations import Population
from entwined.papers.tabular_ddp.readings import Reading, dependent_sensitivity


@dataclass(frozen=True, slots=True)
class Leak:
    """One population, the noise that a reading of Algorithm 1 gives it for ε = 1, and what that leaks."""

    population: str
    reading: str
    width: int
    sensitivity: float
    scale: float
    leakage_model: float
    leakage_any: float
    sound_scale: float
    sound_leakage: float


def leak(population: Population, reading: Reading, width: int | None = None) -> Leak:
    """Follow Algorithm 1 with the true network and ε = 1, then find out what is leaked."""
    columns = len(population.names)
    width = columns if width is None else width
    chunks = [restricted(population, place) for place in split_columns(columns, width)]
    each = [dependent_sensitivity(*chunk, reading) for chunk in chunks]
    scales = [columns * each[column // width] / width for column in range(columns)]
    sound = sound_scale(population)
    return Leak(
        population.name,
        str(reading),
        width,
        min(each),
        min(scales),
        true_leakage(population, scales, "model"),
        true_leakage(population, scales, "any"),
        sound,
        true_leakage(population, [sound] * columns, "any"),
    )


def restricted(population: Population, place: slice) -> tuple[Counts, Network]:
    """One chunk of a population: its columns, and the edges that stay inside it."""
    codes = population.counts.codes[:, place]
    sizes = population.counts.sizes[place]
    inside = range(len(population.names))[place]
    parents = tuple(
        tuple(inside.index(parent) for parent in population.network.parents[child] if parent in inside)
        for child in inside
    )
    return Counts.of(codes, sizes), Network(sizes, parents)


def sound_scale(population: Population) -> float:
    """The Laplace scale at which our own bound on the same network is 1, whatever else the adversary knows."""
    found = calibrate(as_model(population), 1, "any")
    return population.moved / found.multiple


def as_model(population: Population) -> BayesNet:
    """The population's network with its exact tables; rows that cannot occur are filled evenly."""
    variables = []
    for child, above in enumerate(population.network.parents):
        size = population.counts.sizes[child]
        weights = population.counts.table((*above, child)).reshape(-1, size).astype(np.float64)
        weights[weights.sum(axis=1) == 0] = 1.0
        table = weights / weights.sum(axis=1, keepdims=True)
        values = tuple(str(value) for value in range(size))
        parents = tuple(population.names[parent] for parent in above)
        variables.append(Variable(population.names[child], values, parents, table))
    return BayesNet.of(variables)


def true_leakage(population: Population, scales: Sequence[float], knowledge: Knowledge) -> float:
    """The largest log ratio of output densities given two values of one answer, exactly."""
    joint = population.counts.table(range(len(population.names))).astype(np.float64)
    return max(_of_answer(joint, population.counted, scales, unit, knowledge) for unit in range(joint.ndim))


def _of_answer(
    joint: FloatArray,
    counted: Sequence[Sequence[int]],
    scales: Sequence[float],
    unit: int,
    knowledge: Knowledge,
) -> float:
    others = [one for one in range(joint.ndim) if one != unit]
    worst = 0.0
    for unknown in _unknown(others, knowledge):
        known = [one for one in others if one not in unknown]
        laws = joint.transpose(*known, unit, *unknown)
        flat = laws.reshape(-1, *laws.shape[len(known) :])
        corners = [_corners(joint.shape[one], counted[one], scales[one]) for one in unknown]
        for given in flat:
            possible = [value for value in range(len(given)) if given[value].sum() > 0]
            for a, b in permutations(possible, 2):
                own = sum(value in counted[unit] for value in (a, b))
                direct = _direct(own, scales[unit])
                worst = max(worst, direct + _through(given[a], given[b], corners))
    return worst


def _direct(moved: int, scale: float) -> float:
    """The log ratio that an answer's own noisy counts give."""
    if scale:
        return moved / scale
    return inf if moved else 0.0


def _unknown(others: Sequence[int], knowledge: Knowledge) -> Iterator[tuple[int, ...]]:
    sizes = [len(others)] if knowledge == "model" else range(len(others) + 1)
    return (unknown for size in sizes for unknown in combinations(others, size))


def _corners(size: int, counted: Sequence[int], scale: float) -> FloatArray:
    """Every corner of what a column's noisy counts can say about its answer, one row each."""
    if not scale:  # an exact count names the answer, or says that it is none of those counted
        rest = [float(value not in counted) for value in range(size)]
        return np.array([*np.eye(size)[list(counted)], *([rest] if any(rest) else [])])
    signs = [(-1, 1) if value in counted else (0,) for value in range(size)]
    return np.exp(np.array(list(product(*signs))) / scale)


def _through(given_a: FloatArray, given_b: FloatArray, corners: Sequence[FloatArray]) -> float:
    """The largest log ratio through the unknown answers."""
    above, below = given_a / given_a.sum(), given_b / given_b.sum()
    for corner in corners:  # each step turns the first axis of answers into a last axis of corners
        above, below = (np.tensordot(law, corner, axes=(0, 1)) for law in (above, below))
    top, bottom = np.ravel(above), np.ravel(below)
    if (bottom[top > 0] == 0).any():
        return inf
    return float(np.log(top[top > 0] / bottom[top > 0]).max())


def exact_counts_leakage(
    population: Population, respondents: int, unit: int
) -> tuple[float, tuple[int, ...]]:
    """What exact counts over a few independent respondents tell about the first one's answer, and by which counts.

    Every table is enumerated with whole-number weights; the adversary knows the law and no respondent. An output that
    is possible under one value of the answer and impossible under another makes it infinite.
    """
    rows = [tuple(int(code) for code in row) for row in population.counts.codes]
    laws: dict[int, dict[tuple[int, ...], int]] = {}
    for table in product(rows, repeat=respondents):
        law = laws.setdefault(table[0][unit], {})
        output = tuple(
            sum(row[column] == value for row in table)
            for column, values in enumerate(population.counted)
            for value in values
        )
        law[output] = law.get(output, 0) + 1
    totals = {value: sum(law.values()) for value, law in laws.items()}
    return max(
        (_log_ratio(weight * totals[b], laws[b].get(output, 0) * totals[a]), output)
        for a, b in permutations(laws, 2)
        for output, weight in laws[a].items()
    )


def _log_ratio(above: int, below: int) -> float:
    return log(above / below) if below else inf
