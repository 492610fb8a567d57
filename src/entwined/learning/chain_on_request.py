"""Noisy transition counts of a request's table, with a part of the request's own budget."""

from dataclasses import dataclass
from fractions import Fraction

from entwined.door.door import Door
from entwined.door.witnessed import witness_of
from entwined.errors import Refused
from entwined.learning.chains import CountedMoves
from entwined.mechanisms.fitting import fitted_parts
from entwined.mechanisms.transitions import TransitionCounts
from entwined.numbers import Amount
from entwined.promise.price import Price
from entwined.request.funds import PLANNING_ONLY, ledger_for
from entwined.request.request import Request
from entwined.tables import open_table


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
    if request.is_exploratory:
        raise Refused(PLANNING_ONLY)
    promise = request.promise

    def make(each: Fraction) -> TransitionCounts:
        return TransitionCounts.of(promise, by, order, state, each)

    each, _, price = fitted_parts(promise, lambda one: make(one).parts(promise), None, budget)
    return make(each), price


def counts_on_request(request: Request, mechanism: TransitionCounts, price: Price) -> CountsSpending:
    """Count through the door of a request: its table, models, ledger and cap; the loss is charged there."""
    promise = request.promise
    with (
        open_table(request.source, request.schema) as table,
        ledger_for(request, promise, price, witness_of(table)) as ledger,
    ):
        counts = Door(table, promise, ledger).admit(mechanism).output
        moves = CountedMoves(counts, "the private table with a budget", "learned", mechanism.noise)
        return CountsSpending(moves, ledger.cap, ledger.spent().price)
