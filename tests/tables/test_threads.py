"""Several threads find what one finds, and read no more ahead than they work on."""

import threading

import numpy as np
import pytest

from entwined.mechanisms.k_means import KMeans
from entwined.promise.promise import Promise
from entwined.queries import FoldOf, Placed, everything
from entwined.schema import Integer, Schema
from entwined.tables import threads
from entwined.tables.folding import Folding
from entwined.tables.threads import in_threads


@pytest.mark.parametrize("at_once", [1, 2, 5])
@pytest.mark.parametrize("given", [0, 1, 2, 30])
def test_all_that_is_given_is_worked_on_once_and_little_is_read_ahead(at_once, given):
    read, done = [], []

    def batches():
        for one in range(given):
            read.append(one)
            assert len(read) - len(done) <= 2 * at_once + 1
            yield one

    def work(share):
        own = []
        for one in share:
            own.append(one * one)
            done.append(one)
        return own

    found = in_threads(work, batches(), at_once)
    assert len(found) == (at_once if given > 1 else 1)
    assert sorted(one for own in found for one in own) == [one * one for one in range(given)]


@pytest.mark.parametrize("bad", [0, 1, 7, 19])
def test_what_fails_in_any_thread_fails(bad):
    with pytest.raises(ZeroDivisionError):
        in_threads(lambda share: sum(1 // (bad - one) for one in share), range(20), 3)


def test_what_cannot_be_read_fails_and_leaves_no_thread_behind():
    def batches():
        yield from range(5)
        raise OSError("gone")

    before = threading.active_count()
    with pytest.raises(OSError, match="gone"):
        in_threads(sum, batches(), 3)
    assert threading.active_count() == before


def test_the_surroundings_may_allow_fewer_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads.threads() == 1
    for unsaid in ("", "0", "many"):
        monkeypatch.setenv("OMP_NUM_THREADS", unsaid)
        assert 1 <= threads.threads() <= threads.MOST_THREADS


def sums(fold, batches, at_once, monkeypatch):
    monkeypatch.setattr("entwined.tables.folding.threads", lambda: at_once)
    places = tuple(range(len(fold.columns)))
    return Folding((fold,), (places,), (None,)).over(batches)


def grouped(function, most=4):
    return FoldOf(
        ("a", "b"), (0, 0, 0), (1, most, most), function, everything(), groups=3, adds_codes=True,
    )  # fmt: skip


def test_sums_are_the_same_by_any_number_of_threads(monkeypatch):
    """Rows by group, and numbers that are placed: whole numbers, whoever adds them up."""
    rng = np.random.default_rng(8)
    batches = [rng.integers(0, 5, (int(rows), 2)).astype(np.uint8) for rows in rng.integers(0, 3000, 9)]
    placed = FoldOf(
        ("a", "b"), (0,), (9,), lambda codes: codes[:, 1:].astype(np.int64) * 2, everything(),
        placed=(Placed(0, ("a",), (5,)), Placed(0)),
    )  # fmt: skip
    for fold in (grouped(lambda codes: codes[:, :1].astype(np.int64) - 1), placed):
        found = [sums(fold, batches, at_once, monkeypatch) for at_once in (1, 2, 4)]
        assert found[0] == found[1] == found[2]
        assert sum(found[0]) > 0


def test_sums_past_64_bits_are_the_same_by_any_number_of_threads(monkeypatch):
    """Each thread alone stays below 2^63, all together do not."""
    most = 2**62 - 1
    fold = grouped(lambda codes: np.zeros((len(codes), 1), np.int64), most)
    batches = [np.full((1, 2), most, np.int64)] * 4
    for at_once in (1, 2, 4):
        assert sums(fold, batches, at_once, monkeypatch)[:3] == [4, 4 * most, 4 * most]


def test_a_round_of_k_means_is_the_same_by_any_threads_batches_and_widths(monkeypatch):
    """Rows that are missing, ties between centres and blocks that do not come out even, against plain whole numbers."""
    rng = np.random.default_rng(4)
    schema = Schema(tuple(Integer(name, 0, 40) for name in "abc"), most_rows=10**6)
    mechanism = KMeans.of(Promise.of(schema.approve()), list("abc"), 5, 1, 1)
    (fold,) = mechanism.needs(schema)
    rows = rng.integers(0, 42, (20_011, 3))
    scores = rows @ fold.function.scores[:, :-1].T + fold.function.scores[:, -1]
    nearest = np.where((rows > 40).any(axis=1), 5, scores.argmax(axis=1))
    assert len(np.unique(nearest)) == 6
    wanted = [
        int(number)
        for centre in range(5)
        for number in (np.count_nonzero(nearest == centre), *rows[nearest == centre].sum(axis=0))
    ]
    for kind in (np.uint8, np.int32, np.int64):
        for size in (977, 8192, 20_011):
            cut = [rows[at : at + size].astype(kind) for at in range(0, len(rows), size)]
            upright = [np.ascontiguousarray(one.T).T for one in cut]
            for at_once in (1, 2, 3):
                assert sums(fold, cut, at_once, monkeypatch) == wanted
                assert sums(fold, upright, at_once, monkeypatch) == wanted


def test_a_function_of_the_holders_own_is_called_by_one_thread(monkeypatch):
    callers = set()

    def own(codes):
        callers.add(threading.get_ident())
        return codes

    sums(FoldOf(("a", "b"), (0, 0), (4, 4), own, everything()), [np.ones((9, 2), int)] * 8, 4, monkeypatch)
    assert callers == {threading.get_ident()}
