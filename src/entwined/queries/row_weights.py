"""What one row adds to a single number, by its codes: the whole of it, where the number is a sum over rows."""

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Final, Self

from entwined.queries.aggregates import Aggregate, CountOf, SumOf
from entwined.schema import Schema

MOST_LISTED: Final = 4096  # joint codes


@dataclass(frozen=True, slots=True)
class RowWeights:
    """What a row adds by its joint codes in `columns`, the last column's changing first, missing as the last code."""

    columns: tuple[str, ...]
    weights: tuple[int, ...]

    @classmethod
    def of(cls, aggregate: Aggregate, schema: Schema) -> Self | None:
        """List what a row adds to a count or a total; nothing where it is no single number, or reads too much.

        >>> from entwined.queries import parse
        >>> from entwined.schema import Boolean
        >>> schema = Schema((Boolean("ill"),), most_rows=9)
        >>> RowWeights.of(CountOf(parse("ill", schema)), schema)
        RowWeights(columns=('ill',), weights=(0, 1, 0))
        """
        if not isinstance(aggregate, CountOf | SumOf):
            return None
        columns = tuple(sorted(aggregate.reads))
        sizes = [schema.coded(name).size for name in columns]
        if prod(sizes) > MOST_LISTED:
            return None
        rows = (dict(zip(columns, codes, strict=True)) for codes in product(*map(range, sizes)))
        factors = aggregate.adds.factors if aggregate.adds else ()
        added = (
            prod(one.value(row[one.column]) for one in factors) if aggregate.where.holds(row) else 0
            for row in rows
        )
        return cls(columns, tuple(added))
