"""How losses that were charged under some terms go over to others; terms are what prices depend on, as a document.

A loss says how far replacing (or adding, removing) one unit moved the law of what was released. It stays true
whatever is believed about dependence, so models and knowledge may change at will. It is lost where the unit is
another one, and where it was charged for rows that an engine picked in another way. What was public cost nothing, and
stays public.

Groups that are cut at another size. What was released saw at most k rows of a group, so any two values of a whole group
changed its law by at most k losses; what will be released sees at most m, and has at most m. Both together leak at most
k times the old loss and m times the new one, which is m times (k/m times the old loss, and the new one). So losses go
over as they are, or times k/m where that is more than one. Which rows are seen differs, so one changed row may be
another pair of rows to each: a condition is therefore charged as if every row were inside it, as below, and then losses
of different pairs add up. With a δ losses do not grow in proportion, so there it is refused.

Rows that are picked by other lots. Where a person or a group has more rows than its bound, lots that hang on the codes
of all columns say which of them count. Under a schema with other columns or codes other rows count, and one changed row
may be another pair of rows to what was released than to what will be: again a condition is charged as if every row were
inside it. Sums of losses of any pairs are bounded by it, with a δ too.

Rows and persons: a condition that can no longer be said is charged as if every row were inside it. The cost of a
pair of rows is then the larger of both losses, which no pair inside or outside the condition exceeds.

Cells: a loss is on a column, and models are over its codes. They cover what was released if it depends on those
codes alone: the codes are the same, or old ones are a function of the new ones because some were only added. Then
the condition is left out as above. A column that is gone, or whose codes mean something else, is refused.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from entwined.canonical import Document
from entwined.dependence.gaussian import GaussianLaws, members_of
from entwined.errors import Refused
from entwined.promise.differences import columns_of, without
from entwined.promise.one_number import OneNumber
from entwined.promise.part import Part
from entwined.promise.places import key_of, place_of
from entwined.queries import everything

ONE: Final = Fraction(1)
KEEP: Final = "Keep it as it was, or stop here: what was released cannot be forgotten."


def carried(before: Mapping[str, Any], now: Mapping[str, Any], totals: Mapping[str, Part]) -> dict[str, Part]:
    """Give the losses charged under some terms as losses under others, never less, or refuse."""
    old, new, times = columns_of(before), columns_of(now), _resized(before, now)
    repicked = times is not None or _other_lots(before, now)
    if totals:
        _require_same_unit(before, now)
        _require_one_batch(before, now)
        _require_public(old, new)
    found: dict[str, Part] = {}
    for part in totals.values():
        column, where, together, filling, distance, number, reserved, apart, _ = place = place_of(part.key)
        for name in place.columns:
            _require_codes(name, old, new)
        said = not repicked and all(
            _same_codes(old.get(name), new.get(name))
            for name in (*where.columns, *place.columns, *filter(None, (distance,)), *_read_by(number))
        )
        if filling and not said:
            raise Refused(
                f"Blanks of {column!r} were filled by weights of its codes, and the new schema has others. {KEEP}"
            )
        if reserved and not said:
            raise Refused(
                f"Of the reserve of {column!r} something was taken, and the new schema has other codes. {KEEP}"
            )
        most = max(part.one, part.both) * max(times or ONE, ONE)
        if said and apart:  # under other models its answers may read several units each
            taken = Part(key_of(where, None), part.one, part.both)
        else:
            taken = part if said else Part(key_of(everything(), column or None, together), most, most)
        found[taken.key] = found[taken.key] + taken if taken.key in found else taken
    return found


def _read_by(number: OneNumber | None) -> tuple[str, ...]:
    return () if number is None else number.added.columns


def _require_public(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Refuse to protect what was public: what moves with it was not charged for that."""
    hidden = [name for name, column in old.items() if column.get("public") and name in new]
    hidden = [name for name in hidden if not new[name].get("public")]
    if hidden:
        raise Refused(
            f"The column {hidden[0]!r} was public, so that showing it cost nothing, and under the new terms it "
            f"would be protected. {KEEP}"
        )


def _require_same_unit(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse another unit, neighbour relation, kind of loss or picking of rows: losses say nothing of these."""
    unit = before["schema"]["unit"]
    compared = {
        "unit of protection": (unit, now["schema"]["unit"]),
        "neighbour relation": (before["schema"]["neighbours"], now["schema"]["neighbours"]),
        "kind of loss, with or without a δ,": ("delta" in before, "delta" in now),
        "picking of rows by a model's `by`": (_picking(before), _picking(now)),
        "list of secrets about whole columns": (before.get("secrets"), now.get("secrets")),
        "reserve": (before.get("reserve"), now.get("reserve")),
    }
    if "column" in unit:
        name = unit["column"]
        compared["column that names a person"] = (columns_of(before).get(name), columns_of(now).get(name))
    if _resized(before, now) is not None:
        del compared["picking of rows by a model's `by`"]
    for what, (was, is_now) in compared.items():
        if was != is_now:
            raise Refused(
                f"The {what} is another one under the new terms, and what was spent says nothing about it. {KEEP}"
            )


def is_for_one_batch(terms: Mapping[str, Any]) -> bool:
    """Whether all losses under some terms have to be fixed before anything is seen: see `promise`."""
    if "secrets" in terms:
        return True
    if "delta" not in terms or "reserve" in terms:
        return False
    if terms["schema"]["unit"]["kind"] != "cells":
        return any(one.get("panel") for one in terms["models"])
    return any(one["model"]["kind"] not in ("independent", "groups") for one in terms["models"])


def _require_one_batch(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to price by profiles what may have been several batches, one chosen by another's answers."""
    if is_for_one_batch(now) and not is_for_one_batch(before):
        raise Refused(
            "Under the new terms the losses of all columns or steps have to be fixed before anything is seen, and "
            f"something was released already. {KEEP}"
        )


def _resized(before: Mapping[str, Any], now: Mapping[str, Any]) -> Fraction | None:
    """Give how many times larger the groups were that rows were picked from, where only that is another one."""
    was, is_now = _picking(before), _picking(now)
    if was == is_now or len(was) != 1 or len(is_now) != 1 or "delta" in before or "delta" in now:
        return None
    if was[0]["kind"] != "groups" or without(was[0], "largest") != without(is_now[0], "largest"):
        return None
    return Fraction(was[0]["largest"], is_now[0]["largest"])


def _other_lots(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Whether rows are picked, by lots of other columns or codes."""
    is_picked = "column" in before["schema"]["unit"] or bool(_picking(before))
    return is_picked and _all_codes(before) != _all_codes(now)


def _all_codes(terms: Mapping[str, Any]) -> list[tuple[str, Document]]:
    """Give every column with its codes, in order: what lots hang on."""
    return [(name, _coding(column)) for name, column in columns_of(terms).items()]


def _picking(terms: Mapping[str, Any]) -> list[Any]:
    """Give what decides which rows an engine picks: the model's kind and size, and the columns it goes by."""
    columns = columns_of(terms)
    return [
        {key: one["model"].get(key) for key in ("kind", "largest", "length")}
        | {"units": _units(one["model"])}
        | {key: columns.get(one.get(key)) for key in ("by", "order")}
        for one in terms["models"]
        if "by" in one
    ]


def _units(model: Mapping[str, Any]) -> int | None:
    """Give how many rows of a group a Gaussian model speaks of; none for other models."""
    return members_of(model) if model["kind"] == GaussianLaws.kind else None


def _require_codes(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    if name not in new:
        raise Refused(
            f"The column {name!r} was released from, and the new schema has none of that name. {KEEP}"
        )
    if not _same_codes(old.get(name), new[name]) and not _only_gained(old.get(name), new[name]):
        raise Refused(
            f"The column {name!r} was released from, and its codes mean something else in the new schema: "
            f"models over the new ones do not cover it. {KEEP} Values may be added."
        )


def _same_codes(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> bool:
    return old is not None and new is not None and _coding(old) == _coding(new)


def _only_gained(old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> bool:
    """Whether every new code has one old code, since values were added that had no code of their own before."""
    if old is None or without(_coding(old), "values", "low", "high") != without(
        _coding(new), "values", "low", "high"
    ):
        return False
    if old["type"] == "categorical":
        return list(new["values"][: len(old["values"])]) == list(old["values"])
    # another low end would round some numbers otherwise
    return old["type"] == "integer" and bool(new["low"] == old["low"] and old["high"] <= new["high"])


def _coding(column: Mapping[str, Any]) -> Document:
    """Leave out what changes no code: labels, bands, the mean and the kinds of missing."""
    return without(column, "label", "labels", "bands", "mean", "not_asked", "no_answer")
