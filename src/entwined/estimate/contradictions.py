"""Declarations that the draws contradict: tests on released integers, free of charge like all post-processing.

Each check is a linear combination of draws that is at most zero if what was declared is right, and its noise has a
known law. All checks of a release together raise a false alarm with probability at most `RISK`; how many there are
follows from public facts. What is contradicted is not relied on: no number is moved toward it (`consistent_release`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from entwined.errors import BadNoise
from entwined.estimate.agreement import Released
from entwined.estimate.answers import Contradiction
from entwined.estimate.error_law import ErrorLaw, Weighted
from entwined.mechanisms.asked import Added
from entwined.mechanisms.batch import Batch
from entwined.noise import Additive, additive
from entwined.numbers import FloatArray
from entwined.queries import Query, Quotient
from entwined.queries.shapes import Number
from entwined.schema import Schema
from entwined.schema.grids import Numeric
from entwined.schema.schema import MOST_ROWS

Draws: TypeAlias = Mapping[str, Sequence[Sequence[int]]]
"""The integers drawn for the statistics of each query, by its canonical text."""
RISK: Final = Fraction(1, 10_000)
"""The probability of any false alarm in one release."""
ROUNDING: Final = 1e-3  # what floats may move a combination of draws by
MOSTLY: Final = 0.9  # a column with a larger share of missing values is probably declared with other values
END_SHARES: Final = (
    (0.05, 0.5),
    (0.2, 0.8),
)  # cells of that part of a range rarely hold this share of all rows
NEAR_TOP: Final = 0.9  # of a range: means are rarely above
NEAR_BOTTOM: Final = 0.02  # and rarely below, unless the range begins at a natural zero
FEWEST_VALUES: Final = 20  # of a range that says anything about where values lie

ROWS: Final = "The schema declares {declared:,} rows, and the draws show about {found:,.0f} ± {reach:,.0f}."
RIGHT_ROWS: Final = (
    "Declare the right number of rows, or leave rows out. No count was moved toward it; means and shares by a public "
    "count rest on it."
)
MOST: Final = (
    "The schema declares at most {declared:,} rows, and the draws show about {found:,.0f} ± {reach:,.0f}."
)
RIGHT_MOST: Final = "Declare a larger most_rows: noise and intervals rest on it."
MISSING: Final = (
    "About {found:,.0f} of {rows:,.0f} rows have no declared value in {column}: they count as missing."
)
RIGHT_VALUES: Final = "Compare its spelling, codes and type in the table with the schema."
AT_END: Final = (
    "About {found:,.0f} of {rows:,.0f} values of {column} are in the cell of its {end} values: values beyond a bound "
    "are set to it."
)
MEAN_AT_END: Final = (
    "The mean of {column} is {share:.0%} of the way up its range: values beyond a bound are set to it."
)
RIGHT_BOUNDS: Final = "Compare its unit and its bounds in the schema with the table (months for years?)."


class DrawnCounts(NamedTuple):
    """A statistic of counts with its draws, and a query that needs it."""

    query: Query
    released: Released
    noise: Additive

    @property
    def total(self) -> float:
        """The sum of all cells as drawn."""
        return float(self.numbers.sum())

    @property
    def numbers(self) -> FloatArray:
        """The draws, with the sides of the table."""
        return np.asarray(self.released.table.values, dtype=np.float64)

    @property
    def law(self) -> ErrorLaw:
        """The law of the error of the sum."""
        return ErrorLaw((Weighted(1.0, self.noise, self.numbers.size),))

    @property
    def counts_every_row(self) -> bool:
        """Whether each row of the table is in exactly one cell."""
        return self.released.aggregate.where.is_everything


@dataclass(frozen=True, eq=False, slots=True)
class Check:
    """A number that is at most zero in truth if declarations are right, the law of its error, and a warning if not."""

    excess: float
    law: ErrorLaw
    contradiction: Contradiction

    def fails(self, risk: Fraction) -> bool:
        """Say whether noise explains the number with no more than this probability."""
        if self.excess <= ROUNDING:
            return False
        try:
            return self.excess > self.law.side(1 - risk)
        except BadNoise:
            return False


def contradictions(batches: Iterable[tuple[Batch, Draws]]) -> tuple[Contradiction, ...]:
    """Test on the draws of batches of the same rows, given by the texts of their queries, what the schema declares."""
    return failing([check for batch, draws in batches for check in _checks(batch, draws)])


def failing(checks: Sequence[Check]) -> tuple[Contradiction, ...]:
    """Give the warnings of all checks that fail; half of the risk is for those of declarations, half for agreement."""
    return tuple(_merged([check for check in checks if check.fails(RISK / 2 / len(checks))]))


def _merged(failed: Sequence[Check]) -> Iterator[Contradiction]:
    """Give one warning for each declaration, that of the most exact check, with all queries that show it."""
    subjects = dict.fromkeys((check.contradiction.kind, check.contradiction.subject) for check in failed)
    for subject in subjects:
        same = [
            check for check in failed if (check.contradiction.kind, check.contradiction.subject) == subject
        ]
        best = min(same, key=lambda check: check.law.variance).contradiction
        asked = tuple(sorted({query for check in same for query in check.contradiction.asked}))
        yield Contradiction(best.kind, best.problem, best.advice, asked, best.subject)


def rows_at_most(schema: Schema, warnings: Sequence[Contradiction]) -> int:
    """Give how many rows there are at most, by declarations that the draws do not contradict."""
    kinds = {warning.kind for warning in warnings}
    if "most_rows" in kinds:
        return MOST_ROWS
    return schema.most_rows if "rows" in kinds else schema.rows_at_most


def trusted_rows(batch: Batch, warnings: Sequence[Contradiction]) -> int | None:
    """Give the public number of rows, where none are left out and the draws do not contradict it."""
    if batch.promise.kept or any(warning.kind == "rows" for warning in warnings):
        return None
    return batch.schema.rows


def _checks(batch: Batch, draws: Draws) -> Iterator[Check]:
    counted = list(_counted(batch, draws))
    yield from _rows_checks(batch, counted)
    for one in counted:
        yield from _missing_checks(one, batch.schema)
        yield from _end_checks(one, batch.schema)
    yield from _dropped_checks(batch, counted)
    for query in batch.queries:
        yield from query.shape(batch.schema, _Means(query, batch, draws[query.fingerprint]))


def _counted(batch: Batch, draws: Draws) -> Iterator[DrawnCounts]:
    """Find the statistics that count rows, each once."""
    seen = set()
    for query, uses in zip(batch.queries, batch.uses, strict=True):
        for use, numbers in zip(uses, draws[query.fingerprint], strict=True):
            asked = batch.statistics[use]
            if use in seen or not isinstance(asked, Added) or asked.statistic.aggregate.adds is not None:
                continue
            seen.add(use)
            yield DrawnCounts(query, Released(asked.statistic.aggregate, asked.law, numbers), asked.law)


def _rows_checks(batch: Batch, counted: Sequence[DrawnCounts]) -> Iterator[Check]:
    """No count is above the number of rows, and tables of all rows add up to it."""
    schema, rows = batch.schema, batch.schema.rows
    for one in counted:
        reach = _reach(one.law)
        most = MOST.format(declared=schema.most_rows, found=one.total, reach=reach)
        asked = (one.query.fingerprint,)
        yield Check(
            one.total - schema.most_rows, one.law, Contradiction("most_rows", most, RIGHT_MOST, asked)
        )
        if rows is None:
            continue
        said = ROWS.format(declared=rows, found=one.total, reach=reach)
        wrong = Contradiction("rows", said, RIGHT_ROWS, asked)
        yield Check(one.total - rows, one.law, wrong)
        if one.counts_every_row and not batch.promise.kept:
            yield Check(rows - one.total, one.law, wrong)


def _missing_checks(one: DrawnCounts, schema: Schema) -> Iterator[Check]:
    """Most rows have a declared value in every column of a table."""
    for place, axis in enumerate(one.released.aggregate.sides):
        if axis.keeps_missing and axis.cells > 1 and axis.column not in one.query.inside.columns:
            cells = np.moveaxis(one.numbers, place, 0)
            excess, law, figures = _share(one, cells, -1, MOSTLY)
            problem = MISSING.format(**figures, column=_titled(schema, axis.column))
            wrong = Contradiction("missing", problem, RIGHT_VALUES, (one.query.fingerprint,), axis.column)
            yield Check(excess, law, wrong)


def _dropped_checks(batch: Batch, counted: Sequence[DrawnCounts]) -> Iterator[Check]:
    """Where rows without a value are left out, most rows of the table are left."""
    every = [one for one in counted if one.counts_every_row]
    best = min(every, key=lambda one: one.law.variance, default=None)
    rows = None if batch.promise.kept else batch.schema.rows
    for one in counted:
        names = one.query.values
        if not one.query.inside.is_everything or one.counts_every_row or len(names) != 1:
            continue
        whole = best.total if best is not None else rows
        if whole is None:
            continue
        law = one.law if best is None else one.law + best.law * (1 - MOSTLY)
        problem = MISSING.format(
            found=min(whole - one.total, whole), rows=whole, column=_titled(batch.schema, names[0])
        )
        wrong = Contradiction("missing", problem, RIGHT_VALUES, (one.query.fingerprint,), names[0])
        yield Check((1 - MOSTLY) * whole - one.total, law, wrong)


def _end_checks(one: DrawnCounts, schema: Schema) -> Iterator[Check]:
    """Values do not gather in the last cells of a range of numbers."""
    sides = one.released.aggregate.sides
    if len(sides) != 1 or sides[0].column in one.query.inside.columns:
        return
    axis, column = sides[0], schema.coded(sides[0].column)
    if not isinstance(column, Numeric) or column.levels < FEWEST_VALUES:
        return
    starts = [*axis.starts, axis.levels]
    ends = [("highest", -1, starts[-1] - starts[-2])]
    if column.origin != 0:  # many values are zero in many tables
        ends.append(("lowest", 0, starts[1] - starts[0]))
    for end, place, width in ends:
        share = next((share for part, share in END_SHARES if width <= part * axis.levels), None)
        if share is None:
            continue
        excess, law, figures = _share(one, one.numbers[: len(axis.starts)], place, share)
        problem = AT_END.format(**figures, column=_titled(schema, axis.column), end=end)
        wrong = Contradiction("bounds", problem, RIGHT_BOUNDS, (one.query.fingerprint,), axis.column)
        yield Check(excess, law, wrong)


def _share(
    one: DrawnCounts, cells: FloatArray, place: int, share: float
) -> tuple[float, ErrorLaw, dict[str, float]]:
    """Give by how much cells at one place of the first axis hold more than a share of all, its law, and figures."""
    found, rows, size = float(cells[place].sum()), float(cells.sum()), int(cells[place].size)
    shares = Weighted(1 - share, one.noise, size), Weighted(share, one.noise, cells.size - size)
    law = ErrorLaw(tuple(part for part in shares if part.copies))
    return found - share * rows, law, {"found": min(found, rows), "rows": rows}


@dataclass(frozen=True, eq=False, slots=True)
class _Means:
    """Checks that a mean does not lie at an end of its range; there are none for other shapes of an answer."""

    query: Query
    batch: Batch
    numbers: Sequence[Sequence[int]]

    def ratio(self, quotient: Quotient[Number]) -> list[Check]:
        """Compare a sum with a count of rows, each adding as much as near an end."""
        schema, name = self.batch.schema, self.query.values[0]
        column = schema.coded(name)
        is_about_it = name in self.query.inside.columns
        if not isinstance(column, Numeric) or column.levels < FEWEST_VALUES or is_about_it:
            return []
        total, count = (float(numbers[0]) for numbers in self.numbers)
        noises = [additive(self.batch.statistics[use].noise) for use in self._uses]
        length = quotient.most - quotient.least
        top = quotient.least + NEAR_TOP * length
        found = [(total - top * count, top)]
        if column.origin != 0:
            bottom = quotient.least + NEAR_BOTTOM * length
            found.append((bottom * count - total, bottom))
        share = (total / count - quotient.least) / length if count > 0 else 0.0
        problem = MEAN_AT_END.format(column=_titled(schema, name), share=min(max(share, 0.0), 1.0))
        wrong = Contradiction("bounds", problem, RIGHT_BOUNDS, (self.query.fingerprint,), name)
        return [Check(excess, ErrorLaw.of([1, ratio], noises), wrong) for excess, ratio in found]

    @property
    def _uses(self) -> tuple[int, ...]:
        return self.batch.uses[self.batch.queries.index(self.query)]

    def lattice(self, step: object) -> list[Check]:  # noqa: ARG002  (every shape is asked the same way)
        """A count or a total is no mean."""
        return []

    def rising(self, step: object) -> list[Check]:  # noqa: ARG002
        """A number that is divided by public rows is as wrong as these are."""
        return []

    def variance(self, quotient: object) -> list[Check]:  # noqa: ARG002
        """A variance has no range of its own."""
        return []

    def share(self) -> list[Check]:
        """A share is between 0 and 1 in truth."""
        return []

    def effective(self, effective: object) -> list[Check]:  # noqa: ARG002
        """An effective number of rows has no range of its own."""
        return []

    def choice(self, choice: object, candidates: int) -> list[Check]:  # noqa: ARG002
        """A choice has no law of additive noise."""
        return []


def _titled(schema: Schema, column: str) -> str:
    return repr(schema.label(column) or column)


def _reach(law: ErrorLaw) -> float:
    try:
        return law.half_width(Fraction(95, 100))
    except BadNoise:
        return float("inf")
