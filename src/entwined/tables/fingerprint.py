"""Know the same rows again: a digest of their codes that neither order nor spelling changes.

Each row becomes two numbers, sums of its codes times a factor for each column's name, modulo a prime. Of those the
digest takes how many there are and the sums of their powers: plain whole-number sums, in one reading of the rows.
Equal rows always give equal digests; others only by an accident of one in many billions.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Final

from entwined.dependence import LearnedFrom
from entwined.schema import Coded, Schema
from entwined.tables.rows import CodedRows
from entwined.tables.steps import statement

PRIME: Final = 2**31 - 1
SALTS: Final = ("one", "two")
MOST_CODES: Final = 2**31  # so that nothing passes 64 bits
TOGETHER: Final = 8  # columns of one sum


def fingerprint(rows: CodedRows) -> LearnedFrom:
    """Read all rows, also those that a schema by persons would leave out, and digest what they hold."""
    return digested(rows, usable(rows.schema))


def is_same(rows: CodedRows, public: LearnedFrom) -> bool:
    """Say whether the rows are those of a public table; if there are more or fewer, nothing else is read."""
    with rows.engine.reading() as reader:
        ((count,),) = reader.rows(f"SELECT COUNT(*) FROM {rows.engine.relation}")
    return int(count) == public.rows and digested(rows, public.columns).fingerprint == public.fingerprint


def digested(rows: CodedRows, names: Sequence[str]) -> LearnedFrom:
    """Digest the rows in some columns."""
    rows = rows.of_everybody()
    listed = sorted(names)
    steps, last = rows.steps(rows.in_order(names))
    parts = [listed[start : start + TOGETHER] for start in range(0, len(listed), TOGETHER)]
    summed = ", ".join(
        f"{_sum(rows, part, salt)} AS p_{salt}_{at}" for salt in SALTS for at, part in enumerate(parts)
    )
    hashed = ", ".join(f"{_hash(len(parts), salt)} AS h_{salt}" for salt in SALTS)
    squared = ", ".join(f"h_{salt}, h_{salt} * h_{salt} % {PRIME} AS s_{salt}" for salt in SALTS)
    steps = [
        *steps,
        ("summed", f"SELECT {summed} FROM {last}"),
        ("hashed", f"SELECT {hashed} FROM summed"),
        ("squared", f"SELECT {squared} FROM hashed"),
    ]
    powers = [
        power for salt in SALTS for power in (f"h_{salt}", f"s_{salt}", f"h_{salt} * s_{salt} % {PRIME}")
    ]
    sums = ", ".join(f"SUM(CAST({power} AS DECIMAL(38, 0)))" for power in powers)
    with rows.engine.reading() as reader:
        ((count, *found),) = reader.rows(statement(steps, f"SELECT COUNT(*), {sums} FROM squared"))
    sizes = [rows.schema.coded(name).size for name in listed]
    told = json.dumps([listed, sizes, int(count), [int(number or 0) for number in found]])
    digest = hashlib.sha256(told.encode()).hexdigest()
    return LearnedFrom("", int(count), tuple(listed), tuple(sizes), digest)


def usable(schema: Schema) -> tuple[str, ...]:
    """Name the columns that a fingerprint is made of."""
    return tuple(
        column.name for column in schema.columns if isinstance(column, Coded) and column.size <= MOST_CODES
    )


def _sum(rows: CodedRows, names: Sequence[str], salt: str) -> str:
    """Add up what some columns say of a row; engines take long to plan one sum over hundreds of them."""
    parts = [f"CAST({rows.code(name)} + 1 AS BIGINT) * {_factor(name, salt)} % {PRIME}" for name in names]
    return " + ".join(f"({part})" for part in parts)


def _hash(parts: int, salt: str) -> str:
    return f"({' + '.join(f'p_{salt}_{at}' for at in range(parts))}) % {PRIME}"


def _factor(name: str, salt: str) -> int:
    found = hashlib.sha256(f"{salt}\0{name}".encode()).digest()
    return 1 + int.from_bytes(found[:8], "big") % (PRIME - 1)
