"""What a wrong margin costs: convex losses whose slope is at most 1 and whose bend is bounded."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Protocol

import numpy as np

from entwined.numbers import FloatArray

CORNER: Final = Fraction(1, 2)  # half the width over which the corner of the hinge is rounded


class MarginLoss(Protocol):
    """A loss ℓ of a margin m and a sign y: convex, ℓ(0) ≤ 1, |ℓ′| ≤ 1, and ℓ′ is Lipschitz with constant `bend`."""

    bend: ClassVar[Fraction]
    has_chances: ClassVar[bool]

    def slopes(self, margins: FloatArray, signs: FloatArray) -> FloatArray:
        """Give ℓ′(m) of rows with margins m and signs −1, 1, or 0 for no label: within ±1, 0 where there is none."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """ℓ = log(1 + e^(−ym)): bends by at most 1/4."""

    bend: ClassVar[Fraction] = Fraction(1, 4)
    has_chances: ClassVar[bool] = True

    def slopes(self, margins: FloatArray, signs: FloatArray) -> FloatArray:
        """−y / (1 + e^(ym))."""
        return -signs * chance(-signs * margins)


@dataclass(frozen=True, slots=True)
class RoundedHinge:
    """ℓ = max(0, 1 − ym) with the corner replaced by a parabola from 1 − h to 1 + h (Chaudhuri et al. 2011)."""

    bend: ClassVar[Fraction] = 1 / (2 * CORNER)
    has_chances: ClassVar[bool] = False

    def slopes(self, margins: FloatArray, signs: FloatArray) -> FloatArray:
        """−y · ((1 + h − ym) / 2h, cut to 0..1)."""
        corner = float(CORNER)
        return -signs * np.clip((1 + corner - signs * margins) / (2 * corner), 0.0, 1.0)


def chance(margins: FloatArray) -> FloatArray:
    """1 / (1 + e^(−m)), within 0..1 and exact to a few units in the last place."""
    shrunk = np.exp(-np.abs(margins))
    return np.asarray(np.where(margins >= 0, 1.0, shrunk) / (1.0 + shrunk))
