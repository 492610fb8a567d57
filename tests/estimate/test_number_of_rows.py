"""The number of rows at which the pulls of all tables are in balance."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from entwined.estimate.number_of_rows import balanced

WALLS = st.lists(st.tuples(st.integers(-20, 200), st.floats(0, 10)), max_size=4)


@example(middle=0.0, variance=1000.0, walls=[(155, 10.0)], most=None)
@given(
    middle=st.floats(0, 150),
    variance=st.floats(0.01, 1000),
    walls=WALLS,
    most=st.one_of(st.none(), st.integers(0, 200)),
)
def test_it_is_the_least_of_all_that_may_be(middle, variance, walls, most):
    """Beside a search through every number: squares around a middle, and walls that are left behind at a cost."""
    asked = []

    def off(rows):
        return (rows - middle) ** 2 / variance + sum(cost * max(wall - rows, 0) ** 2 for wall, cost in walls)

    def pull(rows):
        asked.append(rows)
        return (middle - rows) / variance + sum(cost * max(wall - rows, 0) for wall, cost in walls)

    start = round(middle) if most is None else min(round(middle), most)
    found = balanced(pull, start, variance, most)
    every = np.arange(0, 400 if most is None else most + 1)
    assert abs(found - every[np.argmin([off(rows) for rows in every])]) <= 1
    assert len(asked) < 50  # two for each halving of what is between the start and 9 million
