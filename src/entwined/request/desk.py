"""A door with the verbs of daily use: plan, release, SQL, and what is left of the budget."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from entwined.bounds import Knowledge
from entwined.door.door import Door, Passed
from entwined.door.witnessed import witness_of
from entwined.errors import BadInput, BadQuery
from entwined.estimate.answers import Release
from entwined.estimate.compared import ComparedNumbers, Kind, NamedNumbers, WantedComparison
from entwined.estimate.comparisons import Comparing
from entwined.ledger import History
from entwined.ledger.calendar import Allowance
from entwined.mechanisms.batch import Batch, plan_batch
from entwined.mechanisms.kinds import OFFERED
from entwined.mechanisms.offered import settled
from entwined.mechanisms.veiled import VeiledAnswers
from entwined.numbers import Amount
from entwined.promise.price import Price
from entwined.promise.promise import Dependences, promise_of
from entwined.promise.secrets import KeptSecrets
from entwined.queries import Query
from entwined.queries.sql import read_sql
from entwined.queries.where import Where, bound
from entwined.request.opening import open_ledger
from entwined.request.verbs import release_batch
from entwined.schema import Schema, read_schema
from entwined.showing import Tabled
from entwined.tables import open_table
from entwined.tables.table import Table

Questions: TypeAlias = Query | Sequence[Query] | Mapping[str, Query]
ANY_TABLE: Final = "t"
"""What the table of a desk is called in SQL."""


@dataclass(frozen=True, slots=True, repr=False)
class Purse(Tabled):
    """What a ledger may spend and has spent: on its worst model, and model by model."""

    cap: Fraction
    spent: Price
    periods: tuple[Allowance, ...] = ()

    @property
    def left(self) -> float:
        """What the cap leaves."""
        return max(float(self.cap - self.spent.worst), 0.0)

    def __str__(self) -> str:
        """Say what was spent and what is left."""
        said = f"spent {float(self.spent.worst):.4g} of {float(self.cap):.4g}, {round(self.left, 6):.4g} left"
        return "; ".join([said, *(f"in {one.name} {round(one.left, 6):.4g} left" for one in self.periods)])


@dataclass(frozen=True, eq=False, repr=False)
class Desk(Door):
    """An open door: close it, or use it in a `with`."""

    def plan(
        self,
        queries: Questions,
        *,
        leakage: Amount | None = None,
        loss: Amount | None = None,
        shares: Sequence[Amount] | None = None,
        noise: str = "",
    ) -> Batch:
        """Work out noise, charges and price of some queries; nothing is read or charged."""
        asked = self._bound(queries)
        return plan_batch(self.promise, asked, leakage=leakage, loss=loss, shares=shares, noise=noise)

    def release(  # noqa: PLR0913  (a release is described by so many public choices)
        self,
        queries: Questions,
        *,
        leakage: Amount | None = None,
        loss: Amount | None = None,
        shares: Sequence[Amount] | None = None,
        consistent: bool = True,
        impossible: Sequence[Where] = (),
        with_earlier: bool = False,
        analyst: str = "holder",
        request: str | None = None,
        noise: str = "",
    ) -> Release:
        """Answer queries within a leakage or a loss, and charge them; names of a mapping go along.

        With `consistent` the answers agree with each other, and `with_earlier` with those of earlier releases;
        `impossible` are conditions that no row can meet, by the holder's word. `noise` is "laplace" where that is
        wanted under a δ.
        """
        asked = self._bound(queries)
        batch = plan_batch(self.promise, asked, leakage=leakage, loss=loss, shares=shares, noise=noise)
        names = tuple(queries) if isinstance(queries, Mapping) else ()
        return release_batch(
            self,
            batch,
            asked,
            request=request,
            analyst=analyst,
            consistent=consistent,
            names=names,
            impossible=tuple(bound(one, self.promise.schema) for one in impossible),
            with_earlier=with_earlier,
        )

    def keeping(
        self,
        queries: Mapping[str, Query],
        *,
        leakage: Amount | None = None,
        loss: Amount | None = None,
        analyst: str = "holder",
    ) -> Passed[tuple[object, ...]]:
        """Answer counts, means and totals together so that they keep the secrets about whole columns of this door."""
        schema = self.promise.schema
        asked = {name: _query(one).by_public_rows(schema) for name, one in queries.items()}
        return self.admit(VeiledAnswers.fitted(self.promise, asked, leakage, loss), analyst=analyst)

    def sql(
        self, text: str, *, leakage: Amount | None = None, loss: Amount | None = None, analyst: str = "holder"
    ) -> Release:
        """Answer a SELECT of counts, sums, means or quantiles FROM t."""
        select = read_sql(text, self.promise.schema)
        if select.table.lower() != ANY_TABLE:
            raise BadInput(f"FROM {select.table!r:.60}: the table of a door is called {ANY_TABLE}.")
        named = dict(zip(select.names, select.queries, strict=True))
        return self.release(named, leakage=leakage, loss=loss, analyst=analyst)

    def compute(
        self,
        kind: str,
        *,
        leakage: Amount | None = None,
        loss: Amount | None = None,
        analyst: str = "holder",
        **given: Any,
    ) -> Passed[Any]:
        """Let a mechanism out that is asked for by name, such as "k_means", within a leakage or a nominal loss."""
        if kind not in OFFERED:
            raise BadQuery(f"There is no mechanism {kind!r:.60}. Ask for {', '.join(OFFERED)}.")
        unknown = sorted(given.keys() - set(OFFERED[kind].fields))
        if unknown:
            raise BadQuery(f"{kind} has no {unknown[0]!r:.60}. It has {', '.join(OFFERED[kind].fields)}.")
        mechanism = settled(OFFERED[kind], self.promise, given, leakage=leakage, loss=loss)
        return self.admit(mechanism, analyst=analyst)

    def compare(self, release: Release) -> Comparing:
        """Compare released counts: differences, ratios, shares and bands, with intervals that hold; it is free."""
        batch = Batch.from_document(release.certificate["mechanism"], self.promise)
        return Comparing.of(batch, release)

    def compared(
        self,
        release: Release,
        one: str | tuple[str, ...],
        other: str | tuple[str, ...],
        kind: Kind = "difference",
    ) -> ComparedNumbers:
        """Compare two numbers of a release by their names, cells of tables as ("by sex", "f"); it is free."""
        batch = Batch.from_document(release.certificate["mechanism"], self.promise)
        named = [(number,) if isinstance(number, str) else tuple(number) for number in (one, other)]
        return NamedNumbers(batch, release, release.names).compared(WantedComparison(kind, kind, *named))

    @property
    def budget(self) -> Purse:
        """What may be spent, and what has been."""
        spent = self.ledger.spent()
        return Purse(spent.cap, spent.price, spent.periods)

    @property
    def history(self) -> History:
        """What was charged, by whom, and what came of it."""
        return History.of(self.ledger.book)

    def _bound(self, queries: Questions) -> list[Query]:
        listed: Iterable[Query]
        if isinstance(queries, Query):
            listed = [queries]
        else:
            listed = queries.values() if isinstance(queries, Mapping) else queries
        return [_query(one).bound(self.promise.schema) for one in listed]

    def close(self) -> None:
        """Let go of the table and the ledger."""
        self.ledger.close()
        if isinstance(self.table, Table):
            self.table.close()

    def __enter__(self) -> Self:
        """Use it in a block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it at the end of the block."""
        self.close()


def _query(given: object) -> Query:
    if not isinstance(given, Query):
        raise BadQuery(
            f"{given!r:.100} is no query. Give Count(…), Histogram(…), …, or use sql for a SELECT."
        )
    return given


def open_desk(  # noqa: PLR0913  (these are the terms of everything that will be released)
    table: Any,
    schema: Schema | str | os.PathLike[str],
    *,
    ledger: str | Path,
    cap: Amount,
    dependence: Dependences = (),
    knowledge: Knowledge = "any",
    delta: Amount | None = None,
    anchor: Path | None = None,
    version: str | None = None,
    calendar: Mapping[str, Amount] | None = None,
    other_rows: bool = False,
    secrets: KeptSecrets | None = None,
    reserve: Mapping[str, Amount] | None = None,
) -> Desk:
    """Open a table under what is promised about it: everything that leaves goes through the door that this gives.

    `table` is a path, a URL, a frame or an open table; the ledger is begun if it is not there. `calendar` says how much
    may leak within a year, a quarter or a month, such as {"year": 2}; without it that of the ledger is meant. A table
    that was released from under another ledger is refused when it is asked something, unless `other_rows` says that
    these are other people. `secrets` about whole columns are kept by `keeping` alone, in one release. `reserve` gives
    ρ for each column that may be asked about, priced once for all batches: for models over columns or panels under a δ.
    """
    public = schema if isinstance(schema, Schema) else read_schema(Path(schema))
    public.require_approval()
    rows = table if isinstance(table, Table) else open_table(table, public, version=version)
    try:
        book = open_ledger(
            ledger,
            public,
            cap=cap,
            dependence=dependence,
            knowledge=knowledge,
            delta=delta,
            anchor=anchor,
            calendar=calendar,
            secrets=secrets,
            reserve=reserve,
        )
        witness = witness_of(rows) if other_rows else None
        if witness is not None:
            witness.bind(book.book, other_rows=True)
        return Desk(rows, promise_of(public, dependence, knowledge, delta, secrets, reserve), book)
    except BaseException:
        rows.close()
        raise
