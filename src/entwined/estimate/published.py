"""From stored draws to published numbers: one function, so that whoever has the draws can rebuild the release."""

from collections.abc import Sequence

from entwined.estimate.answers import Release
from entwined.estimate.as_drawn import as_drawn
from entwined.estimate.consistent_release import Drawn, reconciled
from entwined.mechanisms.batch import Batch
from entwined.queries import Predicate


def published(
    batch: Batch,
    draws: Sequence[tuple[int, ...]],
    *,
    consistent: bool = True,
    impossible: Sequence[Predicate] = (),
    earlier: Sequence[Drawn] = (),
    expected_rows: int | None = None,
) -> Release:
    """Compute the release of a batch, without its certificate, from the integers drawn for its statistics.

    With `consistent` counts and totals are reconciled, also with the `earlier` batches of the same rows. Equal draws
    and equal choices give equal numbers.
    """
    release = as_drawn(batch, draws, expected_rows)
    if not consistent:
        return release
    batches = [(batch, release), *earlier]
    return reconciled(batches, impossible=impossible, expected_rows=expected_rows)[0]
