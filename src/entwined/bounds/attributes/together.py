"""The noise of all answers of one release that keeps all of its secrets, and what an observer can still tell.

Answers that leave together are one joint Gaussian release: each secret asks vᵀ(N + C)⁻¹v ≤ μ² of the noise N, with v
and C of its own laws and μ of its own (ε, δ). Noise is drawn for each answer by itself, so N is diagonal. On whole
numbers `on_grid` counts M = N − 3 instead, with N ≥ 6, where the answers' own spread C is counted; where it is not, the
differences v are those of the next whole numbers and C is 0.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from entwined.bounds.attributes.guards import AnswerBox, Guard
from entwined.bounds.attributes.least_trace import Case, corners, least_diagonal, strain
from entwined.bounds.attributes.on_grid import LEAST_SPREAD, rounded
from entwined.bounds.attributes.two_normals import analytic_ratio, told_beside
from entwined.errors import Refused
from entwined.noise.dominated import SMOOTHED, SPARE
from entwined.queries.plain import PlainSum

WHOLE: Final = Fraction(1, 1000)
TRIES: Final = 60


@lru_cache(maxsize=64)
def noise_of(guards: tuple[Guard, ...], asked: tuple[PlainSum, ...]) -> tuple[Fraction, ...]:
    """The variances of noise, in whole numbers, that keep every secret for all answers; all 0 if none is needed.

    Of several answers the sum of the variances is least, each in its own unit.
    """
    if len(asked) == 1:
        return (_alone(guards, asked[0]),)
    if not any(_needs_noise(guard, asked) for guard in guards):
        return (Fraction(0),) * len(asked)
    cases = [case for guard in guards for case in _cases(guard, asked)]
    weights = np.array([float(one.unit) ** 2 for one in asked])
    found = least_diagonal(cases, 1.0, weights / weights.max())
    spare = 1 + SPARE
    return tuple(max(_up(Fraction(one) * spare + SMOOTHED), LEAST_SPREAD) for one in found)


def keeps(guards: Sequence[Guard], asked: Sequence[PlainSum], variances: Sequence[Fraction]) -> bool:
    """Whether noise of these variances, not below those of `noise_of`, keeps every secret."""
    if len(asked) > 1:
        return True  # normal laws: more independent noise shows less
    return all(
        asked[0].column or guard.slip(asked[0], guard.secret.epsilon, variances[0]) <= guard.secret.delta
        for guard in guards
    )


def curve(
    guard: Guard, asked: Sequence[PlainSum], variances: Sequence[Fraction], epsilons: Sequence[float]
) -> list[float]:
    """The δ at each ε of what leaves, for a picture of what the best observer can tell; never below the truth."""
    levels = [Fraction(max(one, 1e-6)) for one in epsilons]
    if len(asked) == 1:
        return [min(guard.slip(asked[0], level, variances[0]), 1.0) for level in levels]
    noise = np.diag([max(float(one - SMOOTHED), 0.0) for one in variances])
    boxes = [(box.shown, math.sqrt(strain(_corners(box), noise))) for box in guard.cases(asked)]
    return [max(told_beside(shown, level, shift, 1.0) for shown, shift in boxes) for level in levels]


def _alone(guards: Sequence[Guard], asked: PlainSum) -> Fraction:
    """The noise of one answer: the most that a secret asks for, tried against all of them."""
    found = max(guard.least(asked) for guard in guards)
    variance = _up(found) if found else found
    for _ in range(TRIES):
        if keeps(guards, [asked], [variance]):
            return variance
        variance = _up(variance * Fraction(101, 100) + 1)
    raise Refused("No noise was found that keeps every secret for this answer. Allow a larger ε or δ.")


def _up(exact: Fraction) -> Fraction:
    """Round up to a few digits, so that documents stay short."""
    return Fraction(math.ceil(exact / WHOLE)) * WHOLE


def _mu(epsilon: Fraction, delta: Fraction) -> float:
    return 1 / analytic_ratio(epsilon, delta)


def _corners(box: AnswerBox) -> list[Case]:
    """Differences and covariances as they are, none counted that is not declared."""
    own = np.zeros((len(box.lows), len(box.lows))) if box.own is None else box.own
    return [(corner, own) for corner in corners(box.lows, box.highs)]


def _needs_noise(guard: Guard, asked: Sequence[PlainSum]) -> bool:
    """Whether the answers' own spread does not keep a secret by itself; rounding normal numbers shows no more."""
    nothing = np.zeros((len(asked), len(asked)))
    for box in guard.cases(asked):
        moved = strain(_corners(box), nothing)
        if moved > 0 and moved > _mu(_left(guard, box), guard.secret.delta) ** 2:
            return True
    return False


def _left(guard: Guard, box: AnswerBox) -> Fraction:
    """What is left of ε beside what is shown anyway."""
    return guard.secret.epsilon - Fraction(box.shown)


def _cases(guard: Guard, asked: Sequence[PlainSum]) -> list[Case]:
    """What a secret asks of M = N − 3, in units of its own μ."""
    secret, found = guard.secret, []
    nothing = np.zeros((len(asked), len(asked)))
    for box in guard.cases(asked):
        if not any((*box.lows, *box.highs)):
            continue
        own, epsilon = box.own, _left(guard, box)
        spread = 0.0 if own is None else max(float(np.linalg.eigvalsh(own).min()) * (1 - 1e-9), 0.0)
        left = rounded(epsilon, secret.delta, Fraction(spread), len(asked))
        if left is None:
            mu = _mu(epsilon, secret.delta)
            boxes = [
                [math.copysign(math.ceil(abs(end)), end) for end in ends] for ends in (box.lows, box.highs)
            ]
            found += [(corner / mu, nothing) for corner in corners(*boxes)]
        else:
            mu, counted = _mu(left.epsilon, left.delta), nothing if own is None else own
            found += [(corner / mu, counted) for corner in corners(box.lows, box.highs)]
    return found


def observer(
    deltas: Sequence[float], epsilons: Sequence[float], false_alarms: Sequence[float]
) -> list[float]:
    """The most often that an observer is right, for each chance of a false alarm: P(S) ≤ e^ε Q(S) + δ, both ways.

    >>> [round(one, 3) for one in observer([0.0], [1.0], [0.0, 0.1, 0.5, 1.0])]
    [0.0, 0.272, 0.816, 1.0]
    """
    pairs = [(math.exp(epsilon), delta) for epsilon, delta in zip(epsilons, deltas, strict=True)]
    return [
        max(
            min(1.0, *(min(times * one + delta, 1 - (1 - delta - one) / times) for times, delta in pairs)),
            one,
        )
        for one in false_alarms
    ]
