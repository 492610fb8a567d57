"""Which rows, persons and edges count, in plain Python: the rule that every engine is held against."""

import hashlib

from entwined.schema import Coded, Text


def lot(*parts):
    """60 bits of the MD5 of the parts, which are spelled alike wherever they come from."""
    spelled = [str(part).removesuffix(".0") for part in parts]
    return int(hashlib.md5(",".join(spelled).encode()).hexdigest()[:15], 16)  # noqa: S324  (no secret)


def spelled(who):
    """An id as it is hashed; numbers that are not whole by what is over, in parts of 2⁻⁵²."""
    if who is None:
        return ""
    if not isinstance(who, float) or who == int(who):
        return "far" if isinstance(who, float) and abs(who) >= 2**53 else str(who).removesuffix(".0")
    whole = int(who // 1)
    return f"{whole}.{int((who - whole) * 2**52)}"


def columns_of(schema, column):
    """The columns of codes, and those of ids that are part of what a row of a group holds."""
    codes = [one.name for one in schema.columns if isinstance(one, Coded)]
    ids = [one.name for one in schema.columns if isinstance(one, Text) and one.compare and one.name != column]
    return codes, ids


def in_order(schema, who, rows, contents):
    """The rows of one group in the order of their lots; `contents` are what each holds, codes and then ids."""
    often, placed = {}, []
    for row, content in zip(rows, contents, strict=True):
        often[content] = often.get(content, 0) + 1
        parts = ["" if part is None else part for part in content]
        placed.append((lot(schema.sampling_key, spelled(who), *parts, often[content]), str(content), row))
    return [row for *_, row in sorted(placed, key=lambda one: one[:2])]


def lot_of_person(schema, home, who):
    """The lot of a person in a group."""
    return lot(schema.sampling_key, spelled(home), spelled(who)), who
