"""From the drawn integers of a batch to answers: a value on its grid, where the truth lies, and how reliable it is."""

from collections.abc import Sequence

from entwined.estimate.answers import Answered, Release
from entwined.estimate.contradictions import contradictions, rows_at_most
from entwined.estimate.grid import placed
from entwined.estimate.judged import judged
from entwined.estimate.quality import TableSize
from entwined.estimate.spans import span
from entwined.mechanisms.batch import Batch


def as_drawn(batch: Batch, drawn: Sequence[tuple[int, ...]], expected_rows: int | None = None) -> Release:
    """Answer every query of a batch from what was drawn for its statistics."""
    draws = {
        query.fingerprint: tuple(drawn[use] for use in uses)
        for query, uses in zip(batch.queries, batch.uses, strict=True)
    }
    warnings, answers = contradictions([(batch, draws)]), []
    rows = rows_at_most(batch.schema, warnings)
    for query, uses in zip(batch.queries, batch.uses, strict=True):
        asked, numbers = [batch.statistics[use] for use in uses], [drawn[use] for use in uses]
        value = placed(query, batch.schema, query.answer(batch.schema, numbers))
        where = span(query, batch.schema, asked, numbers, rows)
        laws = tuple(one.law for one in asked)
        answers.append(Answered(query.fingerprint, value, where, tuple(numbers), laws))
    size = TableSize.of(batch.schema, expected_rows)
    return judged(Release(tuple(answers), {}, warnings=warnings), batch.queries, batch.schema, size)
