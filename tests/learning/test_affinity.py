"""Who is alike is found as by hand, whatever the size of the blocks, dense or sparse."""

import numpy as np
import pytest

from entwined.errors import BadInput, Refused
from entwined.learning import affinity
from entwined.learning.affinity import Affinity, one_hot


def by_hand(profiles, power):
    lengths = profiles.sum(axis=1) if power == 1 else np.sqrt((profiles**2).sum(axis=1))
    return (profiles @ profiles.T) / np.outer(lengths, lengths)


@pytest.fixture
def profiles():
    generator = np.random.default_rng(3)
    return generator.random((41, 9)) * (generator.random((41, 9)) < 0.5) + np.eye(41, 9)


@pytest.mark.parametrize("cells", [1, 100, 10_000])
@pytest.mark.parametrize("sparse", [0.0, 1.0])
@pytest.mark.parametrize(("likeness", "power"), [("cosine", 2), ("l1", 1)])
def test_ties_are_those_of_all_pairs(profiles, monkeypatch, cells, sparse, likeness, power):
    monkeypatch.setattr(affinity, "BLOCK_CELLS", cells)
    monkeypatch.setattr(affinity, "SPARSE", sparse)
    profiles[-1] = 0  # nobody is alike to who has no profile
    with np.errstate(invalid="ignore"):
        expected = np.nan_to_num(by_hand(profiles, power))
    np.fill_diagonal(expected, -1)
    least = float(np.sort(expected, axis=None)[[1399, 1401]].mean())  # no pair is close to it
    found = Affinity.of(profiles, likeness)
    assert found.largest() == pytest.approx(expected.max(), rel=1e-6)
    assert found.ties(least).tolist() == [[a, b] for a, b in np.argwhere(expected > least).tolist() if a < b]
    assert found.ties_per_person(least).tolist() == (expected > least).sum(axis=1).tolist()


def test_the_printed_similarity_of_equal_profiles_is_one_in_their_entries():
    equal = one_hot(np.zeros((2, 14), np.int64), (3,) * 14)
    assert Affinity.of(equal, "l1").largest() == pytest.approx(1 / 14)
    assert Affinity.of(equal).largest() == 1


def test_too_many_ties_and_profiles_below_zero_are_refused():
    with pytest.raises(Refused, match="More than 2 pairs"):
        Affinity.of(np.ones((3, 2))).ties(0.5, most=2)
    with pytest.raises(BadInput, match="at least 0"):
        Affinity.of(np.array([[1.0, -1.0]]))
