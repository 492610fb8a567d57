"""All rows of a table as codes, for eyes that may see them: a public table's, and a holder's own on their own machine.

Nothing that is released comes this way: what is released is lent by the door, after a charge.
"""

from collections.abc import Sequence

import numpy as np

from entwined.numbers import IntArray
from entwined.tables.rows import CodedRows
from entwined.tables.steps import statement


def every_row(rows: CodedRows, names: Sequence[str]) -> IntArray:
    """Give the codes of the named columns, a line a row that counts."""
    steps, last = rows.steps(names)
    wanted = ", ".join(rows.code(name) for name in names)
    with rows.engine.reading() as reader:
        found = reader.rows(statement(steps, f"SELECT {wanted} FROM {last}"))
    return np.array(found, np.int64).reshape(-1, len(names))
