"""Released numbers compared by their names: differences, ratios and shares, each with an interval that holds.

Counts hang together as `comparisons` works it out. Of other numbers (totals, means, shares of rows, …) differences are
known. Where both have noise of their own, as two subgroups have, the squares of the distances to their ends add up
(`trends`). Where one noise is in both, or they were made to agree, nothing is said about how their errors hang
together: the ends are subtracted as they are, both intervals hold at once with twice the chance of a miss, and the
confidence says so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias, cast, get_args

from entwined.canonical import Document
from entwined.errors import BadNoise, BadQuery, QueryTooComplex
from entwined.estimate.answers import AS_DRAWN, Answered, Release, written
from entwined.estimate.comparisons import Comparing, Comparison
from entwined.estimate.spans import CONFIDENCE
from entwined.estimate.trends import recovered, subtracted
from entwined.mechanisms.batch import Batch
from entwined.queries import Predicate, Query
from entwined.queries.counts import labels
from entwined.queries.spoken import labels_of, text_of
from entwined.schema import Moment, Schema
from entwined.schema.column import alike

Kind: TypeAlias = Literal["difference", "ratio", "share"]
COMPARED_BY: Final[tuple[Kind, ...]] = get_args(Kind)
Named: TypeAlias = tuple[str, ...]
"""The name of an answer, and in a table the labels of a cell."""
BOTH_HOLD: Final = 2 * CONFIDENCE - 1
MISSING: Final = "missing"
ROWS: Final = "rows"
FILLED: Final = ", blanks filled by draws"
ADDED_UP: Final = {"group_by": "total"}


@dataclass(frozen=True, slots=True)
class WantedComparison:
    """Two numbers that are to be compared: one less the other, over the other, or as a share of the other."""

    name: str
    kind: Kind
    one: Named
    other: Named

    def check(self, asked: dict[str, Query], schema: Schema) -> None:
        """Refuse, before anything is charged, what will not be comparable."""
        if self.kind not in COMPARED_BY:
            raise BadQuery(f"A comparison of kind {self.kind!r:.60}. Give {', '.join(COMPARED_BY)}.")
        if self.one == self.other:
            raise BadQuery(f"The comparison {self.name!r:.100} is of a number with itself. Name two.")
        queries = [self._found(number, asked, schema) for number in (self.one, self.other)]
        counted = [_is_counted(query, schema) for query in queries]
        if self.kind != "difference" and not all(counted):
            raise BadQuery(
                f"The comparison {self.name!r:.100} is a {self.kind} of what is no count. Compare counts and cells of "
                "tables of counts, or ask for a difference."
            )
        if len({_scale(query, schema) for query in queries}) > 1:
            first, second = (f"{query.words} ({query.measured})" for query in queries)
            raise BadQuery(
                f"The comparison {self.name!r:.60} is of two units: {first:.60} and {second:.60}. Compare counts with "
                "counts, totals with totals of a like column, and so on."
            )

    def _found(self, number: Named, asked: dict[str, Query], schema: Schema) -> Query:
        name, *_ = number or ("",)
        if name not in asked:
            raise BadQuery(
                f"The comparison {self.name!r:.100}: nothing is called {name!r:.100}. Name a query."
            )
        query = asked[name]
        moments = [
            of for of in query.values if not query.counts_rows and isinstance(schema.coded(of), Moment)
        ]
        if moments or any(one.selects for one in query.statistics(schema)):
            raise BadQuery(
                f"The comparison {self.name!r:.100}: {name!r:.100} is a time, or is chosen and has no interval of "
                "values. Compare counts, totals, means of numbers or shares."
            )
        place_of(query, schema, number[1:], name)
        return query


@dataclass(frozen=True, slots=True)
class ComparedNumbers:
    """What a comparison gave, and with which confidence the truth is between its ends; None is undefined."""

    wish: WantedComparison
    found: Comparison
    confidence: Fraction

    @property
    def document(self) -> Document:
        """The comparison as JSON."""
        value, low, high = (written(end) for end in (self.found.value, self.found.low, self.found.high))  # type: ignore[arg-type]  # None is written so too
        return {
            "name": self.wish.name,
            "kind": self.wish.kind,
            "one": list(self.wish.one),
            "other": list(self.wish.other),
            "value": value,
            "low": low,
            "high": high,
            "confidence": float(self.confidence),
        }


@dataclass(frozen=True, eq=False)
class NamedNumbers:
    """The answers of a release by their names, and how their errors hang together."""

    planned: Batch
    release: Release
    names: tuple[str, ...]
    impossible: tuple[Predicate, ...] = ()

    @cached_property
    def _counts(self) -> Comparing:
        try:
            return Comparing.of(self.planned, self.release, self.impossible)
        except (QueryTooComplex, BadNoise):  # then the numbers are as they were drawn too
            return Comparing.of(self.planned, replace(self.release, agreement=AS_DRAWN))

    @property
    def asked(self) -> dict[str, Query]:
        """The questions by their names."""
        by_text = {query.fingerprint: query for query in self.planned.queries}
        return {name: by_text[one.asked] for name, one in zip(self.names, self.release.answers, strict=True)}

    def all(self, wishes: Sequence[WantedComparison]) -> tuple[ComparedNumbers, ...]:
        """Compare whatever is wished for."""
        return tuple(self.compared(wish) for wish in wishes)

    def compared(self, wish: WantedComparison) -> ComparedNumbers:
        """Compare two numbers."""
        wish.check(self.asked, self.planned.schema)
        one, other = self._number(wish.one), self._number(wish.other)
        if all(query.fingerprint in self._counts.counts for query, _ in (one, other)):
            compare = {
                "difference": self._counts.difference,
                "ratio": self._counts.ratio,
                "share": self._counts.share,
            }
            return ComparedNumbers(wish, compare[wish.kind](one, other), CONFIDENCE)
        if wish.kind != "difference":
            raise BadQuery(
                f"The {wish.kind} {wish.name!r:.100} is of numbers that are no counts of this release."
            )
        return self._difference(wish, one, other)

    def _difference(
        self, wish: WantedComparison, one: tuple[Query, int], other: tuple[Query, int]
    ) -> ComparedNumbers:
        mine, theirs = (self._measured(*number) for number in (one, other))
        apart = self._are_independent(one, other)
        ends = recovered(theirs, mine) if apart else subtracted(theirs[1], mine[1])
        return ComparedNumbers(
            wish, Comparison(mine[0] - theirs[0], *ends), CONFIDENCE if apart else BOTH_HOLD
        )

    def _are_independent(self, one: tuple[Query, int], other: tuple[Query, int]) -> bool:
        """Whether no noise is in both: other statistics, or other cells of one, and none made to agree with another."""
        uses = dict(
            zip((query.fingerprint for query in self.planned.queries), self.planned.uses, strict=True)
        )
        mine, theirs = (set(uses[query.fingerprint]) for query, _ in (one, other))
        drawn = self.release.agreement == AS_DRAWN or not (one[0].agrees or other[0].agrees)
        return drawn and (mine.isdisjoint(theirs) or (one[0] == other[0] and len(mine) == 1))

    def _number(self, named: Named) -> tuple[Query, int]:
        query = self.asked[named[0]]
        return query, place_of(query, self.planned.schema, named[1:], named[0])

    def _measured(self, query: Query, place: int) -> tuple[Fraction, tuple[Fraction, Fraction]]:
        """Give a value and the ends of its interval."""
        answer = self.release.of(query)
        value, low, high = (_at(one, place) for one in (answer.value, *_ends(answer)))
        return value, (low, high)


def _ends(answer: Answered) -> tuple[Any, Any]:
    if answer.interval is None:
        raise BadQuery("A choice has no interval of values. Compare counts, totals, means or shares.")
    return answer.interval


def _at(value: Any, place: int) -> Fraction:
    found = value[place] if isinstance(value, tuple) else value
    if isinstance(found, datetime):
        raise BadQuery("Times are compared. Compare counts, totals, means of numbers or shares.")
    return Fraction(cast("Fraction", found))


def _is_counted(query: Query, schema: Schema) -> bool:
    (first, *more) = query.statistics(schema)
    return (
        query.counts_rows and not more and first.aggregate.adds is None and first.agrees and not first.filling
    )


def _scale(query: Query, schema: Schema) -> tuple[str, str]:
    """Say on what scale an answer is: of which kind of number, and of columns how they are declared, by any name."""
    unit, kind = query.unit.removesuffix(FILLED), ADDED_UP.get(query.kind, query.kind)
    if query.counts_rows or unit == ROWS:
        return ROWS, unit
    names = [name for name in query.values if unit == name or unit.startswith((f"{name} ", f"{name},"))]
    for name in sorted(names, key=len, reverse=True)[:1]:
        unit = unit.replace(name, alike(schema.coded(name)), 1)
    return kind, unit


def place_of(query: Query, schema: Schema, given: Sequence[object], name: str) -> int:
    """Find the place of a cell by its labels; 0 where there is one number."""
    axes = query.axes(schema)
    if not axes and not given and query.statistics(schema)[0].aggregate.cells == 1:
        return 0
    said = [labels_of(schema.coded(axis.column)) for axis in axes]
    for place, cell in enumerate(labels(axes, schema) if axes else ()):
        texts = zip(cell, said, strict=True)
        if len(cell) == len(given) and all(
            label in (value, *_texts(value, known))
            for label, (value, known) in zip(given, texts, strict=True)
        ):
            return place
    raise BadQuery(
        f"{name!r:.100} has no cell {', '.join(map(str, given)) or 'without labels'!r:.100}. Name one of its cells by "
        f"the value of each of {len(axes)} sides."
        if axes
        else f"{name!r:.100} is one number, or has cells without labels. Name it alone, or compare another."
    )


def _texts(value: Any, said: dict[Any, str]) -> Iterator[str]:
    """Write a label in the ways that people do."""
    match value:
        case None:
            yield MISSING
        case (first, last):
            yield f"{text_of(first, said)} to {text_of(last, said)}"
        case _:
            yield text_of(value, said)
            yield str(value).lower() if isinstance(value, bool) else str(value)
