"""How much loss each statistic of a batch may have, and where it falls.

Every statistic gets the same loss e for its own worst change, times the share of its query. All losses grow in
proportion to e, so it is found by dividing what is allowed by what e = 1 would cost.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final, TypeAlias

from entwined.errors import BadQuery, Refused, Unreachable
from entwined.noise import DiscreteLaplace
from entwined.noise.squared_laplace import SquaredLaplace
from entwined.numbers import Amount, positive_fraction
from entwined.promise.measure import NoiseKind
from entwined.promise.moved_by_one import MovedByOne
from entwined.promise.one_number import OneNumber
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.price import Price
from entwined.promise.promise import Promise
from entwined.promise.reserve import WITHIN as WITHIN_RESERVE
from entwined.queries import Reach, Statistic

GRID: Final = 10**18
"""Charges are rounded up to whole parts of this, so that their sums stay short however many there are."""
DIGITS: Final = 12
SLACKS: Final = (Fraction(0), *(Fraction(10) ** -exponent for exponent in range(DIGITS, 2, -1)))
"""What is given up, if the charges as they are rounded up pass the limit by a little."""

AS_PLANNED: Final = Fraction(
    1, 10**6
)  # the part of a leakage that losses as they were planned may leave unused
HARDLY: Final = 0.005  # the part of a leakage that a comparison may leave unused

Shared: TypeAlias = list[tuple[Statistic, Fraction]]  # statistics, and the share of e that each gets


def fitted(
    promise: Promise,
    statistics: Shared,
    leakage: Amount | None,
    loss: Amount | None,
    noise: NoiseKind = "",
) -> tuple[Fraction, tuple[Part, ...], Price]:
    """Find the largest e, in a few digits, whose charges stay within what is allowed."""
    if leakage is not None and loss is None and any(share != 1 for _, share in statistics):
        whole = losses(
            promise, statistics, Fraction(1), once=True, noise=noise
        )  # perhaps shares are losses that were planned
        as_given = promise.alone(whole)
        allowed = positive_fraction(leakage, "Leakage")
        if allowed * (1 - AS_PLANNED) <= as_given.worst <= allowed:
            return Fraction(1), whole, as_given
    return fitted_parts(
        promise, lambda each: losses(promise, statistics, each, once=True, noise=noise), leakage, loss
    )


def fitted_parts(
    promise: Promise,
    charged: Callable[[Fraction], tuple[Part, ...]],
    leakage: Amount | None,
    loss: Amount | None,
) -> tuple[Fraction, tuple[Part, ...], Price]:
    """Find the largest loss, in a few digits, whose charges stay within what is allowed; they grow in proportion."""
    if (leakage is None) == (loss is None):
        raise BadQuery("A release needs either a leakage or a loss. Give one of them.")
    whole = charged(Fraction(1))
    if leakage is not None:
        allowed = positive_fraction(leakage, "Leakage")
        each = promise.largest(whole, allowed)
    else:
        allowed = positive_fraction(loss, "Loss")  # type: ignore[arg-type]  # one of the two is given
        each = promise.measure.largest(allowed) / promise.base(whole).nominal
    for slack in SLACKS:
        short = _rounded_down(each * (1 - slack))
        parts = charged(short)
        price = promise.alone(parts)
        if (price.worst if leakage is not None else price.nominal) <= allowed:
            return short, parts, price
    raise Unreachable(f"No noise keeps the batch within {float(allowed):.6g}. Ask for less, or allow more.")


def nearly_fitted(promise: Promise, statistics: Shared, leakage: Fraction, noise: NoiseKind = "") -> Fraction:
    """Find an e that leaks at most this, and hardly less: enough to compare noise, and no price is worked out."""
    whole = losses(promise, statistics, Fraction(1), once=True, noise=noise)
    return _rounded_down(promise.largest(whole, leakage, HARDLY))


def losses(
    promise: Promise, statistics: Shared, each: Fraction, *, once: bool = False, noise: NoiseKind = ""
) -> tuple[Part, ...]:
    """Charge every statistic its share of `each` for its worst change, and less where it moves less.

    `once` is said by who draws each statistic once, with its noise, and nothing else. What is proved of that, and not
    of losses alone, is claimed for nothing else: a stream of counts has the loss of one count, and shows many.
    """
    if not once and promise.reserve is not None:
        raise Refused(WITHIN_RESERVE)
    charged: dict[str, Part] = {}
    drawn = _the_number(promise, statistics) if once else None
    for statistic, share in statistics:
        moves = promise.moves(statistic)
        worst = worst_change(promise, statistic)
        distance = promise.distance_of(statistic)
        counted = _counts(promise, statistic) if once and noise == "laplace" else None
        for part in moves:
            one, both = (
                _on_grid(each * share * moved / worst)
                for moved in (part.sensitivity.one, part.sensitivity.both)
            )
            if one or both:
                number = drawn and drawn(each * share, worst, (one, both))
                counts = (
                    counted(part, SquaredLaplace.for_rho(each * share, worst), (one, both))
                    if counted
                    else None
                )
                key = key_of(
                    part.where,
                    part.column,
                    part.together,
                    part.filling,
                    distance,
                    number,
                    counts=counts,
                    reserved=part.reserved,
                )
                loss = Part(key, one, both)
                charged[loss.key] = charged[loss.key] + loss if loss.key in charged else loss
    return tuple(charged[key] for key in sorted(charged))


def _the_number(
    promise: Promise, statistics: Shared
) -> Callable[[Fraction, Fraction, tuple[Fraction, Fraction]], OneNumber] | None:
    """Name the number that a batch is by its loss, where it is a single one that may have a price of its own."""
    if len(statistics) != 1 or statistics[0][0].selects or statistics[0][0].filling:
        return None
    added = promise.single_numbers.added(statistics[0][0].aggregate, promise.declared)
    if added is None:
        return None
    return lambda loss, worst, once: OneNumber(added, DiscreteLaplace.for_loss(loss, worst).scale, once)


def _counts(
    promise: Promise, statistic: Statistic
) -> Callable[[Reach, DiscreteLaplace, tuple[Fraction, Fraction]], MovedByOne | None] | None:
    """Name counts by their noise, where each number is one of rows, and a cell moves it by one at most."""
    schema = promise.schema
    whole = statistic.sensitivity(schema)
    if (
        not (promise.is_for_one_batch and schema.unit.by_column and statistic.aggregate.counts_rows)
        or statistic.selects
        or statistic.filling
        or schema.unit.most_rows > 1
        or promise.measure.is_pure
    ):
        return None
    most = int(max(whole.one, whole.both))
    return lambda part, noise, once: None if part.together else MovedByOne(noise.scale, most, once)


def worst_change(promise: Promise, statistic: Statistic) -> Fraction:
    """Give the largest change between neighbouring tables, in what is charged."""
    found = (part.worst(promise.schema) * promise.rows_moved(part) for part in promise.moves(statistic))
    return max(found, default=Fraction(0))


def _on_grid(loss: Fraction) -> Fraction:
    return Fraction(-(-loss.numerator * GRID // loss.denominator), GRID)


def _rounded_down(exact: Fraction) -> Fraction:
    """Keep the first digits of a number."""
    place = math.floor(math.log10(exact.numerator) - math.log10(exact.denominator)) + 1
    unit = Fraction(10) ** (place - DIGITS)
    return exact // unit * unit
