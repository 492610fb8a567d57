"""Synthetic tables: rows from what was released and from nothing else, as often as wanted, and how good they are.

description.DescribedTable ─> rows.MadeUpRows ─> values ─> files: CSV, Parquet, a dictionary
                             copies: what several tables say together

The private part is `mechanisms.marginals`: it counts, adds noise and is charged. What makes rows sees no row. What
judges them is for the holder, whose own rows stand beside:

likeness ─ relations ─ subgroups        marginals, what hangs together, for whom it is worst
softmax ─> telling_apart, training      can a row be told from a real one, is a model trained on it any good
disclosure                              attacks, as weak evidence
sweeping                                other losses and other parents, tried on the real rows
holders_rows ─> inspection              all of it, for the holder's eyes alone
"""

from entwined.synthetic.copies import Combined, combined
from entwined.synthetic.description import DescribedTable, read_description
from entwined.synthetic.rows import MadeUpRows

__all__ = ["Combined", "DescribedTable", "MadeUpRows", "combined", "read_description"]
