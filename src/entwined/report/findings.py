"""What was found: each released answer with its name, the words for its cells, and the interval of each cell."""

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias, cast

from entwined.canonical import Document
from entwined.errors import BadInput
from entwined.estimate.answers import Answered, Contradiction, Release
from entwined.estimate.parts import Division, Wholes
from entwined.estimate.population import Estimated, populations
from entwined.estimate.quality import Level, tallied, tally_words
from entwined.estimate.spans import Ranks
from entwined.queries import Axis, Query
from entwined.queries.counts import labels
from entwined.queries.documents import question_of
from entwined.queries.occurring import never_missing, occurring
from entwined.queries.predicate import Predicate, predicate_from
from entwined.queries.spoken import condition, labels_of, text_of, titled
from entwined.report.words import readable
from entwined.schema import Ordered, Schema

PEOPLE: Final = "of the population"
LONGEST_CONDITION: Final = 400
SINGLE: Final[dict[Level, str]] = {
    "publish": "Can be published.",
    "with care": "To be published with care.",
    "not": "Not to be published alone.",
    "unknown": "Quality unknown.",
}

Number: TypeAlias = int | Fraction | datetime


class Cell(NamedTuple):
    """One released number: where it stands in its table, its interval, and the adjusted number, if there is one."""

    names: tuple[str, ...]
    keys: tuple[Any, ...]
    value: Number
    low: Number | None
    high: Number | None
    quality: Level = "unknown"
    relative_error: float | None = None
    place: int = 0
    adjusted: Number | None = None
    adjusted_low: Number | None = None
    adjusted_high: Number | None = None

    @property
    def name(self) -> str:
        """The cell in words; nothing where a statistic has one number."""
        return " · ".join(self.names)

    @property
    def is_outside(self) -> bool:
        """Whether adjusting moved a number out of its interval."""
        numbers = (self.adjusted_low, self.adjusted, self.adjusted_high)
        low, adjusted, high = (cast("Any", number) for number in numbers)
        return adjusted is not None and not low <= adjusted <= high


@dataclass(frozen=True)
class Finding:
    """One released statistic."""

    name: str
    answer: Answered
    schema: Schema
    people: Estimated | None = None
    wholes: Wholes | None = None
    counted_rows: str = ""
    impossible: tuple[Predicate, ...] = ()
    warnings: tuple[Contradiction, ...] = ()

    @cached_property
    def query(self) -> Query:
        """The question without its condition."""
        return question_of(self.answer.asked)

    @cached_property
    def _asked(self) -> Document:
        return dict(json.loads(self.answer.asked))

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The sides of the table, none where there is one number."""
        return self.query.axes(self.schema)

    @property
    def sides(self) -> tuple[str, ...]:
        """The columns along the sides, or what their bands are called."""
        return tuple(axis.title for axis in self.axes)

    @property
    def headings(self) -> tuple[str, ...]:
        """What stands above the names of the cells."""
        return ("number",) if self.size > 1 and not self.axes else tuple(map(self.titled, self.sides))

    @property
    def size(self) -> int:
        """How many numbers there are, cells left out in which no row can be."""
        whole = len(self.answer.value) if isinstance(self.answer.value, tuple) else 1
        return whole if self._occurring is None else sum(self._occurring)

    @property
    def levels(self) -> list[Level]:
        """The classes of all numbers."""
        levels = self.answer.levels
        return levels if self._occurring is None else list(itertools.compress(levels, self._occurring))

    @property
    def ranks(self) -> int | None:
        """For a choice: its rank is within so many rows of the one asked for."""
        return self.answer.span.within if isinstance(self.answer.span, Ranks) else None

    @property
    def is_drowned(self) -> bool:
        """Whether none of its numbers could be published, even with care."""
        return {"not"} == set(self.levels)

    @property
    def quality_words(self) -> str:
        """Say how many of its numbers can be published, or what a single one can be used for, and why."""
        counts = tallied(self.levels)
        words = f"{tally_words(counts)}." if self.size > 1 else SINGLE[self.answer.levels[0]]
        return f"{words} {readable(self.answer.quality.reason, LONGEST_CONDITION)}".rstrip()

    @property
    def caveat(self) -> str:
        """For which counts the adjusted number has a larger error than the draw; nothing if for none."""
        return "" if self.answer.adjusted is None else self.answer.adjusted.caveat

    @property
    def warning(self) -> str:
        """Which declarations its numbers contradict."""
        return " ".join(warning.text for warning in self.warnings)

    @property
    def unit(self) -> str:
        """What the numbers are numbers of."""
        return self.query.unit

    @cached_property
    def dividing(self) -> Division | None:
        """How its counts become shares, where they are parts of a known whole."""
        return None if self.wholes is None else self.wholes.dividing(self.answer)

    def cells(self) -> Iterator[Cell]:
        """Give every released number in its order."""
        value: Any = self.answer.value
        ends: Any = self.answer.interval or (None, None)
        quality = self.answer.quality
        places = range(len(self.answer.levels))
        classes = self.answer.levels, map(quality.relative_error, places), places
        beside: Any = (None, None, None)
        if self.answer.adjusted is not None:
            beside = self.answer.adjusted.value, *self.answer.adjusted.interval
        if not isinstance(value, tuple):
            own = self.answer.levels[0], quality.relative_error(0), 0
            yield Cell((), (), value, ends[0], ends[1], *own, *beside)
            return
        endless = (itertools.repeat(None) if column is None else column for column in (*ends, *beside))
        low, high, *adjusted = endless
        columns = zip(*self._called(), value, low, high, *classes, *adjusted, strict=False)
        for parts in columns if self._occurring is None else itertools.compress(columns, self._occurring):
            yield Cell(*parts)

    @cached_property
    def _occurring(self) -> list[bool] | None:
        """Mark the cells that some row can be in; None where that is all of them."""
        asked = None if self.wholes is None else self.wholes.queries.get(self.answer.asked)
        if asked is None or not self.axes:
            return None
        columns = {axis.column for axis in self.axes}
        ruled_out = (*self.impossible, *never_missing(self.schema, columns))
        marks = occurring(self.axes, asked.inside, ruled_out, self.schema)
        return None if marks is None else marks.tolist()

    def _called(self) -> tuple[Iterator[tuple[str, ...]], Iterator[tuple[Any, ...]]]:
        """Give the names and keys of all cells."""
        if self.query.numbered:
            return ((name,) for name in self.query.numbered), itertools.repeat(())
        sides = [side_names(axis, self.schema) for axis in self.axes]
        return (
            itertools.product(*([name for name, _ in side] for side in sides)),
            itertools.product(*([key for _, key in side] for side in sides)),
        )

    @property
    def question(self) -> str:
        """What was asked, in words."""
        return self.query.question(self.titled, {name: self._inside(name) for name in self.query.conditions})

    @property
    def condition(self) -> str:
        """Which rows it is about, in words; none where it is about all of them."""
        return ", of ".join(filter(None, map(self._inside, self.query.conditions)))

    def _inside(self, name: str) -> str:
        """Put a condition into words; none for one that holds for all rows."""
        text = self._asked[name]
        return "" if text == "all" else readable(condition(text, self.schema), LONGEST_CONDITION)

    def titled(self, column: str) -> str:
        """Name a column by its label, if it has one."""
        return readable(titled(column, self.schema))

    @property
    def of_people(self) -> Cell | None:
        """The number as one of the population that the rows were drawn from, where its sampling error was released."""
        if self.people is None:
            return None
        quality = self.answer.levels[0], self.answer.quality.relative_error(0)
        return Cell((PEOPLE,), (), self.people.value, *self.people.population, *quality)

    @property
    def is_ordered(self) -> bool:
        """Whether the cells follow each other along one column of numbers or times."""
        return len(self.axes) == 1 and isinstance(self.schema.coded(self.axes[0].column), Ordered)


def findings(release: Release, names: Sequence[str], schema: Schema) -> tuple[Finding, ...]:
    """Name the answers of a release."""
    if len(names) != len(release.answers):
        raise BadInput(
            f"{len(names)} names for {len(release.answers)} answers. Give one name a query, in the order asked."
        )
    if release.certificate["schema"] != schema.digest:
        raise BadInput(
            "The release was made under another schema than this one. Give the one it was made under."
        )
    people = populations(release.under(schema))
    wholes = Wholes.of(release, schema)
    counted = " ".join(release.certificate.get("counted_rows", ()))
    impossible = tuple(map(predicate_from, release.post_processing.get("impossible", ())))
    return tuple(
        Finding(
            name,
            answer,
            schema,
            people.get(answer.asked),
            wholes,
            counted,
            impossible,
            _about(answer, release),
        )
        for name, answer in zip(names, release.answers, strict=True)
    )


def _about(answer: Answered, release: Release) -> tuple[Contradiction, ...]:
    return tuple(warning for warning in release.warnings if answer.asked in warning.asked)


def side_names(axis: Axis, schema: Schema) -> list[tuple[str, Any]]:
    """Name the cells along one side, in words and as keys that other tables can be joined by."""
    column = schema.coded(axis.column)
    said = labels_of(column)
    taken = {*said, *said.values(), *axis.labels}
    missing = "(missing)" if "missing" in taken else "missing"
    return [_side(value, said, missing) for (value,) in labels((axis,), schema)]


def _side(value: Any, said: dict[Any, str], missing: str) -> tuple[str, Any]:
    match value:
        case None:
            return missing, missing
        case (first, last):
            name = f"{text_of(first, said)} to {text_of(last, said)}"
            return name, name
    return text_of(value, said), value
