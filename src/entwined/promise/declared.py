"""What a dependence model is about in a table: which rows, persons or columns its units are.

Over rows (or persons) every unit has the same loss, so it does not matter which row is which unit of the
model, only that no group is larger and no series longer than the model says. With `by` that is enforced:
the engine keeps at most so many rows with the same value in that column, picked by those rows alone.

Why the group bound also holds for the rows that are left out. Whatever a group's rows are, at most k of them
are kept. So any two values of a whole group, however many rows it has, give kept rows that are at most k
replacements apart, and the output laws differ by at most k losses, whichever row the secret is about.

Why the loss of a row stays the same. The rows kept are the first k by lots that hang on each row's own content
(see `tables.picking`), so changing one row of a group changes the kept ones by one replacement. In a series one row
a step is kept, by lot, and which steps are kept is public: changing what a row holds beside its step changes one kept
row at most.
Taking a row away can let another one in: with `by`, what adding or removing a row costs is therefore what a
replacement costs.

Where persons are protected, persons are kept, each with the rows that count: k of a group (one of a node), by lots of
their ids, which their rows have no say in. A person's group is the least that any of the person's rows names, so it is
public as that column is, and both arguments hold word for word of persons instead of rows. So it is in a series, whose
steps are then persons: a person stands at the least step that any of the person's rows names, and of several at one
step one counts. In a panel a series is a person, and its steps are that person's rows: see `panel`.

Why a series may be cut at its end. The steps kept are the first by the `order` column, which is public, and they
are a chain of that length. What is known of later steps, all or some of them or any function of each, multiplies
the law of the kept ones by a function of the last kept step alone: a tilt of its law. A theorem for knowledge
any holds for every tilt of every unit's law, so it holds with later steps known; under knowledge model nothing
is known of them, and summed out they leave the chain of the kept ones as it is. A secret step that was cut leaks
no more than the last one kept: given its value, what is released has the law of a mixture over the values of
the last kept step, so the ratio of two such mixtures is within the range that the leakage of that step bounds.

Why steps may be missing before or between those kept, under knowledge any. From one kept step to the next leads a
product of kernels Q = P D P … P, where each D is a known function of a missing step, or all ones. The columns of Q
are non-negative combinations of those of P, so the log odds of Q are at most those of P, and log odds are all that
those theorems use. Under knowledge model the law of every step counts, and with it the step's true number, which
missing rows put off: there it is trusted that none is missing, wherever a chain has an initial law to be used.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from entwined.bounds import Exposure
from entwined.bounds.outside import theorems_of
from entwined.canonical import Document, fraction_text
from entwined.dependence import (
    BayesNet,
    Chained,
    City,
    Dependence,
    Edged,
    EndlessChain,
    Forms,
    GaussianLaws,
    Graph,
    Groups,
    Independent,
    RandomField,
    Ties,
)
from entwined.dependence.model import MOST_UNITS
from entwined.errors import BadModel, Refused
from entwined.numbers import Amount, positive_fraction
from entwined.promise.city_columns import AS_A_GRAPH, check_places, reach
from entwined.promise.distances import Along, check_distances
from entwined.promise.domains import check_cells, check_rows
from entwined.promise.gates import Gates
from entwined.promise.measure import Measure
from entwined.promise.panel import check_panel, check_panel_of_persons
from entwined.promise.worked_out import check_worked_out
from entwined.schema import Coded, Ordered, Person, Schema

ADMITTED: Final = (
    Independent, Groups, Chained, EndlessChain, Graph, Ties, BayesNet, RandomField, Forms, GaussianLaws,
)  # fmt: skip
SERIES: Final = (Chained, EndlessChain)


@dataclass(frozen=True, eq=False)
class Declared:
    """A model with what its units are in the table.

    Over rows and persons: `by` names the column that says which group, series or node a row belongs to, `order`
    the one that orders the steps of a series, and `columns` those whose joint values are a row's state in the
    model, all of them if none is named. Over cells: `columns` says which column each unit of the model is, where
    the model does not name its variables itself. In columns of `missing_says_nothing` the model leaves missing
    out, as the holder confirmed that whether one is missing says nothing about anything; of those of `never_missing`
    the holder says that no row lacks a value, and the model leaves missing out too. A column of `worked_out` is no
    unit of the model: given the one that it names, it says nothing about any other. Both are taken as one unit.
    `trusting` names distributions outside the package whose theorems are asked about the model too. In a `panel` the
    values of `order` are the steps of the chain, the same for every series: see `panel`. Of places in a city, whose
    cells are the values of two `columns`, secrets are pairs no further apart than `within`, or any pairs.
    """

    model: Dependence
    by: str | None = None
    order: str | None = None
    columns: tuple[str, ...] = ()
    name: str = ""
    missing_says_nothing: tuple[str, ...] = ()
    worked_out: Mapping[str, str] = field(default_factory=dict)
    trusting: tuple[str, ...] = ()
    panel: bool = False
    never_missing: tuple[str, ...] = ()
    within: Amount | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.model, Dependence):
            raise BadModel(f"{self.model!r:.60} is no model. Give Groups(…), MarkovChain(…), …")
        if not isinstance(self.panel, bool):
            raise BadModel(f"panel = {self.panel!r:.60}. Give true or false.")
        for listed in ("columns", "missing_says_nothing", "trusting", "never_missing"):
            object.__setattr__(self, listed, tuple(getattr(self, listed)))
        more = tuple(name for name in self.never_missing if name not in self.missing_says_nothing)
        object.__setattr__(self, "missing_says_nothing", self.missing_says_nothing + more)
        if isinstance(self.model, Edged):
            object.__setattr__(self, "model", self.model.published)
        if self.within is not None:
            object.__setattr__(self, "within", positive_fraction(self.within, "The distance `within`"))

    def by_distance(self, schema: Schema) -> bool:
        """Whether it speaks of the distances of values in its columns."""
        return self.model.by_distance or self._has_places(schema)

    def _has_places(self, schema: Schema) -> bool:
        """Whether its cells are the values of columns that rows have; over cells a column is a unit of its own."""
        return isinstance(self.model, City) and bool(self.columns) and not schema.unit.by_column

    def along(self, base: Along, own: Fraction, schema: Schema, measure: Measure) -> Exposure:
        """Say what losses along the distances of its columns show of its units."""
        columns = [schema.coded(name) for name in self.columns]
        if isinstance(self.model, City):
            return base.of_places(own, columns, self._reach(self.model), self.model.units)
        return base.of_values(own, columns[0], self.model.units, measure)

    def check_columns(self, schema: Schema) -> None:
        """Refuse columns whose distances are not those that the model speaks of."""
        about = self.columns, self.missing_says_nothing, schema
        if isinstance(self.model, City):
            check_places(self.title, self.model, *about)
            self._reach(self.model)
        else:
            check_distances(self.title, *about)

    def _reach(self, city: City) -> Fraction:
        """How far apart two places of a secret are at most."""
        return reach(self.title, city, None if self.within is None else Fraction(self.within))

    @property
    def title(self) -> str:
        """What the model is called in prices."""
        return self.name or (f"{self.model.kind} by {self.by}" if self.by else self.model.kind)

    @property
    def document(self) -> Document:
        """The declaration as JSON."""
        about: Document = {
            "by": self.by,
            "order": self.order,
            "columns": list(self.columns),
            "name": self.name,
        }
        about["missing_says_nothing"] = list(self.missing_says_nothing)
        about["worked_out"] = dict(self.worked_out)
        about["trusting"] = list(self.trusting)
        about["panel"] = self.panel
        about["never_missing"] = list(self.never_missing)
        about["within"] = "" if self.within is None else fraction_text(Fraction(self.within))
        return {key: value for key, value in about.items() if value} | {"model": self.model.document}

    def variables(self, schema: Schema) -> tuple[str, ...]:
        """Over cells: the column of each unit."""
        if self.columns:
            return self.columns
        if isinstance(self.model, BayesNet | RandomField | Forms):
            return self.model.names
        return tuple(
            column.name for column in schema.columns if isinstance(column, Coded) and not column.public
        )

    @property
    def most(self) -> int:
        """How many rows of a group, a series or a node are kept."""
        match self.model:
            case Groups(largest=most) | Chained(length=most):
                return most
            case GaussianLaws(units=most):
                return most
            case EndlessChain():
                return MOST_UNITS
        return 1

    def states(self, schema: Schema) -> tuple[str, ...]:
        """Over rows: the columns whose joint values are a row's state, if the model has states."""
        if self.columns or not self.model.has_values:
            return self.columns
        return self._held(schema)

    def aside(self, schema: Schema) -> tuple[str, ...]:
        """Over rows: the columns that can be read and are no part of a row's state."""
        return tuple(name for name in self._held(schema) if name not in self.states(schema))

    def _held(self, schema: Schema) -> tuple[str, ...]:
        """What a row holds beside the columns that say where it belongs."""
        person = schema.unit.id_column
        return tuple(
            column.name
            for column in schema.columns
            if isinstance(column, Coded) and column.name not in (self.by, self.order, person)
        )

    def check(self, schema: Schema, *, pure: bool = True) -> None:
        """Refuse what cannot be guaranteed for a table under this schema, by pure losses or with a δ."""
        self._check_origin()
        theorems_of(self.trusting)
        if schema.unit.shares_rows and not isinstance(self.model, Independent):
            raise Refused(
                f"The model {self.title!r} is about {schema.unit.many} that have values of their own, and an edge is "
                "of two of them. Protect rows to declare what depends on what between edges, or leave the model out."
            )
        if not isinstance(self.model, ADMITTED):
            raise Refused(
                f"The model {self.title!r} is {self.model.kind}, and no release is made under such a model. Declare "
                "groups, a chain or a graph instead."
            )
        for listed in (self.columns, self.missing_says_nothing, self.never_missing):
            if len(set(listed)) < len(listed):
                raise BadModel(f"The model {self.title!r} names a column twice. Name each column once.")
        if self.within is not None and not self._has_places(schema):
            raise BadModel(
                f"The model {self.title!r} says how near two places of a secret are, and has no places: it needs kind "
                '"places", rows as units, and in `columns` the two that tell where a row is. Or leave `within` out.'
            )
        if self._has_places(schema) and not pure:
            raise Refused(
                f"The model {self.title!r} is about places by their distance, which no theorem with a δ covers. Leave "
                f"delta out. {AS_A_GRAPH}"
            )
        check_worked_out(self.title, self.worked_out, self.variables(schema), schema)
        if schema.unit.by_column:
            _check_cells(self, schema)
        else:
            _check_rows(self, schema)

    def _check_origin(self) -> None:
        """Refuse what was learned from private rows without a charge, or does not name it."""
        if self.model.source == "exploratory":
            raise Refused(
                f"The model {self.title!r} was learned from the private table without a budget, so it is for "
                "planning only. Declare it, learn it from a public table, or learn it with a budget."
            )
        if self.model.source == "learned" and self.model.learned_from is None:
            raise Refused(
                f"The model {self.title!r} was learned with a budget and does not name its charge. Learn it again, or "
                "declare it."
            )


def _check_cells(given: Declared, schema: Schema) -> None:
    if given.by_distance(schema):
        raise BadModel(
            f"The model {given.title!r} is over one column of rows that belong together, and the schema protects "
            "cells. Protect rows, or declare a model of the columns' values."
        )
    if given.by or given.order or given.panel:
        raise BadModel(
            f"The model {given.title!r} is over the cells of a row, and names a column of groups or steps. "
            "Leave `by`, `order` and `panel` out, or protect rows."
        )
    if isinstance(given.model, Forms):
        _check_forms(given, given.model, schema)
    names = given.variables(schema)
    public = [name for name in schema.public_columns if name in names]
    if public:
        raise BadModel(
            f"The model {given.title!r} has the column {public[0]!r}, and the schema says that it is public. Give a "
            "model of the other columns that holds for whoever knows it, or let the column be a secret."
        )
    if not given.model.fits(len(names)):
        raise BadModel(
            f"The model {given.title!r} has {given.model.units} units and {len(names)} columns are named for "
            "them. Say in `columns` which column each unit is."
        )
    check_cells(given.title, given.model, names, given.missing_says_nothing, schema)


def _check_forms(given: Declared, model: Forms, schema: Schema) -> None:
    if given.columns:
        raise BadModel(
            f"The model {given.title!r} names its columns itself: the questions and the form. Leave `columns` out."
        )
    Gates(model, schema)


def _check_rows(given: Declared, schema: Schema) -> None:
    if isinstance(given.model, Forms):
        raise BadModel(
            f"The model {given.title!r} is over the answers of one respondent, but the schema protects "
            f'{schema.unit.kind}. Give unit = {{kind = "cells"}}, or declare groups.'
        )
    if given.by_distance(schema):
        given.check_columns(schema)
    elif given.columns and not given.model.has_values:
        raise BadModel(
            f"The model {given.title!r} names columns and has no values, and the schema protects "
            f'{schema.unit.kind}. Give unit = {{kind = "cells"}}, or leave `columns` out.'
        )
    if given.order and not (given.by and isinstance(given.model, SERIES)):
        raise BadModel(f"The model {given.title!r} has an order and no series. Give a chain and `by`.")
    if given.panel and not given.order:
        raise BadModel(
            f"The model {given.title!r} is over a panel, and no column says which step a row is of. Give a chain, and "
            "name the columns `by` and `order`."
        )
    if given.by:
        _check_kept(given, schema)
    elif isinstance(given.model, Chained):
        longest = schema.rows_at_most
        if given.model.length < longest:
            raise Refused(
                f"The chain has {given.model.length} steps, and the schema allows {longest:,} rows. Declare "
                "a smaller most_rows, give a longer chain (it costs little more), or name the series by a "
                "column."
            )
    if not given.by_distance(schema):
        check_rows(given.title, given.model, given.states(schema), given.missing_says_nothing, schema)


def _check_kept(given: Declared, schema: Schema) -> None:
    schema.grouping(str(given.by))
    if isinstance(given.model, Independent):
        raise BadModel("Independent rows have no groups. Leave `by` out.")
    if not isinstance(given.model, SERIES):
        return
    if given.order is None:
        raise BadModel(f"A series by {given.by!r} has no order. Name the column that orders its steps.")
    if not isinstance(schema.coded(given.order), Ordered):
        raise BadModel(f"Column {given.order!r} has no order. Take an integer, a real number or a moment.")
    if schema.unit.person is not None:
        _check_steps_of_persons(given, schema.unit.person, schema.coded(given.order))
    if given.panel:
        check_panel(given.title, given.model, schema.coded(given.order))


def _check_steps_of_persons(given: Declared, person: Person, order: Coded) -> None:
    if isinstance(given.model, EndlessChain):
        raise Refused(
            f"The model {given.title!r} has no end, and the schema protects all rows of a {person.name} together: what "
            "is shown of a course without an end adds up for ever. Protect rows, each of which is a step, or declare "
            "a panel with an end."
        )
    if given.panel and person.row_share is not None:
        raise Refused(
            f"The model {given.title!r} is over a panel, of which one row a step counts, and the schema scales the "
            f'rows of a {person.name}. Declare beyond = "sample" in the unit.'
        )
    if given.panel:
        check_panel_of_persons(given.title, str(given.by), order, person)
    elif given.by == person.column:
        raise Refused(
            f"The model {given.title!r} is over series by {given.by!r}, which names a {person.name}, and in a series "
            f"of {person.name}s each step is another one. If steps are the rows of one {person.name}, declare the "
            "series as a panel (panel = true), or protect rows."
        )
