"""Step 1: where the rows live.

    file, frame, URL ─> source ─> engine: DuckDB (files, frames, survey), PostgreSQL, Spark
                                    │
    aggregates ─> plan ─> statements over rows ─> table.Table.answer ─> exact integers

`rows` turns raw columns into the codes of the schema (`coding`, `reading`, `comparing`; `compiling` remembers what Ibis
wrote) and picks whose rows count; `folding` adds up public functions of codes; `resident` keeps codes in memory, for a
service. `origin` says which version of the rows was opened, `fingerprint` knows the same rows again. `describe` (with
`profile`, `propose`) proposes a schema. Engines know nothing of privacy.
"""

from entwined.tables.describe import Description, describe
from entwined.tables.source import open_table
from entwined.tables.table import Table

__all__ = ["Description", "Table", "describe", "open_table"]
