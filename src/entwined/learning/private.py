"""A tree or network learned from the private rows themselves, with a budget: charged before a row is read.

Half of the budget or so goes to the structure, by the exponential mechanism, and the rest to the tables of each
column with its parents, released with noise through the door. Both charges are base losses like any other, so a
release after it pays for them once, together with its own.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final
from uuid import uuid4

import numpy as np

from entwined.bounds import Knowledge
from entwined.canonical import canonical, fraction_text, sha256
from entwined.dependence import Box, Dependence
from entwined.door.running import run_charged
from entwined.door.witnessed import witnessed
from entwined.errors import BadSchema, Refused
from entwined.learning.models import SMOOTHING, Learned, as_network, chance_intervals, chances
from entwined.learning.selection import Search, most_moved, public_rows
from entwined.learning.structure import Parents
from entwined.ledger import Charge, Ledger
from entwined.mechanisms.batch import Added, plan
from entwined.noise import DiscreteLaplace, ExponentialChoice
from entwined.noise.lattice import probability
from entwined.numbers import IntArray, positive_fraction
from entwined.promise.declared import Declared
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.promise import Promise
from entwined.queries import Axis, Marginal, TableOf, everything
from entwined.request.releasing import Table, release
from entwined.schema import Cells, Coded, Schema

FAILED: Final = (
    "The rows could not be read, and nothing was learned. What was charged stays charged. "
    "The holder finds out why by opening the table again."
)


@dataclass(frozen=True, slots=True)
class Budget:
    """Base losses for learning: of all choices of parents together, and of all tables together.

    With unit cells they are the losses of the column that loses most.
    """

    structure: Fraction
    tables: Fraction

    @classmethod
    def of(cls, structure: str | float | Fraction, tables: str | float | Fraction) -> "Budget":
        """Read both exactly."""
        return cls(positive_fraction(structure, "Structure loss"), positive_fraction(tables, "Tables loss"))


@dataclass(frozen=True, eq=False)
class NoisyTables:
    """What was learned with a budget: parents and noisy counts of each column with them, and the noise.

    `agreed` are the same counts after they were made to agree with each other and none is negative.
    """

    names: tuple[str, ...]
    parents: Parents
    counts: tuple[IntArray, ...]
    agreed: tuple[IntArray, ...]
    noise: DiscreteLaplace
    rows: int

    def smoothed(self, added: float | str | Fraction = SMOOTHING) -> Learned:
        """Take the counts that agree with each other, plus `added`: a likely model, trusted as it is."""
        more = float(positive_fraction(added, "Smoothing"))
        tables = [chances(np.maximum(counts, 0), more) for counts in self.agreed]
        return self._learned(tables, f"{more:g} added to every noisy count")

    def with_margin(self, confidence: str | float | Fraction) -> Learned:
        """Take all laws that the noise and the sample leave open, at this confidence for all chances together.

        Half of what may be missed goes to the noise, half to the sample.
        """
        missed = 1 - probability(confidence, "Confidence")
        cells = sum(counts.size for counts in self.counts)
        reach = self.noise.accuracy(missed / (2 * cells))
        boxes = [
            chance_intervals(
                np.maximum(counts - reach, 0), np.maximum(counts + reach, 0), float(missed) / (2 * cells)
            )
            for counts in self.counts
        ]
        return self._learned(boxes, f"intervals of confidence {float(1 - missed):g}")

    def _learned(self, tables: Sequence[Box], how: str) -> Learned:
        model = as_network(self.names, self.parents, tables, "learned")
        return Learned(model, "the private table with a budget", self.rows, how)


def learn_privately(  # noqa: PLR0913  (a release is described by so many public choices)
    table: Table,
    budget: Budget,
    *,
    ledger: Ledger,
    parents: int = 1,
    dependence: Iterable[Declared | Dependence] = (),
    knowledge: Knowledge = "any",
    request: str | None = None,
) -> NoisyTables:
    """Choose up to `parents` parents for every column, and release its table with them.

    The ledger, models and knowledge are those of any release from this table. The choices are exact draws, and
    the number of choices, the order of candidates and the size of tables depend on the schema alone.
    """
    schema = table.schema
    schema.require_approval()
    columns = _columns(schema)
    given = tuple(dependence)
    promise = Promise.of(schema, given, knowledge)
    _refuse_picked(promise)
    ledger.require(promise)
    search = _search(schema, columns, budget, parents)
    name = request or uuid4().hex
    charge = _charge(table, promise, search, columns, budget.structure, name)
    found = _choose(table, search, columns, charge, ledger)
    asked = [
        Marginal(tuple(columns[one].name for one in (*each, column))) for column, each in enumerate(found)
    ]
    planned = plan(schema, asked, loss=budget.tables, dependence=given, knowledge=knowledge)
    released = release(
        table, asked, ledger=ledger, loss=budget.tables, dependence=given, knowledge=knowledge,
        request=f"{name}-tables",
    )  # fmt: skip
    answers = [released.of(query) for query in asked]
    shapes = [[search.sizes[one] for one in (*each, column)] for column, each in enumerate(found)]
    drawn, agreed = (
        tuple(
            np.array(each, dtype=np.int64).reshape(shape) for each, shape in zip(tables, shapes, strict=True)
        )
        for tables in ([one.numbers[0] for one in answers], [one.value for one in answers])
    )
    names = tuple(one.name for one in columns)
    return NoisyTables(names, found, drawn, agreed, _widest(planned.statistics), search.rows)


def _refuse_picked(promise: Promise) -> None:
    """Refuse models that leave rows out: how many are left is not public, and scores are measured by it."""
    kept = promise.kept
    if kept is not None:
        raise Refused(
            f"The model {kept.title!r} keeps at most {kept.most} rows for each value of {kept.by!r}, and learning "
            "scores tables by a public number of rows, which nobody knows of those that are kept. Learn from a "
            "public table, or leave `by` out and vouch for the size of groups yourself."
        )


def _widest(statistics: Iterable[object]) -> DiscreteLaplace:
    """Give the noise of the tables; they all have the same."""
    laws = [one.law for one in statistics if isinstance(one, Added) and isinstance(one.law, DiscreteLaplace)]
    return max(laws, key=lambda law: law.scale)


def _columns(schema: Schema) -> tuple[Coded, ...]:
    found = tuple(column for column in schema.columns if isinstance(column, Coded))
    dropped = [column.name for column in found if column.missing == "drop"]
    if dropped:
        raise BadSchema(
            f"Column {dropped[0]!r} drops missing values, and a row that is in some tables only cannot be "
            'scored. Learning with a budget needs missing = "value".'
        )
    return found


def _search(schema: Schema, columns: tuple[Coded, ...], budget: Budget, parents: int) -> Search:
    """Fix everything public: how sharp a choice is, and how noisy the tables will be if all losses add up."""
    steps = max(1, len(columns) - 1)
    return Search(
        tuple(column.size for column in columns),
        public_rows(schema),
        parents,
        2 * len(columns) / budget.tables,
        ExponentialChoice.for_loss(budget.structure / steps, most_moved(schema)),
    )


def _charge(
    table: Table,
    promise: Promise,
    search: Search,
    columns: tuple[Coded, ...],
    loss: Fraction,
    request: str,
) -> Charge:
    """Say what the choices cost; the same choices from the same table under the same terms are one question."""
    names = [column.name for column in columns]
    document = {
        "learning": "parents by the exponential mechanism",
        "columns": names,
        "parents": search.parents,
        "rate": fraction_text(search.choice.rate),
        "noise_scale": fraction_text(search.noise_scale),
    }
    where = str(getattr(table, "identity", ""))
    parts = _parts(table.schema, names, loss)
    fingerprint = sha256(canonical([where, promise.identity, document, fraction_text(loss)]))
    return Charge(f"{request}-structure", fingerprint, parts, "holder", document)


def _choose(
    table: Table, search: Search, columns: tuple[Coded, ...], charge: Charge, ledger: Ledger
) -> Parents:
    """Charge, read the exact tables, choose, settle; who asks again gets the same choice."""
    aggregates = [
        TableOf(tuple(Axis(columns[one].name, columns[one].levels) for one in scope), everything())
        for scope in search.scopes
    ]
    table.check(aggregates)
    with witnessed(table, ledger):
        receipt = ledger.reserve(charge)
        answer = receipt.answer
        if answer is None:
            answer = run_charged(ledger, receipt, lambda: _drawn(table, search, aggregates), FAILED)
    return tuple(map(tuple, json.loads(answer)))


def _drawn(table: Table, search: Search, aggregates: list[TableOf]) -> bytes | None:
    """Read and choose."""
    exact = table.answer(aggregates)
    counts = {
        scope: np.array(found, dtype=np.int64).reshape([search.sizes[one] for one in scope])
        for scope, found in zip(search.scopes, exact, strict=True)
    }
    if any(int(found.sum()) != search.rows for found in counts.values()):
        return None  # the schema is wrong about the number of rows, and scores would move further
    return canonical(search.run(counts, search.choice.choose)).encode()


def _parts(schema: Schema, names: list[str], loss: Fraction) -> tuple[Part, ...]:
    """Say where the loss of the choices falls: on the rows, or on every column, for all are looked at."""
    if isinstance(schema.unit, Cells):
        return tuple(Part(key_of(everything(), name), loss, loss) for name in names)
    return (Part(key_of(everything(), None), loss, loss),)
