"""Step 5: what an answer can leak."""

from entwined.bounds.allocate import allocate
from entwined.bounds.calibrate import Calibration, calibrate
from entwined.bounds.certificate import Certificate, Verdict, certify, verify
from entwined.bounds.choose import Bound, bound
from entwined.bounds.concentrated_loss import ConcentratedLoss
from entwined.bounds.curve import Curve, curve
from entwined.bounds.exposure import Exposure
from entwined.bounds.noisy_sum import NoisySum
from entwined.bounds.theorem import Knowledge, Theorem

__all__ = [
    "Bound",
    "Calibration",
    "Certificate",
    "ConcentratedLoss",
    "Curve",
    "Exposure",
    "Knowledge",
    "NoisySum",
    "Theorem",
    "Verdict",
    "allocate",
    "bound",
    "calibrate",
    "certify",
    "curve",
    "verify",
]
