"""Synthetic rows from what was released of a table, and from nothing else: describe once, generate as often as wanted.

description.Description ─> rows.Rows ─> values ─> files: CSV, Parquet, a dictionary
                             copies: what several tables say together

The private part is `mechanisms.marginals`: it counts, adds noise and is charged. Whatever stands here sees no row.
"""

from entwined.synthetic.copies import Combined, combined
from entwined.synthetic.description import Description, read_description
from entwined.synthetic.rows import Rows

__all__ = ["Combined", "Description", "Rows", "combined", "read_description"]
