"""The one door out: plan, charge, read, add noise, hand out.

Everything that can be refused is refused before the charge, and nothing that is refused depends on a row.
The charge is on disk before a row is read. The numbers that are handed out were written to the ledger first,
and whoever asks the same again gets them again; the certificate beside them says what everything released
amounts to by then. If reading fails the charge stays, and the words are always the same.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, Protocol, runtime_checkable
from uuid import uuid4

from entwined.bounds import Knowledge
from entwined.canonical import fraction_text
from entwined.dependence import Dependence
from entwined.door.own_rows import refuse_own_rows
from entwined.door.running import run_charged
from entwined.door.witnessed import witnessed
from entwined.errors import Refused
from entwined.estimate.answers import Answered, Release
from entwined.estimate.consistent_release import make_consistent
from entwined.estimate.grid import placed
from entwined.estimate.spans import span
from entwined.ledger import Charge, Ledger
from entwined.mechanisms.batch import Amount, Batch, plan
from entwined.mechanisms.certificate import certificate
from entwined.mechanisms.draws import Exact, draw
from entwined.promise.declared import Declared
from entwined.queries import Aggregate, Query
from entwined.schema import Schema

FAILED: Final = (
    "The rows could not be read, and no answer comes from this request. What was charged stays charged. "
    "The holder finds out why by opening the table again."
)


class Table(Protocol):
    """Where the exact answers come from."""

    @property
    def schema(self) -> Schema:
        """What is public about it."""

    def check(self, aggregates: Sequence[Aggregate]) -> None:
        """Refuse what the engine cannot answer; it is asked before the charge, so it reads no row."""

    def answer(self, aggregates: Sequence[Aggregate]) -> Sequence[Exact]:
        """Give exact integers, one sequence an aggregate with one number a public cell."""


@runtime_checkable
class Picking(Protocol):
    """A table that can keep groups small."""

    def keeping(self, column: str, most: int, first: str | None = None) -> Table:
        """Give the same rows, but of those that share a value in a column only the first `most`.

        First is what comes first by all codes. With a column `first` it is what comes first by its codes: a row
        without one is left out, and of the rows with the same one only the first by all codes is taken. A row without
        a value in the column is left out.
        """


def release(  # noqa: PLR0913  (a release is described by so many public choices)
    table: Table,
    queries: Query | Iterable[Query],
    *,
    ledger: Ledger,
    leakage: Amount | None = None,
    loss: Amount | None = None,
    dependence: Iterable[Declared | Dependence] | Declared | Dependence = (),
    knowledge: Knowledge = "any",
    delta: Amount | None = None,
    shares: Sequence[Amount] | None = None,
    request: str | None = None,
    analyst: str = "holder",
    consistent: bool = True,
) -> Release:
    """Answer a batch of queries with the noise that keeps it within a leakage or a loss.

    `leakage` is the most that the batch on its own may leak under every declared model (without models: its
    nominal ε); `loss` is its nominal ε. The ledger's cap is on everything released so far. With `delta` the
    noise is Gaussian and every ε is meant at that δ. `shares` say how the loss is split over the queries.
    What the ledger keeps is what was drawn; with `consistent` the answers made of it agree with each other.
    """
    asked = [queries] if isinstance(queries, Query) else list(queries)
    planned = plan(
        table.schema,
        asked,
        leakage=leakage,
        loss=loss,
        dependence=dependence,
        knowledge=knowledge,
        delta=delta,
        shares=shares,
    )
    ledger.require(planned.promise)
    refuse_own_rows(table, planned.promise.declared)
    source = _picked(table, planned)
    source.check(planned.aggregates)
    with witnessed(table, ledger):
        receipt = ledger.reserve(_charge(planned, table, request, analyst))
        answer = receipt.answer
        if answer is None:
            answer = run_charged(ledger, receipt, lambda: _answered(source, planned), FAILED)
    drawn = Release.from_document(json.loads(answer)).ordered(asked)
    found = make_consistent(planned, drawn) if consistent else drawn
    return replace(found, certificate=certificate(planned, ledger.standing(), found.digest))


def _picked(table: Table, planned: Batch) -> Table:
    """Have the engine keep groups as small as a model says they are."""
    kept = planned.promise.kept
    if kept is None or kept.by is None:
        return table
    if not isinstance(table, Picking):
        raise Refused(
            f"The model {kept.title!r} needs at most {kept.most} rows for each value of {kept.by!r}, and "
            "this table cannot pick them. Leave `by` out and vouch for it yourself, or use another table."
        )
    return table.keeping(kept.by, kept.most, kept.order)


def _charge(planned: Batch, table: Table, request: str | None, analyst: str) -> Charge:
    return Charge(
        request or uuid4().hex,
        planned.fingerprint(str(getattr(table, "identity", ""))),
        planned.parts,
        analyst,
        {
            "queries": [json.loads(query.fingerprint) for query in planned.queries],
            "loss_of_each_statistic": fraction_text(planned.loss),
        },
    )


def _answered(source: Table, planned: Batch) -> bytes:
    drawn = draw(planned.statistics, source.answer(planned.aggregates))
    answers = []
    for query, uses in zip(planned.queries, planned.uses, strict=True):
        asked, numbers = [planned.statistics[use] for use in uses], [drawn[use] for use in uses]
        value = placed(query, planned.schema, query.answer(planned.schema, numbers))
        where = span(query, planned.schema, asked, numbers)
        answers.append(
            Answered(query.fingerprint, value, where, tuple(numbers), tuple(one.text for one in asked))
        )
    return Release(tuple(answers), {}).content
