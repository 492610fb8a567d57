"""What passes between neighbours where a part of the release reads both of them.

Let x_i move the law of u, all that is on the other side, from p_a to p_b, t(γ') ≥ E_γ'(p_a ‖ p_b). Let some parts read
x_i and u together: they are within `alone` of each other if x_i changes and u does not, and with all that is behind u
within `joint` if anything changes. Then, for every γ' from 1 to γ and t = t(γ'), the outputs are within

    (1 − t) · alone(γ/γ') + t · joint(γ/γ' · (1 + (γ' − 1)/t)).

Why: m = min(p_a, γ' p_b), made smaller to have the weight 1 − t, is a part of p_a, and m/γ' is a part of p_b. Split
both laws there: P − γQ is what u drawn from m gives, (1 − t) times a pair that differs in x_i alone, at γ/γ', and the
rest, t of P against γ − (1 − t)γ/γ' = (γ/γ')(γ' − 1 + t) of Q. E_γ is convex in both laws together, so mixtures over u
are no further apart. With γ' = 1 this is the maximal coupling, (1 − t) own + t joint; with γ' = γ and no such parts it
is S_t.
"""

from typing import Final

import numpy as np

from entwined.bounds.profiles.profile import Grid, PrivacyProfile
from entwined.bounds.profiles.sway import DOWN, UP, Sway, further_on
from entwined.numbers import FloatArray

SHARES: Final = tuple(
    (k / 24) ** 2 for k in range(25)
)  # of ε: where γ' is tried; each is valid, and the best small


def across(alone: PrivacyProfile, joint: PrivacyProfile, sway: Sway) -> PrivacyProfile:
    """Give the least that is found over γ', and what is convex below that."""
    grid = joint.grid
    points, places = grid.excess, np.arange(grid.size + 1)
    sways = sway.at(points)
    least = np.ones(points.size)
    for share in SHARES:
        there = (share * places).astype(np.int64)
        rest = places - there
        weight, further = further_on(sways[there], points[there])
        beyond = np.minimum(points[rest] + (1 + points[rest]) * further, np.exp(600.0)) * DOWN
        found = (1 - sways[there]) * alone.deltas[rest] + weight * joint.at(beyond)
        least = np.minimum(least, found * UP)
    return PrivacyProfile(grid, convex_below(grid, least))


def convex_below(grid: Grid, deltas: FloatArray) -> FloatArray:
    """Give the largest convex function of γ that is nowhere above: what is convex and below stays below it."""
    corners: list[tuple[float, float]] = []
    for point in zip(grid.excess.tolist(), deltas.tolist(), strict=True):
        while len(corners) > 1 and above_chord(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    places, values = np.array(corners).T
    return np.asarray(np.minimum(np.interp(grid.excess, places, values) * UP, deltas))


def above_chord(start: tuple[float, float], middle: tuple[float, float], end: tuple[float, float]) -> bool:
    """Say whether the middle point lies on or above the line from start to end."""
    return (middle[1] - start[1]) * (end[0] - start[0]) >= (end[1] - start[1]) * (middle[0] - start[0])
