"""What prices depend on, as a document; how two such differ, and how losses go from one to the other.

A loss says how far replacing (or adding, removing) one unit moved the law of what was released. It stays true
whatever is believed about dependence, so models and knowledge may change at will. It is lost where the unit is
another one, and where it was charged for rows that an engine picked in another way.

Rows and persons: a condition that can no longer be said is charged as if every row were inside it. The cost of a
pair of rows is then the larger of both losses, which no pair inside or outside the condition exceeds.

Cells: a loss is on a column, and models are over its codes. They cover what was released if it depends on those
codes alone: the codes are the same, or old ones are a function of the new ones because some were only added. Then
the condition is left out as above. A column that is gone, or whose codes mean something else, is refused.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from entwined.canonical import Document
from entwined.errors import Refused
from entwined.promise.part import Part
from entwined.promise.places import key_of, place_of
from entwined.queries import everything

SHOWN: Final = 5  # names that are listed where there are many
KEEP: Final = "Keep it as it was, or stop here: what was released cannot be forgotten."


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    """Say in words what differs between two documents of terms."""
    return (
        *_fields("", _without(before, "schema", "models"), _without(now, "schema", "models")),
        *_fields("the schema's ", _without(before["schema"], "columns"), _without(now["schema"], "columns")),
        *_named("column", _columns(before), _columns(now)),
        *_named("model", _models(before), _models(now)),
    )


def carried(before: Mapping[str, Any], now: Mapping[str, Any], totals: Mapping[str, Part]) -> dict[str, Part]:
    """Give the losses charged under some terms as losses under others, never less, or refuse."""
    if totals:
        _require_same_unit(before, now)
        _require_one_batch(before, now)
    old, new = _columns(before), _columns(now)
    found: dict[str, Part] = {}
    for part in totals.values():
        column, where, together, filling = place = place_of(part.key)
        for name in place.columns:
            _require_codes(name, old, new)
        said = all(_same_codes(old.get(name), new.get(name)) for name in (*where.columns, *place.columns))
        if filling and not said:
            raise Refused(
                f"Blanks of {column!r} were filled by weights of its codes, and the new schema has others. {KEEP}"
            )
        most = max(part.one, part.both)
        taken = part if said else Part(key_of(everything(), column or None, together), most, most)
        found[taken.key] = found[taken.key] + taken if taken.key in found else taken
    return found


def _require_same_unit(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse another unit, neighbour relation, kind of loss or picking of rows: losses say nothing of these."""
    unit = before["schema"]["unit"]
    compared = {
        "unit of protection": (unit, now["schema"]["unit"]),
        "neighbour relation": (before["schema"]["neighbours"], now["schema"]["neighbours"]),
        "kind of loss, with or without a δ,": ("delta" in before, "delta" in now),
        "picking of rows by a model's `by`": (_picking(before), _picking(now)),
    }
    if "column" in unit:
        name = unit["column"]
        compared["column that names a person"] = (_columns(before).get(name), _columns(now).get(name))
    for what, (was, is_now) in compared.items():
        if was != is_now:
            raise Refused(
                f"The {what} is another one under the new terms, and what was spent says nothing about it. {KEEP}"
            )


def is_for_one_batch(terms: Mapping[str, Any]) -> bool:
    """Whether all losses under some terms have to be fixed before anything is seen: see `promise`."""
    if "delta" not in terms or terms["schema"]["unit"]["kind"] != "cells":
        return False
    return any(one["model"]["kind"] not in ("independent", "groups") for one in terms["models"])


def _require_one_batch(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse to price by profiles what may have been several batches, one chosen by another's answers."""
    if is_for_one_batch(now) and not is_for_one_batch(before):
        raise Refused(
            "Under the new terms the losses of all columns have to be fixed before anything is seen, and something "
            f"was released already. {KEEP}"
        )


def _picking(terms: Mapping[str, Any]) -> list[Any]:
    """Give what decides which rows an engine picks: the model's kind and size, and the columns it goes by."""
    columns = _columns(terms)
    return [
        {key: one["model"].get(key) for key in ("kind", "largest", "length")}
        | {key: columns.get(one.get(key)) for key in ("by", "order")}
        for one in terms["models"]
        if "by" in one
    ]


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
    if old is None or _without(_coding(old), "values", "low", "high") != _without(
        _coding(new), "values", "low", "high"
    ):
        return False
    if old["type"] == "categorical":
        return list(new["values"][: len(old["values"])]) == list(old["values"])
    # another low end would round some numbers otherwise
    return old["type"] == "integer" and bool(new["low"] == old["low"] and old["high"] <= new["high"])


def _coding(column: Mapping[str, Any]) -> Document:
    """Leave out what is for people only."""
    return _without(column, "label", "labels")


def _columns(terms: Mapping[str, Any]) -> Document:
    return {column["name"]: column for column in terms["schema"]["columns"]}


def _models(terms: Mapping[str, Any]) -> Document:
    """Name models as prices do; a name that is taken is numbered."""
    named: Document = {}
    for one in terms["models"]:
        kind = one["model"]["kind"]
        title = one.get("name") or (f"{kind} by {one['by']}" if "by" in one else kind)
        turn, name = 2, title
        while name in named:
            turn, name = turn + 1, f"{title} {turn}"
        named[name] = one
    return named


def _without(fields: Mapping[str, Any], *names: str) -> Document:
    return {key: value for key, value in fields.items() if key not in names}


def _fields(what: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            yield f"{what}{name} was {_short(before.get(name))} and is {_short(now.get(name))}"


def _named(what: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Say what was added, removed, changed or put in another order."""
    kinds = {
        "added": [name for name in now if name not in before],
        "removed": [name for name in before if name not in now],
        "changed": [name for name in now if name in before and before[name] != now[name]],
    }
    for how, names in kinds.items():
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            each = what if len(names) == 1 else f"{what}s"
            yield f"{each} {how}: {', '.join(map(repr, names[:SHOWN]))}{more}"
    if not any(kinds.values()) and list(before) != list(now):
        yield f"the {what}s are in another order"


def _short(value: object) -> str:
    if value is None:
        return "not given"
    text = ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, dict) else str(value)
    return text if len(text) <= 80 else text[:79] + "…"  # noqa: PLR2004  (a line for people)
