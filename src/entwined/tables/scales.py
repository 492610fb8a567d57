"""Which codes of a survey column are answers, where only some of them have a label."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final

from entwined.schema.raw import number_of

NEAR: Final = 10  # the farthest apart that two labelled steps of one scale are
FEW_UNSEEN: Final = 3  # the same where none has a label, so that two values between may not have occurred


def code_text(value: object) -> str:
    """Write 1.0 as 1, as people know the codes of a survey."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def answers_of(
    labels: Mapping[str, str], seen: Iterable[str], common: Iterable[str]
) -> dict[str, str] | None:
    """Give every answer of a labelled scale with its label, or its code where it has none; None if it is a number.

    Where a common answer lies between two labelled ones, all whole numbers between labelled ones that are near are
    answers: a scale from 1 to 7 may have labels at 1, 4 and 7 alone. Other common ones are answers too, if the
    different values that were seen are few. A value without a label that few units have is not listed.

    >>> answers_of({"1": "never", "4": "at times", "7": "always"}, ["2", "7"], ["2"])
    {'1': 'never', '2': '2', '3': '3', '4': 'at times', '5': '5', '6': '6', '7': 'always'}
    >>> answers_of({"1": "yes", "5": "no"}, ["1", "8"], ["1"])
    {'1': 'yes', '5': 'no'}
    """
    labelled = {number: code for code in labels if (number := number_of(code)) is not None}
    if len(_unlabelled(seen, labelled) - _between(labelled)) > len(labels):
        return None
    others = _unlabelled(common, labelled)
    if not others:
        return dict(labels)
    between = _between(labelled)
    added = others | (between if others & between else set())
    codes = {number: labelled.get(number, code_text(number)) for number in sorted({*labelled, *added})}
    named = [*codes.values(), *(code for code in labels if number_of(code) is None)]
    return {code: labels.get(code, code) for code in named}


def _unlabelled(codes: Iterable[str], labelled: Mapping[float, str]) -> set[float]:
    return {number for code in codes if (number := number_of(code)) is not None} - labelled.keys()


def filled_in(seen: Mapping[float, str]) -> dict[str, str]:
    """Give whole numbers as they are written, with those between two that are near each other, and each one's code.

    >>> filled_in({1: "1", 2: "2", 4: "4", 998: "998", -1: "-1"})
    {'-1': '-1', '1': '1', '2': '2', '3': '3', '4': '4', '998': '998'}
    >>> filled_in({1: "1.0", 3: "3.0"})
    {'1.0': '1', '2.0': '2', '3.0': '3'}
    """
    ends = (end for end in ("", ".0") if all(seen[each] == code_text(float(each)) + end for each in seen))
    ending = next(ends, None)
    there = {float(number): text for number, text in seen.items()}
    if ending is not None:
        there |= {number: code_text(number) + ending for number in _between(there, FEW_UNSEEN)}
    return {there[number]: code_text(number) for number in sorted(there)}


def _between(numbers: Iterable[float], near: int = NEAR) -> set[float]:
    """List the whole numbers between neighbours that are near each other; negative codes are no steps of a scale."""
    found: set[float] = set()
    for low, high in pairwise(sorted(number for number in numbers if number >= 0)):
        if high - low <= near and low.is_integer() and high.is_integer():
            found |= {float(number) for number in range(int(low) + 1, int(high))}
    return found
