"""Stoyanovich's lecture on differential privacy and DataSynthesizer (2022): a page that runs, judged line by line.

Noise here comes from seeded generators and all numbers are simulations, so nothing here can be released: what is
released comes from `entwined synth`, through the door.

lecture ─ reconstruction              sensitivities, the four queries, answers made to agree; why noise is needed
people ─> networks ─> modes           Adult in four columns; Bayesian networks with noise; the three modes
experiments ─> figures, pages
"""

from typing import Final

NOTICE: Final = (
    "REPRODUCTION ONLY: simulated with seeded floating-point noise, as the lecture has it. Nothing here is private; "
    "a release goes through the door."
)
