"""Figure 9(b): logistic regression on Adult by output perturbation, beside the answer that never changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from entwined.learning.affinity import Affinity, one_hot, spread
from entwined.numbers import FloatArray, IntArray
from entwined.papers.dependent_dp.noise_factors import NoiseMethod
from entwined.papers.dependent_dp.utility import EPSILONS, Utility
from entwined.progress import report

TASK: Final = "classification"
FILE: Final = "adult/adult_train.csv.gz"
NUMBERS: Final = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
LABEL: Final = "income"
MISSING: Final = "?"
LEAST_SIMILARITY: Final = 0.8
REGULARISERS: Final = (1e-3, 1e-2, 1e-1)
NEWTON: Final = 8
HELD_OUT: Final = 5


@dataclass(frozen=True, slots=True, eq=False)
class Profiles:
    """People as rows of numbers between 0 and 1, and which of two classes each is in."""

    source: str
    rows: Any  # scipy's sparse array
    labels: IntArray

    @property
    def size(self) -> int:
        """How many people there are."""
        return len(self.labels)

    @property
    def constant(self) -> float:
        """How often the answer is right that is always the larger class."""
        return float(max(self.labels.mean(), 1 - self.labels.mean()))


def adult(folder: Path) -> Profiles:
    """Adult's training part without rows that lack an answer, as in the paper."""
    from pyarrow import csv
    from scipy.sparse import csr_array, hstack

    table = csv.read_csv(folder / FILE)
    texts = [name for name in table.column_names if name not in {*NUMBERS, LABEL}]
    answers = np.array([[str(one).strip() for one in table[name].to_pylist()] for name in texts]).T
    kept = (answers != MISSING).all(axis=1)
    coded = [np.unique(column, return_inverse=True) for column in answers[kept].T]
    codes = np.stack([codes for _, codes in coded], axis=1)
    numbers = np.stack([np.asarray(table[name], np.float64) for name in NUMBERS], axis=1)[kept]
    labels = np.array([">50K" in str(one) for one in table[LABEL].to_pylist()])[kept].astype(np.int64)
    sizes = tuple(len(values) for values, _ in coded)
    return Profiles(FILE, csr_array(hstack([one_hot(codes, sizes), csr_array(spread(numbers))])), labels)


def made_up(people: int = 400, seed: int = 6) -> Profiles:
    """Answers to eight questions and a class that goes with them: for who has no data."""
    generator = np.random.default_rng(seed)
    kind = generator.integers(0, 2, people)
    codes = np.where(
        generator.integers(0, 2, (people, 8)) == 1, kind[:, None], generator.integers(0, 4, (people, 8))
    )
    labels = (codes.sum(axis=1) + generator.normal(0, 2, people) > codes.sum(axis=1).mean() + 2).astype(
        np.int64
    )
    return Profiles("generated profiles", one_hot(codes, (4,) * 8), labels)


@dataclass(frozen=True, slots=True)
class Alike:
    """Who is alike: the most ties of a person, the largest group that hangs together, and the similarities found."""

    printed_largest: float
    most_ties: int
    mean_ties: float
    component: int
    most_similarity: float


def alikeness(profiles: Profiles) -> Alike:
    """The affinity graph of cosine above 0.8, without ever holding it whole."""
    alike = Affinity.of(profiles.rows)
    ties, sums = np.zeros(profiles.size, np.int64), np.zeros(profiles.size)
    label = np.arange(profiles.size)
    for start, block in alike.similarities():
        tied = block > np.float32(LEAST_SIMILARITY)
        kept = np.where(tied, block, 0)
        ties[start : start + len(block)] += tied.sum(axis=1)
        ties[start:] += tied.sum(axis=0)
        sums[start : start + len(block)] += kept.sum(axis=1)
        sums[start:] += kept.sum(axis=0)
        label = joined(label, tied, start)
    component = int(np.bincount(label).max())
    printed = Affinity.of(profiles.rows, "l1").largest()
    return Alike(printed, int(ties.max()), float(ties.mean()), component, float(sums.max()) + 1)


def joined(label: IntArray, tied: Any, start: int) -> IntArray:
    """Merge the groups that the ties of a block join."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows, columns = np.nonzero(tied)
    one, other = label[rows + start], label[columns + start]
    graph = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(len(label), len(label)))
    merged = connected_components(graph, directed=False)[1]
    return np.asarray(merged[label], np.int64)


def fitted(rows: FloatArray, signs: FloatArray, regulariser: float) -> FloatArray:
    """Logistic regression without privacy, by Newton's steps."""
    weights = np.zeros(rows.shape[1])
    identity = regulariser * np.eye(rows.shape[1])
    for _ in range(NEWTON):
        margin = signs * (rows @ weights)
        chance = 1 / (1 + np.exp(margin))
        slope = -(rows * (signs * chance)[:, None]).mean(axis=0) + regulariser * weights
        bend = (rows * (chance * (1 - chance))[:, None]).T @ rows / len(rows) + identity
        weights = weights - np.linalg.solve(bend, slope)
    return weights


def scored(scores: FloatArray, labels: IntArray) -> tuple[float, float]:
    """Accuracy, and the area under the curve by ranks."""
    ranks = np.argsort(np.argsort(scores)) + 1
    ones = int(labels.sum())
    area = (ranks[labels == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(labels) - ones))
    return float(((scores > 0) == (labels == 1)).mean()), float(area)


def classification(
    profiles: Profiles, methods: Sequence[NoiseMethod], runs: int, generator: np.random.Generator
) -> list[Utility]:
    """Every method at every ε, on a held-out fifth, each with the best of three regularisers.

    Replacing a row of length at most 1 moves the minimiser by at most 2/(nλ) (Chaudhuri, Monteleoni, Sarwate 2011),
    so noise whose length has density ∝ exp(−|b|·nλε/2) has loss ε; a factor on the noise divides it.
    """
    rows = np.asarray(profiles.rows.toarray(), np.float64)
    rows = rows / np.maximum(np.sqrt((rows**2).sum(axis=1, keepdims=True)), 1)
    order = generator.permutation(profiles.size)
    cut = profiles.size // HELD_OUT
    held, train = order[:cut], order[cut:]
    signs = (2 * profiles.labels[train] - 1).astype(np.float64)
    fits = {one: fitted(rows[train], signs, one) for one in REGULARISERS}
    tested, truth = rows[held], profiles.labels[held]
    found = []
    for number, method in enumerate(methods):
        report(TASK, number, len(methods))
        for epsilon in EPSILONS:
            scale = 2 * method.factor / (len(train) * epsilon)
            tried = [
                _perturbed(tested, truth, fit, scale / one, runs, generator) for one, fit in fits.items()
            ]
            best = max(tried, key=lambda one: float(one[:, 0].mean()))
            error = float(best[:, 0].std(ddof=1) / np.sqrt(runs)) if runs > 1 else 0.0
            accuracy, area = best.mean(axis=0).tolist()
            found.append(Utility(TASK, method.name, method.factor, epsilon, accuracy, error, area))
    return found


def _perturbed(
    rows: FloatArray,
    labels: IntArray,
    fit: FloatArray,
    scale: float,
    runs: int,
    generator: np.random.Generator,
) -> FloatArray:
    directions = generator.normal(size=(runs, len(fit)))
    lengths = generator.gamma(len(fit), scale, runs)
    weights = fit + directions / np.sqrt((directions**2).sum(axis=1, keepdims=True)) * lengths[:, None]
    scores = rows @ weights.T
    return np.array([scored(scores[:, run], labels) for run in range(runs)])
