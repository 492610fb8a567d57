"""What a law is fitted by, against the table of all cells; and the order in which rows are made up of it."""

import itertools
import math

import numpy as np
import pytest

from entwined.mechanisms.marginals.agreement import Agreement, Counted
from entwined.mechanisms.marginals.consistency import Said, disagreement
from entwined.mechanisms.marginals.junction import Junction, cliques_of
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


def noisy_tables(rng):
    """Tables of one population, each with noise of its own."""
    people = np.stack([rng.integers(0, size, 2000) for size in SIZES], axis=1)
    people[:, 1] = np.minimum(people[:, 0] + people[:, 1] // 2, 2)
    found = []
    for scope in [(0,), (1,), (0, 1), (1, 2), (0, 1, 2), (2, 3)]:
        shape = [SIZES[at] for at in scope]
        counts = np.bincount(np.ravel_multi_index(people[:, scope].T, shape), minlength=math.prod(shape))
        deviation = 4.0 * len(scope)
        found.append(Counted(scope, counts + rng.normal(0, deviation, counts.size).round(), deviation))
    return found


def test_where_a_fit_begins_makes_the_same_law_and_is_at_rest_wherever_the_law_says_nothing():
    rng = np.random.default_rng(7)
    counted = noisy_tables(rng)
    agreement = Agreement.of(Junction.of([one.scope for one in counted], SIZES), counted, GROUPS, 2000.0, {})
    near = {one.key: rng.normal(0, 0.3, one.counts.size) for one in counted}
    flat = np.concatenate([near[one.key] for one in counted])
    begun = agreement.begun(near)
    assert np.abs(begun / agreement.scales - flat).max() > 0.1
    laws = [agreement.tree.beliefs(agreement.logs(each))[0] for each in (flat, begun / agreement.scales)]
    assert all(map(np.allclose, *laws))
    value = agreement.value_and_slope(begun)[0]
    moved = np.zeros((2, 3, 4))  # what one table has more of, another has less of
    moved[:] = rng.normal(0, 0.5, (2, 3, 1))
    for sign in (-0.1, 0.1):
        other = begun / agreement.scales
        for scope, weights in (((0, 1), moved[:, :, 0]), ((0, 1, 2), -moved)):
            at = [one.scope for one in counted].index(scope)
            other[agreement.ends[at] : agreement.ends[at + 1]] += sign * weights.ravel()
        assert agreement.value_and_slope(other * agreement.scales)[0] > value


def test_what_tables_disagree_on_is_what_no_table_of_all_cells_comes_nearer_to():
    """The nearest table of all cells, each table weighed by how sure it is, by least squares."""
    rng = np.random.default_rng(8)
    counted = noisy_tables(rng)
    said = [
        Said(one.scope, one.counts.reshape([SIZES[at] for at in one.scope]), one.deviation**2)
        for one in counted
    ]
    cells = np.array(list(itertools.product(*map(range, SIZES))))
    rows = []
    for one in said:
        places = np.ravel_multi_index(cells[:, one.scope].T, one.table.shape)
        rows.append((np.arange(one.table.size)[:, None] == places) / math.sqrt(one.variance))
    asked = np.concatenate([one.table.ravel() / math.sqrt(one.variance) for one in said])
    nearest = np.linalg.lstsq(np.concatenate(rows), asked, rcond=None)[0]
    for one, sums, left in zip(said, rows, disagreement(said), strict=True):
        expected = one.table.ravel() - math.sqrt(one.variance) * sums @ nearest
        assert np.allclose(left.ravel(), expected, atol=1e-6)
