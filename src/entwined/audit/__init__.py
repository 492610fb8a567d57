"""Attacks on generated people, and statistical audits of our own output.

    model, planned release ─> staging, planned, family: people, and what would be published of them
                                 └─> comparison: three attackers of a target ─> attack ─> attacker: exact posteriors
                                                                                       └─> worlds: drawn ones
    batch ─> neighbours: two made-up tables ─> rehearsal: many runs through a door ─> lower_bound, gaussian_audit

`vectors` are what is published as an adversary sees it, `row_adds` what single rows add to them, and `guesses` how
often an attack is right, beside a naive one and a control. No table's rows are read anywhere here.
"""

from entwined.audit.attack import Attack, attack
from entwined.audit.attacker import Attacker
from entwined.audit.lower_bound import Audit, audit
from entwined.audit.vectors import Addend, NoisyVector, count_of, each_of, histogram_of

__all__ = [
    "Addend",
    "Attack",
    "Attacker",
    "Audit",
    "NoisyVector",
    "attack",
    "audit",
    "count_of",
    "each_of",
    "histogram_of",
]
