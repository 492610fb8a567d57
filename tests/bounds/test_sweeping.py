"""Messages of several cases at once: the same as from node to node, each case on its own."""

import numpy as np
import pytest

from entwined.bounds.kernel import Forest, breadth_first
from entwined.bounds.profiles.crossing import Swayed
from entwined.bounds.profiles.curves import GaussianCurve
from entwined.bounds.profiles.passing import TOGETHER, parts_of, read_rows, through_forest
from entwined.bounds.profiles.profile import Grid
from entwined.bounds.profiles.sway import TiltSway
from entwined.bounds.profiles.sweeping import Sweep

GRID = Grid.up_to(3.0, 128)
NOTHING = GaussianCurve(0.0)


def crossed(sways):
    """The same for all values."""
    return {link: Swayed(sway) for link, sway in sways.items()}


def forest(seed, nodes=14):
    """Two random trees with links of different strength; one passes all on."""
    rng = np.random.default_rng([41, seed])
    links = [(int(rng.integers(0, at)), at) for at in range(1, nodes) if at != nodes // 2]
    order, parent = breadth_first(nodes, links)
    both = [link for pair in links for link in (pair, pair[::-1])]
    sways = {
        link: TiltSway(float(odds)) for link, odds in zip(both, rng.uniform(0.2, 4, len(both)), strict=True)
    }
    del sways[both[3]]
    shown = [GaussianCurve(float(shift)) for shift in rng.uniform(0.02, 0.3, nodes)]
    read = rng.random((3, nodes)) < 0.7
    read[2] = read[0]  # but for one node, two cases are alike
    read[2, 5] = not read[0, 5]
    cases = [[curve if there else NOTHING for curve, there in zip(shown, each, strict=True)] for each in read]
    return Forest(order, parent, (), {}, 0.0), sways, cases


@pytest.mark.parametrize("seed", range(4))
def test_cases_at_once_are_what_each_is_from_node_to_node(seed):
    tree, sways, cases = forest(seed)
    told = [list(range(14)), [0, 13, 6], [5]]
    parts, held = parts_of(cases, GRID)
    stack, rows = Sweep(tree, crossed(sways), parts, held, told).whole()
    for curves, units, mine in zip(cases, told, rows, strict=True):
        alone = through_forest(TOGETHER, tree, curves, sways, GRID)
        for unit, profile in zip(units, read_rows(stack, mine), strict=True):
            assert profile.deltas == pytest.approx(alone[unit].deltas, rel=1e-9, abs=1e-12)


def test_what_cases_have_alike_is_passed_once():
    tree, sways, cases = forest(1)
    parts, held = parts_of(cases, GRID)

    def links(*some):
        found = []
        watch = lambda _, __, passed: found.extend(passed)  # noqa: E731
        told = [list(range(14))] * len(some)
        Sweep(tree, crossed(sways), parts, [held[case] for case in some], told, watch).whole()
        return len(found)

    seen = links(0), links(0, 0), links(0, 2)
    assert seen[0] == seen[1] == 2 * 12  # two links a pair of neighbours, and as many for a case twice
    assert seen[1] < seen[2] < 2 * seen[0]
