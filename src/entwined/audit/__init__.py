"""Attacks and statistical audits of our own output."""

from entwined.audit.lower_bound import Audit, audit

__all__ = ["Audit", "audit"]
