"""A stream as the door admits it: charged as a whole, opened once, and then answered step by step."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, ClassVar, Final, NamedTuple, Self

import numpy as np

from entwined.canonical import Document, canonical, sha256
from entwined.door.mechanism import Read
from entwined.door.stepwise import Journal, StepAnswer, Taken
from entwined.errors import BadQuery
from entwined.mechanisms.streams.counter import Draw
from entwined.mechanisms.streams.stream import Stream, statistic_of
from entwined.noise import Additive
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import Aggregate
from entwined.schema import Schema

AT_ONCE: Final = 1024  # draws that are made together: the sampler's own overhead is that of a hundred
MOST_AT_ONCE: Final = 4096  # steps that are answered together


class Position(NamedTuple):
    """How many steps were answered, where the strategy is, and what draws its noise."""

    step: int
    counted: Any
    draw: Draw


@dataclass(frozen=True, slots=True)
class Followed:
    """Open a stream by its name, and answer what comes in.

    `run` reads no row: what it gives is the name of the journal, so that whoever asks again goes on with that journal
    or not at all. `take` reads what comes in, and its answers are those of the stream, so all of them together have the
    loss that was charged for them before the first row was read.
    """

    kind: ClassVar[str] = "followed stream"
    stream: Stream
    name: str
    promise: Promise = field(compare=False)
    journal: Journal | None = field(default=None, compare=False)

    @property
    def document(self) -> Document:
        """The stream and its name."""
        return {"kind": self.kind, "name": self.name, "stream": self.stream.document}

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Settle the stream again."""
        return cls(Stream.from_document(document["stream"], promise), document["name"], promise)

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """The whole stream is charged at once."""
        return self.stream.parts(promise)

    def needs(self, schema: Schema) -> tuple[Aggregate, ...]:
        """One sum a step; a journal that could not be written is refused here, before the charge."""
        self._journal.begin(self._identity)
        return (statistic_of(self.stream.query, schema).aggregate,)

    def run(self, read: Read, schema: Schema) -> bytes:  # noqa: ARG002  (no row is read to open it)
        """Name the journal, so that answers go on with it or not at all."""
        return self._journal.begin(self._identity).encode()

    def output(self, drawn: bytes) -> str:
        """The name of the journal."""
        return drawn.decode()

    def _law(self, level: int) -> Additive:
        return self.stream.law(self.promise, level)

    @property
    def _identity(self) -> str:
        """What tells this stream from others: what is asked, under which promise."""
        return sha256(self.promise.identity, canonical(self.document))

    @property
    def _journal(self) -> Journal:
        if self.journal is None:
            raise BadQuery("A stream is followed with a journal. Give one.")
        return self.journal

    def begun(self, kept: Sequence[Any]) -> Position:
        """Where it is after the steps of which this was remembered."""
        return Position(len(kept), self.stream.counter.restored(kept), draws_of(self._law))

    def left(self, state: Position) -> int:
        """How many steps there can still be, some at a time."""
        horizon = self.stream.counter.horizon
        return MOST_AT_ONCE if horizon is None else min(horizon - state.step, MOST_AT_ONCE)

    def take(self, state: Position, read: Read, schema: Schema, steps: int) -> Taken:
        """Read so many steps and answer them."""
        aggregate = statistic_of(self.stream.query, schema).aggregate
        exact = [int(one[0]) for one in read([aggregate] * steps)]
        after = self.stream.counter.advance(state.counted, exact, state.draw)
        answers = (StepAnswer(at, one) for at, one in enumerate(after.answers, start=state.step + 1))
        return Taken(Position(state.step + steps, after.state, state.draw), tuple(answers), after.kept)


def draws_of(law: Callable[[int], Additive]) -> Draw:
    """Draw the noise of each level, many at a time."""
    wells: dict[int, Iterator[int]] = {}

    def draw(level: int, count: int) -> Sequence[int]:
        if level not in wells:
            wells[level] = _well(law(level))
        return list(islice(wells[level], count))

    return draw


def _well(law: Additive) -> Iterator[int]:
    while True:
        yield from law.add(np.zeros(AT_ONCE, np.int64)).tolist()
