"""What a survey's design shows in a public table: proposals for the holder to confirm, nothing more.

An answer is *decided* by another column if everyone who gave the same answer there agrees here. Three things
follow from a codebook and can be seen so: columns that another one decides, so that their histogram is added up
from the finer one; a code that stands for "not asked", where another answer decides who was; and forms, where
one column decides it for many questions. Nothing is proposed that rests on too few rows (`evidence`).
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from entwined.learning.pairs import PairCounts
from entwined.numbers import FloatArray, IntArray
from entwined.schema import Schema
from entwined.survey.evidence import Evidence, of_answers, of_blank

LEAST: Final = 0.02  # a blank that fewer respondents have, or all but so few, decides nothing worth knowing
FEW_BLANKS: Final = 2  # questions that a form takes at least


@dataclass(frozen=True, slots=True)
class Decided:
    """Every answer in `column` is settled by the one in `by`: `answers[u]` is the answer where `by` is u.

    Codes of `by` that nobody gave have the answer −1: a respondent who gives one is counted nowhere. `exceptions`
    respondents of the public table differ.
    """

    column: str
    by: str
    answers: tuple[int, ...]
    exceptions: int = 0
    evidence: Evidence | None = None

    def words(self, schema: Schema) -> str:
        """Put the proposal to the holder."""
        but = f" but for {self.exceptions} respondents" if self.exceptions else ""
        return (
            f"{_label(schema, self.column)} is decided by {_label(schema, self.by)}{but}: release the latter "
            f"and add its histogram up{_rests_on(self.evidence)}"
        )


@dataclass(frozen=True, slots=True)
class Blank:
    """Code `code` of `column` means "not asked": it is asked where `by` has one of the codes `asked`."""

    column: str
    code: int
    by: str
    asked: tuple[int, ...]
    evidence: Evidence | None = None

    def words(self, schema: Schema) -> str:
        """Put the proposal to the holder."""
        values = [
            "missing" if (value := schema.coded(self.by).value(code)) is None else str(value)
            for code in self.asked
        ]
        blank = schema.coded(self.column).value(self.code)
        said = "that it is missing" if blank is None else f"its answer {blank!r}"
        return (
            f"{_label(schema, self.column)} is asked only where {_label(schema, self.by)} is "
            f"{' or '.join(values)}; {said} means that it was not asked{_rests_on(self.evidence)}"
        )


@dataclass(frozen=True, slots=True)
class MissingShown:
    """What a public table shows of missing values in a column: of how many respondents, and what that tells.

    `information` is the most that it tells about any other column, in nats, and `about` is that column.
    """

    column: str
    respondents: int
    information: float
    about: str

    def words(self, schema: Schema) -> str:
        """Put the proposal to the holder."""
        label = _label(schema, self.column)
        tells = (
            f"there it tells {self.information:.3f} nats about {_label(schema, self.about)}, of all columns most"
            if self.respondents
            else "nothing can be seen of what that tells"
        )
        return (
            f"{label} is missing for {self.respondents} respondents of the pilot, and {tells}: confirm only if it "
            "says nothing about anything whether this answer is missing"
        )


@dataclass(frozen=True, slots=True)
class Form:
    """A column that says which questions a respondent got; `information` is the most that any question asked
    of all tells about it, in nats: next to nothing if forms were given out at random.
    """

    column: str
    blanks: tuple[Blank, ...]
    information: float

    def words(self, schema: Schema) -> str:
        """Put the proposal to the holder."""
        return (
            f"{_label(schema, self.column)} decides which of {len(self.blanks)} questions are asked, and no "
            f"question asked of all tells more than {self.information:.3f} nats about it: confirm that it "
            f"was drawn at random{_rests_on(self.weakest)}"
        )

    @property
    def weakest(self) -> Evidence | None:
        """What the question rests on of which the least is known that the form decides who is asked it."""
        found = [one.evidence for one in self.blanks if one.evidence is not None]
        return min(found, key=lambda one: one.least, default=None)


def decided_columns(
    pairs: PairCounts, kept: Collection[str] = (), exceptions: float = 0.0, *, filled: bool = False
) -> tuple[Decided, ...]:
    """Propose, for each column that another one decides, the one with the fewest values.

    Of two columns that decide each other the earlier is kept. What decides a column is never decided itself,
    and neither is a column of `kept`, such as a form. What too few rows confirm is not proposed. With `exceptions`,
    near duplicates are proposed too: for every answer at most this share of respondents may differ. They make the
    histogram that is added up wrong by so many, and it is trusted that, given what decides, they say nothing about
    other columns. With `filled` the last code of each column is missing, which decides no answer.
    """
    names = pairs.codes.names
    spread = [round(one, 9) for one in entropies(pairs).tolist()]
    by: dict[int, int] = {}
    near = _missed(pairs) <= exceptions * pairs.codes.rows
    for column in range(len(names)):
        if names[column] in kept or spread[column] == 0:
            continue
        finer = [
            one
            for one in np.flatnonzero(near[:, column]).tolist()
            if one != column
            and (names[one] in kept or (spread[one], -one) > (spread[column], -column))
            and _agrees(pairs, one, column, exceptions)
            and (shown := _evidence(pairs, one, column, filled=filled)) is not None
            and shown.is_enough
        ]
        if finer:
            by[column] = min(finer, key=lambda one: (pairs.codes.sizes[one], spread[one], one))
    return tuple(_decided(pairs, column, _last(by, column)) for column in by)


def _missed(pairs: PairCounts) -> NDArray[np.int64]:
    """Count, for each column and each other, who did not give the most common answer of those alike in the former."""
    most = np.maximum.reduceat(pairs.table, pairs.starts[:-1], axis=1)
    return np.add.reduceat(pairs.totals[:, None].astype(np.int64) - most, pairs.starts[:-1], axis=0)


def _agrees(pairs: PairCounts, by: int, column: int, exceptions: float) -> bool:
    """Whether each value of `by` settles the answer in `column`, but for a share of those who gave it."""
    low, high = pairs.starts[[by, column]], pairs.starts[[by + 1, column + 1]]
    counts = pairs.table[low[0] : high[0], low[1] : high[1]]
    most, totals = counts.max(axis=1), pairs.totals[low[0] : high[0]]
    if int((totals - most).sum()) > exceptions * pairs.codes.rows:
        return False
    wrong = counts.astype(np.int64)
    wrong[np.arange(len(counts)), counts.argmax(axis=1)] -= totals
    given = pairs.totals[low[1] : high[1]]
    return bool((np.abs(wrong).sum(axis=0) <= exceptions * given).all())


def _evidence(pairs: PairCounts, by: int, column: int, *, filled: bool = False) -> Evidence | None:
    columns = len(pairs.codes.names)
    return of_answers(pairs.between(by, column), columns * (columns - 1), filled=filled)


def _last(by: Mapping[int, int], column: int) -> int:
    while column in by:
        column = by[column]
    return column


def _decided(pairs: PairCounts, column: int, by: int) -> Decided:
    counts = pairs.between(by, column)
    answers = np.where(counts.any(axis=1), counts.argmax(axis=1), -1)
    off = int(counts.sum() - counts.max(axis=1).sum())
    names = pairs.codes.names
    return Decided(names[column], names[by], tuple(answers.tolist()), off, _evidence(pairs, by, column))


def blank_codes(pairs: PairCounts, least: float = LEAST) -> tuple[Blank, ...]:
    """Propose, for each column that has one, the commonest code that a plainer column decides."""
    settled, spread, starts = decides(pairs), entropies(pairs), pairs.starts
    share = pairs.totals / max(1, pairs.codes.rows)
    found = []
    for column in range(len(pairs.codes.names)):
        best: tuple[float, Blank] | None = None
        for place in range(starts[column], starts[column + 1]):
            if not least <= share[place] <= 1 - least or (best is not None and share[place] <= best[0]):
                continue
            code = int(place - starts[column])
            plainer = [
                one
                for one in np.flatnonzero(settled[:, place]).tolist()
                if (spread[one], one) < (spread[column], column)
                and _blank_shown(pairs, column, code, one).is_enough
            ]
            if plainer:
                by = min(plainer, key=lambda one: (spread[one], one))
                best = float(share[place]), _blank(pairs, column, code, by)
        if best is not None:
            found.append(best[1])
    return tuple(found)


def _blank(pairs: PairCounts, column: int, code: int, by: int) -> Blank:
    counts = pairs.between(by, column)
    asked = np.flatnonzero((counts[:, code] == 0) & counts.any(axis=1))
    shown = _blank_shown(pairs, column, code, by)
    return Blank(pairs.codes.names[column], code, pairs.codes.names[by], tuple(asked.tolist()), shown)


def _blank_shown(pairs: PairCounts, column: int, code: int, by: int) -> Evidence:
    return of_blank(pairs.between(by, column), code, len(pairs.codes.names) * len(pairs.totals))


def forms(pairs: PairCounts, blanks: Sequence[Blank]) -> tuple[Form, ...]:
    """Propose the columns that decide the blanks of several others, the one with the most first."""
    counted = Counter(blank.by for blank in blanks)
    settled = decides(pairs)
    found = []
    for name, count in counted.most_common():
        if count < FEW_BLANKS:
            break
        at = pairs.codes.place(name)
        copies = np.flatnonzero(np.logical_and.reduceat(settled[at], pairs.starts[:-1])).tolist()
        mine = tuple(_blanks_by(pairs, at, settled[at], copies))
        told = np.delete(pairs.information[at], [*copies, *(pairs.codes.place(one.column) for one in mine)])
        found.append(Form(name, mine, float(told.max(initial=0.0))))
    return tuple(found)


def _blanks_by(
    pairs: PairCounts, by: int, settled: NDArray[np.bool_], copies: Sequence[int]
) -> Iterator[Blank]:
    """Find every column with a code that `by` decides, but those that it decides altogether."""
    share = pairs.totals / max(1, pairs.codes.rows)
    worth = settled & (share >= LEAST) & (share <= 1 - LEAST)
    for column in range(len(pairs.codes.names)):
        places = range(pairs.starts[column], pairs.starts[column + 1])
        likely = [
            place
            for place in places
            if worth[place] and _blank_shown(pairs, column, place - places.start, by).is_enough
        ]
        if likely and column not in copies:
            code = max(likely, key=lambda place: share[place]) - places.start
            yield _blank(pairs, column, int(code), by)


def mixed_with_blanks(pairs: PairCounts, form: Form) -> tuple[Decided, ...]:
    """Find columns that a question of some forms decides and that do not tell its blank from all of its answers.

    Such a column depends on the form and on the answer at once: who knows it and learns the one learns of the other.
    """
    found = []
    answers = np.add.reduceat(pairs.table > 0, pairs.starts[:-1], axis=1, dtype=np.int64)
    most = np.maximum.reduceat(answers, pairs.starts[:-1], axis=0)  # different ones, given by those alike
    for blank in form.blanks:
        by = pairs.codes.place(blank.column)
        for column in np.flatnonzero(most[by] <= 1).tolist():
            counts = pairs.between(by, column) > 0
            if column == by or counts.any(axis=0).sum() < 2:  # noqa: PLR2004  (it tells nothing)
                continue
            if (counts[blank.code] & np.delete(counts, blank.code, axis=0)).any():
                found.append(_decided(pairs, column, by))
    return tuple(found)


def missing_values(pairs: PairCounts, column: str) -> MissingShown:
    """Say how often the last code of a column occurs, and what that tells about other columns."""
    at, starts = pairs.codes.place(column), pairs.starts
    there = pairs.table[starts[at + 1] - 1].astype(np.float64)
    tables, total = np.stack([there, pairs.totals - there]), np.maximum(_asked(pairs), 1)
    either = np.add.reduceat(tables, starts[:-1], axis=1)
    joint = np.add.reduceat(
        xlogy(tables, tables).sum(axis=0) - xlogy(pairs.totals, pairs.totals), starts[:-1]
    )
    told = (joint - xlogy(either, either).sum(axis=0) + xlogy(total, total)) / total
    told[at] = 0.0
    most = int(np.argmax(told))
    return MissingShown(
        column, int(there[starts[at + 1] - 1]), max(0.0, float(told[most])), pairs.codes.names[most]
    )


def decides(pairs: PairCounts) -> NDArray[np.bool_]:
    """For each column and each answer of any: whether the former settles who gave the latter.

    That is so if of those with the same value in the column all gave that answer, or none did.
    """
    table, totals = pairs.table, pairs.totals
    found = np.empty((len(pairs.starts) - 1, len(totals)), dtype=bool)
    for column in range(len(found)):
        band = slice(pairs.starts[column], pairs.starts[column + 1])
        mixed = (table[band] > 0) & (table[band] < totals[band, None])
        found[column] = ~mixed.any(axis=0)
    return found


def entropies(pairs: PairCounts) -> FloatArray:
    """Give each column's entropy in nats."""
    shares = pairs.totals / np.maximum(1, np.repeat(_asked(pairs), pairs.codes.sizes))
    terms = -shares * np.log(np.where(shares > 0, shares, 1.0))
    return np.asarray(np.add.reduceat(terms, pairs.starts[:-1]))


def _asked(pairs: PairCounts) -> IntArray:
    return np.add.reduceat(pairs.totals, pairs.starts[:-1])


def _rests_on(shown: Evidence | None) -> str:
    return "" if shown is None else f"; {shown.words}"


def _label(schema: Schema, name: str) -> str:
    label: Any = schema.column(name).label
    return f"{name!r} ({label})" if label else repr(name)
