"""Many populations in a row, each from a seed of its own."""

from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

import numpy as np

from attack import budgets, cells, groups, series, traps
from attack.tally import Tally

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
        with redirect_stdout(StringIO()):
            found = population(np.random.default_rng(seed), folder / f"population {seed}")
        each = found if isinstance(found, list) else [found]  # populations that one release is about
        results += [replace(one, about=f"seed {seed}: {one.about}") for one in each]
    return Tally(tuple(results))
