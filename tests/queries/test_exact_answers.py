"""Exact answers by plain Python over rows of codes, what every engine must give; a few are known by hand."""

import pytest

from entwined.queries import (
    Axis,
    CountOf,
    FoldOf,
    SumOf,
    TableOf,
    Term,
    TotalsOf,
    codes_in,
    everything,
)
from support.exact_answers import cells_of, exact_answer

ROWS = [{"a": 0, "b": 1}, {"a": 2, "b": 0}, {"a": 2, "b": 2}, {"a": 3, "b": 1}]


@pytest.mark.parametrize(
    ("aggregate", "answer"),
    [
        (CountOf(everything()), [4]),
        (CountOf(codes_in("a", 4, ((2, 2),))), [2]),
        (SumOf(Term("a"), everything()), [7]),
        (SumOf(Term("a", 2, 2, -3), codes_in("b", 3, ((0, 1),))), [9 + 1 + 9]),
        (TableOf((Axis("a", 3),), everything()), [1, 0, 2, 1]),
        (TableOf((Axis("a", 3, keeps_missing=False),), everything()), [1, 0, 2]),
        (TableOf((Axis("a", 3, 2),), everything()), [1, 2, 1]),
        (TableOf((Axis("b", 2), Axis("a", 3, 2, keeps_missing=False)), everything()), [0, 1, 1, 0, 0, 1]),
        (TotalsOf((Axis("b", 2),), Term("a", offset=10), everything()), [12, 23, 12]),
        (FoldOf(("b", "a"), (0, -9), (1, 9), lambda codes: codes - 1, everything()), [0 + 0 + 1 + 0, 3]),
        (
            FoldOf(("b", "a"), (0, -9), (1, 9), lambda codes: codes - 1, codes_in("a", 4, ((2, 3),)), 1),
            [0, 1],
        ),
    ],
)
def test_answers_known_by_hand(aggregate, answer):
    assert exact_answer(aggregate, ROWS) == answer
    assert aggregate.cells == len(answer)


@pytest.mark.parametrize(
    "axis", [Axis("a", 7, width, keeps) for width in (1, 2, 3, 7, 9) for keeps in (True, False)]
)
def test_axes_place_codes_as_listed(axis):
    assert [axis.cell(code) for code in range(8)] == [cells_of(axis).get(code) for code in range(8)]
