"""Whether the values of a model are those of the columns it speaks of: a mismatch is refused.

Missing is a value of a unit: leaving a missing cell out of a count is something that a statistic does with it. A
model may leave missing out for a column only where the holder confirmed that its missingness says nothing.

Why that is sound. Let the model be the law of values Y, and let a cell show its value, or that it is missing,
by a draw of its own. The likelihood of what is released, averaged over the draws of the other cells, is a
function of their values that changes by no more than before when one of them changes. A secret value of a cell
has the law of the others given that value, and a secret blank a mixture of those laws. So the bounds on Y hold.

The same argument lets a row have columns beside those that are its state in a model over rows, and lets a row
or a person be absent: what is left must say nothing about other units once the state is known.
"""

from collections.abc import Collection, Iterator, Sequence
from math import prod
from typing import TypeAlias

from entwined.dependence import BayesNet, Chained, Dependence, EndlessChain, Forms, RandomField, Ties
from entwined.errors import BadModel
from entwined.schema import Coded, Schema

Values: TypeAlias = tuple[int, tuple[str, ...] | None]  # how many, and their names where they have some


def check_cells(
    title: str, model: Dependence, names: Sequence[str], says_nothing: Collection[str], schema: Schema
) -> None:
    """Refuse a model over cells whose values are not those of its columns; a variable that is no column is hidden."""
    read = next((names[place] for place in model.hidden if names[place] in schema.names), None)
    if read is not None:
        raise BadModel(
            f"The model {title!r} calls {read!r} hidden, and it is a column of the table, which is to be protected. "
            "Take it out of the hidden variables."
        )
    questions = names[:-1] if isinstance(model, Forms) else names
    found = {name: schema.column(name) for name in questions if name in schema.names}
    coded = {name: column for name, column in found.items() if isinstance(column, Coded)}
    _check_says_nothing(title, model, says_nothing, coded)
    gated = _gated(model)
    for name, (size, values) in zip(questions, _values(model, len(questions)), strict=False):
        if name not in coded:
            continue
        column, without = coded[name], name in says_nothing
        wanted = column.size - without - (name in gated)
        if size != wanted:
            raise BadModel(_cell_words(title, column, size, without=without, blank=name in gated))
        if values and values != _codes(size) and not _are_named(column, values, without=without):
            raise BadModel(
                f"In the model {title!r} the values of {name!r} are {_shown(values)}, and the schema's are not. "
                "Name them as the schema does, in its order and missing last, or by their codes 0, 1, ….."
            )


def _cell_words(title: str, column: Coded, size: int, *, without: bool, blank: bool) -> str:
    said = [f"{column.levels} values", *([] if without else ["missing"])]
    less = ", one of them a blank where the form does not ask" if blank else ""
    counted = column.size - without - blank
    mend = (
        f" If it says nothing about anything whether {column.name!r} is missing, name the column in "
        "missing_says_nothing; otherwise describe missing as its last value."
        if not without and size == counted - 1
        else f" Describe {counted} values."
    )
    return (
        f"The model {title!r} has {size} values for the column {column.name!r}, and the schema has "
        f"{' and '.join(said)}{less}: {counted} in all.{mend}"
    )


def states_of(columns: Sequence[str], says_nothing: Collection[str], schema: Schema) -> int:
    """Count the joint values of a row in some columns."""
    return prod(schema.coded(name).size - (name in says_nothing) for name in columns)


def check_rows(
    title: str, model: Dependence, columns: Sequence[str], says_nothing: Collection[str], schema: Schema
) -> None:
    """Refuse a model over rows or persons whose values are not the joint values of the columns that are its states."""
    if model.hidden:
        raise BadModel(
            f"The model {title!r} has hidden units, and each of its units is a row or a person of the table. Say of "
            "none that it is hidden."
        )
    coded = {name: schema.coded(name) for name in columns}
    _check_says_nothing(title, model, says_nothing, coded)
    wanted = states_of(columns, says_nothing, schema)
    listed = ", ".join(map(repr, columns)) or "no column"
    for size, values in _values(model, 1):
        if size != wanted:
            raise BadModel(
                f"The model {title!r} has {size} states, and the joint values of {listed} are {wanted}, missing "
                "among them. Say in `columns` which columns the states are, and in missing_says_nothing where "
                "it says nothing about anything that a value is missing."
            )
        if not values or values == _codes(size):
            continue
        if len(columns) != 1 or not _are_named(coded[columns[0]], values, without=columns[0] in says_nothing):
            raise BadModel(
                f"The model {title!r} has the values {_shown(values)}, and those of {listed} in the schema are not. "
                "Name them by their codes 0, 1, …, the last column's changing first."
            )


def _check_says_nothing(
    title: str, model: Dependence, says_nothing: Collection[str], coded: Collection[str]
) -> None:
    unknown = [name for name in says_nothing if name not in coded]
    if says_nothing and (unknown or not model.has_values):
        name = next(iter(unknown or says_nothing))
        raise BadModel(
            f"missing_says_nothing names {name!r}, and the model {title!r} describes no values of it. Name only "
            "columns whose values it describes."
        )


def _values(model: Dependence, units: int) -> Iterator[Values]:
    """List the values of each unit that has some; those of a chain are the same at all its steps."""
    match model:
        case BayesNet(values=values) | Forms(answers=BayesNet(values=values)):
            yield from ((len(one), one) for one in values)
        case RandomField(sizes=sizes):
            yield from ((size, None) for size in sizes)
        case Chained() | EndlessChain():
            yield from [(model.states, None)] * units
        case Ties(kernel=kernel) if kernel is not None:
            if kernel.shape[0] != kernel.shape[1]:
                raise BadModel(
                    f"The kernel of the ties has {kernel.shape[0]} values one way and {kernel.shape[1]} the other, and "
                    "all units of a table take the same ones. Give one row and one column for each of them."
                )
            yield from [(len(kernel), None)] * units


def _gated(model: Dependence) -> frozenset[str]:
    """The questions whose blanks the form decides: the blank is none of their values."""
    if not isinstance(model, Forms):
        return frozenset()
    return frozenset(name for name, some in zip(model.answers.names, model.gated, strict=True) if some)


def _codes(size: int) -> tuple[str, ...]:
    """Name values as `entwined learn` does."""
    return tuple(map(str, range(size)))


def _are_named(column: Coded, values: Sequence[str], *, without: bool) -> bool:
    """Whether values go by the schema's own in their order; missing may have any name, a blank none."""
    own = [_text(column, code) for code in range(column.levels)]
    given = list(values) if without else list(values[:-1])
    if len(given) == len(own):
        return given == own
    left = iter(own)
    return len(given) == len(own) - 1 and all(name in left for name in given)


def fits_but_for(column: Coded, values: Sequence[str], blank: int, *, without: bool) -> bool:
    """Whether values are those of a column but for one that is a blank, by their names if they have some."""
    own = [_text(column, code) for code in range(column.levels) if code != blank]
    if len(values) != column.size - without - 1:
        return False
    return tuple(values) == _codes(len(values)) or list(values[: len(own)]) == own


def _text(column: Coded, code: int) -> str:
    value = column.value(code)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _shown(values: Sequence[str]) -> str:
    return ", ".join(map(repr, values[:3])) + (", …" if len(values) > 3 else "")  # noqa: PLR2004  (enough to see)
