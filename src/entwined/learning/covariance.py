"""A covariance from noisy sums: boxes that hold them but for a stated chance, with a part of a request's budget."""

from fractions import Fraction
from itertools import product
from typing import NamedTuple

from entwined.bounds.attributes.learned_covariance import Interval, LearnedCovariance
from entwined.dependence import LearnedFrom
from entwined.learning.spending import settled_for, spent_on
from entwined.mechanisms.moments import NoisyMoments
from entwined.noise.lattice import probability
from entwined.numbers import Amount
from entwined.promise.price import Price
from entwined.request.request import Request


class CovarianceSpending(NamedTuple):
    """What was learned, and what the ledger says after it."""

    learned: LearnedCovariance
    cap: Fraction
    after: Price


def settled_moments(request: Request, columns: list[str], budget: Amount) -> tuple[NoisyMoments, Price]:
    """Settle the noise for a nominal ε, and say what it costs under the request's own models."""
    return settled_for(request, lambda promise, each: NoisyMoments.of(promise, columns, each), budget)


def covariance_on_request(
    request: Request, mechanism: NoisyMoments, price: Price, confidence: Amount
) -> CovarianceSpending:
    """Learn through the door of a request: its table, models, ledger and cap; the loss is charged there."""
    sure = probability(str(confidence), "Confidence")
    numbers, origin, cap, after = spent_on(request, mechanism, price)
    return CovarianceSpending(learned_from(mechanism, numbers, sure, origin), cap, after)


def learned_from(
    mechanism: NoisyMoments, numbers: tuple[int, ...], confidence: Fraction, origin: LearnedFrom
) -> LearnedCovariance:
    """Put boxes around sums of centred products: half of what may be missed is for the noise on them."""
    sums, rows = mechanism.sums, int(mechanism.sums.schema.rows or 0)
    missed = (1 - confidence) / 2 / len(numbers)
    reach = [noise.accuracy(missed) for noise in mechanism.noises]
    boxes = [
        Interval(Fraction(one - far), Fraction(one + far)) for one, far in zip(numbers, reach, strict=True)
    ]
    first, products = (
        boxes[: len(sums.columns)],
        dict(zip(sums.pairs, boxes[len(sums.columns) :], strict=True)),
    )
    sides, steps = range(len(sums.columns)), sums.steps
    halves = [rows * (step * size / 2) ** 2 for step, size in zip(steps, sums.sizes, strict=True)]

    def possible(box: Interval, at: int, other: int) -> Interval:
        """Give the public bound where a box holds nothing that can be, which is one of the misses that are allowed."""
        return Interval(Fraction(0), halves[at]) if at == other and box.high <= 0 else box

    def scatter(at: int, other: int) -> Interval:
        whole = products[max(at, other), min(at, other)]
        corners = [one * two / rows for one, two in product(first[at], first[other])]
        if at == other:
            squares = first[at].sizes
            corners = [squares.low**2 / rows, squares.high**2 / rows]
        scale = steps[at] * steps[other]
        low, high = (whole.low - max(corners)) * scale, (whole.high - min(corners)) * scale
        return Interval(max(low, Fraction(0)) if at == other else low, high)

    table = tuple(tuple(possible(scatter(at, other), at, other) for other in sides) for at in sides)
    means = tuple(
        Interval(*(centre + step * end / rows for end in one))
        for centre, step, one in zip(sums.centres, steps, first, strict=True)
    )
    return LearnedCovariance(sums.columns, rows, table, means, confidence, origin)
