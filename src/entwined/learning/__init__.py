"""Dependence learned from a public table, or with a budget.

public table ─> codes ─> pairs ─> structure ─> models ─> a network, trusted as it is or with a margin
                                          └─> check: held against richer laws (`hidden_causes`) and a
                                              `strong_learner` on rows `held_out`, by what each law says (`beliefs`)
people ─> checkins (places that they visit), affinity (profiles that are alike): whose rows may depend on whose
private rows ─> private: two mechanisms through one door ──^      (`on_request`: the door of a release.toml)
"""

from entwined.learning.affinity import Affinity
from entwined.learning.checkins import Checkins, read_place_visits, read_snap_checkins
from entwined.learning.codes import Codes, public_codes
from entwined.learning.models import Learned, learn, learn_with_margin
from entwined.learning.pairs import PairCounts, pair_counts

__all__ = [
    "Affinity",
    "Checkins",
    "Codes",
    "Learned",
    "PairCounts",
    "learn",
    "learn_with_margin",
    "pair_counts",
    "public_codes",
    "read_place_visits",
    "read_snap_checkins",
]
