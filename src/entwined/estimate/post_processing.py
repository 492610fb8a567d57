"""The public choices that published numbers depend on beside their draws; they stand in the release.

Whether counts were made to agree, what the holder calls impossible, how many rows were expected, and which earlier
charges they agree with: whoever has the draws makes the same numbers again (`release_of_draws`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.queries import Predicate
from entwined.queries.predicate import predicate_from


@dataclass(frozen=True, slots=True)
class PostProcessing:
    """The public choices that turn the draws of a batch into numbers.

    `earlier` names the charges of the ledger whose batches the numbers were made to agree with.
    """

    consistent: bool = True
    impossible: tuple[Predicate, ...] = ()
    expected_rows: int | None = None
    earlier: tuple[int, ...] = ()

    @property
    def document(self) -> Document:
        """The choices as JSON."""
        return {
            "consistent": self.consistent,
            "impossible": [condition.document for condition in self.impossible],
            "expected_rows": self.expected_rows,
            "earlier": list(self.earlier),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Read the choices as a release states them."""
        try:
            read = cls(
                document["consistent"],
                tuple(map(predicate_from, document["impossible"])),
                document["expected_rows"],
                tuple(document["earlier"]),
            )
            is_same = read.document == document
        except (KeyError, TypeError, ValueError, AttributeError):
            is_same = False
        if not is_same:
            raise BadInput("The release does not state how its numbers were made. Give what entwined wrote.")
        return read
