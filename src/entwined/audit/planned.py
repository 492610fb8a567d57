"""The stage of a planned release: people made up of what a model says, and the numbers that would be published.

No row of any table is read. Over rows and persons the people of one group, series or network are all there is: whoever
else is in a real table is independent of them, and the attacker is taken to know that part. Over cells it is one
respondent. Where a model leaves values open, each of its units is one of two rows that the numbers tell apart best.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Final, TypeAlias

import numpy as np

from entwined.audit.neighbours import MOST_TRIED, Row, added, at_step, columns_read, two_rows
from entwined.audit.row_adds import Codes, RowAdds
from entwined.audit.staging import STRANGERS, Circle, Noised, Stage, place_of
from entwined.audit.vectors import Addend, NoisyVector
from entwined.dependence import Independent
from entwined.errors import Refused
from entwined.mechanisms.asked import Asked
from entwined.mechanisms.batch import Batch, plan_batch
from entwined.numbers import IntArray
from entwined.promise.declared import Declared
from entwined.queries import Aggregate
from entwined.request.request import Request
from entwined.schema import Coded, Schema

MOST_STATES: Final = 20_000
ABSENT: Final = "not in the table"


def staged_release(request: Request, target: str | None = None) -> list[Stage]:
    """Set the stage for each declared model of a request; without one, for independent units."""
    request.require_queries("attacked")
    terms = request.terms
    amount = terms.leakage or terms.loss or Fraction(1)
    promise = request.promise
    kept, plain = (
        plan_batch(
            promise, request.queries, leakage=leak, loss=loss, shares=terms.shares, noise=request.noise
        )
        for leak, loss in ((amount, None), (None, amount))
    )
    declared = {name: one for name, (one, _) in promise.judges.items()}
    alone = {"independent": Declared(Independent(STRANGERS))}
    return [_staged(name, one, amount, kept, plain, target) for name, one in (declared or alone).items()]


def _staged(
    name: str, one: Declared, amount: Fraction, kept: Batch, plain: Batch, target: str | None
) -> Stage:
    cast = _cells if kept.schema.unit.by_column else _rows
    place = place_of(one.model, target, one.variables(kept.schema) if kept.schema.unit.by_column else ())
    circle, units, values, addends = cast(one, kept, place)
    left_out = tuple(_words(asked) for asked in kept.statistics if not _is_seen(asked))
    if len(left_out) == len(kept.statistics):
        raise Refused(
            "Nothing of this release is noise added to integers, so there is nothing to attack here."
        )

    def noised(batch: Batch) -> Noised:
        each = zip(batch.statistics, addends, strict=True)
        shown = tuple(NoisyVector(adds, asked.noise) for asked, adds in each if asked.noise and adds)
        return Noised(shown, float(batch.price.leakage.get(name, batch.price.nominal)))

    whose = name, one.model, circle.place, circle.law
    return Stage(*whose, float(amount), noised(plain), noised(kept), units, values, left_out)


_Cast: TypeAlias = tuple[Circle, tuple[str, ...], tuple[tuple[str, ...], ...], list[tuple[Addend, ...]]]


def _rows(one: Declared, batch: Batch, place: int) -> _Cast:
    """Let every unit be a row, or all rows of a person: the same row as often as counts."""
    schema = batch.schema
    states = one.states(schema)
    rows = list(_states(one, states, batch)) if states else list(two_rows(batch))
    circle = Circle.of(one.model, place, len(rows))
    law = circle.law
    if any(law.sizes[unit] != len(rows) for unit in law.people):
        raise Refused(
            f"The model {one.title!r} has other values than rows of this table. Attack the model itself."
        )
    addends = []
    for asked in batch.statistics:
        each = (
            Addend((unit,), _adds(asked, one, batch, rows, place))
            for unit, place in zip(law.people, circle.people, strict=True)
        )
        addends.append(tuple(each) if _is_seen(asked) else ())
    named = tuple(_row_words(schema, row) for row in rows)
    return circle, tuple(map(one.model.called, circle.people)), (named,) * len(law.people), addends


def _adds(asked: Asked, one: Declared, batch: Batch, rows: Sequence[Row], place: int) -> IntArray:
    """Give what a unit adds, by the row that it holds: in a panel at its own step, a person of one at every step."""
    order = batch.promise.steps
    if order is None or not (one.panel or batch.promise.is_of_persons):
        return added(asked, rows) * batch.schema.unit.most_rows
    steps = (place,) if one.panel else range(order.levels)
    there = [[None if row is None else at_step(row, order, step) for row in rows] for step in steps]
    return np.asarray(sum(added(asked, turn) for turn in there), dtype=np.int64)


def _cells(one: Declared, batch: Batch, place: int) -> _Cast:
    """Let every unit be a cell of one respondent; all other respondents are known."""
    schema, names = batch.schema, one.variables(batch.schema)
    if one.worked_out:
        raise Refused(
            f"The model {one.title!r} has columns that are worked out from others. Attack it without them."
        )
    circle = Circle.of(one.model, place, 2)
    people = tuple(names[unit] for unit in circle.people)
    codes = {
        unit: _codes(schema.coded(name), circle.law.sizes[unit], name in one.missing_says_nothing)
        for unit, name in zip(circle.law.people, people, strict=True)
    }
    named = dict(zip(circle.law.people, people, strict=True))
    addends = [
        _cell_addends(asked, named, codes, schema) if _is_seen(asked) else () for asked in batch.statistics
    ]
    values = tuple(
        tuple(_value_words(schema.coded(named[unit]), code) for code in codes[unit]) for unit in named
    )
    return circle, people, values, addends


def _codes(column: Coded, size: int, without: bool) -> Sequence[int]:  # noqa: FBT001  (whether missing is left out)
    """Say which code each value of a unit is: all of a column's, or the first and the last where values are open."""
    return range(size) if size == column.size - without else (0, column.levels - 1)


def _cell_addends(
    asked: Asked, named: Mapping[int, str], codes: Mapping[int, Sequence[int]], schema: Schema
) -> tuple[Addend, ...]:
    """Say what the cells that a statistic reads add; columns that are no units are as they make it matter most."""
    aggregate = asked.statistic.aggregate
    scope = tuple(unit for unit, name in named.items() if name in aggregate.reads)
    sizes = [len(codes[unit]) for unit in scope]
    if prod(sizes) > MOST_STATES:
        raise Refused(
            f"A statistic reads {prod(sizes):,} joint values, and an attack takes {MOST_STATES:,} at most."
        )
    others = sorted(aggregate.reads - {named[unit] for unit in scope})
    tried = []
    every = itertools.product(*(range(schema.coded(name).size) for name in others))
    for fixed in itertools.islice(every, MOST_TRIED):
        beside = dict(zip(others, fixed, strict=True))
        cells = itertools.product(*(codes[unit] for unit in scope))
        rows = [beside | dict(zip((named[unit] for unit in scope), cell, strict=True)) for cell in cells]
        tried.append(RowAdds(rows).to(aggregate))
        if np.ptp(tried[-1], axis=0).any():
            break
    numbers = max(tried, key=lambda found: int(np.ptp(found, axis=0).sum()))
    return (Addend(scope, numbers.reshape(*sizes, -1)),) if scope else ()


def _states(one: Declared, columns: Sequence[str], batch: Batch) -> Iterator[Codes]:
    """Give the row of every state of a model, the last column's codes changing first."""
    schema = batch.schema
    sizes = [schema.coded(name).size - (name in one.missing_says_nothing) for name in columns]
    if prod(sizes) > MOST_STATES:
        raise Refused(
            f"The model {one.title!r} has {prod(sizes):,} states. An attack takes {MOST_STATES:,} at most."
        )
    beside = dict.fromkeys(columns_read(batch), 0)
    for codes in itertools.product(*map(range, sizes)):
        yield beside | dict(zip(columns, codes, strict=True))


def _is_seen(asked: Asked) -> bool:
    """Whether it is noise added to integers: choices and filled blanks are not looked at."""
    return asked.noise is not None and not asked.statistic.filling


def _words(asked: Asked) -> str:
    aggregate: Aggregate = asked.statistic.aggregate
    how = "chosen by" if asked.chooser else "filled blanks of"
    return f"{how} {', '.join(sorted(aggregate.reads)) or 'rows'}"


def _row_words(schema: Schema, row: Row) -> str:
    if row is None:
        return ABSENT
    said = [f"{name} = {_value_words(schema.coded(name), code)}" for name, code in row.items()]
    return ", ".join(said) or "in the table"


def _value_words(column: Coded, code: int) -> str:
    return "missing" if code == column.missing_code else str(column.value(code))
