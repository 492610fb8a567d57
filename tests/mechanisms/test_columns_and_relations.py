"""Columns and relations share one loss: what linear Gaussian releases can tell of columns at most, beside ours.

Let a release be Ax with noise of deviation 1 in every direction, x the table of all n columns of k cells and N = kⁿ
cells, and ‖A e‖² ≤ μ² for a row in any cell (μ-GDP if rows are added or removed). Functions of one column with mean 0
are a subspace of k − 1 dimensions for each column, at right angles to each other and to constants and relations. Let
t_i be the trace of AᵀA on that of column i. All traces together are at most Nμ²; and counts of column i, their sum
aside, have variances that make up no less than (N/k)(k − 1)²/t_i in any unbiased linear estimate.
"""

from itertools import combinations

import numpy as np
import pytest

from entwined.mechanisms.marginals.agreement import Counted
from entwined.mechanisms.marginals.columns_alone import columns_alone

COLUMNS, CELLS = 3, 3
EVERY = CELLS**COLUMNS
LOSS = 1.0  # μ²


def counting(scope):
    """The matrix that adds the table of all columns up to some of them."""
    found = np.ones((1, 1))
    for at in range(COLUMNS):
        found = np.kron(found, np.eye(CELLS) if at in scope else np.ones((1, CELLS)))
    return found


def without_sum(column):
    """The counts of a column less their mean."""
    counts = counting((column,))
    return counts - counts.mean(axis=0)


def traces(information):
    """What a release spends on each column."""
    onto = [without_sum(at).T @ without_sum(at) / (EVERY / CELLS) for at in range(COLUMNS)]
    return np.array([np.trace(one @ information) for one in onto])


def variances(information):
    """By how much the best unbiased linear estimates of each column are off."""
    back = np.linalg.pinv(information, rcond=1e-10)
    return np.array([np.trace(without_sum(at) @ back @ without_sum(at).T) for at in range(COLUMNS)])


def least(spent):
    """The least that variances of a column can make up."""
    return (EVERY / CELLS) * (CELLS - 1) ** 2 / spent


def tables(parts):
    """What tables of some columns tell, each with its part of the loss."""
    return sum(LOSS * part * counting(scope).T @ counting(scope) for scope, part in parts.items())


def of_columns(part):
    """Columns alone get a part evenly, all pairs the rest."""
    alone = dict.fromkeys(((at,) for at in range(COLUMNS)), part / COLUMNS)
    pairs = list(combinations(range(COLUMNS), 2))
    return alone | dict.fromkeys(pairs, (1 - part) / len(pairs))


@pytest.mark.parametrize("seed", range(20))
def test_no_linear_release_tells_columns_more_than_it_spends_on_them(seed):
    rng = np.random.default_rng(seed)
    asked = rng.standard_normal((EVERY + seed, EVERY)) * rng.exponential(size=(EVERY + seed, 1)) ** 3
    asked *= np.sqrt(LOSS / np.square(asked).sum(axis=0).max())
    information = asked.T @ asked
    spent = traces(information)
    assert spent.sum() <= EVERY * LOSS * (1 + 1e-9)
    assert (variances(information) >= least(spent) * (1 - 1e-6)).all()


@pytest.mark.parametrize("part", [1.0, 0.8, 0.4, 0.1])
def test_tables_reach_that_and_columns_lose_what_relations_get(part):
    information = tables(of_columns(part))
    assert np.diag(information) == pytest.approx(LOSS)  # what a row in any cell moves it by, squared
    spent = traces(information)
    assert variances(information) == pytest.approx(least(spent))
    share = spent.sum() / (EVERY * LOSS)  # what neither relations nor the number of rows get
    assert share == pytest.approx((1 - 1 / CELLS) * (part + (1 - part) * 2 / CELLS))
    even = least(EVERY * LOSS / COLUMNS)
    assert variances(information) == pytest.approx(even / share)


def test_what_we_say_of_columns_is_off_by_no_more():
    parts, rows = of_columns(0.4), 1e6
    rng = np.random.default_rng(5)
    truth = rng.dirichlet(np.full(EVERY, 20.0)) * rows
    off = []
    for _ in range(1500):
        counted = [
            Counted(
                scope, counting(scope) @ truth + rng.normal(0, part**-0.5, CELLS ** len(scope)), part**-0.5
            )
            for scope, part in parts.items()
        ]
        found = columns_alone(counted, [CELLS] * COLUMNS, rows)
        off.append([np.square(one * rows - counting((at,)) @ truth).sum() for at, one in enumerate(found)])
    assert np.mean(off, axis=0) == pytest.approx(least(traces(tables(parts))), rel=0.08)
