"""By how much each method multiplies the noise of plain differential privacy, and what it promises for that."""

from functools import cache
from typing import Final, NamedTuple

import numpy as np

from entwined.bounds.calibrate import largest_multiple
from entwined.bounds.frontier import Frontier
from entwined.bounds.messages import message_passing_bound
from entwined.dependence import Graph
from entwined.dependence.places import friends_places
from entwined.loss import Loss
from entwined.numbers import FloatArray, IntArray
from entwined.papers.dependent_dp.towns import grid

PLAIN: Final = "plain DP"
ZHU: Final = "Zhu et al."
EXACT: Final = "DPM, Equation 14"
PUBLISHED: Final = "DPM, Equation 18"
SOUND: Final = "sound, messages or group"
HOUSEHOLDS: Final = "sound, households of 4"
COMPONENT: Final = "L = component"
EVERYBODY: Final = "L = n"
FIXED: Final = 6  # steps to the fixed point, each some digits nearer
PROMISES: Final = {
    PLAIN: "nothing about dependent people",
    ZHU: "nothing",
    EXACT: "if those tied to a person are independent given that person",
    PUBLISHED: "if those tied to a person are independent given that person",
    SOUND: "proved",
    HOUSEHOLDS: "proved, if only people of one household depend on each other",
    COMPONENT: "proved",
    EVERYBODY: "proved",
}


class NoiseMethod(NamedTuple):
    """A method, and the factor on the noise that an independent table would need."""

    name: str
    factor: float

    @property
    def promises(self) -> str:
        """What holds about people who depend on each other."""
        return PROMISES[self.name]


def methods(
    people: int, component: int, most_ties: int, sound: float, linear: float | None
) -> list[NoiseMethod]:
    """All methods on one table whose ties have Equation 26 as their kernel."""
    return [
        NoiseMethod(PLAIN, 1.0),
        *([] if linear is None else [NoiseMethod(ZHU, linear)]),
        NoiseMethod(EXACT, tied_factor(most_ties, "exact")),
        NoiseMethod(PUBLISHED, tied_factor(most_ties, "published")),
        NoiseMethod(SOUND, min(sound, component)),
        NoiseMethod(HOUSEHOLDS, 4.0),
        NoiseMethod(COMPONENT, float(component)),
        NoiseMethod(EVERYBODY, float(people)),
    ]


def tied_factor(most_ties: int, which: str, target: float = 1.0) -> float:
    """Theorem 8: who has the most ties sets the noise; ρ is that at the loss which this noise leaves each person."""
    factor = 1.0 + most_ties
    for _ in range(FIXED):
        factor = 1.0 + most_ties * float(getattr(coefficients(target / factor), which))
    return factor


class Coefficients(NamedTuple):
    """ρ between friends by Equation 26 at a loss, by both equations, and the largest log odds ratio of its kernel."""

    loss: float
    exact: float
    published: float
    log_odds: float


@cache
def kernel() -> FloatArray:
    """Where a friend is given where one is: Equation 26 with the paper's b and c on 20 × 20 cells."""
    return friends_places(grid().distances())


@cache
def coefficients(loss: float) -> Coefficients:
    """ρ of Equation 26 at a loss of each person."""
    exact = min(1.0, _frontier()(loss) / loss)
    return Coefficients(loss, exact, published_coefficient(kernel(), loss), kernel_log_odds())


@cache
def _frontier() -> Frontier:
    return Frontier.of(kernel())


@cache
def kernel_log_odds() -> float:
    """The largest log odds ratio of Equation 26."""
    logs = np.log(kernel())
    return max(float(np.ptp(row - logs, axis=1).max()) for row in logs)


def published_coefficient(law: FloatArray, loss: float) -> float:
    """ρ by Equation 18: moves cost in proportion to their length, and each value counts by its farthest one."""
    apart = grid().distances()
    return float(np.log(law @ np.exp(loss * apart.max(axis=1) / apart.max())).max()) / loss


def sound_factor(people: int, ties: IntArray, strength: float, target: float = 1.0) -> float:
    """The noise that message passing asks for, or the group where that is less, if every tie has these log odds."""
    model, losses = Graph(people, ties, np.asarray(strength)), Loss.uniform(1, people)
    return target / largest_multiple(message_passing_bound, model, losses, target, "any", 1e-3).multiple


def strongest_ties(people: int, ties: IntArray, factor: float, target: float = 1.0) -> float:
    """Up to which log odds a tie the sound bound asks for no more than a factor on the noise."""
    low, high = 1e-3, 10.0
    for _ in range(9):
        middle = float(np.sqrt(low * high))
        model = Graph(people, ties, np.asarray(middle))
        leaked = message_passing_bound(Loss.uniform(target / factor, people), model).worst
        low, high = (middle, high) if leaked <= target else (low, middle)
    return low


def linear_factor(vectors: FloatArray) -> float:
    """Zhu et al.: the largest sum of the sizes of a person's correlations with everybody, own 1 included."""
    centred = vectors - vectors.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    lengths = np.sqrt((centred**2).sum(axis=1))
    scaled = centred / np.where(lengths > 0, lengths, 1.0)[:, None]
    return float(np.abs(scaled @ scaled.T).sum(axis=1).max())
