"""Columns that are worked out from a column of a model: each pair is one unit, and what reads either is charged to it.

Let X be worked out from Y, a unit of the model, perhaps with errors that depend on nothing else. Take the pair Z of
both for the unit. Given Z the other units have the law that they have given Y, so the log odds between Z and any of
them, and how far the laws of Z lie apart for two of their values, are those of Y: a theorem says of Z what it says of
Y, at the loss of Z. Who knows X knows something that depends on Z alone. A secret X is a mixture over the values of Z,
so the leakage about it is at most that about Z.

The loss of Z. Two values of Z are a change of X and one of Y apart, so pure losses add. With Gaussian noise shifts of
one statistic add before they are squared: what a statistic of both costs if both change is charged as such.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from entwined.bounds.profiles.bits import Bits
from entwined.errors import BadModel, Refused
from entwined.schema import Coded, Schema
from entwined.schema.raw import is_text

Shared: TypeAlias = Mapping[tuple[str, ...], tuple[Fraction, ...]]


def check_worked_out(title: str, given: Mapping[str, str], units: Sequence[str], schema: Schema) -> None:
    """Refuse what cannot be worked out from a unit of a model over cells."""
    for name, by in given.items():
        if not schema.unit.by_column or not is_text(name) or not is_text(by):
            raise BadModel(
                f"The model {title!r} says that {name!r:.60} is worked out from {by!r:.60}. Say so of two columns, and "
                'where the unit is {kind = "cells"}.'
            )
        if name in units or by not in units:
            raise BadModel(
                f"The model {title!r} says that {name!r} is worked out from {by!r}, and the first is among its units "
                "or the second is not. Leave the first out of the model, and keep the second in."
            )
        if not isinstance(schema.column(name), Coded):
            raise BadModel(f"Column {name!r} is never queried, so that nothing is worked out. Leave it out.")


def charged_together(
    columns: Mapping[str, Fraction], shared: Shared | None, given: Mapping[str, str]
) -> tuple[dict[str, Fraction], Shared | None]:
    """Charge what reads a column that is worked out to the unit that it belongs to."""
    found, rest = dict(columns), dict(shared or {})
    for read, (every, *each) in (shared or {}).items():
        units = {given.get(name, name) for name in read}
        if units == set(read):
            continue
        if len(units) > 1:
            raise Refused(
                f"The columns {', '.join(map(repr, read))} are read together, and one of them is worked out from "
                "another. Ask about the two of them alone."
            )
        del rest[read]
        for name, alone in zip(read, each, strict=True):
            found[name] -= alone
        (unit,) = units
        found[unit] = found.get(unit, Fraction(0)) + every
    for name, by in given.items():
        if name in found:
            found[by] = found.get(by, Fraction(0)) + found.pop(name)
    return found, None if shared is None else rest


def bits_charged(
    bits: Mapping[str, Bits], given: Mapping[str, str], names: Sequence[str]
) -> tuple[Bits, ...]:
    """Give what counts show of each unit: of a pair what those of either column show."""
    found: dict[str, dict[Fraction, int]] = {name: {} for name in names}
    for name, each in bits.items():
        mine = found[given.get(name, name)]
        for loss, many in each:
            mine[loss] = mine.get(loss, 0) + many
    return tuple(tuple(sorted(found[name].items())) for name in names)
