"""How much of a reserve an answer takes: what `reserve` has proved, and a refusal of everything else."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from entwined.errors import Refused
from entwined.queries import Predicate, Reach, Statistic
from entwined.queries.aggregates import CountOf, TableOf
from entwined.queries.predicate import codes_in
from entwined.queries.sensitivity import Sensitivity
from entwined.schema import Coded, Schema

ONLY: Final = (
    "Within a reserve ask for counts and histograms of one column, or leave reserve out and ask once."
)


def weight_of(
    statistic: Statistic, schema: Schema, reserved: Sequence[str], order: Coded | None
) -> tuple[Reach, ...]:
    """Give the column that is read, the codes that are held, and twice the most of them that share a cell.

    Twice, because the loss ρ of a squared change D is D/2 of one over the variance, and a weight is ‖A‖² of it. A
    number over several steps of a panel holds its codes at each of them. Where nothing that is protected is read,
    nothing is taken. A count of most codes is what the count of the others leaves of one row, so of cells the fewer
    ones count.
    """
    aggregate = statistic.aggregate
    if not isinstance(aggregate, CountOf | TableOf) or statistic.selects or statistic.filling:
        raise Refused(f"It is no count and no histogram with noise added. {ONLY}")
    column = _column(aggregate, schema, reserved, order)
    if column is None:
        return ()
    where = aggregate.where
    weight = _most_in_a_cell(aggregate, column, order)
    fewer = column.size - weight
    if (
        isinstance(aggregate, CountOf)
        and where.columns == (column.name,)
        and order is None
        and fewer < weight
    ):
        where, weight = ~where, fewer
    return (_reach(where, weight, column.name),) if weight else ()


def reserved_count(
    statistic: Statistic, conditions: Mapping[str, Predicate], order: Coded | None
) -> tuple[Reach, ...]:
    """Give what a count takes of the reserve of its own condition, if it has one: its change, once for each step."""
    aggregate = statistic.aggregate
    if not isinstance(aggregate, CountOf):
        return ()
    where, steps = aggregate.where, 1
    if order is not None:
        ranges = where.codes(order.name, order.size)
        steps = sum(min(high, order.levels - 1) + 1 - low for low, high in ranges if low < order.levels)
    for name, condition in conditions.items():
        alone = condition if order is None else condition & codes_in(order.name, order.size, ranges)
        if where == alone and steps:
            moved = Fraction(steps)
            return (Reach(where, Sensitivity(moved, moved), name, reserved=True),)
    return ()


def _reach(where: Predicate, weight: int, column: str) -> Reach:
    twice = Fraction(2 * weight)
    return Reach(where, Sensitivity(twice, twice), column, reserved=True)


def _column(
    aggregate: CountOf | TableOf, schema: Schema, reserved: Sequence[str], order: Coded | None
) -> Coded | None:
    """Find the one reserved column that is read; where only presence at a step is, the one of fewest codes."""
    if order is None:
        read = sorted(name for name in aggregate.reads if not schema.coded(name).public)
    else:
        read = sorted(aggregate.reads - {order.name})
    if len(read) > 1:
        raise Refused(f"It reads the columns {' and '.join(map(repr, read))}. {ONLY}")
    if read and read[0] not in reserved:
        raise Refused(
            f"It reads the column {read[0]!r}, and nothing is reserved for it, or for a condition alone. Ask for what "
            "is reserved, which was fixed before the first answer."
        )
    if read:
        return schema.coded(read[0])
    if order is not None and not reserved:
        raise Refused("It counts who is there, and only conditions are reserved for. Ask for one of these.")
    return None if order is None else min(map(schema.coded, reserved), key=lambda column: column.size)


def _most_in_a_cell(aggregate: CountOf | TableOf, column: Coded, order: Coded | None) -> int:
    """How many codes, at whichever steps, one number counts at most."""
    sides = {axis.column: axis for axis in aggregate.sides}
    cells: Counter[tuple[int | None, ...]] = Counter()
    for step, where in _by_step(aggregate.where, order):
        for low, high in where.codes(column.name, column.size):
            for code in range(low, high + 1):
                read = {column.name: code} if order is None else {column.name: code, order.name: step}
                cells[tuple(sides[name].cell(read[name]) for name in sides if name in read)] += 1
    return max(cells.values(), default=0)


def _by_step(where: Predicate, order: Coded | None) -> Iterator[tuple[int, Predicate]]:
    """Cut a condition into the steps of a panel."""
    if order is None:
        yield 0, where
        return
    for low, high in where.codes(order.name, order.size):
        for step in range(low, min(high, order.levels - 1) + 1):
            yield step, where & codes_in(order.name, order.size, ((step, step),))
