"""What the door admits: a private computation without its rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from entwined.numbers import IntArray
from entwined.promise.part import Part
from entwined.promise.promise import Promise
from entwined.queries import Aggregate
from entwined.schema import Schema

Output_co = TypeVar("Output_co", covariant=True)

Read: TypeAlias = Callable[[Sequence[Aggregate]], Sequence[IntArray]]
"""Lent rows: exact integers, one array an aggregate with one number a public cell."""


class Mechanism(Protocol[Output_co]):
    """A computation whose noise and losses are settled before a row is read.

    Whatever `run` reads, what it returns must have at most the loss that `parts` says: the proof of that stands in
    the docstring of the mechanism. Its class reads a document back with `from_document(document, promise)`, so that a
    certificate can be derived again without the data.
    """

    @property
    def document(self) -> Mapping[str, Any]:
        """The whole computation as public JSON, with its `kind`; its hash is the question."""

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Say where its loss falls; refuse what cannot be promised."""

    def needs(self, schema: Schema) -> Sequence[Aggregate]:
        """Name what the engine must be able to answer; it is asked before the charge."""

    def run(self, read: Read, schema: Schema) -> bytes:
        """Read as often as it likes, each time as it sees fit; nothing but these bytes leaves."""

    def output(self, drawn: bytes) -> Output_co:
        """Make of the drawn bytes what the caller wants: post-processing."""


@runtime_checkable
class Worded(Protocol):
    """A mechanism that says in words what it computes, for the history of the ledger."""

    @property
    def words(self) -> str:
        """What it computes, in a sentence without its end."""
