"""A real and a synthetic table in memory, and what a description says of the noise in one."""

import numpy as np

from entwined.learning.codes import Codes
from entwined.noise import DiscreteLaplace
from entwined.schema import Categorical, Integer, Schema
from entwined.synthetic.error_bars import public_word
from entwined.synthetic.holders_rows import SideBySide, public_cells


def two_tables(names, values, rows=300):
    """Two tables of columns of one list of values, the first four of them named, and an age."""
    columns = tuple(Categorical(name, tuple(values), label=name) for name in names)
    schema = Schema((*columns, Integer("age", 0, 99)), most_rows=1000).approve()
    axes, left_out = public_cells(schema)
    rng = np.random.default_rng(6)
    sizes = {axis.column: axis.cells for axis in axes}
    real, made = (
        Codes.of(sizes, np.stack([rng.integers(0, size - 1, rows) for size in sizes.values()], axis=1))
        for _ in range(2)
    )
    return SideBySide(schema, tuple(axes), real, made, left_out | dict.fromkeys(names[:1], names[0]))


def noisy_table(columns, counts, scale):
    """A table of counts as a description has it; its numbers stand for noisy ones."""
    return {"columns": list(columns), "noise": DiscreteLaplace(scale).document, "counts": list(counts)}


def a_word(names):
    """A public word about columns, of which the first two were counted together and the last never."""
    tables = [noisy_table([name], [40, 60], 3) for name in names[:-1]]
    return public_word(list(names), [*tables, noisy_table(names[:2], [10, 30, 30, 30], 6)])
