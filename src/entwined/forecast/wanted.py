"""From the accuracy that is wanted to the loss that it takes, and how it is shared among the questions.

Each question alone needs some loss of its statistics for its interval to be as short as wanted. The batch is
shared in that proportion, so that a question that may be coarse does not cost as much as one that must be
fine. Then the least loss of the whole is sought: intervals get shorter as it grows, by whole steps where the
noise is a whole number.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from entwined.errors import BadNoise, BadQuery, Unreachable
from entwined.forecast.draft import Draft
from entwined.forecast.forecast import Assumed, forecasts
from entwined.mechanisms.batch import plan_batch
from entwined.progress import report
from entwined.promise.promise import Promise, promise_of
from entwined.queries import Query

CLOSE: Final = 1e-5  # how far above the least loss the one found may be
ROUGHLY: Final = 1e-2  # the same, where only a share is sought
FINEST: Final = 1000  # the parts that shares are given in
FIRST_STEPS: Final = 16.0  # the most by which a loss is changed at once until the least one is enclosed
MOST_STEPS: Final = 200
MOST_DOUBLINGS: Final = 14

Wish: TypeAlias = tuple[Query, Fraction]  # a query, and the half-width that it should have at most
Excess: TypeAlias = Callable[[float], float]


@dataclass(frozen=True, slots=True)
class Fitted:
    """The nominal loss of a batch, and the share of each of its questions, the largest of which is 1."""

    loss: Fraction
    shares: tuple[Fraction, ...]


def fitted(promise: Promise, wanted: Sequence[Wish], assumed: Assumed) -> Fitted:
    """Find the least nominal loss, shared by need, at which every 95 % interval is as short as wanted."""
    shares = _shares(promise, wanted, assumed)
    planned = plan_batch(promise, [query for query, _ in wanted], loss=1, shares=shares)
    batch, quick = Draft.of(planned), _excess(Draft.of(planned), wanted, assumed)

    def exact(loss: float) -> float:
        return _excess(batch.at(Fraction(loss)).weighed(), wanted, assumed)(1.0)

    return Fitted(Fraction(_sure(exact, _least(quick, CLOSE))), shares)


def _shares(promise: Promise, wanted: Sequence[Wish], assumed: Assumed) -> tuple[Fraction, ...]:
    """Share a batch by what each question needs on its own, rounded up."""
    alone = replace(assumed, consistent=False)
    needs = []
    for number, wish in enumerate(wanted):
        report("loss for each accuracy", number, len(wanted))
        planned = plan_batch(promise_of(promise.schema), wish[0], loss=1)
        excess = _excess(Draft.of(planned), [wish], alone)
        needs.append(_least(excess, ROUGHLY) * float(planned.loss))
    most = max(needs)
    return tuple(Fraction(min(math.ceil(FINEST * need / most), FINEST), FINEST) for need in needs)


def _excess(batch: Draft, wanted: Sequence[Wish], assumed: Assumed) -> Excess:
    """Give the function from a loss to the largest ratio of an interval to what it should be; 1 is enough."""
    wishes: dict[str, Fraction] = {}
    for query, half in wanted:
        wishes[query.fingerprint] = min(half, wishes.get(query.fingerprint, half))

    def excess(loss: float) -> float:
        found = forecasts(batch if loss == 1 else batch.at(Fraction(loss)), assumed)
        return max(
            _reach(query, one.reach) / float(wishes[query.fingerprint])
            for query, one in zip(batch.queries, found, strict=True)
        )

    return excess


def _reach(query: Query, reach: float | None) -> float:
    if reach is None:
        raise BadQuery(
            f"{query!s:.200}: how exact it will be depends on how many rows there are, and nothing says that. "
            "Give expected_rows, or a leakage instead of `within`."
        )
    return reach


def _least(excess: Excess, close: float) -> float:
    """Find the least loss whose excess is at most 1."""
    low, high = _enclosed(excess)
    for step in range(MOST_STEPS):
        if high <= low * (1 + close):
            break
        report("loss for the accuracy", step, 20)
        middle = math.sqrt(low * high)
        low, high = (low, middle) if excess(middle) <= 1 else (middle, high)
    return high


def _sure(excess: Excess, loss: float) -> float:
    """Go a little above: a plan rounds its digits down, and an interval of a ratio may waver in its last ones."""
    for step in range(MOST_DOUBLINGS):
        more = loss * (1 + CLOSE * 2.0**step)
        if excess(more) <= 1:
            return more
    raise Unreachable("No loss keeps to these half-widths. Give others in `within`.")


def _enclosed(excess: Excess) -> tuple[float, float]:
    """Find a loss that is too small and one that is not."""
    low = high = None
    loss = 1.0
    for _ in range(MOST_STEPS):
        try:
            ratio = excess(loss)
        except BadNoise:
            break
        if ratio > 1:
            low = loss
        else:
            high = loss
        if low is not None and high is not None:
            return low, high
        wide = ratio * 1.02 if ratio > 1 else ratio / 1.02
        loss *= min(max(wide, 1 / FIRST_STEPS), FIRST_STEPS)
    raise Unreachable(
        "No integer noise is as fine, or as coarse, as these half-widths need. Give others in `within`, nearer "
        "to each other's size, or ask in two releases."
    )
