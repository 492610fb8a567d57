"""Step 5: what an answer can leak."""

from entwined.bounds.allocate import allocate
from entwined.bounds.calibrate import Calibration, calibrate
from entwined.bounds.certificate import Verdict, certify, verify
from entwined.bounds.choose import Bound, bound
from entwined.bounds.theorem import Knowledge, Theorem

__all__ = [
    "Bound",
    "Calibration",
    "Knowledge",
    "Theorem",
    "Verdict",
    "allocate",
    "bound",
    "calibrate",
    "certify",
    "verify",
]
