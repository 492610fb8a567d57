"""The two verbs, `plan` and `release`, for who has a table, a ledger and the terms at hand."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from entwined.bounds import Knowledge
from entwined.door.answering import Answering
from entwined.door.certificate import covering
from entwined.door.door import Door
from entwined.estimate.answers import Release
from entwined.estimate.post_processing import PostProcessing
from entwined.estimate.release_of_draws import release_of_draws
from entwined.ledger import Ledger
from entwined.mechanisms.batch import Batch, plan_batch
from entwined.numbers import Amount
from entwined.promise.promise import Dependences, promise_of
from entwined.queries import Predicate, Query
from entwined.request.earlier import earlier_batches
from entwined.schema import Schema


def plan(  # noqa: PLR0913  (a release is described by so many public choices)
    schema: Schema,
    queries: Query | Iterable[Query],
    *,
    leakage: Amount | None = None,
    loss: Amount | None = None,
    dependence: Dependences = (),
    knowledge: Knowledge = "any",
    delta: Amount | None = None,
    shares: Sequence[Amount] | None = None,
    reserve: Mapping[str, Amount] | None = None,
    noise: str = "",
) -> Batch:
    """Work out noise, charges and price of a batch; refuse whatever cannot be released."""
    schema.require_approval()
    promise = promise_of(schema, dependence, knowledge, delta, reserve=reserve)
    return plan_batch(promise, queries, leakage=leakage, loss=loss, shares=shares, noise=noise)


def release(  # noqa: PLR0913  (a release is described by so many public choices)
    table: Answering,
    queries: Query | Iterable[Query],
    *,
    ledger: Ledger,
    leakage: Amount | None = None,
    loss: Amount | None = None,
    dependence: Dependences = (),
    knowledge: Knowledge = "any",
    delta: Amount | None = None,
    shares: Sequence[Amount] | None = None,
    request: str | None = None,
    analyst: str = "holder",
    consistent: bool = True,
    impossible: Sequence[Predicate] = (),
    with_earlier: bool = False,
    reserve: Mapping[str, Amount] | None = None,
    noise: str = "",
) -> Release:
    """Answer a batch of queries with the noise that keeps it within a leakage or a loss.

    `leakage` is the most that the batch on its own may leak under every declared model (without models: its
    nominal ε); `loss` is its nominal ε. The ledger's cap is on everything released so far. With `delta` the
    noise is Gaussian and every ε is meant at that δ. `shares` say how the loss is split over the queries.
    What the ledger keeps is what was drawn; with `consistent` the answers made of it agree with each other, and
    `with_earlier` with all batches that were released before of the same rows. `impossible` are conditions that no row
    meets, by the holder's word. `reserve` is what a ledger for several batches under a δ was opened with.
    `noise` is "laplace" where that is wanted under a δ.
    """
    asked = [queries] if isinstance(queries, Query) else list(queries)
    promise = promise_of(table.schema, dependence, knowledge, delta, reserve=reserve)
    batch = plan_batch(promise, asked, leakage=leakage, loss=loss, shares=shares, noise=noise)
    door = Door(table, batch.promise, ledger)
    return release_batch(
        door,
        batch,
        asked,
        request=request,
        analyst=analyst,
        consistent=consistent,
        impossible=impossible,
        with_earlier=with_earlier,
    )


def release_batch(  # noqa: PLR0913  (who asks, and how the answers are to look)
    door: Door,
    batch: Batch,
    queries: Sequence[Query],
    *,
    request: str | None = None,
    analyst: str = "holder",
    consistent: bool = True,
    names: tuple[str, ...] = (),
    impossible: Sequence[Predicate] = (),
    with_earlier: bool = False,
    expected_rows: int | None = None,
) -> Release:
    """Let a planned batch through a door, and make of what was drawn the answers in the order they were asked for."""
    passed = door.admit(batch, request=request, analyst=analyst)
    earlier = earlier_batches(door, batch) if consistent and with_earlier else {}
    how = PostProcessing(consistent, tuple(impossible), expected_rows, tuple(earlier))
    made = release_of_draws(batch, passed.output, how, tuple(earlier.values()))
    proof = covering(passed.certificate, released=made.digest)
    ordered = made.ordered(query.bound(batch.schema) for query in queries)
    return replace(ordered, certificate=proof, names=names, schema=batch.schema)
