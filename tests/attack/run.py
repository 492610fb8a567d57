"""Many populations in a row, each from a seed of its own; statements for tables of the same shape are compiled once."""

from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from io import StringIO

import numpy as np

from attack import budgets, cells, groups, series, traps
from attack.tally import Tally
from entwined.tables.rows import CodedRows

POPULATIONS = {
    "cells declared": cells.declared,
    "cells learned": cells.learned,
    "surveys": cells.surveyed,
    "households": groups.households,
    "persons": groups.persons,
    "rows alone": groups.alone,
    "series cut": series.by_person,
    "series whole": series.whole,
    "several releases": budgets.several,
    "migrated": budgets.migrated,
    "learned with a budget": budgets.learned_first,
    "learned in households": traps.learned_in_households,
}


def attacked(folder, population, seeds):
    """Go the whole path with a population for each seed."""
    results = []
    for seed in seeds:
        with redirect_stdout(StringIO()), compiled_once():
            found = population(np.random.default_rng(seed), folder / f"population {seed}")
        each = found if isinstance(found, list) else [found]  # populations that one release is about
        results += [replace(one, about=f"seed {seed}: {one.about}") for one in each]
    return Tally(tuple(results))


_COMPILED = {}


@contextmanager
def compiled_once():
    """Remember statements: they depend on the columns and how the engine shows them, and on nothing else."""
    compile_steps = CodedRows._compile

    def remembered(self, *given):
        if any(self._list(name) for name in given[1]):
            return compile_steps(self, *given)
        shown = tuple((name, str(self.engine.columns[name])) for name in self.schema.names)
        key = (self.schema.columns, shown, self.engine.dialect, given)
        if key not in _COMPILED:
            _COMPILED[key] = compile_steps(self, *given)
        return _COMPILED[key]

    CodedRows._compile = remembered
    try:
        yield
    finally:
        CodedRows._compile = compile_steps
