"""⊕ of many pairs at once: what one pair at a time gives, and never less than the least over all splits."""

import numpy as np
import pytest

from entwined.bounds.profiles.curves import GaussianCurve, LaplaceCurve, PureCurve
from entwined.bounds.profiles.either_order import in_either_order
from entwined.bounds.profiles.profile import Grid, PrivacyProfile, both_sides, growth_of

GRID = Grid.up_to(6.0, 203)  # no power of two, and no multiple of the points that are sought everywhere


def stack(curves):
    return PrivacyProfile.of_each(curves, GRID)


def everywhere(one, other):
    """The least over all splits of the grid, pair by pair."""
    size, first, second = GRID.size, both_sides(one), both_sides(other)
    growth = growth_of(GRID)
    return np.array(
        [
            min(first[i] + growth[i] * second[2 * size + k - i] for i in range(k, 2 * size + 1))
            for k in range(size + 1)
        ]
    )


FIRST = [GaussianCurve(0.3), GaussianCurve(1.5), LaplaceCurve(0.7), PureCurve(2.0), GaussianCurve(0.05)]
SECOND = [GaussianCurve(0.8), GaussianCurve(0.02), GaussianCurve(1.0), LaplaceCurve(1.0), PureCurve(3.0)]


def test_what_is_found_is_never_below_the_least_of_all_splits_and_hardly_above():
    one, other = stack(FIRST), stack(SECOND)
    found = in_either_order(one, other)
    for pair, (f, g) in enumerate(zip(one.split(), other.split(), strict=True)):
        least = np.minimum(np.maximum(everywhere(f, g), everywhere(g, f)), 1.0)
        assert (found.deltas[pair] >= least).all()
        assert found.deltas[pair] == pytest.approx(least, rel=1e-3, abs=1e-12)


def test_pairs_have_no_bearing_on_each_other():
    one, other = stack(FIRST), stack(SECOND)
    alone = in_either_order(stack(FIRST[2:3]), stack(SECOND[2:3]))
    assert (in_either_order(one, other).deltas[2] == alone.deltas[0]).all()
