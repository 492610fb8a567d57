"""Everything that a request would charge: a batch of questions, mechanisms, or both."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from entwined.canonical import Document
from entwined.door.mechanism import Mechanism
from entwined.mechanisms.batch import Batch
from entwined.promise.part import Part, add_up
from entwined.promise.price import Price
from entwined.promise.promise import Promise
from entwined.request.request import Request


@dataclass(frozen=True, slots=True)
class Bill:
    """Charges in the order they are made, each with its document, and the price of all of them together."""

    promise: Promise
    charges: tuple[tuple[Document, tuple[Part, ...]], ...]
    price: Price

    @classmethod
    def of(cls, promise: Promise, mechanisms: Iterable[Mechanism[Any]]) -> Self:
        """Price mechanisms together, for losses add up and leakages do not."""
        charges = tuple((dict(one.document), one.parts(promise)) for one in mechanisms)
        return cls(promise, charges, promise.price(_added(charges)))

    @classmethod
    def of_batch(cls, planned: Batch) -> Self:
        """The bill of a batch alone: its own price, or that of all that is reserved."""
        promise = planned.promise
        kept = promise.reserve is not None
        price = promise.price({one.key: one for one in planned.charged}) if kept else planned.price
        return cls(promise, ((planned.document, planned.charged),), price)

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is charged, part by part."""
        return tuple(_added(self.charges).values())


def bill_of(request: Request, planned: Batch | None = None) -> Bill:
    """The bill of a request: of its planned batch, if there is one, and of its mechanisms."""
    if planned is not None and not request.tasks:
        return Bill.of_batch(planned)
    batch = () if planned is None else (planned,)
    return Bill.of(request.promise, (*batch, *request.mechanisms))


def _added(charges: Iterable[tuple[Document, tuple[Part, ...]]]) -> dict[str, Part]:
    total: dict[str, Part] = {}
    for _, parts in charges:
        add_up(total, parts)
    return total
