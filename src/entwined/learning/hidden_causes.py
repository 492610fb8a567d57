"""Laws with a hidden cause, fitted to public rows: latent classes, and trees in which the class is one more variable.

Latent classes (Lazarsfeld 1950): given its class, a respondent's answers are independent. A tree with a hidden root
keeps the strong direct links, and lets the class tie the rest: it is the heaviest tree over the questions and the
class, taken anew as the classes become clear.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.sparse import csr_array
from scipy.special import xlogy

from entwined.dependence import BayesNet, Box
from entwined.learning.codes import NOT_ASKED, Codes
from entwined.learning.models import SMOOTHING, as_network, chances
from entwined.learning.pairs import PairCounts
from entwined.learning.structure import FEWEST_ASKED, forest_of, joint_counts
from entwined.mechanisms.parents import Parents
from entwined.numbers import FloatArray, IntArray

STARTS: Final = 3
MOST_ROUNDS: Final = 100
STILL: Final = 1e-4  # nats a respondent by which a round must gain
FIRST_SHARPNESS: Final = 0.5  # how much each shared answer draws a respondent to the one who starts a class
STRUCTURES: Final = 10  # how often a tree is taken anew
ROOT_NAME: Final = "hidden class"


@dataclass(frozen=True, eq=False)
class Answers:
    """All answers as a sparse table of ones, a column for every value of every question."""

    codes: Codes
    starts: IntArray
    ones: csr_array

    @classmethod
    def of(cls, codes: Codes) -> "Answers":
        """Lay out the codes; what was not asked has no one."""
        starts = np.concatenate([[0], np.cumsum(codes.sizes)])
        row, column = np.nonzero(codes.values != NOT_ASKED)
        place = starts[column] + codes.values[row, column]
        shape = (codes.rows, int(starts[-1]))
        return cls(codes, starts, csr_array((np.ones(len(row)), (row, place)), shape=shape))

    def mask(self, columns: Sequence[int]) -> FloatArray:
        """1 at the values of some questions."""
        found = np.zeros(int(self.starts[-1]))
        for column in columns:
            found[self.starts[column] : self.starts[column + 1]] = 1.0
        return found


@dataclass(frozen=True, eq=False)
class Classes:
    """How much each respondent belongs to each class, and how likely all answers are."""

    shares: FloatArray
    likelihood: float

    def counts(self, answers: Answers) -> FloatArray:
        """Count the answers of each class, a row a value."""
        return np.asarray(answers.ones.T @ self.shares)


def latent_classes(answers: Answers, count: int) -> Classes:
    """Fit so many classes by expectation and maximisation, from several starts; the likeliest is kept.

    Nothing is drawn at random: the same rows give the same classes.
    """
    every = answers.mask(range(len(answers.codes.names)))
    firsts = {turn * answers.codes.rows // STARTS for turn in range(STARTS)}
    found = [_settled(answers, _started(answers, count, first), every) for first in sorted(firsts)]
    return max(found, key=lambda one: one.likelihood)


def _started(answers: Answers, count: int, first: int) -> Classes:
    """Take a respondent, then whoever agrees least with those taken; the others go to whom they agree with."""
    taken, shared = [first], [_agreement(answers, first)]
    while len(taken) < count:
        taken.append(int(np.argmin(np.max(shared, axis=0))))
        shared.append(_agreement(answers, taken[-1]))
    return Classes(_shares(FIRST_SHARPNESS * np.stack(shared, axis=1))[0], -np.inf)


def _agreement(answers: Answers, one: int) -> FloatArray:
    """Count the answers that each respondent shares with one of them."""
    return np.asarray(answers.ones @ answers.ones[[one]].toarray()[0])


def _settled(answers: Answers, now: Classes, mask: FloatArray) -> Classes:
    for _ in range(MOST_ROUNDS):
        after = _round(answers, now, mask)
        if after.likelihood - now.likelihood < STILL * answers.codes.rows:
            return after
        now = after
    return now


def _round(answers: Answers, now: Classes, mask: FloatArray) -> Classes:
    """Take the tables of the classes, and then each respondent's classes by the answers that the mask keeps."""
    counts = now.counts(answers) + SMOOTHING
    logs = np.log(counts) - np.log(_per_question(counts, answers.starts))
    weights = now.shares.sum(axis=0) + SMOOTHING
    held = answers.ones @ (logs * mask[:, None]) + np.log(weights / weights.sum())
    prior = float(
        np.sum(logs * mask[:, None])
    )  # what smoothing adds: the likeliest tables given one more of each
    shares, likelihood = _shares(held)
    return Classes(shares, likelihood + prior)


def _shares(held: FloatArray) -> tuple[FloatArray, float]:
    """Turn logarithms into shares that sum to 1, row by row, and give the sum of the logarithms of the sums."""
    most = held.max(axis=1, keepdims=True)
    parts = np.exp(held - most)
    sums = parts.sum(axis=1, keepdims=True)
    return parts / sums, float(np.sum(np.log(sums) + most))


def _per_question(counts: FloatArray, starts: IntArray) -> FloatArray:
    """Sum over the values of each question, repeated for each of them."""
    sums = np.add.reduceat(counts, starts[:-1], axis=0)
    return np.repeat(sums, np.diff(starts), axis=0)


def star(answers: Answers, count: int) -> BayesNet:
    """Fit latent classes, as a network in which the hidden class is the one parent of every question."""
    parents = ((len(answers.codes.names),),) * len(answers.codes.names)
    return _network(answers, latent_classes(answers, count), parents)


def hidden_root(answers: Answers, pairs: PairCounts, count: int) -> BayesNet:
    """Fit a tree over the questions and a hidden class, which ties those that no direct link ties more."""
    now, last = latent_classes(answers, count), None
    for _ in range(STRUCTURES):
        parents = _heaviest(answers, pairs, now)
        if parents == last:
            break
        tied = [column for column, each in enumerate(parents) if each == (len(parents),)]
        now, last = _settled(answers, Classes(now.shares, -np.inf), answers.mask(tied)), parents
    return _network(answers, now, parents)


def _heaviest(answers: Answers, pairs: PairCounts, now: Classes) -> Parents:
    """Find the heaviest tree with the class as its root, each link less what chance alone would give it."""
    sizes, rows = np.array(answers.codes.sizes), max(answers.codes.rows, 1)
    direct = pairs.information - np.outer(sizes - 1, sizes - 1) / (2 * np.maximum(pairs.asked, 1))
    direct[pairs.asked < FEWEST_ASKED] = -1.0
    counts = now.counts(answers)
    asked = _per_question(counts, answers.starts)[answers.starts[:-1]]
    each = np.add.reduceat(xlogy(counts, counts), answers.starts[:-1], axis=0).sum(axis=1)
    single = np.add.reduceat(xlogy(counts.sum(axis=1), counts.sum(axis=1)), answers.starts[:-1])
    total = np.maximum(asked.sum(axis=1), 1)
    told = (each - xlogy(asked, asked).sum(axis=1) - single + xlogy(total, total)) / total
    told -= (sizes - 1) * (now.shares.shape[1] - 1) / (2 * rows)
    weights = np.full((len(sizes) + 1, len(sizes) + 1), -1.0)
    weights[1:, 1:], weights[0, 1:], weights[1:, 0] = direct, told, told
    np.fill_diagonal(weights, -1.0)
    found = forest_of(weights)  # the class comes first, so that it is a root
    return tuple(tuple(len(sizes) if one == 0 else one - 1 for one in each) for each in found[1:])


def _network(answers: Answers, classes: Classes, parents: Parents) -> BayesNet:
    """Make the network of smoothed tables, the hidden class last."""
    codes, hidden = answers.codes, len(answers.codes.names)
    counts = classes.counts(answers)
    tables: list[Box] = []
    for column, each in enumerate(parents):
        low, high = answers.starts[column], answers.starts[column + 1]
        found = counts[low:high].T if each == (hidden,) else joint_counts(codes, (*each, column))
        tables.append(chances(found, SMOOTHING))
    tables.append(chances(classes.shares.sum(axis=0), SMOOTHING))
    name = ROOT_NAME
    while name in codes.names:
        name += "_"
    return as_network((*codes.names, name), (*parents, ()), tables).hiding([name])
