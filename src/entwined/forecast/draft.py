"""What a batch publishes and by which noise: a plan without its price, so that another loss is quickly tried."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from entwined.errors import BadNoise, QueryTooComplex
from entwined.estimate.agreement import Released, agreed_laws
from entwined.estimate.collected_laws import Laws
from entwined.estimate.error_law import ErrorLaw
from entwined.mechanisms.asked import Added, Asked
from entwined.mechanisms.batch import Batch
from entwined.noise import Additive
from entwined.queries import CountOf, Predicate, Query, everything
from entwined.queries.occurring import never_missing
from entwined.schema import Schema


@dataclass(frozen=True)
class Draft:
    """Queries, the statistics they are made of, and the noise of each.

    Best estimates weigh numbers by the sizes of their noise against each other, which a factor common to all
    leaves as they are but for the steps of integers: `weighed_by` has worked these weights out already.
    """

    schema: Schema
    queries: tuple[Query, ...]
    statistics: tuple[Asked, ...]
    uses: tuple[tuple[int, ...], ...]
    public_rows: int | None
    weighed_by: "Draft | None" = None
    _agreeing: dict[tuple[Predicate, ...], dict[int, Laws] | None] = field(
        init=False, compare=False, repr=False, default_factory=dict
    )

    @classmethod
    def of(cls, planned: Batch) -> "Draft":
        """Take the noise of a plan."""
        rows = None if planned.promise.kept else planned.schema.rows
        return cls(planned.schema, planned.queries, planned.statistics, planned.uses, rows)

    def at(self, times: Fraction) -> "Draft":
        """Give every statistic so many times its loss."""
        return replace(
            self,
            statistics=tuple(one.at(times) for one in self.statistics),
            weighed_by=self.weighed_by or self,
        )

    def weighed(self) -> "Draft":
        """Have the weights of estimates worked out anew."""
        return replace(self, weighed_by=None)

    def asked(self, place: int) -> tuple[Asked, ...]:
        """Give the statistics of one query."""
        return tuple(self.statistics[use] for use in self.uses[place])

    def drawn(self) -> dict[int, Laws]:
        """Give the laws of the errors as they are drawn, by the places of the statistics."""
        return {
            place: (np.zeros(one.statistic.aggregate.cells, np.int64), (ErrorLaw.of([1], [one.law]),))
            for place, one in enumerate(self.statistics)
            if isinstance(one, Added)
        }

    def agreeing(self, impossible: tuple[Predicate, ...] = ()) -> dict[int, Laws] | None:
        """Give the laws of the errors once the answers agree, worked out once; None where that cannot be done."""
        if impossible not in self._agreeing:
            self._agreeing[impossible] = self._worked_out(impossible)
        return self._agreeing[impossible]

    def _worked_out(self, impossible: tuple[Predicate, ...]) -> dict[int, Laws] | None:
        if self.weighed_by is not None:
            return self._as_weighed(self.weighed_by, impossible)
        places = [place for place, one in enumerate(self.statistics) if isinstance(one, Added)]
        numbers = [
            Released(one.statistic.aggregate, one.law, [0] * one.statistic.aggregate.cells)
            for one in self.statistics
            if isinstance(one, Added)
        ]
        if self.public_rows is not None:
            numbers.append(Released(CountOf(everything()), None, [self.public_rows]))
        try:
            read = {name for released in numbers for name in released.aggregate.reads}
            ruled_out = (*impossible, *never_missing(self.schema, read))
            return dict(zip(places, agreed_laws(numbers, ruled_out), strict=False))
        except (QueryTooComplex, BadNoise):
            return None

    def _as_weighed(self, before: "Draft", impossible: tuple[Predicate, ...]) -> dict[int, Laws] | None:
        """Put this noise in the place of another one, with the same weights."""
        found = before.agreeing(impossible)
        if found is None:
            return None
        now: dict[Additive, Additive] = {
            old.law: new.law
            for old, new in zip(before.statistics, self.statistics, strict=True)
            if isinstance(old, Added) and isinstance(new, Added)
        }
        laws: dict[ErrorLaw, ErrorLaw] = {}
        for _, known in found.values():
            for law in known:
                shares = (replace(share, noise=now[share.noise]) for share in law.shares)
                laws[law] = ErrorLaw(tuple(shares))
        return {place: (kinds, tuple(laws[law] for law in known)) for place, (kinds, known) in found.items()}
