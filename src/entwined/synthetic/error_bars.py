"""What can be said of a synthetic table in public: from the noise that was released and from nothing else.

A table of K cells with noise of variance v in each is as far from the truth, in squares, as a random sample of x people
blown up to all n: K v = n²(1 − Σp²)/x. Shares p are those of the noisy counts, the noise taken out of their squares.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import sqrt
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.noise import noise_from
from entwined.synthetic.likeness import MEAN_OF_A_NORMAL

TIMES: Final = (0.1, 0.5, 1.0, 2.0, 10.0)
CONFIDENCE: Final = Fraction(19, 20)
PEOPLE: Final = "people"
UNREADABLE: Final = (
    "The description has no tables of noisy counts. Give the description.json that `entwined synth` wrote."
)


_Table: TypeAlias = tuple[tuple[str, ...], "np.ndarray[Any, np.dtype[np.float64]]", float, float]
"""Columns, counts, the variance of their noise and its half-width."""


class ErrorBar(NamedTuple):
    """One table that was counted with noise, and how far noise takes it."""

    columns: tuple[str, ...]
    cells: int
    half_width: float
    """People: the truth of a cell is so near, in 95 cases of 100."""
    misplaced: float
    """The share of people whom noise puts in a wrong cell, on average."""
    sample: float | None
    """How many people drawn by chance would tell as much; none where everybody is in one cell."""


@dataclass(frozen=True, slots=True)
class PublicWord:
    """What a description says: about how many rows, which columns, and the error of every table that was counted."""

    rows: float
    columns: tuple[str, ...]
    bars: tuple[ErrorBar, ...]
    counted: str = PEOPLE
    """What one row stands for."""

    @property
    def measured(self) -> tuple[tuple[str, str], ...]:
        """Every two columns that were counted together, in some table."""
        found = {pair for bar in self.bars for pair in combinations(sorted(bar.columns), 2)}
        return tuple(sorted(found))

    @property
    def unmeasured(self) -> tuple[tuple[str, str], ...]:
        """Every two columns that never were: what the rows say of them was not counted."""
        known = set(self.measured)
        return tuple(pair for pair in combinations(sorted(self.columns), 2) if pair not in known)

    @property
    def alone(self) -> tuple[str, ...]:
        """Columns that were counted in no table at all."""
        counted = {name for bar in self.bars for name in bar.columns}
        return tuple(name for name in self.columns if name not in counted)

    def sweep(self) -> dict[int, dict[float, float]]:
        """The share of people misplaced, by columns counted together, had the loss been so many times as large.

        Deviations of noise go with one over the loss: exactly so with Laplace noise, and nearly with Gaussian noise.
        """
        ways = sorted({len(bar.columns) for bar in self.bars})
        return {
            many: {
                times: _mean(bar.misplaced / times for bar in self.bars if len(bar.columns) == many)
                for times in TIMES
            }
            for many in ways
        }

    @property
    def document(self) -> Document:
        """All of it as JSON."""
        return {
            "format": "entwined inspection, publishable 1",
            "from": "the released noise alone; no row was read",
            "rows": self.rows,
            "counted": self.counted,
            "columns": list(self.columns),
            "tables": [bar._asdict() for bar in self.bars],
            "relations_measured": list(map(list, self.measured)),
            "relations_not_measured": list(map(list, self.unmeasured)),
            "columns_not_measured": list(self.alone),
            "misplaced_at_times_the_loss": {
                str(many): {f"{times:g}": share for times, share in found.items()}
                for many, found in self.sweep().items()
            },
        }


def _mean(shares: Iterable[float]) -> float:
    return float(np.mean([min(share, 1.0) for share in shares]))


def public_word(
    columns: Sequence[str], tables: Iterable[Mapping[str, Any]], parts: int = 1, counted: str = PEOPLE
) -> PublicWord:
    """Work out the error bar of every table of noisy counts, which are in so many parts each, the worst first."""
    try:
        read = [
            (
                tuple(map(str, one["columns"])),
                np.array(one["counts"], np.float64).ravel() / parts,
                noise_from(one["noise"]),
                str(one.get("groups")),
            )
            for one in tables
        ]
        if not columns or not read or any(not counts.size for _, counts, *_ in read):
            raise BadInput(UNREADABLE)
        found = _averaged(
            (
                (names, groups),
                (
                    names,
                    counts,
                    float(noise.variance) / parts**2,
                    float(noise.half_width(CONFIDENCE)) / parts,
                ),
            )
            for names, counts, noise, groups in read
        )
        alike = [
            (counts, variance)
            for names, counts, variance, _ in found
            if counted == PEOPLE or _is_whole(names)
        ]
        rows = max(1.0, _rows(alike))
        bars = [_bar(*one, rows) for one in found]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadInput(UNREADABLE) from None
    return PublicWord(rows, tuple(columns), tuple(sorted(bars, key=lambda bar: -bar.misplaced)), counted)


def _averaged(tables: "Iterable[tuple[object, _Table]]") -> "list[_Table]":
    """Make one of tables of the same columns and groups, weighed by their noise, as rows follow their mean.

    The half-width shrinks as the deviation does: at 95 % a mean of two noises has no heavier ends than either.
    """
    found: dict[object, _Table] = {}
    for key, (names, counts, variance, half_width) in tables:
        if key not in found:
            found[key] = names, counts, variance, half_width
            continue
        _, others, other, width = found[key]
        both = other * variance / (other + variance)
        mean = both * (others / other + counts / variance)
        widest = max(half_width / sqrt(variance), width / sqrt(other))
        found[key] = names, mean, both, widest * sqrt(both)
    return list(found.values())


def _is_whole(names: Iterable[str]) -> bool:
    """Whether a table has every household in it: each has a head, and not each has members of other kinds."""
    return all(name.startswith("head.") or "." not in name for name in names)


def _rows(tables: Sequence[tuple["np.ndarray[Any, np.dtype[np.float64]]", float]]) -> float:
    """Weigh the sums of all tables by their noise."""
    weights = [1 / max(counts.size * variance, 1e-9) for counts, variance in tables]
    sums = [float(counts.sum()) for counts, _ in tables]
    return float(np.average(sums, weights=weights))


def _bar(
    columns: tuple[str, ...],
    counts: "np.ndarray[Any, np.dtype[np.float64]]",
    variance: float,
    half_width: float,
    rows: float,
) -> ErrorBar:
    squares = (float((counts**2).sum()) - counts.size * variance) / rows**2
    spread = 1 - min(max(squares, 0.0), 1.0)
    noise = counts.size * variance
    return ErrorBar(
        columns,
        counts.size,
        half_width,
        min(1.0, MEAN_OF_A_NORMAL * sqrt(variance) * counts.size / (2 * rows)),
        rows**2 * spread / noise if spread > 0 and noise > 0 else None,
    )


def word_of(document: Mapping[str, Any]) -> PublicWord:
    """Read what a description file says: the columns of its mechanism, and the tables that were drawn."""
    try:
        columns = [str(one["column"]) for one in document["certificate"]["mechanism"]["columns"]]
        drawn = json.loads(document["drawn"])
        if "parts" in drawn:
            places = dict.fromkeys(name for one in drawn["tables"] for name in one["columns"])
            return public_word(list(places), drawn["tables"], int(drawn["parts"]), "households")
        tables = drawn["tables"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadInput(UNREADABLE) from None
    return public_word(columns, tables)
