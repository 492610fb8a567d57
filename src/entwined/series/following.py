"""One stream from its request: opened or found again, and answered with its errors."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from entwined.door.door import Door
from entwined.door.following import Following, follow
from entwined.door.stepwise import StepAnswer
from entwined.door.witnessed import rows_bound_on_leaving, witness_of
from entwined.errors import BadInput
from entwined.mechanisms.streams.followed import Followed
from entwined.mechanisms.streams.stream import Stream
from entwined.promise.promise import Promise
from entwined.request.bill import bill_of
from entwined.request.funds import ledger_for
from entwined.request.request import Request
from entwined.schema.exact import number_text
from entwined.series.errors import StepErrors
from entwined.series.journal import StepJournal
from entwined.series.steps import IncomingLines, StepsIn
from entwined.tables.files import open_csv
from entwined.tables.table import Table

ONE_STREAM: Final = 'Give one [[mechanism]] with kind = "stream", and nothing else.'


@dataclass(frozen=True, slots=True)
class ToldStep:
    """The answer of a step in the unit of what was asked, with its 95 % half-width."""

    step: int
    value: Fraction
    within: float

    @property
    def csv(self) -> str:
        """A line for a table."""
        return f"{self.step},{number_text(self.value)},{self.within:.6g}"

    @property
    def json(self) -> str:
        """A line for a program."""
        return f'{{"step":{self.step},"value":{float(self.value)!r},"within":{self.within:.6g}}}'


@dataclass(frozen=True)
class Streaming:
    """A request for one stream, settled under its promise; nothing is read or charged."""

    request: Request
    stream: Stream
    name: str

    @classmethod
    def of(cls, request: Request) -> "Streaming":
        """Take the one stream of a request."""
        if request.questions or len(request.mechanisms) != 1 or not isinstance(request.mechanisms[0], Stream):
            raise BadInput(ONE_STREAM)
        return cls(request, request.mechanisms[0], request.tasks[0].name)

    @property
    def promise(self) -> Promise:
        """What is promised."""
        return self.request.promise

    @cached_property
    def unit(self) -> Fraction:
        """What one released integer stands for."""
        found = self.stream.query.answer(self.promise.schema, [[1]])
        return Fraction(found) if isinstance(found, int | Fraction) else Fraction(1)

    def within(self, step: int) -> float:
        """The 95 % half-width of the answer of a step, in the unit of what was asked."""
        return self._errors.within(step) * float(self.unit)

    def told(self, answers: Sequence[StepAnswer]) -> Iterator[ToldStep]:
        """Give answers in their unit, with their errors."""
        return (ToldStep(one.step, one.number * self.unit, self.within(one.step)) for one in answers)

    @cached_property
    def _errors(self) -> StepErrors:
        return StepErrors(self.stream, self.promise)


@contextmanager
def followed(
    streaming: Streaming, descriptor: int, journal: StepJournal, *, again: bool = True, ends: bool = True
) -> Iterator[Following]:
    """Open a stream, or find it again, and answer what comes in; what was answered before is in the journal.

    `again`: lines that were answered come in again, as those of a file do. `ends`: the last step ends with the input.
    """
    request, stream, promise = streaming.request, streaming.stream, streaming.promise
    for one in request.dependence:
        one.check(request.schema)
    lines = IncomingLines(descriptor)
    with ExitStack() as ending:
        ending.callback(journal.close)
        incoming = StepsIn(
            promise.schema,
            streaming.name,
            lines,
            step=stream.step,
            late=stream.late,
            again=again,
            ends=ends,
            series=promise.kept.by if promise.kept is not None else None,
            file=ending.enter_context(_file(request)) if again else None,
        )
        price = bill_of(request).price
        ledger = ending.enter_context(ledger_for(request, promise, price, witness_of(incoming)))
        mechanism = Followed(stream, streaming.name, promise, journal)
        with rows_bound_on_leaving(incoming, ledger):
            yield follow(Door(incoming, promise, ledger), mechanism, incoming, journal)


def _file(request: Request) -> Table:
    """Open the file that a stream follows as the table that it is so far: its rows are known again."""
    return Table(request.schema, open_csv(request.source))
