"""From what a column looks like to a column of a schema: friendly bounds, rounded outward, and why."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, Final, Literal

from entwined.canonical import Document
from entwined.errors import BadSchema
from entwined.schema import Boolean, Categorical, Column, Integer, Moment, Real, Text
from entwined.schema.column import LONGEST_NAME, Outside
from entwined.schema.comparison import Compare
from entwined.schema.exact import number_text
from entwined.schema.grids import FARTHEST
from entwined.schema.raw import number_of
from entwined.tables.profile import MOST_DECIMALS, Profile
from entwined.tables.scales import answers_of

MOST_CODES: Final = 200  # different values of a column that may be codes
RARE: Final = 10
STEPS_WIDE: Final = 1000
REPEATED: Final = 0.5
UNIQUE: Final = 0.9
ENOUGH: Final = 100
EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  (schema times have no zone)
IDENTIFIER: Final = re.compile(
    r"(^|[^a-z])(id|ids|uuid|guid|ssn|nin|nr|key|code|pid|hid|hhid|email|phone|name)([^a-z]|$)", re.IGNORECASE
)
GROUP: Final = re.compile(
    r"person|patient|user|customer|client|member|student|pupil|employee|respondent|subject|household|hhid|"
    r"family|school|class|ward|hospital|company|firm",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Proposal:
    """A column, what the holder should know before approving it, and the whole numbers that occur if they are few."""

    column: Column
    notes: tuple[str, ...]
    likely_unit: bool = False
    codes: Mapping[float, str] | None = None


@dataclass(frozen=True)
class Labels:
    """What a survey file says of a column, and the codes that occur beside those declared missing.

    There are none where too many different ones occur. With `open_range` more codes are missing than can be listed.
    """

    label: str = ""
    values: Mapping[str, str] | None = None
    missing: tuple[str, ...] = ()
    seen: tuple[str, ...] | None = ()
    open_range: bool = False

    def without(self, missing: tuple[str, ...]) -> "Labels":
        """Let more codes stand for missing."""
        seen = self.seen and tuple(code for code in self.seen if code not in missing)
        return replace(self, missing=tuple(dict.fromkeys([*self.missing, *missing])), seen=seen)


def propose(found: Profile, labels: Labels) -> Proposal:
    """Propose a column; one that no schema could declare is proposed as text, which is never queried."""
    try:
        proposed = _proposed(found, labels)
    except BadSchema as refused:
        proposed = Proposal(Text(found.name), (f"no other type fits: {str(refused)[:200]}",))
    notes = (_counts(found), *proposed.notes)
    return Proposal(proposed.column, notes, proposed.likely_unit, _codes(found, labels))


def _codes(found: Profile, labels: Labels) -> Mapping[float, str] | None:
    """Give the whole numbers that were seen as they are written, if there are few and each is written in one way."""
    if found.reading != "number" or found.decimals != 0:
        return None
    seen = labels.seen or (found.values or {}).keys()
    written = {str(each): number for each in seen if (number := number_of(each)) is not None}
    codes = {number: text for text, number in written.items()}
    return codes if 0 < len(codes) == len(written) <= MOST_CODES else None


def _counts(found: Profile) -> str:
    missing = found.rows - found.there
    parts = [f"{missing:,} of {found.rows:,} rows are missing", f"about {found.different:,} different values"]
    if found.unfit and found.reading != "text":
        parts.append(f"{found.unfit:,} do not read as {found.reading} and will be missing")
    if found.infinite:
        parts.append(f"{found.infinite:,} are beyond 1e15 and will be outside")
    return "; ".join(parts)


def _proposed(found: Profile, labels: Labels) -> Proposal:
    named = {"label": labels.label}
    if labels.values:
        return _labelled(found, labels)
    if found.reading == "nothing" or found.there == 0:
        return Proposal(
            Text(found.name, label=labels.label), ("no value was seen: declare its type if you know it",)
        )
    if _is_identifier(found):
        return _identifier(found, named)
    coded: Document = named | {"missing_codes": labels.missing}
    match found.reading:
        case "truth":
            return Proposal(Boolean(found.name, **coded), ())
        case "number":
            return _number(found, coded, "missing" if labels.open_range else "clamp")
        case "time":
            return _time(found, coded)
    return _words(found, coded)


def _is_identifier(found: Profile) -> bool:
    """A whole number or text that is nearly different in every row, or whose name says so and that varies much."""
    if found.reading not in ("number", "text") or (found.reading == "number" and found.decimals != 0):
        return False
    share = found.different / max(found.there, 1)
    named = _is_named_like_one(found)
    many = found.different > ENOUGH
    return many and ((named and share > 1 / STEPS_WIDE) or (share > UNIQUE and found.reading == "text"))


def _is_named_like_one(found: Profile) -> bool:
    return bool(IDENTIFIER.search(found.name) or GROUP.search(found.name))


def _identifier(found: Profile, named: Mapping[str, str]) -> Proposal:
    each = found.there / max(found.different, 1)
    repeats = each > 1 / UNIQUE
    notes = ["looks like an identifier: it is never queried"]
    if repeats:
        notes.append(
            f"about {each:.1f} rows for each value: if it names a person or a group, say so with unit, for example "
            f'unit = {{kind = "person", column = "{found.name}", most = {_friendly(math.ceil(2 * each))}}}'
        )
    return Proposal(Text(found.name, compare="loose", label=named["label"]), tuple(notes), repeats)


def _labelled(found: Profile, labels: Labels) -> Proposal:
    """Take the labelled values that do not stand for missing, and others that are answers on the same scale."""
    listed = {value: label for value, label in (labels.values or {}).items() if value not in labels.missing}
    answers = None if labels.seen is None else answers_of(listed, labels.seen)
    if not answers:
        more = f"{'only some' if listed else 'none'} of its values have labels: it is taken as a number"
        proposed = _proposed(found, replace(labels, values=None))
        return Proposal(proposed.column, (more, *proposed.notes), proposed.likely_unit)
    column = Categorical(
        found.name,
        tuple(answers),
        tuple(answers.values()),
        label=labels.label,
        missing_codes=labels.missing,
    )
    unlabelled = len(answers) - len(listed)
    note = f"values and labels are those of the file{f', {unlabelled} of them without one' if unlabelled else ''}"
    return Proposal(column, (f"{note}; others that occur will be missing",))


def _words(found: Profile, coded: Mapping[str, Any]) -> Proposal:
    values = found.values
    if (
        values is None
        or len(values) > max(REPEATED * found.there, RARE)
        or max(map(len, values)) > LONGEST_NAME
    ):
        more = "many different texts: it is never queried; to query it declare categories that you know"
        compare: Compare | Literal[""] = "loose" if _is_named_like_one(found) else ""
        return Proposal(Text(found.name, label=coded["label"], compare=compare), (more,))
    shown = sorted(text for text in values if text and text not in coded["missing_codes"])
    rare = sum(count < RARE for count in values.values())
    notes = ["the values are those that occur: add the ones that could, remove the ones that name somebody"]
    if rare:
        notes.append(f"{rare:,} of them occur in fewer than {RARE} rows")
    return Proposal(Categorical(found.name, tuple(shown), **coded), tuple(notes))


def _number(found: Profile, coded: Mapping[str, Any], outside: Outside) -> Proposal:
    if found.least is None:
        return Proposal(Text(found.name, label=coded["label"]), ("no finite number was seen",))
    least, most = Fraction(found.least), Fraction(found.most)
    if least == 0 and most == 1 and found.decimals == 0:
        return Proposal(Boolean(found.name, **coded), ("only 0 and 1 occur",))
    seen = f"{float(least):g} to {float(most):g} occur"
    if found.decimals == 0:
        low, high = _outward(least, most, Fraction(1))
        if max(abs(low), abs(high)) > FARTHEST:
            return Proposal(Text(found.name, label=coded["label"]), (f"{seen}: too far for whole numbers",))
        return Proposal(Integer(found.name, int(low), int(high), outside=outside, **coded), (seen,))
    step = _step(least, most, found.decimals)
    low, high = _outward(least, most, step)
    notes = (seen, f"a value is rounded to {number_text(step)}")
    return Proposal(Real(found.name, low, high, step, outside=outside, **coded), notes)


def _step(least: Fraction, most: Fraction, decimals: int | None) -> Fraction:
    """Keep up to four decimals if they are all there is, else about a thousand steps."""
    span = max(most - least, Fraction(1, 10**MOST_DECIMALS))
    if decimals is not None and span * 10**decimals <= STEPS_WIDE**2:
        return Fraction(1, 10**decimals)
    return Fraction(10) ** math.floor(math.log10(span / STEPS_WIDE))


def _outward(least: Fraction, most: Fraction, step: Fraction) -> tuple[Fraction, Fraction]:
    """Round both ends outward to the leading digit of the range, so that they tell little about two rows."""
    span = max(most - least, step)
    unit = max(Fraction(10) ** math.floor(math.log10(span)), step)
    return math.floor(least / unit) * unit, math.ceil(most / unit) * unit


def _time(found: Profile, coded: Mapping[str, Any]) -> Proposal:
    if found.least is None:
        return Proposal(Text(found.name, label=coded["label"]), ("no time was seen",))
    try:
        first, last = (EPOCH + timedelta(seconds=int(end)) for end in (found.least, found.most))
    except OverflowError:
        first, last = datetime.min, datetime.max  # noqa: DTZ901  (schema times have no zone)
    low, high = datetime(first.year, 1, 1), datetime(last.year, 12, 31)  # noqa: DTZ001
    if found.step != "day":
        high = high.replace(hour=23, minute=59, second=59)
    notes = (f"{first} to {last} occur; the bounds are whole years",)
    return Proposal(Moment(found.name, low, high, found.step, **coded), notes)  # type: ignore[arg-type]  # a known step


def _friendly(number: int) -> int:
    """Round up to 1, 2 or 5 times a power of ten."""
    power = int("1" + "0" * (len(str(max(number, 1))) - 1))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= number)
