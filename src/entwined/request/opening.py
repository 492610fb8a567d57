"""The ledger of a table and its models: opened if it is there, begun if it is not."""

from collections.abc import Mapping
from pathlib import Path

from entwined.bounds import Knowledge
from entwined.ledger import Book, Ledger
from entwined.ledger.calendar import Calendar
from entwined.numbers import Amount, positive_fraction
from entwined.promise.promise import Dependences, promise_of
from entwined.promise.secrets import KeptSecrets
from entwined.schema import Schema


def calendar_of(given: Mapping[str, Amount]) -> Calendar:
    """Read how much may leak in each period, exactly."""
    return Calendar.of({name: positive_fraction(given[name], f"calendar {name}") for name in given})


def open_ledger(  # noqa: PLR0913  (these are the terms that a ledger is made for)
    where: str | Path,
    schema: Schema,
    *,
    cap: Amount,
    dependence: Dependences = (),
    knowledge: Knowledge = "any",
    delta: Amount | None = None,
    anchor: Path | None = None,
    calendar: Mapping[str, Amount] | None = None,
    secrets: KeptSecrets | None = None,
    reserve: Mapping[str, Amount] | None = None,
) -> Ledger:
    """Open the ledger of a schema and its models, or begin it; one made for other terms is refused."""
    promise = promise_of(schema, dependence, knowledge, delta, secrets, reserve)
    most = positive_fraction(cap, "Cap")
    periods = None if calendar is None else calendar_of(calendar)
    return Book(where, anchor).opened_or_begun(
        lambda: Ledger.open(where, most, promise, anchor, periods),
        lambda: Ledger.create(where, most, promise, anchor, periods),
    )
