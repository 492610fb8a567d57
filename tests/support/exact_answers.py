"""Exact answers by plain Python over rows of codes, what every engine must give."""

import itertools

import numpy as np

from entwined.queries import (
    CountOf,
    DegreesOf,
    FoldOf,
    MovesOf,
    SumOf,
    TableOf,
    TotalsOf,
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
        case FoldOf():
            return folded(aggregate, inside)
        case DegreesOf():
            return degrees(aggregate, inside)
        case MovesOf():
            return moves(aggregate, inside)
    raise TypeError(aggregate)


def folded(fold, rows):
    """Give the function one row at a time, cut what it says by hand, and add up."""
    sums = [0] * fold.cells
    for row in rows:
        (vector,) = fold.function(np.array([[row[name] for name in fold.columns]], dtype=np.int64)).tolist()
        group = vector.pop(0) if fold.groups > 1 or fold.adds_codes else 0
        if fold.adds_codes:
            vector = [1, *(row[name] for name in fold.columns)]
        cut = [sorted(three)[1] for three in zip(fold.least, vector, fold.most, strict=True)]
        if fold.together is None or sum(map(abs, cut)) <= fold.together:
            for at, number in enumerate(cut if 0 <= group < fold.groups else ()):
                sums[group * len(fold.least) + at] += number
    return sums


def moves(asked, rows):
    """Walk along each series, step by step, and count where the next step is there too."""
    course = {}
    for row in rows:
        if row[asked.by] is not None and row[asked.order] < asked.steps:
            course.setdefault((row[asked.by], row[asked.order]), []).append(row[asked.state])
    course = {at: states[0] for at, states in course.items() if len(states) == 1}
    counts = [0] * asked.cells
    for (who, step), state in course.items():
        if (who, step + 1) in course:
            counts[state * asked.states + course[who, step + 1]] += 1
    return counts


def degrees(asked, rows, missing=None):
    """Count how often each id is named, one row after another, and how many are named so often."""
    often = {}
    for row in rows:
        for name in asked.columns:
            if row[name] is not None and row[name] != (missing or {}).get(name):
                often[row[name]] = often.get(row[name], 0) + 1
    counts = [0] * asked.most
    for times in often.values():
        counts[min(times, asked.most) - 1] += 1
    return counts


def added(term, row):
    """Multiply out by hand what the term says."""
    base = term.factor * row[term.column] + term.offset
    product = 1
    for _ in range(term.power):
        product *= base
    return product if term.times is None else product * added(term.times, row)


def by_cell(axes, rows, weight):
    sums = dict.fromkeys(itertools.product(*(range(axis.cells) for axis in axes)), 0)
    places = [(axis.column, cells_of(axis)) for axis in axes]
    for row in rows:
        cell = tuple(place.get(row[column]) for column, place in places)
        if None not in cell:
            sums[cell] += weight(row)
    return list(sums.values())


def cells_of(axis):
    """Find the cell of each code by listing the codes of each cell, not by division."""
    values = list(range(axis.levels))
    ends = [*axis.cuts[1:], axis.levels]
    uneven = [values[start:end] for start, end in zip(axis.cuts, ends, strict=False)]
    cells = uneven or [values[start : start + axis.width] for start in range(0, axis.levels, axis.width)]
    if axis.keeps_missing:
        cells.append([axis.levels])
    return {code: number for number, codes in enumerate(cells) for code in codes}
