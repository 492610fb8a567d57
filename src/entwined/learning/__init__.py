"""Dependence learned from a public table, or with a budget; and surveys planned with it.

`codes` public rows · `pairs`, `structure`, `models` from rows to a network · `stronger` the sensitivity curve ·
`sense` what the design of a survey shows · `filled_blanks` what the door does not do · `sharing`, `survey` losses for
all histograms.
"""

from entwined.learning.codes import Codes, public_codes
from entwined.learning.models import Learned, learn, learn_with_margin
from entwined.learning.pairs import PairCounts, pair_counts
from entwined.learning.sense import Blank, Decided, Form, blank_codes, decided_columns, forms
from entwined.learning.sharing import share
from entwined.learning.stronger import sensitivity_curve
from entwined.learning.survey import Plan, Survey, plan_survey

__all__ = [
    "Blank",
    "Codes",
    "Decided",
    "Form",
    "Learned",
    "PairCounts",
    "Plan",
    "Survey",
    "blank_codes",
    "decided_columns",
    "forms",
    "learn",
    "learn_with_margin",
    "pair_counts",
    "plan_survey",
    "public_codes",
    "sensitivity_curve",
    "share",
]
