"""Columns of made-up rows: the best estimate from all tables, and rows that count exactly that and break no rule."""

import numpy as np
import pytest

from entwined.mechanisms.marginals.agreement import Counted
from entwined.mechanisms.marginals.columns_alone import columns_alone
from entwined.mechanisms.marginals.law import fitted
from entwined.mechanisms.marginals.made_up import made_up

SIZES = (3, 4, 2)
RNG = np.random.default_rng(5)
COUNTS = RNG.integers(100, 400, SIZES)
TOTAL = float(COUNTS.sum())


def noisy(deviation, rng, scope, grain=None):
    """A table of the counts with noise; of groups of the last column if a grain is given."""
    others = tuple(at for at in range(3) if at not in scope)
    table = COUNTS.sum(axis=others).astype(float)
    if grain:
        table = np.stack([table[..., np.array(grain[-1]) == one].sum(axis=-1) for one in (0, 1)], axis=-1)
    return Counted(scope, (table + rng.normal(0, deviation, table.shape)).ravel(), deviation, grain)


def test_two_tables_of_a_column_are_weighed_by_how_sure_they_are():
    alone = Counted((0,), np.array([60.0, 30.0, 10.0]), 1.0)
    both = Counted(
        (0, 1), np.array([[30, 36], [20, 10], [2, 2]], float).ravel(), 1.0
    )  # sums of two: variance 2
    (found, other) = columns_alone([alone, both], (3, 2), 100.0)
    assert 100 * found == pytest.approx([62, 30, 8])
    assert 100 * other == pytest.approx([52, 48])


def test_a_table_of_groups_moves_the_cells_of_a_group_alike():
    alone = Counted((0,), np.array([50.0, 20.0, 30.0, 40.0]), 1.0)
    grouped = Counted((0,), np.array([76.0, 70.0]), 1.0, ((0, 0, 1, 1),))
    (found,) = columns_alone([alone, grouped], (4,), 144.0)
    assert 144 * found == pytest.approx([52, 22, 30, 40])  # 70 of variance 2 and 76 of variance 1 make 74
    (even,) = columns_alone([grouped], (4,), 146.0)
    assert 146 * even == pytest.approx([38, 38, 35, 35])


def test_the_estimate_is_nearer_than_what_columns_alone_say():
    """Squared errors of 300 draws: the sums of pairs tell as much again; chance hides that once in 10^9."""
    rng = np.random.default_rng(8)
    exact = [COUNTS.sum(axis=(1, 2)), COUNTS.sum(axis=(0, 2)), COUNTS.sum(axis=(0, 1))]
    off = np.zeros(2)
    for _ in range(300):
        tables = [noisy(20, rng, (at,)) for at in range(3)]
        more = [noisy(20, rng, (0, 2)), noisy(20, rng, (1, 2))]
        for at, counted in enumerate((tables, tables + more)):
            found = columns_alone(counted, SIZES, TOTAL)
            off[at] += sum(((TOTAL * one - true) ** 2).sum() for one, true in zip(found, exact, strict=True))
    assert off[1] < 0.85 * off[0]


@pytest.mark.parametrize("deviation", [2.0, 60.0])
def test_made_up_rows_count_what_is_told_of_every_column(deviation):
    rng = np.random.default_rng(9)
    grain = ((0, 1, 2), (0, 0, 1, 1))
    tables = [noisy(deviation, rng, (at,)) for at in range(3)]
    law = fitted([*tables, noisy(deviation, rng, (0, 1), grain), noisy(deviation, rng, (1, 2))], SIZES)
    for rows in (1, 7, 4000):
        made = made_up(law, rows)
        for at, size in enumerate(SIZES):
            counts = np.bincount(made[:, at], minlength=size)
            assert np.abs(counts - rows * law.alone[at]).max() < 1 + 1e-9


def test_rows_that_are_put_right_break_no_rule():
    """Columns say that a third of the rows must change; the others decide which can."""
    never = np.zeros((3, 2))
    never[0, 1] = never[1, 0] = 1
    pair = Counted((0, 1), np.array([3000, 0, 0, 1000, 1000, 1000]), 50.0)
    columns = [Counted((0,), np.array([1000, 3000, 2000]), 1.0), Counted((1,), np.array([3000, 3000]), 1.0)]
    law = fitted([pair, *columns], (3, 2), never={(0, 1): never})
    made = made_up(law, 6000)
    assert not ((made[:, 0] == 0) & (made[:, 1] == 1)).any()
    assert not ((made[:, 0] == 1) & (made[:, 1] == 0)).any()


def test_rows_that_get_a_value_look_like_those_that_had_it():
    """The second column follows the first nine times of ten, and columns alone want more of one value than pairs say."""
    pair = Counted((0, 1), np.array([4500, 500, 500, 4500]), 30.0)
    law = fitted([pair, *(Counted((at,), np.array([4000, 6000]), 1.0) for at in (0, 1))], (2, 2))
    made = [made_up(law, 10_000) for _ in range(5)]
    assert 0.88 < np.mean([(one[:, 0] == one[:, 1]).mean() for one in made]) < 0.92
