"""What a declared model calls impossible: rows that have it are protected by their own loss, and by no model."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from entwined.dependence import Chained, EndlessChain
from entwined.numbers import BoolArray
from entwined.promise.declared import Declared
from entwined.schema import Coded, Schema

MOST_NAMED: Final = 5
ALONE: Final = (
    "The {title} model does not cover a {each} that has it, which is protected by its own loss alone, as in ordinary "
    "differential privacy."
)


def ruled_out(given: Declared, schema: Schema) -> str:
    """Say which values a model calls impossible and which columns constant; nothing where all are possible."""
    if isinstance(given.model, Chained | EndlessChain):
        said = list(_of_states(given, given.model.possible(), schema))
    else:
        said = list(_of_columns(given.variables(schema), given.model.possible(), schema))
    if not said:
        return ""
    more = f"; and so of {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
    each = "row" if schema.unit.by_column or given.panel else schema.unit.name
    return (
        f"The {given.title} model says that {'; '.join(said[:MOST_NAMED])}{more}. "
        f"{ALONE.format(title=given.title, each=each)}"
    )


def _of_columns(names: Sequence[str], possible: Sequence[BoolArray], schema: Schema) -> Iterator[str]:
    for name, able in zip(names, possible, strict=False):
        column = schema.column(name) if name in schema.names else None
        if not able.all() and isinstance(column, Coded):
            yield _of_column(column, able)


def _of_column(column: Coded, able: BoolArray) -> str:
    if able.sum() == 1:
        return f"{column.name!r} is always {_value(column, int(able.argmax()))}"
    never = [_value(column, code) for code in np.flatnonzero(~able).tolist()]
    listed = " or ".join(never[:MOST_NAMED]) + (
        f" or {len(never) - MOST_NAMED} more" if len(never) > MOST_NAMED else ""
    )
    return f"{column.name!r} is never {listed}"


def _value(column: Coded, code: int) -> str:
    value = column.value(code)
    return "missing" if value is None else f"{value!s:.40}"


def _of_states(given: Declared, possible: Sequence[BoolArray], schema: Schema) -> Iterator[str]:
    """Say which states no step has, and at how many steps others are ruled out."""
    if not len(possible):
        return
    steps = np.stack(list(possible))
    for state in np.flatnonzero(~steps.any(axis=0)).tolist():
        yield f"no step has {_state(given, state, schema)}"
    sometimes = int((~steps[:, steps.any(axis=0)].all(axis=1)).sum())
    if sometimes:
        yield f"at {sometimes:,} of {len(steps):,} steps some states cannot be"


def _state(given: Declared, state: int, schema: Schema) -> str:
    columns = [schema.coded(name) for name in given.states(schema)]
    sizes = [column.size - (column.name in given.missing_says_nothing) for column in columns]
    codes = np.unravel_index(state, sizes)
    return " and ".join(
        f"{column.name} = {_value(column, int(code))}" for column, code in zip(columns, codes, strict=True)
    )
