"""Scanned rows that are kept while they are lent: all of them or none, and no longer."""

import numpy as np

from entwined.tables.holding import Held

BATCHES = [np.array([[1], [2]]), np.array([[300]]), np.array([[-1]])]


def read(held):
    return np.concatenate([*held.batches("rows", lambda: iter(BATCHES))]).ravel().tolist()


def test_a_scan_that_began_before_rows_were_lent_is_not_kept_without_its_first_rows():
    held = Held()
    begun = held.batches("rows", lambda: iter(BATCHES))
    next(begun)
    with held.lending():
        list(begun)
        assert read(held) == [1, 2, 300, -1]
        assert read(held) == [1, 2, 300, -1]


def test_a_scan_that_goes_on_after_its_lending_leaves_nothing_in_the_next():
    held = Held()
    with held.lending():
        begun = held.batches("rows", lambda: iter(BATCHES))
        next(begun)
    with held.lending():
        list(begun)
        assert len([*held.batches("rows", lambda: iter(BATCHES[:1]))]) == 1
