"""What the holder's word is taken for beside a model itself: how its units lie in the table. Reports print it bold."""

from collections.abc import Iterator
from typing import Final

from entwined.bounds import Knowledge
from entwined.bounds.outside import theorems_of
from entwined.dependence import Chained, Coupled, EndlessChain, Forms
from entwined.dependence.learned_from import VOUCHED
from entwined.promise.declared import Declared
from entwined.promise.gates import Gates
from entwined.schema import Schema, Text

PUBLIC: Final = (
    "It is public who shares a value of the column {by!r}, and it does not depend on anyone's secret."
)
KNOWN: Final = (
    "What column {name!r} says is public and is not protected, and the models hold for whoever knows it."
)
ONE_HOME: Final = (
    "A {each} whose rows have several values of {by!r} depends only on those who share the least of them."
)
ORDERED: Final = (
    "Column {order!r} orders the steps of a series; it is public and never the same twice. (Of {many} with the same "
    "one only one is used, picked pseudo-randomly.)"
)
ONE_STEP: Final = (
    "A person whose rows have several values of {order!r} is the step of the least of them, and of no other."
)
OUTSIDE: Final = {
    "any": "Each column outside the model is worked out from a single column of the model, perhaps with "
    "independent errors, or says nothing about those in it.",
    "model": "Nothing is known of the columns outside the model.",
}
WITHOUT_FORM: Final = (
    "That a respondent has no form in column {form!r}, or one that is not declared, says nothing about the "
    "answers."
)
WORKED_OUT: Final = (
    "Each of these columns is worked out from another, perhaps with errors that depend on nothing else: {listed}. The "
    "holder said so, and no row is looked at for it, unless a count of the rows that contradict it is released."
)
PRESENCE: Final = (
    "Whether a {each} is in the table says nothing about what any {each} holds, nor about whether another "
    "is there."
)
GROUP_OF_VALUES: Final = (
    "{who} are one group of the {title} model, with no more than {most} {many} in it (of more {most} count, and the "
    "model does not speak of the others), and different groups are independent of each other."
)
PLACES: Final = (
    "Where a {each} is, is the cell that {columns} say: what lies outside their bounds is at the nearest edge, and the "
    "model is about these cells."
)
EVERY_STEP: Final = (
    "Every value of the column {order!r} is a step of the {title} model, the same for every series and whether or not "
    "it has a row there, and different series are independent of each other."
)
MISSING_STEP: Final = (
    "A series without a row at a step of {order!r} is in the state missing there, and given that whether there is a "
    "row says nothing about its other steps."
)
NEVER_MISSING: Final = "No row lacks a value that its column can have in any of these columns: {names}."
NO_GAPS: Final = "No step of a series is missing before or between those that are kept."


def trusted(given: Declared, schema: Schema, knowledge: Knowledge) -> tuple[str, ...]:
    """List what has to be believed about a declared model, one sentence or two each."""
    about = _of_cells if schema.unit.by_column else _of_rows
    return (
        *about(given, schema, knowledge),
        *_of_source(given, schema),
        *_of_missing(given),
        *_of_check(given),
        *_of_outside(given),
    )


def _of_outside(given: Declared) -> Iterator[str]:
    origins = {theorem.origin: None for theorem in theorems_of(given.trusting)}
    yield from (origin.trusted for origin in origins if origin is not None)


def _of_check(given: Declared) -> Iterator[str]:
    if given.model.check is not None:
        yield f"How the {given.title} model did in its check: " + " ".join(given.model.check.words)


def known(schema: Schema) -> Iterator[str]:
    """Say which columns are not protected, where each column is by itself."""
    if schema.unit.by_column:
        yield from (KNOWN.format(name=name) for name in schema.public_columns)


def _of_source(given: Declared, schema: Schema) -> Iterator[str]:
    told = given.model.learned_from
    if given.model.source == "proxy" and not (told and told.is_comparable(schema)):
        yield VOUCHED.format(title=given.title)


def ids_compared(schema: Schema, name: str) -> Iterator[str]:
    """Say when two texts of a column are the same id, where it says which rows belong together."""
    column = schema.column(name)
    if isinstance(column, Text):
        yield f"In column {name!r} {column.words}."


def _of_missing(given: Declared) -> Iterator[str]:
    if given.never_missing:
        yield NEVER_MISSING.format(names=", ".join(map(repr, given.never_missing)))
    some = [name for name in given.missing_says_nothing if name not in given.never_missing]
    if some:
        names = ", ".join(map(repr, some))
        yield (
            "Whether a value is missing says nothing about anything, neither about the value itself nor about any "
            f"other, in each of these columns: {names}."
        )


def _of_cells(given: Declared, schema: Schema, knowledge: Knowledge) -> Iterator[str]:
    if set(schema.names) - set(given.variables(schema)):
        yield OUTSIDE[knowledge]
    if given.worked_out:
        listed = ", ".join(f"{name!r} from {by!r}" for name, by in given.worked_out.items())
        yield WORKED_OUT.format(listed=listed)
    if isinstance(given.model, Forms):
        yield Gates(given.model, schema).words
        if not Gates(given.model, schema).lists_missing:
            yield WITHOUT_FORM.format(form=given.model.form)


def _of_rows(given: Declared, schema: Schema, knowledge: Knowledge) -> Iterator[str]:
    each = "row" if given.panel else schema.unit.name
    if given.by:
        yield PUBLIC.format(by=given.by)
        if schema.unit.person is not None and not given.panel:
            yield ONE_HOME.format(by=given.by, each=each)
        yield from ids_compared(schema, given.by)
    if given.model.by_distance:
        who = f"Those who share a value of {given.by!r}" if given.by else "Those who depend on each other"
        yield GROUP_OF_VALUES.format(who=who, title=given.title, most=given.most, many=schema.unit.many)
    elif given.by_distance(schema):
        yield PLACES.format(each=each, columns=" and ".join(map(repr, given.columns)))
    if isinstance(given.model, Coupled) and not given.model.by_distance and not given.by:
        yield f"Each {each} is one unit of the {given.title} model, or independent of all of them."
    yield from _of_steps(given, schema, knowledge)
    if given.model.has_values:
        yield from _of_states(given, schema, each)
    if given.panel and not given.missing_says_nothing:
        yield MISSING_STEP.format(order=given.order)
    elif isinstance(given.model, Coupled) and (
        given.panel or schema.neighbours == "add_remove" or schema.unit.may_be_absent
    ):
        yield PRESENCE.format(each=each)


def _of_steps(given: Declared, schema: Schema, knowledge: Knowledge) -> Iterator[str]:
    """Say what it takes for rows or persons to be the steps of a series."""
    by_rows = schema.unit.person is None or given.panel
    if given.order:
        yield ORDERED.format(order=given.order, many=schema.unit.many if by_rows else "persons")
    if given.order and not by_rows:
        yield ONE_STEP.format(order=given.order)
    if given.panel:
        yield EVERY_STEP.format(order=given.order, title=given.title)
    elif (
        isinstance(given.model, Chained | EndlessChain)
        and given.model.initial is not None
        and knowledge == "model"
    ):
        yield NO_GAPS


def _of_states(given: Declared, schema: Schema, each: str) -> Iterator[str]:
    """Say what it takes for some columns of a row to be its state."""
    states = given.states(schema)
    listed = ", ".join(map(repr, states))
    if schema.unit.most_rows > 1 and not given.panel:
        yield f"All rows of a person agree in {listed}, and given that a person's rows say nothing about others."
    elif given.aside(schema):
        yield f"Given {listed}, the other columns of a {each} say nothing about any other {each}."
