"""What all Gaussian theorems share: a secret with a distance, and what must be believed of it."""

from typing import Final

from entwined.bounds.theorem import Secret

AT_A_DISTANCE: Final = Secret(
    between="any two values of any one unit",
    per=" for each unit of distance between the two values",
    trusted="The mechanism's loss for unit j is at most ε_j times the distance between the two values of unit j. "
    "Clipping values to an interval moves no two values apart, so the bound holds for clipped data; for secrets that "
    "are pairs inside an interval of length M the leakage is at most M times the bound, and pairs outside it are not "
    "covered by that figure.",
)
EXACTLY_OR_NOT: Final = (
    "Of every other unit the adversary knows the exact value or nothing: who knows something about a value, such as "
    "its size without its sign, may learn more."
)
