"""Noisy transition counts of a request's table, with a part of the request's own budget."""

from dataclasses import dataclass
from fractions import Fraction

from entwined.learning.chains import CountedMoves
from entwined.learning.spending import settled_for, spent_on
from entwined.mechanisms.transitions import TransitionCounts
from entwined.numbers import Amount
from entwined.promise.price import Price
from entwined.request.request import Request


@dataclass(frozen=True, slots=True)
class CountsSpending:
    """The noisy counts, and what the ledger says after them."""

    moves: CountedMoves
    cap: Fraction
    after: Price


def settled_counts(
    request: Request, by: str, order: str, state: str, budget: Amount
) -> tuple[TransitionCounts, Price]:
    """Settle the noise for a nominal ε, and say what it costs under the request's own models."""
    return settled_for(
        request, lambda promise, each: TransitionCounts.of(promise, by, order, state, each), budget
    )


def counts_on_request(request: Request, mechanism: TransitionCounts, price: Price) -> CountsSpending:
    """Count through the door of a request: its table, models, ledger and cap; the loss is charged there."""
    counts, origin, cap, after = spent_on(request, mechanism, price)
    return CountsSpending(CountedMoves(counts, origin, mechanism.noise), cap, after)
