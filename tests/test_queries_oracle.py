"""Exact answers by plain Python over rows of codes, what every engine must give; a few are known by hand."""

import itertools

import pytest

from entwined.queries import (
    Axis,
    CountOf,
    SumOf,
    TableOf,
    Term,
    TotalsOf,
    codes_in,
    everything,
)


def exact_answer(aggregate, rows):
    """Answer an aggregate on rows, each a mapping from column to code."""
    inside = [row for row in rows if aggregate.where.holds(row)]
    match aggregate:
        case CountOf():
            return [len(inside)]
        case SumOf():
            return [sum(added(aggregate.term, row) for row in inside)]
        case TableOf():
            return by_cell(aggregate.axes, inside, lambda _: 1)
        case TotalsOf():
            return by_cell(aggregate.axes, inside, lambda row: added(aggregate.term, row))
    raise TypeError(aggregate)


def added(term, row):
    """Multiply out by hand what the term says."""
    base = term.factor * row[term.column] + term.offset
    product = 1
    for _ in range(term.power):
        product *= base
    return product


def by_cell(axes, rows, weight):
    sums = dict.fromkeys(itertools.product(*(range(axis.cells) for axis in axes)), 0)
    for row in rows:
        cell = tuple(cell_of(axis, row[axis.column]) for axis in axes)
        if None not in cell:
            sums[cell] += weight(row)
    return list(sums.values())


def cell_of(axis, code):
    """Find the cell by listing the codes of each, not by division."""
    values = list(range(axis.levels))
    cells = [values[start : start + axis.width] for start in range(0, axis.levels, axis.width)]
    if axis.keeps_missing:
        cells.append([axis.levels])
    return next((number for number, codes in enumerate(cells) if code in codes), None)


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
    ],
)
def test_answers_known_by_hand(aggregate, answer):
    assert exact_answer(aggregate, ROWS) == answer
    assert aggregate.cells == len(answer)


@pytest.mark.parametrize(
    "axis", [Axis("a", 7, width, keeps) for width in (1, 2, 3, 7, 9) for keeps in (True, False)]
)
def test_axes_place_codes_as_listed(axis):
    assert [axis.cell(code) for code in range(8)] == [cell_of(axis, code) for code in range(8)]
