"""What a batch of queries will cost and how much noise it gets, worked out without a single row.

Every statistic of the batch gets the same loss e for its own worst change: its noise has the scale worst / e.
With shares it gets e times the share of its query. A statistic that several queries of the batch need is asked
for, noised and charged once, with the largest share. All losses grow in proportion to e, so it is found by
dividing what is allowed by what e = 1 would cost.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from typing import Final, TypeAlias

from entwined.bounds import Knowledge
from entwined.canonical import canonical, fraction_text, sha256
from entwined.dependence import Dependence
from entwined.errors import BadQuery, Unreachable
from entwined.noise import DiscreteGaussian, DiscreteLaplace, ExponentialChoice
from entwined.numbers import positive_fraction
from entwined.promise.declared import Declared
from entwined.promise.measure import PURE, Concentrated, Measure
from entwined.promise.part import Part
from entwined.promise.places import key_of
from entwined.promise.price import Price
from entwined.promise.promise import Promise
from entwined.queries import Aggregate, Mean, Quantile, Query, Statistic
from entwined.schema import Schema

GRID: Final = 10**18
"""Charges are rounded up to whole parts of this, so that their sums stay short however many there are."""
DIGITS: Final = 12
SLACKS: Final = (Fraction(0), *(Fraction(10) ** -exponent for exponent in range(DIGITS, 2, -1)))
"""What is given up, if the charges as they are rounded up pass the limit by a little."""

Amount: TypeAlias = str | float | Fraction
Shared: TypeAlias = list[tuple[Statistic, Fraction]]  # statistics, and the share of e that each gets


@dataclass(frozen=True, slots=True)
class Added:
    """A statistic of the batch whose integers are released with noise."""

    statistic: Statistic
    law: DiscreteLaplace | DiscreteGaussian

    @property
    def text(self) -> str:
        """Name the noise."""
        kind = "Laplace" if isinstance(self.law, DiscreteLaplace) else "Gaussian"
        return f"discrete {kind} of scale {fraction_text(self.law.scale)}"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A statistic of the batch of which one place is chosen."""

    statistic: Statistic
    law: ExponentialChoice
    query: Quantile

    @property
    def text(self) -> str:
        """Name the choice."""
        return f"exponential choice of rate {fraction_text(self.law.rate)}"


Asked: TypeAlias = Added | Chosen


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch before it is charged: everything in it is public."""

    schema: Schema
    promise: Promise
    queries: tuple[Query, ...]
    statistics: tuple[Asked, ...]
    uses: tuple[tuple[int, ...], ...]
    loss: Fraction
    parts: tuple[Part, ...]
    price: Price
    shares: tuple[Fraction, ...]

    def _repr_html_(self) -> str:
        """Show it in a notebook; what people see is drawn by the step after this one."""
        return str(import_module("entwined.report").to_html(self))

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """What the engine is asked for."""
        return tuple(one.statistic.aggregate for one in self.statistics)

    def fingerprint(self, table: str) -> str:
        """Name the question: equal questions to one table, however they are put, have equal names."""
        asked = [query.fingerprint for query in self.queries]
        laws = [one.text for one in self.statistics]
        return sha256(canonical([table, self.promise.identity, asked, laws, fraction_text(self.loss)]))


def plan(  # noqa: PLR0913  (a release is described by so many public choices)
    schema: Schema,
    queries: Query | Iterable[Query],
    *,
    leakage: Amount | None = None,
    loss: Amount | None = None,
    dependence: Iterable[Declared | Dependence] | Declared | Dependence = (),
    knowledge: Knowledge = "any",
    delta: Amount | None = None,
    shares: Sequence[Amount] | None = None,
) -> Batch:
    """Work out noise, charges and price of a batch; refuse whatever cannot be released."""
    schema.require_approval()
    promise = promise_of(schema, _tuple(dependence), knowledge, measure_of(delta))
    given = [queries] if isinstance(queries, Query) else list(queries)
    asked = _unique(schema, given)
    wanted = _shares(given, shares)
    needed = _needed(promise, asked, [wanted[query.fingerprint] for query in asked])
    return needed.at(*_fitted(promise, needed.shared, leakage, loss))


def plan_again(
    promise: Promise, queries: Sequence[Query], shares: Sequence[Fraction], each: Fraction
) -> Batch:
    """Work a batch out again from the loss that was found for each statistic, as a certificate states it.

    Its price is the nominal one: what it leaks is certified model by model.
    """
    asked = _unique(promise.schema, list(queries))
    if asked != tuple(queries) or min(shares) <= 0 or each <= 0:
        raise BadQuery("The queries are not each once and in order, or a loss is not above zero.")
    needed = _needed(promise, asked, shares)
    parts = _parts(promise, needed.shared, each)
    return needed.at(each, parts, Price(promise.measure.epsilon(promise.base(parts).nominal)))


@dataclass(frozen=True, slots=True)
class _Needed:
    """What a batch is made of: each statistic once, with the largest share of the queries that use it."""

    promise: Promise
    queries: tuple[Query, ...]
    shares: tuple[Fraction, ...]
    keys: tuple[tuple[Statistic, Quantile | None], ...]
    uses: tuple[tuple[int, ...], ...]

    @property
    def parted(self) -> list[Fraction]:
        """The share of each statistic."""
        found = [Fraction(0)] * len(self.keys)
        for share, used in zip(self.shares, self.uses, strict=True):
            for use in used:
                found[use] = max(found[use], share)
        return found

    @property
    def shared(self) -> Shared:
        """The statistics with their shares."""
        return [(one, share) for (one, _), share in zip(self.keys, self.parted, strict=True)]

    def at(self, each: Fraction, parts: tuple[Part, ...], price: Price) -> Batch:
        """Give every statistic its noise."""
        statistics = tuple(
            _asked(one, chooser, each * share, self.promise)
            for (one, chooser), share in zip(self.keys, self.parted, strict=True)
        )
        return Batch(
            self.promise.schema,
            self.promise,
            self.queries,
            statistics,
            self.uses,
            each,
            parts,
            price,
            self.shares,
        )


def _needed(promise: Promise, asked: tuple[Query, ...], shares: Sequence[Fraction]) -> _Needed:
    if promise.kept and any(isinstance(query, Mean) and query.count == "public" for query in asked):
        raise BadQuery(
            'A mean by the public number of rows, and rows of large groups are left out. Give count = "noisy".'
        )
    keys: dict[tuple[Statistic, Quantile | None], int] = {}
    uses = tuple(
        tuple(keys.setdefault(_key(query, one), len(keys)) for one in query.statistics(promise.schema))
        for query in asked
    )
    return _Needed(promise, asked, tuple(shares), tuple(keys), uses)


@lru_cache(maxsize=64)
def promise_of(
    schema: Schema,
    dependence: tuple[Declared | Dependence, ...],
    knowledge: Knowledge,
    measure: Measure = PURE,
) -> Promise:
    """Make an promise, once for the same schema and models."""
    return Promise.of(schema, dependence, knowledge, measure)


def measure_of(delta: Amount | None) -> Measure:
    """Say in what is charged: pure loss, or with a δ concentrated loss."""
    return PURE if delta is None else Concentrated(positive_fraction(delta, "δ"))


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


def _tuple(
    dependence: Iterable[Declared | Dependence] | Declared | Dependence,
) -> tuple[Declared | Dependence, ...]:
    return (dependence,) if isinstance(dependence, Declared | Dependence) else tuple(dependence)


def _unique(schema: Schema, given: list[Query]) -> tuple[Query, ...]:
    """Check the queries and put each once, in an order that does not depend on how they were given."""
    if not given:
        raise BadQuery("A release without a question. Ask at least one.")
    by_text: dict[str, Query] = {}
    for query in given:
        if not isinstance(query, Query):
            raise BadQuery(f"{query!r:.100} is no query. Give Count(…), Histogram(…), …")
        query.check(schema)
        by_text[query.fingerprint] = query
    return tuple(by_text[text] for text in sorted(by_text))


def _key(query: Query, statistic: Statistic) -> tuple[Statistic, Quantile | None]:
    """Tell statistics apart by what they are, not by whose part they are; choices also by their rank."""
    alike = replace(statistic, share=Fraction(1))
    if not statistic.selects:
        return alike, None
    if not isinstance(query, Quantile):
        raise BadQuery(f"{query.kind}: it chooses by scores that it cannot give. Ask for a quantile.")
    return alike, query


def _fitted(
    promise: Promise, statistics: Shared, leakage: Amount | None, loss: Amount | None
) -> tuple[Fraction, tuple[Part, ...], Price]:
    """Find the largest e, in a few digits, whose charges stay within what is allowed."""
    if (leakage is None) == (loss is None):
        raise BadQuery("A release needs either a leakage or a loss. Give one of them.")
    whole = _parts(promise, statistics, Fraction(1))
    if leakage is not None:
        allowed = positive_fraction(leakage, "Leakage")
        each = promise.largest(whole, allowed)
    else:
        allowed = positive_fraction(loss, "Loss")  # type: ignore[arg-type]  # one of the two is given
        each = promise.measure.largest(allowed) / promise.base(whole).nominal
    for slack in SLACKS:
        short = _rounded_down(each * (1 - slack))
        parts = _parts(promise, statistics, short)
        price = promise.price({part.key: part for part in parts})
        if (price.worst if leakage is not None else price.nominal) <= allowed:
            return short, parts, price
    raise Unreachable(f"No noise keeps the batch within {float(allowed):.6g}. Ask for less, or allow more.")


def _parts(promise: Promise, statistics: Shared, each: Fraction) -> tuple[Part, ...]:
    """Charge every statistic its share of `each` for its worst change, and less where it moves less."""
    charged: dict[str, Part] = {}
    for statistic, share in statistics:
        moves = promise.measure.parts(statistic, promise.schema)
        worst = _worst(promise, statistic)
        for part in moves:
            one, both = (
                _on_grid(each * share * moved / worst)
                for moved in (part.sensitivity.one, part.sensitivity.both)
            )
            if one or both:
                loss = Part(key_of(part.where, part.column), one, both)
                charged[loss.key] = charged[loss.key] + loss if loss.key in charged else loss
    return tuple(charged[key] for key in sorted(charged))


def _worst(promise: Promise, statistic: Statistic) -> Fraction:
    """Give the largest change between neighbouring tables, in what is charged."""
    moves = promise.measure.parts(statistic, promise.schema)
    return max((part.worst(promise.schema) for part in moves), default=Fraction(0))


def _on_grid(loss: Fraction) -> Fraction:
    return Fraction(-(-loss.numerator * GRID // loss.denominator), GRID)


def _rounded_down(exact: Fraction) -> Fraction:
    """Keep the first digits of a number."""
    place = math.floor(math.log10(exact.numerator) - math.log10(exact.denominator)) + 1
    unit = Fraction(10) ** (place - DIGITS)
    return exact // unit * unit


def _asked(statistic: Statistic, chooser: Quantile | None, each: Fraction, promise: Promise) -> Asked:
    worst = _worst(promise, statistic)
    if chooser is None:
        return Added(statistic, promise.measure.added(each, worst))
    return Chosen(statistic, promise.measure.chosen(each, worst), chooser)
