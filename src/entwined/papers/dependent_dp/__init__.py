"""Liu, Chakraborty and Mittal, "Dependence Makes You Vulnerable" (NDSS 2016): reproduced, and judged figure by figure.

Noise here comes from seeded generators and all numbers are simulations, so nothing here can be released. The paper's
mechanism rests on an assumption that it does not state: given a person, those tied to that person are independent of
each other, and nobody else says anything about them.

example, composition                      what the paper proves, held against exact calculations
towns ─> closeness, inference, star       people, friends and places: Table I, figures 2 to 5, 7 and 10
noise_factors ─> accuracy, clustering, classification, degree_counts          figures 8 and 9
experiments ─> verdicts ─> figures, pages
"""

from typing import Final

NOTICE: Final = (
    "REPRODUCTION ONLY: simulated with seeded noise; the paper's mechanism promises what it says only if, given a "
    "person, those tied to that person are independent of each other."
)
