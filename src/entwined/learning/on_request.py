"""Learn what a request's table shows of its columns, with a part of the request's own budget."""

from dataclasses import dataclass
from fractions import Fraction

from entwined.door.door import Door
from entwined.door.witnessed import witness_of
from entwined.errors import Refused
from entwined.learning.private import Budget, NoisyTables, learn_privately, price_of
from entwined.promise.price import Price
from entwined.request.funds import PLANNING_ONLY, ledger_for
from entwined.request.request import Request
from entwined.tables import open_table


@dataclass(frozen=True, slots=True)
class Spending:
    """What was learned, and what the ledger says before and after it."""

    tables: NoisyTables
    cap: Fraction
    before: Price
    after: Price


def learn_on_request(request: Request, budget: Budget, parents: int = 1) -> Spending:
    """Learn through the door of a request: its table, models, ledger and cap; the loss is charged there."""
    if request.is_exploratory:
        raise Refused(PLANNING_ONLY)
    promise = request.promise
    with (
        open_table(request.source, request.schema) as table,
        ledger_for(request, promise, price_of(promise, budget, parents), witness_of(table)) as ledger,
    ):
        before = ledger.spent().price
        tables = learn_privately(Door(table, promise, ledger), budget, parents=parents)
        return Spending(tables, ledger.cap, before, ledger.spent().price)
