"""What a law is fitted by, against the table of all cells; and the order in which rows are made up of it."""

import itertools
import math

import numpy as np
import pytest

from entwined.mechanisms.marginals.agreement import Agreement, Counted
from entwined.mechanisms.marginals.junction import Junction, cliques_of
from entwined.mechanisms.marginals.law import fitted
from entwined.mechanisms.marginals.made_up import HALF, _order

SIZES = (2, 3, 4, 3)
SCOPES = [(0,), (1,), (2,), (3,), (0, 1), (1, 2), (0, 1, 2), (2, 3), (2, 3)]
GROUPS = tuple(np.arange(size) for size in SIZES)


def problem(rng):
    shapes = [[SIZES[at] for at in scope] for scope in SCOPES]
    counted = [
        Counted(scope, rng.integers(-5, 200, math.prod(shape)), 3.0)
        for scope, shape in zip(SCOPES[:-1], shapes, strict=False)
    ]
    turned = ((2, 3, 1, 0), (0, 1, 1))  # groups in an order of their own, of which one has two cells
    counted.append(Counted((2, 3), rng.integers(-5, 200, 8), 2.0, turned))
    tree = Junction.of([one.scope for one in counted], SIZES)
    return Agreement.of(tree, counted, GROUPS, 500.0, {}), counted


def test_small_tables_go_by_larger_ones_and_give_what_the_table_of_all_cells_gives():
    rng = np.random.default_rng(5)
    agreement, counted = problem(rng)
    assert sum(inside >= 0 for inside in agreement.inside) == 6  # all that lie in a larger table
    weights = rng.normal(0, 0.3, agreement.counts.size)
    logs, places = np.zeros(SIZES), []
    for one, start in zip(counted, agreement.ends, strict=False):
        mine = []
        for cell in itertools.product(*map(range, SIZES)):
            at, shape = [cell[side] for side in one.scope], [SIZES[side] for side in one.scope]
            if one.grain:
                at = [group[value] for group, value in zip(one.grain, at, strict=True)]
                shape = [max(group) + 1 for group in one.grain]
            mine.append(start + int(np.ravel_multi_index(at, shape)))
        places.append(np.array(mine))
        logs += weights[places[-1]].reshape(SIZES)
    law = np.exp(logs) / np.exp(logs).sum()
    expected = sum(np.bincount(mine, weights=law.ravel(), minlength=weights.size) for mine in places)
    value, slope = agreement.value_and_slope(weights * agreement.scales)
    drawn = agreement.variances * weights
    assert value * 500 == pytest.approx(
        500 * math.log(np.exp(logs).sum()) - weights @ agreement.counts + drawn @ weights / 2
    )
    assert np.allclose(slope * agreement.scales * 500, 500 * expected - agreement.counts + drawn)


def test_columns_are_taken_out_the_smallest_table_first():
    """Of a ring of four columns one side is filled in: the one that makes the smaller tables."""
    ring = [(0, 1), (1, 2), (2, 3), (0, 3)]
    assert sorted(cliques_of(ring, (2, 5, 2, 5))) == [(0, 1, 2), (0, 2, 3)]
    assert sorted(cliques_of(ring, (5, 2, 5, 2))) == [(0, 1, 3), (1, 2, 3)]


@pytest.mark.parametrize("wide", [1, 2**40])
def test_rows_lie_by_group_then_by_columns_then_by_chance(wide):
    """Numbers that do not fit beside the bits of chance are counted through."""
    luck = np.random.default_rng(6)
    cells = luck.integers(0, 3, (4000, 3))
    cells[:, 1] *= min(wide, 2 ** (HALF - 2))
    groups = luck.integers(0, 5, 4000) * wide
    order = _order(cells, groups, np.array([0, 1]), luck)
    keys = np.stack([groups, cells[:, 1], cells[:, 0]], axis=1)[order]
    assert sorted(order.tolist()) == list(range(4000))
    assert keys.tolist() == sorted(keys.tolist())
    same = np.flatnonzero((keys[1:] == keys[:-1]).all(axis=1))
    rising = (order[same] < order[same + 1]).mean()
    assert abs(rising - 0.5) < 0.05  # by chance half of them; 5 deviations and more


@pytest.mark.parametrize("deviation", [0.0, 1e-200, 1e-54, 1e-3])
def test_noise_that_is_next_to_none_is_no_trouble(deviation):
    """Whoever asks for a huge loss wants to see the table without noise; its columns came out even instead."""
    told = [
        Counted((0,), np.array([1363, 1325, 312]), deviation),
        Counted((0, 1), np.array([1000, 363, 325, 1000, 12, 300]), deviation),
    ]
    law = fitted([*told, told[0]], [3, 2])
    assert law.alone[0] == pytest.approx(np.array([1363, 1325, 312]) / 3000, abs=1e-6)
    assert law.marginal((0, 1)) == pytest.approx(told[1].counts.reshape(3, 2) / 3000, abs=1e-3)
