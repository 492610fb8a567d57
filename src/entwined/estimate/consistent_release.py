"""A release whose counts and totals agree with each other: post-processing, so it costs nothing.

Counts become integers that are not negative, and tables that count the same rows add up to the same totals;
where the number of rows is public they add up to it. Means, variances and quantiles stay as they are, and so
do the drawn integers of every answer: making a release consistent twice is making it consistent once.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from entwined.door.certificate import covering
from entwined.errors import BadNoise, QueryTooComplex
from entwined.estimate.agreement import Released, agreed
from entwined.estimate.answers import Answered, Release
from entwined.estimate.consistency import ConsistentTable
from entwined.estimate.spans import CONFIDENCE, Between
from entwined.mechanisms.asked import Added
from entwined.mechanisms.batch import Batch
from entwined.queries import CountOf, Query, everything
from entwined.schema import Schema

AGREES: Final = "Consistent: counts are not negative, and tables of the same rows add up to the same totals."
TOO_HARD: Final = "As drawn, since how the tables agree cannot be worked out. {reason}"


def make_consistent(planned: Batch, given: Release) -> Release:
    """Make the answers of a planned batch agree; nothing but the released integers goes in.

    Where that cannot be worked out the values stay as they were drawn, and the release says so.
    """
    try:
        found = _agreeing(planned, given)
    except (QueryTooComplex, BadNoise) as reason:
        found = replace(given, agreement=TOO_HARD.format(reason=reason))
    if found is given or not given.certificate:
        return found
    return replace(found, certificate=covering(given.certificate, released=found.digest))


def _agreeing(planned: Batch, given: Release) -> Release:
    numbers: dict[int, tuple[int, ...]] = {}
    for query, uses in zip(planned.queries, planned.uses, strict=True):
        numbers.update(zip(uses, given.of(query).numbers, strict=True))
    added = {at: one for at, one in enumerate(planned.statistics) if isinstance(one, Added)}
    found = [Released(one.statistic.aggregate, one.law, numbers[at]) for at, one in added.items()]
    if not found:
        return given
    tables = agreed([*found, *_public(planned)]).tables[: len(found)]
    by_use = dict(zip(added, tables, strict=True))
    changed = {
        query.fingerprint: _changed(query, planned.schema, given.of(query), by_use[uses[0]])
        for query, uses in zip(planned.queries, planned.uses, strict=True)
        if uses[0] in by_use and query.agrees
    }
    answers = tuple(changed.get(answer.asked, answer) for answer in given.answers)
    return replace(given, answers=answers, agreement=AGREES if changed else given.agreement)


def _public(planned: Batch) -> list[Released]:
    """Give the number of rows, where it is public and none are left out."""
    rows = None if planned.promise.kept else planned.schema.rows
    return [] if rows is None else [Released(CountOf(everything()), None, [rows])]


def _changed(query: Query, schema: Schema, answer: Answered, table: ConsistentTable) -> Answered:
    """Put the numbers that agree in place; an interval is widened to hold the number that it stands beside."""
    low, high = table.intervals(CONFIDENCE)
    values, lows, highs = (
        tuple(numbers.reshape(-1).tolist())
        for numbers in (table.values, np.minimum(low, table.values), np.maximum(high, table.values))
    )
    span = Between(query.answer(schema, [lows]), query.answer(schema, [highs]))
    return replace(answer, value=query.answer(schema, [values]), span=span)
