"""From the draws of a batch to its published numbers: the one way, which releasing and verifying share."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from entwined.estimate.answers import Release
from entwined.estimate.as_drawn import as_drawn
from entwined.estimate.consistent_release import Drawn, reconciled
from entwined.estimate.post_processing import PostProcessing
from entwined.mechanisms.batch import Batch

Draws: TypeAlias = Sequence[tuple[int, ...]]


def release_of_draws(
    batch: Batch, draws: Draws, how: PostProcessing, earlier: Sequence[Drawn] = ()
) -> Release:
    """Make the published numbers of a batch from its draws, agreeing with earlier batches where `how` names some."""
    release = as_drawn(batch, draws, how.expected_rows)
    if how.consistent:
        batches = [(batch, release), *earlier]
        release = reconciled(batches, impossible=how.impossible)[0]
    return replace(release, post_processing=how.document)
