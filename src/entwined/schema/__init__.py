"""Step 2: what is public.

    schema.toml <─> files <─> schema.Schema ─┬─ columns: what a value can be, and its code (`categories`, `grids`)
                                             ├─ unit: whose secret is protected, a row, a person, a household or a cell
                                             └─ neighbours, rows, most_rows, and the digest that the holder approved

`bands` are coarser looks at a column, `raw` says how any raw value is read, `comparison` when two ids are one. Nothing
here is ever taken from private rows.
"""

from entwined.schema.bands import Bands, Comparable, bands_of
from entwined.schema.columns import (
    Boolean,
    Categorical,
    Coded,
    Column,
    Integer,
    Moment,
    Numeric,
    Ordered,
    Real,
    Text,
    column_from,
)
from entwined.schema.files import approve, read_schema, write_schema
from entwined.schema.schema import Schema
from entwined.schema.unit import Cells, Household, Neighbours, Nodes, Person, Rows, Unit

__all__ = [
    "Bands",
    "Boolean",
    "Categorical",
    "Cells",
    "Coded",
    "Column",
    "Comparable",
    "Household",
    "Integer",
    "Moment",
    "Neighbours",
    "Nodes",
    "Numeric",
    "Ordered",
    "Person",
    "Real",
    "Rows",
    "Schema",
    "Text",
    "Unit",
    "approve",
    "bands_of",
    "column_from",
    "read_schema",
    "write_schema",
]
