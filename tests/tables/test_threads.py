"""Several threads find what one finds, in the same order, and take no more than they work on."""

import threading

import numpy as np
import pytest

from entwined.queries import FoldOf, Placed, everything
from entwined.tables import threads
from entwined.tables.folding import Folding
from entwined.tables.threads import in_threads


@pytest.mark.parametrize("at_once", [1, 2, 5])
@pytest.mark.parametrize("given", [0, 1, 2, 30])
def test_what_is_found_comes_in_order_and_no_more_is_taken_than_is_worked_on(at_once, given):
    taken, done = [], {}

    def batches():
        for one in range(given):
            taken.append(one)
            assert len(taken) - len(done) <= at_once + 2
            yield one

    for found in in_threads(lambda one: one * one, batches(), at_once):
        done[len(done)] = found
    assert done == {one: one * one for one in range(given)}


def test_what_fails_in_a_thread_fails():
    with pytest.raises(ZeroDivisionError):
        list(in_threads(lambda one: 1 // (7 - one), range(20), 3))


def test_the_surroundings_may_allow_fewer_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads.threads() == 1
    for unsaid in ("", "0", "many"):
        monkeypatch.setenv("OMP_NUM_THREADS", unsaid)
        assert 1 <= threads.threads() <= threads.MOST_THREADS


def sums(fold, batches, at_once, monkeypatch):
    monkeypatch.setattr("entwined.tables.folding.threads", lambda: at_once)
    return Folding((fold,), ((0, 1),), (None,)).over(batches)


def test_sums_are_the_same_by_any_number_of_threads(monkeypatch):
    """Rows by group, and numbers that are placed: whole numbers, whoever adds them up."""
    rng = np.random.default_rng(8)
    batches = [rng.integers(0, 5, (int(rows), 2)).astype(np.uint8) for rows in rng.integers(0, 3000, 9)]
    grouped = FoldOf(
        ("a", "b"), (0, 0, 0), (1, 4, 4), lambda codes: codes[:, :1].astype(np.int64) - 1, everything(),
        groups=3, adds_codes=True,
    )  # fmt: skip
    placed = FoldOf(
        ("a", "b"), (0,), (9,), lambda codes: codes[:, 1:].astype(np.int64) * 2, everything(),
        placed=(Placed(0, ("a",), (5,)), Placed(0)),
    )  # fmt: skip
    for fold in (grouped, placed):
        found = [sums(fold, batches, at_once, monkeypatch) for at_once in (1, 2, 4)]
        assert found[0] == found[1] == found[2]
        assert sum(found[0]) > 0


def test_a_function_of_the_holders_own_is_called_by_one_thread(monkeypatch):
    callers = set()

    def own(codes):
        callers.add(threading.get_ident())
        return codes

    sums(FoldOf(("a", "b"), (0, 0), (4, 4), own, everything()), [np.ones((9, 2), int)] * 8, 4, monkeypatch)
    assert callers == {threading.get_ident()}
