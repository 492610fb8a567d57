"""Know the same rows again: a digest of their codes that neither order nor spelling changes.

Each row becomes two numbers, sums of its codes times a factor for each column's name, modulo a prime. Of those the
digest takes how many there are and the sums of their powers: plain whole-number sums, in one reading of the rows.
Equal rows always give equal digests; others only by an accident of one in many billions. The sums add up, so rows
that arrive one by one have the digest of the table that they make.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from entwined.dependence import LearnedFrom
from entwined.numbers import IntArray
from entwined.schema import Coded, Schema
from entwined.tables.rows import CodedRows
from entwined.tables.steps import statement

PRIME: Final = 2**31 - 1
SALTS: Final = ("one", "two")
MOST_CODES: Final = 2**31  # so that nothing passes 64 bits
TOGETHER: Final = 8  # columns of one sum
MOST_REMEMBERED: Final = 1 << 16


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
    sizes = {name: rows.schema.coded(name).size for name in listed}
    return _origin(sizes, int(count), [int(number or 0) for number in found])


def _origin(sizes: Mapping[str, int], count: int, sums: Sequence[int]) -> LearnedFrom:
    """Digest columns, in the order of their names, with the number of rows and the sums of their powers."""
    content = json.dumps([list(sizes), list(sizes.values()), count, list(sums)])
    digest = hashlib.sha256(content.encode()).hexdigest()
    return LearnedFrom("", count, tuple(sizes), tuple(sizes.values()), digest)


def fingerprint_of_codes(sizes: Mapping[str, int], codes: IntArray | NDArray[np.int32]) -> LearnedFrom:
    """Give the fingerprint of rows that are codes already, a column for each name."""
    listed = sorted(sizes)
    order = [list(sizes).index(name) for name in listed]
    powers = _powers(listed, codes[:, order])
    return _origin({name: sizes[name] for name in listed}, len(codes), powers.sum(axis=0).tolist())


def _powers(names: Sequence[str], codes: IntArray | NDArray[np.int32]) -> IntArray:
    """The powers of the two numbers of every row."""
    found = []
    for salt in SALTS:
        number = np.zeros(len(codes), np.int64)
        for at, name in enumerate(names):
            number += (codes[:, at].astype(np.int64) + 1) * _factor(name, salt) % PRIME
        number %= PRIME
        square = number * number % PRIME
        found += [number, square, number * square % PRIME]
    return np.stack(found, axis=1)


class RowSums:
    """The fingerprint of rows that are added one by one, by the codes of some columns."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = {name: sizes[name] for name in sorted(sizes)}
        self._count, self._sums = 0, [0] * 3 * len(SALTS)
        self._known: dict[tuple[int, ...], list[int]] = {}

    @classmethod
    def under(cls, schema: Schema) -> "RowSums":
        """Take the columns that the fingerprint of a table under this schema is made of."""
        return cls({name: schema.coded(name).size for name in usable(schema)})

    def add(self, codes: Mapping[str, int]) -> None:
        """Add a row."""
        row = tuple(codes[name] for name in self._sizes)
        powers = self._known.get(row)
        if powers is None:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            powers = self._known[row] = _powers(list(self._sizes), np.array([row], np.int64))[0].tolist()
        self._count += 1
        self._sums = [total + power for total, power in zip(self._sums, powers, strict=True)]

    @property
    def fingerprint(self) -> LearnedFrom:
        """The fingerprint of the rows so far."""
        return _origin(self._sizes, self._count, self._sums)


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


@cache
def _factor(name: str, salt: str) -> int:
    found = hashlib.sha256(f"{salt}\0{name}".encode()).digest()
    return 1 + int.from_bytes(found[:8], "big") % (PRIME - 1)
