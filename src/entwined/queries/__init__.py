"""Step 4: what is asked.

    text ──────> parser ──┐
    expressions ──────────┼─> conditions ─> predicate.Predicate: a set of rows, by their codes
    sql ──────────────────┘                        │
    query.Query ───────────────────────────────────┴─> statistic.Statistic = aggregate + sensitivity
        │                                                            │
        └─ shapes: how the answer is made                            └─ sensitivity.Reach: where a loss falls

Queries are in `counts`, `filled`, `sums`, `share`, `quantile`, `groups` and `custom`, and may be `weighted`; `sampling`
is what the error of a sample is made of. `terms` are what a row adds to a sum, `aggregates` and `folds` what an engine
is asked for.
`cover` finds the most that losses on several predicates amount to at one row (`diagram`, `bunches`, `heights`).
`extents` are what an aggregate can come to at all, `documents` reads and writes queries; engines are held against
`rows`.
"""

from entwined.queries.aggregates import (
    Aggregate,
    CountOf,
    DegreesOf,
    MovesOf,
    SumOf,
    TableOf,
    TotalsOf,
)
from entwined.queries.axes import Axis, Term
from entwined.queries.conditions import Condition, among, between, compare, is_missing
from entwined.queries.counts import Count, Histogram, Marginal
from entwined.queries.cover import Cover, Layers
from entwined.queries.custom import Custom
from entwined.queries.documents import query_from
from entwined.queries.expressions import Col, Expression, col
from entwined.queries.filled import FilledHistogram
from entwined.queries.folds import FoldOf
from entwined.queries.graphs import BoundedDegreesOf
from entwined.queries.groups import GroupBy
from entwined.queries.homes import HomesOf
from entwined.queries.parser import parse
from entwined.queries.placed_numbers import Placed
from entwined.queries.predicate import Predicate, Ranges, codes_in, everything, nothing, predicate_from
from entwined.queries.quantile import Median, Quantile
from entwined.queries.query import Answer, Numbers, Query
from entwined.queries.rows import rows_inside
from entwined.queries.sampling import Sampling
from entwined.queries.sensitivity import Reach, Sensitivity
from entwined.queries.shapes import Effective, Quotient, Shapes
from entwined.queries.share import Share
from entwined.queries.statistic import Scores, Statistic
from entwined.queries.sums import Mean, Total, Variance
from entwined.queries.where import Where

__all__ = [
    "Aggregate",
    "Answer",
    "Axis",
    "BoundedDegreesOf",
    "Col",
    "Condition",
    "Count",
    "CountOf",
    "Cover",
    "Custom",
    "DegreesOf",
    "Effective",
    "Expression",
    "FilledHistogram",
    "FoldOf",
    "GroupBy",
    "Histogram",
    "HomesOf",
    "Layers",
    "Marginal",
    "Mean",
    "Median",
    "MovesOf",
    "Numbers",
    "Placed",
    "Predicate",
    "Quantile",
    "Query",
    "Quotient",
    "Ranges",
    "Reach",
    "Sampling",
    "Scores",
    "Sensitivity",
    "Shapes",
    "Share",
    "Statistic",
    "SumOf",
    "TableOf",
    "Term",
    "Total",
    "TotalsOf",
    "Variance",
    "Where",
    "among",
    "between",
    "codes_in",
    "col",
    "compare",
    "everything",
    "is_missing",
    "nothing",
    "parse",
    "predicate_from",
    "query_from",
    "rows_inside",
]
