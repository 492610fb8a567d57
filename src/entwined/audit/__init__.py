"""Attacks and statistical audits of our own output.

lower_bound: from two samples of outputs to a loss that the mechanism has at least, with stated confidence
"""

from entwined.audit.lower_bound import Audit, audit

__all__ = ["Audit", "audit"]
