"""Networks whose chances lie in intervals: what columns show is that of the worst member, never less."""

from itertools import product

import numpy as np
import pytest

from entwined.bounds.attributes.column_query import ColumnQuery
from entwined.bounds.attributes.network_members import members
from entwined.bounds.attributes.parameter_law import influences
from entwined.bounds.attributes.quilts import quilt_noise
from entwined.dependence import BayesNet, Variable
from entwined.errors import DoesNotApply
from support.parameter_networks import true_influence


def random_class(rng):
    """Three or four columns of two or three values; the first has no causes, and some rows are intervals."""
    count = int(rng.integers(3, 5))
    sizes = [2] + [int(size) for size in rng.choice([2, 3], count - 1, p=[0.8, 0.2])]
    variables, boxes, parents = [], [], []
    for place, size in enumerate(sizes):
        causes = sorted(rng.choice(place, min(place, 1 + int(rng.random() < 0.3)), replace=False).tolist())
        middle = rng.dirichlet(np.full(size, 2.0), int(np.prod([sizes[j] for j in causes], dtype=int)))
        wide = rng.uniform(0, 0.15, middle.shape) * (rng.random((len(middle), 1)) < 0.5) * (place > 0)
        low, high = np.maximum(middle - wide, 0), np.minimum(middle + wide, 1)
        table = [
            [[a, b] if a < b else a for a, b in zip(*row, strict=True)] for row in zip(low, high, strict=True)
        ]
        names = tuple(f"c{j}" for j in causes)
        variables.append(Variable(f"c{place}", tuple(map(str, range(size))), names, table))
        boxes.append((low, high))
        parents.append(causes)
    return BayesNet.of(variables), sizes, parents, boxes


def joint_of(sizes, parents, tables):
    joint = np.ones(sizes)
    for place, table in enumerate(tables):
        shape = [sizes[j] if j in (*parents[place], place) else 1 for j in range(len(sizes))]
        joint = joint * np.asarray(table).reshape(shape)
    return joint


def drawn_row(rng, low, high):
    """Some chances between two ends that sum to 1: a corner, or between several."""
    row = low.copy()
    for at in rng.permutation(len(row)):
        row[at] += min(high[at] - low[at], 1 - row.sum())
    return row


def drawn_member(rng, boxes):
    def table(low, high):
        rows = [np.average([drawn_row(rng, a, b) for _ in range(3)], axis=0, weights=rng.dirichlet([0.5] * 3))
                for a, b in zip(low, high, strict=True)]  # fmt: skip
        return np.array(rows)

    return [table(low, high) for low, high in boxes]


def test_no_member_shows_more_than_the_class_and_a_corner_shows_as_much():
    rng, reached = np.random.default_rng(91), 0
    for _ in range(24):
        network, sizes, parents, boxes = random_class(rng)
        shown = tuple(
            sorted(rng.choice(np.arange(1, len(sizes)), int(rng.integers(1, 3)), replace=False).tolist())
        )
        try:
            bound = float(influences(network, 0, shown).max())
        except DoesNotApply:
            continue
        most = 0.0
        for _ in range(25):
            joint = joint_of(sizes, parents, drawn_member(rng, boxes))
            most = max(most, true_influence(joint, 0, shown))
        assert most <= bound
        if max(sizes) == 2 and sum(len(low) for low, _ in boxes) <= 7:
            ends = [
                (np.maximum(low[:, 0], 1 - high[:, 1]), np.minimum(high[:, 0], 1 - low[:, 1]))
                for low, high in boxes
            ]
            corners = [
                [np.column_stack([one, 1 - np.array(one)]) for one in product(*zip(*pair, strict=True))]
                for pair in ends
            ]
            worst = max(
                true_influence(joint_of(sizes, parents, each), 0, shown) for each in product(*corners)
            )
            assert bound == pytest.approx(worst, abs=1e-9)
            reached += 1
    assert reached >= 4


def school(sat, income=((0.5, 0.5),)):
    return BayesNet.of(
        [
            Variable("income", ("low", "high"), (), [list(row) for row in income]),
            Variable("sat", ("low", "high"), ("income",), sat),
            Variable("height", ("low", "high"), ("sat",), [[0.6, 0.4], [[0.3, 0.5], [0.5, 0.7]]]),
        ]
    ).hiding(["sat", "height"])


def test_noise_is_that_of_the_worst_member():
    wide = school([[[0.6, 0.8], [0.2, 0.4]], [[0.2, 0.4], [0.6, 0.8]]])
    asked = ColumnQuery.count(["height"], rows=10) + ColumnQuery.count(["sat"], rows=10)
    worst = max(
        (quilt_noise(one, asked, 2.0) for one in members(wide, 0, (1, 2))),
        key=lambda noise: noise.scale,
    )
    assert quilt_noise(wide, asked, 2.0).scale >= worst.scale
    narrow = school([[0.8, 0.2], [0.2, 0.8]])
    assert quilt_noise(wide, asked, 2.0).scale >= quilt_noise(narrow, asked, 2.0).scale


def test_a_law_of_the_secret_that_is_open_cancels_only_where_it_has_no_causes():
    sat = [[0.8, 0.2], [0.2, 0.8]]
    open_law = school(sat, [[[0.0, 1.0], [0.0, 1.0]]])
    known = school(sat, [[0.5, 0.5]])
    assert influences(open_law, 0, (1,)) == pytest.approx(influences(known, 0, (1,)))
    with pytest.raises(DoesNotApply, match="known by intervals alone"):
        influences(open_law, 0, (1,), ((0,), (1,)))
    with pytest.raises(DoesNotApply, match="known by intervals alone"):
        influences(school([[[0.6, 0.8], [0.2, 0.4]], [0.3, 0.7]]), 1, (2,))


def test_too_many_corners_are_refused():
    rows = [[[0.4, 0.6], [0.4, 0.6]]] * 2
    first = Variable("a", ("0", "1"), (), [[0.5, 0.5]])
    more = [Variable(f"b{place}", ("0", "1"), ("a",), rows) for place in range(7)]
    with pytest.raises(DoesNotApply, match="fewer intervals"):
        influences(BayesNet.of([first, *more]), 0, tuple(range(1, 8)))
    assert influences(BayesNet.of([first, *more]), 0, (1,)).max() == pytest.approx(np.log(1.5))
