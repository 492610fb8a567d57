"""Error and bias of released counts by their true size, as unbiased values and adjusted: the table of the docs.

Some cells of a histogram hold 6 to 1,000 rows each, four of every size, the others are empty. Beside it is released
nothing, a count of all rows, a table of two columns, or a count of a condition; or the number of rows is public.
"""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

import numpy as np

from entwined.estimate.agreement import Released, agreed
from entwined.estimate.consistency import ConsistentTable
from entwined.noise import DiscreteLaplace
from entwined.queries import Count, Histogram, Marginal, Query, parse
from entwined.schema import Boolean, Integer, Schema

SIZES: Final = (6, 30, 60, 100, 300, 1000)
COPIES: Final = 4
EMPTY: Final = (0, 26, 176)
SCALES: Final = ("17", "2", "0.3")
BESIDE: Final = ("nothing", "public rows", "count", "marginal", "condition")
RELEASES: Final = 100
SEED: Final = 30


class Case(NamedTuple):
    """A histogram: how many cells are empty, the scale of the noise, and what is released beside it."""

    empty: int
    scale: str
    beside: str


class Errors(NamedTuple):
    """Errors of counts of one true size over many releases, those of the draws being known."""

    size: int
    drawn: float
    value_bias: float
    value: float
    adjusted_bias: float
    adjusted: float
    value_held: float
    adjusted_held: float
    caveat: float


def run(releases: int = RELEASES) -> dict[str, Any]:
    """Measure the whole grid."""
    lines = []
    for case in (Case(empty, scale, beside) for empty in EMPTY for scale in SCALES for beside in BESIDE):
        for errors in measured(case, releases):
            lines.append({**case._asdict(), **errors._asdict()})
            print(
                f"{case.empty:4} empty, scale {case.scale:>3}, {case.beside:11} size {errors.size:5} "
                f"rmse {errors.drawn:7.2f}  value {errors.value:5.2f} ({errors.value_bias:6.2f})  "
                f"adjusted {errors.adjusted:5.2f} ({errors.adjusted_bias:7.2f})  "
                f"held {errors.value_held:.3f} {errors.adjusted_held:.3f}  caveat {errors.caveat:.2f}"
            )
    return {"releases": releases, "lines": lines}


def measured(case: Case, releases: int, seed: int = SEED) -> Iterator[Errors]:
    """Release one histogram many times, and compare its counts with the truth; errors are given beside the draws'."""
    random = np.random.default_rng(seed)
    truth = np.array([size for size in SIZES for _ in range(COPIES)] + [0] * case.empty)
    queries, exact = _asked(case, random.permutation(truth))
    truth = exact[0]
    noise = DiscreteLaplace(Fraction(case.scale))
    aggregates = [query.statistics(_schema(case))[0].aggregate for query in queries]
    public = case.beside == "public rows"
    drawn, tables = [], []
    for _ in range(releases):
        numbers = [
            Released(aggregate, noise, cells + _laplace(noise, cells.shape, random))
            for aggregate, cells in zip(aggregates, exact, strict=True)
        ]
        if public:
            rows = Count().bound(_schema(case)).statistics(_schema(case))[0].aggregate
            numbers.append(Released(rows, None, [int(truth.sum())]))
        drawn.append(np.asarray(numbers[0].values))
        tables.append(agreed(numbers).tables[0])
    yield from _errors(truth, np.array(drawn), tables)


def _asked(case: Case, truth: Any) -> tuple[Sequence[Query], list[Any]]:
    """Give the questions and their true answers; who is in a cell of two columns is half of the cell's rows."""
    schema = _schema(case)
    asked: list[Query] = [Histogram("place")]
    exact = [truth]
    if case.beside == "count":
        asked, exact = [*asked, Count()], [*exact, truth.sum(keepdims=True)]
    if case.beside == "marginal":
        halves = np.stack([truth // 2, truth - truth // 2, 0 * truth], axis=1)
        asked, exact = [*asked, Marginal(("place", "owns"))], [*exact, halves.reshape(-1)]
    if case.beside == "condition":
        half = len(truth) // 2
        asked = [*asked, Count(where=parse(f"place < {half}", schema))]
        exact = [*exact, truth[:half].sum(keepdims=True)]
    return [query.bound(schema) for query in asked], exact


def _schema(case: Case) -> Schema:
    cells = len(SIZES) * COPIES + case.empty
    return Schema((Integer("place", 0, cells - 2), Boolean("owns")), neighbours="add_remove", most_rows=10**6)


def _laplace(noise: DiscreteLaplace, shape: tuple[int, ...], random: np.random.Generator) -> Any:
    """Draw fast: figures need no safe source."""
    rate = -math.expm1(-1 / float(noise.scale))
    return random.geometric(rate, shape) - random.geometric(rate, shape)


def _errors(truth: Any, drawn: Any, tables: Sequence[ConsistentTable]) -> Iterator[Errors]:
    values = np.array([np.array(table.unbiased, dtype=float) for table in tables])
    adjusted = np.array([table.values for table in tables])
    ends = [table.intervals() for table in tables]
    held = np.array([(low <= truth) & (truth <= high) for low, high in ends])
    for size in np.unique(truth).tolist():
        cells = truth == size
        rmse = [math.sqrt(((found - truth)[:, cells] ** 2).mean()) for found in (drawn, values, adjusted)]
        said = [_is_said(table, size) for table in tables]
        yield Errors(
            size,
            rmse[0],
            float((values - truth)[:, cells].mean()),
            rmse[1] / rmse[0],
            float((adjusted - truth)[:, cells].mean()),
            rmse[2] / rmse[0],
            float(held[:, cells].mean()),
            float(held[:, cells].mean()),
            float(np.mean(said)),
        )


def _is_said(table: ConsistentTable, size: int) -> bool:
    bias = table.bias
    return table.spread.is_too_fine or (bias is not None and bias.low <= size <= bias.high)
