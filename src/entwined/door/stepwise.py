"""What the door asks of a stream: a mechanism that is charged once and then answers step by step."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from entwined.door.answering import Answering
from entwined.door.mechanism import Mechanism, Read
from entwined.schema import Schema

State = TypeVar("State")


class StepAnswer(NamedTuple):
    """The released integer of a step."""

    step: int
    number: int


class Taken(NamedTuple):
    """Where a stream is after some steps, with their answers and what has to be remembered of each."""

    state: Any
    answers: tuple[StepAnswer, ...]
    kept: tuple[Any, ...]


class Incoming(Answering, Protocol):
    """Rows that come in step by step: each aggregate that is asked for is that of the next step."""

    def behind(self, steps: int) -> None:
        """Go on behind the steps that were answered."""

    def ready(self, most: int) -> int:
        """Wait for a step to end, and say how many have; 0 where no more comes."""


class Journal(Protocol):
    """What was answered, on disk before it is shown."""

    def begin(self, stream: str) -> str:
        """Begin it for a stream where nothing is yet, and give its name; it refuses a place that it cannot have."""

    def resumed(self, opening: str) -> Sequence[Any]:
        """Give what was remembered of each step; refuse another journal, a lost or an older one."""

    def keep(self, taken: Taken) -> None:
        """Write answers and what has to be remembered, durably."""


class Stepwise(Mechanism[str], Protocol):
    """A mechanism whose `run` names a journal and reads no row, and whose answers come afterwards.

    Whatever `take` reads, all its answers together must have at most the loss that `parts` says.
    """

    def begun(self, kept: Sequence[Any]) -> Any:
        """Where it is after the steps of which this was remembered."""

    def left(self, state: Any) -> int:
        """How many steps there can still be."""

    def take(self, state: Any, read: Read, schema: Schema, steps: int) -> Taken:
        """Read so many steps and answer them."""
