"""Know the same rows again: a digest of their codes that neither order nor spelling changes.

Each row becomes two numbers, sums of its codes times a factor for each column's name, modulo a prime. Of those the
digest takes how many there are and the sums of their powers: plain whole-number sums, in one reading of the rows.
Equal rows always give equal digests; others only by an accident of one in many billions.
"""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from typing import Final

from entwined.dependence import LearnedFrom
from entwined.schema import Coded, Rows, Schema
from entwined.tables.engine import Engine
from entwined.tables.rows import CodedRows
from entwined.tables.steps import statement

PRIME: Final = 2**31 - 1
SALTS: Final = ("one", "two")
MOST_CODES: Final = 2**31  # so that nothing passes 64 bits


def fingerprint(schema: Schema, engine: Engine) -> LearnedFrom:
    """Read all rows, also those that a schema by persons would leave out, and digest what they hold."""
    return digested(schema, engine, usable(schema))


def digested(schema: Schema, engine: Engine, names: Sequence[str]) -> LearnedFrom:
    """Digest the rows in some columns."""
    listed = sorted(names)
    everybody = dataclasses.replace(schema, unit=Rows(), rows=None, approved_digest="")
    rows = CodedRows(everybody, engine)
    steps, last = rows.steps(listed)
    hashed = ", ".join(f"{_hash(rows, listed, salt)} AS h_{salt}" for salt in SALTS)
    squared = ", ".join(f"h_{salt}, h_{salt} * h_{salt} % {PRIME} AS s_{salt}" for salt in SALTS)
    steps = [*steps, ("hashed", f"SELECT {hashed} FROM {last}"), ("squared", f"SELECT {squared} FROM hashed")]
    powers = [
        power for salt in SALTS for power in (f"h_{salt}", f"s_{salt}", f"h_{salt} * s_{salt} % {PRIME}")
    ]
    sums = ", ".join(f"SUM(CAST({power} AS DECIMAL(38, 0)))" for power in powers)
    with engine.reading() as reader:
        ((count, *found),) = reader.rows(statement(steps, f"SELECT COUNT(*), {sums} FROM squared"))
    sizes = [schema.coded(name).size for name in listed]
    told = json.dumps([listed, sizes, int(count), [int(number or 0) for number in found]])
    digest = hashlib.sha256(told.encode()).hexdigest()
    return LearnedFrom("", int(count), tuple(listed), tuple(sizes), digest)


def usable(schema: Schema) -> tuple[str, ...]:
    """Name the columns that a fingerprint is made of."""
    return tuple(
        column.name for column in schema.columns if isinstance(column, Coded) and column.size <= MOST_CODES
    )


def _hash(rows: CodedRows, names: Sequence[str], salt: str) -> str:
    parts = [f"CAST({rows.code(name)} + 1 AS BIGINT) * {_factor(name, salt)} % {PRIME}" for name in names]
    return f"({' + '.join(f'({part})' for part in parts)}) % {PRIME}"


def _factor(name: str, salt: str) -> int:
    found = hashlib.sha256(f"{salt}\0{name}".encode()).digest()
    return 1 + int.from_bytes(found[:8], "big") % (PRIME - 1)
