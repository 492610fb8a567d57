"""From what a column looks like to a column of a schema: friendly bounds, rounded outward, and why."""

import math
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
from entwined.tables.profile import Profile
from entwined.tables.profile_sql import MOST_DECIMALS
from entwined.tables.scales import answers_of, code_text
from entwined.tables.units import is_identifier, is_named_like_one

MOST_CODES: Final = 200  # different values of a column that may be codes
FEW: Final = 10  # different texts that are no free text, however few rows have them
STEPS_WIDE: Final = 1000
REPEATED: Final = 0.5
UNIQUE: Final = 0.9
MARGIN: Final = Fraction(1, 20)  # of the range of the bulk, beyond an end that few units have
COVERED: Final = 0.8  # of the rows have a listed text, or the column is set aside
RECODED: Final = (
    20  # labels that are all used and in the order of the alphabet are texts that a program numbered
)
EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  (schema times have no zone)


@dataclass(frozen=True)
class Proposal:
    """A column, notes for the holder alone, and the whole numbers that many units have if they are few.

    No value that fewer units have than the minimum is in any of them; `left_out` is how many such values were found.
    """

    column: Column
    notes: tuple[str, ...]
    likely_unit: bool = False
    codes: Mapping[float, str] | None = None
    set_aside: bool = False
    left_out: int = 0


@dataclass(frozen=True)
class Labels:
    """What a survey file declares of a column: its label, its values with their labels, and the codes for missing.

    With `open_range` more codes are missing than can be listed.
    """

    label: str = ""
    values: Mapping[str, str] | None = None
    missing: tuple[str, ...] = ()
    open_range: bool = False

    def without(self, missing: tuple[str, ...]) -> "Labels":
        """Let more codes stand for missing."""
        return replace(self, missing=tuple(dict.fromkeys([*self.missing, *missing])))


def propose(found: Profile, labels: Labels) -> Proposal:
    """Propose a column; one that no schema could declare is proposed as text, which is never queried."""
    try:
        proposed = _proposed(found, labels)
    except BadSchema as refused:
        proposed = _aside(found, labels.label, f"no other type fits: {str(refused)[:200]}")
    left_out = 0 if proposed.set_aside else len(found.values or ()) - len(found.common_values)
    return replace(proposed, notes=(_counts(found), *proposed.notes), codes=_codes(found), left_out=left_out)


def _aside(found: Profile, label: str, *notes: str) -> Proposal:
    """Set a column aside: once the schema is approved its name is public, and none of its values."""
    return Proposal(Text(found.name, label=label), notes, set_aside=True)


def _codes(found: Profile) -> Mapping[float, str] | None:
    """Give the whole numbers that many have as they are written, if there are few and each is written in one way."""
    if found.reading != "number" or found.decimals != 0 or len(found.values or ()) > MOST_CODES:
        return None
    written = {str(each): number for each in found.common_values if (number := number_of(each)) is not None}
    codes = {number: text for text, number in written.items()}
    return codes if 0 < len(codes) == len(written) else None


def _counts(found: Profile) -> str:
    missing = found.rows - found.there
    parts = [f"{missing:,} of {found.rows:,} rows are missing", f"about {found.different:,} different values"]
    if found.unfit and found.reading != "text":
        parts.append(f"{found.unfit:,} do not read as {found.reading} and will be missing")
    if found.infinite:
        parts.append(f"{found.infinite:,} are beyond 1e15 and will be outside")
    return "; ".join(parts)


def _proposed(found: Profile, labels: Labels) -> Proposal:
    if labels.values:
        return _labelled(found, labels)
    if found.reading == "nothing" or found.there == 0:
        return _aside(found, labels.label, "no value was seen: declare its type if you know it")
    if is_identifier(found):
        return _identifier(found, labels.label)
    return _by_reading(found, labels)


def _by_reading(found: Profile, labels: Labels) -> Proposal:
    coded: Document = {"label": labels.label, "missing_codes": labels.missing}
    match found.reading:
        case "truth":
            return Proposal(Boolean(found.name, **coded), ())
        case "number":
            return _number(found, coded, "missing" if labels.open_range else "clamp")
        case "time":
            return _time(found, coded)
    return _words(found, coded)


def _identifier(found: Profile, label: str) -> Proposal:
    repeats = found.there / max(found.different, 1) > 1 / UNIQUE
    column = Text(found.name, compare="loose", label=label)
    return Proposal(column, ("looks like an identifier: it is never queried",), repeats, set_aside=True)


def _labelled(found: Profile, labels: Labels) -> Proposal:
    """Take the labelled values that do not stand for missing, and others that are answers on the same scale."""
    listed = {value: label for value, label in (labels.values or {}).items() if value not in labels.missing}
    texts = found.reading == "text" or not found.there
    few = found.values is not None and len(found.values) <= MOST_CODES
    seen, common = ([], []) if texts else (found.values or {}, found.common_values)
    codes = [code_text(value) for value in seen], [code_text(value) for value in common]
    answers = answers_of(listed, *codes) if texts or few else None
    if not answers:
        more = f"{'only some' if listed else 'none'} of its values have labels: it is taken as a number"
        proposed = _by_reading(found, labels)
        return replace(proposed, notes=(more, *proposed.notes))
    recoded = _recoded(listed, found)
    answers = {code: label for code, label in answers.items() if code not in recoded}
    if not answers:
        return _aside(
            found, labels.label, _left_out(found, len(recoded), "labels look like numbered texts, and ")
        )
    column = Categorical(
        found.name,
        tuple(answers),
        tuple(answers.values()),
        label=labels.label,
        missing_codes=labels.missing,
    )
    unlabelled = len(answers.keys() - listed.keys())
    without = f", {unlabelled} of them without one" if unlabelled else ""
    notes = [f"values and labels are those of the file{without}; others that occur will be missing"]
    if recoded:
        notes.append(_left_out(found, len(recoded), "labels look like numbered texts: "))
    return Proposal(column, tuple(notes))


def _recoded(listed: Mapping[str, str], found: Profile) -> set[str]:
    """Find rare values whose labels are data: texts that a program numbered in the order of the alphabet.

    A codebook lists what could be answered. Where labels list what was, all of them are used and they are sorted.
    """
    seen = {code_text(value): held.units for value, held in (found.values or {}).items()}
    labels = [
        label.casefold() for _, label in sorted(listed.items(), key=lambda pair: number_of(pair[0]) or 0)
    ]
    if len(listed) < RECODED or not listed.keys() <= seen.keys() or labels != sorted(labels):
        return set()
    return {code for code in listed if seen[code] < found.minimum}


def _left_out(found: Profile, values: int, why: str = "") -> str:
    return f"{why}{values:,} that fewer than {found.minimum} units have are left out"


def _words(found: Profile, coded: Mapping[str, Any]) -> Proposal:
    """List the texts that many units have, if they are most of what there is."""
    values = found.values
    common = {text: held for text, held in found.common_values.items() if text not in coded["missing_codes"]}
    empty = {"", *coded["missing_codes"]}
    rows = sum(held.rows for text, held in (values or {}).items() if text not in empty)
    common.pop("", None)
    if (
        values is None
        or len(values) > max(REPEATED * found.there, FEW)
        or max(map(len, values)) > LONGEST_NAME
    ):
        more = "many different texts: it is never queried; to query it declare categories that you know"
    elif not common or sum(held.rows for held in common.values()) < COVERED * rows:
        more = f"most texts are those of fewer than {found.minimum} units: declare categories that you know"
    else:
        rare = len(values) - len(common) - len(values.keys() & empty)
        notes = ["the values are those of many units: add all others that could occur"]
        notes += [f"{_left_out(found, rare)}, and will be missing"] if rare else []
        return Proposal(Categorical(found.name, tuple(sorted(common)), **coded), tuple(notes))
    compare: Compare | Literal[""] = "loose" if is_named_like_one(found) else ""
    return Proposal(Text(found.name, label=coded["label"], compare=compare), (more,), set_aside=True)


def _number(found: Profile, coded: Mapping[str, Any], outside: Outside) -> Proposal:
    if found.zero_or_one and found.decimals == 0:
        return Proposal(Boolean(found.name, **coded), ("only 0 and 1 occur",))
    if not _has_bulk(found):
        return _no_bulk(found, coded["label"])
    step = Fraction(1) if found.decimals == 0 else _step(*_bulk(found), found.decimals)
    low, high = _outward(found, step)
    notes = ["the bounds are rounded from where most units are: widen them to what could be"]
    if found.decimals == 0:
        if max(abs(low), abs(high)) > FARTHEST:
            return _aside(found, coded["label"], "too far for whole numbers")
        return Proposal(Integer(found.name, int(low), int(high), outside=outside, **coded), tuple(notes))
    notes.append(f"a value is rounded to {number_text(step)}")
    return Proposal(Real(found.name, low, high, step, outside=outside, **coded), tuple(notes))


def _has_bulk(found: Profile) -> bool:
    return found.least is not None and found.most is not None and found.least <= found.most


def _no_bulk(found: Profile, label: str) -> Proposal:
    return _aside(
        found,
        label,
        f"too few units have a value to propose bounds (the minimum is {found.minimum} from each end): declare its "
        "type and the bounds that you know",
    )


def _bulk(found: Profile) -> tuple[Fraction, Fraction]:
    return Fraction(found.least), Fraction(found.most)


def _step(least: Fraction, most: Fraction, decimals: int | None) -> Fraction:
    """Keep up to four decimals if they are all there is, else about a thousand steps."""
    span = max(most - least, Fraction(1, 10**MOST_DECIMALS))
    if decimals is not None and span * 10**decimals <= STEPS_WIDE**2:
        return Fraction(1, 10**decimals)
    return Fraction(10) ** math.floor(math.log10(span / STEPS_WIDE))


def _outward(found: Profile, step: Fraction) -> tuple[Fraction, Fraction]:
    """Round both ends outward to the leading digit of the range.

    An end that few units have is not kept: the bounds go on beyond it by a share of the range, for the few units there,
    though not across zero.
    """
    least, most = _bulk(found)
    span = max(most - least, step)
    unit = max(Fraction(10) ** math.floor(math.log10(span)), step)
    lowest = least - (0 if found.least_is_common else MARGIN * span)
    highest = most + (0 if found.most_is_common else MARGIN * span)
    low, high = math.floor(lowest / unit) * unit, math.ceil(highest / unit) * unit
    return (max(low, Fraction(0)) if least >= 0 else low), (min(high, Fraction(0)) if most <= 0 else high)


def _time(found: Profile, coded: Mapping[str, Any]) -> Proposal:
    if not _has_bulk(found):
        return _no_bulk(found, coded["label"])
    try:
        first, last = (EPOCH + timedelta(seconds=int(end)) for end in (found.least, found.most))
    except OverflowError:
        first, last = datetime.min, datetime.max  # noqa: DTZ901  (schema times have no zone)
    low, high = datetime(first.year, 1, 1), datetime(last.year, 12, 31)  # noqa: DTZ001
    if found.step != "day":
        high = high.replace(hour=23, minute=59, second=59)
    notes = ("the bounds are the whole years in which most units are: widen them to what could be",)
    return Proposal(Moment(found.name, low, high, found.step, **coded), notes)  # type: ignore[arg-type]  # a known step
