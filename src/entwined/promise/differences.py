"""How two documents of terms differ, in words: what was added, removed or changed, and from what to what."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from entwined.canonical import Document
from entwined.schema.exact import exact_number

SHOWN: Final = 5  # names that are listed where there are many
LONGEST: Final = 80
NUMBERS: Final = "its numbers are others"


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[str, ...]:
    """Say in words what differs between two documents of terms."""
    return (
        *_fields("", without(before, "schema", "models"), without(now, "schema", "models")),
        *_fields("the schema's ", without(before["schema"], "columns"), without(now["schema"], "columns")),
        *_named("column", columns_of(before), columns_of(now)),
        *_named("model", _models(before), _models(now)),
    )


def columns_of(terms: Mapping[str, Any]) -> Document:
    """Give the schema's columns by their names."""
    return {column["name"]: column for column in terms["schema"]["columns"]}


def without(fields: Mapping[str, Any], *names: str) -> Document:
    """Leave some fields out."""
    return {key: value for key, value in fields.items() if key not in names}


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


def _fields(what: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            yield f"{what}{name} was {_short(before.get(name))} and is {_short(now.get(name))}"


def _named(what: str, before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Say what was added, removed, changed or put in another order."""
    changed = {
        name: _detailed(before[name], now[name])
        for name in now
        if name in before and before[name] != now[name]
    }
    kinds = {
        "added": [repr(name) for name in now if name not in before],
        "removed": [repr(name) for name in before if name not in now],
        "changed": [f"{name!r} ({', '.join(said)})" for name, said in changed.items()],
    }
    for how, names in kinds.items():
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            each = what if len(names) == 1 else f"{what}s"
            yield f"{each} {how}: {', '.join(names[:SHOWN])}{more}"
    if not any(kinds.values()) and list(before) != list(now):
        yield f"the {what}s are in another order"


def _detailed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Say how a column or a model differs from what it was, field by field; a model's own fields are its first."""
    said: list[str] = []
    for key in sorted(before.keys() | now.keys()):
        was, is_now = before.get(key), now.get(key)
        if was == is_now:
            continue
        if key == "bands":
            said += _banded(was or {}, is_now or {})
        elif isinstance(was, Mapping) and isinstance(is_now, Mapping):
            said += _detailed(was, is_now)
        elif _is_list_of_texts(was) and _is_list_of_texts(is_now):
            said += _listed(key, was or (), is_now or ())
        elif _is_short(was) and _is_short(is_now):
            said.append(f"{key} was {_short(was)} and is {_short(is_now)}")
        else:
            said.append(NUMBERS)
    return list(dict.fromkeys(said)) or [NUMBERS]


def _banded(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """Say which bands of a column came and went, and which are cut otherwise."""
    if list(before) != list(now):
        yield from _listed("bands", list(before), list(now))
    for name in now:
        if name in before and before[name] != now[name]:
            yield f"bands {name!r} were {_cut(before[name])} and are {_cut(now[name])}"


def _cut(rule: object) -> str:
    """Say how bands are cut: by labels from low to high, or every so much."""
    if not isinstance(rule, Mapping):
        return f"every {rule}"
    order = sorted(rule.items(), key=lambda one: (exact_number(one[1]) or 0, str(one[1])))
    return _short(", ".join(f"{label} from {begin}" for label, begin in order))


def _listed(key: str, before: Sequence[str], now: Sequence[str]) -> Iterator[str]:
    """Say which texts of a list came and went."""
    for how, names in (
        ("gained", [one for one in now if one not in before]),
        ("lost", [one for one in before if one not in now]),
    ):
        if names:
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            yield f"{key} {how} {', '.join(map(repr, names[:SHOWN]))}{more}"
    if set(before) == set(now):
        yield f"{key} are in another order"


def _is_list_of_texts(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)


def _is_short(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _short(value: object) -> str:
    if value is None:
        return "not given"
    text = ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, dict) else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
