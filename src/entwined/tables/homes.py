"""Households from rows, as SQL: members are given their seats, heads stand for households, and both are counted.

Whatever is made of a household is made of its own rows alone, those that were picked of it: heads first, then the
other kinds in their order, each by lot. Without roles the first of the picked rows, by all codes, is the head.
"""

from collections.abc import Sequence

from entwined.errors import BadQuery
from entwined.queries.axes import Axis
from entwined.queries.seats import HEAD, HomeTable, Seats
from entwined.tables.cells import along, grouped
from entwined.tables.rows import CodedRows
from entwined.tables.steps import Steps, statement


def households_in(rows: CodedRows, wanted: Sequence[HomeTable]) -> str:
    """Ask for tables of households, or of members of one kind: the number of the table, the cell, the count."""
    seats, member = wanted[0].seats, wanted[0].member
    if any((one.seats, one.member) != (seats, member) for one in wanted):
        raise BadQuery("Tables of different members are asked for at once. Ask for them one after another.")
    rows, kind = rows.from_source(), _kind(rows, seats)  # who is whose is no code
    read = rows.in_order(name for one in wanted for name in one.columns)
    steps, last = rows.steps(read, (), "" if seats.role is None else kind)
    steps = [*steps, *_seated(seats, kind, last), ("households", _households(rows, seats, wanted))]
    keys = ", ".join(f"{_number(rows, one)} AS k{at}" for at, one in enumerate(wanted))
    whose = "households" if member == HEAD else "households JOIN members ON home_of = who"
    only = "" if member == HEAD else f" AND kind = {member}"
    steps = [*steps, ("keyed", f"SELECT {keys} FROM {whose} WHERE heads = 1{only}")]
    names = [f"k{at}" for at in range(len(wanted))]
    steps = [*steps, ("counted", grouped(names))]
    return statement(steps, f"SELECT which, COALESCE({', '.join(names)}, -1) AS cell, n FROM counted")


def _kind(rows: CodedRows, seats: Seats) -> str:
    """Number the kind of a row: by its role, or the head first and all others after it."""
    if seats.role is None:
        least = "ROW_NUMBER() OVER (PARTITION BY who ORDER BY place)"
        return f"CASE WHEN {least} = 1 THEN {HEAD} ELSE {HEAD + 1} END"
    code = rows.code(seats.role)
    named = " ".join(
        f"WHEN {code} IN ({', '.join(map(str, codes))}) THEN {kind}"
        for kind, codes in enumerate(seats.codes)
        if codes
    )
    return f"CASE {named} ELSE {seats.kinds - 1} END"


def _seated(seats: Seats, kind: str, last: str) -> Steps:
    """Give every row its kind, and leave out who finds the one seat of a kind taken."""
    turn = "ROW_NUMBER() OVER (PARTITION BY who, kind ORDER BY turn_picked) AS seat"
    taken = " OR ".join(f"kind = {one}" for one in seats.singles)
    return [
        ("kinds", f"SELECT {last}.*, {kind} AS kind FROM {last}"),
        ("seated", f"SELECT kinds.*, {turn} FROM kinds"),
        ("members", f"SELECT * FROM seated WHERE seat = 1 OR NOT ({taken})"),
    ]


def _households(rows: CodedRows, seats: Seats, wanted: Sequence[HomeTable]) -> str:
    """One line a household: how many members of each kind it has, and what its head says."""
    numbers = [f"COUNT(CASE WHEN kind = {HEAD} THEN 1 END) AS heads"]
    numbers += [f"COUNT(CASE WHEN kind = {kind} THEN 1 END) AS n{kind}" for kind in range(1, seats.kinds)]
    read = rows.in_order(axis.column for one in wanted for kind, axis in one.sides if kind == HEAD)
    said = [
        f"MAX(CASE WHEN kind = {HEAD} THEN {rows.code(name)} END) AS h_{rows.code(name)}" for name in read
    ]
    return f"SELECT who AS home_of, {', '.join([*numbers, *said])} FROM members GROUP BY who"


def _number(rows: CodedRows, table: HomeTable) -> str:
    """Number the cell that a household or a member is in, the last side fastest."""
    seats = table.seats
    digits = [] if table.member == HEAD else [(f"n{table.member} - 1", seats.capacity(table.member))]
    if table.composed:
        digits += [(f"n{kind}", seats.capacity(kind) + 1) for kind in range(1, seats.kinds)]
    digits += [(along(axis, _code(rows, kind, axis)), axis.cells) for kind, axis in table.sides]
    number = "0"
    for digit, size in digits:
        number = f"({number}) * {size} + {digit}"
    return number


def _code(rows: CodedRows, kind: int, axis: Axis) -> str:
    """Name the code of a member, or that of a head, which stands with its household."""
    return f"h_{rows.code(axis.column)}" if kind == HEAD else rows.code(axis.column)
