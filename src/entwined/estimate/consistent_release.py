"""Reconciled releases: unbiased values, and beside them adjusted ones that add up; all of it is post-processing.

Values are the best linear unbiased estimates from all counts and totals of the same rows, so none has a larger variance
than its draw; they may be negative and have decimals. Adjusted counts are whole numbers, none negative; a whole is the
sum of its parts, whatever the conditions, and where the number of rows is public they add up to it. Adjusting is biased
where many counts are near zero, and each table says for which counts. Means, variances and quantiles stay as they are,
and so do the draws of every answer: reconciling twice is reconciling once, and releases of the same rows can be
reconciled with each other at any time. What the draws contradict is left out, and the release warns of it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

import numpy as np

from entwined.canonical import canonical
from entwined.door.certificate import covering
from entwined.errors import BadInput, BadNoise, QueryTooComplex
from entwined.estimate.agreement import Released, agreed
from entwined.estimate.agreement_checks import agreement_checks
from entwined.estimate.answers import Adjustment, Answered, Contradiction, Release
from entwined.estimate.consistency import ConsistentTable
from entwined.estimate.contradictions import contradictions, failing, rows_at_most, trusted_rows
from entwined.estimate.judged import with_sampling
from entwined.estimate.post_processing import PostProcessing
from entwined.estimate.quality import Quality, relative_errors
from entwined.estimate.spans import CONFIDENCE, Between
from entwined.mechanisms.asked import Added
from entwined.mechanisms.batch import Batch
from entwined.numbers import IntArray
from entwined.queries import CountOf, Predicate, Query, everything
from entwined.queries.extents import Extent, extent
from entwined.queries.occurring import never_missing
from entwined.schema import Schema

AGREES: Final = (
    "Consistent: values are unbiased estimates from all counts together. Adjusted counts are whole and not negative, "
    "wholes are the sums of their parts, and no part is above its whole."
)
MISSING: Final = " A row whose {columns} is missing is in the whole and in no part that asks for a value."
ALONE: Final = (
    " These agree only with tables of the same rows: all conditions together have too many atoms. {asked}."
)
NEVER: Final = " By the holder's word no row is in: {impossible}."
EARLIER: Final = " They agree with {others} other releases of the same rows, made to agree in the same way."
TOO_HARD: Final = "As drawn, since how the tables agree cannot be worked out. {reason}"
NOT_RECONCILED: Final = "As drawn, since the draws differ by more than their noise."
SHRUNK: Final = (
    "Counts between about {low:,.0f} and {high:,.0f} are up to {most:,.0f} too low on average here, because the excess "
    "of many small counts was taken from them."
)
TOO_FINE: Final = (
    "The noise is below one row, and whole numbers that add up are further from the truth than the draws."
)
WRONG_WORD: Final = "Counts contradict that no row is in: {impossible}."
RIGHT_WORD: Final = (
    'Take it out of impossible, or out of missing = "never". The numbers here do not rest on it.'
)
EARLIER_DIFFER: Final = Contradiction(
    "earlier",
    "These counts differ from those of earlier releases of the same rows by more than the noise of both.",
    "Check whether the rows changed. The numbers here were not reconciled with the earlier ones.",
)
DIFFERING: Final = Contradiction(
    "agreement",
    "Counts of the same rows differ by more than their noise.",
    "Check whether the rows changed while they were read. The numbers were not reconciled.",
)
SHOWN: Final = 10  # names in a sentence

Drawn: TypeAlias = tuple[Batch, Release]


def make_consistent(planned: Batch, given: Release, *, impossible: Sequence[Predicate] = ()) -> Release:
    """Make the answers of a planned batch agree; nothing but the released integers goes in.

    Where that cannot be worked out the values stay as they were drawn, and the release says so. `impossible` are
    conditions that no row can meet, by the holder's word: intervals hold if that is true.
    """
    made = reconciled([(planned, given)], impossible=impossible)[0]
    how = PostProcessing(
        consistent=True,
        impossible=tuple(impossible),
        expected_rows=given.post_processing.get("expected_rows"),
    )
    stated = made if made is given else replace(made, post_processing=how.document)
    return _covered(given, stated)


def reconciled(batches: Sequence[Drawn], *, impossible: Sequence[Predicate] = ()) -> tuple[Release, ...]:
    """Make batches that were drawn from the same rows agree with each other, as if they were one."""
    if len({planned.schema.digest for planned, _ in batches}) > 1:
        raise BadInput(
            "Releases under different schemas are not about the same rows. Reconcile those of one schema."
        )
    order = sorted(range(len(batches)), key=lambda place: canonical(batches[place][0].document))
    ordered = [batches[place] for place in order]  # so that whoever reconciles them gets the same numbers
    try:
        found = _agreeing(ordered, impossible)
    except (QueryTooComplex, BadNoise) as reason:
        found = [replace(given, agreement=TOO_HARD.format(reason=reason)) for _, given in ordered]
    made = dict(zip(order, found, strict=True))
    return tuple(_covered(given, made[place]) for place, (_, given) in enumerate(batches))


def _covered(given: Release, made: Release) -> Release:
    if made is given or not given.certificate:
        return made
    return replace(made, certificate=covering(given.certificate, released=made.digest))


def released_numbers(planned: Batch, given: Release) -> tuple[list[int], list[Released]]:
    """Give the drawn integers of a release statistic by statistic, after the places of these in its batch."""
    numbers: dict[int, tuple[int, ...]] = {}
    for query, uses in zip(planned.queries, planned.uses, strict=True):
        numbers.update(zip(uses, given.of(query).numbers, strict=True))
    added = {at: one for at, one in enumerate(planned.statistics) if isinstance(one, Added)}
    return list(added), [Released(one.statistic.aggregate, one.law, numbers[at]) for at, one in added.items()]


def public_rows(planned: Batch, warnings: Sequence[Contradiction]) -> list[Released]:
    """Give the number of rows, where it is public, no row is left out, and the draws do not contradict it."""
    rows = trusted_rows(planned, warnings)
    return [] if rows is None else [Released(CountOf(everything()), None, [rows])]


def _agreeing(batches: Sequence[Drawn], impossible: Sequence[Predicate]) -> list[Release]:
    """Reconcile batches; a declaration that the draws contradict is left out, and the releases warn of it."""
    taken = [released_numbers(planned, given) for planned, given in batches]
    numbers = [one for _, some in taken for one in some]
    if not numbers:
        return [given for _, given in batches]
    read = {name for released in numbers for name in released.aggregate.reads}
    ruled_out = (*impossible, *never_missing(batches[0][0].schema, read))
    warnings = contradictions(
        [(planned, {answer.asked: answer.numbers for answer in given.answers}) for planned, given in batches]
    )
    exact = public_rows(batches[0][0], warnings)

    def differing(counted: Sequence[Released], excluded: Sequence[Predicate], wrong: Contradiction) -> bool:
        return bool(failing(list(agreement_checks([*counted, *exact], excluded, wrong))))

    if not differing(numbers, ruled_out, DIFFERING):
        return _put_together(batches, taken, ruled_out, warnings)
    if ruled_out and not differing(numbers, (), DIFFERING):
        said = "; ".join(_few([condition.text for condition in ruled_out]))
        wrong = Contradiction("impossible", WRONG_WORD.format(impossible=said), RIGHT_WORD, subject=said)
        return _put_together(batches, taken, (), (*warnings, wrong))
    if len(batches) > 1:
        alone = [_agreeing([drawn], impossible)[0] for drawn in batches]
        return [replace(made, warnings=(*made.warnings, EARLIER_DIFFER)) for made in alone]
    return [replace(given, warnings=(*warnings, DIFFERING), agreement=NOT_RECONCILED) for _, given in batches]


def _put_together(
    batches: Sequence[Drawn],
    taken: Sequence[tuple[list[int], list[Released]]],
    impossible: Sequence[Predicate],
    warnings: tuple[Contradiction, ...],
) -> list[Release]:
    """Reconcile the numbers of batches, and put them into their releases."""
    planned, most = batches[0][0], rows_at_most(batches[0][0].schema, warnings)
    numbers = [one for _, some in taken for one in some]
    made = agreed([*numbers, *public_rows(planned, warnings)], impossible, most)
    found, left = [], 0
    for (planned, given), (places, some) in zip(batches, taken, strict=True):
        by_use = dict(zip(places, made.tables[left : left + len(some)], strict=True))
        alone = {places[place - left] for place in made.alone if left <= place < left + len(some)}
        words = _words(planned, alone, impossible) + (
            EARLIER.format(others=len(batches) - 1) if batches[1:] else ""
        )
        found.append(_with(planned, replace(given, warnings=warnings), by_use, words))
        left += len(some)
    return found


def _with(planned: Batch, given: Release, by_use: dict[int, ConsistentTable], words: str) -> Release:
    """Put the numbers that agree into a release."""
    rows = rows_at_most(planned.schema, given.warnings)
    changed = {
        query.fingerprint: _changed(query, planned.schema, given.of(query), by_use[uses[0]], rows)
        for query, uses in zip(planned.queries, planned.uses, strict=True)
        if uses[0] in by_use and query.agrees
    }
    answers = tuple(changed.get(answer.asked, answer) for answer in given.answers)
    made = replace(given, answers=answers, agreement=words if changed else given.agreement)
    return with_sampling(made, {query.fingerprint: query for query in planned.queries}, planned.schema)


def _words(planned: Batch, alone: set[int], impossible: Sequence[Predicate]) -> str:
    """Say what agrees, what does not, and why a whole may be more than the parts that were asked for."""
    asked = [
        f"{query.kind} where {query.inside.text:.200}"
        for query, uses in zip(planned.queries, planned.uses, strict=True)
        if alone.intersection(uses)
    ]
    columns = sorted({name for query in planned.queries for name in query.inside.columns})
    never = {one.columns[0] for one in impossible if len(one.columns) == 1}
    blank = [name for name in columns if name not in never]
    said = AGREES + (MISSING.format(columns=" or ".join(_few(blank))) if blank else "")
    said += ALONE.format(asked="; ".join(_few(asked))) if asked else ""
    return said + (
        NEVER.format(impossible="; ".join(_few([one.text for one in impossible]))) if impossible else ""
    )


def _few(names: list[str]) -> list[str]:
    return names[:SHOWN] + (["…"] if len(names) > SHOWN else [])


def _changed(query: Query, schema: Schema, answer: Answered, table: ConsistentTable, rows: int) -> Answered:
    """Give unbiased estimates with intervals, and beside them the whole numbers that add up.

    Both intervals are the same set: the true numbers that the draws leave possible. It ends where what is public ends.
    """
    public = extent(query.statistics(schema)[0].aggregate, schema, rows)
    span = Between(*(query.answer(schema, [_cut(end, public)]) for end in table.intervals(CONFIDENCE)))
    quality = Quality(relative_errors(table.estimates.reshape(-1), table.kinds.reshape(-1), table.laws))
    adjusted = Adjustment(query.answer(schema, [table.values.reshape(-1).tolist()]), span, caveat_of(table))
    value = query.answer(schema, [table.unbiased])  # type: ignore[list-item]  # it is linear in estimates
    return replace(answer, value=value, span=span, quality=quality, adjusted=adjusted)


def caveat_of(table: ConsistentTable) -> str:
    """Say which adjusted numbers of a table have a larger mean squared error than their draws; nothing if none has."""
    bias = table.bias
    shrunk = "" if bias is None else SHRUNK.format(**bias._asdict())
    return " ".join(filter(None, [shrunk, TOO_FINE if table.spread.is_too_fine else ""]))


def _cut(ends: IntArray, public: Extent) -> list[int]:
    found: list[int] = np.clip(ends.reshape(-1), *public).tolist()
    return found
