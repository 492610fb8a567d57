"""Dependence learned from a public table, or with a budget.

`codes` public rows · `pairs`, `structure`, `models` from rows to a network.
"""

from entwined.learning.codes import Codes, public_codes
from entwined.learning.models import Learned, learn, learn_with_margin
from entwined.learning.pairs import PairCounts, pair_counts

__all__ = [
    "Codes",
    "Learned",
    "PairCounts",
    "learn",
    "learn_with_margin",
    "pair_counts",
    "public_codes",
]
