"""The noise of all answers of one release that keeps all of its secrets, and what an observer can still tell.

Answers that leave together are one joint Gaussian release: each secret asks vᵀ(N + C)⁻¹v ≤ μ² of the noise N, with v
and C of its own laws and μ of its own (ε, δ). On whole numbers `on_grid` counts M = N − 3 instead, with N ≥ 6, where
the answers' own spread C is counted; where it is not, the differences v are those of the next whole numbers and C is 0.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np

from entwined.bounds.attributes.guards import AnswerBox, SecretGuard
from entwined.bounds.attributes.joint_noise import THIRD, JointNoise, least_joint, up
from entwined.bounds.attributes.laplace_noise import SCALES, LaplaceNoise, is_pure, least_laplace, shown_of
from entwined.bounds.attributes.least_trace import Case, corners, strain
from entwined.bounds.attributes.on_grid import LEAST_SPREAD, rounded
from entwined.bounds.attributes.two_normals import analytic_ratio, told_beside
from entwined.errors import Refused
from entwined.numbers import float_below
from entwined.queries.plain import PlainSum

VeilNoise: TypeAlias = JointNoise | LaplaceNoise
TRIES: Final = 60
CLOSE: Final = Fraction(1, 10**9)


def veil_of(guards: tuple[SecretGuard, ...], asked: tuple[PlainSum, ...]) -> VeilNoise:
    """The noise that keeps every secret for all answers: Laplace where that is for certain, Gaussian with a δ."""
    return least_laplace(guards, asked) if is_pure(guards) else noise_of(guards, asked)


def veil_keeps(guards: tuple[SecretGuard, ...], asked: tuple[PlainSum, ...], noise: VeilNoise) -> bool:
    """Whether noise keeps every secret for all answers, whoever made it."""
    if isinstance(noise, LaplaceNoise):
        kept = (shown_of(one, asked, noise) <= float_below(one.secret.epsilon) for one in guards)
        return is_pure(guards) and all(kept)
    return not is_pure(guards) and keeps(guards, asked, noise)


def veil_from(given: Mapping[str, Any]) -> VeilNoise:
    """Read noise as it was written."""
    return LaplaceNoise.from_document(given) if SCALES in given else JointNoise.from_document(given)


@lru_cache(maxsize=64)
def noise_of(guards: tuple[SecretGuard, ...], asked: tuple[PlainSum, ...]) -> JointNoise:
    """The noise, in whole numbers, that keeps every secret for all answers; none if none is needed.

    Of several answers the sum of the variances is near the least, each in its own unit.
    """
    if len(asked) == 1:
        return JointNoise((_alone(guards, asked[0]),))
    if not any(_needs_noise(guard, asked) for guard in guards):
        return JointNoise((Fraction(0),) * len(asked))
    weights = np.array([float(one.unit) ** 2 for one in asked])
    cases, stiff = _all_cases(guards, asked)
    return least_joint(cases, weights / weights.max(), stiff, _grain(asked))


@lru_cache(maxsize=64)
def keeps(guards: tuple[SecretGuard, ...], asked: tuple[PlainSum, ...], noise: JointNoise) -> bool:
    """Whether noise keeps every secret for all answers, whoever made it."""
    if len(asked) == 1:
        (variance,) = noise.variances
        return not noise.direction and all(_keeps_alone(guard, asked[0], variance) for guard in guards)
    needing = [guard for guard in guards if _needs_noise(guard, asked)]
    if not needing:
        return True
    cases, stiff = _all_cases(needing, asked)
    return (
        min(noise.variances) >= LEAST_SPREAD * _grain(asked) ** 2
        and (not noise.direction or noise.stiffness(_grain(asked)) + stiff <= THIRD)
        and strain(cases, noise.counted) <= 1.0 + float(CLOSE)
    )


def curve(
    guard: SecretGuard, asked: Sequence[PlainSum], noise: VeilNoise, epsilons: Sequence[float]
) -> list[float]:
    """The δ at each ε of what leaves, for a picture of what the best observer can tell, but for what rounding costs."""
    levels = [Fraction(max(one, 1e-6)) for one in epsilons]
    if isinstance(noise, LaplaceNoise):
        shown = shown_of(guard, asked, noise)
        return [told_beside(shown, level, 0.0, 1.0) for level in levels]
    if len(asked) == 1:
        return [min(guard.slip(asked[0], level, noise.variances[0]), 1.0) for level in levels]
    boxes = [(box, math.sqrt(strain(_corners(box), noise.counted))) for box in guard.cases(asked)]
    return [
        min(max(told_beside(box.shown, level, shift, 1.0) + float(box.missed) for box, shift in boxes), 1.0)
        for level in levels
    ]


def _alone(guards: Sequence[SecretGuard], asked: PlainSum) -> Fraction:
    """The noise of one answer: the most that a secret asks for, tried against all of them."""
    found = max(guard.least(asked) for guard in guards)
    variance = up(found) if found else found
    for _ in range(TRIES):
        if all(_keeps_alone(guard, asked, variance) for guard in guards):
            return variance
        variance = up(variance * Fraction(101, 100) + 1)
    raise Refused("No noise was found that keeps every secret for this answer. Allow a larger ε or δ.")


def _keeps_alone(guard: SecretGuard, asked: PlainSum, variance: Fraction) -> bool:
    """Whether noise keeps a secret for one answer: normal ones need no less than the least, counts are tried."""
    if asked.column:
        return variance >= guard.least(asked) * (1 - CLOSE)
    return guard.slip(asked, guard.secret.epsilon, variance) <= guard.secret.delta


def _all_cases(guards: Sequence[SecretGuard], asked: Sequence[PlainSum]) -> tuple[list[Case], Fraction]:
    """What all secrets ask of M = N − 3, and g²/λ of the least spread of the answers that is counted."""
    found = [(case, stiff) for guard in guards for case, stiff in _cases(guard, asked)]
    return [case for case, _ in found], max(stiff for _, stiff in found)


def _grain(asked: Sequence[PlainSum]) -> int:
    """How far apart the sums lie, at most."""
    return max(one.grain for one in asked)


def _mu(epsilon: Fraction, delta: Fraction) -> float:
    return 1 / analytic_ratio(epsilon, delta)


def _corners(box: AnswerBox) -> list[Case]:
    """Differences and covariances as they are, none counted that is not declared."""
    own = np.zeros((len(box.lows), len(box.lows))) if box.own is None else box.own
    return [(corner, own) for corner in corners(box.lows, box.highs)]


def _needs_noise(guard: SecretGuard, asked: Sequence[PlainSum]) -> bool:
    """Whether the answers' own spread does not keep a secret by itself; rounding normal numbers shows no more."""
    nothing = np.zeros((len(asked), len(asked)))
    for box in guard.cases(asked):
        moved = strain(_corners(box), nothing)
        if moved > 0 and moved > _mu(_left(guard, box), guard.secret.delta - box.missed) ** 2:
            return True
    return False


def _left(guard: SecretGuard, box: AnswerBox) -> Fraction:
    """What is left of ε beside what is shown anyway."""
    return guard.secret.epsilon - Fraction(box.shown)


def _cases(guard: SecretGuard, asked: Sequence[PlainSum]) -> list[tuple[Case, Fraction]]:
    """What a secret asks of M = N − 3, in units of its own μ, and g²/λ where the answers' own spread is counted."""
    squared = _grain(asked) ** 2
    found: list[tuple[Case, Fraction]] = []
    nothing = np.zeros((len(asked), len(asked)))
    for box in guard.cases(asked):
        if not any((*box.lows, *box.highs)):
            continue
        own, epsilon, delta = box.own, _left(guard, box), guard.secret.delta - box.missed
        spread = 0.0 if own is None else max(float(np.linalg.eigvalsh(own).min()) * (1 - 1e-9), 0.0)
        left = rounded(epsilon, delta, Fraction(spread) / squared, len(asked))
        if own is None or left is None:
            whole = _next(box.lows, asked, math.floor), _next(box.highs, asked, math.ceil)
            mu = _mu(epsilon, delta)
            found += [((corner / mu, nothing), Fraction(0)) for corner in corners(*whole)]
        else:
            mu = _mu(left.epsilon, left.delta)
            stiff = squared / Fraction(spread)
            found += [((corner / mu, own), stiff) for corner in corners(box.lows, box.highs)]
    return found


def _next(ends: Sequence[float], asked: Sequence[PlainSum], way: Callable[[float], int]) -> list[float]:
    """The next multiples of the answers' grains."""
    return [float(one.grain * way(end / one.grain)) for end, one in zip(ends, asked, strict=True)]


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


def parity_gap(epsilon: float, delta: float) -> float:
    """How much more often any decision falls for one of two than for the other, at most: (e^ε − 1 + 2δ)/(e^ε + 1).

    Theorem. Let p and q be the chances that a rule, which sees nothing but what was released, says yes given one and
    the other. If p ≤ e^ε q + δ, and the same for no and with both exchanged, |p − q| is at most that, and no more can
    be said. Proof. p ≤ e^ε q + δ and 1 − q ≤ e^ε (1 − p) + δ are lines; p − q is largest where they meet, at
    p = (e^ε + δ)/(e^ε + 1) and q = (1 − δ)/(e^ε + 1). ∎

    >>> round(parity_gap(1.0, 0.001), 4), parity_gap(0.0, 0.0)
    (0.4627, 0.0)
    """
    times = math.exp(epsilon)
    return min((times - 1 + 2 * delta) / (times + 1) * (1 + 1e-12), 1.0)
