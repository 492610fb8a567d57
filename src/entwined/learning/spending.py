"""Learn from a request's own table with a part of its budget: settle a mechanism, charge it, hand out what it gave."""

from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from entwined.dependence import LearnedFrom
from entwined.door.door import Door
from entwined.door.mechanism import Mechanism
from entwined.door.witnessed import witness_of
from entwined.errors import Refused
from entwined.learning.origin import charged_to
from entwined.mechanisms.fitting import fitted_parts
from entwined.numbers import Amount
from entwined.promise.price import Price
from entwined.promise.promise import Promise
from entwined.request.funds import PLANNING_ONLY, ledger_for
from entwined.request.request import Request
from entwined.tables import open_table

Output = TypeVar("Output")
Made = TypeVar("Made", bound=Mechanism[object])


def settled_for(
    request: Request, make: Callable[[Promise, Fraction], Made], budget: Amount
) -> tuple[Made, Price]:
    """Settle the noise for a nominal ε, and say what it costs under the request's own models."""
    if request.is_exploratory:
        raise Refused(PLANNING_ONLY)
    promise = request.promise
    each, _, price = fitted_parts(promise, lambda one: make(promise, one).parts(promise), None, budget)
    return make(promise, each), price


def spent_on(
    request: Request, mechanism: Mechanism[Output], price: Price
) -> tuple[Output, LearnedFrom, Fraction, Price]:
    """Let a mechanism through the door of a request; its output and charge, the cap, and what was spent after it."""
    promise = request.promise
    with (
        open_table(request.source, request.schema) as table,
        ledger_for(request, promise, price, witness_of(table)) as ledger,
    ):
        output = Door(table, promise, ledger).admit(mechanism).output
        return output, charged_to(ledger), ledger.cap, ledger.spent().price
