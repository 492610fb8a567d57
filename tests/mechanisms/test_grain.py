"""Groups of cells: what they put together, that no row moves their tables further, and the law of tables of groups."""

import itertools
import json

import numpy as np
import pytest

from entwined.mechanisms.marginals.agreement import Counted
from entwined.mechanisms.marginals.grain import Grains, coarse, fine, groups_in, neighbours, rare, refined
from entwined.mechanisms.marginals.law import fitted
from entwined.mechanisms.marginals.made_up import made_up
from entwined.mechanisms.marginals.meter import Noted, Transcript
from entwined.noise import DiscreteLaplace


def test_groups_hold_enough_and_follow_the_order_where_there_is_one():
    rng = np.random.default_rng(4)
    for _ in range(200):
        shares = rng.dirichlet(np.full(int(rng.integers(2, 30)), 0.3))
        least = float(rng.uniform(0, 0.4))
        for way in (neighbours, rare):
            groups = way(shares, least)
            held = np.bincount(groups, weights=shares)
            assert set(groups) == set(range(max(groups) + 1))
            assert len(held) <= 2 or np.sort(held)[1] >= least * (1 - 1e-9)
            json.dumps(groups)
        assert all(one <= two for one, two in itertools.pairwise(neighbours(shares, least)))
    assert neighbours(np.full(5, 0.2), 0.0) == rare(np.full(5, 0.2), 0.0) == (0, 1, 2, 3, 4)


def test_no_row_moves_a_table_of_groups_further_than_the_table_of_cells():
    """Every grain of two columns of three cells, every row that comes, goes or changes, and a distance from it."""
    groupings = [(0, 1, 2), (0, 0, 1), (0, 1, 0), (0, 0, 0)]
    table = np.arange(9)
    public = np.array([4, 0, 2, 1, 9, 3, 0, 0, 7])
    for grain in itertools.product(groupings, repeat=2):
        before = coarse(table, grain)
        far = np.abs(coarse(table - public, grain)).sum()
        for cell, other in itertools.product(range(9), repeat=2):
            came, changed = table.copy(), table.copy()
            came[cell] += 1
            changed[cell] += 1
            changed[other] -= 1
            assert np.abs(coarse(came, grain) - before).sum() == 1
            assert np.abs(coarse(changed, grain) - before).sum() <= 2
            for after, most in ((came, 1), (changed, 2)):
                assert abs(np.abs(coarse(after - public, grain)).sum() - far) <= most


def test_a_law_of_groups_agrees_with_them_and_is_spread_as_the_column_alone_says():
    rng = np.random.default_rng(5)
    sizes = (4, 5, 3)
    counts = rng.integers(20, 400, sizes)
    grain = ((0, 0, 1, 1), (0, 1, 1, 2, 2))
    grains = Grains((*grain, (0, 0, 1)))
    pairs = {(0, 1): counts.sum(axis=2), (1, 2): counts.sum(axis=0)}
    alone = [counts.sum(axis=tuple({0, 1, 2} - {at})) for at in range(3)]
    tables = [Counted((at,), one, 0.5) for at, one in enumerate(alone)]
    tables += [
        Counted(scope, coarse(one.ravel(), grains.grain(scope)), 0.5, grains.grain(scope))
        for scope, one in pairs.items()
    ]
    law, total = fitted(tables, sizes), counts.sum()
    assert law.tree.sizes == grains.sizes == (2, 3, 2)
    for at, one in enumerate(alone):
        assert np.abs(total * law.marginal((at,)) - one).max() < 3
    for scope, one in pairs.items():
        found = coarse(np.rint(total * law.marginal(scope).ravel()).astype(np.int64), grains.grain(scope))
        assert np.abs(found - coarse(one.ravel(), grains.grain(scope))).max() < 8
    rows = made_up(law, 40_000)
    for scope in ((0,), (2,), (0, 1), (1, 2)):
        shape = [sizes[at] for at in scope]
        made = np.bincount(np.ravel_multi_index(rows[:, scope].T, shape), minlength=int(np.prod(shape)))
        assert np.abs(made - 40_000 * law.marginal(scope).ravel()).max() < 60


def test_a_rule_tells_cells_apart_that_groups_do_not():
    grain = ((0, 0, 0), (0, 0))
    alone = [Counted((0,), np.array([40, 40, 40]), 0.5), Counted((1,), np.array([60, 60]), 0.5)]
    never = np.zeros((3, 2))
    never[1, 0] = 1
    law = fitted([*alone, Counted((0, 1), np.array([120]), 0.5, grain)], (3, 2), never={(0, 1): never})
    rows = made_up(law, 3000)
    assert not ((rows[:, 0] == 1) & (rows[:, 1] == 0)).any()


def test_tables_of_groups_are_written_and_read_back():
    noise = DiscreteLaplace.for_loss(1, 1)
    notes = Transcript()
    exact = {(0,): np.arange(3), (0, 1): np.arange(6)}
    notes.count({(0,): exact[0,]}, {(0,): noise})
    notes.count(exact, {(0, 1): noise}, Grains(((0, 0, 1), (0, 1))))
    for one in notes.tables:
        back = Noted.from_document(json.loads(json.dumps(one.document("ab"))), "ab")
        assert (back.scope, back.grain, back.noise) == (one.scope, one.grain, one.noise)
        assert back.counts.tolist() == one.counts.tolist()
    assert groups_in(notes.tables[1].grain) == (2, 2)


@pytest.mark.parametrize("sizes", [(2, 3), (1, 4)])
def test_every_cell_by_itself_is_the_finest(sizes):
    grain = fine(sizes)
    assert groups_in(grain) == sizes
    assert refined([grain[1], (0,) * sizes[1]], sizes[1]) == grain[1]
    assert refined([], 3) == (0, 0, 0)
