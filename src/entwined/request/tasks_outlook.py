"""What the mechanisms of a release file will cost and give; no row is read."""

from dataclasses import dataclass
from typing import Final

from entwined.bounds import Bound, Exposure
from entwined.canonical import Document
from entwined.promise.counted_rows import counted_rows
from entwined.promise.part import add_up
from entwined.request.bill import bill_of
from entwined.request.funds import Funds, amounts, funds_of
from entwined.request.request import Request

FORMAT: Final = "entwined plan of mechanisms 1"


@dataclass(frozen=True, eq=False)
class TasksOutlook:
    """A request without questions before it is carried out."""

    request: Request
    funds: Funds

    @property
    def bounds(self) -> dict[str, Bound[Exposure]]:
        """What the mechanisms together leak of every unit, under each model."""
        promise = self.request.promise
        parts = (part for mechanism in self.request.mechanisms for part in mechanism.parts(promise))
        return promise.bounds(promise.base(parts))

    @property
    def document(self) -> Document:
        """The outlook as JSON."""
        request, delta = self.request, self.request.promise.measure.delta
        return {
            "format": FORMAT,
            "title": request.title,
            "unit": request.schema.unit.document,
            "neighbours": request.schema.neighbours,
            "knowledge": request.knowledge,
            "delta": None if delta is None else float(delta),
            "models": [
                {"name": name, "kind": one.model.kind, "source": one.model.source}
                for name, one in zip(request.promise.judges, request.declared, strict=True)
            ],
            "first_lines": list(request.first_lines),
            "failed_checks": list(request.promise.failures),
            "counted_rows": list(counted_rows(request.promise)),
            "mechanisms": planned(request),
            "budget": self.funds.document,
        }


def tasks_outlook(request: Request) -> TasksOutlook:
    """Look ahead: settle the mechanisms, and ask the ledger what would be left."""
    return TasksOutlook(request, funds_of(request, bill_of(request)))


def planned(request: Request) -> list[Document]:
    """Say of every mechanism what it will cost and give."""
    promise = request.promise
    return [
        {
            "name": task.name,
            "kind": mechanism.kind,
            "says": mechanism.words,
            "asked": task.asked,
            "price": amounts(promise.price(add_up({}, mechanism.parts(promise)))),
            "expected": mechanism.expected(request.rows).document,
            "mechanism": dict(mechanism.document),
        }
        for task, mechanism in zip(request.tasks, request.mechanisms, strict=True)
    ]
