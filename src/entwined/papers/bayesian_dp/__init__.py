"""Lange, Guerra-Balboa, Parra-Arnau and Strufe, "Balancing Privacy and Utility in Correlated Data": reproduced.

Noise here comes from seeded generators and all figures are simulations, so nothing here can be released.

tight                    a table without any correlation whose group bound is reached
series, kin              the data: what people did minute by minute, how tall their children are
accepted                 which theorem accepts which chain
count_attack ─> scales   the noise that each bound asks for on real chains, above what an attack says it must be
gaussian                 means of families and twins under every bound
drawn_errors ─> errors   the paper's figures: 95 % errors against m, ρ and n
experiments ─> verdicts ─> figures, pages
"""

from typing import Final

NOTICE: Final = (
    "REPRODUCTION ONLY: simulated with seeded noise; transition counts were taken from the data themselves, which a "
    "release must not do without a budget."
)
