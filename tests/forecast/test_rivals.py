"""A plan beside the other noise and beside whole rows."""

from fractions import Fraction

import pytest

from entwined.dependence import Groups
from entwined.forecast.rivals import rivals
from entwined.queries import Histogram
from entwined.request.verbs import plan
from entwined.schema import Boolean, Cells, Schema

NAMES = tuple(f"q{number}" for number in range(6))
SCHEMA = Schema(tuple(Boolean(name) for name in NAMES), unit=Cells()).approve()


@pytest.mark.parametrize("delta", [None, Fraction(1, 10**6)])
def test_cells_stand_beside_the_other_noise_and_whole_rows(delta):
    planned = plan(
        SCHEMA, [Histogram(name) for name in NAMES], leakage=1, dependence=[Groups(largest=6)], delta=delta
    )
    other, rows = rivals(planned, Fraction(1))
    assert other.how == ("give delta = 1e-06" if delta is None else "leave delta out")
    assert rows.how == "protect rows in the schema"
    assert other.times > 0
    assert rows.times > 0
    # whole rows are the group of all six cells: the same Gaussian noise does for both
    assert (rows.times == pytest.approx(1, abs=0.01)) == (delta is not None)
