"""From the drawn integers of a batch to answers: a value on its grid, where the truth lies, and what it is good for."""

from collections.abc import Sequence

from entwined.estimate.answers import Answered, Release
from entwined.estimate.error_law import ErrorLaw
from entwined.estimate.grid import placed
from entwined.estimate.spans import Around, reach_of, span
from entwined.estimate.usefulness import TableSize, judged, judged_by
from entwined.mechanisms.batch import Batch
from entwined.noise import additive


def as_drawn(batch: Batch, drawn: Sequence[tuple[int, ...]], expected_rows: int | None = None) -> Release:
    """Answer every query of a batch from what was drawn for its statistics."""
    answers, size = [], TableSize.of(batch.schema, expected_rows)
    for query, uses in zip(batch.queries, batch.uses, strict=True):
        asked, numbers = [batch.statistics[use] for use in uses], [drawn[use] for use in uses]
        value = placed(query, batch.schema, query.answer(batch.schema, numbers))
        where = span(query, batch.schema, asked, numbers)
        laws = tuple(one.law for one in asked)
        if isinstance(where, Around):
            law = ErrorLaw.of([1], [additive(asked[0].noise)])
            good = judged_by({law: 1.0}, query, batch.schema, size)
        else:
            good = judged(query, batch.schema, size, reach_of(where, query, batch.schema))
        answers.append(Answered(query.fingerprint, value, where, tuple(numbers), laws, good))
    return Release(tuple(answers), {})
