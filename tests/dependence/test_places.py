"""Places: cells of a grid, their distances, and where friends are."""

import numpy as np
import pytest

from entwined.dependence.places import CityGrid, friends_places
from entwined.errors import BadModel


def test_cells_have_their_middles_where_points_fall_into_them():
    grid = CityGrid(4, 3, 8.0, 1.5)
    assert grid.cells == len(grid.centres) == 12
    assert grid.cells_of(grid.centres).tolist() == list(range(12))
    corners = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 1.5], [8.0, 1.5], [-5.0, 99.0]])
    assert grid.cells_of(corners).tolist() == [0, 3, 8, 11, 8]


@pytest.mark.parametrize(("norm", "across"), [("cityblock", 3.5), ("euclidean", np.hypot(1.5, 2.0))])
def test_distances_are_those_of_the_middles(norm, across):
    found = CityGrid(2, 2, 3.0, 4.0).distances(norm)
    assert found[0].tolist() == pytest.approx([0.0, 1.5, 2.0, across])
    assert (found == found.T).all()


def test_friends_are_somewhere_and_sooner_near():
    apart = CityGrid(5, 1).distances()
    kernel = friends_places(apart, nearness=0.2, fall=1.0)
    assert kernel.sum(axis=1) == pytest.approx(1.0)
    assert kernel[0] / kernel[0, 0] == pytest.approx(0.2 / (apart[0] + 0.2))
    assert (np.diff(kernel[0]) < 0).all()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: CityGrid(0, 3),
        lambda: CityGrid(100, 100),
        lambda: CityGrid(2, 2, -1.0),
        lambda: CityGrid(2, 2).cells_of(np.array([1.0, 2.0])),
        lambda: CityGrid(2, 2).cells_of(np.array([[np.nan, 2.0]])),
        lambda: CityGrid(2, 2).distances("manhattan"),
        lambda: friends_places(np.array([[0.0, -1.0]])),
        lambda: friends_places(np.zeros((2, 2)), nearness=0.0),
    ],
)
def test_what_is_no_place_is_refused(wrong):
    with pytest.raises(BadModel, match=r"\. (Give|Take|Use) "):
        wrong()
