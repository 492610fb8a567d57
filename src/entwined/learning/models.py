"""From counts to a dependence model: smoothed tables, or intervals that hold with a stated confidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, Final

import numpy as np
from scipy.special import betaincinv

from entwined.dependence import BayesNet, Box
from entwined.errors import BadInput
from entwined.learning.codes import Codes
from entwined.learning.origin import learned_model
from entwined.learning.pairs import PairCounts, pair_counts
from entwined.learning.structure import joint_counts, network
from entwined.mechanisms.parents import Parents
from entwined.noise.lattice import probability
from entwined.numbers import ULP, FloatArray, positive_fraction
from entwined.promise.declared import Declared

SMOOTHING: Final = 1.0
ROUNDING: Final = 1e-9  # how far off the quantiles may be


@dataclass(frozen=True, eq=False, repr=False)
class Learned:
    """A network learned from a table, with the words that name it in a certificate."""

    model: BayesNet
    table: str
    rows: int
    how: str
    smoothing: float = SMOOTHING

    def __repr__(self) -> str:
        """Show its name and its model at a glance."""
        return f"{self.title}\n{self.model!r}"

    def _repr_html_(self) -> str:
        """Show its model in a notebook."""
        return self.model._repr_html_()

    @property
    def title(self) -> str:
        """What the model is called in prices and certificates."""
        return f"learned from {self.table} ({self.rows:,} rows, {self.how})"

    @property
    def declared(self) -> Declared:
        """The model under its name, as a release takes it."""
        return Declared(self.model, name=self.title)


def learn(
    codes: Codes,
    table: str,
    *,
    parents: int = 1,
    smoothing: float | str | Fraction = SMOOTHING,
    planning_only: bool = False,
) -> Learned:
    """Learn a tree, or a network with up to `parents` parents a column, from a public table.

    `smoothing` is added to every count. It makes chances that were never seen positive and the dependence
    weaker, so it is part of what is trusted: see `Dependence.stronger`. From the private rows themselves a model is
    `planning_only`: a release refuses it.

    >>> pilot = Codes.of({"a": 2, "b": 2}, [[0, 0]] * 8 + [[1, 1]] * 8)
    >>> learn(pilot, "pilot.csv").title
    'learned from pilot.csv (16 rows, a tree, 1 added to every count)'
    """
    added = positive_fraction(smoothing, "Smoothing")
    found = network(pair_counts(codes), parents)
    shape = "a tree" if parents == 1 else f"up to {parents} parents"
    how = f"{shape}, {float(added):g} added to every count"
    law = smoothed(codes, found, float(added))
    model = learned_model(law, codes.learned_from(table), planning_only=planning_only)
    return Learned(model, table, codes.rows, how, float(added))


def smoothed_tree(codes: Codes, pairs: PairCounts, added: float) -> BayesNet:
    """Fit a tree to columns whose pairs are counted already."""
    return smoothed(codes, network(pairs, 1), added)


def learn_with_margin(
    codes: Codes, table: str, confidence: str | float | Fraction, *, parents: int = 1
) -> Learned:
    """Learn intervals for all chances that hold together with this confidence, if the structure is right.

    Nothing is smoothed: a value that few respondents gave has wide intervals, one that none gave has none.
    """
    missed = float(1 - probability(confidence, "Confidence"))
    found = network(pair_counts(codes), parents)
    counts = [joint_counts(codes, (*each, column)) for column, each in enumerate(found)]
    cells = sum(table.size for table in counts)
    boxes = [chance_intervals(table, table, missed / cells) for table in counts]
    shape = "a tree" if parents == 1 else f"up to {parents} parents"
    how = f"{shape}, intervals of confidence {1 - missed:g}"
    model = learned_model(as_network(codes.names, found, boxes), codes.learned_from(table))
    return Learned(model, table, codes.rows, how)


def smoothed(codes: Codes, parents: Parents, added: float) -> BayesNet:
    """Make the network whose tables are the counts plus `added`."""
    tables = [chances(joint_counts(codes, (*each, column)), added) for column, each in enumerate(parents)]
    return as_network(codes.names, parents, tables)


def chances(counts: Any, added: float) -> Box:
    """Give each row's shares of counts plus `added`."""
    weights = np.asarray(counts, dtype=np.float64) + added
    return Box.exact(weights / weights.sum(axis=-1, keepdims=True))


def as_network(names: Sequence[str], parents: Parents, tables: Sequence[Box]) -> BayesNet:
    """Name the columns and values of learned tables; values go by their codes."""
    documents: list[Any] = [box.reshaped((prod(box.shape[:-1]), box.shape[-1])).document for box in tables]
    return BayesNet.of_columns(
        names,
        [tuple(map(str, range(box.shape[-1]))) for box in tables],
        [[names[parent] for parent in each] for each in parents],
        documents,
    )


def chance_intervals(least: Any, most: Any, missed: float | FloatArray) -> Box:
    """Bound chances given the last axis's row, each missed with at most this chance (Clopper and Pearson 1934).

    The counts are only known to lie between `least` and `most`. A count of successes k out of n is within the
    interval of p with chance 1 − missed for every p; that interval grows at both ends if k and n − k may be
    anything between their limits.
    """
    if not np.all((np.asarray(missed) > 0) & (np.asarray(missed) < 1)):
        raise BadInput(f"Intervals that miss with chance {missed}. Give a confidence between 0 and 1.")
    low, high = (np.asarray(end, dtype=np.float64) for end in (least, most))
    others_low, others_high = (end.sum(axis=-1, keepdims=True) - end for end in (low, high))
    below = np.where(low > 0, _quantile(low, others_high + 1, missed / 2), 0.0)
    above = np.where(others_low > 0, _quantile(high + 1, others_low, 1 - missed / 2), 1.0)
    return Box(np.clip(below - ROUNDING, 0.0, 1.0), np.clip(above + ROUNDING, 0.0, 1.0))


def _quantile(successes: FloatArray, failures: FloatArray, chance: float | FloatArray) -> FloatArray:
    return np.asarray(betaincinv(np.maximum(successes, ULP), np.maximum(failures, ULP), chance))
