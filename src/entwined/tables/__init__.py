"""Step 1: where the rows live."""

from entwined.tables.describe import Description, describe
from entwined.tables.source import open_table
from entwined.tables.table import Table

__all__ = ["Description", "Table", "describe", "open_table"]
