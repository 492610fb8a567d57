"""Attacks and statistical audits of our own output.

lower_bound: from two samples of outputs to a loss that the mechanism has at least, with stated confidence
vectors:     what is published, as an adversary sees it
attacker:    the exact posterior of one unit's value, whatever share of the others is known
attack:      many releases of generated people: what was known before, and what a release added
guesses:     how often it guesses right, beside a naive attack and a control
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
