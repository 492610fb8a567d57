"""Figure 9(b): logistic regression on Adult with noise in its objective, beside the answer that never changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from entwined.learning.affinity import Affinity, one_hot, spread
from entwined.mechanisms.classifiers.objective import HIDING, NOISY, RIDGE, USUAL_BENT
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
BEND: Final = 0.25  # the largest second derivative of log(1 + e^−m)
STEPS: Final = 60
SMALL: Final = 1e-6  # of its length is a step of weights that are done
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


@dataclass(frozen=True, slots=True, eq=False)
class RidgeFit:
    """Rows that a linear model sees, of L2 norm at most 1 with the intercept, and a way to minimise over them."""

    rows: NDArray[np.float32]
    signs: NDArray[np.float32]
    values: FloatArray
    vectors: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, labels: IntArray) -> "RidgeFit":
        """Take the second derivative apart, so that every ridge has its steps."""
        values, vectors = np.linalg.eigh(rows.T @ rows)
        signs = (2 * labels - 1).astype(np.float32)
        return cls(rows.astype(np.float32), signs, np.maximum(values, 0), vectors)

    def minimisers(self, push: FloatArray, ridges: FloatArray) -> FloatArray:
        """Weights that minimise Σ log(1 + e^(−margin)) + (Λ/2)‖w‖² + b·w, a column for each b and Λ.

        Steps by the largest second derivative never lead up; a column that hardly moves any more is done.
        """
        weights, left = np.zeros_like(push), np.arange(push.shape[1])
        for _ in range(STEPS):
            here = weights[:, left]
            margins = self.signs[:, None] * (self.rows @ here.astype(np.float32))
            pulls = self.signs[:, None] / (1 + np.exp(np.clip(margins, -60, 60)))
            slope = ridges[left] * here + push[:, left] - (self.rows.T @ pulls).astype(np.float64)
            bend = BEND * self.values[:, None] + ridges[left]
            step = self.vectors @ ((self.vectors.T @ slope) / bend)
            weights[:, left] = here - step
            left = left[np.linalg.norm(step, axis=0) > SMALL * np.linalg.norm(weights[:, left], axis=0)]
            if not len(left):
                break
        return weights


def seen_by_model(profiles: Profiles) -> tuple[FloatArray, float]:
    """Rows with an intercept, divided by the root of how many entries they have: that root is their largest L1 norm."""
    rows = np.asarray(profiles.rows.toarray(), np.float64)
    entries = float((rows > 0).sum(axis=1).max()) + 1
    return np.concatenate([np.ones((len(rows), 1)), rows], axis=1) / np.sqrt(entries), float(np.sqrt(entries))


def strength(loss: float, longest: float, people: int) -> tuple[float, float]:
    """The ridge and the scale of the noise in the objective for a loss, as in `mechanisms.classifiers.objective`.

    A row that changes moves the slope by 2·longest in L1, and the second derivative costs log(1 + ¼/Λ).
    """
    rough = 2 * longest / loss
    ridge = max(rough * max(RIDGE, NOISY * rough / people), USUAL_BENT * BEND / loss)
    return ridge, 2 * longest / ((1 - float(HIDING)) * loss - float(np.log1p(BEND / ridge)))


def scored(scores: FloatArray, labels: IntArray) -> tuple[float, float]:
    """Accuracy, and the area under the curve by ranks."""
    ranks = np.argsort(np.argsort(scores)) + 1
    ones = int(labels.sum())
    area = (ranks[labels == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(labels) - ones))
    return float(((scores > 0) == (labels == 1)).mean()), float(area)


def classification(
    profiles: Profiles, methods: Sequence[NoiseMethod], runs: int, generator: np.random.Generator
) -> list[Utility]:
    """Every method at every ε on a held-out fifth, so many splits; a factor on the noise divides the loss."""
    rows, longest = seen_by_model(profiles)
    asked = [(method, epsilon) for method in methods for epsilon in EPSILONS]
    cut = profiles.size // HELD_OUT
    losses = [epsilon / method.factor for method, epsilon in asked]
    ridges, scales = np.array([strength(loss, longest, profiles.size - cut) for loss in losses]).T
    seen = np.empty((runs, len(asked), 2))
    for split in range(runs):
        report(TASK, split, runs)
        order = generator.permutation(profiles.size)
        held, train = order[:cut], order[cut:]
        fit = RidgeFit.of(rows[train], profiles.labels[train])
        weights = fit.minimisers(generator.laplace(0, scales, (rows.shape[1], len(asked))), ridges)
        seen[split] = [scored(one, profiles.labels[held]) for one in (rows[held] @ weights).T]
    errors = seen[:, :, 0].std(axis=0, ddof=1) / np.sqrt(runs) if runs > 1 else np.zeros(len(asked))
    means = seen.mean(axis=0)
    return [
        Utility(TASK, method.name, method.factor, epsilon, float(accuracy), float(error), float(area))
        for (method, epsilon), (accuracy, area), error in zip(asked, means, errors, strict=True)
    ]
