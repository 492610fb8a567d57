"""Atoms against all points of a small schema."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entwined.errors import BadQuery, QueryTooComplex
from entwined.estimate import atoms
from entwined.estimate.atoms import atoms_of, components, has_empty_cells
from entwined.queries import Histogram, Marginal
from entwined.queries.predicate import everything
from support.conditions import NEVER_MISSING, POINTS, TABLES, cell, counting, where


@given(
    tables=st.lists(st.sampled_from(TABLES), min_size=1, max_size=6),
    impossible=st.sampled_from([(), NEVER_MISSING[:1], NEVER_MISSING, (where("owns and age < 3"),)]),
)
@settings(max_examples=60)
def test_atoms_are_the_points_that_no_table_tells_apart(tables, impossible):
    found = atoms_of(tuple(tables), impossible)
    possible = [point for point in POINTS if not any(one.holds(point) for one in impossible)]
    outside = {tuple(cell(table, point) for table in tables) for point in possible}
    mine = {tuple(None if own < 0 else own for own in atom) for atom in found.cell_of.T.tolist()}
    assert mine == outside
    assert found.atoms == len(outside)


def test_tables_over_separate_columns_are_apart_unless_something_is_impossible_in_both():
    tables = [counting(Histogram("sex")), counting(Histogram("well")), TABLES[0], counting(Histogram("age"))]
    assert [one.places for one in components(tables, ())] == [(0,), (1,), (2,), (3,)]
    joined = components(tables, (where("sex = 'Male' and well"),))
    assert [one.places for one in joined] == [(0, 1), (2,), (3,)]
    assert atoms_of((tables[0], tables[1]), joined[0].impossible).atoms == 3 * 3 - 1


def test_too_many_atoms_and_nothing_possible_are_refused(monkeypatch):
    with pytest.raises(BadQuery, match="impossible"):
        atoms_of((TABLES[1],), (everything(),))
    table = counting(Marginal(("sex", "age", "owns", "well")))
    monkeypatch.setattr(atoms, "MOST_ATOMS", 3 * 9 * 3 * 3 - 1)
    with pytest.raises(QueryTooComplex, match="atoms"):
        atoms_of((table, TABLES[0]))
    monkeypatch.setattr(atoms, "MOST_STATES", 20)
    with pytest.raises(QueryTooComplex, match="pieces"):
        atoms_of((table, TABLES[1]))


@pytest.mark.parametrize(
    ("query", "empty"),
    [
        (Histogram("age"), False),
        (Histogram("age", where=where("owns")), False),
        (Histogram("age", where=where("age > 2")), True),
        (Histogram("age", bins=2, where=where("(age > 2 or age < 1) and age is not null")), True),
        (Marginal(("age", "sex"), where=where("age > 2 or sex = 'Male'")), True),
    ],
)
def test_cells_that_no_row_can_be_in_are_known(query, empty):
    assert has_empty_cells(counting(query)) is empty
