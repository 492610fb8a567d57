"""From the draws of a batch to its published numbers: the one way, which releasing and verifying share.

Everything that the numbers depend on beside the draws is public and stands in the release: whether counts were made to
agree, what the holder calls impossible, how many rows were expected, and which earlier charges they agree with. So
whoever has the draws makes the same numbers again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.estimate.answers import Release
from entwined.estimate.as_drawn import as_drawn
from entwined.estimate.consistent_release import Drawn, reconciled
from entwined.mechanisms.batch import Batch
from entwined.queries import Predicate
from entwined.queries.predicate import predicate_from

Draws = Sequence[tuple[int, ...]]


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

    def release(self, batch: Batch, draws: Draws, earlier: Sequence[Drawn] = ()) -> Release:
        """Make the published numbers of a batch from its draws, and those of earlier batches to agree with."""
        release = as_drawn(batch, draws, self.expected_rows)
        if self.consistent:
            batches = [(batch, release), *earlier]
            release = reconciled(batches, impossible=self.impossible, expected_rows=self.expected_rows)[0]
        return replace(release, post_processing=self.document)
