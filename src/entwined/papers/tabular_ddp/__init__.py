"""Maughan and Near, "Improving Utility for Privacy-Preserving Analysis of Correlated Columns": reproduced, not offered.

Algorithm 1 of that paper is not private: columns that it finds independent get no noise at all. These modules measure
its noise, its time and its leakage, and never make a noisy answer, so nothing here can be released.
"""

from typing import Final

NOTICE: Final = (
    "REPRODUCTION ONLY: Tabular-DDP as published is not private (independent columns get no noise); "
    "nothing below may be used for a release."
)
