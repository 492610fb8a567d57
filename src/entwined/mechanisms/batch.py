"""Today's batch of queries as a mechanism: what it costs and how much noise it gets, worked out without a single row.

Every statistic of the batch gets the same loss e for its own worst change: its noise has the scale worst / e.
With shares it gets e times the share of its query. A statistic that several queries of the batch need is asked
for, noised and charged once, with the largest share.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from entwined.bounds import Hint
from entwined.canonical import Document, canonical, fraction_from, fraction_text
from entwined.door.mechanism import Read
from entwined.errors import BadQuery, Refused
from entwined.mechanisms.asked import Added, Alone, Asked, Chosen, Filled
from entwined.mechanisms.draws import draw
from entwined.mechanisms.fitting import Shared, fitted, losses, nearly_fitted, worst_change
from entwined.numbers import Amount, positive_fraction
from entwined.promise.measure import NoiseKind
from entwined.promise.part import Part
from entwined.promise.price import Price
from entwined.promise.promise import Promise
from entwined.queries import Aggregate, Query, Statistic
from entwined.queries.documents import as_written, written
from entwined.schema import Schema
from entwined.showing import Tabled


@dataclass(frozen=True, slots=True, repr=False)
class Batch(Tabled):
    """A batch before it is charged: everything in it is public.

    Theorem. What `run` returns has at most the losses of `charged`, part by part.

    Proof. Each statistic moves by at most its sensitivity (`queries`), its law turns that into its loss (`noise`),
    and losses of different statistics on one part add up. The order and number of answers are public.
    """

    kind: ClassVar[str] = "batch"
    promise: Promise
    queries: tuple[Query, ...]
    statistics: tuple[Asked, ...]
    uses: tuple[tuple[int, ...], ...]
    loss: Fraction
    charged: tuple[Part, ...]
    price: Price
    shares: tuple[Fraction, ...]
    noise: NoiseKind = ""

    def hints(self) -> dict[str, tuple[Hint, ...]]:
        """What further knowledge would lower what its noise leaks, under each model."""
        return self.promise.hints(self.promise.base(self.charged))

    @property
    def schema(self) -> Schema:
        """What is public about the table."""
        return self.promise.schema

    @property
    def document(self) -> Document:
        """The questions with their shares, and the loss that was found for each statistic."""
        asked = [
            {"query": written(query), "share": fraction_text(share)}
            for query, share in zip(self.queries, self.shares, strict=True)
        ]
        said = {"noise": self.noise} if self.noise else {}
        return {"kind": self.kind, "asked": asked, "loss_of_each_statistic": fraction_text(self.loss), **said}

    @classmethod
    def from_document(cls, document: Mapping[str, Any], promise: Promise) -> Self:
        """Work a batch out again from its document; its price is the nominal one."""
        each = fraction_from(document["loss_of_each_statistic"])
        shares = [fraction_from(one["share"]) for one in document["asked"]]
        queries = [as_written(one["query"]) for one in document["asked"]]
        asked = _unique(promise.schema, queries)
        if asked != tuple(queries) or min(shares) <= 0 or each <= 0:
            raise BadQuery("The queries are not each once and in order, or a loss is not above zero.")
        needed = _needed(promise, asked, shares, noise_of(document.get("noise", ""), promise))
        charged = losses(promise, needed.shared, each, once=True, noise=needed.noise)
        price = Price(promise.nominal(promise.base(charged)))
        return cls(*needed.with_loss(each), each, charged, price, needed.shares, needed.noise)

    @property
    def sketch(self) -> "Sketch":
        """Its noise query by query, and what it is charged."""
        return Sketch(self.promise, _by_query(self.queries, self.uses, self.statistics), self.charged)

    def parts(self, promise: Promise) -> tuple[Part, ...]:
        """Say where the loss falls; refuse another promise than the batch was planned under."""
        if promise.identity != self.promise.identity:
            raise BadQuery("The batch was planned under another promise than the door's. Plan it again.")
        return self.charged

    def needs(self, schema: Schema) -> tuple[Aggregate, ...]:  # noqa: ARG002  (a batch knows its schema)
        """What the engine is asked for."""
        return tuple(one.statistic.aggregate for one in self.statistics)

    def run(self, read: Read, schema: Schema) -> bytes:
        """Read all statistics at once and add their noise."""
        return canonical(draw(self.statistics, read(self.needs(schema)))).encode()

    def output(self, drawn: bytes) -> tuple[tuple[int, ...], ...]:
        """The drawn integers, statistic by statistic."""
        return tuple(map(tuple, json.loads(drawn)))


def plan_batch(
    promise: Promise,
    queries: Query | Iterable[Query],
    *,
    leakage: Amount | None = None,
    loss: Amount | None = None,
    shares: Sequence[Amount] | None = None,
    noise: str = "",
) -> Batch:
    """Work out noise, charges and price of a batch; refuse whatever cannot be released."""
    needed = _wanted(promise, queries, shares, noise_of(noise, promise))
    each, charged, price = fitted(promise, needed.shared, leakage, loss, needed.noise)
    return Batch(*needed.with_loss(each), each, charged, price, needed.shares, needed.noise)


@dataclass(frozen=True, slots=True)
class Sketch:
    """Nearly the noise that a batch would have, by the canonical texts of its queries, and what it would be charged."""

    promise: Promise
    noise: Mapping[str, tuple[Asked, ...]]
    charged: tuple[Part, ...]

    @property
    def power(self) -> int:
        """A loss grows with so many powers of one over the scale of its noise: ε with one, ρ with two."""
        return 1 if self.promise.measure.is_pure else 2

    def leakage(self, times: Fraction) -> float:
        """Say what it would leak with so many times its loss; without models that is its nominal ε."""
        base = self.promise.base(self.charged).times(times)
        leaked = self.promise.leakages(base)
        return float(max(leaked.values(), default=self.promise.nominal(base)))


def otherwise_noised(planned: Batch, noise: NoiseKind) -> Sketch:
    """Give the same batch with other noise that costs the same; refuse what its promise has no such noise for."""
    needed = _needed(planned.promise, planned.queries, planned.shares, noise_of(noise, planned.promise))
    return Sketch(
        planned.promise, _by_query(needed.queries, needed.uses, needed.noisy(planned.loss)), planned.charged
    )


def nearly_planned(
    promise: Promise,
    queries: Iterable[Query],
    leakage: Fraction,
    shares: Sequence[Amount] | None = None,
    noise: NoiseKind = "",
) -> Sketch:
    """Give nearly the noise that a batch would have, query by query, without a price."""
    needed = _wanted(promise, queries, shares, noise)
    each = nearly_fitted(promise, needed.shared, leakage, noise)
    noisy = _by_query(needed.queries, needed.uses, needed.noisy(each))
    return Sketch(promise, noisy, losses(promise, needed.shared, each, once=True, noise=noise))


def _by_query(
    queries: Sequence[Query], uses: Sequence[tuple[int, ...]], noisy: Sequence[Asked]
) -> dict[str, tuple[Asked, ...]]:
    return {
        query.fingerprint: tuple(noisy[use] for use in used)
        for query, used in zip(queries, uses, strict=True)
    }


def noise_of(given: object, promise: Promise) -> NoiseKind:
    """Read which noise is wanted; that of the promise itself is not named, so that a question stays the same."""
    if given not in ("", "laplace", "gaussian"):
        raise BadQuery(f'noise = {given!r:.60}. Give "laplace" or "gaussian", or leave it out.')
    usual = "laplace" if promise.measure.is_pure else "gaussian"
    if given and given != usual:
        promise.measure.added(Fraction(1), Fraction(1), given)  # it refuses what it has not
        if promise.reserve is not None:
            raise Refused(
                "Within a reserve answers have Gaussian noise: only of that it is proved that they can be chosen one "
                "after another. Leave noise out."
            )
        return given
    return ""


def _wanted(
    promise: Promise,
    queries: Query | Iterable[Query],
    shares: Sequence[Amount] | None,
    noise: NoiseKind = "",
) -> "_Needed":
    """Check queries and shares, and find what the batch is made of."""
    promise.schema.require_approval()
    given = [_bound(query, promise.schema) for query in as_list(queries)]
    asked = _unique(promise.schema, given)
    wanted = _shares(given, shares)
    return _needed(promise, asked, [wanted[query.fingerprint] for query in asked], noise)


@dataclass(frozen=True, slots=True)
class _Needed:
    """What a batch is made of: each statistic once, with the largest share of the queries that use it."""

    promise: Promise
    queries: tuple[Query, ...]
    shares: tuple[Fraction, ...]
    statistics: tuple[Statistic, ...]
    uses: tuple[tuple[int, ...], ...]
    noise: NoiseKind

    @property
    def parted(self) -> list[Fraction]:
        """The share of each statistic."""
        found = [Fraction(0)] * len(self.statistics)
        for share, used in zip(self.shares, self.uses, strict=True):
            for use in used:
                found[use] = max(found[use], share)
        return found

    @property
    def shared(self) -> Shared:
        """The statistics with their shares."""
        return list(zip(self.statistics, self.parted, strict=True))

    def with_loss(
        self, each: Fraction
    ) -> tuple[Promise, tuple[Query, ...], tuple[Asked, ...], tuple[tuple[int, ...], ...]]:
        """The first of what a batch is: what is asked of which promise, with which noise."""
        return self.promise, self.queries, self.noisy(each), self.uses

    def noisy(self, each: Fraction) -> tuple[Asked, ...]:
        """Give every statistic its noise."""
        return tuple(_asked(one, each * share, self.promise, self.noise) for one, share in self.shared)


def _needed(
    promise: Promise, asked: tuple[Query, ...], shares: Sequence[Fraction], noise: NoiseKind
) -> _Needed:
    by_rows = [query.kind for query in asked if query.needs_public_rows(promise.schema)]
    if promise.kept and by_rows:
        raise BadQuery(
            f"A {by_rows[0]} by the public number of rows, and rows of large groups are left out. "
            'Give count = "noisy".'
        )
    places: dict[Statistic, int] = {}
    uses = tuple(
        tuple(places.setdefault(one, len(places)) for one in query.statistics(promise.schema))
        for query in asked
    )
    return _Needed(promise, asked, tuple(shares), tuple(places), uses, noise)


def _shares(queries: list[Query], shares: Sequence[Amount] | None) -> Mapping[str, Fraction]:
    """Give the share of each question; one that is asked twice has the larger one."""
    given = [1] * len(queries) if shares is None else shares
    if len(given) != len(queries):
        raise BadQuery(f"{len(given)} shares for {len(queries)} queries. Give one each, or none.")
    found: dict[str, Fraction] = {}
    for query, share in zip(queries, given, strict=True):
        exact = positive_fraction(share, "Share")
        found[query.fingerprint] = max(exact, found.get(query.fingerprint, exact))
    return found


def as_list(queries: Query | Iterable[Query]) -> list[Query]:
    """Give one query, or several, as a list."""
    return [queries] if isinstance(queries, Query) else list(queries)


def _bound(query: Query, schema: Schema) -> Query:
    """Let a query's conditions meet the schema; refuse what is no query."""
    if not isinstance(query, Query):
        raise BadQuery(f"{query!r:.100} is no query. Give Count(…), Histogram(…), …")
    return query.bound(schema)


def _unique(schema: Schema, given: list[Query]) -> tuple[Query, ...]:
    """Check the queries and put each once, in an order that does not depend on how they were given."""
    if not given:
        raise BadQuery("A release without a question. Ask at least one.")
    by_text: dict[str, Query] = {}
    for query in given:
        query.check(schema)
        by_text[query.fingerprint] = query
    return tuple(by_text[text] for text in sorted(by_text))


def _asked(statistic: Statistic, each: Fraction, promise: Promise, noise: NoiseKind) -> Asked:
    worst = worst_change(promise, statistic)
    if statistic.choice is None:
        noised = Added if statistic.agrees else Alone
        kind = Filled if statistic.filling else noised
        return kind(statistic, promise.measure.added(each, worst, noise))
    return Chosen(statistic, promise.measure.chosen(each, worst), statistic.choice)
